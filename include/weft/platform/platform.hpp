// SPDX-License-Identifier: BSL-1.0
/// The library's platform: a list of devices and a link model.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/explained.hpp"
#include "weft/platform/concepts.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/number_format.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

/// One device of a `platform`.
struct device {
  device_kind kind = device_kind::cpu;
  double speed = 1;                                                        ///< work units (FLOP) per second
  byte_count memory_capacity = std::numeric_limits<byte_count>::max();     ///< bytes
  double memory_bandwidth = std::numeric_limits<double>::infinity();       ///< bytes per second to its memory
  std::uint32_t slots = 1;                                                 ///< ops it can run at once
  double idle_watts = 0;                                                   ///< power while nothing runs
  double active_watts = 0;                                                 ///< power while all slots are busy
  narrow_speeds narrow = {}; ///< speeds of ops on narrower numbers
  double send_overhead = 0;  ///< seconds that a slot is busy to start one transfer from here
  bool reached_rates = false; ///< speeds and memory bandwidth are what ops reach, not peaks of a data sheet
  /// The device whose memory this one works in, having none of its own, at that one's bandwidth if it is given none.
  device_id memory_of = none;
  friend constexpr bool operator==(const device&, const device&) = default;
};

/// The devices with these numbers, in this order, each as often as it is named. Those that share a memory still do; if
/// the device whose memory it is is not among them, the first of them has it. Complexity: O(numbers²) at most.
constexpr std::vector<device> chosen_devices(const std::vector<device>& all, const std::vector<device_id>& numbers) {
  std::vector<device> made;
  for (const device_id d : numbers) {
    made.push_back(all[d]);
  }
  for (const device_id a : ids(made.size())) {
    const device_id memory = made[a].memory_of;
    if (memory == none) {
      continue;
    }
    const auto owner = std::find(numbers.begin(), numbers.end(), memory);
    const auto first = std::find_if(numbers.begin(), numbers.end(),
                                    [&](device_id d) { return all[d].memory_of == memory; });
    const auto heir = static_cast<device_id>((owner != numbers.end() ? owner : first) - numbers.begin());
    made[a].memory_capacity = heir == a ? all[memory].memory_capacity : made[a].memory_capacity;
    made[a].memory_of = heir == a ? none : heir;
  }
  return made;
}

namespace why_not {
template <class Devices>
struct platform_without_links {
  static_assert(sizeof(Devices) == 0,
                "weft: a platform needs the links between its devices, too: for the same link everywhere, "
                "weft::platform{devices, weft::uniform_links{{.latency = 1e-6, .bandwidth = 1e10}}} (seconds, bytes "
                "per second), where weft::uniform_links{} takes no time; for others, a weft::link_matrix");
};
} // namespace why_not

/// Devices and the links between them. `send_work` is what the sender's compute queue pays, in work units, before
/// each transfer (10 in the critical-path paper, 0 where the hardware copies by itself), beside the seconds that the
/// sender's `send_overhead` says.
/// Models `device_platform`, `has_speeds`, `has_links`, `has_routes` and `has_power`.
template <link_model Links = link_matrix>
class platform {
  static_assert(network_topology<Links> || sizeof(why_not::network_topology<Links>) > 0);

public:
  using checked_type = platform; ///< its numbers were checked for good; a class that inherits is not this one

  constexpr platform() = default;

