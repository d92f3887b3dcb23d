// SPDX-License-Identifier: BSL-1.0
// abstraction_penalty composed|hand_written|check WORKLOAD: solves once, for an instruction counter that looks at
// solve_composed or solve_hand_written only; `check` runs both and compares what they return over several seeds.
// WORKLOAD is lstm or layered.
#include "solvers.hpp"

#include "weft/platform/generate.hpp"
#include "weft/platform/presets.hpp"
#include "weft/workload/generate.hpp"
#include "weft/workload/zoo.hpp"

#include <iostream>
#include <string_view>

namespace penalty {

input plain(const problem& p) {
  const auto& w = p.workload();
  const auto& q = p.platform();
  input in;
  in.first_output.push_back(0);
  for (const weft::op_id v : weft::ids(p.num_ops())) {
    in.work.push_back(w.work(v));
    in.num_inputs.push_back(static_cast<std::uint32_t>(w.inputs(v).size()));
    in.first_output.push_back(in.first_output.back() + static_cast<std::uint32_t>(w.outputs(v).size()));
    in.component.push_back(p.component(v));
  }
  in.topological_order.assign(p.topological_order().begin(), p.topological_order().end());
  in.first_consumer.push_back(0);
  for (const weft::tensor_id t : weft::ids(p.num_tensors())) {
    in.producer.push_back(w.producer(t));
    in.bytes.push_back(w.bytes(t));
    in.consumers.insert(in.consumers.end(), w.consumers(t).begin(), w.consumers(t).end());
    in.first_consumer.push_back(static_cast<std::uint32_t>(in.consumers.size()));
  }
  in.first_member.push_back(0);
  for (const weft::component_id c : weft::ids(p.num_components())) {
    in.members.insert(in.members.end(), p.members(c).begin(), p.members(c).end());
    in.first_member.push_back(static_cast<std::uint32_t>(in.members.size()));
    in.demand.push_back(p.demand(c));
    in.kinds.push_back(p.kinds(c).bits());
  }
  const auto num_devices = p.num_devices();
  for (const weft::device_id d : weft::ids(num_devices)) {
    in.speed.push_back(q.speed(d));
    in.kind.push_back(weft::kind_set{q.kind(d)}.bits());
    in.capacity.push_back(q.memory_capacity(d));
    in.slots.push_back(q.slots(d));
    for (const weft::device_id e : weft::ids(num_devices)) {
      in.latency.push_back(q.latency(d, e));
      in.bandwidth.push_back(q.bandwidth(d, e));
    }
  }
  in.send_work = q.send_work();
  return in;
}

} // namespace penalty

namespace {

weft::workload make_workload(std::string_view name) {
  return name == "lstm" ? weft::zoo::make("lstm") : weft::generate::layered_sized(20'000, 200, 3, 1);
}

weft::platform<> make_platform(std::string_view name) {
  return name == "lstm" ? weft::presets::make("paper_like_50")
                        : weft::generate::heterogeneous({.devices = 50, .memory_times_speed = 10'000'000'000}, 1);
}

int check(const penalty::problem& p, const penalty::input& in) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    penalty::outcome a, b;
    solve_composed(p, seed, a);
    solve_hand_written(in, seed, b);
    if (!(a == b) || !a.feasible) {
      std::cerr << "seed " << seed << ": composed " << a.makespan << ", hand-written " << b.makespan << '\n';
      return 1;
    }
  }
  std::cout << p.num_ops() << " ops, " << p.num_devices() << " devices: the same results for 20 seeds\n";
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: abstraction_penalty composed|hand_written|check lstm|layered\n";
    return 2;
  }
  const std::string_view mode = argv[1];
  const auto workload = make_workload(argv[2]);
  const auto platform = make_platform(argv[2]);
  const penalty::problem p{workload, platform};
  const auto in = penalty::plain(p);
  if (mode == "check") {
    return check(p, in);
  }
  penalty::outcome out;
  if (mode == "composed") {
    solve_composed(p, 1, out);
  } else {
    solve_hand_written(in, 1, out);
  }
  std::cout << out.makespan << ' ' << out.num_events << '\n';
  return out.feasible ? 0 : 1;
}
