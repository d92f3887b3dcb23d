// SPDX-License-Identifier: BSL-1.0
/// One calibration, measurement by measurement.
#pragma once

#include "weft/concurrency/profile.hpp"
#include "weft/core/error.hpp"
#include "weft/core/random.hpp"
#include "weft/interop/mpi/calibration.hpp"
#include "weft/interop/mpi/communicator.hpp"
#include "weft/interop/mpi/link_fit.hpp"
#include "weft/interop/mpi/rank_tree.hpp"
#include "weft/interop/mpi/traffic.hpp"
#include "weft/interop/mpi/tree_network.hpp"
#include "weft/platform/platform.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

namespace weft::mpi::detail {

using concurrency::median;

/// To five digits, which is more than measurements are good for, so that files are easy to read.
inline double short_number(double x) {
  if (!(x > 0) || !std::isfinite(x)) {
    return x;
  }
  const int digits = 4 - static_cast<int>(std::floor(std::log10(x)));
  const double power = std::pow(10.0, std::abs(digits));
  return digits >= 0 ? std::round(x * power) / power : std::round(x / power) * power;
}

/// Rates that are within a seventh of their median are taken for the same one. Infinite ones stay.
inline void even_out(std::vector<double>& rates) {
  std::vector<double> finite;
  std::copy_if(rates.begin(), rates.end(), std::back_inserter(finite), [](double x) { return std::isfinite(x); });
  if (finite.empty()) {
    return;
  }
  const double middle = median(finite);
  for (double& x : rates) {
    if (std::isfinite(x) && std::abs(x - middle) * 7 <= middle) {
      x = middle;
    }
  }
}

/// One calibration, on every rank alike: what is measured on some of them is known to all.
template <class Progress>
class calibrator {
  static constexpr double unlimited = std::numeric_limits<double>::infinity();

public:
  calibrator(const communicator& all, const calibration_options& options, Progress& progress)
      : all_{all}, options_{options}, say_{progress}, names_{host_names(all)},
        tree_{static_cast<std::size_t>(all.size())}, begin_{MPI_Wtime()} {}

  calibration run(const device& mine) {
    check_options();
    const auto devices = all_.all_gather(mine);
    find_groups();
    measure_alone();
    measure_ports();
    measure_inside();
    auto network = tree_network{tree_, found_, switch_names()}.build();
    made_.platform = platform<>{devices, link_matrix{std::move(network)}};
    made_.platform.set_names(device_names());
    compare();
    return std::move(made_);
  }

private:
  std::uint32_t num_ranks() const { return static_cast<std::uint32_t>(all_.size()); }

  void check_options() const {
    const auto& s = options_.sizes;
    const auto ascends = [](std::size_t a, std::size_t b) { return a < b; };
    if (s.size() < 2 || std::adjacent_find(s.begin(), s.end(), std::not_fn(ascends)) != s.end()) {
      throw value_error("calibration: sizes", "needs at least two sizes of messages, in ascending order");
    }
    if (options_.trips < 1 || options_.pairs < 1 || options_.flows < 2) {
      throw value_error("calibration", "needs at least one round trip, one pair per level and two flows at once");
    }
  }

  void say(const std::string& what) {
    if (all_.rank() == 0) {
      say_(what);
    }
  }

  /// Whether there is time for more; rank 0's clock decides.
  bool has_time() {
    std::vector<int> go{MPI_Wtime() - begin_ < options_.seconds ? 1 : 0};
    all_.broadcast(go);
    made_.complete = made_.complete && go[0] != 0;
    return go[0] != 0;
  }

  // Groups: ranks of a host, and hosts that are near each other.

  void find_groups() {
    tree_.add_level(names_);
    hosts_level_ = tree_.num_levels() - 1; // that of the ranks, if no two of them share a host
    const std::size_t hosts = tree_.num_groups(hosts_level_);
    if (hosts > 2 && hosts * (hosts - 1) / 2 <= options_.host_pairs) {
      group_hosts(hosts);
    }
    tree_.add_level(std::vector<int>(num_ranks(), 0));
    made_.levels.resize(tree_.num_levels());
    for (std::size_t k = 0; k < tree_.num_levels(); ++k) {
      made_.levels[k].groups = tree_.num_groups(k);
    }
    found_.alone.resize(tree_.num_levels());
    found_.out.resize(tree_.num_levels());
    found_.in.resize(tree_.num_levels());
    found_.inside.resize(tree_.num_levels());
    for (std::size_t k = 0; k < tree_.num_levels(); ++k) {
      for (auto* limits : {&found_.out, &found_.in, &found_.inside}) {
        (*limits)[k].assign(tree_.num_groups(k), unlimited);
      }
    }
  }

