// SPDX-License-Identifier: BSL-1.0
#include "property/strategies.hpp"

namespace weft::test {

const strategies& all_strategies() {
  static const auto all = [] {
    strategies r = strategies::standard();
    refine::iterated_local_search<> search;
    search.search.budget.moves = 60;
    search.search.patience = 12;
    refine::branch_and_bound exact;
    exact.budget.moves = 20'000;
    r.add_partitioner("quick iterated_local_search", search);
    r.add_partitioner("quick branch_and_bound", exact);
    return r;
  }();
  return all;
}

std::vector<std::string> partitioner_names(std::size_t num_ops, std::size_t limit) {
  std::vector<std::string> names;
  for (const auto& name : all_strategies().partitioner_names()) {
    const bool has_quick_form = all_strategies().find_partitioner("quick " + name) != nullptr;
    if (!name.starts_with("quick ")) {
      names.push_back(has_quick_form && num_ops > limit ? "quick " + name : name);
    }
  }
  return names;
}

std::vector<named_simulator> all_simulators(const sampled_problem::problem_type& p) {
  std::vector<named_simulator> all;
  for (const auto& name : all_strategies().policy_names()) {
    for (const auto contention : {contention_model::none, contention_model::port, contention_model::fair}) {
      all.push_back({name, contention, (*all_strategies().find_policy(name))(p, contention)});
    }
  }
  return all;
}

} // namespace weft::test
