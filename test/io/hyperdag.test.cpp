// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/io/bsp_machine.hpp"
#include "weft/io/hyperdag.hpp"
#include "weft/io/read.hpp"

#include <doctest/doctest.h>

#include <string>

namespace io_hyperdag_test {

using namespace weft;

model read(const std::string& text) {
  return io::hyperdag_reader::read(text, "g.hdag");
}
platform<> machine(const std::string& text) {
  return io::bsp_machine_reader::read(text, "m.arch");
}

const std::string three_parts = "%% HyperdagDB\n2 4 5\n% Hyperedges: id communication memory\n1 5\n0 7 3\n"
                                "% Vertices\n3 4 2\n0 1 0\n1 2.5 1 % two\n2\n% Pins\n0 0\n0 1\n1 2\n0 2\n1 3\n";

TEST_CASE("hyperdag: hyperedges are tensors, first pins producers") {
  const auto m = read(three_parts);
  CHECK(m.format == "HyperDAG");
  CHECK(m.seconds.empty());
  REQUIRE(m.ops.num_ops() == 4);
  REQUIRE(m.ops.num_tensors() == 2);
  CHECK(m.ops.work(0) == 1);
  CHECK(m.ops.work(1) == 2.5);
  CHECK(m.ops.work(2) == 1); // none is given
  CHECK(m.ops.work(3) == 4);
  CHECK(m.ops.type(1) == "1");
  CHECK(m.ops.type(0).empty());
  CHECK(m.ops.bytes(0) == 7);
  CHECK(m.ops.bytes(1) == 5);
  CHECK(m.ops.producer(1) == 2);
  CHECK(std::ranges::equal(m.ops.consumers(0), std::vector<op_id>{1, 2}));
  REQUIRE(m.notes.size() == 2);
  CHECK(m.notes[1].starts_with("1 hyperedge has another weight for memory"));
}

TEST_CASE("hyperdag: older files have pins first and weights at nodes, or no weights") {
  const auto m = read("2 3 5\n0 0\n0 1\n1 1\n1 2\n0 2\n0 1 4\n2 3 6\n1 2 5\n");
  CHECK(m.ops.bytes(0) == 4);
  CHECK(m.ops.bytes(1) == 5);
  CHECK(m.ops.work(2) == 3);
  const auto plain = read("1 2 2\n0 1\n0 0\n");
  CHECK(plain.ops.work(0) == 1);
  CHECK(plain.ops.bytes(0) == 1);
  CHECK(plain.ops.producer(0) == 1);
}

TEST_CASE("hyperdag: with and without a header of the Matrix Market and a line that tells the version") {
  const std::string banner = "%%MatrixMarket weighted-matrix coordinate pattern general\n";
  const std::string pattern = "%%MatrixMarket matrix coordinate pattern general\n";
  const std::string body = "1 3 3\n0 7\n0 2\n1 3\n2 4\n0 0\n0 1\n0 2\n";
  const std::string weighted = "2,3,4 0>1:7 0>2:7";
  const std::string types = "%\t There are 1 unique source vertex types present in this graph. An index follows:\n"
                            "%\t\t 1: container\n";
  for (const auto& [text, outline] : std::vector<weft_test::outlined>{
         {body, weighted},
         {banner + body, weighted},
         {pattern + body, weighted},
         {banner + "% HyperDAG file format v1\n% from somewhere\n" + body, weighted},
         {"% HyperDAG file format v1\n" + body, weighted},
         {pattern + "1 3 3\n0 0\n0 1\n0 2\n", "1,1,1 0>1:1 0>2:1"}, // pins only, from 0
         {banner + "2 3 4\n1 1\n1 2\n0 0\n0 1\n", "1,1,1 0>1:1 1>2:1"},
         {banner + types + "1 3 3\n0 % no additional data on hyperedges at present\n"
                           "0 1 0 % source vertex of type container no. 0\n1 50 0 % operation\n2 103 0 % output\n"
                           "0 0\n0 1\n0 2\n",
          "1,1,1 0>1:1 0>2:1"},
         {"%%MatrixMarket matrix coordinate real general\n" + body, weighted},
         {pattern + "%comment\n1 3 3\n0 0\n0 1\n0 2\n0 2 5\n1 3 6\n2 4 7\n", "2,3,4 0>1:5 0>2:5"}, // pins first
       }) {
    CAPTURE(text);
    const auto m = io::model_from(text, "h");
    CHECK(m.format == "HyperDAG");
    CHECK(weft_test::outline(m.ops) == outline);
  }
  CHECK(io::model_from(banner + types + "1 1 1\n0\n0 50 0\n0 0\n", "h").ops.type(0) == "50");
  for (const char* matrix : {"real general\n3 3 2\n1 1 1.5\n2 3 -1\n", "pattern general\n3 3 3\n1 1\n2 1\n3 2\n",
                             "pattern symmetric\n3 3 9\n1 1\n"}) {
    CHECK_FALSE(io::hyperdag_reader::recognises("%%MatrixMarket matrix coordinate " + std::string{matrix}));
  }
}

TEST_CASE("hyperdag: what is written reads back as the same") {
  rng random{3};
  for (int i = 0; i < 100; ++i) {
    const auto w = weft_test::random_workload(random, {.kind_sets = false, .labels = false});
    const auto written = [](const workload& x) {
      return weft_test::text_of([&](std::ostream& out) { io::write_hyperdag(out, x); });
    };
    const auto text = written(w);
    CHECK(io::hyperdag_reader::recognises(text));
    const auto copy = read(text).ops;
    REQUIRE(copy.num_tensors() == w.num_tensors());
    for (const tensor_id t : ids(w.num_tensors())) {
      CHECK(copy.bytes(t) == w.bytes(t));
      CHECK(copy.producer(t) == w.producer(t));
      CHECK(std::ranges::equal(copy.consumers(t), w.consumers(t)));
    }
    for (const op_id v : ids(w.num_ops())) {
      CHECK(copy.work(v) == w.work(v));
    }
    CHECK(written(copy) == text);
  }
}

TEST_CASE("hyperdag: what cannot be read says where and why") {
  struct sample {
    std::string text;
    std::string error;
  };
  for (const auto& [text, error] : {
         sample{"", "expected 'hyperedges nodes pins', three whole numbers"},
         sample{"% c\n1 2\n", "g.hdag:2: expected 'hyperedges nodes pins', three whole numbers, got '1 2'"},
         sample{"1 2 2\n0 0\n", "1 hyperedges, 2 nodes and 2 pins need 5 lines (4 without lines for hyperedges, 2 with "
                                "pins only), but 1 follow"},
         sample{"4000000000 4000000000 4000000000\n0 0\n", "but 1 follow"},
         sample{"1 4000000000 1\n0 0\n", "4000000000 nodes have only 1 pins"},
         sample{"4000000000 1 1\n0 0\n", "4000000000 hyperedges have only 1 pins; each needs one"},
         sample{"1 2 2\n0 0\n1 1\n", "g.hdag:3: hyperedge 1 does not exist; they are numbered from 0 and there are 1"},
         sample{"1 2 2\n0 0\n0 2\n", "g.hdag:3: node 2 does not exist"},
         sample{"1 1 1\n0\n0\n0\n", "g.hdag:4: node is missing on this line"},
         sample{"1 2 2\n0\n0\n0\n0 0\n0 1\n", "g.hdag:4: node 0 is listed twice"},
         sample{"2 1 2\n0\n0\n0\n0 0\n1 0\n", "g.hdag:3: hyperedge 0 is listed twice"},
         sample{"1 1 2\n0\n0\n0 0\n0 0\n", "g.hdag:5: node 0 produces hyperedge 0 and cannot be another pin of it"},
         sample{"2 2 2\n0\n1\n0\n1\n0 0\n0 1\n", "hyperedge 1 has no pin"},
         sample{"1 1 1\n0 -4\n0\n0 0\n", "communication weight '-4' is negative"},
         sample{"1 1 1\n0 99999999999999999999\n0\n0 0\n", "is too large"},
         sample{"2 2 4\n0\n1\n0\n1\n0 0\n0 1\n1 1\n1 0\n", "the graph has a cycle"},
         sample{"1 2 3\n0\n0\n1\n0 0\n0 1\n0 1\n", "duplicate edge op 0 -> op 1"},
         sample{"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 0.5\n", "but 1 follow"},
       }) {
    CAPTURE(text);
    const std::string what = weft_test::parse_error_of([&] { (void)read(text); }).what();
    CHECK_MESSAGE(what.find(error) != std::string::npos, what);
  }
}

TEST_CASE("bsp machine: processors, and links from g, the costs of pairs and L") {
  const auto p =
    machine("% BSP Data\n3 2 5\n% NUMA Data\n0 0 0\n0 1 1\n0 2 2.5\n1 0 0\n1 1 0\n1 2 1\n2 0 1\n2 1 1\n2 2 0\n");
  REQUIRE(p.num_devices() == 3);
  CHECK(p.kind(0) == device_kind::cpu);
  CHECK(p.speed(0) == 1);
  CHECK(p.reached_rates(0));
  CHECK(p.latency(0, 1) == 5);
  CHECK(p.bandwidth(0, 1) == 0.5);
  CHECK(p.bandwidth(0, 2) == 0.2);
  CHECK(p.bandwidth(1, 0) == std::numeric_limits<double>::infinity());
  CHECK(p.memory_capacity(2) == std::numeric_limits<byte_count>::max());
  const auto alike = machine("2 4 0 1 100");
  CHECK(alike.bandwidth(1, 0) == 0.25);
  CHECK(alike.memory_capacity(1) == 100);
  CHECK(machine("2 4 0 0 100").memory_capacity(1) == std::numeric_limits<byte_count>::max());
}

TEST_CASE("bsp machine: what cannot be read says where and why") {
  struct sample {
    std::string text;
    std::string error;
  };
  for (const auto& [text, error] : {
         sample{"", "expected 'P g L'"},
         sample{"2 1", "latency is missing on this line"},
         sample{"0 1 1", "expected 1 to 1000 processors, got 0"},
         sample{"4000000000 1 1", "expected 1 to 1000 processors, got 4000000000"},
         sample{"2 1 1 2 7", "memory limits of kind 2 are not understood"},
         sample{"2 1 1\n0 0 0\n", "2 processors need 4 lines 'i j cost', or none at all, but 1 follow"},
         sample{"2 1 1\n0 0 0\n0 1 1\n0 1 1\n1 1 0\n", "m.arch:4: the cost from 0 to 1 is listed twice"},
         sample{"1 1 1\n0 1 0\n", "m.arch:2: processor 1 does not exist"},
         sample{"2 1e300 1\n0 0 0\n0 1 1e300\n1 0 0\n1 1 0\n", "m.arch:3: communication would take forever"},
         sample{"2 0.5 1\n0 0 0\n", "but 1 follow"},
         sample{"1 1 1\n0 0 x\n", "cost 'x' is not a number"},
       }) {
    CAPTURE(text);
    const std::string what = weft_test::parse_error_of([&] { (void)machine(text); }).what();
    CHECK_MESSAGE(what.find(error) != std::string::npos, what);
  }
}

TEST_CASE("bsp machine: machines and graphs are told apart") {
  const auto is_machine = [](const std::string& text) {
    CHECK(io::bsp_machine_reader::recognises(text) != io::hyperdag_reader::recognises(text));
    return io::bsp_machine_reader::recognises(text);
  };
  CHECK(is_machine("% BSP Data\n3 3 5\n"));
  CHECK(io::bsp_machine_reader::recognises("% BSP Data\n3 0.5 1e-3\n"));
  CHECK(is_machine("2 1 0\n0 0 0\n0 1 1\n1 0 1\n1 1 0\n"));
  CHECK_FALSE(is_machine(three_parts));
  CHECK_FALSE(is_machine("% HyperDAG of a BSP algorithm\n1 2 2\n0 0\n0 1\n"));
  CHECK_FALSE(is_machine("2 1 1\n0\n1\n0\n0 0\n")); // as many lines as two processors have pairs
  for (const char* text : {"", "1 2", "1 2 x", "-1 2 3", "1,2,3", "99999999999 1 1"}) {
    CHECK_FALSE(io::bsp_machine_reader::recognises(text));
    CHECK_FALSE(io::hyperdag_reader::recognises(text));
  }
}

} // namespace io_hyperdag_test
