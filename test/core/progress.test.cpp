// SPDX-License-Identifier: BSL-1.0
#include "weft/core/progress.hpp"
#include "weft/core/budget.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using weft::progress;
using weft::progress_callback;

double told = 0;
void tell(const progress& x) { told = x.best; }

static_assert(std::is_aggregate_v<weft::budget>);
static_assert(std::is_nothrow_copy_constructible_v<progress_callback>);
constexpr weft::budget constant{.moves = 3, .on_progress = nullptr};
static_assert(!constant.on_progress);

TEST_CASE("progress callback: temporaries, functions, what cannot be copied, and what is called otherwise") {
  std::vector<double> heard;
  const weft::budget of_temporary{.on_progress = [&](const progress& x) { heard.push_back(x.best); }};
  of_temporary.on_progress({.best = 1});
  progress_callback f = [&, own = std::make_unique<double>(2)](const progress&) { heard.push_back(*own); };
  f({});
  f = [&](progress x) {
    heard.push_back(x.best);
    return heard.size(); // ignored
  };
  f({.best = 3});
  f = tell;
  f({.best = 4});
  CHECK(told == 4);
  f = std::function<void(const progress&)>{tell};
  f({.best = 5});
  CHECK(told == 5);
  CHECK(heard == std::vector<double>{1, 2, 3});
  struct into { // could be made from nullptr, and is no pointer
    double* where;
    void operator()(const progress& x) const { *where = x.best; }
  };
  double last = 0;
  f = into{&last};
  f({.best = 6});
  CHECK(last == 6);
}

TEST_CASE("progress callback: copies call the same, which ends with the last of them") {
  const auto life = std::make_shared<int>(0);
  progress_callback f = [life](const progress&) mutable { ++*life; };
  CHECK(life.use_count() == 2);
  {
    const progress_callback g = f;
    progress_callback h = std::move(f);
    CHECK(life.use_count() == 2);
    g({});
    h({});
    f = h;
    h = nullptr;
    f({});
  }
  CHECK(*life == 3);
  CHECK(life.use_count() == 2);
  f = {};
  CHECK(life.use_count() == 1);

  auto count = [n = 0](const progress&) mutable { return ++n; };
  f = std::ref(count);
  f({});
  CHECK(count({}) == 2);
}

TEST_CASE("progress callback: none") {
  CHECK(!progress_callback{});
  CHECK(!progress_callback{nullptr});
  CHECK(!progress_callback{std::function<void(const progress&)>{}});
  CHECK(!progress_callback{static_cast<void (*)(const progress&)>(nullptr)});
  CHECK(progress_callback{[](const progress&) {}});
  weft::budget_meter meter{{.target = 2}};
  CHECK(meter.improved(2));
}

TEST_CASE("progress callback: what it throws reaches whoever searches") {
  weft::budget_meter meter{{.on_progress = [](const progress&) { throw std::runtime_error{"enough"}; }}};
  CHECK_THROWS_WITH(meter.improved(1), "enough");
}

} // namespace
