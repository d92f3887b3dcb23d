// SPDX-License-Identifier: BSL-1.0
/// Writes the reports that report_page.py opens in a browser: write_reports FOLDER [NAME…]
#include "weft/bound/best.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/presets.hpp"
#include "weft/report/placed_model.hpp"
#include "weft/report/placement_html.hpp"
#include "weft/report/summary.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/generate/layered.hpp"
#include "weft/workload/zoo.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace weft;

/// A plan, its run, and what a tool would say about it; the plan is HEFT's, improved by so many moves.
template <class Platform>
report::placed_model place(const workload& w, const Platform& platform, report::placed_model_options about,
                           std::uint64_t moves = 0) {
  const problem p{w, platform};
  result solved;
  if (moves > 0) {
    auto found = solve::best(p, {.moves = moves});
    for (const auto& a : found.tried) {
      about.strategies.push_back({a.name, a.value, report::absent, a.seconds});
    }
    solved = std::move(found);
  } else {
    solved = pipeline(partition::heft{}, schedule::path_completion_time{})(p);
  }
  trace run;
  if (solved.plan.order.empty()) {
    simulator<decltype(p), schedule::path_completion_time>{p}.run(solved.plan, simulate::recorder{run});
  } else {
    simulator<decltype(p), schedule::static_order>{p}.run(solved.plan, simulate::recorder{run});
  }
  about.bound =
    p.num_ops() > 20'000 ? lower_bound{bound::critical_path(p), lower_bound::rule::critical_path} : bound::best(p);
  about.strategy = moves > 0 ? "best" : "heft";
  const auto last = static_cast<device_id>(p.num_devices() - 1);
  placement alone(p.num_ops(), last);
  for (const op_id v : ids(p.num_ops())) {
    alone[v] = p.allows(p.component(v), last) ? last : 0;
  }
  about.baselines = {{"everything on " + report::device_name(platform, last),
                      simulator<decltype(p), schedule::path_completion_time>{p}.run({alone}).makespan}};
  if (moves == 0) { // one of each kind
    about.baselines.push_back({"everything on the first accelerator", report::absent, report::absent, report::absent,
                               "does not fit: it needs 97.3 GB of 85.9 GB"});
    about.strategies = {{"heft", solved.makespan, 1.5e9, 0.012},
                        {"hash", solved.makespan * 2.5, 2.25e9, 0.0004},
                        {"m_sct", report::absent, report::absent, 0.25, "no room: op conv1 needs 97.3 GB"}};
  }
  about.notes = {"Compute times: work over peak speed of each device."};
  return report::make_placed_model(p, solved.plan.placement, std::move(run), std::move(about));
}

/// Names that would break out of HTML, scripts and JSON, or make lines very long.
workload hostile() {
  const std::vector<std::string> names{"</script><script>document.title='broken'</script>",
                                       "\"quoted\" 'single' `back`",
                                       "<img src=x onerror=\"document.title='broken'\">",
                                       "名前/層_1/重み 🙂",
                                       "\u202Ereversed\u2066",
                                       std::string(10'000, 'x') + "/tail",
                                       "line\nbreak\ttab\x01\x7f",
                                       "\xff\xfe not UTF-8",
                                       "<!-- ]]> &amp; ${1} \\u0041",
                                       "__proto__"};
  workload_builder b;
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string name = names[i % names.size()] + (i < names.size() ? "" : std::to_string(i));
    b.add_op({.work = 1e9 * static_cast<double>(1 + i % 7), .bytes = 1 << 20, .resident_bytes = 1 << 24, .name = name,
              .type = i % 3 == 0 ? "</style><b>" : "constructor"});
  }
  for (op_id v = 1; v < 40; ++v) {
    b.add_edge((v * 7) % v, v);
  }
  return std::move(b).build();
}