  /// Throws `value_error` for a speed, capacity, slot count, power or link that is not usable.
  /// Complexity: O(devices²), each pair of links is checked, unless links say that they are alike.
  constexpr platform(std::vector<device> devices, Links links, double send_work = 0)
      : devices_{std::move(devices)}, links_{std::move(links)}, send_work_{send_work} {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if constexpr (requires { links_.num_devices(); }) {
      if (links_.num_devices() != devices_.size()) {
        throw value_error("links", "made for " + std::to_string(links_.num_devices()) + " devices, but there are " +
                                     std::to_string(devices_.size()));
      }
    }
    if (!(send_work >= 0 && send_work < infinity)) {
      throw value_error("platform: send_work", "must be a finite number, not negative");
    }
    for (const device_id d : ids(devices_.size())) {
      const auto& [kind, speed, capacity, memory_bandwidth, slots, idle_watts, active_watts, narrow, send_overhead,
                   reached_rates, memory_of] = devices_[d];
      if (!(speed > 0 && speed < infinity)) {
        throw value_error(where(d) + ": speed", "must be a positive, finite number of work units per second");
      }
      for (const double x : {narrow.half, narrow.fp8, narrow.int8}) {
        if (!(x >= 0 && x < infinity)) {
          throw value_error(where(d) + ": narrow", "needs finite numbers of work units per second, not negative");
        }
      }
      if (!(memory_bandwidth > 0)) {
        throw value_error(where(d) + ": memory_bandwidth", "must be a positive number of bytes per second");
      }
      if (slots == 0) {
        throw value_error(where(d) + ": slots", "must be at least 1");
      }
      if (!(idle_watts >= 0 && idle_watts <= active_watts && active_watts < infinity)) {
        throw value_error(where(d) + ": idle_watts, active_watts", "must be finite, the former from 0 to the latter");
      }
      if (!(send_overhead >= 0 && send_overhead < infinity)) {
        throw value_error(where(d) + ": send_overhead", "must be a finite number of seconds, not negative");
      }
      if (memory_of != none && (memory_of >= devices_.size() || devices_[memory_of].memory_of != none)) {
        throw value_error(where(d) + ": memory_of", "must be a device that has memory of its own, or none");
      }
      if (memory_of != none) {
        devices_[d].memory_capacity = 0;
        devices_[d].memory_bandwidth = memory_bandwidth < infinity ? memory_bandwidth
                                                                   : devices_[memory_of].memory_bandwidth;
      }
    }
    for (const device_id d : ids(are_alike() ? std::min<std::size_t>(devices_.size(), 1) : devices_.size())) {
      for (const device_id e : ids(are_alike() ? std::min<std::size_t>(devices_.size(), 2) : devices_.size())) {
        check_link(d, e);
      }
    }
  }

  /// Never chosen: says what is missing.
  template <class Devices>
    requires std::same_as<std::remove_cvref_t<Devices>, std::vector<device>> &&
             explained<why_not::platform_without_links<Devices>>
  explicit platform(Devices&&);

  constexpr std::size_t num_devices() const { return devices_.size(); }
  constexpr device_kind kind(device_id d) const { return devices_[d].kind; }
  /// The hardware of d: its kind, or the one before `with_kinds`.
  constexpr device_kind hardware(device_id d) const { return hardware_.empty() ? kind(d) : hardware_[d]; }
  constexpr double speed(device_id d) const { return devices_[d].speed; }
  /// Bytes of the memory that d works in, be it its own or another device's.
  constexpr byte_count memory_capacity(device_id d) const { return devices_[memory_of(d)].memory_capacity; }
  /// The device whose memory d works in, which is d unless they share it.
  constexpr device_id memory_of(device_id d) const {
    return devices_[d].memory_of == none ? d : devices_[d].memory_of;
  }
  constexpr double memory_bandwidth(device_id d) const { return devices_[d].memory_bandwidth; }
  constexpr std::uint32_t slots(device_id d) const { return devices_[d].slots; }
  constexpr double idle_watts(device_id d) const { return devices_[d].idle_watts; }
  constexpr double active_watts(device_id d) const { return devices_[d].active_watts; }
  /// The device's name if it was given one, else empty.
  constexpr std::string_view name(device_id d) const { return names_.empty() ? std::string_view{} : names_[d]; }
  constexpr double latency(device_id from, device_id to) const { return links_(from, to).latency; }
  constexpr double bandwidth(device_id from, device_id to) const { return link_share_ * links_(from, to).bandwidth; }
  constexpr double joules_per_byte(device_id from, device_id to) const { return links_(from, to).joules_per_byte; }
  constexpr double send_work() const { return send_work_; }
  constexpr double send_overhead(device_id d) const { return devices_[d].send_overhead; }
  /// Whether the device's rates are what ops reach, so that no efficiencies apply.
  constexpr bool reached_rates(device_id d) const { return devices_[d].reached_rates; }

