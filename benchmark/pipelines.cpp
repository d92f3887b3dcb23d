// SPDX-License-Identifier: BSL-1.0
// How long steps of pipelines take in the order that find_pipeline_order finds, over the shortest of the schedules that
// are known by name and fit, and over the bound: uniform stages, and stages that differ by 30 % in each pass with
// transfers of 5 to 20 % of a pass. Deterministic but for the seconds.
//
// pipelines [--moves N] [--count N]
#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/parallel/find_pipeline_order.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace {

using namespace weft;
using namespace weft::parallel;

pipeline_problem make(std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t in_flight) {
  pipeline_problem p{.micro_batches = micro_batches};
  for (std::uint32_t s = 0; s < stages; ++s) {
    pipeline_stage stage{.device = s};
    for (auto& c : stage.cost) {
      c.seconds = 1000;
    }
    stage[pass::forward].taken = 1;
    stage[pass::weights].freed = 1;
    p.stages.push_back(stage);
    p.capacity.push_back(in_flight);
  }
  return p;
}

/// The shortest of the schedules that are known by name, with backward passes whole and in two.
double best_known(const pipeline_problem& p) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto s : pipeline_schedules) {
    for (const auto& q : {p, with_whole_backward(p)}) {
      if (const auto order = make_order(s, q)) {
        if (const auto run = run_pipeline(q, *order); run.fits(q)) {
          best = std::min(best, run.makespan);
        }
      }
    }
  }
  return best;
}

void uniform(std::uint32_t stages, std::uint32_t micro_batches, std::uint64_t moves) {
  std::printf("\n%u uniform stages, %u micro-batches, passes of 1000\n%-22s %9s %9s %9s\n", stages, micro_batches, "",
              "in flight", "makespan", "span");
  for (const auto s : pipeline_schedules) {
    const auto p = with_whole_backward(make(stages, micro_batches, 1));
    const bool splits = s == pipeline_schedule::zero_bubble_1 || s == pipeline_schedule::zero_bubble_2;
    const auto q = splits ? make(stages, micro_batches, 1) : p;
    if (const auto order = make_order(s, q)) {
      const auto run = run_pipeline(q, *order);
      std::printf("%-22s %9llu %9.0f %9.0f\n", to_string(s), static_cast<unsigned long long>(run.peak[0]),
                  run.makespan, run.longest_span);
    }
  }
  for (const std::uint32_t in_flight : {stages / 2, stages, 2 * stages}) {
    const stopwatch clock;
    const auto found = find_pipeline_order(make(stages, micro_batches, in_flight),
                                           {.budget = {.moves = moves}, .from_known = false});
    std::printf("%-22s %9u %9.0f %9.0f   (bound %.0f, %.2f s)\n", "found", in_flight, found.run.makespan,
                found.run.longest_span, found.bound, clock.seconds());
  }
}

void uneven(std::uint32_t per_stage, std::uint32_t memory, std::uint32_t count, std::uint64_t moves) {
  rng random{1};
  double found_sum = 0, bound_sum = 0, worst = 0;
  const stopwatch clock;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t stages = 4 + 2 * (i % 3);
    auto p = make(stages, stages * per_stage, stages * memory);
    for (auto& stage : p.stages) {
      for (auto& c : stage.cost) {
        c.seconds = random.uniform(700, 1300);
      }
      stage[pass::forward].send_seconds = random.uniform(50, 200);
      stage[pass::backward].send_seconds = random.uniform(50, 200);
    }
    const double known = best_known(p);
    const auto found = find_pipeline_order(p, {.budget = {.moves = moves}});
    found_sum += found.run.makespan / known;
    bound_sum += found.bound / known;
    worst = std::max(worst, found.run.makespan / known);
  }
  std::printf("%10u %10u %9.4f %9.4f %9.4f %9.2f\n", per_stage, memory, found_sum / count, worst, bound_sum / count,
              clock.seconds() / count);
}

} // namespace

int main(int argc, char** argv) {
  std::uint64_t moves = 2'000;
  std::uint32_t count = 3;
  for (int i = 1; i + 1 < argc; ++i) {
    moves = std::strcmp(argv[i], "--moves") == 0 ? std::strtoull(argv[i + 1], nullptr, 10) : moves;
    count = std::strcmp(argv[i], "--count") == 0 ? static_cast<std::uint32_t>(std::atoi(argv[i + 1])) : count;
  }
  uniform(8, 24, moves);
  uniform(16, 48, moves);
  std::printf("\n%u random pipelines of 4, 6 and 8 stages, over the best schedule known by name\n"
              "%10s %10s %9s %9s %9s %9s\n",
              count, "micro-b. /", "in flight", "found,", "found,", "bound,", "seconds");
  std::printf("%10s %10s %9s %9s %9s %9s\n", "stage", "/ stage", "mean", "worst", "mean", "each");
  for (const std::uint32_t per_stage : {1u, 2u, 3u}) {
    for (const std::uint32_t memory : {1u, 2u}) {
      uneven(per_stage, memory, count, moves);
    }
  }
}
