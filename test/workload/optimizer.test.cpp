// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/optimizer.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace workload_optimizer_test {

using namespace weft;

TEST_CASE("is_update: the updates of weft's optimisers and of TensorFlow's, and nothing else") {
  for (const auto rule : {optimizer::sgd, optimizer::momentum, optimizer::rmsprop, optimizer::adam}) {
    CHECK(is_update(cost_of(rule).update_type));
  }
  for (const std::string_view type : {"ResourceApplyAdam", "SparseApplyAdagrad", "ResourceSparseApplyMomentum"}) {
    CHECK(is_update(type));
  }
  for (const std::string_view type : {"", "MatMul", "Assign", "ResourceGather", "SparseMatMul", "QueueApply"}) {
    CHECK_FALSE(is_update(type));
  }
}

} // namespace workload_optimizer_test
