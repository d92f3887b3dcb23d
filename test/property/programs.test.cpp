// SPDX-License-Identifier: BSL-1.0
// Programs of random graphs with random plans, against the independent checker, one device alone, and planted faults.
#include "property/property.hpp"
#include "support/random_plans.hpp"

#include "weft/execute/memory.hpp"
#include "weft/execute/program.hpp"
#include "weft/execute/static_executor.hpp"
#include "weft/validate/program.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace property_programs_test {

using namespace weft;
using namespace weft::test;
using kind = instruction::kind;

struct random_case {
  workload w;
  plan p;
  execute::program made;
};

random_case draw(std::uint64_t seed, std::uint32_t max_bytes = 200) {
  rng random{seed};
  random_case c{random_graph(random, 40, max_bytes), {}, {}};
  c.p = random_plan(c.w, random, 1 + random.below(6));
  if (random.below(2) == 0) {
    c.made = execute::program{c.w, c.p};
    return c;
  }
  trace t; // of a run in which transfers take any time
  const execute::program in_order{c.w, c.p};
  std::vector<double> free_at(in_order.num_devices(), 0), made_at(c.w.num_tensors(), 0);
  t.ops.resize(c.w.num_ops());
  std::vector<double> arrival(in_order.messages().size(), 0);
  for (const op_id v : in_order.sequence()) {
    const device_id d = c.p.placement[v];
    double start = free_at[d];
    for (const auto b : in_order.inputs(v)) {
      if (b < c.w.num_tensors()) {
        start = std::max(start, made_at[b]);
        continue;
      }
      const auto m = b - static_cast<std::uint32_t>(c.w.num_tensors());
      if (arrival[m] == 0) {
        const message& x = in_order.messages()[m];
        const double made = made_at[x.tensor], begin = made + random.below(3);
        arrival[m] = begin + random.below(4);
        t.transfers.push_back({x.tensor, x.from, x.to, made, made, begin, arrival[m]});
      }
      start = std::max(start, arrival[m]);
    }
    t.ops[v] = {d, start, start + c.w.work(v)};
    free_at[d] = t.ops[v].finish;
    for (const tensor_id x : c.w.outputs(v)) {
      made_at[x] = t.ops[v].finish;
    }
  }
  c.made = execute::program{c.w, c.p, t};
  return c;
}

/// A program as plain lists, to be spoilt.
struct lists {
  std::vector<std::vector<instruction>> code;
  std::vector<message> all;

  explicit lists(const execute::program& p) : all(p.messages().begin(), p.messages().end()) {
    for (device_id d = 0; d < p.num_devices(); ++d) {
      code.emplace_back(p.of(d).begin(), p.of(d).end());
    }
  }
  std::size_t num_devices() const { return code.size(); }
  std::span<const instruction> of(device_id d) const { return code[d]; }
  std::span<const message> messages() const { return all; }

  std::size_t find(device_id d, kind what, std::uint32_t m) const {
    const auto at = std::find(code[d].begin(), code[d].end(), instruction{what, m});
    return static_cast<std::size_t>(at - code[d].begin());
  }
  /// Puts `moved` of device d, in that order, where the first of them is.
  void gather(device_id d, const std::vector<instruction>& moved) {
    auto& c = code[d];
    std::size_t first = c.size();
    for (const auto& x : moved) {
      first = std::min(first, static_cast<std::size_t>(std::find(c.begin(), c.end(), x) - c.begin()));
    }
    std::erase_if(c, [&](const instruction& i) { return std::find(moved.begin(), moved.end(), i) != moved.end(); });
    c.insert(c.begin() + static_cast<std::ptrdiff_t>(first), moved.begin(), moved.end());
  }
};

/// What a finder says must be so: devices that wait, each for something that the next does later than what it waits
/// for.
void check_circle(const lists& p, const std::vector<violation>& found) {
  REQUIRE(!found.empty());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const violation& x = found[i];
    REQUIRE(x.what == violation::kind::program_deadlock);
    const auto at = static_cast<std::size_t>(x.actual);
    REQUIRE(at < p.code[x.device].size());
    REQUIRE(p.code[x.device][at].what == kind::wait);
    const violation& next = found[(i + 1) % found.size()];
    const bool never = x.expected == static_cast<double>(p.code[x.other].size());
    CHECK((never || (next.device == x.other && next.actual < x.expected)));
  }
}

