// SPDX-License-Identifier: BSL-1.0
/// The suite of generated problems, ready to be solved.
#pragma once

#include "weft/cost/generate/suite.hpp"
#include "weft/problem.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// All problems of the suite are of this type, so that every strategy is compiled once.
using suite_problem = weft::problem<weft::workload, weft::platform<weft::uniform_links>, weft::cost::table>;

/// An entry of the suite and its problem. Owns everything that the problem refers to, so it stays where it was made.
struct suite_case {
  explicit suite_case(weft::generate::suite_entry e)
      : entry{std::move(e)}, data{weft::generate::make_suite_instance(entry)},
        problem{data.ops, data.devices, data.costs()} {}
  suite_case(const suite_case&) = delete;
  suite_case& operator=(const suite_case&) = delete;

  weft::generate::suite_entry entry;
  weft::generate::suite_instance data;
  suite_problem problem;
};

/// Calls `f(suite_case)` for every entry that `select(entry)` accepts, one after another, so that one problem is in
/// memory at a time.
template <class F, class Select>
void for_each_of_suite(std::uint64_t seeds, Select select, F f) {
  for (const auto& e : weft::generate::suite(seeds)) {
    if (select(e)) {
      const suite_case made{e};
      f(made);
    }
  }
}

/// The columns under which an entry counts in tables: `ccr 0.1`, `related`, `cholesky`, `all`.
inline std::vector<std::string> suite_columns(const weft::generate::suite_entry& e) {
  const std::string name = e.name(); // family/ccr x/heterogeneity/seed
  const auto first = name.find('/');
  const auto second = name.find('/', first + 1);
  return {name.substr(first + 1, second - first - 1), std::string{to_string(e.devices)}, e.family, "all"};
}

} // namespace bench
