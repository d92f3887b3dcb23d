// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/standard_strategies.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace solve_standard_strategies_test {

using namespace weft;

struct list_names {
  std::vector<std::string> names = {};

  template <class S>
  void add_partitioner(const char* name, const S&) {
    names.emplace_back(name);
  }
  template <class S>
  void add_policy(const char* name, const S&) {
    names.emplace_back(name);
  }
  template <class S>
  void add_refiner(const char* name, const S&) {
    names.emplace_back(name);
  }
};

TEST_CASE("standard strategies: each name once, and fit for a command line") {
  list_names all;
  standard_strategies::all(all);
  std::set<std::string> seen;
  for (const auto& name : all.names) {
    CAPTURE(name);
    CHECK(!name.empty());
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string::npos);
    CHECK(seen.insert(name).second);
    for (const char* word : {"all", "none", "best"}) { // which mean something else there
      CHECK(name != word);
    }
  }
  for (const char* name : {"hash", "heft", "dsc", "m_sct", "branch_and_bound", "fifo", "genetic"}) {
    CHECK(seen.contains(name)); // one of each part
  }
}

} // namespace solve_standard_strategies_test
