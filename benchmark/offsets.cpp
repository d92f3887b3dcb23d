// SPDX-License-Identifier: BSL-1.0
// How much memory offsets take, over the most bytes that live at once: by first fit in the order of size and of area,
// by `allocate::lay_out`, and by `allocate::least` with a number of nodes; on generated lists of buffers, on training
// steps of the zoo, device by device, and on files as io::read_buffers takes them. Deterministic but for the seconds.
//
// offsets [--moves N] [FILE...]
#include "weft/allocate/offsets.hpp"
#include "weft/allocate/on_devices.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/io/buffers.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/zoo.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace weft;
using allocate::lifetime;

template <class Before>
byte_count first_fit(const std::vector<lifetime>& all, Before before) {
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0u);
  weft::stable_sort(order, before);
  allocate::allocation made;
  allocate::first_fit(all, order, made);
  return made.bytes;
}

/// One line.
void study(const std::string& name, const std::vector<lifetime>& all, std::uint64_t moves) {
  const auto live = allocate::live_bytes(all);
  const auto ratio = [&](byte_count bytes) { return static_cast<double>(bytes) / static_cast<double>(live); };
  const auto by_size = first_fit(all, [&](auto a, auto b) { return all[a].bytes > all[b].bytes; });
  const auto by_area = first_fit(all, [&](auto a, auto b) { return area(all[a]) > area(all[b]); });
  const auto fast = allocate::lay_out(all);
  const stopwatch clock;
  const auto best = allocate::least(all, {.moves = moves});
  std::printf("%-24s %6zu %9.3f %9.3f %9.3f %9.3f %9.3f %8llu %8.2f\n", name.c_str(), all.size(), ratio(by_size),
              ratio(by_area), ratio(fast.bytes), ratio(best.bytes), ratio(best.bound),
              static_cast<unsigned long long>(best.nodes), clock.seconds());
  std::fflush(stdout);
}

/// A rectangle of time and memory that is cut at random, without a share of its pieces: it can be filled, but a wrong
/// choice leaves gaps.
std::vector<lifetime> cut_up(rng& random, std::size_t count, double left_out) {
  std::vector<lifetime> all{{0, 200, 1 << 20}};
  while (all.size() < count) {
    lifetime& x = all[random.below(all.size())];
    lifetime other = x;
    if (random.below(2) == 0 && x.end - x.begin > 1) {
      x.end = other.begin = random.between(x.begin + 1, x.end - 1);
    } else if (x.bytes >= 2048) {
      x.bytes = 1024 * (1 + random.below(x.bytes / 1024 - 1));
      other.bytes -= x.bytes;
    } else {
      continue;
    }
    all.push_back(other);
  }
  std::vector<lifetime> kept;
  for (const lifetime& x : all) {
    if (random.uniform() >= left_out) {
      kept.push_back(x);
    }
  }
  random.shuffle(kept);
  return kept;
}

/// Lives of any length at any time, sizes over four orders of magnitude.
std::vector<lifetime> scattered(rng& random, std::size_t count) {
  std::vector<lifetime> all(count);
  for (lifetime& x : all) {
    x.begin = random.below(count);
    x.end = x.begin + 1 + random.below(std::size_t{1} << random.below(7));
    x.bytes = 256 * (1 + random.below(std::size_t{1} << random.below(13)));
  }
  return all;
}

void study_step(const std::string& net, std::size_t devices, std::uint64_t moves) {
  const auto w = zoo::make(net);
  const platform<uniform_links> machine{std::vector<device>(devices, {.speed = 1e13, .memory_bandwidth = 5e11}),
                                        {{.latency = 1e-5, .bandwidth = 1e10}}};
  const problem task{w, machine, cost::roofline{}};
  rng random;
  workspace scratch;
  const auto made = partition::run(partition::heft{}, task, random, scratch)->plan;
  trace run;
  simulator{task, schedule::static_order{}}.run(made, simulate::recorder{run});
  std::vector<std::vector<live_range>> stays(devices);
  for (const auto& s : live_ranges(w, devices, made.placement, run)) {
    stays[s.device].push_back(s);
  }
  for (const device_id d : ids(devices)) {
    study(net + ", " + std::to_string(d + 1) + " of " + std::to_string(devices), allocate::lifetimes_of(w, stays[d]),
          moves);
  }
}

} // namespace

int main(int argc, char** argv) {
  std::uint64_t moves = 200'000;
  bool brief = false;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--benchmark_min_time", 20) == 0) { // by ctest
      brief = true;
      moves = 500;
    } else if (std::strcmp(argv[i], "--moves") == 0 && i + 1 < argc) {
      moves = std::strtoull(argv[++i], nullptr, 10);
    } else {
      files.emplace_back(argv[i]);
    }
  }
  std::printf("Memory over the most bytes that live at once; bound: proven that no offsets take less\n"
              "%-24s %6s %9s %9s %9s %9s %9s %8s %8s\n",
              "buffers", "number", "by size", "by area", "lay_out", "least", "bound", "nodes", "seconds");
  if (!files.empty()) {
    for (const auto& file : files) {
      study(file.filename().string(), io::read_buffers(file).lifetimes, moves);
    }
    return 0;
  }
  rng random{1};
  for (const std::size_t count : {50u, 100u, 200u, 400u}) {
    for (const int percent : {0, 5, 20}) {
      study("cut up, " + std::to_string(count) + ", less " + std::to_string(percent) + " %",
            cut_up(random, count, percent / 100.0), moves);
      if (brief) {
        break;
      }
    }
    study("scattered, " + std::to_string(count), scattered(random, count), moves);
  }
  for (const char* net : {"mnist_conv", "dcgan", "lstm", "inception_v3@8", "bert_base@2"}) {
    for (const std::size_t devices : {1u, 2u, 4u}) {
      if (!brief || (std::strcmp(net, "dcgan") == 0 && devices == 2)) {
        study_step(net, devices, moves);
      }
    }
  }
}
