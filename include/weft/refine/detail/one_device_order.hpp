// SPDX-License-Identifier: BSL-1.0
/// Orders of the ops of one device within its memory.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/refine/detail/done_ops.hpp"
#include "weft/refine/detail/placed_live_ranges.hpp"
#include "weft/refine/detail/tree_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace weft::refine::detail {

/// Looks for an order in which all ops of a workload run one after the other on one device within its memory. What is
/// alive depends on the set of ops that are done, not on their order, so sets are searched: first along the order that
/// is best for trees (tree_order.hpp); then all sets of one op, of two, and so on, of each size at most so many as the
/// beam is wide, those with the fewest bytes alive. The beam starts with one set and widens fourfold. If a beam was
/// wide enough for all sets that are within memory and no order was found, there is none.
///
/// An op that fits, and after which no more is alive than before, runs at once and no other way is searched. That loses
/// nothing: in any order that it is taken out of and put first, what is alive grows nowhere, as what it frees now it
/// would free later, too.
///
/// Ties: sets that were reached first, from the better sets and by the smaller ids.
/// Source: the sets are those of Held, Karp, *A Dynamic Programming Approach to Sequencing Problems*, 1962, for memory
/// as in Ahn et al., *Ordering Chaos: Memory-Aware Scheduling of Irregularly Wired Neural Networks*, MLSys 2020; beams
/// of growing width: Zhang, *Complete Anytime Beam Search*, AAAI 1998.
/// Complexity: a beam of width w visits at most n w sets, each in O(n / 64) and O(degree) per op that may run next or
/// that it differs by from the one before. Memory: O(n + m), 8 bytes for each set that was visited, and for each set of
/// the beam O(n / 64), at most some 64 MiB of that for sets of one size.
class one_device_order {
public:
  enum class answer : std::uint8_t {
    found,
    none_exists,
    unknown, ///< more would have been searched
  };

  /// For ops that are all on one device of one slot. `spend(n)` pays for n visits of ops and returns false to end the
  /// search; no wider beam is begun after `max_sets` sets.
  answer search(const placed_live_ranges& x, std::uint64_t max_sets, const std::function<bool(std::uint64_t)>& spend) {
    sequence_.clear();
    const device_id d = x.num_ops > 0 ? x.memory[x.device[0]] : 0;
    if (x.resident[d] > x.limit[d]) {
      return answer::none_exists;
    }
    room_ = x.limit[d] - x.resident[d];
    done_ops at{x};
    if (!spend(x.num_ops)) {
      return answer::unknown;
    }
    auto by_tree = tree_order(x);
    if (fits(at, by_tree)) {
      sequence_ = std::move(by_tree);
      return answer::found;
    }
    at.become(std::vector<std::uint64_t>(at.words().size(), 0));
    num_sets_ = 0;
    for (width_ = 1; num_sets_ < max_sets && width_ * at.words().size() <= max_words; width_ *= 4) {
      is_cut_ = false;
      const answer a = sweep(at, x.num_ops, spend);
      if (a != answer::none_exists || !is_cut_) {
        return a;
      }
    }
    return answer::unknown;
  }

  /// The order that was found.
  const std::vector<op_id>& sequence() const { return sequence_; }

private:
  static constexpr std::size_t max_words = std::size_t{1} << 22; // of the sets of a beam

  /// A set of done ops that was reached by `by`, and what then ran at once, from the set that was visited as `from`.
  struct reached {
    byte_count alive = 0;
    std::uint32_t from = none;
    op_id by = none;
    std::uint32_t at = 0; // of its words, in sets
  };
  struct layer {
    buffer<reached> sets;
    std::vector<std::uint64_t> words;
  };
  struct visit {
    std::uint32_t from;
    op_id by;
  };

  bool fits(done_ops& at, std::span<const op_id> order) const {
    for (const op_id v : order) {
      if (at.of(v).during > room_) {
        return false;
      }
      at.add(v);
    }
    return true;
  }

  bool is_free(const done_ops& at, op_id v) const {
    const auto needs = at.of(v);
    return needs.during <= room_ && needs.after <= at.alive();
  }

