// SPDX-License-Identifier: BSL-1.0
#include "kernels/attention.hpp"

#include "trial.hpp"

#include "weft/workload/nn/attention.hpp"

namespace kernels_attention_test {

using namespace test;
using weft::nn::attention_kernels;
using weft::nn::attention_options;
using weft::nn::kernel_set;
using weft::nn::network_options;

const network_options separate{}, framework{.kernels = kernel_set::framework},
  fused{.kernels = kernel_set::compiled, .attention = attention_kernels::fused};

/// An attention of two sequences of five tokens, and its operands.
struct case_of_attention {
  enum class masked { none, keys, past, heads };
  masked mask = masked::none;
  std::uint64_t kv_heads = 4;
  bool rotates = false, crosses = false, drops = false;
};

constexpr std::uint64_t batch = 2, length = 5, heads = 4, size = 6, width = 8;

/// The layer in a trial, with the same numbers whatever the kernels.
class layer {
public:
  layer(const network_options& lowering, const case_of_attention& c) : t{lowering} {
    using masked = case_of_attention::masked;
    x = t.feed({batch * length, width});
    const auto memory = c.crosses ? t.feed({batch * length, width}) : x;
    attention_options o{.heads = heads, .kv_heads = c.kv_heads, .head_size = size, .dropout = c.drops};
    const bool is_separate = lowering.kernels == kernel_set::separate; // others know that it is causal
    if (c.mask == masked::keys) {
      o.mask = t.feed({batch, 1, 1, length}, {0, 0, 0, -1e4f, 0, 0, 0, -1, -2, -1e4f});
    } else if (c.mask == masked::heads) {
      o.mask = t.feed({1, heads, length, length});
    } else if (c.mask == masked::past) {
      o.causal = true;
      if (is_separate) {
        o.mask = t.net.data("Const", "past", {{1, 1, length, length}});
        t.give("past", table(length * length, [](auto i) { return i % length > i / length ? -1e9 : 0; }));
      }
    }
    if (c.rotates) {
      o.angles = t.feed({length, size}, table(length * size, [](auto i) {
                          const auto angle = static_cast<double>(i / size * (1 + i % size / 2));
                          return i % 2 == 0 ? std::cos(angle) : std::sin(angle);
                        }));
    }
    t.give("attention/scale", {static_cast<float>(1 / std::sqrt(static_cast<double>(size)))});
    y = weft::nn::attention("attention", x, memory, batch, o);
    by = {x};
    for (const auto& v : t.net.variables()) {
      by.push_back(v.value);
    }
  }

  trial t;
  tensor x, y;
  std::vector<tensor> by;
};

/// All that fit together.
std::vector<case_of_attention> cases() {
  using masked = case_of_attention::masked;
  std::vector<case_of_attention> all;
  for (const auto mask : {masked::none, masked::keys, masked::past, masked::heads}) {
    all.push_back({.mask = mask});
    all.push_back({.mask = mask, .kv_heads = 2, .rotates = true});
  }
  all.push_back({.crosses = true});
  return all;
}

TEST_CASE("attention: separate ops, joined ones and a single kernel give the same") {
  for (const auto& c : cases()) {
    CAPTURE(static_cast<int>(c.mask));
    CAPTURE(c.kv_heads);
    CAPTURE(c.crosses);
    numbers expected, expected_dx;
    for (const auto& lowering : {separate, framework, fused}) {
      layer l{lowering, c};
      const auto dx = l.t.gradients(l.y, {l.x})[0];
      l.t.run(dx, 2);
      const auto y = l.t(l.y), by_x = l.t(dx);
      CHECK(difference(y, expected.empty() ? y : expected) < rounding);
      CHECK(difference(by_x, expected_dx.empty() ? by_x : expected_dx) < rounding);
      expected = expected.empty() ? y : expected;
      expected_dx = expected_dx.empty() ? by_x : expected_dx;
    }
  }
}

TEST_CASE("attention: gradients are slopes, also of what is dropped from") {
  for (auto c : cases()) {
    for (const bool drops : {false, true}) {
      CAPTURE(static_cast<int>(c.mask));
      CAPTURE(c.kv_heads);
      CAPTURE(c.crosses);
      CAPTURE(drops);
      c.drops = drops;
      for (const auto& lowering : {separate, framework, fused}) {
        layer l{lowering, c};
        CHECK(l.t.slope_error(l.y, l.by, 2) < 5e-3);
      }
    }
  }
}

TEST_CASE("attention: a rotation turns pairs, and its gradient turns back") {
  trial t;
  const auto x = t.feed({1, 2, 1, 4}, {1, 0, 2, 3, 1, 0, 2, 3});
  const auto angles = t.feed({2, 4}, {1, 0, 1, 0, 0, 1, 0.6f, 0.8f});
  const auto y = weft::nn::rotary_embedding(x, angles);
  const auto dx = t.gradients(y, {x})[0];
  t.run(dx);
  CHECK(difference(t(y), {1, 0, 2, 3, 0, 1, 0.6f * 2 - 0.8f * 3, 0.8f * 2 + 0.6f * 3}) < rounding);
  const auto dy = t(t.net[dx.op()].op.inputs[0]);
  CHECK(difference(t(dx), {dy[0], dy[1], dy[2], dy[3], dy[5], -dy[4], 0.6f * dy[6] + 0.8f * dy[7],
                           -0.8f * dy[6] + 0.6f * dy[7]}) < rounding);
}

} // namespace kernels_attention_test
