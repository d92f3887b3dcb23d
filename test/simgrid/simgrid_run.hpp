// SPDX-License-Identifier: BSL-1.0
/// Plans run by SimGrid, whose models of networks others have validated: https://simgrid.org.
#pragma once

#include "weft/plan/contention.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <simgrid/s4u.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <ctime>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weft::test {

/// What came out of a run by SimGrid.
struct simgrid_run {
  trace times = {};   ///< transfers in the order of `placed_flow`
  double seconds = 0; ///< of the processor that SimGrid took
};

namespace simgrid_detail {

/// SimGrid has one engine per process, and it can be used once.
template <class Problem>
simgrid_run run_here(const Problem& p, const plan& decided, contention_model contention, bool lazy) {
  namespace sg = simgrid::s4u;
  const auto& q = p.platform();
  const auto& w = p.workload();
  int argc = 2;
  std::string name = "weft", quiet = "--log=root.threshold:error";
  char* argv[] = {name.data(), quiet.data(), nullptr};
  sg::Engine engine{&argc, argv};
  for (const char* setting : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:1e300",
                              "network/bandwidth-factor:1",
                              "network/latency-factor:1", "network/weight-S:0", "surf/precision:1e-12",
                              "maxmin/precision:1e-12"}) {
    sg::Engine::set_config(setting);
  }
  if (!lazy) {
    sg::Engine::set_config("network/optim:Full");
  }
  auto* zone = sg::create_full_zone("all");
  std::vector<sg::Host*> hosts;
  std::vector<sg::Link*> links;
  for (const device_id d : ids(p.num_devices())) {
    hosts.push_back(zone->create_host("device" + std::to_string(d), 1.0));
  }
  const auto create = [&](const std::string& called, const weft::link& x, sg::Link::SharingPolicy policy) {
    auto* made = zone->create_link(called, std::min(x.bandwidth, 1e100));
    made->set_latency(x.latency)->set_sharing_policy(policy);
    return made;
  };
  const bool shared = contention == contention_model::fair;
  for (const link_id l : ids(shared ? q.num_links() : 0)) {
    links.push_back(create("link" + std::to_string(l), q.link_at(l), sg::Link::SharingPolicy::SHARED));
  }
  for (const device_id from : ids(p.num_devices())) {
    for (const device_id to : ids(p.num_devices())) {
      if (from != to) {
        std::vector<sg::LinkInRoute> route;
        q.visit_route(from, to, [&](link_id l) {
          // On a fat pipe of SimGrid's, a flow of smaller weight gets less when one of larger weight is there: each
          // route has its own.
          const auto own = [&] { return std::to_string(from) + "-" + std::to_string(to) + "/" + std::to_string(l); };
          route.emplace_back(shared ? links[l] : create(own(), q.link_at(l), sg::Link::SharingPolicy::FATPIPE));
        });
        zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr, route, false);
      }
    }
  }
  zone->seal();

  placed_flow<Problem> flow{p};
  flow.assign(decided.placement);
  std::vector<sg::ExecPtr> items(flow.num_items());
  std::vector<sg::CommPtr> moves(flow.transfers().size());
  std::map<std::pair<tensor_id, device_id>, std::uint32_t> transfer_to;
  for (std::uint32_t k = 0; k < moves.size(); ++k) {
    const transfer& x = flow.transfers()[k];
    transfer_to[{x.tensor, x.to}] = k;
    moves[k] = sg::Comm::sendto_init(hosts[x.from], hosts[x.to]);
    moves[k]->set_payload_size(w.bytes(x.tensor));
  }
  for (item_id i = 0; i < flow.num_items(); ++i) {
    if (flow.needs_queue(i)) {
      items[i] = sg::Exec::init();
      items[i]->set_host(hosts[flow.device_of(i)])->set_flops_amount(flow.duration(i));
    }
  }
  std::set<std::pair<sg::Activity*, sg::Activity*>> known; // SimGrid refuses to be told twice
  const auto before = [&](const auto& first, const auto& second) {
    if (known.emplace(first.get(), second.get()).second) {
      first->add_successor(second);
    }
  };
  for (const tensor_id t : ids(p.num_tensors())) {
    const auto& made = items[w.producer(t)];
    for (const op_id c : flow.local_consumers(t)) {
      before(made, items[c]);
    }
    for (const std::uint32_t k : flow.transfers_of(t)) {
      if (const auto& send = items[flow.send_of(k)]) {
        before(made, send);
        before(send, moves[k]);
      } else {
        before(made, moves[k]);
      }
      for (const op_id c : flow.consumers_of_transfer(k)) {
        before(moves[k], items[c]);
      }
    }
  }
  std::vector<item_id> last(p.num_devices(), none);
  for (const step& s : decided.order) {
    const item_id i = s.tensor == none ? s.op : flow.send_of(transfer_to.at({s.tensor, s.to}));
    auto& previous = last[flow.device_of(i)];
    if (previous != none) {
      before(items[previous], items[i]);
    }
    previous = i;
  }
  for (const auto& x : items) {
    if (x) {
      x->vetoable_start();
    }
  }
  for (const auto& x : moves) {
    x->vetoable_start();
  }
  const std::clock_t begin = std::clock();
  engine.run();
  simgrid_run result;
  result.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  for (const op_id v : ids(p.num_ops())) {
    result.times.ops.push_back({decided.placement[v], items[v]->get_start_time(), items[v]->get_finish_time()});
  }
  for (std::uint32_t k = 0; k < moves.size(); ++k) {
    const transfer& x = flow.transfers()[k];
    const auto& send = items[flow.send_of(k)];
    const double start = moves[k]->get_start_time();
    result.times.transfers.push_back({x.tensor, x.from, x.to, send ? send->get_start_time() : start,
                                      send ? send->get_finish_time() : start, start, moves[k]->get_finish_time()});
  }
  return result;
}

