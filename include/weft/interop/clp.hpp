// SPDX-License-Identifier: BSL-1.0
/// The linear program of m-SCT, solved to optimality by COIN-OR Clp.
#pragma once

#include "weft/core/error.hpp"
#include "weft/partition/sct/favourite_children.hpp"

#if __has_include(<coin-or/Clp_C_Interface.h>) // where later versions have it
#include <coin-or/Clp_C_Interface.h>
#else
#include <coin/Clp_C_Interface.h>
#endif

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

namespace weft::interop {

/// Solves `partition::sct::program` exactly, by the dual simplex method: `partition::m_sct<interop::clp>{}`. Variables:
/// x = 1 − share per arc, a start per op, the makespan; rows: as published. Debian has Clp as coinor-libclp-dev.
/// Throws `error` if Clp gives up. Complexity: of the simplex method; seconds for some 10⁴ arcs.
struct clp {
  std::vector<double> operator()(const partition::sct::program& lp) const {
    const auto n = lp.num_ops();
    const auto m = lp.arcs.size();
    if (m == 0) {
      return {};
    }
    const auto start = [m](op_id v) { return static_cast<int>(m + v); };
    const int makespan = static_cast<int>(m + n);
    rows r;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < m; ++a) { // s_to − s_from − c x >= p_from
      r.add({{start(lp.arcs[a].to), 1}, {start(lp.arcs[a].from), -1}, {static_cast<int>(a), -lp.arcs[a].transfer}},
            lp.compute[lp.arcs[a].from], infinity);
    }
    for (const op_id v : ids(n)) { // w − s >= p
      r.add({{makespan, 1}, {start(v), -1}}, lp.compute[v], infinity);
    }
    std::vector<std::vector<entry>> leaving(n), entering(n);
    for (std::size_t a = 0; a < m; ++a) {
      leaving[lp.arcs[a].from].push_back({static_cast<int>(a), 1});
      entering[lp.arcs[a].to].push_back({static_cast<int>(a), 1});
    }
    for (const auto* side : {&leaving, &entering}) { // Σ x >= number − 1
      for (const auto& arcs : *side) {
        if (arcs.size() > 1) {
          r.add(arcs, static_cast<double>(arcs.size()) - 1, infinity);
        }
      }
    }
    const std::size_t columns = m + n + 1;
    std::vector<double> lower(columns, 0.0), upper(columns, infinity), objective(columns, 0.0);
    std::fill(upper.begin(), upper.begin() + static_cast<std::ptrdiff_t>(m), 1.0);
    objective[columns - 1] = 1;
    const std::unique_ptr<Clp_Simplex, void (*)(Clp_Simplex*)> model{Clp_newModel(), Clp_deleteModel};
    Clp_setLogLevel(model.get(), 0);
    Clp_resize(model.get(), 0, static_cast<int>(columns));
    for (std::size_t j = 0; j < columns; ++j) {
      Clp_columnLower(model.get())[j] = lower[j];
      Clp_columnUpper(model.get())[j] = upper[j];
      Clp_objective(model.get())[j] = objective[j];
    }
    Clp_addRows(model.get(), static_cast<int>(r.least.size()), r.least.data(), r.most.data(), r.first.data(),
                r.column.data(), r.value.data());
    if (Clp_dual(model.get(), 0) != 0) {
      throw error("Clp did not solve the linear program of favourite children");
    }
    const double* x = Clp_primalColumnSolution(model.get());
    std::vector<double> share(m);
    for (std::size_t a = 0; a < m; ++a) {
      share[a] = std::clamp(1 - x[a], 0.0, 1.0);
    }
    return share;
  }

private:
  struct entry {
    int column;
    double value;
  };
  struct rows {
    std::vector<CoinBigIndex> first{0};
    std::vector<int> column;
    std::vector<double> value, least, most;
    void add(const std::vector<entry>& entries, double from, double to) {
      for (const auto& e : entries) {
        column.push_back(e.column);
        value.push_back(e.value);
      }
      first.push_back(static_cast<CoinBigIndex>(column.size()));
      least.push_back(from);
      most.push_back(to);
    }
  };
};

} // namespace weft::interop
