// SPDX-License-Identifier: BSL-1.0
/// Graphs of array programs that need much more memory in most orders than in the best one.
#pragma once

#include "weft/workload/builder.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace weft::test {

/// What each op reads; each makes one tensor.
struct array_program {
  std::vector<std::vector<op_id>> inputs;
  std::size_t least = 0; ///< tensors at the worst moment of the best order
};

/// Means of several blocks are taken away from the blocks.
inline array_program anomaly() {
  return {{{},      {},           {},       {},      {},      {0},     {2},
           {4},     {1},          {3},      {5},     {6},     {7},     {8},
           {9},     {10, 11, 12}, {13, 14}, {15},    {16},    {17},    {18},
           {17},    {18},         {17},     {0, 19}, {1, 20}, {2, 21}, {3, 22},
           {4, 23}, {24},         {25},     {26},    {27},    {28},    {29, 30, 31, 32},
           {33},    {34, 35}},
          8};
}
/// Sums of three blocks each, of x, of x y and of y.
inline array_program crossed() {
  return {{{},  {},  {},  {},  {},  {},   {0},  {1},  {2},  {0, 3}, {1, 4},       {2, 5},       {3},         {4},
           {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12}, {13}, {14},   {15, 16, 17}, {18, 19, 20}, {21, 22, 23}},
          7};
}

/// Ops of a second, with tensors of so many bytes.
inline workload workload_of(const std::vector<std::vector<op_id>>& inputs, const std::vector<byte_count>& bytes) {
  workload_builder b;
  for (op_id v = 0; v < inputs.size(); ++v) {
    b.add_op({.work = 1, .bytes = bytes[v]});
    for (const op_id u : inputs[v]) {
      b.add_edge(u, v);
    }
  }
  return std::move(b).build();
}
inline workload workload_of(const array_program& x, byte_count bytes) {
  return workload_of(x.inputs, std::vector<byte_count>(x.inputs.size(), bytes));
}

} // namespace weft::test