TEST_CASE("program: 10,000 programs keep all rules and cannot deadlock") {
  std::size_t num_messages = 0, num_waits = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    const auto c = draw(seed);
    const auto found = validate(c.w, c.p.placement, c.made);
    if (!found.empty()) {
      FAIL("seed " << seed << ": " << to_string(found.front()));
    }
    num_messages += c.made.messages().size();
    for (device_id d = 0; d < c.made.num_devices(); ++d) {
      num_waits += static_cast<std::size_t>(std::count_if(c.made.of(d).begin(), c.made.of(d).end(),
                                                          [](const instruction& i) { return i.what == kind::wait; }));
    }
  }
  CHECK(num_messages > 50'000);
  CHECK(num_waits == 2 * num_messages); // by both sides
}

TEST_CASE("find_deadlock: 1,000 planted deadlocks") {
  std::size_t planted = 0;
  for (std::uint64_t seed = 0; planted < 1000; ++seed) {
    const auto c = draw(seed);
    lists p{c.made};
    rng random{seed};
    std::vector<std::uint32_t> there, back; // messages between two devices
    if (p.all.empty()) {
      continue;
    }
    const message first = p.all[random.below(p.all.size())];
    for (const auto m : ids(p.all.size())) {
      if (p.all[m].from == first.from && p.all[m].to == first.to) {
        there.push_back(m);
      } else if (p.all[m].from == first.to && p.all[m].to == first.from) {
        back.push_back(m);
      }
    }
    const auto how = random.below(4);
    if (how == 0) { // nobody sends it, or nobody is ready for it
      const auto m = there[random.below(there.size())];
      const bool sends = random.below(2) == 0;
      std::erase(p.code[sends ? first.from : first.to], instruction{sends ? kind::send : kind::receive, m});
    } else if (back.empty()) {
      continue;
    } else {
      const auto a = there[random.below(there.size())], b = back[random.below(back.size())];
      const device_id d = first.from, e = first.to;
      if (how == 1) { // each waits for the other's message before it sends its own
        p.gather(d, {{kind::receive, b}, {kind::wait, b}, {kind::send, a}});
        p.gather(e, {{kind::receive, a}, {kind::wait, a}, {kind::send, b}});
      } else if (how == 2) { // each waits until its message is gone before it is ready for the other's
        p.gather(d, {{kind::send, a}, {kind::wait, a}, {kind::receive, b}, {kind::wait, b}});
        p.gather(e, {{kind::send, b}, {kind::wait, b}, {kind::receive, a}, {kind::wait, a}});
      } else { // one waits for arrival, the other for its memory
        p.gather(d, {{kind::receive, b}, {kind::wait, b}, {kind::receive, a}, {kind::send, a}});
        p.gather(e, {{kind::send, b}, {kind::receive, a}, {kind::wait, a}});
        p.gather(e, {{kind::wait, a}, {kind::send, b}});
      }
    }
    ++planted;
    const auto found = find_deadlock(p);
    if (found.empty()) {
      FAIL("seed " << seed << ", kind " << how);
    }
    check_circle(p, found);
  }
}

TEST_CASE("memory: what lives at the same time does not overlap, and is as much as the program says") {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    const auto c = draw(seed);
    const execute::memory memory{c.made, {.alignment = 16}};
    for (device_id d = 0; d < c.made.num_devices(); ++d) {
      std::vector<std::uint32_t> mine;
      for (const auto b : ids(c.made.buffers().size())) {
        if (c.made.buffers()[b].device == d && c.made.buffers()[b].bytes > 0) {
          mine.push_back(b);
        }
      }
      byte_count most = 0;
      for (const auto a : mine) {
        const auto& x = c.made.buffers()[a];
        REQUIRE(x.begin < x.end);
        REQUIRE(reinterpret_cast<std::uintptr_t>(memory.bytes(a).data()) % 16 == 0);
        byte_count live = 0;
        for (const auto b : mine) {
          const auto& y = c.made.buffers()[b];
          live += y.begin <= x.begin && x.begin < y.end ? y.bytes : 0;
          if (a != b && x.begin < y.end && y.begin < x.end) {
            const auto p = memory.bytes(a), q = memory.bytes(b);
            REQUIRE((p.data() + p.size() <= q.data() || q.data() + q.size() <= p.data()));
          }
        }
        most = std::max(most, live);
      }
      byte_count resident = 0;
      for (const op_id v : ids(c.w.num_ops())) {
        resident += c.p.placement[v] == d ? c.w.resident_bytes(v) : 0;
      }
      REQUIRE(c.made.peak_bytes(d) == most + resident);
      REQUIRE(memory.live_bytes(d) >= c.made.peak_bytes(d));
      REQUIRE(memory.arena_bytes(d) >= memory.live_bytes(d));
    }
  }
}

