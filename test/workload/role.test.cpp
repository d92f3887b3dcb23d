// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/role.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/optimizer.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>

namespace workload_role_test {

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

/// The columns that names and types are, without roles.
struct names_only {
  const workload* w;
  std::size_t num_ops() const { return w->num_ops(); }
  std::string_view name(op_id v) const { return w->name(v); }
  std::string_view type(op_id v) const { return w->type(v); }
};

TEST_CASE("op_role: what is given counts, else what the name and the type say; copies keep it") {
  workload_builder b;
  const op_id forward = b.add_op({.work = 1, .bytes = 4, .name = "dense/MatMul", .type = "MatMul"});
  const op_id gradient = b.add_op({.name = "data_1/gradients/dense/MatMul_grad", .type = "MatMul"});
  const op_id again = b.add_op({.name = "recompute/dense/MatMul"});
  const op_id update = b.add_op({.name = "dense/update", .type = "ApplyAdam"});
  const op_id given = b.add_op({.name = "gradients/add", .type = "ApplyAdam", .role = op_role::forward});
  const op_id makes = b.add_op({.name = "mm", .role = op_role::parameter_gradient});
  CHECK(b[update].role == op_role::update);
  CHECK(b[forward].role == op_role::forward);
  const workload w = std::move(b).build();
  CHECK(w.role(forward) == op_role::forward);
  CHECK(w.role(gradient) == op_role::gradient);
  CHECK(w.role(again) == op_role::gradient);
  CHECK(w.role(update) == op_role::update);
  CHECK(w.role(given) == op_role::forward);
  CHECK(w.role(makes) == op_role::parameter_gradient);
  CHECK(is_training_step(w));
  CHECK(role_of(names_only{&w}, gradient) == op_role::gradient);
  CHECK(is_update(names_only{&w}, given)); // which has no column that says otherwise
  for (const op_id v : ids(w.num_ops())) {
    CHECK(op_of(w, v).role == w.role(v));
  }
  workload_builder none_at_all;
  none_at_all.add_op({.name = "x"});
  const workload inference = std::move(none_at_all).build();
  CHECK(inference.role(0) == op_role::forward);
  CHECK_FALSE(is_training_step(inference));
}

} // namespace workload_role_test
