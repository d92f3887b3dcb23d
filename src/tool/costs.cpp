// SPDX-License-Identifier: BSL-1.0
#include "costs.hpp"

#include "weft/concurrency/profiled_times.hpp"
#include "weft/cost/generate/ccr.hpp"
#include "weft/cost/link_share.hpp"
#include "weft/cost/measured.hpp"
#include "weft/cost/time_scale.hpp"
#include "weft/io/files.hpp"
#include "weft/io/json_profile.hpp"
#include "weft/io/text.hpp"
#include "weft/io/times_csv.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tool {

namespace {

/// The times of the file, by the kinds of devices that they are of: those of an op which may not run on all that were
/// measured are of the others. Where work is seconds, that of ops which run on none of them is of their own devices.
std::map<std::uint64_t, std::vector<double>> times_by_kinds(const weft::model& m) {
  std::map<std::uint64_t, std::vector<double>> times;
  for (const weft::op_id v : weft::ids(m.seconds.size())) {
    auto kinds = m.ops.kinds(v) & m.measured_on;
    double seconds = m.seconds[v];
    if (kinds.empty()) {
      const bool own = m.unit == weft::work_unit::seconds && !m.measured_on.empty();
      kinds = own ? m.ops.kinds(v) : m.measured_on;
      seconds = own ? m.ops.work(v) : seconds;
    }
    if (!std::isnan(seconds)) {
      auto& column = times[kinds.bits()];
      column.resize(m.seconds.size(), std::numeric_limits<double>::quiet_NaN());
      column[v] = seconds;
    }
  }
  return times;
}

/// The least and the greatest of some numbers.
struct range {
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0;

