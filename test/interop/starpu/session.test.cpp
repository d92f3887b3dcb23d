// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/starpu/session.hpp"

#include "interop/starpu/environment.hpp"

#include <doctest/doctest.h>

#include <climits>

namespace interop_starpu_session_test {

using namespace weft;
using interop_starpu_test::quiet_session;
using interop_starpu_test::starpu_home;

TEST_CASE("starpu: sessions one after another, with as many workers as asked for") {
  for (int cpus = 1; cpus <= 3; ++cpus) {
    quiet_session s{cpus};
    CHECK(s.starpu.cpu_workers().size() == static_cast<std::size_t>(cpus));
    CHECK_THROWS_WITH_AS(starpu::session{}, "starpu: StarPU runs already; make one session, or say "
                                            "weft::starpu::running{}", error);
  }
  CHECK(starpu_is_initialized() == 0);
}

TEST_CASE("starpu: a session in a program that has initialised StarPU leaves it running") {
  const starpu_home home;
  [[maybe_unused]] const interop_starpu_test::unchecked_for_leaks initialising;
  CHECK_THROWS_WITH_AS(starpu::session{starpu::running{}},
                       "starpu: StarPU does not run; call starpu_init first, or make a session that does", error);
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 2;
  REQUIRE(starpu_init(&conf) == 0);
  {
    const starpu::session s{starpu::running{}};
    CHECK(s.cpu_workers().size() == 2);
  }
  CHECK(starpu_is_initialized() == 1);
  starpu_shutdown();
}

TEST_CASE("starpu: no workers") {
  const starpu_home home;
  [[maybe_unused]] const interop_starpu_test::unchecked_for_leaks initialising;
  CHECK_THROWS_AS((starpu::session{{.cpus = 0}}), error);
}

TEST_CASE("starpu: tasks of a worker are numbered from 1, once, and until there are no numbers") {
  quiet_session s{1};
  starpu::session::orders some{};
  some[0] = 5;
  CHECK(s.starpu.take_orders(some)[0] == 1);
  CHECK(s.starpu.take_orders(some)[0] == 6);
  some[0] = UINT_MAX - 10;
  CHECK_THROWS_AS(s.starpu.take_orders(some), error);
  some[0] = 1;
  CHECK(s.starpu.take_orders(some)[0] == 11);
}

} // namespace interop_starpu_session_test
