// SPDX-License-Identifier: BSL-1.0
/// Bookings of links while a schedule is being built: the busy times of each link.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/partition/list/bookings.hpp"
#include "weft/platform/concepts.hpp"
#include "weft/schedule/recent_gaps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::partition::list {

/// Books transfers one after the other, each in the first gap in which all links of its route are free, behind the
/// others of the same op; what was booked stays.
/// - `of_ports`: a transfer takes the sender's out-port and the receiver's in-port for as long as it lasts. What is
///   planned is what runs under `port`, to the last bit, if the transfers go in the order in which they were booked.
/// - `of_routes`: when its latency is over, it moves for a quarter longer than alone, since others will share the links
///   with it. It takes the narrowest link of its route all that time, wider ones for as much less as they are wider.
///
/// Source: Sinnen, Sousa, *Communication Contention in Task Scheduling*, IEEE TPDS 16(6), 2005: edge scheduling by
/// insertion. Departs: a transfer is on all links of its route at once, as in runs, not on one after the other.
/// Complexity: per op and device, O(inputs · links of their routes) and the gaps passed. Memory: 450 bytes per link in
/// use, 16 to 32 per transfer and link, 16 per transfer, 4 per tensor, 16 per pair of devices.
template <class Problem>
class link_bookings {
public:
  static constexpr link_bookings of_ports(const Problem& p) { return {p, true, 2 * p.num_devices()}; }
  static constexpr link_bookings of_routes(const Problem& p) {
    if constexpr (has_routes) {
      return {p, false, static_cast<std::size_t>(p.platform().num_links())};
    } else {
      return {p, false, p.num_devices() * p.num_devices()};
    }
  }

  /// Turns to the inputs of v; `made(tensor)` is a `made_input`.
  template <class Made>
  constexpr void begin(op_id v, Made made) {
    if (v == op_) {
      return;
    }
    op_ = v;
    inputs_.clear();
    for (const tensor_id t : p_->workload().inputs(v)) {
      inputs_.push_back(made(t));
    }
    if (inputs_.size() > 1) {
      weft::sort(inputs_, [](const made_input& a, const made_input& b) {
        return a.finish != b.finish ? a.finish < b.finish : a.tensor < b.tensor;
      });
    }
  }

  /// When the last of them is on d; something late as soon as it is known to be so late that `hopeless(time)`.
  template <class Hopeless>
  constexpr double arrival(device_id d, Hopeless hopeless) {
    return pass<false>(d, hopeless);
  }

  /// Has them sent to d, so that they arrive as `arrival` says.
  constexpr void book(device_id d) {
    pass<true>(d, [](double) { return false; });
  }

private:
  using platform_type = typename Problem::platform_type;
  static constexpr bool has_routes = platform_parts::has_routes<platform_type>;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  struct route {
    double latency = 0;
    std::uint32_t first = none; // of its parts; `none`: not looked up yet
    std::uint32_t count = 0;
  };
  struct part {
    std::uint32_t link = 0;
    double takes = 0; // of the time that the transfer moves
  };
  struct sent {
    double arrival = 0;
    device_id to = none;
    std::uint32_t next = none; // of the same tensor
  };
  struct link_state {
    schedule::recent_gaps<8> booked{};
    std::uint32_t look = 0; // that went here last …
    double end = 0;         // … until then
  };

  constexpr link_bookings(const Problem& p, bool ports, std::size_t num_links)
      : p_{&p}, ports_{ports}, routes_(p.num_devices() * p.num_devices(), route{}), number_of_link_(num_links, none),
        first_sent_(p.num_tensors(), none) {}

  template <bool Book, class Hopeless>
  constexpr double pass(device_id to, Hopeless hopeless) {
    ++look_;
    double ready = 0;
    for (const made_input& i : inputs_) {
      const double arrival = i.from == to ? i.finish : send<Book>(i, to);
      if (arrival > ready) {
        ready = arrival;
        if (hopeless(ready)) {
          break;
        }
      }
    }
    return ready;
  }

