// SPDX-License-Identifier: BSL-1.0
/// Groups of ops for drawings of graphs that are too large to draw each op: by the scopes of their names, by layers
/// where names have none.
#pragma once

#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::report::detail {

/// A tree of groups; group 0 holds everything. A group that is a scope has a name that ends with `/`, such as
/// `encoder/layer_3/`, without those of the scopes around it; other groups have a title.
struct op_groups {
  std::vector<std::string> name = {};     ///< by group
  std::vector<std::uint32_t> parent = {}; ///< by group; less than the group, but for group 0
  std::vector<std::uint32_t> of = {};     ///< by op: the innermost group around it
};

/// Splits groups one after the other; see `group_ops`.
class op_grouping {
public:
  op_grouping(const std::vector<std::string>& names, const std::vector<std::uint32_t>& layer, std::size_t most)
      : layer_{layer}, most_{most}, rest_(names.begin(), names.end()), order_(names.size()) {
    for (std::uint32_t v = 0; v < names.size(); ++v) {
      order_[v] = v;
    }
    groups_.of.resize(names.size(), 0);
    open_group(0, "", 0, names.size());
  }

  op_groups run() && {
    while (!open_.empty()) {
      const auto [group, first, last] = open_.back();
      open_.pop_back();
      split(group, first, last);
    }
    return std::move(groups_);
  }

private:
  /// What is right inside a group: the ops `order_[first, last)`, all of one scope, or a single one.
  struct part {
    std::size_t first;
    std::size_t last;
    double layer;       ///< the mean
    std::uint32_t op;   ///< the smallest
    bool is_scope;
  };
  struct pending {
    std::uint32_t group;
    std::size_t first;
    std::size_t last;
  };

  std::string_view scope(std::uint32_t v) const { return rest_[v].substr(0, rest_[v].find('/')); }
  bool nested(std::uint32_t v) const { return rest_[v].find('/') != std::string_view::npos; }
  std::string_view scope(const part& p) const { return scope(order_[p.first]); }

  void open_group(std::uint32_t parent, std::string name, std::size_t first, std::size_t last) {
    open_.push_back({static_cast<std::uint32_t>(groups_.name.size()), first, last});
    groups_.name.push_back(std::move(name));
    groups_.parent.push_back(parent);
  }

  /// Takes the outermost scope from the names of a part. The op of that very name has no name left.
  std::string enter(const part& p) {
    const std::string name{scope(p)};
    for (std::size_t i = p.first; i < p.last; ++i) {
      auto& rest = rest_[order_[i]];
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    }
    return name + "/";
  }

  /// Sorts ops by scope, so that each part is a range.
  std::vector<part> parts_of(std::size_t first, std::size_t last) {
    weft::sort(order_.data() + first, order_.data() + last, [&](std::uint32_t a, std::uint32_t b) {
      const int order = scope(a).compare(scope(b));
      return order != 0 ? order < 0 : a < b;
    });
    std::vector<part> parts;
    for (std::size_t i = first, end = first; i < last; i = end) {
      bool is_scope = false;
      for (; end < last && scope(order_[end]) == scope(order_[i]); ++end) {
        is_scope = is_scope || nested(order_[end]);
      }
      is_scope = is_scope && end - i > 1;
      for (std::size_t from = i; from < end;) { // ops without a scope may share a name
        const std::size_t to = is_scope ? end : from + 1;
        double sum = 0;
        for (std::size_t k = from; k < to; ++k) {
          sum += layer_[order_[k]];
        }
        parts.push_back({from, to, sum / static_cast<double>(to - from), order_[from], is_scope});
        from = to;
      }
    }
    return parts;
  }

