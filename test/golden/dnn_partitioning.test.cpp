// SPDX-License-Identifier: BSL-1.0
// Periods and latencies of published device-placement workloads, against the programs that came with them.
#include <doctest/doctest.h>

#ifdef WEFT_REFERENCE_DATA

#include "weft/io/dnn_partitioning.hpp"
#include "weft/throughput/best.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/throughput/lowest_latency.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>
#endif

namespace golden_dnn_partitioning_test {

#ifdef WEFT_REFERENCE_DATA
using namespace weft;

/// The published values of one instance by method, and how many downsets the published program counted.
struct published {
  std::map<std::string, double> value;
  std::size_t downsets = 0;

  double best_of(const std::vector<std::string>& methods) const {
    double best = 1e300;
    for (const auto& [method, x] : value) {
      for (const auto& m : methods) {
        best = method.starts_with(m) ? std::min(best, x) : best;
      }
    }
    return best;
  }
};

/// By "objective/granularity/instance".
std::map<std::string, published> read_published() {
  std::ifstream in{std::string{WEFT_REFERENCE_DATA} + "/reference/dnn_partitioning.csv"};
  REQUIRE(in);
  std::map<std::string, published> all;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream cells{line};
    std::vector<std::string> c;
    for (std::string cell; std::getline(cells, cell, ',');) {
      c.push_back(cell);
    }
    if (c.size() > 4 && !c[4].empty()) {
      auto& p = all[c[0] + "/" + c[1] + "/" + c[2]];
      p.value[c[3]] = std::stod(c[4]);
      if (c[3] == "dp") {
        p.downsets = std::stoul(c[7]);
      }
    }
  }
  return all;
}

io::dnn_partitioning read(const std::string& instance) {
  return io::read_dnn_partitioning(std::filesystem::path{WEFT_REFERENCE_DATA} / "data/dnn-partitioning" /
                                   (instance + ".json"));
}

template <class Problem>
void check_memory(const Problem& p, const placement& where) {
  std::vector<byte_count> used(p.num_devices(), 0);
  for (const op_id v : ids(p.num_ops())) {
    used[where[v]] += p.workload().resident_bytes(v);
    CHECK(p.workload().kinds(v).contains(p.platform().kind(where[v])));
    CHECK(where[v] == where[p.members(p.component(v)).front()]);
  }
  for (const device_id d : ids(p.num_devices())) {
    CHECK(used[d] <= p.platform().memory_capacity(d));
  }
}

TEST_CASE("golden: the best contiguous splits are the published ones") {
  for (const auto& [instance, known] : read_published()) {
    if (!instance.starts_with("throughput")) {
      continue;
    }
    CAPTURE(instance);
    const auto file = read(instance);
    const auto p = file.problem();
    const auto r = throughput::downset_split{}(p);
    CHECK(r.status == throughput::split_status::optimal);
    CHECK(std::abs(r.period - known.value.at("dp")) < 6e-6 * r.period); // six digits were published
    // The published program counts 30 for the layers of BERT, with the same optimum.
    CHECK(r.num_downsets == (instance.find("bert24") != instance.npos ? 39 : known.downsets));
    check_memory(p, r.placement(p));
  }
}

TEST_CASE("golden: periods are at most the published ones, and the bound is below them") {
  int strictly = 0;
  for (const auto& [instance, known] : read_published()) {
    if (!instance.starts_with("throughput")) {
      continue;
    }
    CAPTURE(instance);
    const auto file = read(instance);
    const auto p = file.problem();
    rng random{1};
    const auto r = throughput::best{}(p, random);
    REQUIRE(r);
    const double published = known.best_of({"dp", "localSearch10", "expert"});
    CHECK(r->period < published * 1.0001);
    CHECK(r->period == doctest::Approx(throughput::period(p, r->placement)));
    CHECK(r->bound <= known.best_of({"dp", "localSearch10", "expert", "mip", "scotch"}) * (1 + 1e-6));
    CHECK(r->bound <= r->period);
    CHECK(r->contiguous_optimum);
    check_memory(p, r->placement);
    strictly += r->period < published * 0.999 ? 1 : 0;
    const double exact = known.best_of({"mip"}); // within 0.1 % of the optimum
    CHECK(r->period <= exact * 1.00001);
  }
  CHECK(strictly >= 5);
}

TEST_CASE("golden: latencies are at most the published ones") {
  for (const auto& [instance, known] : read_published()) {
    if (!instance.starts_with("latency")) {
      continue;
    }
    CAPTURE(instance);
    const auto file = read(instance);
    const auto p = file.problem();
    rng random{1};
    const auto r = throughput::lowest_latency{}(p, random);
    REQUIRE(r);
    const double published = known.best_of({"latency_of_dp_split", "greedy", "expert", "latency_of_scotch_split"});
    CHECK(r->latency <= published * 1.00001);
    CHECK(r->latency == throughput::latency(p, r->placement));
    CHECK(r->bound <= r->latency);
    check_memory(p, r->placement);
  }
}

#else

TEST_CASE("golden: the best contiguous splits are the published ones") {
  MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
}

#endif

} // namespace golden_dnn_partitioning_test
