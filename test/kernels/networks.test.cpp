// SPDX-License-Identifier: BSL-1.0
#include "kernels/networks.hpp"

#include "small_networks.hpp"
#include "trial.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace kernels_networks_test {

using namespace test;

double total_loss(const kernels::training_net& net, const kernels::bound_step& step) {
  double sum = 0;
  for (const auto t : net.losses) {
    sum += step.values(t)[0];
  }
  return sum;
}

/// Runs a step with several runners that take ops as they become ready, each with a team of its own.
class concurrent_run {
public:
  concurrent_run(kernels::bound_step& step, unsigned runners, unsigned threads)
      : step_{step}, threads_{threads}, missing_(step.graph().num_ops()), left_{step.graph().num_ops()} {
    for (const auto v : weft::ids(missing_.size())) {
      missing_[v] = step.graph().inputs(v).size();
      if (missing_[v] == 0) {
        ready_.push_back(v);
      }
    }
    std::vector<std::thread> all;
    for (unsigned i = 0; i < runners; ++i) {
      all.emplace_back([this] { work(); });
    }
    for (auto& t : all) {
      t.join();
    }
  }

private:
  void work() {
    std::unique_lock lock{mutex_};
    while (left_ > 0) {
      if (ready_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const auto v = ready_.back();
      ready_.pop_back();
      lock.unlock();
      step_.run(v, threads_);
      lock.lock();
      finish(v);
    }
  }
  void finish(weft::op_id v) {
    --left_;
    for (const auto t : step_.graph().outputs(v)) {
      for (const auto next : step_.graph().consumers(t)) {
        if (--missing_[next] == 0) {
          ready_.push_back(next);
        }
      }
    }
    changed_.notify_all();
  }

  kernels::bound_step& step_;
  unsigned threads_;
  std::vector<std::size_t> missing_;
  std::size_t left_;
  std::vector<weft::op_id> ready_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// The largest relative difference between the same tensors of two steps.
double largest_difference(kernels::bound_step& a, kernels::bound_step& b, bool with_variables = true) {
  double largest = 0;
  for (const auto t : weft::ids(a.graph().num_tensors())) {
    const auto type = a.graph().type(a.graph().producer(t));
    if (with_variables || (type != "VariableV2" && type != "Identity")) {
      const auto u = a.values(t), v = b.values(t);
      largest = std::max(largest, difference({u.begin(), u.end()}, {v.begin(), v.end()}));
    }
  }
  return largest;
}

TEST_CASE("networks: training lowers the loss, and all numbers stay finite") {
  for (const auto& net : small_networks()) {
    CAPTURE(net.name);
    auto step = net.bind();
    run_in_order(step, 2);
    const double first = total_loss(net, step);
    CHECK(std::isfinite(first));
    for (int i = 0; i < 30; ++i) {
      run_in_order(step, 2);
    }
    CHECK(total_loss(net, step) < 0.9 * first);
    for (const auto t : weft::ids(step.graph().num_tensors())) {
      const auto values = step.values(t);
      CHECK(std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); }));
    }
  }
}

TEST_CASE("networks: one thread and two per op give the same step") {
  for (const auto& net : small_networks()) {
    CAPTURE(net.name);
    kernels::bound_step one{*net.net, net.step, net.start}, two{*net.net, net.step, net.start, 0.0};
    run_in_order(one, 1);
    run_in_order(two, 2);
    // Adam divides a gradient by its own size: where it is nearly 0, rounding decides about the sign of the update.
    CHECK(largest_difference(one, two, false) < 1e-4);
  }
}

TEST_CASE("networks: ops that run as they become ready, several at a time, give the same steps") {
  for (const auto& net : small_networks()) {
    CAPTURE(net.name);
    for (const unsigned threads : {1u, 2u}) {
      auto in_order = net.bind(), concurrent = net.bind();
      for (int i = 0; i < 5; ++i) {
        run_in_order(in_order, threads);
      }
      for (const auto v : weft::ids(net.step.graph.num_ops())) {
        concurrent.prepare(v, threads);
      }
      for (int i = 0; i < 5; ++i) {
        concurrent_run{concurrent, 3, threads};
      }
      CHECK(largest_difference(in_order, concurrent) == 0);
    }
  }
}

TEST_CASE("networks: a fused LSTM is the same network as one of small ops") {
  auto fused = kernels::lstm({.fused = true, .batch = 4, .steps = 5, .hidden = 24});
  auto basic = kernels::lstm({.fused = false, .batch = 4, .steps = 5, .hidden = 24});
  auto a = fused.bind(), b = basic.bind();
  for (int i = 0; i < 5; ++i) {
    run_in_order(a);
    run_in_order(b);
    CHECK(total_loss(fused, a) == doctest::Approx(total_loss(basic, b)).epsilon(1e-4));
  }
}

} // namespace kernels_networks_test
