// SPDX-License-Identifier: BSL-1.0
/// The tensors of a program while it runs.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/error.hpp"
#include "weft/interop/torch/program.hpp"
#include "weft/platform/machine.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <omp.h>

namespace weft::torch {

/// The tensors of a program, and the kernel of its ops, which executors call. Parameters and buffers are copies of the
/// program's, and runs change them. What ops make is freed after its last reader. One run at a time; the program must
/// outlive it.
/// ```
/// weft::torch::session values{step};
/// weft::static_executor execute{step.graph, plan};
/// values.begin();
/// execute([&](weft::op_id v, weft::team t) { values.run(v, t); }).rethrow();
/// const at::Tensor loss = values.results().front();
/// ```
/// A run of one op after the other: `for (const weft::op_id v : weft::ids(step.calls.size())) values.run(v, {2});`
class session {
public:
  explicit session(const program& p)
      : p_{&p}, values_(p.num_slots), readers_(p.num_slots, 0), is_kept_(p.num_slots, false),
        waiting_{std::make_unique<std::atomic<std::uint32_t>[]>(p.num_slots)} {
    restart();
    for (const slot s : p.results) {
      is_kept_[s] = true;
    }
    for (const auto& c : p.calls) {
      for (const auto& a : c.arguments) {
        for (const slot s : a.slots) {
          if (s != none) {
            ++readers_[s];
          }
        }
      }
    }
    reset();
  }

  /// Gives parameters, buffers and inputs the values again that the program has.
  void restart() {
    for (const auto* some : {&p_->state, &p_->inputs}) {
      for (const auto& t : *some) {
        values_[t.to] = t.value.defined() ? t.value.detach().clone() : at::Tensor{};
        is_kept_[t.to] = true;
      }
    }
  }

  const workload& graph() const { return p_->graph; }
  /// Ops with the same key cost the same.
  const std::string& key(op_id v) const { return p_->keys[v]; }

  /// Gives the i-th input, which is not copied. Throws `value_error` if the program has no such input, or one of
  /// another shape or type.
  void set_input(std::size_t i, at::Tensor value) {
    const auto where = "input " + std::to_string(i);
    if (i >= p_->inputs.size()) {
      throw value_error(where, "the program has " + std::to_string(p_->inputs.size()) + " inputs");
    }
    if (!value.defined()) {
      throw value_error(where, "has no value");
    }
    const auto& example = p_->inputs[i].value;
    if (example.defined() && (example.sizes() != value.sizes() || example.scalar_type() != value.scalar_type())) {
      throw value_error(where, "has to be " + shape(example) + ", as when the program was traced, not " + shape(value));
    }
    values_[p_->inputs[i].to] = std::move(value);
  }
  /// A parameter, buffer or constant, by its place in `program::state`.
  const at::Tensor& state(std::size_t i) const { return values_[p_->state.at(i).to]; }
  /// Those of the last run.
  std::vector<at::Tensor> results() const {
    std::vector<at::Tensor> all;
    for (const slot s : p_->results) {
      all.push_back(values_[s]);
    }
    return all;
  }
  /// Tensors that are alive.
  std::size_t num_alive() const {
    return static_cast<std::size_t>(std::ranges::count_if(values_, [](const at::Tensor& t) { return t.defined(); }));
  }

  /// To be called before each run. Throws `value_error` for an input without a value.
  void begin() {
    for (std::size_t i = 0; i < p_->inputs.size(); ++i) {
      if (!values_[p_->inputs[i].to].defined()) {
        throw value_error("input " + std::to_string(i), "has no value; give it by set_input");
      }
    }
    reset();
  }

  /// Runs an op with a team of threads, after all that the graph has before it. Throws `error` with the op's name.
  void run(op_id v, team t = {}) {
    call_with(v, t, [](const call& c, auto& stack) { torch::run(c, stack); });
  }
  /// The same; returns the seconds that PyTorch's op took, without what it takes to call it here.
  double timed_run(op_id v, team t = {}) {
    double seconds = 0;
    call_with(v, t, [&](const call& c, auto& stack) {
      const stopwatch watch;
      torch::run(c, stack);
      seconds = watch.seconds();
    });
    return seconds;
  }

private:
  template <class Call>
  void call_with(op_id v, team t, Call call_op) {
    set_threads(static_cast<int>(t.threads));
    const auto& c = p_->calls[v];
    thread_local std::vector<c10::IValue> stack;
    struct clear {
      std::vector<c10::IValue>& stack;
      ~clear() { stack.clear(); }
    } const at_end{stack};
    for (const auto& a : c.arguments) {
      push(a, stack);
    }
    call_op(c, stack);
    for (std::size_t i = 0; i < c.results.size() && i < stack.size(); ++i) {
      keep(c, i, std::move(stack[i]));
    }
    for (const auto& a : c.arguments) {
      for (const slot s : a.slots) {
        if (s != none && waiting_[s].fetch_sub(1, std::memory_order_acq_rel) == 1 && !is_kept_[s]) {
          values_[s].reset();
        }
      }
    }
  }

  void reset() {
    for (std::size_t s = 0; s < readers_.size(); ++s) {
      waiting_[s].store(readers_[s], std::memory_order_relaxed);
    }
  }

  static std::string shape(const at::Tensor& t) {
    std::string text = c10::toString(t.scalar_type());
    text += " [";
    for (const auto extent : t.sizes()) {
      text += (text.back() == '[' ? "" : ", ") + std::to_string(extent);
    }
    return text + "]";
  }

  /// For the calling thread only. The first call of a thread to PyTorch sets the usual number, which comes first.
  static void set_threads(int count) {
    if (at::get_num_threads() != count) {
      omp_set_num_threads(count);
    }
  }

  at::Tensor value(slot s) const { return s == none ? at::Tensor{} : values_[s]; }

  void push(const argument& a, std::vector<c10::IValue>& stack) const {
    if (!a.is_list) {
      stack.push_back(a.slots.empty() ? a.value : c10::IValue{value(a.slots.front())});
    } else if (a.is_optional) {
      c10::List<c10::optional<at::Tensor>> list;
      for (const slot s : a.slots) {
        list.push_back(s == none ? c10::nullopt : c10::optional<at::Tensor>{values_[s]});
      }
      stack.emplace_back(std::move(list));
    } else {
      c10::List<at::Tensor> list;
      for (const slot s : a.slots) {
        list.push_back(value(s));
      }
      stack.emplace_back(std::move(list));
    }
  }

  void keep(const call& c, std::size_t result, c10::IValue made) {
    const auto& slots = c.results[result];
    if (slots.empty()) {
      return;
    }
    if (!c.is_list[result]) {
      keep(slots.front(), made.isTensor() ? std::move(made).toTensor() : at::Tensor{});
      return;
    }
    const auto list = std::move(made).toTensorVector();
    if (list.size() != slots.size()) {
      throw error(c.name + ": made " + std::to_string(list.size()) + " tensors, and " + std::to_string(slots.size()) +
                  " when the program was traced");
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
      keep(slots[i], list[i]);
    }
  }
  void keep(slot s, at::Tensor t) {
    if (s != none && (readers_[s] > 0 || is_kept_[s])) {
      values_[s] = std::move(t);
    }
  }

  const program* p_;
  std::vector<at::Tensor> values_;                        ///< by slot
  std::vector<std::uint32_t> readers_;                    ///< by slot: arguments
  std::vector<bool> is_kept_;                             ///< by slot: after a run
  std::unique_ptr<std::atomic<std::uint32_t>[]> waiting_; ///< by slot: readers that have not run
};

} // namespace weft::torch