template <class T>
void send(std::FILE* to, const std::vector<T>& all) {
  const std::size_t n = all.size();
  std::fwrite(&n, sizeof n, 1, to);
  std::fwrite(all.data(), sizeof(T), n, to);
}
template <class T>
bool receive(std::FILE* from, std::vector<T>& all) {
  std::size_t n = 0;
  if (std::fread(&n, sizeof n, 1, from) != 1) {
    return false;
  }
  all.resize(n);
  return std::fread(all.data(), sizeof(T), n, from) == n;
}

} // namespace simgrid_detail

/// Runs a plan with an order, on devices of one slot, in a process of its own. Ops and sends are executions chained per
/// device, transfers are communications over the platform's routes, whose links are fat pipes under `none` and shared
/// under `fair`. `lazy` is what SimGrid does by default, and faster; but where several latencies end at one instant,
/// version 3.32 then loses constraints, so that flows get more than there is. Throws std::runtime_error if SimGrid ends
/// without a result.
template <class Problem>
simgrid_run run_in_simgrid(const Problem& p, const plan& decided, contention_model contention, bool lazy = false) {
  int ends[2];
  if (pipe(ends) != 0) {
    throw std::runtime_error("no pipe to SimGrid");
  }
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::FILE* const out = fdopen(ends[1], "wb");
    const auto r = simgrid_detail::run_here(p, decided, contention, lazy);
    simgrid_detail::send(out, r.times.ops);
    simgrid_detail::send(out, r.times.transfers);
    std::fwrite(&r.seconds, sizeof r.seconds, 1, out);
    std::fclose(out);
    _exit(0); // without the engine's destructors
  }
  close(ends[1]);
  std::FILE* const in = fdopen(ends[0], "rb");
  simgrid_run r;
  const bool complete = child > 0 && simgrid_detail::receive(in, r.times.ops) &&
                        simgrid_detail::receive(in, r.times.transfers) &&
                        std::fread(&r.seconds, sizeof r.seconds, 1, in) == 1;
  std::fclose(in);
  waitpid(child, nullptr, 0);
  if (!complete) {
    throw std::runtime_error("SimGrid ended without a result");
  }
  return r;
}

} // namespace weft::test