  template <bool Book>
  constexpr double send(const made_input& i, device_id to) {
    for (auto s = first_sent_[i.tensor]; s != none; s = sent_[s].next) {
      if (sent_[s].to == to) {
        return sent_[s].arrival;
      }
    }
    const double possible = i.finish + p_->send_time(i.tensor, i.from, to);
    const double seconds = p_->transfer_time(i.tensor, i.from, to);
    double arrival = possible + seconds;
    if (arrival < infinity) {
      const route& r = route_of(i.from, to);
      const double latency = std::min(r.latency, seconds);
      const double moving = ports_ ? seconds : rounded(sharing * (seconds - latency));
      const double start = gap(r, possible + latency, moving);
      arrival = std::max(arrival, start + moving);
      for (auto k = r.first; k < r.first + r.count; ++k) {
        link_state& l = links_[parts_[k].link];
        l.look = look_;
        l.end = start + rounded(parts_[k].takes * moving);
        if constexpr (Book) {
          l.booked.reserve(start, l.end);
        }
      }
    }
    if constexpr (Book) {
      sent_.push_back({arrival, to, first_sent_[i.tensor]});
      first_sent_[i.tensor] = static_cast<std::uint32_t>(sent_.size() - 1);
    }
    return arrival;
  }

  /// The earliest start, not before `from`, at which all links are free.
  constexpr double gap(const route& r, double from, double moving) {
    std::uint32_t agreed = 0;
    for (std::uint32_t k = 0; agreed < r.count; k = k + 1 < r.count ? k + 1 : 0) {
      link_state& l = links_[parts_[r.first + k].link];
      const double behind = l.look == look_ ? std::max(from, l.end) : from;
      const double start = l.booked.earliest_gap(behind, rounded(parts_[r.first + k].takes * moving));
      agreed = start == from ? agreed + 1 : 1;
      from = start;
    }
    return from;
  }

  constexpr const route& route_of(device_id from, device_id to) {
    route& r = routes_[from * p_->num_devices() + to];
    if (r.first == none) {
      r.first = static_cast<std::uint32_t>(parts_.size());
      if (ports_) {
        add_link(from, 1);
        add_link(p_->num_devices() + to, 1);
      } else if constexpr (has_routes) {
        const auto& q = p_->platform();
        const double bandwidth = q.bandwidth(from, to);
        q.visit_route(from, to, [&](link_id l) {
          const auto x = q.link_at(l);
          r.latency += x.latency;
          if (x.bandwidth < infinity) {
            add_link(l, bandwidth / x.bandwidth);
          }
        });
      } else {
        if constexpr (platform_parts::has_links<platform_type>) {
          r.latency = p_->platform().latency(from, to);
        }
        add_link(from * p_->num_devices() + to, 1);
      }
      r.count = static_cast<std::uint32_t>(parts_.size()) - r.first;
    }
    return r;
  }
  constexpr void add_link(std::size_t l, double takes) {
    auto& number = number_of_link_[l];
    if (number == none) {
      number = static_cast<std::uint32_t>(links_.size());
      links_.push_back({});
    }
    parts_.push_back({number, takes});
  }

  static constexpr double sharing = 1.25; // of a run of a transfer under `fair`, over that alone

  const Problem* p_;
  bool ports_;
  std::vector<route> routes_;                 // per pair of devices
  std::vector<std::uint32_t> number_of_link_; // in links_; `none`: not in use
  std::vector<std::uint32_t> first_sent_;     // per tensor
  buffer<link_state> links_;
  buffer<part> parts_;
  buffer<sent> sent_;
  buffer<made_input> inputs_;                 // of the op in hand, in the order in which they are made
  op_id op_ = none;                           // in hand
  std::uint32_t look_ = 0;
};

} // namespace weft::partition::list
