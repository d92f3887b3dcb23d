// SPDX-License-Identifier: BSL-1.0
/// Poisoned memory: bytes that the address sanitizer reports when touched; without it, these do nothing.
#pragma once

#include "weft/core/config.hpp"

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_DETAIL_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_DETAIL_ASAN
#endif
#endif

#ifdef WEFT_DETAIL_ASAN
extern "C" void __asan_poison_memory_region(const volatile void* address, std::size_t size);
extern "C" void __asan_unpoison_memory_region(const volatile void* address, std::size_t size);
#endif

namespace weft {

/// From now on, reads and writes of these bytes are reported. Their address is best a multiple of 8.
inline void poison([[maybe_unused]] const void* address, [[maybe_unused]] std::size_t size) {
#ifdef WEFT_DETAIL_ASAN
  __asan_poison_memory_region(address, size);
#endif
}

/// They may be used again.
inline void unpoison([[maybe_unused]] const void* address, [[maybe_unused]] std::size_t size) {
#ifdef WEFT_DETAIL_ASAN
  __asan_unpoison_memory_region(address, size);
#endif
}

} // namespace weft

#undef WEFT_DETAIL_ASAN
