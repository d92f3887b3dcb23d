// SPDX-License-Identifier: BSL-1.0
/// All strategies for random problems, compiled once.
#pragma once

#include "property/sample.hpp"

#include "weft/solve/registry.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft::test {

using strategies = registry<sampled_problem::problem_type>;

/// Those of the library, and under the names `quick iterated_local_search` and `quick branch_and_bound` the same with
/// little time to search.
const strategies& all_strategies();

/// The names of the library's partitioners; those that search in their quick form if there are more than `limit` ops.
std::vector<std::string> partitioner_names(std::size_t num_ops, std::size_t limit);

/// A policy under a contention model, and its simulator for one problem.
struct named_simulator {
  std::string policy;
  contention_model contention;
  std::unique_ptr<any_simulator<sampled_problem::problem_type>> run;
};

/// Every policy of the library under every contention model.
std::vector<named_simulator> all_simulators(const sampled_problem::problem_type& p);

} // namespace weft::test
