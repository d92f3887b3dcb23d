// SPDX-License-Identifier: BSL-1.0
/// What a workload is: ops that consume and produce tensors, with the numbers that decide where they should go.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/platform/kinds.hpp"

#include <concepts>
#include <ranges>
#include <string_view>

namespace weft {
namespace workload_parts {

/// A range of ids.
template <class R>
concept id_list = std::ranges::forward_range<R> && std::ranges::sized_range<R> &&
                  std::convertible_to<std::ranges::range_reference_t<R>, std::uint32_t>;

/// W tells which tensors an op consumes and produces, and which ops consume and produce a tensor. Tensors have the
/// dense ids `0 … num_tensors() - 1`; an op lists a tensor at most once among its inputs. A control edge is a
/// tensor of zero bytes.
template <class W>
concept has_dataflow = requires(const W& w, op_id v, tensor_id t) {
  { w.num_ops() } -> std::convertible_to<std::size_t>;
  { w.num_tensors() } -> std::convertible_to<std::size_t>;
  { w.inputs(v) } -> id_list;
  { w.outputs(v) } -> id_list;
  { w.consumers(t) } -> id_list;
  { w.producer(t) } -> std::convertible_to<op_id>;
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

/// Ops, tensors, sizes and constraints; see workload/archetype.hpp. The library's models are graphs as well, so
/// that graph algorithms take them as they are.
template <class W>
concept dataflow_workload = workload_parts::has_dataflow<W> && workload_parts::has_sizes<W> &&
                            workload_parts::has_constraints<W> && workload_parts::has_work<W>;

/// A workload that also tells how its ops are called, and of which type they are, such as "MatMul".
template <class W>
concept named_workload = dataflow_workload<W> && requires(const W& w, op_id v) {
  { w.name(v) } -> std::convertible_to<std::string_view>;
  { w.type(v) } -> std::convertible_to<std::string_view>;
};

/// An edge of a workload: `target` consumes `tensor`, which `source` produces.
struct flow_edge {
  op_id source = none;
  op_id target = none;
  tensor_id tensor = none;
  friend constexpr bool operator==(const flow_edge&, const flow_edge&) = default;
};

} // namespace weft
