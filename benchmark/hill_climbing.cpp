// SPDX-License-Identifier: BSL-1.0
// How well op times with any number of threads are predicted from few measurements: hill climbing in steps of x, and
// regression on op features that sees the same measurements. Ops: those of four training steps on a 68-core manycore;
// measurements with a standard error of 5 %, one in fifty ten times too long. Accuracy is 1 − |predicted − true| /
// true, not below 0, averaged over all thread counts and affinities that were not measured; runs are compared with
// measuring every thread count and affinity once. Everything printed is deterministic.
#include "weft/concurrency/hill_climbing.hpp"
#include "weft/concurrency/regression.hpp"
#include "weft/concurrency/roofline.hpp"
#include "weft/core/random.hpp"
#include "weft/platform/machines.hpp"
#include "weft/workload/zoo.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace weft::concurrency;
using weft::affinity;
using weft::team;

/// The ops of a network on a machine, to be measured.
struct laboratory {
  weft::workload workload;
  weft::machine machine;
  op_classes classes{workload};
  thread_roofline model = {};
  weft::rng random{20181021};

  double truth(class_id c, team t) const { return model.seconds(workload, classes.representative(c), machine, t); }

  double measure(class_id c, team t) {
    double normal = -6;
    for (int i = 0; i < 12; ++i) {
      normal += random.uniform();
    }
    return truth(c, t) * std::max(0.1, 1 + 0.05 * normal) * (random.uniform() < 0.02 ? 10 : 1);
  }

  op_features features(class_id c, team t) const {
    const auto v = classes.representative(c);
    op_features f{.work = workload.work(v), .team = t};
    for (const auto x : workload.inputs(v)) {
      f.input_bytes += static_cast<double>(workload.bytes(x));
    }
    for (const auto y : workload.outputs(v)) {
      f.output_bytes += static_cast<double>(workload.bytes(y));
    }
    return f;
  }
};

struct score {
  double sum = 0;
  double count = 0;
  void add(double predicted, double truth) {
    sum += std::max(0.0, 1 - std::abs(predicted - truth) / truth);
    count += 1;
  }
  double mean() const { return sum / count; }
};

void study(const std::string& net, std::uint32_t step) {
  laboratory lab{weft::zoo::make(net, {.bookkeeping = false}), weft::machines::xeon_phi_7250()};
  const auto cores = lab.machine.cores();
  std::vector<sampled_curve> curves;
  std::vector<observation> seen;
  std::size_t runs = 0;
  for (class_id c = 0; c < lab.classes.num_classes(); ++c) {
    hill_climber climber{{.step = step}, cores};
    while (const auto t = climber.next()) {
      climber.record(*t, lab.measure(c, *t));
    }
    runs += climber.num_runs();
    curves.push_back(climber.curve());
    for (const auto a : {affinity::packed, affinity::spread}) {
      for (const auto& s : curves.back().points(a)) {
        seen.push_back({lab.features(c, {s.threads, a}), s.seconds});
      }
    }
  }
  const least_squares line{seen};
  const nearest_neighbours neighbours{seen};
  score climbed, fitted, nearest;
  for (class_id c = 0; c < lab.classes.num_classes(); ++c) {
    for (const auto a : {affinity::packed, affinity::spread}) {
      const auto& points = curves[c].points(a);
      for (std::uint32_t p = 1; p <= cores; ++p) {
        if (std::any_of(points.begin(), points.end(), [p](const sample& s) { return s.threads == p; })) {
          continue;
        }
        const team t{p, a};
        const double truth = lab.truth(c, t);
        climbed.add(curves[c](t), truth);
        fitted.add(line(lab.features(c, t)), truth);
        nearest.add(neighbours(lab.features(c, t)), truth);
      }
    }
  }
  const double exhaustive = 2.0 * cores * static_cast<double>(lab.classes.num_classes());
  std::printf("%-18s %4u %14.3f %15.3f %20.3f %12.3f\n", net.c_str(), step, climbed.mean(), fitted.mean(),
              nearest.mean(), static_cast<double>(runs) / exhaustive);
}

} // namespace

int main(int argc, char** argv) {
  bool once = false; // by ctest, with minimal time
  for (int i = 1; i < argc; ++i) {
    once = once || std::strncmp(argv[i], "--benchmark_min_time", 20) == 0;
  }
  std::printf("%-18s %4s %14s %15s %20s %12s\n", "network", "x", "hill climbing", "least squares", "nearest neighbours",
              "share of runs");
  for (const char* net : {"ptb_lstm", "dcgan", "resnet50_cifar10", "inception_v3"}) {
    for (const std::uint32_t step : {2u, 4u, 8u, 16u}) {
      if (!once || (step == 8 && std::string{net} == "ptb_lstm")) {
        study(net, step);
      }
    }
  }
  return 0;
}
