// SPDX-License-Identifier: BSL-1.0
/// Counts allocations, for tests that assert that a piece of code makes none.
#pragma once

#include <cstddef>

namespace weft::test {

/// Allocations through operator new in this program so far, on all threads. Only in executables that link
/// support/counting_allocator.cpp, which replaces operator new.
std::size_t allocations();
/// What they asked for, in bytes.
std::size_t allocated_bytes();

/// Counts the allocations in its scope.
/// ```
/// const allocation_counter counter;
/// simulate(problem, placement);
/// CHECK(counter.count() == 0);
/// ```
class allocation_counter {
public:
  allocation_counter() : before_{allocations()}, bytes_before_{allocated_bytes()} {}
  std::size_t count() const { return allocations() - before_; }
  std::size_t bytes() const { return allocated_bytes() - bytes_before_; }

private:
  std::size_t before_;
  std::size_t bytes_before_;
};

} // namespace weft::test
