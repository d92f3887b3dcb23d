// SPDX-License-Identifier: BSL-1.0
/// A plan with the names of what it places, what it was made for and what was expected of it, and fitting it to a model
/// and a platform again.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/sort.hpp"
#include "weft/io/text.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::io {

/// The origin of a plan. Texts are empty where it is unknown.
struct plan_origin {
  std::string weft = {};           ///< the version that made it
  std::string model = {};          ///< name of the file without its folder, or of the bundled network
  std::string model_format = {};   ///< such as `ONNX`
  std::string model_sha256 = {};   ///< of the file's bytes; see `sha256`
  std::string platform = {};       ///< its name, or the file
  std::map<std::string, std::vector<std::string>> options = {}; ///< of the command line, without dashes, and their
                                                                ///< values: those that change the model or its costs
  std::vector<std::string> notes = {};                          ///< what was assumed, a line each
  std::string objective = {};                                   ///< what was made small, such as `makespan`
  double value = 0;                                             ///< … and how small it is
  std::string unit = {};                                        ///< … in what, such as `s`
  double step_seconds = 0;                                      ///< the makespan that is expected

  friend bool operator==(const plan_origin&, const plan_origin&) = default;
};

/// A plan and what its file says of it.
struct plan_record {
  weft::plan plan = {};
  std::vector<std::string> ops = {};     ///< the name of each op; empty if the file has none
  std::vector<std::string> devices = {}; ///< the name of each device of the platform; empty if the file has none
  std::optional<plan_origin> origin = {};

  friend bool operator==(const plan_record&, const plan_record&) = default;
};

namespace detail {

/// For each of `wanted`, the place of the same name in `among`, the k-th of a name for the k-th of a name; `none` where
/// there is none. Complexity: O(n log n).
inline std::vector<std::uint32_t> places_of(const std::vector<std::string>& wanted,
                                            const std::vector<std::string>& among) {
  const auto by_name = [](const std::vector<std::string>& names) {
    std::vector<std::uint32_t> order;
    for (const std::uint32_t i : ids(names.size())) {
      order.push_back(i);
    }
    weft::sort(order, [&](std::uint32_t a, std::uint32_t b) {
      const int compared = names[a].compare(names[b]);
      return compared < 0 || (compared == 0 && a < b);
    });
    return order;
  };
  const auto left = by_name(wanted);
  const auto right = by_name(among);
  std::vector<std::uint32_t> places(wanted.size(), none);
  for (std::size_t i = 0, k = 0; i < left.size() && k < right.size();) {
    const int compared = wanted[left[i]].compare(among[right[k]]);
    if (compared == 0) {
      places[left[i]] = right[k];
    }
    i += compared <= 0 ? 1u : 0u;
    k += compared >= 0 ? 1u : 0u;
  }
  return places;
}

/// A name as a JSON file holds it: bytes that are not UTF-8 become U+FFFD.
inline std::string text_in_json(std::string_view text) {
  std::string name{text};
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    const nlohmann::json value = name;
    name = nlohmann::json::parse(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return name;
}

/// `3 of its 20 ops are not in the plan: 'a', 'b', 'c'`, with at most three names; empty if all of them are there.
inline std::string told_missing(const std::vector<std::string>& names, const std::vector<std::uint32_t>& places,
                                const std::string& things) {
  std::size_t count = 0;
  std::string shown;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (places[i] == none && ++count <= 3) {
      shown += (shown.empty() ? "" : ", ") + in_quotes(names[i]);
    }
  }
  return count == 0 ? std::string{}
                    : std::to_string(count) + " of its " + std::to_string(names.size()) + " ops are not in " + things +
                        ": " + shown + (count > 3 ? ", ..." : "");
}

} // namespace detail

/// The names of all ops of a workload, or of all devices of a platform, for a record: as JSON can hold them.
template <class Workload>
std::vector<std::string> op_names(const Workload& w) {
  std::vector<std::string> names;
  for (const op_id v : ids(w.num_ops())) {
    names.push_back(detail::text_in_json(w.name(v)));
  }
  return names;
}
template <class Platform>
std::vector<std::string> device_names(const Platform& q) {
  std::vector<std::string> names;
  for (const device_id d : ids(q.num_devices())) {
    names.push_back(detail::text_in_json(q.name(d)));
  }
  return names;
}

/// The plan in the numbers of this workload and this platform. Ops and devices are found by their names, the k-th of a
/// name being the k-th of that name; where the record has no names, by their numbers. Every op must be in both; of the
/// devices, those that the plan uses. Throws `error` that says which are missing. Whether ops may run where they are,
/// and whether the order can be followed, `check_plan` and a run find out. Complexity: O(n log n).
template <class Workload, class Platform>
plan plan_for(const plan_record& r, const Workload& w, const Platform& q) {
  const std::size_t n = w.num_ops();
  const auto count = [](std::size_t of) { return std::to_string(of) + (of == 1 ? " op" : " ops"); };
  std::vector<std::uint32_t> op_at;
  if (!r.ops.empty()) {
    const auto names = op_names(w);
    op_at = detail::places_of(r.ops, names);
    const auto added = detail::told_missing(names, detail::places_of(names, r.ops), "the plan");
    const auto gone = detail::told_missing(r.ops, op_at, "the model");
    if (!added.empty() || !gone.empty()) {
      throw error("the plan is of another model: " + (added.empty() ? "" : "of the model, " + added) +
                  (added.empty() || gone.empty() ? "" : "; ") + (gone.empty() ? "" : "of the plan, " + gone));
    }
  } else if (r.plan.placement.size() != n) {
    throw error("the plan is of another model: it places " + count(r.plan.placement.size()) + ", and the model has " +
                count(n));
  } else {
    for (const op_id v : ids(n)) {
      op_at.push_back(v);
    }
  }
  const auto device_at =
    r.devices.empty() ? std::vector<std::uint32_t>{} : detail::places_of(r.devices, device_names(q));
  const auto device = [&](device_id d) {
    if (r.devices.empty() ? d < q.num_devices() : d < device_at.size() && device_at[d] != none) {
      return r.devices.empty() ? d : device_at[d];
    }
    throw error("the plan is of another platform: it uses device " +
                (d < r.devices.size() ? in_quotes(r.devices[d]) : std::to_string(d)) + ", and the platform has " +
                (r.devices.empty() ? std::to_string(q.num_devices()) + " devices" : "none of that name"));
  };
  plan fitted{placement(n, none), {}};
  std::vector<std::uint32_t> first_tensor(n, 0); // of each op in the numbers of the record
  std::uint32_t tensors = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const op_id v = op_at[i];
    if (r.plan.placement[i] == none) {
      throw error("the plan does not say on which device op " + in_quotes(w.name(v)) + " runs");
    }
    fitted.placement[v] = device(r.plan.placement[i]);
    first_tensor[i] = tensors;
    tensors += static_cast<std::uint32_t>(w.outputs(v).size());
  }
  for (const step& s : r.plan.order) {
    const op_id v = op_at[s.op];
    if (!s.is_send()) {
      fitted.order.push_back(step::run(v));
      continue;
    }
    const auto outputs = w.outputs(v);
    if (s.tensor < first_tensor[s.op] || s.tensor - first_tensor[s.op] >= outputs.size()) {
      throw error("the plan's order sends tensor " + std::to_string(s.tensor) + ", which op " +
                  in_quotes(w.name(v)) + " does not make");
    }
    fitted.order.push_back(step::send(v, *outputs.begin() + (s.tensor - first_tensor[s.op]), device(s.to)));
  }
  return fitted;
}

} // namespace weft::io