  void add(double x) {
    least = std::min(least, x);
    greatest = std::max(greatest, x);
  }
  std::string in(double unit) const {
    return least == greatest ? fmt::format("{:.3g}", least / unit)
                             : fmt::format("{:.3g} to {:.3g}", least / unit, greatest / unit);
  }
};

using weft::ops::device_use;
constexpr std::pair<std::optional<device_use>, const char*> uses[] = {
  {device_use::product, "matrix products"},
  {device_use::attention, "attention"},
  {device_use::convolution, "convolutions"},
  {device_use::recurrence, "recurrences"},
  {device_use::lookup, "look-ups"},
  {device_use::other, "other ops"},
  {std::nullopt, "unknown types"}
};

/// The share of a device's peak that arithmetic reaches with what it reads again and again.
double share_of_peak(const weft::cost::efficiency& e, const weft::device& d) {
  const double again = e.bytes_per_flop * d.speed / (e.memory * d.memory_bandwidth);
  return 1 / (1 / e.compute + again);
}

/// What efficiencies make of ops with a type, in figures: the shares that they are taken to reach, and how much longer
/// they take than at peak rates, each where it is fastest.
std::string in_figures(const estimate& base, const weft::workload& w, const weft::platform<>& q,
                       const std::vector<bool>& is_measured) {
  auto peak = base;
  peak.by_shape.at_peak = true;
  std::vector<weft::device_id> unlike; // one of each sort of devices
  for (const weft::device_id d : weft::ids(q.num_devices())) {
    const auto is_like = [&](weft::device_id e) { return q.devices()[d] == q.devices()[e]; };
    if (std::none_of(unlike.begin(), unlike.end(), is_like)) {
      unlike.push_back(d);
    }
  }
  std::map<std::optional<weft::ops::device_use>, range> arithmetic;
  range memory, overhead;
  double estimated = 0, at_peak = 0;
  for (const weft::op_id v : weft::ids(w.num_ops())) {
    if (is_measured[v] || w.type(v).empty()) {
      continue;
    }
    double least = std::numeric_limits<double>::infinity();
    weft::device_id fastest = 0;
    for (const weft::device_id d : unlike) {
      const double seconds = w.kinds(v).contains(q.kind(d)) ? base.compute_time(w, v, q, d) : least;
      if (seconds < least) {
        least = seconds;
        fastest = d;
      }
    }
    const auto e = base.by_shape.efficiencies->of(w.type(v), q.kind(fastest));
    if (std::isinf(least) || q.reached_rates(fastest) || e.moved == weft::cost::traffic::none) {
      continue;
    }
    estimated += least;
    at_peak += peak.compute_time(w, v, q, fastest);
    if (!weft::is_update(w, v)) {
      arithmetic[weft::ops::use_of(w.type(v))].add(share_of_peak(e, q.devices()[fastest]));
    }
    overhead.add(std::max(e.overhead, e.launch));
    if (std::isfinite(q.memory_bandwidth(fastest))) {
      memory.add(e.memory);
    }
  }
  if (!(at_peak > 0)) {
    return {};
  }
  std::vector<std::string> shares;
  for (const auto& [use, name] : uses) {
    if (const auto at = arithmetic.find(use); at != arithmetic.end()) {
      shares.push_back(fmt::format("{} {} %", name, at->second.in(0.01)));
    }
  }
  if (memory.greatest > 0) {
    shares.push_back(fmt::format("memory bandwidth {} %", memory.in(0.01)));
  }
  return fmt::format("these shares ({}) and {} µs per op make ops take {:.3g} × their time at peak rates, each where "
                     "it is fastest",
                     fmt::join(shares, ", "), overhead.in(1e-6), estimated / at_peak);
}

/// A line for each thing that estimates take for granted.
std::vector<std::string> what_estimates_rest_on(const model_options& o, const weft::model& m, const target& on,
                                                const estimate& base, const std::vector<bool>& is_measured) {
  if (m.unit == weft::work_unit::own) {
    return {fmt::format("work and the speeds of {} are taken to be in the same unit: times are work / speed, "
                        "shown as seconds whatever their unit is",
                        on.name)};
  }
  const auto& q = on.devices;
  const auto devices = weft::ids(q.num_devices());
  const auto reached = std::count_if(devices.begin(), devices.end(), [&](auto d) { return q.reached_rates(d); });
  if (static_cast<std::size_t>(reached) == q.num_devices()) {
    const bool memory =
      std::any_of(devices.begin(), devices.end(), [&](auto d) { return std::isfinite(q.memory_bandwidth(d)); });
    return {fmt::format("speeds of {} are taken to be what ops reach{}", on.name,
                        memory ? ", and bandwidths of memory as well" : ": work / speed")};
  }
  std::size_t typed = 0, untyped = 0; // that compute
  for (const weft::op_id v : weft::ids(m.ops.num_ops())) {
    const bool typeless = m.ops.type(v).empty();
    typed += !typeless;
    untyped += typeless && !is_measured[v] && m.ops.work(v) > 0;
  }
  std::vector<std::string> notes;
  if (typed > 0 && o.peak_rates) {
    notes.emplace_back("ops without a measured time reach peak rates");
  } else if (typed > 0) {
    notes.emplace_back("ops without a measured time reach a share of peak rates typical of their type");
    if (auto figures = in_figures(base, m.ops, q, is_measured); !figures.empty()) {
      notes.push_back(std::move(figures));
    }
  }
  if (untyped > 0) {
    notes.push_back(
      weft::io::counted(untyped, "{op is|ops are} without a type: work is taken as it stands, work / speed"));
  }
  if (q.link_share() < 1 && q.num_devices() > 1) {
    notes.push_back(fmt::format("transfers reach {:.3g} % of the bandwidth of links", 100 * q.link_share()));
  }
  if (reached > 0) {
    notes.push_back(fmt::format("speeds of {} of {} devices are taken to be what ops reach", reached, q.num_devices()));
  }
  return notes;
}

/// Bytes of tensors, counted once for each edge, and how many edges have some.
std::pair<double, double> bytes_on_edges(const weft::workload& w) {
  std::pair<double, double> all{0, 0};
  for (const weft::tensor_id t : weft::ids(w.num_tensors())) {
    if (w.bytes(t) > 0) {
      const auto edges = static_cast<double>(w.consumers(t).size());
      all.first += static_cast<double>(w.bytes(t)) * edges;
      all.second += edges;
    }
  }
  return all;
}

} // namespace

void fit_slots(weft::model& m, std::span<target> platforms) {
  if (!m.ops.takes_several_slots()) {
    return;
  }
  bool changed = false;
  for (auto& on : platforms) {
    try {
      auto fitted = weft::with_slots_of(m.ops, on.devices);
      changed = changed || fitted.devices() != on.devices.devices();
      on.devices = std::move(fitted);
    } catch (const weft::value_error& e) {
      throw weft::error(fmt::format("{}: {}", on.name, e.what()));
    }
  }
  m.ops = std::move(m.ops).with_one_slot_each();
  m.notes.emplace_back(
    changed ? "ops take several slots at once; a device runs as many of them as its slots are enough for"
            : "ops of several slots take the whole device, as each device runs one op at a time");
}

bool estimates_by_type(const model_options& o, const weft::model& m) {
  const auto ops = weft::ids(m.ops.num_ops());
  return m.unit == weft::work_unit::flop && !o.peak_rates &&
         std::any_of(ops.begin(), ops.end(), [&](weft::op_id v) { return !m.ops.type(v).empty(); });
}

void fit_links(const model_options& o, const weft::model& m, target& on) {
  const double share = estimates_by_type(o, m) ? weft::cost::typical_link_share_of(on.devices) : 1;
  if (on.devices.link_share() != share) { // else what refers to the platform may do so on
    on.devices = on.devices.with_link_share(share);
  }
}

