// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/threads.hpp"

#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace concurrency_threads_test {

using namespace weft;
using namespace weft::concurrency;

static_assert(thread_policy<uniform_threads> && thread_policy<socket_threads> && thread_policy<best_threads> &&
              thread_policy<one_team_per_type<>>);
static_assert(!thread_policy<int>);

/// One class per entry: its type, and its times with 1, 2, 3, 4 packed threads; spread ones take 10 % longer.
using lines = std::vector<std::pair<std::string, std::vector<double>>>;

time_table table(const lines& classes) {
  workload_builder b;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    b.add_op({.work = static_cast<double>(c + 1), .type = classes[c].first});
  }
  return {op_classes{std::move(b).build()}, 4, [&](class_id c, team t) {
            return classes[c].second[t.threads - 1] * (t.affinity == affinity::spread ? 1.1 : 1);
          }};
}

machine cores(std::uint32_t count, std::uint32_t sockets = 1) {
  return {.sockets = sockets, .cores_per_socket = count / sockets};
}

std::vector<std::uint32_t> counts(const std::vector<team>& teams) {
  std::vector<std::uint32_t> list;
  for (const team& t : teams) {
    list.push_back(t.threads);
  }
  return list;
}

using numbers = std::vector<std::uint32_t>;

TEST_CASE("uniform_threads: one team for all, no larger than the machine and the table") {
  const auto times = table({{"a", {4, 3, 2, 1}}, {"b", {4, 3, 2, 1}}});
  CHECK(counts(uniform_threads{}(times, cores(4))) == numbers{4, 4});
  CHECK(counts(uniform_threads{3}(times, cores(4))) == numbers{3, 3});
  CHECK(counts(uniform_threads{9}(times, cores(4))) == numbers{4, 4});
  CHECK(counts(uniform_threads{3}(times, cores(2))) == numbers{2, 2});
  CHECK(counts(uniform_threads{}(times, cores(8))) == numbers{4, 4}); // the table knows no more
  CHECK(uniform_threads{2, affinity::spread}(times, cores(4))[1] == team{2, affinity::spread});
  CHECK(counts(socket_threads{}(times, cores(4, 2))) == numbers{2, 2});
}

TEST_CASE("best_threads: the fastest, and of nearly equal ones the smallest team") {
  const auto times = table({{"a", {10, 6, 5, 4.8}},   // 3 threads are within 5 %
                            {"b", {1, 2, 3, 4}},      // more threads harm
                            {"c", {8, 4, 8, 4.1}},    // not the last
                            {"d", {3, 3, 3, 3}}});
  CHECK(counts(best_threads{}(times, cores(4))) == numbers{3, 1, 2, 1});
  CHECK(counts(best_threads{.tolerance = 0}(times, cores(4))) == numbers{4, 1, 2, 1});
  CHECK(counts(best_threads{.tolerance = 0.5}(times, cores(4))) == numbers{2, 1, 2, 1});
  CHECK(counts(best_threads{}(times, cores(2))) == numbers{2, 1, 2, 1}); // no more than there are cores
}

TEST_CASE("best_threads: packed or spread, whichever is faster; packed of equals") {
  workload_builder b;
  b.add_op({.work = 1, .type = "gains"});
  b.add_op({.work = 1, .type = "loses"});
  b.add_op({.work = 1, .type = "same"});
  const time_table times{op_classes{std::move(b).build()}, 4, [](class_id c, team t) {
                           const double spread = t.affinity == affinity::packed || t.threads == 1 || c == 2 ? 1
                                                 : c == 0                                                  ? 0.8
                                                                                                           : 1.2;
                           return spread * 12.0 / t.threads;
                         }};
  const auto teams = best_threads{}(times, cores(4));
  CHECK(teams[0] == team{4, affinity::spread});
  CHECK(teams[1] == team{4, affinity::packed});
  CHECK(teams[2] == team{4, affinity::packed});
}

TEST_CASE("one_team_per_type: a type's ops have the team of its most time-consuming class") {
  machine m = cores(4);
  m.resize_seconds = 100; // no change is worth it
  const auto times = table({{"a", {40, 20, 14, 10}}, // 4 threads, the longest of a
                            {"a", {2, 1, 1.5, 2}},   // would have 2
                            {"b", {4, 2, 3, 4}},     // 2, the only one of b
                            {"a", {1, 2, 3, 4}}});   // 1 thread needs no team
  CHECK(counts(best_threads{}(times, m)) == numbers{4, 2, 2, 1});
  CHECK(counts(one_team_per_type{best_threads{}}(times, m)) == numbers{4, 4, 2, 1});
}

TEST_CASE("one_team_per_type: a change that pays for itself is made") {
  // The second class: 1 s with 2 threads, 1.9 with the type's 4; two changes cost 2 · resize.
  const lines classes{{"a", {40, 20, 14, 10}}, {"a", {2, 1, 1.5, 1.9}}};
  const auto with_cost = [&](double resize) {
    machine m = cores(4);
    m.resize_seconds = resize;
    return counts(one_team_per_type{best_threads{}}(table(classes), m));
  };
  CHECK(with_cost(0) == numbers{4, 2});
  CHECK(with_cost(0.4) == numbers{4, 2});  // 1.8 < 1.9 s
  CHECK(with_cost(1.39) == numbers{4, 2}); // 3.78 s, but 7.56 core-seconds instead of 7.6
  CHECK(with_cost(1.41) == numbers{4, 4}); // 7.64
}

} // namespace concurrency_threads_test
