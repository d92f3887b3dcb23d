// SPDX-License-Identifier: BSL-1.0
// A pairwise check of offsets, and the least memory, by trying all orders.
#pragma once

#include "weft/allocate/lifetime.hpp"
#include "weft/core/random.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace weft_test {

inline bool clash(const weft::allocate::lifetime& a, const weft::allocate::lifetime& b) {
  return a.bytes != 0 && b.bytes != 0 && a.begin < a.end && b.begin < b.end && a.begin < b.end && b.begin < a.end;
}

/// Empty if nothing is.
inline std::string wrong_with(const std::vector<weft::allocate::lifetime>& all,
                              const std::vector<weft::byte_count>& offsets, weft::byte_count capacity) {
  if (offsets.size() != all.size()) {
    return "not every lifetime has an offset";
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto name = std::to_string(i);
    if (offsets[i] % all[i].alignment != 0) {
      return name + " is not aligned";
    }
    if (clash(all[i], all[i]) && offsets[i] + all[i].bytes > capacity) {
      return name + " ends above the capacity";
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (clash(all[i], all[j]) && offsets[i] < offsets[j] + all[j].bytes && offsets[j] < offsets[i] + all[i].bytes) {
        return name + " overlaps " + std::to_string(j);
      }
    }
  }
  return "";
}

/// The least memory: put down one after another in the right order, each on those before it, they need no more.
inline weft::byte_count least_by_brute_force(const std::vector<weft::allocate::lifetime>& all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<weft::byte_count> top(all.size());
  auto least = ~weft::byte_count{0};
  do {
    weft::byte_count height = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto& x = all[order[k]];
      weft::byte_count at = 0;
      for (std::size_t j = 0; j < k; ++j) {
        at = clash(x, all[order[j]]) ? std::max(at, top[order[j]]) : at;
      }
      while (at % x.alignment != 0) {
        ++at;
      }
      top[order[k]] = at + x.bytes;
      height = clash(x, x) ? std::max(height, top[order[k]]) : height;
    }
    least = std::min(least, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

/// A rectangle of time and memory, cut at random: all of it is used at any time.
inline std::vector<weft::allocate::lifetime> cut_up(weft::rng& random, std::size_t count, std::int64_t moments,
                                                    weft::byte_count capacity) {
  std::vector<weft::allocate::lifetime> all{{0, moments, capacity}};
  while (all.size() < count) {
    auto& x = all[random.below(all.size())];
    auto other = x;
    if (random.below(2) == 0 && x.end - x.begin > 1) {
      x.end = other.begin = random.between(x.begin + 1, x.end - 1);
    } else if (x.bytes > 1) {
      x.bytes = 1 + random.below(x.bytes - 1);
      other.bytes -= x.bytes;
    } else {
      continue;
    }
    all.push_back(other);
  }
  random.shuffle(all);
  return all;
}

} // namespace weft_test
