// SPDX-License-Identifier: BSL-1.0
/// TensorFlow's names of devices, such as `/job:worker/task:1/device:GPU:0`, and edges as both graph files have them.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/sort.hpp"
#include "weft/io/text.hpp"
#include "weft/platform/kinds.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::tensorflow::detail {

/// What a device field says.
struct device_name {
  kind_set kinds = {};    ///< of its type; empty if it names none
  bool known = true;      ///< false if it names a type that is no kind of ours
  bool particular = false; ///< whether it says more than a type: a job, a task or a number other than 0
};

/// Source: tensorflow/core/util/device_name_utils.cc; XLA_CPU and XLA_GPU are the compiled forms of both.
inline device_name parse_device(std::string_view field) {
  device_name d;
  std::string_view type = field.starts_with('/') || field.empty() ? std::string_view{} : field;
  for (const auto part : io::split(field, '/')) {
    const auto key = io::lower(part.substr(0, part.find(':')));
    const auto value = part.find(':') == part.npos ? std::string_view{} : part.substr(part.find(':') + 1);
    if (key == "device") {
      type = value;
    } else if (field.starts_with('/') && (key == "cpu" || key == "gpu" || key == "tpu")) {
      type = part;
    } else if (key == "task" || key == "replica") {
      d.particular = d.particular || (value != "0" && !value.empty());
    } else if (key == "job") {
      d.particular = d.particular || value != "localhost";
    }
  }
  auto name = io::lower(type.substr(0, type.find(':')));
  const auto number = type.find(':') == type.npos ? std::string_view{} : type.substr(type.find(':') + 1);
  d.particular = d.particular || (!number.empty() && number != "0" && number != "*");
  name = name.starts_with("xla_") ? name.substr(4) : name;
  if (name.empty() || name == "*") {
    return d;
  }
  const auto kind = parse_device_kind(name);
  d.known = kind.has_value();
  d.kinds = kind ? kind_set{*kind} : kind_set{};
  return d;
}

/// Throws `error` unless a placement has an entry per op and each device a name.
inline void require_names(std::span<const device_id> placement, std::size_t num_ops, std::size_t num_names) {
  if (placement.size() != num_ops) {
    throw error("the placement has " + std::to_string(placement.size()) + " entries for " + std::to_string(num_ops) +
                " ops");
  }
  for (std::size_t v = 0; v < num_ops; ++v) {
    if (placement[v] != none && placement[v] >= num_names) {
      throw error("op " + std::to_string(v) + " is placed on device " + std::to_string(placement[v]) +
                  ", but there are names for " + std::to_string(num_names));
    }
  }
}

/// Adds edges to v once each: per producer and port, and a control edge only where no tensor comes from there anyway.
/// `number(producer, port)` is the output's number in the builder.
template <class Port, class Number>
void add_edges(workload_builder& b, op_id v, std::vector<std::pair<op_id, Port>> read, std::vector<op_id> awaited,
               const Number& number) {
  sort_unique(read);
  sort_unique(awaited);
  for (const auto& [from, port] : read) {
    b.add_edge(from, v, number(from, port));
  }
  for (const op_id from : awaited) {
    const auto at = std::lower_bound(read.begin(), read.end(), std::pair{from, Port{}});
    if (at == read.end() || at->first != from) {
      b.add_control_edge(from, v);
    }
  }
}

} // namespace weft::tensorflow::detail
