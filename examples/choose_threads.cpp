// SPDX-License-Identifier: BSL-1.0
// How many threads for which op: kernels of your own are measured on this machine, then threads are chosen op by op.
#include <weft/all.hpp>
#include <weft/concurrency.hpp>
#include <weft/execute.hpp>

#include <cstdio>
#include <thread>
#include <vector>

// [team]
/// Divides [0, size) among the threads of an op's team.
void divide(weft::team t, std::size_t size, const auto& part) {
  std::vector<std::jthread> others; // joined at the end
  for (std::size_t i = 1; i < t.threads; ++i) {
    others.emplace_back([&part, t, size, i] { part(size * i / t.threads, size * (i + 1) / t.threads); });
  }
  part(std::size_t{0}, size / t.threads);
}
// [team]

int main() {
  // [ops]
  weft::workload_builder net; // six branches, each an input and then four filters
  for (int branch = 0; branch < 6; ++branch) {
    auto last = net.add_op({.work = 3e4, .bytes = 120'000, .name = "input", .type = "Input"});
    for (int depth = 0; depth < 4; ++depth) {
      const auto next = net.add_op({.work = 6e4, .bytes = 120'000, .name = "filter", .type = "Filter"});
      net.add_edge(last, next);
      last = next;
    }
  }
  const weft::workload workload = std::move(net).build();
  // [ops]
  // [kernel]
  std::vector<std::vector<float>> out(workload.num_ops(), std::vector<float>(30'000));
  const auto kernel = [&](weft::op_id v, weft::team t) { // reads the outputs of v's inputs, writes v's
    divide(t, out[v].size(), [&, v](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        float x = static_cast<float>(i % 100);
        for (const weft::tensor_id read : workload.inputs(v)) {
          x += 0.5f * out[workload.producer(read)][i];
        }
        out[v][i] = x;
      }
    });
  };
  // [kernel]
  // [profile]
  const weft::machine here{.name = "here", .cores_per_socket = std::max(1u, std::thread::hardware_concurrency())};
  weft::concurrency::profiler learn{weft::concurrency::op_classes{workload}, here.cores()};
  while (!learn.done()) { // one training step after the other
    for (const weft::op_id v : weft::ids(workload.num_ops())) { // each op after its inputs
      const weft::team t = learn.team_for(v);
      const weft::stopwatch watch;
      kernel(v, t);
      learn.record(v, t, watch.seconds());
    }
  }
  // [profile]
  // [run]
  weft::concurrent_executor usual{workload, learn.times(), here, weft::concurrency::recommended};
  weft::concurrent_executor chosen{workload, learn.times(), here, weft::concurrency::s1_s2_s3};
  const auto expected = out;
  std::vector<double> seconds[2];
  for (int step = 0; step < 40; ++step) { // in turns, so that whatever else the machine does meets both
    out.assign(workload.num_ops(), std::vector<float>(30'000)); // nothing of the step before
    const auto report = step % 2 == 0 ? usual(kernel) : chosen(kernel);
    seconds[step % 2].push_back(report.seconds);
    if (report.status != weft::execute::run_status::finished || out != expected) {
      return 1;
    }
  }
  const double before = weft::concurrency::median(seconds[0]), after = weft::concurrency::median(seconds[1]);
  std::printf("recommended %.2f ms, chosen %.2f ms: %.2f times as fast\n", before * 1e3, after * 1e3, before / after);
  // [run]
}
