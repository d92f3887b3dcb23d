// SPDX-License-Identifier: BSL-1.0
/// Networks of the usual shapes: trees of enclosures, fat trees, rings and tori, a bus.
#pragma once

#include "weft/platform/interconnect.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::topology {

/// One level of a tree, see `fat_tree`.
struct tree_level {
  std::size_t down; ///< how many parts of the level below a switch of this level joins: devices for the first level
  link cable;       ///< from such a part up to the switch, and down again
  std::size_t up = 1; ///< how many switches of this level a part is joined to; more than one make the tree fat
};

/// An extended generalised fat tree, the first level at the devices: XGFT(h; m_1, …, m_h; w_1, …, w_h) of Öhring, Ibel,
/// Das, Kumar, *On generalized fat trees*, 1995, with m = `down`, w = `up`. With one switch upward everywhere it is a
/// tree of enclosures whose uplinks are shared: devices in PCIe switches in nodes behind a network card in a network.
/// Routes go up to the first common switch and down again; which way up is d-mod-k: by the destination's id, divided by
/// what lower levels have used up of it (Zahavi, *Fat-tree routing and node ordering*, 2012), so that all that goes to
/// one device comes down one way. There are as many devices as the product of all `down`. Throws `value_error` for a
/// `down` or `up` of 0 and for cables that are not usable. Complexity: as `interconnect_builder::build`.
constexpr interconnect fat_tree(const std::vector<tree_level>& levels) {
  std::size_t devices = 1;
  for (const auto& [down, cable, up] : levels) {
    if (down == 0 || up == 0) {
      throw value_error("fat tree", "needs a 'down' and an 'up' of at least 1 on every level");
    }
    devices = checked_count(devices * checked_count(down, "fat tree", "children of a switch"), "fat tree", "devices");
  }
  interconnect_builder b{devices, {.spread = true}};
  std::size_t parts = devices;     // subtrees below the level
  std::size_t copies = 1;          // switches on top of each
  std::uint32_t first = 0;         // node of the level below: copies of a subtree are neighbours
  for (const auto& [down, cable, up] : levels) {
    const std::size_t subtrees = parts / down;
    const auto first_switch = static_cast<std::uint32_t>(first + parts * copies);
    checked_count(first_switch + subtrees * copies * up, "fat tree", "devices and switches");
    for (std::size_t s = 0; s < subtrees * copies * up; ++s) {
      b.add_switch();
    }
    for (std::size_t part = 0; part < parts; ++part) {
      for (std::size_t copy = 0; copy < copies; ++copy) {
        for (std::size_t way = 0; way < up; ++way) {
          b.join(static_cast<std::uint32_t>(first + part * copies + copy),
                 static_cast<std::uint32_t>(first_switch + (part / down * up + way) * copies + copy), cable);
        }
      }
    }
    first = first_switch;
    parts = subtrees;
    copies *= up;
  }
  return std::move(b).build();
}

/// A torus of as many dimensions as there are sizes, one of which makes a ring: each device hands on what is not for
/// it, and has a cable to the next one of each dimension and one to the previous, which are the same where only two
/// are. Device ids count the first dimension first. Routes settle one dimension after the other, the first one first,
/// the short way round, upward if both are. Throws `value_error` for a size of 0 and for a cable that is not usable.
/// Complexity: as `interconnect_builder::build`.
constexpr interconnect torus(const std::vector<std::size_t>& sizes, link cable) {
  std::size_t devices = 1;
  for (const std::size_t size : sizes) {
    if (size == 0) {
      throw value_error("torus", "needs a size of at least 1 in every dimension");
    }
    devices = checked_count(devices * checked_count(size, "torus", "devices in a dimension"), "torus", "devices");
  }
  interconnect_builder b{devices, {.through_devices = true}};
  std::size_t stride = 1;
  for (const std::size_t size : sizes) {
    for (const bool upward : {true, false}) {
      for (const device_id d : ids(devices)) {
        const std::size_t at = d / stride % size;
        const std::size_t next = upward ? (at + 1) % size : (at + size - 1) % size;
        if (size > 2 || (size == 2 && upward)) {
          b.add_link(d, static_cast<device_id>(d - at * stride + next * stride), cable);
        }
      }
    }
    stride *= size;
  }
  return std::move(b).build();
}

/// One link that every transfer passes, whatever its direction, such as the memory that devices share.
struct bus {
  std::size_t devices = 0;
  link shared{};

  constexpr std::size_t num_devices() const { return devices; }
  constexpr std::size_t num_links() const { return 1; }
  constexpr const link& link_at(link_id) const { return shared; }
  template <class F>
  constexpr void visit_route(device_id from, device_id to, F&& f) const {
    if (from != to) {
      f(link_id{0});
    }
  }
  constexpr const link& operator()(device_id, device_id) const { return shared; }
};

static_assert(network_topology<bus>);

} // namespace weft::topology
