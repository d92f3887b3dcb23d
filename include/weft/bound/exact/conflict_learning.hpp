// SPDX-License-Identifier: BSL-1.0
/// Search that learns from its dead ends: yes-no facts and lower bounds on amounts, each with the reasons why it holds.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::bound::exact {

/// Facts, amounts that are at least something, and clauses over facts. Whoever knows the rules of a problem says what
/// follows and from what; when facts contradict each other, the contradiction is led back to the decisions behind it, a
/// clause that forbids it for ever is learned, and as many decisions are taken back as it allows.
///
/// Amounts have reasons that add up: from reasons "a is at least x" of amounts and facts it follows that an amount is
/// at least y; and of those amounts at least x - s each, that it is at least y - s. So an explanation asks for no
/// more than is needed, and what is learned holds more often.
/// Source: Marques-Silva, Sakallah, GRASP, 1999, for clauses; Ohrimenko, Stuckey, Codish, Propagation via lazy clause
/// generation, Constraints 14, 2009, for bounds that are explained only when asked.
class conflict_learning {
public:
  using literal = std::uint32_t; ///< a fact, or, odd, its negation
  using bound_id = std::uint32_t;
  using amount = std::int64_t;

  static constexpr literal negation(literal l) { return l ^ 1u; }

  /// A new fact that is open.
  literal add_fact() {
    const auto fact = static_cast<literal>(level_.size());
    level_.push_back(0);
    reason_.push_back({});
    activity_.push_back(0);
    seen_.push_back(0);
    truth_.resize(truth_.size() + 2, 0);
    watches_.resize(watches_.size() + 2);
    return 2 * fact;
  }
  /// A new amount.
  bound_id add_amount(amount at_least) {
    value_.push_back(at_least);
    root_.push_back(at_least);
    latest_.push_back(no_raise);
    return static_cast<bound_id>(value_.size() - 1);
  }

  bool holds(literal l) const { return truth_[l] > 0; }
  bool fails(literal l) const { return truth_[l] < 0; }
  bool is_open(literal l) const { return truth_[l] == 0; }
  amount at_least(bound_id b) const { return value_[b]; }
  /// What is known of it without any decision.
  amount at_least_always(bound_id b) const { return root_[b]; }
  /// How much a fact had to do with dead ends lately.
  double activity(literal l) const { return activity_[l / 2]; }
  /// Grows with every fact and raise.
  std::uint64_t num_changes() const { return changes_; }
  /// The facts that hold, in the order in which they were found.
  std::span<const literal> trail() const { return trail_; }
  /// The amounts that were raised since this was called last, some of them several times or taken back since.
  template <class F>
  void take_raised(F f) {
    for (const bound_id b : raised_lately_) {
      f(b);
    }
    raised_lately_.clear();
  }

  /// At least one of these holds. Only without decisions. False if that cannot be.
  bool add_clause(std::span<const literal> clause) {
    buffer<literal> rest;
    for (const literal l : clause) {
      if (holds(l)) {
        return true;
      }
      if (!fails(l)) {
        rest.push_back(l);
      }
    }
    if (rest.size() == 0) {
      return false;
    }
    if (rest.size() == 1) {
      set(rest[0], {});
      return true;
    }
    attach(store(std::span<const literal>{rest.data(), rest.size()}, 0));
    return true;
  }

  /// The reasons of the next `raise`, `imply` or `contradict`.
  void because(literal l) {
    if (level_[l / 2] > 0) {
      atoms_.push_back({l, 0, false});
    }
  }
  void because(bound_id b, amount at_least) {
    if (root_[b] < at_least) {
      atoms_.push_back({b, at_least, true});
    }
  }
  /// An amount is at least that, and more than was known.
  void raise(bound_id b, amount value) {
    ++changes_;
    raised_lately_.push_back(b);
    if (levels_.empty()) {
      value_[b] = root_[b] = value;
      atoms_.clear();
      new_atoms_ = 0;
      return;
    }
    raises_.push_back({b, value_[b], value, latest_[b], new_atoms_, static_cast<std::uint32_t>(atoms_.size())});
    wanted_.push_back(unwanted);
    latest_[b] = static_cast<std::uint32_t>(raises_.size() - 1);
    value_[b] = value;
    new_atoms_ = static_cast<std::uint32_t>(atoms_.size());
  }
  /// A fact holds; false if it is known not to.
  bool imply(literal l) {
    if (fails(l)) {
      because(negation(l));
      return contradict();
    }
    if (holds(l)) {
      atoms_.resize(new_atoms_, atom{});
      return true;
    }
    set(l,
        {new_atoms_, static_cast<std::uint32_t>(atoms_.size()), static_cast<std::uint32_t>(raises_.size()), no_clause});
    new_atoms_ = static_cast<std::uint32_t>(atoms_.size());
    return true;
  }
  /// The reasons cannot all hold.
  bool contradict() {
    dead_end_ = {new_atoms_, static_cast<std::uint32_t>(atoms_.size()), static_cast<std::uint32_t>(raises_.size()),
                 no_clause};
    new_atoms_ = static_cast<std::uint32_t>(atoms_.size());
    return false;
  }