  /// By the latencies between the first ranks of hosts.
  void group_hosts(std::size_t hosts) {
    say("latencies between " + std::to_string(hosts) + " hosts");
    std::vector<std::uint32_t> first(hosts);
    for (std::uint32_t h = 0; h < hosts; ++h) {
      first[h] = tree_.members(hosts_level_, h).front();
    }
    std::vector<double> distance(hosts * hosts, unlimited);
    for (std::size_t a = 0; a < hosts && has_time(); ++a) {
      for (std::size_t b = a + 1; b < hosts; ++b) {
        const auto seconds = ping_pong(all_, first[a], first[b], 1, options_.trips);
        distance[a * hosts + b] = distance[b * hosts + a] = *std::min_element(seconds.begin(), seconds.end());
      }
    }
    for (const auto& level : levels_by_distance(distance, hosts)) {
      std::vector<std::uint32_t> keys;
      for (std::uint32_t r = 0; r < num_ranks(); ++r) {
        keys.push_back(level[tree_.group_of(hosts_level_, r)]);
      }
      tree_.add_level(keys);
    }
  }

  // Pairs, one at a time.

  struct measured_pair {
    std::uint32_t a;
    std::uint32_t b;
    std::vector<message_time> times;
  };

  void measure_alone() {
    rng random{options_.seed};
    pairs_.resize(tree_.num_levels());
    for (std::size_t level = 1; level < tree_.num_levels(); ++level) {
      auto& pairs = pairs_[level];
      const auto chosen = pairs_of_level(tree_, level, options_.pairs, random);
      for (const auto& [a, b] : chosen) {
        if (!pairs.empty() && !has_time()) {
          break;
        }
        say("level " + std::to_string(level) + " of " + std::to_string(tree_.num_levels() - 1) + ": rank " +
            std::to_string(a) + " and rank " + std::to_string(b));
        pairs.push_back({a, b, {}});
        for (const std::size_t bytes : options_.sizes) {
          auto seconds = ping_pong(all_, a, b, bytes, trips_of(bytes));
          pairs.back().times.push_back({static_cast<double>(bytes), std::max(median(std::move(seconds)), 1e-12)});
        }
      }
      std::vector<double> latencies, bandwidths;
      for (const auto& p : pairs) {
        const link l = fit_link(p.times);
        latencies.push_back(l.latency);
        bandwidths.push_back(l.bandwidth);
      }
      found_.alone[level] = {short_number(median(latencies)), short_number(median(bandwidths))};
      made_.levels[level].alone = found_.alone[level];
      made_.levels[level].pairs = pairs.size();
    }
  }

  /// Large messages need fewer trips to tell them from noise.
  int trips_of(std::size_t bytes) const {
    return std::max(bytes <= (1 << 16) ? options_.trips : options_.trips / 3, 1);
  }

  // Several transfers at once.

  /// Bytes per second of all flows together: what they take for twice as much, less what they take. The flows of a
  /// level are of a size at which the latency is nearly nothing.
  double rate_of(const std::vector<flow>& flows, std::size_t level) {
    const link& l = found_.alone[level];
    const auto bytes =
      static_cast<std::size_t>(std::clamp(100 * l.latency * l.bandwidth, 1.0 * (1 << 18), 1.0 * (1 << 23)));
    const auto seconds = [&](std::size_t n) {
      std::vector<double> all;
      for (int repeat = 0; repeat < std::max(options_.trips / 4, 1); ++repeat) {
        all.push_back(seconds_at_once(all_, flows, n));
      }
      return median(std::move(all));
    };
    const double once = seconds(bytes), twice = seconds(2 * bytes);
    const double total = static_cast<double>(bytes) * static_cast<double>(flows.size());
    return short_number(twice > once ? total / (twice - once) : 2 * total / twice);
  }

  /// What leaves and what enters groups, where that is less than single transfers would have.
  void measure_ports() {
    double fastest = 0;
    for (std::size_t k = 1; k < tree_.num_levels(); ++k) {
      fastest = std::max(fastest, found_.alone[k].bandwidth);
    }
    std::fill(found_.out[0].begin(), found_.out[0].end(), fastest);
    std::fill(found_.in[0].begin(), found_.in[0].end(), fastest);
    for (std::size_t level = 0; level + 1 < tree_.num_levels(); ++level) {
      measure_ports_of(level, true, found_.out[level]);
      measure_ports_of(level, false, found_.in[level]);
    }
  }

