// SPDX-License-Identifier: BSL-1.0
/// Checks that ops on devices, and transfers at ports, do not overlap.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/validate/violation.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::detail {

/// Comparison of instants up to rounding.
struct instant_comparison {
  double tolerance;
  constexpr double slack(double a, double b) const {
    const double x = a < 0 ? -a : a;
    const double y = b < 0 ? -b : b;
    return tolerance * std::max(x, y);
  }
  constexpr bool before(double a, double b) const { return a < b - slack(a, b); }
  constexpr bool same(double a, double b) const { return a - b <= slack(a, b) && b - a <= slack(a, b); }
};

/// Something that holds a slot or a port during `[begin, end)`.
struct occupation {
  double begin;
  double end;
  op_id op;
  tensor_id tensor; ///< `none` for an op
  std::uint32_t threads = 1;
};

/// The same, shrunk by the tolerance at both ends; what vanishes becomes a point.
struct shrunk_occupation {
  double begin;
  double end;
  bool point;
  const occupation* of;
};

/// Reports each occupation for which there is no place: `fits(running, it)` says whether there is beside those that are
/// under way when it begins. One without length must find a place as well, but takes it for no time. Complexity: O(k
/// log k) for k occupations, and one call of `fits` for each.
template <class Fits>
constexpr void check_overlaps(const std::vector<occupation>& list, Fits fits, device_id d, violation::kind what,
                              instant_comparison cmp, std::vector<violation>& found) {
  using item = shrunk_occupation;
  std::vector<item> items;
  for (const auto& o : list) {
    const double begin = o.begin + cmp.slack(o.begin, 0);
    const double end = o.end - cmp.slack(o.end, 0);
    const double middle = o.begin + (o.end - o.begin) / 2;
    items.push_back(begin < end ? item{begin, end, false, &o} : item{middle, middle, true, &o});
  }
  std::sort(items.begin(), items.end(), [](const item& a, const item& b) {
    return a.begin != b.begin ? a.begin < b.begin
           : a.point != b.point ? a.point
           : a.of->op != b.of->op ? a.of->op < b.of->op : a.of->tensor < b.of->tensor;
  });
  const auto ends_later = [](const item& a, const item& b) { return a.end > b.end; };
  std::vector<item> running; // a heap, the first to end in front
  for (const auto& i : items) {
    while (!running.empty() && running.front().end <= i.begin) {
      std::pop_heap(running.begin(), running.end(), ends_later);
      running.pop_back();
    }
    if (!fits(running, *i.of)) {
      found.push_back({.what = what,
                       .op = i.of->op,
                       .other = running.empty() ? none : running.front().of->op,
                       .tensor = i.of->tensor,
                       .device = d,
                       .expected = running.empty() ? 0 : running.front().of->end,
                       .actual = i.of->begin});
    }
    if (!i.point) {
      running.push_back(i);
      std::push_heap(running.begin(), running.end(), ends_later);
    }
  }
}

/// When a port is in use, as disjoint intervals in ascending order; what follows at once goes on in the same one.
class busy_times {
public:
  constexpr busy_times(std::vector<occupation> list, instant_comparison cmp) : cmp_{cmp} {
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    for (const auto& o : list) {
      if (!cmp_.before(o.begin, o.end)) {
        continue; // it takes no time
      }
      if (intervals_.empty() || cmp_.before(intervals_.back().second, o.begin)) {
        intervals_.push_back({o.begin, o.end});
      } else {
        intervals_.back().second = std::max(intervals_.back().second, o.end);
      }
    }
  }
  /// The first instant from `time` on at which it is not in use. Complexity: O(log intervals).
  constexpr double free_from(double time) const {
    const auto after = std::partition_point(intervals_.begin(), intervals_.end(),
                                            [&](const auto& x) { return !cmp_.before(time, x.first); });
    return after != intervals_.begin() && cmp_.before(time, (after - 1)->second) ? (after - 1)->second : time;
  }

private:
  instant_comparison cmp_;
  std::vector<std::pair<double, double>> intervals_;
};

/// At most so many at a time.
constexpr auto fits_into(std::size_t places) {
  return [places](const std::vector<shrunk_occupation>& running, const occupation&) { return running.size() < places; };
}

} // namespace weft::detail
