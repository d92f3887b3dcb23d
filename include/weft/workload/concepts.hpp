// SPDX-License-Identifier: BSL-1.0
/// The concept of a workload: ops that consume and produce tensors, with the numbers that decide where they should go.
#pragma once

#include "weft/core/explained.hpp"
#include "weft/core/ids.hpp"
#include "weft/graph/edges.hpp"
#include "weft/platform/kinds.hpp"

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string_view>

namespace weft {
namespace workload_parts {

/// W can be walked by `graph::has_tensors`, and has tensors of the dense ids `0 … num_tensors() - 1`. A control edge is
/// a tensor of zero bytes.
template <class W>
concept has_dataflow = graph::has_tensors<W> && requires(const W& w) {
  { w.num_tensors() } -> std::convertible_to<std::size_t>;
};

/// W tells how large things are: `bytes(t)` of a tensor, `resident_bytes(v)` of an op's parameters and state.
template <class W>
concept has_sizes = requires(const W& w, op_id v, tensor_id t) {
  { w.bytes(t) } -> std::convertible_to<byte_count>;
  { w.resident_bytes(v) } -> std::convertible_to<byte_count>;
};

/// W tells where an op may go: the kinds of devices, and its colocation group (`none` or `0 … num_groups() - 1`).
template <class W>
concept has_constraints = requires(const W& w, op_id v) {
  { w.kinds(v) } -> std::same_as<kind_set>;
  { w.group(v) } -> std::convertible_to<group_id>;
  { w.num_groups() } -> std::convertible_to<std::size_t>;
};

/// W tells how much there is to compute: `work(v)` in work units (usually FLOP).
template <class W>
concept has_work = requires(const W& w, op_id v) {
  { w.work(v) } -> std::convertible_to<double>;
};

} // namespace workload_parts

/// Ops, tensors, sizes and constraints; see workload/archetype.hpp. Graph algorithms take workloads as they are.
template <class W>
concept dataflow_workload = workload_parts::has_dataflow<W> && workload_parts::has_sizes<W> &&
                            workload_parts::has_constraints<W> && workload_parts::has_work<W>;

/// True if the one op that reads t writes its result over it, so that t takes no memory any more when that op starts.
/// False for workloads that do not say.
template <class W>
constexpr bool is_overwritten(const W& w, tensor_id t) {
  if constexpr (requires { { w.is_overwritten(t) } -> std::convertible_to<bool>; }) {
    return w.is_overwritten(t);
  } else {
    return false;
  }
}

/// True if t is a part of what an op on its producer's device keeps anyway (`resident_bytes`), so that it takes no
/// memory of its own there. False for workloads that do not say.
template <class W>
constexpr bool is_resident(const W& w, tensor_id t) {
  if constexpr (requires { { w.is_resident(t) } -> std::convertible_to<bool>; }) {
    return w.is_resident(t);
  } else {
    return false;
  }
}

/// True if t is a message of a collective, which the one kernel sends that the collective is on its device: nothing is
/// launched for it. False for workloads that do not say.
template <class W>
constexpr bool is_message(const W& w, tensor_id t) {
  if constexpr (requires { { w.is_message(t) } -> std::convertible_to<bool>; }) {
    return w.is_message(t);
  } else {
    return false;
  }
}

/// The memory in which an op's first output lies.
enum class output_memory : std::uint8_t {
  own,        ///< in memory of its own
  over_input, ///< over an input, if no other op reads that: each element depends on those in its place alone
  view        ///< where its input lies, or what the op keeps: it is the same in another form
};

/// A workload that also tells how its ops are called, and of which type they are, such as "MatMul".
template <class W>
concept named_workload = dataflow_workload<W> && requires(const W& w, op_id v) {
  { w.name(v) } -> std::convertible_to<std::string_view>;
  { w.type(v) } -> std::convertible_to<std::string_view>;
};

namespace why_not {
template <class W>
struct dataflow_workload {
  static constexpr bool is_builder = requires(W w) { static_cast<W&&>(w).build(); };
  static constexpr bool has_tensors = requires(const W& w) { w.num_tensors(); };
  static_assert(!is_builder, "weft: a builder is not a workload yet; pass what std::move(builder).build() returns");
  static_assert(has_tensors || is_builder, "weft: this workload lacks num_tensors() const, a number; if it is a graph, "
                                           "annotated_graph{graph, {.work = work}} makes a workload of it; see "
                                           "docs/concepts/dataflow_workload.md");
  WEFT_DETAIL_RETURNS(has_tensors, (const W& w), w.num_tensors(), std::convertible_to<std::size_t>, "workload",
                      "num_tensors()", "a number", "dataflow_workload");
#define WEFT_DETAIL_PART(call, requirement, member, result)                                                            \
  WEFT_DETAIL_HAS(has_tensors, (const W& w, op_id v, tensor_id t), w.call, requirement, "workload", member, result,    \
                  "dataflow_workload")
  WEFT_DETAIL_PART(num_ops(), std::convertible_to<std::size_t>, "num_ops()", "a number");
  WEFT_DETAIL_PART(inputs(v), graph::id_list, "inputs(op_id)", "a sized range of tensor ids");
  WEFT_DETAIL_PART(outputs(v), graph::id_list, "outputs(op_id)", "a sized range of tensor ids");
  WEFT_DETAIL_PART(consumers(t), graph::id_list, "consumers(tensor_id)", "a sized range of op ids");
  WEFT_DETAIL_PART(producer(t), std::convertible_to<op_id>, "producer(tensor_id)", "an op id");
  WEFT_DETAIL_PART(bytes(t), std::convertible_to<byte_count>, "bytes(tensor_id)", "a number");
  WEFT_DETAIL_PART(resident_bytes(v), std::convertible_to<byte_count>, "resident_bytes(op_id)", "a number");
  WEFT_DETAIL_PART(kinds(v), std::same_as<kind_set>, "kinds(op_id)", "a kind_set");
  WEFT_DETAIL_PART(group(v), std::convertible_to<group_id>, "group(op_id)", "a group_id");
  WEFT_DETAIL_PART(num_groups(), std::convertible_to<std::size_t>, "num_groups()", "a number");
  WEFT_DETAIL_PART(work(v), std::convertible_to<double>, "work(op_id)", "a number");
#undef WEFT_DETAIL_PART
};
} // namespace why_not

namespace must_be {
template <class W>
concept dataflow_workload = weft::dataflow_workload<W> || explained<why_not::dataflow_workload<W>>;
} // namespace must_be

} // namespace weft
