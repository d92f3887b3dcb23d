// SPDX-License-Identifier: BSL-1.0
/// Graphs of loop nests, one op per number: products of matrices as in the kernels gemm, 2mm and 3mm of PolyBench.
#pragma once

#include "weft/graph/generate.hpp"

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace weft::generate {

/// Sizes of `2mm`: `tmp = alpha A B`, `D = tmp C + beta D` with A of ni × nk, B of nk × nj, C of nj × nl, D of ni × nl.
/// The defaults are those of the instance in the papers on acyclic partitioning.
struct two_products {
  std::size_t ni = 10, nj = 20, nk = 30, nl = 40;
};

/// Sizes of `3mm`: `E = A B`, `F = C D`, `G = E F` with A of ni × nk, B of nk × nj, C of nj × nm, D of nm × nl.
struct three_products {
  std::size_t ni = 10, nj = 20, nk = 30, nl = 40, nm = 50;
};

/// Sizes of `gemm`: `C = alpha A B + beta C` with A of ni × nk and B of nk × nj.
struct one_product {
  std::size_t ni = 60, nj = 70, nk = 80;
};

namespace detail {

/// The statements of a loop nest as scalar ops: an op per element that is read before it is written
/// and per arithmetic operation; constants and the scalars alpha and beta are no ops; adding to 0 is an op with one
/// input.
class scalar_ops {
public:
  /// A matrix of ops, row by row; `none` stands for 0.
  struct matrix {
    std::size_t rows, columns;
    std::vector<op_id> at;
    op_id& operator()(std::size_t i, std::size_t j) { return at[i * columns + j]; }
    op_id operator()(std::size_t i, std::size_t j) const { return at[i * columns + j]; }
  };

  matrix zeros(std::size_t rows, std::size_t columns) const {
    return {rows, columns, std::vector<op_id>(rows * columns, none)};
  }
  matrix input(std::size_t rows, std::size_t columns) {
    matrix x = zeros(rows, columns);
    for (op_id& v : x.at) {
      v = op({});
    }
    return x;
  }
  /// `x *= scalar`, per element.
  void scale(matrix& x) {
    for (op_id& v : x.at) {
      v = op({v});
    }
  }
  /// `c[i][j] += a[i][k] * b[k][j]` in the order i, j, k; with a scalar, `alpha * a[i][k] * b[k][j]` from left to
  /// right.
  void add_product(matrix& c, const matrix& a, const matrix& b, bool scaled) {
    for (std::size_t i = 0; i < c.rows; ++i) {
      for (std::size_t j = 0; j < c.columns; ++j) {
        for (std::size_t k = 0; k < a.columns; ++k) {
          const op_id left = scaled ? op({a(i, k)}) : a(i, k);
          c(i, j) = op({c(i, j), op({left, b(k, j)})});
        }
      }
    }
  }
  csr_graph graph() const { return {num_ops_, arcs_}; }

private:
  op_id op(std::initializer_list<op_id> inputs) {
    const auto v = static_cast<op_id>(checked_count(num_ops_ + 1, "polyhedral kernel", "ops") - 1);
    ++num_ops_;
    for (const op_id u : inputs) {
      if (u != none) {
        arcs_.push_back({u, v});
      }
    }
    return v;
  }

  std::size_t num_ops_ = 0;
  std::vector<graph::arc> arcs_;
};

} // namespace detail

/// The graph of gemm: 3 ni nj nk + 2 ni nj + ni nk + nk nj ops. Source: PolyBench/C 4.2.1, linear-algebra/blas/gemm.
/// Throws `value_error` if there are more than ids can number. Ids are a topological order. O(ops).
inline csr_graph gemm(const one_product& s = {}) {
  detail::scalar_ops ops;
  const auto a = ops.input(s.ni, s.nk), b = ops.input(s.nk, s.nj);
  auto c = ops.input(s.ni, s.nj);
  ops.scale(c);
  ops.add_product(c, a, b, true);
  return ops.graph();
}

/// The graph of 2mm. Source: PolyBench/C 4.2.1, linear-algebra/kernels/2mm. With the default sizes 36,500 ops, 62,200
/// edges, 2,100 sources and 400 sinks: the counts of the instance in Herrmann, Özkaya, Uçar, Kaya, Çatalyürek, SIAM J.
/// Sci. Comput. 41(4), 2019.
inline csr_graph two_matrix_products(const two_products& s = {}) {
  detail::scalar_ops ops;
  const auto a = ops.input(s.ni, s.nk), b = ops.input(s.nk, s.nj), c = ops.input(s.nj, s.nl);
  auto d = ops.input(s.ni, s.nl);
  auto tmp = ops.zeros(s.ni, s.nj);
  ops.add_product(tmp, a, b, true);
  ops.scale(d);
  ops.add_product(d, tmp, c, false);
  return ops.graph();
}

/// The graph of 3mm. Source: PolyBench/C 4.2.1, linear-algebra/kernels/3mm. With the default sizes 111,900 ops and
/// 214,600 edges.
inline csr_graph three_matrix_products(const three_products& s = {}) {
  detail::scalar_ops ops;
  const auto a = ops.input(s.ni, s.nk), b = ops.input(s.nk, s.nj), c = ops.input(s.nj, s.nm), d = ops.input(s.nm, s.nl);
  auto e = ops.zeros(s.ni, s.nj), f = ops.zeros(s.nj, s.nl), g = ops.zeros(s.ni, s.nl);
  ops.add_product(e, a, b, false);
  ops.add_product(f, c, d, false);
  ops.add_product(g, e, f, false);
  return ops.graph();
}

} // namespace weft::generate
