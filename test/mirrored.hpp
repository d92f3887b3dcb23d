// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "weft/workload/workload.hpp"

#include <string>
#include <vector>

namespace weft::test {

/// A workload of a type of its own, whose tensors are numbered from the last to the first, and whose lists are in the
/// order of the others.
class mirrored {
public:
  explicit mirrored(const workload& w) : w_{&w} {}
  std::size_t num_ops() const { return w_->num_ops(); }
  std::size_t num_tensors() const { return w_->num_tensors(); }
  std::size_t num_groups() const { return w_->num_groups(); }
  std::vector<tensor_id> inputs(op_id v) const { return mirror(w_->inputs(v)); }
  std::vector<tensor_id> outputs(op_id v) const { return mirror(w_->outputs(v)); }
  std::vector<op_id> consumers(tensor_id t) const {
    const auto all = w_->consumers(mirror(t));
    return {all.rbegin(), all.rend()};
  }
  op_id producer(tensor_id t) const { return w_->producer(mirror(t)); }
  byte_count bytes(tensor_id t) const { return w_->bytes(mirror(t)); }
  byte_count resident_bytes(op_id v) const { return w_->resident_bytes(v); }
  kind_set kinds(op_id v) const { return w_->kinds(v); }
  group_id group(op_id v) const { return w_->group(v) == none ? none : num_groups_less_one() - w_->group(v); }
  double work(op_id v) const { return w_->work(v); }
  std::string name(op_id v) const { return "op" + std::to_string(v); }
  std::string type(op_id v) const { return v % 3 == 0 ? "forward" : "backward"; }

private:
  group_id num_groups_less_one() const { return static_cast<group_id>(w_->num_groups() - 1); }
  tensor_id mirror(tensor_id t) const { return static_cast<tensor_id>(w_->num_tensors() - 1 - t); }
  template <class Range>
  std::vector<tensor_id> mirror(const Range& r) const {
    std::vector<tensor_id> all;
    for (const tensor_id t : r) {
      all.push_back(mirror(t));
    }
    return all;
  }

  const workload* w_;
};

} // namespace weft::test
