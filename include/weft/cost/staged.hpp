// SPDX-License-Identifier: BSL-1.0
/// Costs of host-staged platforms: accelerators that reach each other through host memory only.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/error.hpp"
#include "weft/core/shared.hpp"
#include "weft/cost/concepts.hpp"

#include <string>
#include <utility>
#include <vector>

namespace weft::cost {

/// Two kinds of devices, hosts (of kind `cpu`) and accelerators (all others), that compute at times of their own and
/// exchange tensors through the hosts' memory: an accelerator takes `transfer[t]` seconds to read tensor t from there
/// or to write it, a host takes none. For the makespan, a transfer is the export and then the import.
/// Source: Tarnawski, Phanishayee, Devanur, Mahajan, Nina Paravecino, *Efficient Algorithms for Device Placement of
/// DNN Graph Operators*, NeurIPS 2020, section 3.
class staged {
public:
  /// Seconds on a host and on an accelerator for each op, and between an accelerator and host memory for each tensor.
  struct columns {
    std::vector<double> host;
    std::vector<double> accelerator;
    std::vector<double> transfer;
    friend bool operator==(const columns&, const columns&) = default;
  };

  /// Throws `value_error` if an entry is negative or not finite, or if the ops' columns differ in length.
  explicit staged(columns c) : columns_{std::move(c)} {
    if (columns_->host.size() != columns_->accelerator.size()) {
      throw value_error("staged costs", std::to_string(columns_->host.size()) + " ops have a host time and " +
                                          std::to_string(columns_->accelerator.size()) + " an accelerator time");
    }
    check(columns_->host, "host time of op ");
    check(columns_->accelerator, "accelerator time of op ");
    check(columns_->transfer, "transfer time of tensor ");
  }

  template <class W, class P>
  double compute_time(const W&, op_id v, const P& p, device_id d) const {
    WEFT_ASSERT(v < columns_->host.size());
    return is_host(p, d) ? columns_->host[v] : columns_->accelerator[v];
  }
  template <class W, class P>
  double import_time(const W&, tensor_id t, const P& p, device_id d) const {
    WEFT_ASSERT(t < columns_->transfer.size());
    return is_host(p, d) ? 0 : columns_->transfer[t];
  }
  template <class W, class P>
  double export_time(const W& w, tensor_id t, const P& p, device_id d) const {
    return import_time(w, t, p, d);
  }
  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P& p, device_id from, device_id to) const {
    return export_time(w, t, p, from) + import_time(w, t, p, to);
  }
  template <class W, class P>
  device_id device_class(const W&, const P& p, device_id d) const {
    device_id first = 0;
    while (is_host(p, first) != is_host(p, d)) {
      ++first;
    }
    return first;
  }

  template <class P>
  static bool is_host(const P& p, device_id d) {
    return p.kind(d) == device_kind::cpu;
  }
  const columns& times() const { return *columns_; }

private:
  static void check(const std::vector<double>& column, const char* what) {
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (!(column[i] >= 0 && column[i] < 1e300)) {
        throw value_error(what + std::to_string(i), "must be a finite number of seconds, not negative");
      }
    }
  }

  shared<columns> columns_;
};

} // namespace weft::cost
