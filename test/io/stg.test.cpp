// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/io/read.hpp"
#include "weft/io/stg.hpp"
#include "weft/problem.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace io_stg_test {

using namespace weft;

workload read(const std::string& text) {
  std::istringstream in{text};
  return io::read_workload_stg(in, "graph.stg");
}

std::string written(const workload& w) {
  std::ostringstream out;
  io::write_workload_stg(out, w);
  return out.str();
}

/// What a reader says about a text.
std::string error_of(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const parse_error& e) {
    return e.what();
  }
  return "no error";
}

constexpr const char* diamond = "  4\n"
                                "  0  0  0\n"
                                "  1  3  1  0\n"
                                "  2  4  1  1\r\n"
                                "  3\t5\t1\t1\n"
                                "  4  2  2  2  3\n"
                                "  5  0  1  4\n"
                                "# Standard Task Graph Set Project\n"
                                "#   Tasks : 4\n";

std::vector<op_id> predecessors(const workload& w, op_id v) {
  std::vector<op_id> list;
  for (const tensor_id t : w.inputs(v)) {
    list.push_back(w.producer(t));
  }
  return list;
}

TEST_CASE("read_workload_stg: tasks with both dummies become ops of the same numbers") {
  const workload w = read(diamond);
  REQUIRE(w.num_ops() == 6);
  const double times[] = {0, 3, 4, 5, 2, 0};
  for (op_id v = 0; v < 6; ++v) {
    CHECK(w.work(v) == times[v]);
    CHECK(w.kinds(v).is_all());
    CHECK(w.group(v) == none);
    CHECK(w.resident_bytes(v) == 0);
  }
  CHECK(predecessors(w, 4) == std::vector<op_id>{2, 3});
  CHECK(predecessors(w, 0).empty());
  CHECK(predecessors(w, 5) == std::vector<op_id>{4});
  for (tensor_id t = 0; t < w.num_tensors(); ++t) {
    CHECK(w.bytes(t) == 0);
  }
}

TEST_CASE("read_workload_stg: some files count the dummies as tasks") {
  CHECK(read("3\n0 0 0\n1 7 1 0\n2 0 1 1\n").num_ops() == 3);
  CHECK(read("1\n0 0 0\n1 7 1 0\n2 0 1 1\n").num_ops() == 3);
  CHECK(read("0\n0 0 0\n1 0 1 0\n").num_ops() == 2);
}

TEST_CASE("read_workload_stg: with processors, deadlines and costs of communication, as various programs write them") {
  for (const auto& [text, outline] : std::vector<weft_test::outlined>{
         {"          2\n          0          0          0\n          1         20          1          0\n"
          "          2          3          1          1\n          3          0          1          2\n"
          "#\n# Standard Task Graph Set Project\n# CP Length : 23\n",
          "0,20,3,0 0>1:0 1>2:0 2>3:0"},
         {"2 4\n0 0 0\n1 20 1 0\n2 3 1 1\n3 0 1 2\n", "0,20,3,0 0>1:0 1>2:0 2>3:0"},
         {"4\t2\r\n0\t0\t0\r\n1\t20\t1\t0\r\n2\t3\t1\t0\r\n3\t0\t2\t1\t2\r\n", "0,20,3,0 0>1:0 0>2:0 1>3:0 2>3:0"},
         {"2 2\n0 0 0 0\n1 20 1 0 30\n2 3 1 1 40\n3 0 1 2 40\n", "0,20,3,0 0>1:0 1>2:0 2>3:0"}, // deadlines last
         {"2 2 100\n0 0 0\n1 20 1 0\n2 3 1 1\n3 0 1 2\n", "0,20,3,0 0>1:0 1>2:0 2>3:0"},     // one of all
         {"3 2\n0 0 9 0\n1 20 30 1 0\n2 3 40 2 0 1\n", "0,20,3 0>1:0 0>2:0 1>2:0"},        // … after the time
         {"# tasks, processors\n4 2\n0 0 0\n1 20 1\n0 5\n2 3 1\n0 7\n3 1 2 # the last\n1 0\n2 4\n# status: 23\n",
          "0,20,3,1 0>1:5 0>2:7 1>3:0 2>3:4"}, // costs below
         {"4\n0 0 0\n1 20 1\n0 5\n2 3 1\n0 7\n3 1 2\n1 0\n2 4\n", "0,20,3,1 0>1:5 0>2:7 1>3:0 2>3:4"},
         {"3 2\n0 0 0\n1 20 1 0 5\n2 3 2 0 2 1 2.5\n", "0,20,3 0>1:5 0>2:2 1>2:3"}, // costs beside
         {"3 2\n0 0 0 50\n1 20 1 60\n0 5\n2 3 1 70\n1 6\n", "0,20,3 0>1:5 1>2:6"}, // both
       }) {
    CAPTURE(text);
    const auto m = io::model_from(text, "s");
    CHECK(m.format == "Standard Task Graph");
    CHECK(weft_test::outline(m.ops) == outline);
  }
  const auto notes = io::stg_reader::read("2 4\n0 0 0 9\n1 20 1 0 9\n", "s").notes;
  REQUIRE(notes.size() == 3);
  CHECK(notes[1] == "the file is meant for 4 processors");
  CHECK(notes[2] == "deadlines are left out");
}

