// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/interference.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace concurrency_interference_test {

using namespace weft::concurrency;
using types = std::vector<type_id>;

TEST_CASE("interference_memory: one spike does not part a pair, repeated harm does") {
  interference_memory m{3, {}};
  m.observe(0, types{1}, 1, 100);
  CHECK_FALSE(m.parted(0, 1));
  m.observe(0, types{1}, 1, 1.6);
  CHECK_FALSE(m.parted(0, 1));
  m.observe(0, types{1}, 1, 1.6);
  CHECK(m.parted(0, 1));
  CHECK(m.parted(1, 0)); // pairs have no order
  CHECK_FALSE(m.parted(0, 2));
  CHECK_FALSE(m.parted(1, 1));
  CHECK(m.num_parted() == 1);
}

TEST_CASE("interference_memory: harm done to either counts for the pair") {
  interference_memory m{2, {}};
  m.observe(0, types{1}, 1, 2);
  m.observe(1, types{0}, 1, 2);
  m.observe(0, types{1}, 1, 2);
  CHECK(m.parted(0, 1));
}

TEST_CASE("interference_memory: runs without harm clear a pair, but not while it is parted") {
  interference_memory m{2, {}};
  for (int i = 0; i < 10; ++i) {
    m.observe(0, types{1}, 1, 2);
    m.observe(0, types{1}, 1, 2);
    m.observe(0, types{1}, 1, 1);
    m.observe(0, types{1}, 1, 0.5);
  }
  CHECK_FALSE(m.parted(0, 1));
  for (int i = 0; i < 3; ++i) {
    m.observe(0, types{1}, 1, 2);
  }
  m.observe(0, types{1}, 1, 1);
  CHECK(m.parted(0, 1));
}

TEST_CASE("interference_memory: at the threshold there is no harm yet") {
  interference_memory m{1, {.slowdown = 1.5, .strikes = 1}};
  m.observe(0, types{0}, 2, 3);
  CHECK_FALSE(m.parted(0, 0));
  m.observe(0, types{0}, 2, 3.001);
  CHECK(m.parted(0, 0));
}

TEST_CASE("interference_memory: all that were there are blamed, and the harmless ones cleared") {
  interference_memory m{3, {}};
  for (int i = 0; i < 3; ++i) {
    m.observe(0, types{1, 2}, 1, 2);
    m.observe(0, types{2}, 1, 1);
  }
  CHECK(m.parted(0, 1));
  CHECK_FALSE(m.parted(0, 2));
  m.observe(0, types{}, 1, 100); // nobody to blame
  CHECK(m.num_parted() == 1);
}

TEST_CASE("interference_memory: a parted pair gets another chance, after a term that doubles") {
  interference_memory m{3, {.strikes = 2, .term = 10}};
  m.observe(0, types{1}, 1, 2);
  m.observe(0, types{1}, 1, 2);
  for (int term : {10, 20, 40}) {
    for (int i = 0; i < term; ++i) {
      REQUIRE(m.parted(0, 1));
      m.observe(2, types{}, 1, 1); // ops of other types end
    }
    REQUIRE_FALSE(m.parted(0, 1));
    m.observe(1, types{0}, 1, 2); // one more harm is enough
  }
  CHECK(m.parted(0, 1));
}

TEST_CASE("interference_memory: rare spikes do not keep a harmless pair apart") {
  interference_memory m{2, {}};
  std::uint64_t state = 1;
  std::size_t apart = 0;
  const std::size_t ends = 1'000'000;
  for (std::size_t i = 0; i < ends; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (m.parted(0, 1)) {
      ++apart;
      m.observe(0, types{}, 1, 1);
    } else {
      m.observe(0, types{1}, 1, (state >> 33) % 50 == 0 ? 10 : 1); // one in fifty
    }
  }
  CHECK(apart < ends / 20);
}

} // namespace concurrency_interference_test