  void split(std::uint32_t group, std::size_t first, std::size_t last) {
    auto parts = parts_of(first, last);
    while (parts.size() == 1 && parts.front().is_scope) {
      groups_.name[group] += enter(parts.front());
      parts = parts_of(first, last);
    }
    if (parts.size() <= most_) {
      for (const part& p : parts) {
        add(group, p);
      }
      return;
    }
    // Scopes stay as they are if they are few; then only ops without one are put together.
    const auto scopes = static_cast<std::size_t>(
      std::count_if(parts.begin(), parts.end(), [](const part& p) { return p.is_scope; }));
    const bool keep = scopes <= most_ / 2;
    weft::sort(parts, [&](const part& a, const part& b) {
      return std::tuple{keep && a.is_scope, a.layer, a.op} < std::tuple{keep && b.is_scope, b.layer, b.op};
    });
    const std::size_t loose = keep ? parts.size() - scopes : parts.size();
    std::vector<std::uint32_t> ops;
    ops.reserve(last - first);
    for (part& p : parts) { // the ops in the order of the parts
      const std::size_t begin = first + ops.size();
      for (std::size_t i = p.first; i < p.last; ++i) {
        ops.push_back(order_[i]);
      }
      p.first = begin;
      p.last = first + ops.size();
    }
    std::copy(ops.begin(), ops.end(), order_.begin() + static_cast<std::ptrdiff_t>(first));
    for (std::size_t i = 0; const std::size_t end : cuts(parts, loose, most_ - (keep ? scopes : 0))) {
      if (end - i == 1) {
        add(group, parts[i]);
      } else {
        open_group(group, title(parts[i], parts[end - 1]), parts[i].first, parts[end - 1].last);
      }
      i = end;
    }
    for (std::size_t i = loose; i < parts.size(); ++i) {
      add(group, parts[i]);
    }
  }

  void add(std::uint32_t group, const part& p) {
    if (p.is_scope) {
      std::string name = enter(p);
      open_group(group, std::move(name), p.first, p.last);
    } else {
      groups_.of[order_[p.first]] = group;
    }
  }

  /// Where to cut the first n parts, sorted by layer, into at least 2 and at most `room` ranges: between layers if
  /// there are several, and so that ranges, ranges of ranges and so on are about equally many.
  static std::vector<std::size_t> cuts(const std::vector<part>& parts, std::size_t n, std::size_t room) {
    const std::size_t most = room * 7 / 10; // uneven layers make more ranges than that
    const auto reaches_n = [&](std::size_t base, std::size_t depth) {
      std::size_t power = 1;
      for (; depth > 0 && power < n; --depth) {
        power *= base;
      }
      return power >= n;
    };
    std::size_t depth = 1, count = 2;
    while (!reaches_n(most, depth)) {
      ++depth;
    }
    while (!reaches_n(count, depth)) {
      ++count;
    }
    count = std::min(count, most);
    std::vector<std::size_t> ends;
    if (parts[0].layer == parts[n - 1].layer) {
      for (std::size_t k = 1; k <= count; ++k) {
        ends.push_back(n * k / count);
      }
      return ends;
    }
    for (std::size_t i = 0, begin = 0; i < n;) {
      std::size_t next = i; // the first of another layer
      while (next < n && parts[next].layer == parts[i].layer) {
        ++next;
      }
      if (count * (i - begin) >= n || (i > begin && 2 * count * (next - begin) > 3 * n)) {
        ends.push_back(begin = i);
      }
      i = next;
    }
    ends.push_back(n);
    return ends;
  }

  /// Of a range of parts.
  std::string title(const part& a, const part& b) const {
    const auto name = [&](const part& p) {
      const auto scope = this->scope(p);
      return scope.empty() ? "op " + std::to_string(p.op) : std::string{scope};
    };
    if (a.is_scope || b.is_scope || a.layer == b.layer) {
      return name(a) + " … " + name(b);
    }
    return "layers " + std::to_string(static_cast<std::size_t>(a.layer) + 1) + " to " +
           std::to_string(static_cast<std::size_t>(b.layer) + 1);
  }

  const std::vector<std::uint32_t>& layer_;
  std::size_t most_;
  std::vector<std::string_view> rest_;  ///< by op: its name without the scopes that were entered
  std::vector<std::uint32_t> order_;    ///< the ops, those of a group side by side
  op_groups groups_;
  std::vector<pending> open_;
};

/// Groups ops by the scopes of their names, `outer/inner/op`, so that no group holds more than `most` groups and ops
/// (`most` is at least 20). A scope with one op is no group, a scope that holds nothing but another is one with it, and
/// where there are more, such as ops without scopes, ranges of layers are put together, or ranges of scopes. The op
/// `a/b` belongs to the scope `a/b/` if there is one. Ties: by op number.
/// Complexity: O(n log n · depth) comparisons of names.
inline op_groups group_ops(const std::vector<std::string>& names, const std::vector<std::uint32_t>& layer,
                           std::size_t most = 40) {
  return op_grouping{names, layer, most}.run();
}

} // namespace weft::report::detail
