// SPDX-License-Identifier: BSL-1.0
/// Sums and means over some axes, and sums over what a broadcast repeated.
#pragma once

#include "kernels/attention.hpp"
#include "kernels/broadcast.hpp"

#include <numeric>

namespace kernels {

namespace detail {

/// Adds the rows `[first, last)` of a matrix up.
inline void sum_rows(const float* x, std::size_t first, std::size_t last, std::size_t columns, float* sums) {
  std::fill_n(sums, columns, 0.0f);
  for (std::size_t row = first; row < last; ++row) {
    const float* values = x + row * columns;
#pragma omp simd
    for (std::size_t i = 0; i < columns; ++i) {
      sums[i] += values[i];
    }
  }
}

/// The sum over the rows of a matrix. Each thread adds up its share of the rows, and the first one the shares.
inline std::function<void()> column_sums(const float* x, std::size_t rows, std::size_t columns, float* y,
                                         unsigned team) {
  const auto partial = std::make_shared<buffer>(team == 1 ? 0 : team * columns);
  return [=] {
    if (team == 1) {
      sum_rows(x, 0, rows, columns, y);
      return;
    }
    share(team, team, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t part = first; part < last; ++part) {
        sum_rows(x, rows * part / team, rows * (part + 1) / team, columns, partial->data() + part * columns);
      }
    });
    sum_rows(partial->data(), 0, team, columns, y);
  };
}

/// The sum over all extents of x in which `kept` is 1.
inline std::function<void()> sum_over(const operand& x, const extents& kept, float* y, unsigned team) {
  const rows_of rows{x.dims, kept};
  const std::size_t block = rows.independent_rows() == 0 ? rows.count() : rows.independent_rows();
  const std::size_t size = operand{kept}.size();
  return [=, x = x.data] {
    std::fill_n(y, size, 0.0f);
    share(team, rows.count(), block, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row) {
        const float* from = x + row * rows.length();
        float* to = y + rows.begin(row);
        if (rows.step() == 0) {
          *to = std::accumulate(from, from + rows.length(), *to);
          continue;
        }
#pragma omp simd
        for (std::size_t i = 0; i < rows.length(); ++i) {
          to[i] += from[i];
        }
      }
    });
  };
}

/// The ways to write `kept` with ones where it lacks extents of `whole`, from extent `at` on.
inline std::vector<extents> ways_to_keep(const extents& whole, const extents& kept, std::size_t at = 0,
                                         std::size_t next = 0) {
  if (at == whole.size()) {
    return next == kept.size() ? std::vector<extents>{{}} : std::vector<extents>{};
  }
  std::vector<extents> ways;
  const auto continue_with = [&](std::uint64_t extent, std::size_t then) {
    for (auto& rest : ways_to_keep(whole, kept, at + 1, then)) {
      rest.insert(rest.begin(), extent);
      ways.push_back(std::move(rest));
    }
  };
  continue_with(1, next);
  if (next < kept.size() && kept[next] == whole[at]) {
    continue_with(whole[at], next + 1);
  }
  return ways;
}

/// The only way, or of several for images the one that keeps batch and channels.
inline extents with_ones(const op_call& call, const extents& whole, const extents& kept) {
  auto ways = ways_to_keep(whole, kept);
  std::sort(ways.begin(), ways.end()); // an extent of 1 is the same kept and summed
  ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
  if (ways.size() == 1) {
    return ways[0];
  }
  if (const extents pooled{whole.front(), 1, 1, whole.back()};
      whole.size() == 4 && std::find(ways.begin(), ways.end(), pooled) != ways.end()) {
    return pooled;
  }
  throw unsupported_op(call, "its shapes do not tell over which axes it sums");
}

/// Whether the op undoes a broadcast: then extents are missing in front, else where axes were named.
inline bool undoes_broadcast(const op_call& call) {
  return call.forward != weft::none && call.type() == "Sum" && (*call.net)[call.forward].op.type != "Sum";
}

inline extents kept_extents(const op_call& call) {
  const auto &whole = call.in[0].dims, &kept = call.out[0].dims;
  return undoes_broadcast(call) ? padded(kept, whole.size()) : with_ones(call, whole, kept);
}

} // namespace detail

/// Sum(x) -> x added up along the extents that the result lacks, or in which it has 1.
inline std::function<void()> sum(const op_call& call, unsigned team) {
  const auto &x = call.in[0], &y = call.out[0];
  const auto kept = detail::kept_extents(call);
  if (!kept.empty() && kept.back() == y.size()) {
    return detail::column_sums(x.data, x.size() / y.size(), y.size(), y.data, team);
  }
  return detail::sum_over(x, kept, y.data, team);
}

/// Mean(x)
inline std::function<void()> mean(const op_call& call, unsigned team) {
  const auto y = call.out[0].values();
  const float share_of_each = static_cast<float>(y.size()) / static_cast<float>(call.in[0].size());
  return [=, add_up = sum(call, team)] {
    add_up();
    for (auto& value : y) {
      value *= share_of_each;
    }
  };
}

/// BiasAddGrad(dy) -> the sum per channel; BiasAddGrad(gradients of several kinds of heads) -> that of their one bias.
inline std::function<void()> bias_add_grad(const op_call& call, unsigned team) {
  const auto &dy = call.in[0], &sums = call.out[0];
  if (call.in.size() == 1) {
    return detail::column_sums(dy.data, dy.size() / sums.size(), sums.size(), sums.data, team);
  }
  const detail::joined_heads heads{call.in};
  return detail::in_turn(heads.copy(false, team),
                         detail::column_sums(heads.whole->data(), heads.rows, heads.columns, sums.data, team),
                         heads.whole);
}

/// L2Loss(x) -> half the sum of squares.
inline std::function<void()> l2_loss(const op_call& call, unsigned team) {
  const auto partial = std::make_shared<std::vector<double>>(team);
  return [=, x = call.in[0].values(), y = call.out[0].data] {
    share(team, team, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t part = first; part < last; ++part) {
        double squares = 0;
        for (std::size_t i = x.size() * part / team; i < x.size() * (part + 1) / team; ++i) {
          squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
        }
        (*partial)[part] = squares;
      }
    });
    *y = static_cast<float>(std::accumulate(partial->begin(), partial->end(), 0.0) / 2);
  };
}

} // namespace kernels
