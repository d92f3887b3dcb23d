// SPDX-License-Identifier: BSL-1.0
#include "weft/validate/program.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace validate_program_test {

using namespace weft;
using kind = instruction::kind;

/// Programs written by hand.
struct by_hand {
  std::vector<std::vector<instruction>> code;
  std::vector<message> all;
  std::size_t num_devices() const { return code.size(); }
  const std::vector<instruction>& of(device_id d) const { return code[d]; }
  const std::vector<message>& messages() const { return all; }
};

/// a = 0, b = 1, c = 2, d = 3; a -> {b, c} -> d; tensors: a's, b's two, c's. a and c are on device 0, b and d on 1.
const workload diamond = test::diamond();
const placement where{0, 1, 0, 1};

by_hand fine() {
  return {{{{kind::run, 0}, {kind::send, 0}, {kind::run, 2}, {kind::send, 1}, {kind::wait, 0}, {kind::wait, 1}},
           {{kind::receive, 0}, {kind::wait, 0}, {kind::run, 1}, {kind::receive, 1}, {kind::wait, 1}, {kind::run, 3}}},
          {{.tensor = 0, .from = 0, .to = 1}, {.tensor = 3, .from = 0, .to = 1}}};
}

std::vector<std::string> complaints(const by_hand& p) {
  std::vector<std::string> all;
  for (const violation& x : validate(diamond, where, p)) {
    all.push_back(to_string(x));
  }
  return all;
}

bool complains(const by_hand& p, const std::string& text) {
  const auto all = complaints(p);
  return std::find(all.begin(), all.end(), text) != all.end();
}

TEST_CASE("validate: a program that is right") {
  CHECK(complaints(fine()).empty());
}

TEST_CASE("validate: what a program can do wrong") {
  auto p = fine();
  p.code[1][1] = {kind::receive, 1};
  p.code[1][3] = {kind::wait, 0};
  CHECK(complains(p, "op 1 runs as instruction 2 of device 1, where its input tensor 0 is not there"));
  p = fine();
  std::swap(p.code[0][0], p.code[0][1]);
  CHECK(complains(p, "instruction 0 of device 0 must not use tensor 0 as it does then")); // sent before it is made
  p = fine();
  p.code[0].insert(p.code[0].begin() + 2, {kind::free, 0});
  CHECK(complains(p, "instruction 2 of device 0 must not use tensor 0 as it does then")); // still being sent
  p = fine();
  p.code[1].insert(p.code[1].begin() + 2, {kind::free, 4});
  CHECK(complains(p, "op 1 runs as instruction 3 of device 1, where its input tensor 0 is not there"));
  p = fine();
  p.code[0].pop_back();
  CHECK(complains(p, "instruction 5 of device 0 must not use tensor 3 as it does then")); // nobody waited for its end
  p = fine();
  p.code[1].push_back({kind::run, 3});
  CHECK(complains(p, "the order has op 3 more than once"));
  p = fine();
  p.code[0].erase(p.code[0].begin() + 2);
  CHECK(complains(p, "the order misses op 2"));
  p = fine();
  p.code[0].push_back({kind::run, 1});
  CHECK(complains(p, "op 1 ran on device 0, where it is not placed"));
  p = fine();
  p.code[1].insert(p.code[1].begin(), {kind::receive, 0});
  CHECK(complains(p, "tensor 0 to device 1 is sent 1 times by device 0 and received 2 times"));
  p = fine();
  p.code[0].push_back({kind::wait, 7});
  CHECK(!complaints(p).empty());
}

TEST_CASE("find_deadlock: who waits for whom") {
  CHECK(find_deadlock(fine()).empty());
  const by_hand crossed{{{{kind::receive, 1}, {kind::wait, 1}, {kind::send, 0}, {kind::wait, 0}},
                         {{kind::receive, 0}, {kind::wait, 0}, {kind::send, 1}, {kind::wait, 1}}},
                        {{.tensor = 0, .from = 0, .to = 1}, {.tensor = 3, .from = 1, .to = 0}}};
  const auto found = find_deadlock(crossed);
  REQUIRE(found.size() == 2);
  CHECK(to_string(found[0]) == "deadlock: device 0 waits at instruction 1 for tensor 3 and device 1, which comes to it "
                               "at its instruction 2 or never");
  CHECK(to_string(found[1]) == "deadlock: device 1 waits at instruction 1 for tensor 0 and device 0, which comes to it "
                               "at its instruction 2 or never");

  // Head to head: fine where the network keeps messages, but not everywhere.
  const by_hand synchronous{{{{kind::send, 0}, {kind::wait, 0}, {kind::receive, 1}, {kind::wait, 1}},
                             {{kind::send, 1}, {kind::wait, 1}, {kind::receive, 0}, {kind::wait, 0}}},
                            crossed.all};
  CHECK(find_deadlock(synchronous).size() == 2);

  auto never = fine();
  never.code[0].erase(never.code[0].begin() + 1);
  const auto missing = find_deadlock(never);
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].device == 0); // waits for a message that it has not sent itself
  CHECK(missing[0].other == 0);
}

} // namespace validate_program_test
