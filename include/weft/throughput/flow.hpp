// SPDX-License-Identifier: BSL-1.0
/// A problem by its components: their costs on each device, and the tensors between them.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/throughput/charges.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace weft::throughput {

/// Tensors that stay inside a component are gone, tensors between the same components are one **parcel**, and times
/// are tables, so that a search need not look at ops. Refers to the problem, which must outlive it.
/// Construction: O((n + m) log m + (components + parcels) · devices). Memory: the same without the logarithm.
template <class Problem>
class flow {
public:
  explicit flow(const Problem& p) : problem_{&p}, charges_{p} {
    const std::size_t k = p.num_devices();
    time_.assign(p.num_components() * k, 0.0);
    for (const op_id v : ids(p.num_ops())) {
      for (const device_id d : ids(k)) {
        time_[p.component(v) * k + d] += charges_.compute(v, d);
      }
    }
    collect_parcels();
    collect_allowed();
    if constexpr (charges<Problem>::staged) {
      leaving_.assign(num_parcels() * k, 0.0);
      arriving_.assign(num_parcels() * k, 0.0);
      for (std::uint32_t q = 0; q < num_parcels(); ++q) {
        for (const tensor_id t : tensors(q)) {
          for (const device_id d : ids(k)) {
            leaving_[q * k + d] += charges_.leaving(t, d);
            charges_.moving(t, none, d, [&](std::size_t, double seconds) { arriving_[q * k + d] += seconds; });
          }
        }
      }
    }
  }

  const Problem& problem() const { return *problem_; }
  std::size_t num_components() const { return problem_->num_components(); }
  std::size_t num_devices() const { return problem_->num_devices(); }
  std::size_t num_resources() const { return charges_.num_resources(); }
  std::size_t num_parcels() const { return producer_.size(); }

  component_id producer(std::uint32_t parcel) const { return producer_[parcel]; }
  /// The components other than the producer that consume a parcel, ascending; never empty.
  std::span<const component_id> consumers(std::uint32_t parcel) const {
    return row(consumers_, first_consumer_, parcel);
  }
  /// The parcels that c produces, as a range of ids.
  id_range outputs(component_id c) const { return {first_output_[c], first_output_[c + 1]}; }
  /// The parcels that c consumes, ascending.
  std::span<const std::uint32_t> inputs(component_id c) const { return row(inputs_, first_input_, c); }
  /// The tensors that make up a parcel.
  std::span<const tensor_id> tensors(std::uint32_t parcel) const { return row(tensors_, first_tensor_, parcel); }
  /// The devices that c may go to by kind and capacity and where it does not take for ever, ascending.
  std::span<const device_id> allowed(component_id c) const { return row(allowed_, first_allowed_, c); }

  /// Seconds that c charges device d, without communication.
  double time(component_id c, device_id d) const { return time_[c * num_devices() + d]; }
  /// Seconds that a parcel charges its producer's device, once, when it leaves.
  double leaving(std::uint32_t parcel, device_id from) const {
    if constexpr (charges<Problem>::staged) {
      return leaving_[parcel * num_devices() + from];
    } else {
      return 0;
    }
  }
  /// Calls `f(resource, seconds)` for what it costs to bring a parcel to another device.
  template <class F>
  void moving(std::uint32_t parcel, device_id from, device_id to, F f) const {
    if constexpr (charges<Problem>::staged) {
      f(std::size_t{to}, arriving_[parcel * num_devices() + to]);
    } else {
      for (const tensor_id t : tensors(parcel)) {
        charges_.moving(t, from, to, f);
      }
    }
  }

private:
  template <class T>
  static std::span<const T> row(const std::vector<T>& all, const std::vector<std::uint32_t>& first, std::uint32_t i) {
    return std::span{all}.subspan(first[i], first[i + 1] - first[i]);
  }

  void collect_parcels() {
    const auto& p = *problem_;
    struct bundle {
      tensor_id tensor;
      component_id producer;
      buffer<component_id> consumers;
    };
    buffer<bundle> bundles;
    for (const tensor_id t : ids(p.num_tensors())) {
      bundle b{t, p.component(p.workload().producer(t)), {}};
      for (const op_id v : p.workload().consumers(t)) {
        if (p.component(v) != b.producer) {
          b.consumers.push_back(p.component(v));
        }
      }
      weft::sort(b.consumers);
      b.consumers.erase(std::unique(b.consumers.begin(), b.consumers.end()), b.consumers.end());
      if (!b.consumers.empty()) {
        bundles.push_back(std::move(b));
      }
    }
    weft::stable_sort(bundles, [](const bundle& a, const bundle& b) {
      const auto &l = a.consumers, &r = b.consumers;
      return a.producer != b.producer ? a.producer < b.producer
                                      : std::lexicographical_compare(l.begin(), l.end(), r.begin(), r.end());
    });
    first_output_.assign(num_components() + 1, 0);
    first_input_.assign(num_components() + 1, 0);
    first_consumer_.push_back(0);
    first_tensor_.push_back(0);
    for (std::size_t i = 0; i < bundles.size(); ++i) {
      const auto& b = bundles[i];
      if (i == 0 || b.producer != bundles[i - 1].producer || b.consumers != bundles[i - 1].consumers) {
        producer_.push_back(b.producer);
        ++first_output_[b.producer + 1];
        for (const component_id c : b.consumers) {
          ++first_input_[c + 1];
          consumers_.push_back(c);
        }
        first_consumer_.push_back(static_cast<std::uint32_t>(consumers_.size()));
        first_tensor_.push_back(first_tensor_.back());
      }
      tensors_.push_back(b.tensor);
      ++first_tensor_.back();
    }
    std::partial_sum(first_output_.begin(), first_output_.end(), first_output_.begin());
    std::partial_sum(first_input_.begin(), first_input_.end(), first_input_.begin());
    inputs_.resize(consumers_.size());
    auto next = first_input_;
    for (std::uint32_t q = 0; q < num_parcels(); ++q) {
      for (const component_id c : consumers(q)) {
        inputs_[next[c]++] = q;
      }
    }
  }

  void collect_allowed() {
    first_allowed_.push_back(0);
    for (component_id c = 0; c < num_components(); ++c) {
      for (const device_id d : ids(num_devices())) {
        if (problem_->allows(c, d) && time(c, d) < std::numeric_limits<double>::infinity()) {
          allowed_.push_back(d);
        }
      }
      if (allowed_.size() == first_allowed_.back()) {
        problem_->check_runs_somewhere(problem_->members(c).front());
      }
      first_allowed_.push_back(static_cast<std::uint32_t>(allowed_.size()));
    }
  }

  const Problem* problem_;
  charges<Problem> charges_;
  std::vector<double> time_;     // components x devices
  std::vector<double> leaving_;  // parcels x devices; staged costs only
  std::vector<double> arriving_; // parcels x devices; staged costs only
  std::vector<component_id> producer_;
  std::vector<std::uint32_t> first_consumer_;
  std::vector<component_id> consumers_;
  std::vector<std::uint32_t> first_tensor_;
  std::vector<tensor_id> tensors_;
  std::vector<std::uint32_t> first_output_;
  std::vector<std::uint32_t> first_input_;
  std::vector<std::uint32_t> inputs_;
  std::vector<std::uint32_t> first_allowed_;
  std::vector<device_id> allowed_;
};

} // namespace weft::throughput
