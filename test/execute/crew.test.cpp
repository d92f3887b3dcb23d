// SPDX-License-Identifier: BSL-1.0
#include "weft/execute/crew.hpp"

#include <doctest/doctest.h>

#include <system_error>
#include <thread>
#include <vector>

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer)
#define WEFT_TEST_LIMITS_MEMORY 1
#endif
#else
#define WEFT_TEST_LIMITS_MEMORY 1
#endif
#endif
#ifdef WEFT_TEST_LIMITS_MEMORY
#include <sys/resource.h>
#endif

namespace execute_crew_test {

using weft::execute::crew;

TEST_CASE("crew: the caller is 0, helpers have their own numbers and threads, again and again") {
  crew c{3};
  CHECK(c.size() == 3);
  std::vector<int> calls(4, 0);
  std::vector<std::thread::id> thread(4);
  auto note = [&](std::uint32_t i) {
    ++calls[i];
    thread[i] = std::this_thread::get_id();
  };
  for (int round = 1; round <= 200; ++round) {
    c.run(3, note);
    CHECK(calls == std::vector<int>(4, round)); // all are done, and their effects seen, when run returns
  }
  CHECK(thread[0] == std::this_thread::get_id());
  for (std::size_t i = 1; i < 4; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      CHECK(thread[i] != thread[j]);
    }
  }
}

TEST_CASE("crew: fewer than all, another function, nobody") {
  crew c{3};
  std::vector<int> calls(4, 0);
  auto one = [&](std::uint32_t i) { calls[i] += 1; };
  auto ten = [&](std::uint32_t i) { calls[i] += 10; };
  c.run(1, one);
  CHECK(calls == std::vector{1, 1, 0, 0});
  c.run(3, ten);
  CHECK(calls == std::vector{11, 11, 10, 10});
  c.run(0, one);
  CHECK(calls == std::vector{12, 11, 10, 10});
  crew nobody{0};
  nobody.run(0, one);
  CHECK(calls[0] == 13);
}

#ifdef WEFT_TEST_LIMITS_MEMORY
TEST_CASE("crew: if there are not enough threads, that is an exception") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit little = before;
  little.rlim_cur = 512u << 20; // stacks of about sixty threads
  REQUIRE(setrlimit(RLIMIT_AS, &little) == 0);
  bool refused = false;
  try {
    crew c{2000};
  } catch (const std::system_error&) {
    refused = true;
  }
  CHECK(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(refused);
}
#endif

} // namespace execute_crew_test
