// SPDX-License-Identifier: BSL-1.0
/// A dominance table: the states of a search, to prune those that are no better than one seen before.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/random.hpp"
#include "weft/refine/exact/parallel_jobs.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::refine::exact {

/// A job that has started, and when it ends.
struct running_job {
  std::uint32_t job;
  double finish;
};

/// States of a search: a set of jobs that have started, the time, and when those that are still running end. A state
/// is no better than another with the same set if it is no earlier and none of its jobs ends earlier than there, or
/// ends in the past. Keeps the set at hand itself, by `add` and `remove`. Sets are compared bit by bit, so that hash
/// collisions do no harm. Memory: up to `max_words` · 8 bytes, when full nothing more is remembered.
class state_memory {
public:
  explicit state_memory(std::size_t n) : set_((n + 63) / 64, 0), code_(n), finish_(n, 0.0) {
    for (std::size_t v = 0; v < n; ++v) {
      code_[v] = rng::mix(0x9e3779b97f4a7c15u * (v + 1));
    }
  }

  void clear() {
    std::fill(set_.begin(), set_.end(), 0);
    hash_ = 0;
    if (count_ > 0) {
      heads_.assign(heads_.size(), none);
    }
    states_.clear();
    words_.clear();
    jobs_.clear();
    count_ = 0;
  }
  void add(std::uint32_t v) {
    set_[v / 64] |= std::uint64_t{1} << (v % 64);
    hash_ ^= code_[v];
  }
  void remove(std::uint32_t v) {
    set_[v / 64] &= ~(std::uint64_t{1} << (v % 64));
    hash_ ^= code_[v];
  }

  /// Whether a state that is no worse is known; if not, this one is remembered. `running` may hold jobs of the past.
  bool visit(double now, const buffer<running_job>& running) {
    if (heads_.empty()) {
      heads_.assign(1 << 10, none);
    }
    for (const auto& [v, finish] : running) {
      finish_[v] = finish;
    }
    const std::size_t bucket = hash_ & (heads_.size() - 1);
    for (std::uint32_t i = heads_[bucket]; i != none; i = states_[i].next) {
      const state& s = states_[i];
      if (s.hash == hash_ && s.now <= now && std::equal(set_.begin(), set_.end(), words_.begin() + s.first_word) &&
          no_worse(s, now)) {
        return true;
      }
    }
    if (words_.size() + jobs_.size() * 2 < max_words) {
      remember(now, running);
    }
    return false;
  }

private:
  static constexpr std::size_t max_words = std::size_t{1} << 24;

  struct state {
    std::uint64_t hash;
    double now;
    std::ptrdiff_t first_word;
    std::uint32_t first_job;
    std::uint32_t num_jobs;
    std::uint32_t next;
  };

  bool no_worse(const state& s, double now) const {
    for (std::uint32_t k = s.first_job; k < s.first_job + s.num_jobs; ++k) {
      if (jobs_[k].finish > std::max(now, finish_[jobs_[k].job])) {
        return false;
      }
    }
    return true;
  }

  void remember(double now, const buffer<running_job>& running) {
    if (count_ >= heads_.size()) {
      grow();
    }
    const auto first_job = static_cast<std::uint32_t>(jobs_.size());
    for (const auto& r : running) {
      if (r.finish > now) {
        jobs_.push_back(r);
      }
    }
    auto& head = heads_[hash_ & (heads_.size() - 1)];
    states_.push_back({hash_, now, static_cast<std::ptrdiff_t>(words_.size()), first_job,
                       static_cast<std::uint32_t>(jobs_.size()) - first_job, head});
    head = static_cast<std::uint32_t>(states_.size() - 1);
    words_.insert(words_.end(), set_.begin(), set_.end());
    ++count_;
  }

  void grow() {
    heads_.assign(heads_.size() * 2, none);
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      auto& head = heads_[states_[i].hash & (heads_.size() - 1)];
      states_[i].next = head;
      head = i;
    }
  }

  job_set set_;
  std::uint64_t hash_ = 0;
  std::vector<std::uint64_t> code_; // per job
  std::vector<double> finish_;      // per job that has started
  std::vector<std::uint32_t> heads_;
  buffer<state> states_;
  std::vector<std::uint64_t> words_;
  buffer<running_job> jobs_;
  std::size_t count_ = 0;
};

} // namespace weft::refine::exact
