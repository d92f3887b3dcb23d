// SPDX-License-Identifier: BSL-1.0
/// Questions that tests of readers ask of a model that was read.
#pragma once

#include "workload/summary.hpp"

#include "weft/core/error.hpp"
#include "weft/workload/model.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace weft_test {

/// The op of that name, which must be there.
inline weft::op_id op_called(const weft::workload& w, std::string_view name) {
  const auto v = weft::test::find_op(w, name);
  if (v == weft::none) {
    FAIL("no op " << std::string{name});
  }
  return v;
}

/// Whether one of the notes has these words.
inline bool noted(const weft::model& m, std::string_view part) {
  return std::ranges::any_of(m.notes, [&](const std::string& n) { return n.find(part) != n.npos; });
}

/// The message of a refusal of what read() reads; empty if it reads it.
template <class Read>
std::string refusal_of(const Read& read) {
  try {
    (void)read();
    return {};
  } catch (const weft::parse_error& e) {
    return e.what();
  }
}

/// The work of a network's ops as they are defined.
template <class Network>
double forward_of(const Network& net) {
  double sum = 0;
  for (std::uint32_t i = 0; i < net.num_ops(); ++i) {
    sum += net[i].op.work;
  }
  return sum;
}

/// The names of all ops, in order.
inline std::vector<std::string> names_of(const weft::workload& w) {
  std::vector<std::string> names;
  for (const weft::op_id v : weft::ids(w.num_ops())) {
    names.emplace_back(w.name(v));
  }
  return names;
}

/// Of each op `c` if it runs on CPUs only, `-` if anywhere; groups count as their members together.
inline std::string cpu_only(const weft::workload& w) {
  std::string all;
  for (const weft::op_id v : weft::ids(w.num_ops())) {
    auto kinds = w.kinds(v);
    for (const weft::op_id u : weft::ids(w.num_ops())) {
      kinds = w.group(v) != weft::none && w.group(u) == w.group(v) ? kinds & w.kinds(u) : kinds;
    }
    all += kinds == weft::device_kind::cpu ? 'c' : kinds.is_all() ? '-' : '?';
  }
  return all;
}

} // namespace weft_test