report::placed_model made(const std::string& name) {
  if (name == "few") {
    workload_builder b;
    for (int i = 0; i < 4; ++i) {
      b.add_op({.work = 1e12 * (i + 1),
                .bytes = 1u << 28,
                .resident_bytes = 1u << 30,
                .name = "op_" + std::string(1, static_cast<char>('a' + i)),
                .type = "MatMul"});
    }
    b.add_edge(0, 1);
    b.add_edge(0, 2);
    b.add_edge(1, 3);
    b.add_edge(2, 3);
    const auto w = std::move(b).build();
    return place(w, presets::dgx_a100(), {.model = "few ops", .platform = "dgx_a100"});
  }
  if (name == "hundreds") {
    const auto w = zoo::make("lstm@32");
    return place(w, presets::dgx_a100(), {.model = "lstm@32", .platform = "dgx_a100"});
  }
  if (name == "inception") {
    const auto w = zoo::make("inception_v3@16");
    auto m = place(w, presets::dgx_a100(),
                   {.model = "inception_v3@16", .platform = "dgx_a100", .command = "place 'a model'"}, 100'000);
    for (int i = 2; i <= 3; ++i) { // seven tiles
      m.about.baselines.push_back({"baseline " + std::to_string(i), i * m.step_seconds()});
    }
    return m;
  }
  if (name == "large") {
    const auto w = generate::layered_sized(100'000, 100, 3, 1);
    return place(w, presets::paper_like(10), {.model = "layered, 100,000 ops", .platform = "paper_like_10"});
  }
  if (name == "devices") {
    const auto w = generate::layered_sized(3'000, 100, 2, 2);
    return place(w, presets::paper_like(100), {.model = "layered, 3,000 ops", .platform = "paper_like_100"});
  }
  if (name == "hostile") {
    return place(hostile(), presets::dgx_a100(),
                 {.model = "</title><script>document.title='broken'</script>", .platform = "<b>p"});
  }
  if (name == "no_transfers") {
    workload_builder b;
    for (int i = 0; i < 30; ++i) {
      b.add_op({.work = 1e12});
    }
    const auto w = std::move(b).build();
    return place(w, presets::paper_like(4), {.model = "no edges", .platform = "paper_like_4"});
  }
  if (name == "one_device") {
    const auto w = zoo::make("mnist_conv");
    const platform alone{std::vector<device>(1, device{.speed = 1e12}), uniform_links{}};
    return place(w, alone, {.model = "mnist_conv", .platform = "one device"});
  }
  if (name == "empty") {
    const workload w = workload_builder{}.build();
    return place(w, presets::paper_like(4), {.model = "nothing", .platform = "paper_like_4"});
  }
  if (name == "invalid") { // more than fits, and an op that starts too early
    auto w = zoo::make("mnist_conv");
    const platform small{std::vector<device>(2, device{.speed = 1e12, .memory_capacity = 1u << 20}), uniform_links{}};
    const problem p{w, small};
    placement where(p.num_ops(), 0);
    trace run;
    simulator<decltype(p), schedule::path_completion_time>{p}.run({where}, simulate::recorder{run});
    run.ops.back().start /= 2;
    return report::make_placed_model(p, where, std::move(run), {.model = "mnist_conv", .platform = "too small"});
  }
  throw weft::error("there is no report '" + name + "'");
}

} // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    throw weft::error("write_reports FOLDER [NAME...]");
  }
  std::vector<std::string> names(arguments.begin() + 1, arguments.end());
  if (names.empty()) {
    names = {"few",     "hundreds",     "inception",  "large", "devices",
             "hostile", "no_transfers", "one_device", "empty", "invalid"};
  }
  for (const auto& name : names) {
    const auto m = made(name);
    std::ofstream page{arguments.front() + "/" + name + ".html", std::ios::binary};
    report::write_placement_html(page, m);
    std::ofstream text{arguments.front() + "/" + name + ".txt", std::ios::binary};
    report::write_summary(text, m);
    if (!page.flush() || !text.flush()) {
      throw weft::error("cannot write into " + arguments.front());
    }
  }
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
