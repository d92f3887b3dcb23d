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
#include <utility>
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

/// `op:machine=time,machine=time` of each operation.
std::string outline(const io::flexible_job_shop& shop) {
  std::ostringstream text;
  for (const op_id v : ids(shop.ops.num_ops())) {
    text << (v == 0 ? "" : " ") << shop.ops.name(v);
    char sign = ':';
    for (const auto& [machine, time] : shop.cost.of(v)) {
      text << std::exchange(sign, ',') << machine << '=' << time;
    }
  }
  return text.str();
}

void check_all(const std::vector<weft_test::outlined>& files) {
  for (const auto& [text, expected] : files) {
    CAPTURE(text);
    CHECK(io::model_from(text, "in").format == "job shop");
    CHECK(outline(io::read_job_shop(text, "in")) == expected);
  }
}

TEST_CASE("job shops: one machine per operation, as the sets of OR-Library, JSPLIB and Taillard have it") {
  const std::string plain = "1.1:1=3 1.2:0=5 1.3:2=2 2.1:0=4 2.2:2=6 2.3:1=1";
  const std::string rows = " 1 3 0 5 2 2\n 0 4 2 6 1 1\n";
  check_all({
    {"2 3\n" + rows, plain},
    {"2\t3\r\n1\t3\t0\t5\t2\t2\r\n0\t4\t2\t6\t1\t1\r\n\r\n", plain},
    {"#+++++++\n# instance ab12\n# Some authors 2x3 instance (Table 1)\n2 3\n" + rows, plain},
    {" instance ab12\n\n ++++++++++++\n Some authors 2x3 instance (Table 1, instance 5)\n 2 3\n" + rows +
       " ++++++++++++\n",
     plain},
    {"\n+++\n instance ab12\n\n+++\n Authors, alternate name (x)\n 2 3\n" + rows + "+++\n EOF +++\n", plain},
    {"2 3\n2 3 1 5 3 2\n1 4 3 6 2 1\n", plain}, // machines from 1
    {"Nb of jobs, Nb of Machines, Time seed, Machine seed, Upper bound, Lower bound :\n"
     "          2          3   840612802   398197754        12        10\nTimes\n  3  5  2\n  4  6  1\nMachines\n"
     "  2  1  3\n  1  3  2\n",
     plain},
    {"2 3\nTimes\n3 5 2\n4 6 1\nMachines\n2 1 3\n1 3 2\n", plain},
    {"2 3\nTimes\n3 5 2\n4 6 1\nMachines\n1 0 2\n0 2 1\n", plain},
    {"1991 was the year of these\n7 files\n2 3 11\n" + rows, plain},
    {"2 2\n0 3 1 2.5\n1 4 0 1\n", "1.1:0=3 1.2:1=2.5 2.1:1=4 2.2:0=1"},
    {"3 3\n0 3 1 2\n2 4\n1 1 0 1 1 2\n", "1.1:0=3 1.2:1=2 2.1:2=4 3.1:1=1 3.2:0=1 3.3:1=2"}, // not each on all
  });
}

TEST_CASE("job shops: flexible ones, with machines from 1 and from 0") {
  check_all({
    {small, "1.1:0=3 1.2:0=1,1=4 2.1:0=2,1=2.5 2.2:1=2"},
    {"2 2\n2 1 1 3 2 1 1 2 4\n2 2 1 2 2 2.5 1 2 2\n", "1.1:0=3 1.2:0=1,1=4 2.1:0=2,1=2.5 2.2:1=2"},
    {"2 2\n2 1 0 3 2 0 1 1 4\n2 2 0 2 1 2.5 1 1 2\n", "1.1:0=3 1.2:0=1,1=4 2.1:0=2,1=2.5 2.2:1=2"},
    {"2 2 1.5\n2 1 0 3 2 0 1 1 4\n2 2 0 2 1 2.5 1 1 2\n", "1.1:0=3 1.2:0=1,1=4 2.1:0=2,1=2.5 2.2:1=2"},
    {"2 3 2\n1 2 1 7 2 8\n1 2 0 3 1 4\n", "1.1:1=7,2=8 2.1:0=3,1=4"}, // 0 comes late
    {"2 3 2\n1 2 1 7 2 8\n1 2 2 3 3 4\n", "1.1:0=7,1=8 2.1:1=3,2=4"},
    {"1 1 1\n3 1 1 3 1 1 4 1 1 5\n", "1.1:0=3 1.2:0=4 1.3:0=5"},
    {"1 3 3\n1 3 0 2 1 3 2 4\n", "1.1:0=2,1=3,2=4"},
    {"# set, mean 1\n1\t6\t1\n2\t1\t6\t3\t1\t2\t4\n", "1.1:5=3 1.2:1=4"},
    {"  2   2   2.0\n  1   2   1   5   2   6   \n  1   1   2   4   \n", "1.1:0=5,1=6 2.1:1=4"},
  });
  CHECK(io::read_job_shop("1 3 3\n1 3 0 2 1 3 2 4\n", "in").notes ==
        std::vector<std::string>{"machines are numbered from 0"});
  CHECK(io::read_job_shop(small, "in").notes.empty());
}

