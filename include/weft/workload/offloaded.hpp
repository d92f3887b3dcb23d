// SPDX-License-Identifier: BSL-1.0
/// A workload some of whose tensors wait on the host until they are needed again.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/sort.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/copy_ops.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// A tensor's way to the host and back.
struct round_trip {
  tensor_id tensor = none;
  op_id after = none;              ///< the op whose end sends it back; `none`: it comes back at once
  std::vector<op_id> readers = {}; ///< those that read what comes back; the others read the tensor itself

  friend bool operator==(const round_trip&, const round_trip&) = default;
};

namespace detail {

template <class Workload>
void check_round_trip(const Workload& w, const round_trip& x) {
  if (x.tensor >= w.num_tensors() || (x.after != none && x.after >= w.num_ops())) {
    throw dangling_id_error("offloaded", "there is no such tensor, or no such op after which it is sent back");
  }
  const auto& of = w.consumers(x.tensor);
  if (x.readers.empty() || !std::all_of(x.readers.begin(), x.readers.end(), [&](op_id v) {
        return std::find(of.begin(), of.end(), v) != of.end();
      })) {
    throw value_error("offloaded", "some readers of tensor " + std::to_string(x.tensor) +
                                     " get it back, and only those that read it");
  }
}

} // namespace detail

/// The same workload, where each trip is one more op `offload/<name>`, named after the tensor's producer, that has no
/// work and may run on CPUs only. It reads the tensor, which is thus sent to the host as soon as it is made, and makes
/// another one of the same size once `after` has ended, which is sent to where `readers` are. So simulators, bounds,
/// checkers and executors see nothing but ops, edges and transfers, and the memory of the host counts. All ops keep
/// their ids; those of the trips follow, in their order. Where a workload has times instead of work, these take none.
///
/// Throws `dangling_id_error` for ids that do not exist, `value_error` for readers that do not read the tensor,
/// `cycle_error` if `after` waits for one of them. Complexity: O(n + m log m).
/// ```
/// const round_trip trips[] = {{.tensor = activation, .after = loss, .readers = {gradient}}};
/// const workload step = offloaded(w, trips);
/// ```
/// Source: Rhu et al., *vDNN: Virtualized Deep Neural Networks for Scalable, Memory-Efficient Neural Network Design*,
/// MICRO 2016.
template <named_workload Workload>
workload offloaded(const Workload& w, std::span<const round_trip> trips) {
  std::vector<std::pair<tensor_id, op_id>> moved; // edges that go
  for (const auto& x : trips) {
    detail::check_round_trip(w, x);
    for (const op_id v : x.readers) {
      moved.emplace_back(x.tensor, v);
    }
  }
  weft::sort(moved);
  workload_builder b;
  copy_ops(
    b, w, [&](op_id v) { return w.resident_bytes(v); }, [&](tensor_id t) { return w.bytes(t); },
    [&](tensor_id t, op_id reader) {
      return !std::binary_search(moved.begin(), moved.end(), std::pair{t, reader});
    });
  for (const auto& x : trips) {
    const op_id from = w.producer(x.tensor);
    const auto& outputs = w.outputs(from);
    const auto output = x.tensor - *outputs.begin();
    auto name = "offload/" + (w.name(from).empty() ? "op_" + std::to_string(from) : std::string{w.name(from)});
    if (output > 0) {
      name += ":" + std::to_string(output);
    }
    const op_id host = b.add_op({.bytes = w.bytes(x.tensor), .kinds = device_kind::cpu, .name = std::move(name)});
    b.add_edge(from, host, output);
    if (x.after != none && x.after != from) {
      b.add_control_edge(x.after, host);
    }
    for (const op_id v : x.readers) {
      b.add_edge(host, v);
    }
  }
  return std::move(b).build();
}

} // namespace weft
