// SPDX-License-Identifier: BSL-1.0
#include "weft/validate/continued.hpp"

#include "scene.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace validate_continued_test {

using namespace weft;
using weft_test::kinds_of;
using weft_test::scene;
using kind = violation::kind;

/// The scene at 7: b and c run, d and e have not begun, z is not sent.
struct at_seven : scene {
  run_state state = state_at(run, 7);
  trace next = run;
  std::vector<kind> found() const { return kinds_of(validate(p, state, next)); }
};
using kinds = std::vector<kind>;

TEST_CASE("validate continued: a run that goes on as planned") {
  for (const double now : {0.0, 2.5, 7.0, 9.5, 13.0}) {
    at_seven s;
    s.state = state_at(s.run, now);
    CHECK(s.found().empty());
  }
}

TEST_CASE("validate continued: what had begun may have taken other times") {
  at_seven s;
  s.state.begun.ops[scene::a] = s.next.ops[scene::a] = {0, 0, 1.5};
  CHECK(s.found().empty());
}

TEST_CASE("validate continued: what had begun is as it was") {
  at_seven s;
  s.next.ops[scene::c].finish = 8.5;
  CHECK(s.found().front() == kind::op_on_wrong_device);
  s.next = s.run;
  s.next.transfers.erase(s.next.transfers.begin());
  CHECK(s.found() == kinds{kind::transfer_missing});
}

TEST_CASE("validate continued: what had not begun does so from then on") {
  at_seven s;
  s.next.ops[scene::e] = {1, 6.5, 7}; // beside b, too
  CHECK(s.found().front() == kind::bad_time);
  s.next = s.run;
  s.next.ops[scene::e] = {1, 8, 8.5};
  s.next.makespan = 12.5;
  CHECK(s.found().empty()); // x is there since 6
}

TEST_CASE("validate continued: durations, kinds, groups and slots") {
  at_seven s;
  s.next.ops[scene::d].finish = 13;
  s.next.makespan = 13;
  CHECK(s.found() == kinds{kind::wrong_duration});
  s.next = s.run;
  s.next.ops[scene::d] = {0, 11.5, 13.5};
  s.next.makespan = 13.5;
  CHECK(s.found() ==
        kinds{kind::kind_not_allowed, kind::colocation_broken, kind::transfer_missing, kind::transfer_spurious});
  s.next = s.run;
  s.next.ops[scene::e] = {0, 8.5, 9.5}; // while c runs and z is sent
  CHECK(s.found() == kinds{kind::device_overlap, kind::device_overlap});
}

TEST_CASE("validate continued: inputs are there") {
  at_seven s;
  s.next.ops[scene::d] = {1, 11, 12};
  s.next.makespan = 12;
  CHECK(s.found() == kinds{kind::input_not_ready});
  s.next = s.run;
  s.next.transfers.pop_back();
  CHECK(s.found() == kinds{kind::transfer_missing});
}

TEST_CASE("validate continued: transfers go from where a tensor is to where it is needed, once, in their time") {
  at_seven s;
  const transfer_record z = s.run.transfers[1];
  const auto with = [&](transfer_record x) {
    s.next.transfers[1] = x;
    return s.found();
  };
  CHECK(with({z.tensor, 0, 1, 8.5, 9.5, 9.5, 11}) == kinds{kind::transfer_before_producer, kind::device_overlap});
  CHECK(with({z.tensor, 0, 1, 9, 9.5, 9.5, 11}) == kinds{kind::wrong_send_time});
  CHECK(with({z.tensor, 0, 1, 9, 10, 9.75, 11.25}) == kinds{kind::wrong_transfer_start});
  CHECK(with({z.tensor, 0, 1, 9, 10, 10, 11.25}) == kinds{kind::wrong_transfer_time});
  CHECK(with({z.tensor, 1, 1, 9, 10, 10, 11.5}).front() == kind::transfer_from_wrong_device);
  with(z);
  s.next.transfers.push_back({scene::x, 0, 1, 11, 12, 12, 15}); // which is there
  s.next.makespan = 15;
  CHECK(s.found() == kinds{kind::transfer_spurious});
  s.next = s.run;
  s.next.transfers.push_back({z.tensor, 0, 1, 11, 12, 12, 13.5});
  s.next.makespan = 13.5;
  CHECK(s.found() == kinds{kind::transfer_repeated});
}

TEST_CASE("validate continued: nothing runs on devices that are gone, and only what they had runs again") {
  at_seven s;
  s.state = state_at(s.run, 7, {0});
  CHECK(s.found().front() == kind::bad_device); // c did not end there
  s.next.ops[scene::c] = {1, 8, 11};
  s.next.ops[scene::e] = {1, 11, 11.5};
  s.next.ops[scene::d] = {1, 11.5, 12.5};
  s.next.transfers.pop_back();
  CHECK(s.found().empty());
  s.next.ops[scene::b] = {1, 12.5, 14.5};
  s.next.makespan = 14.5;
  CHECK(s.found().front() == kind::op_on_wrong_device); // it had begun
}

TEST_CASE("validate continued: makespan, memory, and what is not usable") {
  at_seven s;
  s.next.makespan = 12;
  CHECK(s.found() == kinds{kind::wrong_makespan});
  s.next = s.run;
  s.next.ops[scene::e].device = none;
  CHECK(s.found() == kinds{kind::op_missing});
  s.next.ops[scene::e] = {2, 10, 11};
  CHECK(s.found() == kinds{kind::bad_device});
  s.next.ops[scene::e] = {0, 10, std::numeric_limits<double>::quiet_NaN()};
  CHECK(s.found() == kinds{kind::bad_time});
  s.next = s.run;
  s.next.transfers[1].tensor = 9;
  CHECK(s.found() == kinds{kind::bad_device});
  s.next = s.run;
  s.next.ops.pop_back();
  CHECK(s.found() == kinds{kind::wrong_size});
  s.state.begun.ops.pop_back();
  CHECK_THROWS_WITH_AS(s.found(), "run_state: it has records of 4 ops, and the workload has 5", value_error);

  const scene plain;
  const platform<uniform_links> small{{{.kind = device_kind::cpu, .memory_capacity = 120},
                                       {.kind = device_kind::gpu, .speed = 2, .memory_capacity = 100}}, {{1, 4}}, 1};
  const problem p{plain.w, small};
  CHECK(kinds_of(validate(p, state_at(plain.run, 7), plain.run)) == kinds{kind::capacity_exceeded});
}

} // namespace validate_continued_test