/// Computes like another kernel, and looks at what each op reads.
struct watching_kernel {
  const workload& w;
  const std::vector<std::vector<std::byte>>& expected;
  std::atomic<int>& wrong;

  void operator()(op_id v, const execute::op_buffers& b) const {
    for (std::size_t i = 0; i < b.inputs.size(); ++i) {
      const tensor_id t = w.inputs(v)[i];
      wrong += !std::equal(b.inputs[i].begin(), b.inputs[i].end(), expected[t].begin(), expected[t].end());
    }
    hashing_kernel{}(v, b);
  }
};

TEST_CASE("static_executor: with memories of their own, devices compute what one device computes") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto c = draw(seed);
    static_executor run{c.made};
    const execute::memory memory{c.made};
    for (int runs = 1; runs <= 3; ++runs) {
      const auto expected = tensors_after(c.w, runs, hashing_kernel{});
      std::atomic<int> wrong = 0;
      const auto report = run(watching_kernel{c.w, expected, wrong}, memory, {.record = runs == 2});
      REQUIRE(report.status == execute::run_status::finished);
      REQUIRE(report.num_finished == c.w.num_ops());
      REQUIRE(wrong == 0);
      REQUIRE(report.trace.transfers.size() == (runs == 2 ? c.made.messages().size() : 0));
    }
  }
}

TEST_CASE("static_executor: tensors that are kept can be read, also after runs inside a kernel") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto c = draw(seed);
    std::vector<tensor_id> all(c.w.num_tensors());
    for (const tensor_id t : ids(c.w.num_tensors())) {
      all[t] = t;
    }
    const execute::program p{c.w, c.p, {.keep = all}};
    expect_none("program with kept tensors", validate(c.w, c.p.placement, p));
    static_executor run{p};
    const execute::memory memory{p}, inner{p};
    std::atomic<bool> first{true};
    run(
      [&](op_id v, const execute::op_buffers& b) {
        if (first.exchange(false)) {
          run(hashing_kernel{}, inner); // by itself, since the workers are taken
        }
        hashing_kernel{}(v, b);
      },
      memory);
    const auto expected = tensors_after(c.w, 1, hashing_kernel{});
    for (const tensor_id t : ids(c.w.num_tensors())) {
      REQUIRE(std::ranges::equal(memory.tensor(t), expected[t]));
      REQUIRE((c.w.num_ops() == 0 || std::ranges::equal(inner.tensor(t), expected[t])));
    }
  }
}

TEST_CASE("static_executor: a kernel with data that throws ends the run, and the next one is right") {
  std::size_t thrown = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto c = draw(seed);
    if (c.w.num_ops() == 0) {
      continue;
    }
    static_executor run{c.made};
    const execute::memory memory{c.made};
    const auto bad = static_cast<op_id>(seed % c.w.num_ops());
    const auto report = run(
      [&](op_id v, const execute::op_buffers&) {
        if (v == bad) {
          throw std::runtime_error("broken");
        }
      },
      memory);
    REQUIRE(report.status == execute::run_status::failed);
    REQUIRE(report.failed == bad);
    REQUIRE(report.num_finished < c.w.num_ops());
    ++thrown;
    for (const op_id v : ids(c.w.num_ops())) { // what ops keep is the caller's to set back
      std::ranges::fill(memory.resident(v), std::byte{0});
    }
    const auto expected = tensors_after(c.w, 1, hashing_kernel{});
    std::atomic<int> wrong = 0;
    REQUIRE(run(watching_kernel{c.w, expected, wrong}, memory).num_finished == c.w.num_ops());
    REQUIRE(wrong == 0);
  }
  CHECK(thrown > 150);
}

} // namespace property_programs_test