weft::cost::efficiency_table efficiencies(const model_options& o, weft::cost::launches how,
                                          bool counts_launches) {
  using enum weft::number_format;
  const auto numbers = o.numbers.value_or(fp32);
  return weft::cost::typical_efficiencies({.how = how,
                                           .tensor_bits = 8.0 * weft::bytes_of(numbers),
                                           .expands_weights = o.weight_bits || numbers == int8,
                                           .counts_launches = counts_launches});
}

estimate make_estimate(const model_options& o, const input& in, const target& on,
                       const weft::cost::efficiency_table& table) {
  const auto& m = in.model;
  if (m.unit == weft::work_unit::own && on.flops && o.times_table.empty()) {
    throw weft::error(fmt::format("'{}' ({}) does not say what its work is in, and the speeds of {} are FLOP/s: give "
                                  "--work flop or --work seconds, or a platform whose speeds are in the same unit as "
                                  "the work, such as identical:4 or a file",
                                  in.spec, m.format, on.name));
  }
  estimate base;
  base.by_shape.efficiencies = &table;
  base.by_shape.at_peak = o.peak_rates;
  base.linear = m.unit != weft::work_unit::flop;
  return base;
}

std::string about_updates(const weft::workload& w) {
  const auto ops = weft::ids(w.num_ops());
  const bool trains = weft::is_training_step(w);
  const bool has_types = std::any_of(ops.begin(), ops.end(), [&](weft::op_id v) { return !w.type(v).empty(); });
  if (!trains && has_types) {
    return {};
  }
  return std::string{trains ? "" : "if the model is a training step: "} +
         "the period lets the next step begin before this one has updated the parameters, so gradients are of older "
         "ones, as in PipeDream; steps that wait for the updates take the step time each";
}

namespace {

/// Times of a file, and transfers over links.
struct given_times : weft::cost::link_transfers {
  std::vector<double> seconds; ///< ops × devices

  template <class W, class P>
  double compute_time(const W&, weft::op_id v, const P& p, weft::device_id d) const {
    return seconds[v * p.num_devices() + d];
  }
};

/// A sentence that says that units look wrong, which ones were assumed, and what to give; empty where times are usual.
std::string about_units(const model_options& o, const input& in, const target& on, const costs& times) {
  using weft::cost::time_scale, weft::work_unit;
  const auto& m = in.model;
  const auto scale = weft::cost::time_scale_of(m.ops, on.devices, times);
  if (scale.is == time_scale::kind::usual) {
    return {};
  }
  const auto devices = on.devices.devices();
  const auto fastest = std::max_element(devices.begin(), devices.end(), [](const auto& a, const auto& b) {
    return a.speed < b.speed;
  })->speed;
  const auto length = scale.is == time_scale::kind::too_long
                        ? fmt::format("ops take at least {:.3g} years", scale.shared / weft::cost::seconds_per_year)
                        : fmt::format("no op takes longer than {:.2g} s", scale.longest);
  const auto why =
    !o.times_table.empty() ? fmt::format("the times of '{}' are read as seconds", o.times_table)
    : m.unit == work_unit::seconds
      ? fmt::format("work is taken to be seconds{}", in.takes_any_unit ? "; if it is FLOP, give --work flop" : "")
    : m.unit == work_unit::flop
      ? fmt::format("work is taken to be FLOP, and the fastest device of {} makes {:.3g} of them per second; give a "
                    "platform with its speeds in FLOP/s, such as workstation_2gpu{}", on.name, fastest,
                    in.takes_any_unit ? ", or --work seconds if the work is in seconds" : "")
      : fmt::format("work and the speeds of {} (up to {:.3g} per second) are taken to be in the same unit; give --work "
                    "flop or --work seconds, or a platform with its speeds in the unit of the work", on.name, fastest);
  return fmt::format("{} here, so units look wrong: {}", length, why);
}

/// `times`, with a note if they look as if units were wrong.
costs with_unit_note(costs times, const model_options& o, const input& in, const target& on,
                     std::vector<std::string>& notes) {
  if (auto text = about_units(o, in, on, times); !text.empty()) {
    notes.push_back(std::move(text));
  }
  return times;
}

/// The costs of --times-table. Throws `weft::error` if other options say what ops take, too.
costs make_given_costs(const model_options& o, const input& in, const target& on, std::vector<std::string>& notes) {
  for (const auto other : given_options(o)) {
    if (other == "--work" || other == "--peak-rates" || other == "--times" || other == "--profile") {
      throw weft::error(fmt::format("--times-table has the times of all ops, and {} would say what they take, too; "
                                    "leave one of them out", other));
    }
  }
  given_times times;
  times.seconds =
    weft::io::read_times_csv(weft::io::read_file(o.times_table), o.times_table, in.model.ops, on.devices);
  notes.push_back(fmt::format("all ops take the times of '{}'", o.times_table));
  return with_unit_note(costs{times, in.model.ops, on.devices}, o, in, on, notes);
}

} // namespace