TEST_CASE("job shops: JSON of lists and of matrices") {
  check_all({
    {R"({"name": "x", "duration_matrix": [[3, 5], [4, 1]], "machines_matrix": [[1, 0], [0, 1]],
        "metadata": {"optimum": 9}})",
     "1.1:1=3 1.2:0=5 2.1:0=4 2.2:1=1"},
    {R"({"name": "x", "duration_matrix": [[3], [4]], "machines_matrix": [[[0, 1]], [[1]]]})", "1.1:0=3,1=3 2.1:1=4"},
    {R"({"x": {"duration_matrix": [[3]], "machines_matrix": [[0]]}})", "1.1:0=3"},
    {R"({"jobs": [[{"machine": 1, "duration": 3}, {"machine": 0, "duration": 5}], [{"machine": 0, "duration": 4}]]})",
     "1.1:1=3 1.2:0=5 2.1:0=4"},
    {R"({"name": "x", "n_machines": 3, "n_jobs": 1, "jobs": [{"id": 0, "operations": [{"machine": 0, "duration": 3},
        {"machine": 2, "duration": 1.5}]}]})",
     "1.1:0=3 1.2:2=1.5"},
    {R"({"machines": 2, "jobs": [[{"alternatives": [{"machine": 0, "duration": 3}, {"machine": 1, "duration": 5}]}],
        [{"machine": 1, "duration": 4}]]})",
     "1.1:0=3,1=5 2.1:1=4"},
    {R"({"machines": ["saw", "mill"], "jobs": [{"name": "a", "tasks": [{"machine": "mill", "processing_time": 3},
        {"machines": ["saw", "mill"], "durations": [1, 2]}]}]})",
     "1.1:1=3 1.2:0=1,1=2"},
    {"[[[0, 3], [1, 2]], [[1, 4]]]", "1.1:0=3 1.2:1=2 2.1:1=4"},
    {"[[[[3, 0], [0, 1]]], [[[4, 1]]]]", "1.1:3=0,0=1 2.1:4=1"}, // lists of alternatives
    {R"({"machines": 2, "jobs": [{"operations": [{"machines": [1, 2], "duration": 7}, {"machine": 2, "time": 1}]}]})",
     "1.1:0=7,1=7 1.2:1=1"}, // machines from 1
  });
  const auto named = io::read_job_shop(R"({"jobs": [[{"machine": "saw", "duration": 1, "due": 4}]]})", "in");
  CHECK(named.devices.name(0) == "saw");
  CHECK(named.notes == std::vector<std::string>{"not read: due"});
  CHECK_FALSE(io::job_shop_reader::recognises(R"({"jobs": 3, "machines": 2})"));
  CHECK_FALSE(io::job_shop_reader::recognises(R"([{"name": "x", "jobs": 3, "path": "instances/x"}])"));
  CHECK_FALSE(io::job_shop_reader::recognises("[1]"));
}

TEST_CASE("job shops: errors in JSON name the value") {
  CHECK(refusal(R"({"a": {"machines_matrix": [], "duration_matrix": []}, "b": {"machines_matrix": []}})") ==
        "in:1: a collection of 2 job shops (a, b); put one of them into a file of its own");
  CHECK(refusal(R"({"jobs": [[{"machine": 0}]]})") == "in:1: /jobs/0/0: the key 'duration' is missing");
  CHECK(refusal(R"({"jobs": [[{"duration": 2}]]})") ==
        "in:1: /jobs/0/0: an operation has a 'machine' and a 'duration', or 'alternatives' of them");
  CHECK(refusal(R"({"jobs": [[{"machine": 0, "duration": -1}]]})").find("a number that is not negative") !=
        std::string::npos);
  CHECK(refusal(R"({"jobs": [[{"alternatives": []}]]})") == "in:1: /jobs/0/0: no machine can do this operation");
  CHECK(refusal("[[[[0, 1], [0, 2]]]]") == "in:1: /0/0/1/0: the operation has this machine twice");
  CHECK(refusal("[[[0, 3], 7]]") == "in:1: /0/1: expected an object, found 7");
  CHECK(refusal(R"({"machines": 1, "jobs": [[[0, 3], [1, 2]]]})") ==
        "in:1: there are 1 machines, but operations name machine 1, numbered from 0");
  CHECK(refusal(R"({"jobs": [[{"machine": "a", "duration": 1}, {"machine": 0, "duration": 1}]]})") ==
        "in:1: some machines are named and some numbered; use one way for all");
  CHECK(refusal(R"({"duration_matrix": [[1, 2]], "machines_matrix": [[0]]})").find("for each of 2 operations") !=
        std::string::npos);
}

TEST_CASE("job shops: what looks like one is read as one, not as a hyperdag or a task graph") {
  const auto told = [](const std::string& text) {
    return std::string{weft_test::parse_error_of([&] { (void)io::model_from(text, "in"); }).what()};
  };
  CHECK(told("2 3 2\n1 2 0 7 2 8\n1 2 3 3 1 4\n") ==
        "in:3: operation 1 of job 2 has machine 3; machines are numbered from 0 to 2");
  CHECK(told("2 3 2\n2 2 0 7 2 8\n1 2 0 3 1 4\n") == "in:2: number of machines is missing: the line ends before it");
  CHECK(told("2 3\n0 1 1 2 3 4\n1 1 0 2 2 4\n") ==
        "in:2: operation 3 of job 1 has machine 3; machines are numbered from 0 to 2");
  CHECK(told("x\n1 2\n0 1 1 2\nx\n1 2\n0 1 1 2\n") == "in:5: another instance begins here; keep one of them in a file");
  CHECK(told("1 2\nTimes\n1 2\n3 4\n").find("'Machines'") != std::string::npos);
  CHECK(told("1 2\nTimes\n1 2\nMachines\n1\n") ==
        "in:5: the matrix of machines must have 1 rows of 2 numbers");
  CHECK(io::model_from("2 3 5\n0 0\n0 1\n1 1\n1 2\n0 2\n", "in").format == "HyperDAG");
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
  CHECK(refusal("1 2 x\n") == "in:1: expected 'jobs machines' or 'jobs machines alternatives' on the first line, got "
                              "'1 2 x'");
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
