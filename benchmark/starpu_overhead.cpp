// SPDX-License-Identifier: BSL-1.0
// What StarPU costs per op: empty kernels, without data and with tensors of 1 KiB, run by static_executor and then by
// starpu::executor, on one worker (the chain) and two. Prints microseconds per op, of the fastest of the runs since
// workers that wait spin and suffer from whatever else runs, and the ratio.
#include "support/layers.hpp"

#include "weft/execute/static_executor.hpp"
#include "weft/interop/starpu/executor.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <starpu.h>

namespace {

using namespace layered_graphs;

double least(const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); }

void compare(weft::starpu::session& s, const std::string& name, std::uint32_t width, bool with_data, int repeats) {
  const auto w = layers(2'000, width, 1'024);
  const weft::execute::program program{w, dealt_out(w, width, width == 1 ? 1 : 2)};
  weft::static_executor threads{program};
  weft::starpu::executor tasks{s, program};
  const weft::execute::memory memory{program};
  std::vector<unsigned char> done(w.num_ops(), 0);
  const auto kernel = [&done](weft::op_id v) { done[v] = 1; };
  const auto data_kernel = [&done](weft::op_id v, const weft::execute::op_buffers&) { done[v] = 1; };
  std::vector<double> seconds[2];
  starpu_pause(); // its idle workers spin on the cores that static_executor is to use
  for (int i = 0; i < repeats; ++i) {
    seconds[0].push_back((with_data ? threads(data_kernel, memory) : threads(kernel)).seconds);
  }
  starpu_resume();
  for (int i = 0; i < repeats; ++i) {
    seconds[1].push_back((with_data ? tasks(data_kernel, memory) : tasks(kernel)).seconds);
  }
  const double n = static_cast<double>(w.num_ops()) / 1e6;
  std::printf("%-24s %16.3f %12.3f %10.0f\n", name.c_str(), least(seconds[0]) / n, least(seconds[1]) / n,
              least(seconds[1]) / least(seconds[0]));
}

} // namespace

int main(int argc, char** argv) {
  bool once = false; // by ctest, with minimal time
  for (int i = 1; i < argc; ++i) {
    once = once || std::strncmp(argv[i], "--benchmark_min_time", 20) == 0;
  }
  weft::starpu::session s{{.cpus = 2}};
  std::printf("%-24s %16s %12s %10s\n", "us per op", "static_executor", "StarPU", "ratio");
  for (const bool with_data : {false, true}) {
    const std::string data = with_data ? ", with data" : "";
    compare(s, "chain" + data, 1, with_data, once ? 1 : 101);
    compare(s, "64 per layer" + data, 64, with_data, once ? 1 : 101);
  }
  return 0;
}