  void measure_ports_of(std::size_t level, bool out, std::vector<double>& limits) {
    const auto groups = spread(tree_.num_groups(level), options_.groups);
    std::vector<double> measured;
    for (const std::uint32_t g : groups) {
      const auto flows = port_flows(tree_, level, g, out, options_.flows);
      if (flows.size() < 2 || !has_time()) {
        continue;
      }
      say("level " + std::to_string(level) + ": all that " + (out ? "leaves" : "enters") + " group " +
          std::to_string(g) + ", " + std::to_string(flows.size()) + " transfers at once");
      const std::size_t over = tree_.level_of(flows.front().from, flows.front().to);
      const double rate = rate_of(flows, over);
      const double alone = found_.alone[over].bandwidth * (level == 0 ? 1.0 : static_cast<double>(flows.size()));
      limits[g] = rate < tolerance * alone ? rate : limits[g];
      measured.push_back(limits[g]);
    }
    complete(limits, groups, measured);
  }

  /// What passes between the parts of groups, where that is less than what leaves and enters these.
  void measure_inside() {
    for (std::size_t level = 1; level < tree_.num_levels(); ++level) {
      auto& limits = found_.inside[level];
      const auto groups = spread(limits.size(), options_.groups);
      std::vector<double> measured;
      for (const std::uint32_t g : groups) {
        const auto flows = inside_flows(tree_, level, g, options_.flows);
        if (flows.size() < 2 || !has_time()) {
          continue;
        }
        say("level " + std::to_string(level) + ": all that passes through group " + std::to_string(g) + ", " +
            std::to_string(flows.size()) + " transfers at once");
        const double rate = rate_of(flows, level);
        limits[g] = rate < tolerance * without_inside(level, flows) ? rate : unlimited;
        measured.push_back(limits[g]);
      }
      complete(limits, groups, measured);
    }
  }

  /// Groups that were not chosen to be measured are like the others.
  static void complete(std::vector<double>& limits, const std::vector<std::uint32_t>& chosen,
                       const std::vector<double>& measured) {
    if (!measured.empty()) {
      std::vector<double> all(limits.size(), median(measured));
      for (const std::uint32_t g : chosen) {
        all[g] = limits[g];
      }
      limits = std::move(all);
    }
    even_out(limits);
  }

  /// What flows through a group would have if only the ways out of its parts and into them were limits.
  double without_inside(std::size_t level, const std::vector<flow>& flows) const {
    std::vector<double> leaving(tree_.num_groups(level - 1), 0), entering = leaving;
    const double alone = found_.alone[level].bandwidth;
    for (const auto& [from, to] : flows) {
      leaving[tree_.group_of(level - 1, from)] += alone;
      entering[tree_.group_of(level - 1, to)] += alone;
    }
    double slowest = 1; // of what is asked for; all flows have the same bytes
    for (std::size_t part = 0; part < leaving.size(); ++part) {
      slowest = leaving[part] > 0 ? std::min(slowest, found_.out[level - 1][part] / leaving[part]) : slowest;
      slowest = entering[part] > 0 ? std::min(slowest, found_.in[level - 1][part] / entering[part]) : slowest;
    }
    return slowest * alone * static_cast<double>(flows.size());
  }

  // The platform.

  std::vector<std::string> device_names() const {
    std::vector<std::string> names;
    for (std::uint32_t r = 0; r < num_ranks(); ++r) {
      names.push_back(hosts_level_ > 0 ? names_[r] + "/rank" + std::to_string(r) : names_[r]);
    }
    return names;
  }

  std::vector<std::vector<std::string>> switch_names() const {
    std::vector<std::vector<std::string>> names(tree_.num_levels());
    for (std::size_t k = 1; k < tree_.num_levels(); ++k) {
      for (std::uint32_t g = 0; g < tree_.num_groups(k); ++g) {
        names[k].push_back(k == hosts_level_               ? names_[tree_.members(k, g).front()]
                           : k + 1 == tree_.num_levels() ? "network"
                                                         : "group" + std::to_string(k) + "." + std::to_string(g));
      }
    }
    return names;
  }

  void compare() {
    for (std::size_t level = 1; level < tree_.num_levels(); ++level) {
      std::vector<double> errors;
      for (const auto& p : pairs_[level]) {
        const auto l = made_.platform.links()(p.a, p.b);
        for (const auto& [bytes, seconds] : p.times) {
          errors.push_back(std::abs(l.latency + bytes / l.bandwidth - seconds) / seconds);
        }
      }
      made_.levels[level].largest_error = *std::max_element(errors.begin(), errors.end());
      made_.levels[level].typical_error = median(std::move(errors));
    }
  }

  /// What is measured at once and what is measured alone differ by less by chance.
  static constexpr double tolerance = 0.9;

  const communicator& all_;
  const calibration_options& options_;
  Progress& say_;
  std::vector<std::string> names_; // of hosts, by rank
  rank_tree tree_;
  std::size_t hosts_level_ = 0;
  double begin_;
  tree_measurements found_;
  std::vector<std::vector<measured_pair>> pairs_; // by level
  calibration made_;
};

} // namespace weft::mpi::detail