costs make_costs(const model_options& o, const input& in, const target& on, const estimate& base,
                 std::vector<std::string>& notes) {
  if (!o.times_table.empty()) {
    return make_given_costs(o, in, on, notes);
  }
  const auto& m = in.model;
  const auto& w = m.ops;
  weft::cost::measured<estimate> measured{base, on.devices};
  std::vector<bool> is_measured(w.num_ops());
  const auto add = [&](weft::kind_set kinds, std::vector<double> seconds, const std::string& source) {
    std::size_t count = 0;
    for (std::size_t v = 0; v < seconds.size(); ++v) {
      count += !std::isnan(seconds[v]);
      is_measured[v] = is_measured[v] || !std::isnan(seconds[v]);
    }
    notes.push_back(fmt::format("{} of {} ops take the times of {}, measured on {}", count, w.num_ops(), source,
                                kinds.empty() ? "devices that it does not name" : weft::to_string(kinds)));
    measured.add(kinds, std::move(seconds));
    return count;
  };
  if (!o.profile.empty()) {
    const auto profile = weft::io::read_profile_json(o.profile);
    std::set<std::string> machines;
    for (const auto& [key, runs] : profile.entries()) {
      machines.insert(key.machine);
    }
    std::size_t found = 0;
    for (const auto& machine : machines) {
      if (const auto kind = weft::parse_device_kind(machine)) {
        found += add(*kind, weft::concurrency::profiled_times(w, profile, machine), "'" + o.profile + "'");
      }
    }
    if (found == 0) {
      throw weft::error(
        fmt::format("{}: has no time for any op of this model; its machines must be called like kinds of "
                    "devices (they are: {}) and its ops like those of the model",
                    o.profile, fmt::join(machines, ", ")));
    }
  }
  for (auto& [kinds, seconds] : times_by_kinds(m)) {
    add(weft::kind_set::from_bits(kinds), std::move(seconds), o.times.empty() ? "the model file" : "'" + o.times + "'");
  }
  const auto& devices = on.devices.devices();
  if (m.unit != weft::work_unit::seconds) {
    for (auto& line : what_estimates_rest_on(o, m, on, base, is_measured)) {
      notes.push_back(std::move(line));
    }
  } else if (std::any_of(devices.begin(), devices.end(), [&](const auto& d) { return d.speed != devices[0].speed; })) {
    notes.emplace_back("devices of other speeds take times in proportion to their speeds");
  }
  return with_unit_note(costs{measured, w, on.devices}, o, in, on, notes);
}

void fit_ccr(const model_options& o, input& in, const target& on, const weft::cost::efficiency_table& table) {
  if (!in.ccr) {
    return;
  }
  auto& w = in.model.ops;
  const double asked = *in.ccr;
  const auto base = make_estimate(o, in, on, table);
  const auto what = fmt::format("ccr={} of '{}' on {}", asked, in.spec, on.name);
  double ratio = 0;
  const auto is_off = [&](double share) { return std::abs(ratio - asked) > share * asked; };
  try {
    // Where ops take longer with larger tensors, the ratio is only approached.
    for (int pass = 0; pass < 8 && (pass == 0 || is_off(1e-3)); ++pass) {
      std::vector<std::string> told_later;
      w = weft::generate::with_ccr(w, on.devices, asked, make_costs(o, in, on, base, told_later));
      ratio = weft::generate::ccr_of(w, on.devices, make_costs(o, in, on, base, told_later));
    }
  } catch (const weft::value_error& e) {
    const auto [bytes, count] = bytes_on_edges(w);
    throw weft::error(fmt::format("{}: {}{}", what, e.what(),
                                  count == 0 ? "" : "; another platform is, for example, random:related"));
  }
  if (is_off(0.01)) {
    const auto [bytes, count] = bytes_on_edges(w);
    constexpr double bytes_for_rounding = 100; // rounding to whole bytes moves the mean of larger tensors by less
    throw weft::error(fmt::format("{}: {}", what,
                                  bytes < bytes_for_rounding * count
                                    ? fmt::format("whole bytes allow only {:.3g}, since tensors have {:.3g} bytes on "
                                                  "average; give the links a larger bandwidth, as in "
                                                  "random:related,bandwidth=1e9, or ask for a larger ratio",
                                                  ratio, bytes / count)
                                    : fmt::format("ops take longer with larger tensors, so {:.3g} is as near as "
                                                  "it gets; ask for a ratio near that one", ratio)));
  }
  in.model.notes.push_back(
    asked == 0 ? std::string{"tensors have no bytes: nothing takes time to transfer"}
               : fmt::format("tensors are scaled: transfers take {:.3g} times as long as ops on average", ratio));
}

} // namespace tool
