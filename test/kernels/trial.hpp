// SPDX-License-Identifier: BSL-1.0
/// Runs a few ops of a network on random numbers, and compares what comes out.
#pragma once

#include "kernels/bound_step.hpp"

#include "weft/core/random.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/workload/training_step.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

using weft::nn::extents;
using weft::nn::tensor;
using numbers = std::vector<float>;

/// Prepares and runs all ops of a step in their order.
inline void run_in_order(kernels::bound_step& step, unsigned threads = 1) {
  for (const auto v : weft::graph::topological_order(step.graph())) {
    step.prepare(v, threads);
    step.run(v, threads);
  }
}

/// `f(i)` for each element of a tensor with n elements.
template <class Function>
numbers table(std::size_t n, Function f) {
  numbers values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = static_cast<float>(f(i));
  }
  return values;
}

/// A network to put some ops into, and then to run.
class trial {
public:
  weft::nn::network net;

  explicit trial(weft::nn::network_options lowering = {}) : net{(lowering.bookkeeping = false, lowering)} {}

  /// Random numbers between -1 and 1.
  tensor feed(extents dims) { return net.input_pipeline({{std::move(dims)}})[0]; }
  /// Given numbers.
  tensor feed(extents dims, numbers values) {
    const auto t = feed(std::move(dims));
    give(t, std::move(values));
    return t;
  }
  /// Sets a constant, an input or a variable.
  void give(const tensor& t, numbers values) { give(net[t.op()].op.name, std::move(values)); }
  void give(const std::string& name, numbers values) { start_.given[name] = std::move(values); }

  /// The gradients by some tensors of the sum of y's elements times random weights.
  std::vector<tensor> gradients(const tensor& y, const std::vector<tensor>& by) {
    always_run_.push_back(y.op());
    const auto loss = reduce_mean(y * feed(y.dims()));
    return weft::nn::gradients(net, loss, by);
  }

  /// Runs all that the roots need, each op on so many threads, be it ever so small.
  void run(const std::vector<tensor>& roots, unsigned threads = 1) {
    auto ops = always_run_;
    for (const auto& t : roots) {
      ops.push_back(t.op());
    }
    built_ = std::make_unique<weft::nn::built_workload>(net.build_with_origins(ops));
    step_ = std::make_unique<kernels::bound_step>(net, *built_, start_, 0.0);
    run_in_order(*step_, threads);
  }
  void run(const tensor& root, unsigned threads = 1) { run(std::vector{root}, threads); }

  /// How far the gradients of y are from its slope: along a random direction in which all elements of `by` change as
  /// much, against what that comes to for gradients of their size.
  double slope_error(const tensor& y, const std::vector<tensor>& by, unsigned threads = 1) {
    const auto loss = reduce_mean(y * feed(y.dims()));
    auto all = weft::nn::gradients(net, loss, by);
    const auto found = all;
    all.push_back(loss);
    run(all, threads);
    double expected = 0, size = 0;
    weft::rng random{7};
    std::vector<numbers> directions;
    for (std::size_t k = 0; k < by.size(); ++k) {
      directions.push_back(table(by[k].elements(), [&](auto) { return random.below(2) == 0 ? -1 : 1; }));
      for (std::size_t i = 0; i < directions[k].size(); ++i) {
        const double g = step_->values(found[k])[i];
        expected += g * static_cast<double>(directions[k][i]);
        size += g * g;
      }
    }
    constexpr float distance = 0x1p-8f;
    const auto moved = [&](float by_distance) {
      for (std::size_t k = 0; k < by.size(); ++k) {
        const auto values = step_->values(by[k]);
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] += by_distance * directions[k][i];
        }
      }
      run_in_order(*step_, threads);
      return static_cast<double>(step_->values(loss)[0]);
    };
    const double above = moved(distance), below = moved(-2 * distance);
    return std::abs((above - below) / static_cast<double>(2 * distance) - expected) / std::sqrt(size);
  }

  numbers operator()(const tensor& t) const {
    const auto values = step_->values(t);
    return {values.begin(), values.end()};
  }

  /// The first op of a type.
  weft::op_id find(std::string_view type) const {
    for (const auto v : weft::ids(net.num_ops())) {
      if (net[v].op.type == type) {
        return v;
      }
    }
    throw weft::error("there is no " + std::string{type});
  }
  tensor input(std::string_view type, std::size_t i) const { return net[find(type)].op.inputs[i]; }
  tensor output(std::string_view type, std::uint32_t i = 0) { return {net, find(type), i}; }

  kernels::bound_step& step() { return *step_; }

private:
  kernels::starting_point start_{.seed = 42};
  std::vector<weft::op_id> always_run_;
  std::unique_ptr<weft::nn::built_workload> built_;
  std::unique_ptr<kernels::bound_step> step_;
};

/// The largest difference of two tensors' elements, relative to the largest element.
inline double difference(const numbers& a, const numbers& b) {
  REQUIRE(a.size() == b.size());
  double largest = 1e-6, apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max<double>({largest, std::abs(a[i]), std::abs(b[i])});
    apart = std::max<double>(apart, std::abs(a[i] - b[i]));
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      return INFINITY;
    }
  }
  return apart / largest;
}

constexpr double rounding = 1e-5; ///< what float32 may lose in short sums

} // namespace test