TEST_CASE("stg: two numbers on the first line are those of tasks and processors only before tasks") {
  CHECK(io::stg_reader::recognises("2 2\n0 0 0\n1 1 7 0\n"));       // says what is wrong with it
  CHECK_FALSE(io::stg_reader::recognises("2 2\n0 5 1 3\n1 2 0 4\n")); // a job shop
  CHECK_FALSE(io::stg_reader::recognises("2 2\n1 1 1 3\n"));
  CHECK_FALSE(io::stg_reader::recognises("2 1 0\n0 0 0\n0 1 1\n1 0 1\n1 1 0\n")); // a machine
  CHECK_FALSE(io::stg_reader::recognises("1 2 2\n0 0\n0 1\n"));                     // a hyperdag
  CHECK(error_of("2 2\n0 0 0\n1 1 1 0\n2 1 1 9\n3 0 1 2\n") ==
        "graph.stg:4: predecessor 9 does not exist; the last task is 3");
  CHECK(error_of("1 2 3 4\n0 0 0\n").find("expected the number of tasks on the first line") != std::string::npos);
  CHECK(error_of("2 2\n0 0 0\n1 1 1\n0 1e300\n").find("graph.stg:4: communication cost") != std::string::npos);
}

TEST_CASE("read_workload_stg: predecessors may come later in the file") {
  const workload w = read("2\n0 0 0\n1 2 1 2\n2 3 1 0\n3 0 1 1\n");
  CHECK(predecessors(w, 1) == std::vector<op_id>{2});
}

TEST_CASE("read_workload_stg: errors name the line and what to do") {
  CHECK(error_of("").find("number of tasks is missing") != std::string::npos);
  CHECK(error_of("# only a comment\n").find("number of tasks is missing") != std::string::npos);
  CHECK(error_of("2 3\n").find("graph.stg:1") != std::string::npos);
  CHECK(error_of("x\n").find("is not a") != std::string::npos);
  CHECK(error_of("-1\n").find("negative") != std::string::npos);
  CHECK(error_of("1\n0 0 0\n").find("says 1 tasks, so 3 lines") == std::string::npos); // counts the dummies
  CHECK(error_of("2\n0 0 0\n").find("so 4 lines") != std::string::npos);
  CHECK(error_of("4294967295\n0 0 0\n").find("4294967297 lines") != std::string::npos);
  CHECK(error_of("1\n0 0 0\n2 1 0\n").find("expected task 1") != std::string::npos);
  CHECK(error_of("1\n0 0 0\n1 1\n").find("graph.stg:3") != std::string::npos);
  CHECK(error_of("1\n0 0 0\n1 1 2 0\n").find("says 2 predecessors, but 1") != std::string::npos);
  CHECK(error_of("1\n0 0 0\n1 -1 1 0\n").find("negative") != std::string::npos);
  CHECK(error_of("1\n0 0 0\n1 inf 1 0\n").find("not a finite number") != std::string::npos);
  CHECK(error_of("1\n0 0 0\n1 1 1 7\n2 0 1 1\n").find("predecessor 7 does not exist") != std::string::npos);
  CHECK(error_of("1\n0 0 0\n1 1 2 0 0\n2 0 1 1\n").find("twice") != std::string::npos);
  const auto cycle = error_of("2\n0 0 0\n1 1 1 2\n2 1 1 1\n3 0 1 2\n");
  CHECK(cycle.find("cycle") != std::string::npos);
  CHECK(error_of("1\n0 0 0\n1 1 1 1\n2 0 1 1\n").find("cycle") != std::string::npos);
}

