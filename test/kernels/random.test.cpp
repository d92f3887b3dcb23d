// SPDX-License-Identifier: BSL-1.0
#include "kernels/random.hpp"

#include "trial.hpp"

namespace kernels_random_test {

using namespace test;
using weft::nn::kernel_set;

TEST_CASE("random: dropout keeps a share and scales it up, and its gradient drops the same") {
  for (const auto kernels : {kernel_set::framework, kernel_set::compiled}) { // with a mask, and with a seed
    for (const unsigned threads : {1u, 2u}) {
      trial t{{.kernels = kernels}};
      const auto x = t.feed({100, 40});
      const auto y = weft::nn::dropout("dropout", x), z = weft::nn::dropout("dropout", x);
      const auto dx = t.gradients(y, {x})[0];
      t.run({dx, z}, threads);
      const auto from = t(x), to = t(y), other = t(z), g = t(dx), dy = t(t.net[dx.op()].op.inputs[0]);
      std::size_t kept = 0, both = 0;
      for (std::size_t i = 0; i < from.size(); ++i) {
        const float factor = to[i] == 0 ? 0 : 1 / kernels::keep_share;
        CHECK(to[i] == doctest::Approx(from[i] * factor));
        CHECK(g[i] == doctest::Approx(dy[i] * factor));
        kept += to[i] != 0;
        both += to[i] != 0 && other[i] != 0;
      }
      const auto n = static_cast<double>(from.size());
      CHECK(static_cast<double>(kept) / n == doctest::Approx(0.75).epsilon(0.03));
      CHECK(static_cast<double>(both) / n == doctest::Approx(0.75 * 0.75).epsilon(0.05)); // another op drops others
    }
  }
}

} // namespace kernels_random_test