  /// The links of a `network_topology`; of any other link model one for each ordered pair, row by row, made up here.
  constexpr std::size_t num_links() const {
    if constexpr (network_topology<Links>) {
      return links_.num_links();
    } else {
      return num_devices() * num_devices();
    }
  }
  constexpr link link_at(link_id l) const {
    link made;
    if constexpr (network_topology<Links>) {
      made = links_.link_at(l);
    } else {
      made = links_(static_cast<device_id>(l / num_devices()), static_cast<device_id>(l % num_devices()));
    }
    made.bandwidth *= link_share_;
    return made;
  }
  template <class F>
  constexpr void visit_route(device_id from, device_id to, F&& f) const {
    if constexpr (network_topology<Links>) {
      links_.visit_route(from, to, f);
    } else if (from != to) {
      f(static_cast<link_id>(from * num_devices() + to));
    }
  }

  /// Names the devices, in order. Throws `value_error` unless there is one name per device.
  void set_names(std::vector<std::string> names) {
    if (names.size() != devices_.size()) {
      throw value_error("names", std::to_string(names.size()) + " names for " + std::to_string(devices_.size()) +
                                   " devices");
    }
    names_ = std::move(names);
  }

  /// The figures that are guesses, a line each, for reports of plans made with them.
  constexpr const std::vector<std::string>& notes() const { return notes_; }
  void set_notes(std::vector<std::string> notes) { notes_ = std::move(notes); }

  /// The same with other devices, each as `change(device&)` leaves it. Throws as the constructor does.
  template <class Change>
  constexpr platform changed(const Change& change) const {
    auto devices = devices_;
    for (device& d : devices) {
      change(d);
    }
    platform made{std::move(devices), links_, send_work_};
    made.names_ = names_;
    made.notes_ = notes_;
    made.hardware_ = hardware_;
    made.link_share_ = link_share_;
    return made;
  }
  /// The share of the bandwidth of `links` that transfers reach: that of `bandwidth` and `link_at`.
  constexpr double link_share() const { return link_share_; }
  /// The same where transfers reach that share of the bandwidth of `links`, whatever it was before. Throws
  /// `value_error` unless it is above 0 and at most 1.
  constexpr platform with_link_share(double share) const {
    if (!(share > 0 && share <= 1)) {
      throw value_error("platform: link share", "must be above 0 and at most 1");
    }
    platform made = *this;
    made.link_share_ = share;
    return made;
  }
  /// The same with these kinds, in the order of the devices, so that ops can be allowed on some devices of a kind and
  /// not on others. `hardware` still gives the kind of hardware. Throws `value_error` unless there is a kind per
  /// device.
  constexpr platform with_kinds(std::vector<device_kind> kinds) const {
    if (kinds.size() != devices_.size()) {
      throw value_error("kinds", std::to_string(kinds.size()) + " kinds for " + std::to_string(devices_.size()) +
                                   " devices");
    }
    platform made = *this;
    made.hardware_.clear();
    for (const device_id d : ids(devices_.size())) {
      made.hardware_.push_back(hardware(d));
      made.devices_[d].kind = kinds[d];
    }
    return made;
  }
  /// The same devices as they are with numbers of another format: what `speed` says is the speed with it.
  constexpr platform with(number_format f) const {
    return changed([f](device& d) { d.speed = speed_with(f, d.speed, d.narrow); });
  }

  constexpr const std::vector<device>& devices() const { return devices_; }
  /// The links with all of their bandwidth.
  constexpr const Links& links() const { return links_; }

private:
  static constexpr std::string where(device_id d) { return "device " + std::to_string(d); }

  constexpr bool are_alike() const {
    if constexpr (requires { { links_.are_alike() } -> std::same_as<bool>; }) {
      return links_.are_alike();
    } else {
      return false;
    }
  }
  constexpr void check_link(device_id d, device_id e) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const link l = d == e ? link{} : links_(d, e);
    if (!(l.latency >= 0 && l.latency < infinity && l.bandwidth > 0)) {
      throw value_error(where(d) + ": link to device " + std::to_string(e),
                        "needs a finite latency in seconds and a positive bandwidth in bytes per second");
    }
    if (!(l.joules_per_byte >= 0 && l.joules_per_byte < infinity)) {
      throw value_error(where(d) + ": link to device " + std::to_string(e),
                        "needs finite joules_per_byte, not negative");
    }
  }

  std::vector<device> devices_;
  Links links_{};
  double send_work_ = 0;
  double link_share_ = 1;
  std::vector<std::string> names_;    // empty when the devices have no names
  std::vector<device_kind> hardware_; // empty when it is what the devices' kinds say
  std::vector<std::string> notes_;
};

} // namespace weft