TEST_CASE("read_workload_stg: a file that is not there") {
  CHECK_THROWS_AS(io::read_workload_stg(std::filesystem::path{"no/such.stg"}), error);
}

TEST_CASE("write_workload_stg: what was read is written") {
  const auto text = written(read(diamond));
  CHECK(text == "4\n0 0 0\n1 3 1 0\n2 4 1 1\n3 5 1 1\n4 2 2 2 3\n5 0 1 4\n");
  CHECK(written(read(text)) == text);
}

TEST_CASE("write_workload_stg: adds dummies where there are none") {
  workload_builder b;
  b.add_op({.work = 1.5, .bytes = 8});
  b.add_op({.work = 2});
  b.add_op({.work = 3});
  b.add_edge(0, 2);
  b.add_control_edge(0, 2);
  CHECK(written(std::move(b).build()) == "3\n0 0 0\n1 1.5 1 0\n2 2 1 0\n3 3 1 1\n4 0 2 2 3\n");
  CHECK(written(workload_builder{}.build()) == "0\n0 0 0\n1 0 1 0\n");
}

TEST_CASE("write_workload_stg: refuses ops that come before what they wait for") {
  workload_builder b;
  b.add_op({.work = 1});
  b.add_op({.work = 1});
  b.add_control_edge(1, 0);
  const auto w = std::move(b).build();
  CHECK_THROWS_AS(written(w), value_error);
}

TEST_CASE("presets::identical: a time unit per unit of work, and moving is free") {
  const auto w = read(diamond);
  const auto q = presets::identical(3);
  const problem p{w, q};
  CHECK(p.num_devices() == 3);
  for (device_id d = 0; d < 3; ++d) {
    CHECK(p.compute_time(3, d) == 5);
    CHECK(p.transfer_time(1, 0, d) == 0);
    CHECK(p.send_time(1, 0, d) == 0);
  }
  CHECK_THROWS_AS(presets::identical(5000), value_error);
}

#ifdef WEFT_REFERENCE_DATA
TEST_CASE("read_workload_stg: as many ops and edges as an independent program finds") {
  const std::filesystem::path root{WEFT_REFERENCE_DATA};
  if (root.empty()) {
    MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
    return;
  }
  std::ifstream in{root / "reference" / "input_stats.csv"};
  std::string line;
  int files = 0;
  while (std::getline(in, line)) {
    const auto fields = io::split(line, ',');
    if (fields[0].find("stg/") == std::string_view::npos) {
      continue;
    }
    CAPTURE(line);
    const auto w = io::read_workload_stg(root / std::string{fields[0]});
    std::size_t edges = 0;
    for (op_id v = 0; v < w.num_ops(); ++v) {
      edges += w.inputs(v).size();
    }
    CHECK(std::to_string(w.num_ops()) == fields[1]);
    CHECK(std::to_string(edges) == fields[2]);
    ++files;
  }
  CHECK(files > 100);
}
#endif

} // namespace io_stg_test
