// SPDX-License-Identifier: BSL-1.0
/// Collections of the assumptions that a reader makes, for a model and its notes.
#pragma once

#include "weft/io/text.hpp"
#include "weft/workload/model.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

/// Assumptions by what they are, each with the names of what they concern.
class tally {
public:
  /// `assumption` reads well after a number, with words for one and for several as `counted` takes them.
  void add(std::string_view assumption, std::string_view name = {}) {
    auto& names = counts_.try_emplace(std::string{assumption}).first->second;
    ++names.try_emplace(on_one_line(name.substr(0, max_name))).first->second;
  }

  /// A line each: `3 ops without a rule: a (2), b`, with the most frequent six names.
  std::vector<std::string> notes() const {
    std::vector<std::string> lines;
    for (const auto& [assumption, names] : counts_) {
      std::vector<std::pair<std::string_view, std::size_t>> sorted(names.begin(), names.end());
      std::ranges::stable_sort(sorted, std::ranges::greater{}, &std::pair<std::string_view, std::size_t>::second);
      std::size_t total = 0;
      std::string list;
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto& [name, count] = sorted[i];
        total += count;
        if (i < 6 && !name.empty()) {
          list += (list.empty() ? ": " : ", ") + std::string{name} +
                  (count > 1 ? " (" + std::to_string(count) + ")" : std::string{});
        }
      }
      lines.push_back(counted(total, assumption) + list + (sorted.size() > 6 ? ", …" : ""));
    }
    return lines;
  }

private:
  static constexpr std::size_t max_name = 200;

  std::map<std::string, std::map<std::string, std::size_t, std::less<>>, std::less<>> counts_;
};

/// Collects what was assumed, each once, in the order in which it is met.
class assumed_sizes {
public:
  void add(assumed_size x) {
    if (known_.emplace(x.given_by, x.name).second) {
      list_.push_back(std::move(x));
    }
  }
  const std::vector<assumed_size>& list() const { return list_; }

private:
  std::vector<assumed_size> list_;
  std::set<std::pair<assumed_size::option, std::string>> known_;
};

} // namespace weft::io
