// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/facts.hpp"

#include "weft/cost/compose.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

namespace cost_facts_test {

using namespace weft;

struct wrong_rate : cost::linear {
  template <class W, class P>
  constexpr double rate(const W& w, const P& p, device_id d) const {
    return linear::rate(w, p, d) + 1;
  }
};
struct wrong_class : cost::linear {
  template <class W, class P>
  constexpr device_id device_class(const W&, const P&, device_id) const {
    return 0;
  }
};
struct wrong_line : cost::linear {
  template <class W, class P>
  constexpr auto transfer_line(const W& w, const P& p, device_id from, device_id to) const {
    return cost::detail::scaled_line{linear::transfer_line(w, p, from, to), 1.001};
  }
};
struct wrong_overhead : cost::linear {
  template <class W, class P>
  constexpr double send_overhead(const W&, const P&, device_id) const {
    return 3;
  }
};

TEST_CASE("facts_agree: sees what a model states beside the truth") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  CHECK(cost::facts_agree(cost::linear{}, w, p));
  CHECK(cost::facts_agree(cost::cached{cost::scaled{cost::linear{}, 0.7, 1.3}, w, p}, w, p));
  CHECK(!cost::facts_agree(wrong_rate{}, w, p));
  CHECK(!cost::facts_agree(wrong_class{}, w, p));
  CHECK(!cost::facts_agree(wrong_line{}, w, p));
  CHECK(!cost::facts_agree(wrong_overhead{}, w, p));
  const workload empty;
  CHECK(cost::facts_agree(wrong_line{}, empty, p));
}

} // namespace cost_facts_test
