// SPDX-License-Identifier: BSL-1.0
/// A tree network fitted to measurements between ranks: a switch per group, and links that its ranks share.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/interop/mpi/rank_tree.hpp"
#include "weft/platform/interconnect.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft::mpi {

/// Measurements of the groups of a `rank_tree`. Bandwidths are infinite where nothing showed a limit.
struct tree_measurements {
  std::vector<link> alone;                 ///< by level: between two ranks whose smallest group is of it; none for 0
  std::vector<std::vector<double>> out;    ///< by level and group: of all that leaves the group at once
  std::vector<std::vector<double>> in;     ///< the same of what enters it
  std::vector<std::vector<double>> inside; ///< of all that passes between the groups of the level below in it
};

/// Ranks as devices, groups as switches. Alone, a transfer between two ranks has the latency and the bandwidth that
/// were measured of their level; at once, transfers share the way out of a group, into it and through it, where these
/// are a limit. Latencies are spread over the way, half to each side. Where all that is shared is faster than a single
/// transfer of a level is, every rank has a lane for what it sends to ranks of that level, by routes that are written
/// down, 4 bytes per link and pair. `names`: of switches, by level and group.
class tree_network {
public:
  tree_network(const rank_tree& tree, const tree_measurements& measured,
               const std::vector<std::vector<std::string>>& names)
      : tree_{&tree}, measured_{&measured}, builder_{tree.num_ranks()}, links_(tree.num_levels()) {
    spread_latencies();
    for (std::size_t level = 0; level < tree.num_levels(); ++level) {
      const std::size_t groups = tree.num_groups(level);
      auto& at = links_[level];
      at.rising.resize(groups);
      at.falling.resize(groups);
      at.inside.assign(groups, none);
      at.up.assign(groups, none);
      at.down.assign(groups, none);
      for (std::uint32_t g = 0; g < groups; ++g) {
        if (level == 0) {
          at.rising[g] = at.falling[g] = g; // the rank
        } else {
          add_switch(level, g, names[level][g]);
        }
      }
    }
    for (std::size_t level = 1; level < tree.num_levels(); ++level) {
      add_cables(level);
    }
    for (std::size_t level = 1; level < tree.num_levels(); ++level) {
      if (measured.alone[level].bandwidth < 0.95 * widest(level)) {
        add_lanes(level);
      }
    }
  }

  interconnect build() && { return std::move(builder_).build(); }

private:
  struct level_links {
    std::vector<std::uint32_t> rising;  // nodes, by group: what its ranks send passes this one …
    std::vector<std::uint32_t> falling; // … and what they receive this one: the same, unless `inside` is a limit
    std::vector<link_id> inside;        // between the two, `none` if they are the same
    std::vector<link_id> up;            // to the group of the next level
    std::vector<link_id> down;          // from there
  };

  /// The latency of a way up or down, and through a group, by level: sums are those of `alone`.
  void spread_latencies() {
    const auto& alone = measured_->alone;
    port_latency_.assign(alone.size(), 0);
    inside_latency_.assign(alone.size(), 0);
    double outer = std::numeric_limits<double>::infinity(), below = 0;
    std::vector<double> least(alone.size());
    for (std::size_t k = alone.size(); k-- > 1;) {
      outer = std::min(outer, alone[k].latency); // what ranks of farther groups take, too
      least[k] = outer;
    }
    for (std::size_t k = 1; k < alone.size(); ++k) {
      port_latency_[k - 1] = (least[k] - below) / 2;
      inside_latency_[k] = alone[k].latency - least[k];
      below = least[k];
    }
  }

  void add_switch(std::size_t level, std::uint32_t g, const std::string& name) {
    auto& at = links_[level];
    const link through{inside_latency_[level], measured_->inside[level][g]};
    if (through == link{}) {
      at.rising[g] = at.falling[g] = builder_.add_switch(name);
      return;
    }
    at.rising[g] = builder_.add_switch(name + "/from");
    at.falling[g] = builder_.add_switch(name + "/to");
    at.inside[g] = builder_.add_link(at.rising[g], at.falling[g], through);
  }

  /// Between the groups of the level below and those of this one.
  void add_cables(std::size_t level) {
    auto& parts = links_[level - 1];
    for (std::uint32_t part = 0; part < parts.up.size(); ++part) {
      const auto whole = tree_->group_of(level, tree_->members(level - 1, part).front());
      const double latency = port_latency_[level - 1];
      parts.up[part] = builder_.add_link(parts.rising[part], links_[level].rising[whole],
                                         {latency, measured_->out[level - 1][part]});
      parts.down[part] = builder_.add_link(links_[level].falling[whole], parts.falling[part],
                                           {latency, measured_->in[level - 1][part]});
    }
  }

  /// The links from one rank to another.
  std::vector<link_id> way(std::uint32_t from, std::uint32_t to) const {
    std::vector<link_id> links;
    const std::size_t top = tree_->level_of(from, to);
    for (std::size_t k = 0; k < top; ++k) {
      links.push_back(links_[k].up[tree_->group_of(k, from)]);
    }
    if (const link_id through = links_[top].inside[tree_->group_of(top, from)]; through != none) {
      links.push_back(through);
    }
    for (std::size_t k = top; k-- > 0;) {
      links.push_back(links_[k].down[tree_->group_of(k, to)]);
    }
    return links;
  }

  /// What the widest pair of a level would have if it shared links only.
  double widest(std::size_t level) const {
    const auto of = [level](const std::vector<std::vector<double>>& limits) {
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < level; ++k) {
        least = std::min(least, *std::max_element(limits[k].begin(), limits[k].end()));
      }
      return least;
    };
    const auto& inside = measured_->inside[level];
    return std::min({of(measured_->out), of(measured_->in), *std::max_element(inside.begin(), inside.end())});
  }

  void add_lanes(std::size_t level) {
    const auto n = static_cast<std::uint32_t>(tree_->num_ranks());
    for (std::uint32_t from = 0; from < n; ++from) {
      link_id lane = none;
      for (std::uint32_t to = 0; to < n; ++to) {
        if (from != to && tree_->level_of(from, to) == level) {
          auto over = way(from, to);
          lane = lane != none ? lane : builder_.add_link({0, measured_->alone[level].bandwidth});
          over.insert(over.begin(), lane);
          builder_.set_route(from, to, std::move(over));
        }
      }
    }
  }

  const rank_tree* tree_;
  const tree_measurements* measured_;
  interconnect_builder builder_;
  std::vector<level_links> links_; // by level
  std::vector<double> port_latency_;
  std::vector<double> inside_latency_;
};

} // namespace weft::mpi
