// SPDX-License-Identifier: BSL-1.0
#include "support/counting_allocator.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> count{0};
std::atomic<std::size_t> bytes{0};

void* allocate(std::size_t size, std::size_t alignment) {
  count.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(size, std::memory_order_relaxed);
  size = (size + alignment - 1) / alignment * alignment; // what aligned_alloc asks for
  if (void* const p = std::aligned_alloc(alignment, size == 0 ? alignment : size)) {
    return p;
  }
  throw std::bad_alloc{};
}

} // namespace

std::size_t weft::test::allocations() { return count.load(std::memory_order_relaxed); }
std::size_t weft::test::allocated_bytes() { return bytes.load(std::memory_order_relaxed); }

// The array and nothrow forms forward to these by default.
void* operator new(std::size_t size) { return allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
