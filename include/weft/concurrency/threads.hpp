// SPDX-License-Identifier: BSL-1.0
/// Thread policies: how many threads each class of ops is to have. Values with options that compose.
#pragma once

#include "weft/concurrency/time_table.hpp"

#include <algorithm>
#include <concepts>
#include <vector>

namespace weft {

/// `s(times, machine)` returns the team of every class, by class; no team has more threads than the machine has cores.
template <class S>
concept thread_policy = std::copy_constructible<S> &&
                        requires(const S& s, const concurrency::time_table& times, const machine& m) {
                          { s(times, m) } -> std::same_as<std::vector<team>>;
                        };

namespace why_not {
template <class S>
struct thread_policy {
  static_assert(weft::thread_policy<S>,
                "weft: this is not a thread policy: a copyable const function of (const concurrency::time_table&, "
                "const machine&) that returns a std::vector<team>, by class; see docs/concepts/thread_policy.md");
};
} // namespace why_not

namespace must_be {
template <class S>
concept thread_policy = weft::thread_policy<S> || explained<why_not::thread_policy<S>>;
} // namespace must_be

namespace concurrency {

/// Every op gets the same team, at most all cores. `threads = 0` means all cores of the machine.
struct uniform_threads {
  std::uint32_t threads = 0;
  weft::affinity affinity = weft::affinity::packed;

  std::vector<team> operator()(const time_table& times, const machine& m) const {
    const auto p = std::min({threads == 0 ? m.cores() : threads, m.cores(), times.max_threads()});
    return std::vector<team>(times.classes().num_classes(), team{p, affinity});
  }
};

/// Every op gets the cores of one socket.
struct socket_threads {
  std::vector<team> operator()(const time_table& times, const machine& m) const {
    return uniform_threads{m.cores_per_socket}(times, m);
  }
};

/// Strategy 1: each class has the team that its times say is best. Among teams whose time is within `tolerance` of
/// the smallest, the one with the fewest threads (packed before spread): what is nearly as fast leaves cores to others.
/// Source: [CC] strategy 1.
struct best_threads {
  double tolerance = 0.05;

  std::vector<team> operator()(const time_table& times, const machine& m) const {
    std::vector<team> chosen;
    for (class_id c = 0; c < times.classes().num_classes(); ++c) {
      chosen.push_back(best(times, c, std::min(m.cores(), times.max_threads())));
    }
    return chosen;
  }

private:
  team best(const time_table& times, class_id c, std::uint32_t cores) const {
    double least = times.seconds_of_class(c, {1});
    for (const auto a : {affinity::packed, affinity::spread}) {
      for (std::uint32_t p = 1; p <= cores; ++p) {
        least = std::min(least, times.seconds_of_class(c, {p, a}));
      }
    }
    for (std::uint32_t p = 1; p <= cores; ++p) {
      for (const auto a : {affinity::packed, affinity::spread}) {
        if (times.seconds_of_class(c, {p, a}) <= least * (1 + tolerance)) {
          return {p, a};
        }
      }
    }
    return {};
  }
};

/// Strategy 2: all ops of one type have one team, the one that `base` gives the type's most time-consuming class, so
/// that the number of threads does not change from op to op. Changes are bounded by what they cost: a class keeps its
/// own team where that saves more seconds or more core-seconds than two changes take (`resize_seconds`, there and
/// back), or where it is one thread, which needs no team and leaves the type's as it is.
/// Source: [CC] strategy 2; the exceptions are ours, see docs/concurrency.md.
template <thread_policy Base = best_threads>
struct one_team_per_type {
  Base base = {};

  std::vector<team> operator()(const time_table& times, const machine& m) const {
    auto teams = base(times, m);
    const auto& classes = times.classes();
    std::vector<class_id> longest(classes.num_types(), none);
    for (class_id c = 0; c < classes.num_classes(); ++c) {
      auto& most = longest[classes.type(c)];
      if (most == none || times.seconds_of_class(c, teams[c]) > times.seconds_of_class(most, teams[most])) {
        most = c;
      }
    }
    const auto own = teams;
    for (class_id c = 0; c < classes.num_classes(); ++c) {
      const team common = own[longest[classes.type(c)]];
      if (own[c].threads > 1 && !worth_a_change(times, c, common, own[c], m.resize_seconds)) {
        teams[c] = common;
      }
    }
    return teams;
  }

private:
  /// Whether a team of its own for one class saves time or core-seconds, counting two changes, there and back.
  static bool worth_a_change(const time_table& times, class_id c, team common, team own, double change) {
    const double seconds = times.seconds_of_class(c, own) + 2 * change;
    const double common_seconds = times.seconds_of_class(c, common);
    return seconds < common_seconds || own.threads * seconds < common.threads * common_seconds;
  }
};
template <class Base>
one_team_per_type(Base) -> one_team_per_type<Base>;

} // namespace concurrency
} // namespace weft
