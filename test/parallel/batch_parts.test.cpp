// SPDX-License-Identifier: BSL-1.0
#include "weft/core/random.hpp"
#include "weft/parallel/batch_parts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

namespace parallel_batch_parts_test {

using numbers = std::vector<std::uint64_t>;
using weft::parallel::batch_parts;
using weft::parallel::parts_by_speed;
using weft::parallel::parts_within_memory;

/// Sample by sample to the device that would be done first and has room.
numbers one_by_one(std::uint64_t batch, const std::vector<double>& seconds, const numbers& most) {
  numbers samples(seconds.size(), 0);
  for (std::uint64_t k = 0; k < batch; ++k) {
    std::size_t first = seconds.size();
    const auto done = [&](std::size_t i) { return static_cast<double>(samples[i] + 1) * seconds[i]; };
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      if (samples[i] < most[i] && (first == seconds.size() || done(i) < done(first))) {
        first = i;
      }
    }
    if (first < seconds.size()) {
      ++samples[first];
    }
  }
  return samples;
}

double last_done(const numbers& samples, const std::vector<double>& seconds) {
  double last = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    last = std::max(last, static_cast<double>(samples[i]) * seconds[i]);
  }
  return last;
}

std::uint64_t sum_of(const numbers& x) {
  return std::accumulate(x.begin(), x.end(), std::uint64_t{0});
}

TEST_CASE("batch parts: by speed") {
  const std::vector<double> two{1, 3};
  CHECK(parts_by_speed(8, two).samples == numbers{6, 2});
  CHECK(parts_by_speed(1, two).samples == numbers{1, 0});
  CHECK(parts_by_speed(0, two).samples == numbers{0, 0});
  CHECK(parts_by_speed(7, std::vector<double>{2, 2, 2}).samples == numbers{3, 2, 2}); // of equals the first
  CHECK(parts_by_speed(8, two, numbers{4, 9}).samples == numbers{4, 4});
  const auto short_of_room = parts_by_speed(8, two, numbers{4, 1});
  CHECK(short_of_room.samples == numbers{4, 1});
  CHECK(short_of_room.left == 3);
  CHECK(parts_by_speed(8, two, numbers{0, 9}).samples == numbers{0, 8});
  CHECK(parts_by_speed(5, std::vector<double>{0, 1}).samples == numbers{5, 0});
  CHECK(parts_by_speed(std::uint64_t{1} << 40, two).left == 0); // not one by one
}

TEST_CASE("batch parts: as good as sample by sample") {
  weft::rng random{2};
  for (int i = 0; i < 3000; ++i) {
    const auto n = 1 + random.below(6);
    const std::uint64_t batch = random.below(200);
    std::vector<double> seconds;
    numbers most;
    for (std::size_t d = 0; d < n; ++d) {
      seconds.push_back(0.5 + random.below(20));
      most.push_back(random.below(3) == 0 ? random.below(60) : 1000);
    }
    const auto parts = parts_by_speed(batch, seconds, most);
    const auto expected = one_by_one(batch, seconds, most);
    CHECK(sum_of(parts.samples) + parts.left == batch);
    CHECK(sum_of(parts.samples) == sum_of(expected));
    CHECK(last_done(parts.samples, seconds) <= last_done(expected, seconds) * (1 + 1e-9));
    for (std::size_t d = 0; d < n; ++d) {
      CHECK(parts.samples[d] <= most[d]);
    }
  }
}

TEST_CASE("batch parts: no more than fits, found in few questions") {
  weft::rng random{4};
  for (int i = 0; i < 2000; ++i) {
    const auto n = 2 + random.below(4);
    const std::uint64_t batch = 1 + random.below(1000);
    std::vector<double> seconds;
    numbers memory;
    for (std::size_t d = 0; d < n; ++d) {
      seconds.push_back(1 + random.below(9));
      memory.push_back(random.below(4) == 0 ? 0 : random.below(500));
    }
    int asked = 0;
    const auto parts = parts_within_memory(batch, seconds, [&](const numbers& samples) {
      ++asked;
      std::vector<std::size_t> full;
      for (std::size_t d = 0; d < n; ++d) {
        if (samples[d] > memory[d]) {
          full.push_back(d);
        }
      }
      return std::optional{full};
    });
    CHECK(asked <= 12);
    const auto expected = one_by_one(batch, seconds, memory);
    CHECK(parts.left == batch - sum_of(expected));
    CHECK(last_done(parts.samples, seconds) <= last_done(expected, seconds) * (1 + 1e-9));
    for (std::size_t d = 0; d < n; ++d) {
      CHECK(parts.samples[d] <= memory[d]);
      CHECK((parts.limits.empty() || parts.limits[d] == std::min(memory[d], batch)));
    }
    CHECK(parts.limits.empty() == (asked == 1));
  }
}

TEST_CASE("batch parts: what is stopped or has no room") {
  const std::vector<double> two{1, 1};
  const auto stopped =
    parts_within_memory(8, two, [](const numbers&) { return std::optional<std::vector<std::size_t>>{}; });
  CHECK(stopped.left == 8);
  const auto none = parts_within_memory(8, two, [](const numbers& samples) {
    std::vector<std::size_t> full; // not even nothing fits on the second device
    if (samples[0] > 3) {
      full.push_back(0);
    }
    full.push_back(1);
    return std::optional{full};
  });
  CHECK(none.samples == numbers{3, 0});
  CHECK(none.left == 5);
}

} // namespace parallel_batch_parts_test
