// SPDX-License-Identifier: BSL-1.0
#include "weft/io/job_shop.hpp"
#include "io/support.hpp"
#include "weft/cost/tabulated.hpp"
#include "weft/io/read.hpp"
#include "weft/partition/heft.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/pipeline.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace job_shop_test {

using namespace weft;
using entries = std::vector<cost::alternatives::entry>;

// The first job's second operation takes 1 on the first machine, where the second job is the quicker, too.
constexpr const char* small = "2 2 1.5\r\n"
                              "2  1 1 3  2 1 1 2 4\n"
                              "\n"
                              "2  2 1 2 2 2.5  1 2 2  \n";

entries of(const io::flexible_job_shop& shop, op_id v) {
  const auto all = shop.cost.of(v);
  return {all.begin(), all.end()};
}

std::string refusal(const std::string& text) {
  return weft_test::parse_error_of([&] { (void)io::read_job_shop(text, "in"); }).what();
}

TEST_CASE("job shops: jobs are chains, machines are devices") {
  const auto shop = io::read_job_shop(small, "in");
  CHECK(shop.devices.num_devices() == 2);
  REQUIRE(shop.ops.num_ops() == 4);
  CHECK(shop.ops.name(3) == "2.2");
  CHECK(shop.ops.work(1) == 1);
  CHECK(of(shop, 0) == entries{{0, 3}});
  CHECK(of(shop, 1) == entries{{0, 1}, {1, 4}});
  CHECK(of(shop, 2) == entries{{0, 2}, {1, 2.5}});
  CHECK(of(shop, 3) == entries{{1, 2}});
  CHECK(shop.ops.inputs(0).empty());
  REQUIRE(shop.ops.inputs(1).size() == 1);
  CHECK(shop.ops.producer(shop.ops.inputs(1).front()) == 0);
  CHECK(shop.ops.inputs(2).empty());
}

TEST_CASE("job shops: the best plan of a small one") {
  const auto shop = io::read_job_shop(small, "in");
  const problem p{shop.ops, shop.devices, cost::tabulated{shop.cost, shop.ops, shop.devices}};
  const auto best = solve::best(p, {.moves = 10'000});
  CHECK(best.makespan == 4.5); // the second job on the second machine; the first one takes 4 on the first
  CHECK(best.gap() == 0);
  const auto heft = pipeline(partition::heft{}, schedule::path_completion_time{})(shop.problem());
  CHECK(heft.makespan >= 4.5);
}

TEST_CASE("job shops: recognised among the other formats, and what is left out is said") {
  CHECK(io::job_shop_reader::recognises(small));
  const auto m = io::model_from(small, "in");
  CHECK(m.format == io::job_shop_reader::format());
  CHECK(m.unit == work_unit::own);
  CHECK(m.ops.num_ops() == 4);
  REQUIRE(m.notes.size() == 1);
  CHECK_FALSE(io::job_shop_reader::recognises(""));
  CHECK_FALSE(io::job_shop_reader::recognises("2 2"));
  CHECK_FALSE(io::job_shop_reader::recognises("3\n0 0 0\n1 2 1 0\n"));         // a task graph
  CHECK_FALSE(io::job_shop_reader::recognises("2 3 4\n0 0\n0 1\n1 1\n1 2\n")); // a hyperdag
  CHECK_FALSE(io::job_shop_reader::recognises("4 1 5\n0 0 0\n0 1 1\n"));       // a machine of one
}

TEST_CASE("job shops: errors name the line") {
  CHECK(refusal("") == "in: expected 'jobs machines' or 'jobs machines alternatives' on the first line");
  CHECK(refusal("2\n") == "in:1: expected 'jobs machines' or 'jobs machines alternatives' on the first line, got '2'");
  CHECK(refusal("1 0\n") == "in:1: there must be 1 to 1000 machines, not 0");
  CHECK(refusal("1 5000\n") == "in:1: there must be 1 to 1000 machines, not 5000");
  CHECK(refusal("2 1\n1 1 1 1\n") == "in:2: the first line says 2 jobs, but only 1 follow");
  CHECK(refusal("1 1\n1 1 1 1\n1 1 1 1\n") == "in:3: the first line says 1 jobs, but more lines follow");
  CHECK(refusal("1 2\n1 3 1 1\n") == "in:2: operation 1 of job 1 must have 1 to 2 machines, not 3");
  CHECK(refusal("1 2\n1 1 3 1\n") == "in:2: operation 1 of job 1 has machine 3; machines are numbered from 1 to 2");
  CHECK(refusal("1 2\n1 2 1 1 1 2\n") == "in:2: operation 1 of job 1 has machine 1 twice");
  CHECK(refusal("1 2\n1 1 1\n") == "in:2: time is missing: the line ends before it");
  CHECK(refusal("1 2\n1 1 1 -3\n").find("is negative") != std::string::npos);
  CHECK(refusal("1 2\n1 1 1 1e301\n").find("must take a finite number") != std::string::npos);
  CHECK(refusal("1 2\n1 1 1 2 7\n") == "in:2: job 1 says 1 operations, but after them follows '7'");
  CHECK(refusal("1 2 x\n").find("mean number of alternatives 'x' is not a number") != std::string::npos);
}

#ifdef WEFT_REFERENCE_DATA

TEST_CASE("job shops: published instances, between the published bounds") {
  const std::filesystem::path data{WEFT_REFERENCE_DATA};
  std::ifstream in{data / "reference/fjsp.csv"};
  REQUIRE(in);
  std::string line;
  std::getline(in, line);
  std::size_t count = 0;
  while (std::getline(in, line)) {
    std::istringstream fields{line};
    std::vector<std::string> row;
    for (std::string field; std::getline(fields, field, ',');) {
      row.push_back(field);
    }
    REQUIRE(row.size() == 5);
    CAPTURE(row[0]);
    const auto shop = io::read_job_shop(data / "data/fjsp" / (row[0] + ".txt"));
    const problem p{shop.ops, shop.devices, cost::tabulated{shop.cost, shop.ops, shop.devices}};
    const auto heft = pipeline(partition::heft{}, schedule::path_completion_time{})(p);
    CHECK(heft.makespan >= std::stod(row[3]));
    CHECK(heft.bound.value <= std::stod(row[4]) * (1 + 1e-9)); // sums are rounded
    ++count;
  }
  CHECK(count > 100);
}

#else

TEST_CASE("job shops: published instances, between the published bounds") {
  MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
}

#endif

} // namespace job_shop_test
