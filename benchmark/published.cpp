// SPDX-License-Identifier: BSL-1.0
// Predicted times beside those that others measured and published: all-reduces of NCCL on 2, 4 and 8 GPUs of a DGX
// A100, each by the algorithm that choose_all_reduce takes. Deterministic.
//
// published [all_reduce.csv]     columns gpu,gpus,bytes,seconds; without it, the one in WEFT_REFERENCE_DATA
#include "weft/cost/efficiency.hpp"
#include "weft/cost/link_share.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/parallel/choose_resharding.hpp"
#include "weft/platform/presets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace weft;

struct measured_all_reduce {
  std::uint32_t gpus = 0;
  byte_count bytes = 0;
  double seconds = 0;
};

/// The rows of a file; none if there is no such file.
std::vector<measured_all_reduce> read_rows(const std::string& path) {
  std::vector<measured_all_reduce> rows;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    measured_all_reduce row;
    unsigned long long bytes = 0;
    if (std::sscanf(line.c_str(), "a100,%u,%llu,%lf", &row.gpus, &bytes, &row.seconds) == 3) {
      row.bytes = bytes;
      rows.push_back(row);
    }
  }
  return rows;
}

/// |predicted / measured - 1| of some rows.
struct errors {
  std::vector<double> all;

  void add(double ratio) { all.push_back(std::abs(ratio - 1)); }
  void print(const char* what) {
    std::sort(all.begin(), all.end());
    const auto n = all.size();
    const double median = (all[(n - 1) / 2] + all[n / 2]) / 2;
    std::printf("%s: median error %.1f %%, mean %.1f %%, worst %.1f %%\n", what, 100 * median,
                100 * std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(n), 100 * all.back());
  }
};

void compare(const std::vector<measured_all_reduce>& rows) {
  const auto machine = cost::with_typical_links(presets::dgx_a100()); // device 0 is the host
  const auto table = cost::typical_efficiencies();
  cost::roofline costs;
  costs.efficiencies = &table;
  errors chosen, on_a_line;
  std::printf("| GPUs | MiB | measured, µs | predicted, µs | ratio | algorithm |\n|--:|--:|--:|--:|--:|---|\n");
  for (const auto& row : rows) {
    std::vector<device_id> gpus(row.gpus);
    std::iota(gpus.begin(), gpus.end(), device_id{1});
    const auto found =
      parallel::choose_all_reduce(row.bytes, machine, gpus, contention_model::fair, false, costs);
    const parallel::fastest_resharding line{machine, gpus, contention_model::fair,
                                            parallel::usual_collectives(machine, gpus), costs};
    const double ratio = found.seconds / row.seconds;
    chosen.add(ratio);
    on_a_line.add(line.seconds(parallel::resharding::all_reduce, row.bytes) / row.seconds);
    std::printf("| %u | %.0f | %.1f | %.1f | %.2f | %s |\n", row.gpus,
                static_cast<double>(row.bytes) / (1 << 20), 1e6 * row.seconds, 1e6 * found.seconds, ratio,
                std::string{to_string(found.algorithm)}.c_str());
  }
  chosen.print("choose_all_reduce");
  on_a_line.print("fastest_resharding, a line by bytes");
}

} // namespace

int main(int argc, char** argv) {
  std::string path;
#ifdef WEFT_REFERENCE_DATA
  path = std::string{WEFT_REFERENCE_DATA} + "/reference/all_reduce.csv";
#endif
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--benchmark_min_time", 20) != 0) { // as all benchmarks are run by the tests
      path = argv[i];
    }
  }
  const auto rows = read_rows(path);
  if (rows.empty()) {
    std::printf("skipped: there are no measured all-reduces%s; give a file with them, or set WEFT_REFERENCE_DATA\n",
                path.empty() ? "" : (" in " + path).c_str());
    return 0;
  }
  compare(rows);
}
