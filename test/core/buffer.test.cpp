// SPDX-License-Identifier: BSL-1.0
#include "weft/core/buffer.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace core_buffer_test {

using weft::buffer;

template <class T>
std::vector<T> copy_of(const buffer<T>& b) {
  return {b.begin(), b.end()};
}

TEST_CASE("buffer: does what a vector does, whatever is asked of it") {
  weft::rng random{1};
  for (int round = 0; round < 200; ++round) {
    buffer<std::uint32_t> b;
    std::vector<std::uint32_t> v;
    for (int step = 0; step < 100; ++step) {
      const auto x = static_cast<std::uint32_t>(random.below(1000));
      const auto n = random.below(20);
      switch (random.below(11)) {
      case 0: b.clear(), v.clear(); break;
      case 1: b.resize(n, x), v.resize(n, x); break;
      case 2: b.assign(n, x), v.assign(n, x); break;
      case 3: b.reserve(n), v.reserve(n); break;
      case 4: {
        const std::uint32_t more[] = {x, x + 1, x + 2};
        b.append(more, more + 3);
        v.insert(v.end(), more, more + 3);
        break;
      }
      case 5:
        if (!v.empty()) {
          const auto i = random.below(v.size());
          b.erase(b.begin() + i);
          v.erase(v.begin() + static_cast<std::ptrdiff_t>(i));
        }
        break;
      case 6: {
        const auto i = random.below(v.size() + 1);
        b.insert(b.begin() + i, x);
        v.insert(v.begin() + static_cast<std::ptrdiff_t>(i), x);
        break;
      }
      case 7:
        if (!v.empty()) {
          b.pop_back(), v.pop_back();
        }
        break;
      case 8:
        if (!v.empty()) { // of its own elements
          b.push_back(b.front());
          v.push_back(v.front());
          b.insert(b.begin(), b.back());
          v.insert(v.begin(), v.back());
        }
        break;
      default: b.push_back(x), v.push_back(x);
      }
      REQUIRE(copy_of(b) == v);
      REQUIRE(b.size() == v.size());
      REQUIRE(b.empty() == v.empty());
    }
  }
}

TEST_CASE("buffer: what is added may be an element of it, also where it grows") {
  buffer<int> b(1, 7);
  b.resize(100, b[0]);
  CHECK(copy_of(b) == std::vector(100, 7));
  b.assign(200, b[99]);
  CHECK(copy_of(b) == std::vector(200, 7));
}

TEST_CASE("buffer: nothing is lost when an element cannot be copied") {
  struct fragile {
    std::vector<int> owned = std::vector<int>(1);
    bool refuses = false;
    fragile() = default;
    fragile(const fragile& other) { *this = other; }
    fragile& operator=(const fragile& other) {
      if (other.refuses) {
        throw std::bad_alloc{};
      }
      owned = other.owned;
      return *this;
    }
  };
  buffer<fragile> some(3);
  some[2].refuses = true;
  CHECK_THROWS_AS(buffer<fragile>{some}, std::bad_alloc); // a leak would be the address sanitizer's to tell
}

TEST_CASE("buffer: copies are apart, what was moved from is empty") {
  buffer<double> a(3, 1.5);
  auto b = a;
  b[1] = 2;
  CHECK(copy_of(a) == std::vector{1.5, 1.5, 1.5});
  CHECK_FALSE(a == b);
  a = b;
  CHECK(a == b);
  const auto c = std::move(a);
  CHECK(a.empty()); // as documented
  CHECK(c == b);
  b.swap(a);
  CHECK(b.empty());
  CHECK(a == c);
}

constexpr int at_compile_time() {
  buffer<int> b;
  for (int i = 0; i < 20; ++i) {
    b.push_back(i);
  }
  b.erase(b.begin() + 5, b.end());
  int sum = 0;
  for (const int x : b) {
    sum += x;
  }
  return sum;
}
static_assert(at_compile_time() == 10);

} // namespace core_buffer_test