  /// What follows from clauses; false at a dead end.
  bool follow_clauses() {
    while (next_ < trail_.size()) {
      const literal false_now = negation(trail_[next_++]);
      auto& list = watches_[false_now];
      std::size_t kept = 0;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const watch w = list[i];
        if (holds(w.other)) {
          list[kept++] = w;
          continue;
        }
        literal* const c = pool_.data() + w.clause;
        const std::uint32_t size = c[-2];
        if (c[0] == false_now) {
          std::swap(c[0], c[1]);
        }
        if (holds(c[0])) {
          list[kept++] = {w.clause, c[0]};
          continue;
        }
        bool moved = false;
        for (std::uint32_t j = 2; j < size; ++j) {
          if (!fails(c[j])) {
            std::swap(c[1], c[j]);
            watches_[c[1]].push_back({w.clause, c[0]});
            moved = true;
            break;
          }
        }
        if (moved) {
          continue;
        }
        list[kept++] = {w.clause, c[0]};
        if (fails(c[0])) {
          for (++i; i < list.size(); ++i) {
            list[kept++] = list[i];
          }
          list.resize(kept);
          dead_end_ = {0, 0, 0, w.clause};
          return false;
        }
        set(c[0], {0, 0, 0, w.clause});
      }
      list.resize(kept);
    }
    return true;
  }

  /// Assumes a fact, until it is taken back.
  void decide(literal l) {
    levels_.push_back({static_cast<std::uint32_t>(trail_.size()), static_cast<std::uint32_t>(raises_.size()),
                       static_cast<std::uint32_t>(atoms_.size())});
    set(l, {});
  }

  /// Takes all decisions after the first so many back.
  void take_back(std::size_t num_levels) {
    if (levels_.size() <= num_levels) {
      return;
    }
    const level_start to = levels_[num_levels];
    for (std::size_t i = trail_.size(); i-- > to.trail;) {
      truth_[trail_[i]] = truth_[negation(trail_[i])] = 0;
    }
    trail_.resize(to.trail);
    next_ = std::min<std::size_t>(next_, to.trail);
    for (std::size_t i = raises_.size(); i-- > to.raises;) {
      value_[raises_[i].of] = raises_[i].was;
      latest_[raises_[i].of] = raises_[i].previous;
    }
    raises_.resize(to.raises, raised{});
    wanted_.resize(to.raises, unwanted);
    atoms_.resize(to.atoms, atom{});
    new_atoms_ = to.atoms;
    levels_.resize(num_levels, level_start{});
    ++changes_;
  }

  /// After a dead end: learns from it and goes back; false if there was no decision behind it.
  bool learn() {
    learned_.clear();
    learned_.push_back(0);
    touched_.clear();
    explain(dead_end_, none_of_them);
    std::uint32_t top = 0;
    for (const std::uint32_t f : touched_) {
      top = std::max(top, level_[f]);
    }
    if (top == 0) {
      forget_marks();
      return false;
    }
    // Everything of that level is resolved until a single fact is left.
    std::size_t open = 0;
    for (const std::uint32_t f : touched_) {
      open += level_[f] == top;
    }
    std::size_t at = levels_.size() > top ? levels_[top].trail : trail_.size();
    literal last = 0;
    for (;;) {
      do {
        --at;
      } while (!seen_[trail_[at] / 2] || level_[trail_[at] / 2] != top);
      last = trail_[at];
      if (open == 1) {
        break;
      }
      const std::size_t before = touched_.size();
      explain(reason_[last / 2], last);
      --open;
      for (std::size_t i = before; i < touched_.size(); ++i) {
        open += level_[touched_[i]] == top;
      }
    }
    learned_[0] = negation(last);
    for (const std::uint32_t f : touched_) {
      if (level_[f] > 0 && level_[f] < top && !is_redundant(f)) {
        learned_.push_back(holds(2 * f) ? 2 * f + 1 : 2 * f);
      }
    }
    forget_marks();
    std::uint32_t back = 0;
    for (std::size_t i = 1; i < learned_.size(); ++i) {
      if (level_[learned_[i] / 2] > back) {
        back = level_[learned_[i] / 2];
        std::swap(learned_[1], learned_[i]);
      }
    }
    const std::uint32_t distance = count_levels();
    take_back(back);
    increment_ *= 1 / 0.95;
    if (increment_ > 1e100) {
      for (double& a : activity_) {
        a *= 1e-100;
      }
      increment_ *= 1e-100;
    }
    if (learned_.size() == 1) {
      set(learned_[0], {});
      return true;
    }
    const auto clause = store(learned_, distance);
    ++num_learned_;
    attach(clause);
    set(learned_[0], {0, 0, 0, clause});
    return true;
  }

  std::size_t num_learned() const { return num_learned_; }

  /// Forgets about half of what was learned, what connects most decisions first. Only without decisions.
  void forget() {
    buffer<std::uint32_t> old;
    std::vector<literal> pool;
    for (std::uint32_t c = 2; c < pool_.size(); c += pool_[c - 2] + 2) {
      if (pool_[c - 1] > 2) {
        old.push_back(c);
      }
    }
    weft::sort(old, [&](std::uint32_t a, std::uint32_t b) {
      return pool_[a - 1] != pool_[b - 1] ? pool_[a - 1] < pool_[b - 1] : a > b; // the newer one stays
    });
    for (std::size_t i = old.size() / 2; i < old.size(); ++i) {
      pool_[old[i] - 1] = forgotten;
    }
    num_learned_ = 0;
    for (auto& list : watches_) {
      list.clear();
    }
    pool.swap(pool_);
    for (std::uint32_t c = 2; c < pool.size(); c += pool[c - 2] + 2) {
      const std::span<const literal> clause{pool.data() + c, pool[c - 2]};
      const bool kept =
        pool[c - 1] != forgotten && std::none_of(clause.begin(), clause.end(), [&](literal l) { return holds(l); });
      if (kept) {
        num_learned_ += pool[c - 1] > 0;
        buffer<literal> rest;
        for (const literal l : clause) {
          if (!fails(l)) {
            rest.push_back(l);
          }
        }
        attach(store(std::span<const literal>{rest.data(), rest.size()}, pool[c - 1]));
      }
    }
  }

