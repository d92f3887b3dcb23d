// SPDX-License-Identifier: BSL-1.0
// What an executor costs per op: empty kernels on a chain and on layered graphs, run by static_executor (on one worker
// and on two) and by oneTBB's flow graph, in alternating runs of one process. Prints nanoseconds per op (the median of
// the runs) and the ratio to oneTBB. On two workers the ops of every layer are dealt out in two halves, so that about
// half of all edges cross.
#include "support/layers.hpp"

#include "weft/core/budget.hpp"
#include "weft/execute/static_executor.hpp"

#include <oneapi/tbb/flow_graph.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace {

using namespace layered_graphs;

/// The same graph as nodes of oneTBB.
class tbb_graph {
public:
  template <class Kernel>
  tbb_graph(const weft::workload& w, Kernel& kernel) {
    for (const weft::op_id v : weft::ids(w.num_ops())) {
      nodes_.emplace_back(graph_, [&kernel, v](const tbb::flow::continue_msg&) { kernel(v); });
      if (w.inputs(v).empty()) {
        tbb::flow::make_edge(start_, nodes_[v]);
      }
      for (const auto t : w.inputs(v)) {
        tbb::flow::make_edge(nodes_[w.producer(t)], nodes_[v]);
      }
    }
  }
  double run() {
    const weft::stopwatch watch;
    start_.try_put({});
    graph_.wait_for_all();
    return watch.seconds();
  }

private:
  tbb::flow::graph graph_;
  tbb::flow::broadcast_node<tbb::flow::continue_msg> start_{graph_};
  std::deque<tbb::flow::continue_node<tbb::flow::continue_msg>> nodes_;
};

void compare(const std::string& name, const weft::workload& w, std::uint32_t width, int repeats) {
  weft::static_executor one{w, dealt_out(w, width, 1)}, two{w, dealt_out(w, width, 2)};
  std::vector<unsigned char> done(w.num_ops(), 0);
  auto kernel = [&done](weft::op_id v) { done[v] = 1; };
  tbb_graph flow{w, kernel};
  std::vector<double> seconds[3];
  for (int i = 0; i < repeats; ++i) {
    seconds[0].push_back(one(kernel).seconds);
    seconds[1].push_back(two(kernel).seconds);
    seconds[2].push_back(flow.run());
  }
  const double n = static_cast<double>(w.num_ops()) / 1e9;
  const double tbb = median(seconds[2]);
  std::printf("%-24s %10.1f %10.1f %10.1f %12.3f %12.3f\n", name.c_str(), median(seconds[0]) / n,
              median(seconds[1]) / n, tbb / n, median(seconds[0]) / tbb, median(seconds[1]) / tbb);
}

} // namespace

int main(int argc, char** argv) {
  bool once = false; // by ctest, with minimal time
  for (int i = 1; i < argc; ++i) {
    once = once || std::strncmp(argv[i], "--benchmark_min_time", 20) == 0;
  }
  std::printf("%-24s %10s %10s %10s %12s %12s\n", "ns per op", "1 worker", "2 workers", "oneTBB", "1 / oneTBB",
              "2 / oneTBB");
  compare("chain, 10^4 ops", layers(10'000, 1), 1, once ? 3 : 101);
  compare("64 per layer, 10^4 ops", layers(10'000, 64), 64, once ? 3 : 101);
  if (!once) {
    compare("chain, 10^6 ops", layers(1'000'000, 1), 1, 11);
    compare("64 per layer, 10^6 ops", layers(1'000'000, 64), 64, 11);
    compare("1000 per layer, 10^6 ops", layers(1'000'000, 1000), 1000, 11);
  }
  return 0;
}