  /// Adds v, if there is one, and then what runs at once.
  void run(done_ops& at, op_id v) {
    candidates_.clear();
    const auto add = [&](op_id u) {
      at.add(u);
      trail_.push_back(u);
      at.for_each_relieved(u, [&](op_id c) { candidates_.push_back(c); });
    };
    if (v != none) {
      add(v);
    } else {
      at.for_each_ready([&](op_id c) { candidates_.push_back(c); });
    }
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const op_id c = candidates_[i];
      if (at.is_ready(c) && is_free(at, c)) {
        add(c);
      }
    }
  }
  void take_back(done_ops& at) {
    for (; !trail_.empty(); trail_.pop_back()) {
      at.remove(trail_.back());
    }
  }

  answer sweep(done_ops& at, std::size_t num_ops, const std::function<bool(std::uint64_t)>& spend) {
    layers_.assign(num_ops + 1, {});
    visits_.clear();
    at.become(std::vector<std::uint64_t>(at.words().size(), 0));
    run(at, none);
    keep(at, none, none);
    trail_.clear();
    for (std::size_t size = 0; size < num_ops; ++size) {
      tidy(layers_[size]);
      const layer here = std::exchange(layers_[size], {});
      const std::size_t num_words = at.words().size();
      for (const reached& set : here.sets) {
        std::uint64_t looked_at = at.become(std::span{here.words}.subspan(set.at * num_words, num_words));
        ++num_sets_;
        visits_.push_back({set.from, set.by});
        looked_at += leave(at);
        if (!spend(looked_at)) {
          return answer::unknown;
        }
      }
    }
    if (layers_[num_ops].sets.empty()) {
      return answer::none_exists;
    }
    trace_back(at, layers_[num_ops].sets[0]);
    return answer::found;
  }

  /// Keeps the sets that follow the one that was visited last; returns how many ops were looked at.
  std::uint64_t leave(done_ops& at) {
    const auto from = static_cast<std::uint32_t>(visits_.size() - 1);
    next_.clear();
    std::uint64_t looked_at = 1;
    bool one_is_free = false;
    at.for_each_ready([&](op_id v) {
      ++looked_at;
      const auto needs = at.of(v);
      if (!one_is_free && needs.during <= room_) {
        one_is_free = needs.after <= at.alive();
        if (one_is_free) {
          next_.clear();
        }
        next_.push_back(v);
      }
    });
    for (const op_id v : next_) {
      run(at, v);
      looked_at += trail_.size();
      keep(at, from, v);
      take_back(at);
    }
    return looked_at;
  }

  void keep(const done_ops& at, std::uint32_t from, op_id by) {
    layer& l = layers_[at.size()];
    if (l.sets.size() >= 2 * width_ + 16) {
      tidy(l);
    }
    l.sets.push_back({at.alive(), from, by, static_cast<std::uint32_t>(l.sets.size())});
    l.words.insert(l.words.end(), at.words().begin(), at.words().end());
  }

  /// Leaves each set once, the best first, and no more of them than the beam is wide.
  void tidy(layer& l) {
    const std::size_t num_words = l.sets.empty() ? 0 : l.words.size() / l.sets.size();
    const auto words = [&](const reached& set) { return l.words.begin() + std::ptrdiff_t(set.at * num_words); };
    weft::sort(l.sets, [&](const reached& a, const reached& b) {
      if (a.alive != b.alive) {
        return a.alive < b.alive;
      }
      const auto [x, y] = std::mismatch(words(a), words(a) + std::ptrdiff_t(num_words), words(b));
      return x != words(a) + std::ptrdiff_t(num_words) ? *x < *y : a.at < b.at;
    });
    const auto last = std::unique(l.sets.begin(), l.sets.end(), [&](const reached& a, const reached& b) {
      return std::equal(words(a), words(a) + std::ptrdiff_t(num_words), words(b));
    });
    l.sets.resize(static_cast<std::size_t>(last - l.sets.begin()));
    weft::sort(l.sets,
               [](const reached& a, const reached& b) { return a.alive != b.alive ? a.alive < b.alive : a.at < b.at; });
    if (l.sets.size() > width_) {
      l.sets.resize(width_);
      is_cut_ = true;
    }
    std::vector<std::uint64_t> kept;
    for (std::uint32_t i = 0; i < l.sets.size(); ++i) {
      kept.insert(kept.end(), words(l.sets[i]), words(l.sets[i]) + std::ptrdiff_t(num_words));
    }
    for (std::uint32_t i = 0; i < l.sets.size(); ++i) {
      l.sets[i].at = i;
    }
    l.words = std::move(kept);
  }

  /// The order in which the set of all ops was reached.
  void trace_back(done_ops& at, const reached& all) {
    std::vector<op_id> steps{all.by};
    for (std::uint32_t k = all.from; k != none; k = visits_[k].from) {
      steps.push_back(visits_[k].by);
    }
    at.become(std::vector<std::uint64_t>(at.words().size(), 0));
    trail_.clear();
    for (std::size_t i = steps.size(); i-- > 0;) {
      run(at, steps[i]);
    }
    sequence_ = trail_;
    trail_.clear();
  }

  std::vector<op_id> sequence_;
  byte_count room_ = 0;
  std::size_t width_ = 1;
  bool is_cut_ = false; // a set was left out
  std::uint64_t num_sets_ = 0;
  std::vector<layer> layers_; // by size
  std::vector<visit> visits_;
  std::vector<op_id> trail_;      // what was added last
  std::vector<op_id> candidates_; // for what runs at once
  std::vector<op_id> next_;
};

} // namespace weft::refine::detail