private:
  static constexpr std::uint32_t no_clause = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t no_raise = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t forgotten = std::numeric_limits<std::uint32_t>::max();
  static constexpr literal none_of_them = std::numeric_limits<literal>::max();
  static constexpr amount unwanted = std::numeric_limits<amount>::min();

  /// A reason: a fact, or an amount that is at least something.
  struct atom {
    std::uint32_t of = 0;
    amount at_least = 0;
    bool is_amount = false;
  };
  /// A clause, or atoms that refer to raises before some moment.
  struct reason {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t raises = 0;
    std::uint32_t clause = no_clause;
  };
  struct raised {
    bound_id of = 0;
    amount was = 0;
    amount value = 0;
    std::uint32_t previous = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  struct level_start {
    std::uint32_t trail = 0;
    std::uint32_t raises = 0;
    std::uint32_t atoms = 0;
  };
  struct watch {
    std::uint32_t clause;
    literal other;
  };

  void set(literal l, const reason& why) {
    ++changes_;
    truth_[l] = 1;
    truth_[negation(l)] = -1;
    level_[l / 2] = static_cast<std::uint32_t>(levels_.size());
    reason_[l / 2] = why;
    trail_.push_back(l);
  }

  /// Clauses lie one behind the other: size, distance (0: not learned), literals.
  std::uint32_t store(std::span<const literal> clause, std::uint32_t distance) {
    pool_.push_back(static_cast<std::uint32_t>(clause.size()));
    pool_.push_back(distance);
    const auto at = static_cast<std::uint32_t>(pool_.size());
    pool_.insert(pool_.end(), clause.begin(), clause.end());
    return at;
  }
  void attach(std::uint32_t c) {
    watches_[pool_[c]].push_back({c, pool_[c + 1]});
    watches_[pool_[c + 1]].push_back({c, pool_[c]});
  }

  void see(literal l) {
    const std::uint32_t f = l / 2;
    if (!seen_[f] && level_[f] > 0) {
      seen_[f] = 1;
      touched_.push_back(f);
      activity_[f] += increment_;
    }
  }

  /// Marks the facts behind a reason.
  void explain(const reason& why, literal result) {
    if (why.clause != no_clause) {
      const literal* const c = pool_.data() + why.clause;
      for (std::uint32_t i = 0; i < c[-2]; ++i) {
        if (c[i] != result) {
          see(c[i]);
        }
      }
      return;
    }
    ask(why.first, why.last, 0, why.raises);
    while (!asked_.empty()) {
      std::pop_heap(asked_.begin(), asked_.end());
      const std::uint32_t i = asked_.back();
      asked_.pop_back();
      ask(raises_[i].first, raises_[i].last, raises_[i].value - wanted_[i], i);
    }
  }

  /// Asks for the reasons of atoms, the amounts less `spare`.
  void ask(std::uint32_t first, std::uint32_t last, amount spare, std::uint32_t before) {
    for (std::uint32_t k = first; k < last; ++k) {
      const atom a = atoms_[k];
      if (!a.is_amount) {
        see(a.of);
        continue;
      }
      const amount need = a.at_least - spare;
      std::uint32_t i = latest_[a.of];
      while (i != no_raise && i >= before) {
        i = raises_[i].previous;
      }
      while (i != no_raise && raises_[i].was >= need) {
        i = raises_[i].previous;
      }
      if (i != no_raise && wanted_[i] < need) {
        if (wanted_[i] == unwanted) {
          wanted_raises_.push_back(i);
        }
        wanted_[i] = need;
        if (std::find(asked_.begin(), asked_.end(), i) == asked_.end()) {
          asked_.push_back(i);
          std::push_heap(asked_.begin(), asked_.end());
        }
      }
    }
  }

  /// A fact whose clause says that it follows from others that are marked.
  bool is_redundant(std::uint32_t f) const {
    const reason& why = reason_[f];
    if (why.clause == no_clause) {
      return false;
    }
    const literal* const c = pool_.data() + why.clause;
    for (std::uint32_t i = 0; i < c[-2]; ++i) {
      if (c[i] / 2 != f && !seen_[c[i] / 2] && level_[c[i] / 2] > 0) {
        return false;
      }
    }
    return true;
  }

  std::uint32_t count_levels() {
    level_seen_.assign(levels_.size() + 1, 0);
    std::uint32_t count = 0;
    for (const literal l : learned_) {
      count += level_seen_[level_[l / 2]] == 0;
      level_seen_[level_[l / 2]] = 1;
    }
    return std::max(1u, count);
  }

  void forget_marks() {
    for (const std::uint32_t f : touched_) {
      seen_[f] = 0;
    }
    for (const std::uint32_t i : wanted_raises_) {
      wanted_[i] = unwanted;
    }
    wanted_raises_.clear();
  }

  std::vector<std::int8_t> truth_;   // per literal: 1, 0: open, -1
  std::vector<std::uint32_t> level_; // per fact
  buffer<reason> reason_;            // per fact
  std::vector<double> activity_;     // per fact
  double increment_ = 1;
  std::vector<literal> trail_;
  std::size_t next_ = 0; // of the trail, to be followed through the clauses
  buffer<level_start> levels_;
  std::vector<amount> value_;         // per amount
  std::vector<amount> root_;          // per amount, without decisions
  std::vector<std::uint32_t> latest_; // per amount: its last raise
  buffer<raised> raises_;
  buffer<atom> atoms_;
  std::uint32_t new_atoms_ = 0; // the first of the reason that is being given
  reason dead_end_;
  std::vector<literal> pool_;
  buffer<buffer<watch>> watches_; // per literal
  std::size_t num_learned_ = 0;
  std::uint64_t changes_ = 0;
  std::vector<bound_id> raised_lately_;
  std::vector<literal> learned_;
  std::vector<std::uint8_t> seen_; // per fact
  std::vector<std::uint32_t> touched_;
  std::vector<amount> wanted_; // per raise: what was asked of it
  std::vector<std::uint32_t> wanted_raises_;
  std::vector<std::uint32_t> asked_; // a heap
  std::vector<std::uint8_t> level_seen_;
};

} // namespace weft::bound::exact
