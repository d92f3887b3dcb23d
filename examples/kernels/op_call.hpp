// SPDX-License-Identifier: BSL-1.0
/// The input of a kernel factory: an op of a network with the buffers of its operands.
#pragma once

#include "weft/workload/nn/network.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernels {

using weft::nn::extents;

/// Floats on cache lines of their own, zero at first. Every element of a tensor is a float here, indices and truth
/// values too.
class buffer {
public:
  buffer() = default;
  explicit buffer(std::size_t size) : size_{size}, data_{new (alignment) float[std::max<std::size_t>(1, size)]} {
    std::fill_n(data_.get(), size, 0.0f);
  }
  float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

private:
  static constexpr std::align_val_t alignment{64};
  struct release {
    void operator()(float* p) const { ::operator delete[](p, alignment); }
  };
  std::size_t size_ = 0;
  std::unique_ptr<float[], release> data_;
};

/// A tensor of an op, row by row (images: batch, height, width, channels).
struct operand {
  extents dims;
  float* data = nullptr;

  std::size_t size() const {
    std::size_t n = 1;
    for (const auto d : dims) {
      n *= d;
    }
    return n;
  }
  std::span<float> values() const { return {data, size()}; }
};

/// An op about to become a kernel. For a reference to a variable, `data` is the variable itself.
struct op_call {
  const weft::nn::network* net = nullptr;
  weft::op_id op = weft::none;      ///< in the network
  weft::op_id forward = weft::none; ///< the op whose gradient this one helps to compute, if any
  std::vector<operand> in;          ///< as the network lists them, twice if it names them twice
  std::vector<operand> out;
  std::shared_ptr<buffer> kept; ///< what a forward op leaves for its gradient besides tensors; both hold the same, but
                                ///< for a gradient on another device, which has none

  std::string_view type() const { return (*net)[op].op.type; }
  const std::string& name() const { return (*net)[op].op.name; }
  double work() const { return (*net)[op].op.work; }
};

/// A kernel bound to its buffers and to a number of threads; empty where there is nothing to do.
struct kernel {
  unsigned team = 1; ///< how many threads it really uses
  std::function<void()> body;
};

/// Makes the body of a kernel for a team of that size.
using kernel_maker = std::function<void()> (*)(const op_call&, unsigned team);

/// Thrown when an op has no kernel, or when its shapes do not tell which computation it is.
struct unsupported_op : weft::error {
  unsupported_op(const op_call& call, const std::string& problem)
      : weft::error("op '" + call.name() + "' (" + std::string{call.type()} + "): " + problem) {}
};

/// An op's name without the number that makes it unique: `a/b/Const_3` gives `a/b/Const`.
inline std::string_view without_number(std::string_view name) {
  const auto digits = name.find_last_not_of("0123456789");
  const bool numbered = digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == '_';
  return numbered ? name.substr(0, digits) : name;
}

} // namespace kernels
