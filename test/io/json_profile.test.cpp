// SPDX-License-Identifier: BSL-1.0
#include "json_samples.hpp"
#include "support.hpp"

#include "weft/io/json_profile.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

namespace io_json_profile_test {

namespace io = weft::io;
using weft::affinity;
using weft::concurrency::profile;

TEST_CASE("json_profile: every wrong file is refused with file, line, path and reason") {
  for (const auto& sample : weft_test::wrong_profiles()) {
    const auto e = weft_test::parse_error_of([&] {
      std::istringstream in{sample.text};
      (void)io::read_profile_json(in, "x.json");
    });
    const std::string what = e.what();
    CAPTURE(sample.name);
    CAPTURE(what);
    CHECK(e.line == sample.line);
    CHECK(what.find("x.json:" + std::to_string(sample.line) + ": " + sample.path) == 0);
    CHECK(what.find(sample.phrase) != std::string::npos);
  }
}

TEST_CASE("json_profile: random profiles come back as they were written") {
  weft::rng random{4};
  for (int i = 0; i < 200; ++i) {
    profile p;
    for (auto left = random.below(40); left > 0; --left) {
      p.record({"machine " + std::to_string(random.below(2)), "op \"" + std::to_string(random.below(5)) + "\"\n",
                1 + random.below(8), random.below(2) == 0 ? affinity::packed : affinity::spread},
               random.uniform(1e-9, 1));
    }
    const auto text = weft_test::text_of([&](std::ostream& out) { io::write_profile_json(out, p); });
    std::istringstream in{text};
    REQUIRE(io::read_profile_json(in) == p);
  }
}

TEST_CASE("json_profile: a profile of another machine is told apart") {
  profile p;
  p.record({"the old server", "MatMul", 2, affinity::packed}, 1e-3);
  std::istringstream in{weft_test::text_of([&](std::ostream& out) { io::write_profile_json(out, p); })};
  const auto again = io::read_profile_json(in);
  CHECK(again.warning_for("the old server").empty());
  CHECK(again.warning_for("this one").find("'the old server'") != std::string::npos);
}

} // namespace io_json_profile_test
