// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/io/critical_path_csv.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace io_critical_path_csv_test {

namespace io = weft::io;
using weft_test::parse_error_of;
using weft_test::text_of;

const std::string graph_header =
  "Id,(Outgoing) node,(Incoming) node,Colocation nodes,#tensorSize, #operations, RAM storage,"
  "Device constraint ,name\n";
const std::string device_header = "Id,RAM,#operations,commnication speed,type\n";

weft::workload workload_of(const std::string& text) {
  std::istringstream in{text};
  return io::read_workload_csv(in, "graph.csv");
}

weft::platform<> platform_of(const std::string& text) {
  std::istringstream in{text};
  return io::read_platform_csv(in, "devices.csv");
}

void check_error(const weft::parse_error& e, const std::string& file, std::size_t line, const std::string& phrase) {
  const std::string what = e.what();
  CAPTURE(what);
  CAPTURE(phrase);
  CHECK(e.file == file);
  CHECK(e.line == line);
  CHECK(what.substr(0, what.find(' ')) == file + (line > 0 ? ":" + std::to_string(line) : "") + ":");
  CHECK(what.find(phrase) != std::string::npos);
  CHECK(what.find('\n') == std::string::npos);
}

struct wrong_text {
  std::string text;
  std::size_t line;
  std::string phrase;
};

TEST_CASE("critical_path_csv: a workload, ids in any order and with gaps") {
  const auto w = workload_of(graph_header + "70, 9 ;-3,,,100,160,10,NO,\r\n"
                                            "\r\n"
                                            "9,,70,12,200,40.5, 20 ,GPU,conv/relu, with a comma\r\n"
                                            "12,,,9,0,0,0,gpu,x\r\n"
                                            "-3,,70,,5,1e3,4611,TPU,");
  REQUIRE(w.num_ops() == 4); // -3, 9, 12, 70
  CHECK(w.num_tensors() == 4);
  CHECK(w.num_edges() == 2);
  CHECK(w.name(0) == "-3");
  CHECK(w.name(1) == "conv/relu, with a comma");
  CHECK(w.name(3) == "70");
  CHECK(w.work(1) == 40.5);
  CHECK(w.work(0) == 1000);
  CHECK(w.bytes(3) == 100);
  CHECK(w.producer(3) == 3);
  CHECK(w.resident_bytes(0) == 4611);
  CHECK(w.kinds(3).is_all());
  CHECK(w.kinds(1) == weft::kind_set{weft::device_kind::gpu});
  CHECK(w.kinds(0) == weft::kind_set{weft::device_kind::tpu});
  CHECK(std::ranges::equal(w.consumers(3), std::vector<weft::op_id>{0, 1}));
  CHECK(w.num_groups() == 1);
  CHECK(w.group(1) == 0);
  CHECK(w.group(2) == 0);
  CHECK(w.group(0) == weft::none);
}

TEST_CASE("critical_path_csv: a workload in the variants of the format") {
  SUBCASE("six columns") {
    const auto w = workload_of("Id,(Outgoing) node,(Incoming) node,Colocation nodes,#tensorSize, #operations\n"
                               "0,1,,,3,250\n1,,0,,4,651");
    CHECK(w.num_edges() == 1);
    CHECK(w.resident_bytes(1) == 0);
    CHECK(w.kinds(1).is_all());
    CHECK(w.name(1).empty()); // the id is the op number
  }
  SUBCASE("eight columns, without names") {
    const auto w =
      workload_of("Id,(Outgoing) node,(Incoming) node,Colocation nodes,#tensorSize, #operations, RAM storage, "
                  "Device constraint \n0,5,,,681,250,10,NO\n5,,0,,448,786,10,CPU\n");
    CHECK(w.name(0).empty());
    CHECK(w.name(1) == "5");
    CHECK(w.kinds(1) == weft::kind_set{weft::device_kind::cpu});
  }
  SUBCASE("no comma before an empty name") {
    CHECK(workload_of(graph_header + "0,,,,1,2,3,NO\n").resident_bytes(0) == 3);
  }
  SUBCASE("two header lines, and a byte order mark") {
    CHECK(workload_of("\xef\xbb\xbfMeta,1,80,100\n" + graph_header + "0,,,,1,2,3,NO,\n").num_ops() == 1);
  }
  SUBCASE("one direction of edges only") {
    CHECK(workload_of(graph_header + "0,1,,,1,2,3,NO,\n1,,,,1,2,3,NO,\n").num_edges() == 1);
    CHECK(workload_of(graph_header + "0,,,,1,2,3,NO,\n1,,0,,1,2,3,NO,\n").num_edges() == 1);
  }
}

TEST_CASE("critical_path_csv: a platform, devices in any order") {
  const auto p = platform_of(device_header + "7,160000,20,,TPU\n"
                                             "-1,150000,80,100; 200,CPU\r\n"
                                             "\n"
                                             "3,430000,4.5,50,gpu");
  REQUIRE(p.num_devices() == 3);
  CHECK(p.kind(0) == weft::device_kind::cpu);
  CHECK(p.kind(1) == weft::device_kind::gpu);
  CHECK(p.kind(2) == weft::device_kind::tpu);
  CHECK(p.name(1) == "3");
  CHECK(p.speed(1) == 4.5);
  CHECK(p.memory_capacity(0) == 150000);
  CHECK(p.bandwidth(0, 1) == 100);
  CHECK(p.bandwidth(0, 2) == 200);
  CHECK(p.bandwidth(2, 0) == 200);
  CHECK(p.bandwidth(2, 1) == 50);
  CHECK(p.latency(2, 1) == 0);
  CHECK(p.send_work() == 10);
  CHECK(p.reached_rates(2)); // nothing is known of its peaks
  CHECK(platform_of(device_header + "0,1,2,,CPU").name(0).empty());
}

TEST_CASE("critical_path_csv: wrong workloads are refused with file, line and reason") {
  const std::string good = "1,2,,,1,2,3,NO,a\n2,,1,,1,2,3,NO,b\n";
  const std::vector<wrong_text> cases{
    {"", 0, "the header line is missing"},
    {"\n\nMeta,1,2\n", 3, "the header line is missing"},
    {"\n1,2,,,1,2,3,NO,a\n", 2, "not a header that is understood"},
    {"Id,RAM,#operations,commnication speed,type\n", 1, "not a header that is understood"},
    {graph_header, 1, "there is no node"},
    {graph_header + good + "\n3,,,,5\n", 5, "expected 9 columns as in the header, got 5"},
    {"Id,o,i,c,t,o\n1,,,,1,2,3\n", 2, "expected 6 columns as in the header, got 7"},
    {graph_header + "x,,,,1,2,3,NO,\n", 2, "id 'x' is not a whole number"},
    {graph_header + ",,,,1,2,3,NO,\n", 2, "id is empty"},
    {graph_header + "99999999999999999999,,,,1,2,3,NO,\n", 2, "is too large"},
    {graph_header + "1,2;a,,,1,2,3,NO,\n", 2, "outgoing node 'a' is not a whole number"},
    {graph_header + "1,2;,,,1,2,3,NO,\n", 2, "outgoing node is empty"},
    {graph_header + "1,,1.5,,1,2,3,NO,\n", 2, "incoming node '1.5' is not a whole number"},
    {graph_header + "1,,,b,1,2,3,NO,\n", 2, "colocation node 'b' is not a whole number"},
    {graph_header + good + "3,,,,1x,2,3,NO,\n", 4, "tensorSize '1x' is not a whole number"},
    {graph_header + "1,,,,-1,2,3,NO,\n", 2, "tensorSize '-1' is negative"},
    {graph_header + "1,,,,,2,3,NO,\n", 2, "tensorSize is empty"},
    {graph_header + "1,,,,9223372036854775808,2,3,NO,\n", 2, "tensorSize '9223372036854775808' is too large"},
    {graph_header + "1,,,,99999999999999999999,2,3,NO,\n", 2, "tensorSize '99999999999999999999' is too large"},
    {graph_header + "1,,,,1,two,3,NO,\n", 2, "operations 'two' is not a number"},
    {graph_header + "1,,,,1,-2,3,NO,\n", 2, "operations '-2' is negative"},
    {graph_header + "1,,,,1,1e999,3,NO,\n", 2, "operations '1e999' is out of the range"},
    {graph_header + "1,,,,1,inf,3,NO,\n", 2, "operations 'inf' is not a finite number"},
    {graph_header + "1,,,,1,nan,3,NO,\n", 2, "operations 'nan' is not a finite number"},
    {graph_header + "1,,,,1,2,-3,NO,\n", 2, "RAM storage '-3' is negative"},
    {graph_header + "1,,,,1,2,9999999999999999999,NO,\n", 2, "RAM storage '9999999999999999999' is too large"},
    {graph_header + "1,,,,1,2,3,XPU,\n", 2, "device constraint 'XPU' is unknown: write NO, CPU, GPU or TPU"},
    {graph_header + good + "2,,,,1,2,3,NO,c\n", 4, "id 2 was given to another node on line 3"},
    {graph_header + good + "3,4,,,1,2,3,NO,c\n", 4, "node 3 lists 4 as its successor, but no row has that id"},
    {graph_header + good + "3,,4,,1,2,3,NO,c\n", 4, "node 3 lists 4 as its predecessor"},
    {graph_header + good + "3,,,4,1,2,3,NO,c\n", 4, "node 3 lists 4 as its colocated"},
    {graph_header + "1,2;2,,,1,2,3,NO,a\n2,,1,,1,2,3,NO,b\n", 2, "the same successor is listed twice: 1 'a' -> 2 'b'"},
    {graph_header + "1,2,,,1,2,3,NO,a\n2,,1;1,,1,2,3,NO,b\n", 3, "the same predecessor is listed twice"},
    {graph_header + "1,2;3,,,1,2,3,NO,a\n2,,1,,1,2,3,NO,b\n3,,,,1,2,3,NO,\n", 2,
     "edge 1 'a' -> 3 is listed in one direction only: add 1 to the incoming nodes on line 4"},
    {graph_header + "1,2,,,1,2,3,NO,a\n2,,1,,1,2,3,NO,b\n3,,1,,1,2,3,NO,\n", 4,
     "edge 1 'a' -> 3 is listed in one direction only: add 3 to the outgoing nodes on line 2"},
    {graph_header + "0,1,,,1,2,3,NO,\n1,2,0;3,,1,2,3,NO,a\n2,3,1,,1,2,3,NO,b\n3,1,2,,1,2,3,NO,\n", 3,
     "the graph has a cycle: 1 'a' -> 2 'b' -> 3 -> 1 'a'"},
    {graph_header + "1,1,1,,1,2,3,NO,\n", 2, "the graph has a cycle: 1 -> 1"},
    {graph_header + "1,,,2,1,2,3,NO,a\n2,,,1,1,2,3,CPU,b\n3,,,2,1,2,3,GPU,c\n", 3,
     "colocated nodes allow no common device kind: 2 'b' (cpu, line 3), 3 'c' (gpu, line 4)"},
    {graph_header + "1,,,,4611686018427387903,2,4611686018427387903,NO,\n", 0, "overflow"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    check_error(parse_error_of([&] { (void)workload_of(c.text); }), "graph.csv", c.line, c.phrase);
  }
}

TEST_CASE("critical_path_csv: what is wrong with the graph as a whole is nested in the parse error") {
  const auto nested = [](const std::string& text) {
    try {
      (void)workload_of(graph_header + text);
    } catch (const weft::parse_error& e) {
      std::rethrow_if_nested(e);
    }
  };
  CHECK_THROWS_AS(nested("1,1,1,,1,2,3,NO,\n"), weft::cycle_error);
  CHECK_THROWS_AS(nested("1,,,2,1,2,3,GPU,\n2,,,,1,2,3,CPU,\n"), weft::constraint_error);
  CHECK_THROWS_AS(nested("1,,,,4611686018427387903,2,4611686018427387903,NO,\n"), weft::value_error);
}

TEST_CASE("critical_path_csv: wrong platforms are refused with file, line and reason") {
  const std::vector<wrong_text> cases{
    {"", 0, "the header line is missing"},
    {graph_header, 1, "not a header that is understood"},
    {device_header, 1, "there is no device"},
    {device_header + "0,1,2,CPU\n", 2, "expected 5 columns as in the header, got 4"},
    {device_header + "a,1,2,,CPU\n", 2, "id 'a' is not a whole number"},
    {device_header + "0,-1,2,,CPU\n", 2, "RAM '-1' is negative"},
    {device_header + "0,1,0,,CPU\n", 2, "operations per time unit must not be 0"},
    {device_header + "0,1,-2,,CPU\n", 2, "operations per time unit '-2' is negative"},
    {device_header + "0,1,2,,XPU\n", 2, "device type 'XPU' is unknown"},
    {device_header + "0,1,2,5;5,CPU\n1,1,2,,CPU\n", 2, "device 0 needs 1 transfer rates"},
    {device_header + "0,1,2,,CPU\n1,1,2,,CPU\n", 2, "device 0 needs 1 transfer rates"},
    {device_header + "0,1,2,5,CPU\n1,1,2,7,CPU\n", 3, "device 1 needs 0 transfer rates"},
    {device_header + "0,1,2,0,CPU\n1,1,2,,CPU\n", 2, "a transfer rate must not be 0"},
    {device_header + "0,1,2,-5,CPU\n1,1,2,,CPU\n", 2, "transfer rate '-5' is negative"},
    {device_header + "0,1,2,5x,CPU\n1,1,2,,CPU\n", 2, "transfer rate '5x' is not a number"},
    {device_header + "0,1,2,5,CPU\n0,1,2,,CPU\n", 3, "id 0 was given to another device on line 2"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    check_error(parse_error_of([&] { (void)platform_of(c.text); }), "devices.csv", c.line, c.phrase);
  }
}

TEST_CASE("critical_path_csv: missing files are one clear line") {
  CHECK_THROWS_WITH_AS((void)io::read_workload_csv("/nonexistent/graph.csv"),
                       "cannot read '/nonexistent/graph.csv': there is no such file", weft::error);
  CHECK_THROWS_WITH_AS((void)io::read_platform_csv("/"), "cannot read '/': it is a folder, not a file", weft::error);
}

TEST_CASE("critical_path_csv: random workloads come back as they were written") {
  weft::rng random{7};
  for (int i = 0; i < 200; ++i) {
    const auto w = weft_test::random_workload(random, {.several_outputs = false, .kind_sets = false, .labels = false});
    const auto text = text_of([&](std::ostream& out) { io::write_workload_csv(out, w); });
    const auto again = workload_of(text);
    REQUIRE(weft_test::same(w, again));
    CHECK(text_of([&](std::ostream& out) { io::write_workload_csv(out, again); }) == text);
  }
}

TEST_CASE("critical_path_csv: a platform comes back as it was written") {
  weft::link_matrix links{3};
  links.connect(0, 1, {0, 0.1});
  links.connect(0, 2, {0, 1e300});
  links.connect(1, 2, {0, 123456789012345678.0});
  const weft::platform<> p{
    {{weft::device_kind::cpu, 1e-9, 5}, {weft::device_kind::tpu, 89}, {weft::device_kind::gpu, 1.0 / 3, 0}}, links, 10};
  const auto text = text_of([&](std::ostream& out) { io::write_platform_csv(out, p); });
  CHECK(weft_test::same_platform(p.changed([](weft::device& d) { d.reached_rates = true; }), platform_of(text)));
}

TEST_CASE("critical_path_csv: what the format cannot hold is refused, or approximated on request") {
  weft::workload_builder b;
  b.add_op({.work = 1,
            .bytes = 100,
            .kinds = weft::kind_set{weft::device_kind::cpu} | weft::device_kind::gpu,
            .name = "a\nb"});
  b.add_op({.work = 1});
  b.add_op({.work = 1});
  b.add_output(0, 20);
  b.add_edge(0, 1);
  b.add_edge(0, 1, 1);
  b.add_control_edge(0, 2);
  const auto w = std::move(b).build();
  const auto write = [&](io::csv_losses losses) {
    return text_of([&](std::ostream& out) { io::write_workload_csv(out, w, losses); });
  };
  CHECK_THROWS_WITH_AS((void)write(io::csv_losses::refuse),
                       "op 0: has 3 output tensors, which the CSV format cannot hold; write JSON instead",
                       weft::value_error);
  const auto again = workload_of(write(io::csv_losses::accept));
  CHECK(again.bytes(0) == 120);
  CHECK(std::ranges::equal(again.consumers(0), std::vector<weft::op_id>{1, 2}));
  CHECK(again.kinds(0).is_all());
  CHECK(again.name(0) == "a b");

  const auto refused = [](const weft::platform<>& p) -> std::string {
    try {
      (void)text_of([&](std::ostream& out) { io::write_platform_csv(out, p); });
    } catch (const weft::value_error& e) {
      return e.what();
    }
    return "";
  };
  const weft::device cpu{};
  const weft::link_matrix one{1};
  CHECK(refused({{cpu}, one, 10}).empty());
  CHECK(refused({{cpu}, one, 0}).find("platform: has a send work of 0 instead of 10") == 0);
  CHECK(refused({{{.slots = 2}}, one, 10}).find("device 0: has 2 slots") == 0);
  CHECK(refused({{{.memory_bandwidth = 2}}, one, 10}).find("device 0: has a memory bandwidth") == 0);
  CHECK(refused({{{.send_overhead = 2}}, one, 10}).find("device 0: has a send overhead") == 0);
  const weft::platform<> shared{{cpu, {.memory_of = 0}}, weft::link_matrix{2, {0, 5}}, 10};
  CHECK(refused(shared).find("device 1: works in another device's memory") == 0);
  CHECK(refused({{cpu, cpu}, weft::link_matrix{2, {1, 1}}, 10}).find("device 0: link to device 1: has a latency") == 0);
  CHECK(refused({{cpu, cpu}, weft::link_matrix{2}, 10}).find("device 0: link to device 1: has an infinite") == 0);
  weft::link_matrix skewed{2, {0, 5}};
  skewed.set(1, 0, {0, 3});
  CHECK(refused({{cpu, cpu}, skewed, 10}).find("device 0: link to device 1: has another bandwidth") == 0);
  const auto text = text_of([&](std::ostream& out) {
    io::write_platform_csv(out, weft::platform<>{{cpu, cpu}, skewed}, io::csv_losses::accept);
  });
  CHECK(platform_of(text).bandwidth(0, 1) == 3);
  const auto endless = text_of([&](std::ostream& out) {
    io::write_platform_csv(out, weft::platform<>{{cpu, cpu}, weft::link_matrix{2}}, io::csv_losses::accept);
  });
  CHECK(platform_of(endless).bandwidth(0, 1) == std::numeric_limits<double>::max());
}

TEST_CASE("critical_path_csv: the paper's files") {
#ifdef WEFT_REFERENCE_DATA
  const std::string root = WEFT_REFERENCE_DATA;
#else
  const std::string root;
#endif
  if (root.empty()) {
    MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
    return;
  }
  // Counted with awk: rows, entries of the outgoing lists, sums of the numeric columns.
  struct graph {
    const char* name;
    std::size_t nodes, edges;
    weft::byte_count tensor_size;
    double operations;
    weft::byte_count ram;
  };
  for (const auto& g : {
         graph{"convolutional_network", 346, 531, 17122, 17205, 16640},
         graph{"recurrent_network", 3068, 5506, 157593, 156599, 157202},
         graph{"sample_graph", 22, 68, 10326, 13688, 0},
         graph{"scheduling_test_graph", 7, 6, 3400, 460, 280},
       }) {
    const auto w = io::read_workload_csv(root + "/data/critical_path_paper/" + g.name + ".csv");
    CAPTURE(g.name);
    CHECK(w.num_ops() == g.nodes);
    CHECK(w.num_edges() == g.edges);
    CHECK(w.num_tensors() == g.nodes);
    weft::byte_count tensor_size = 0;
    weft::byte_count ram = 0;
    double operations = 0;
    for (const weft::op_id v : weft::ids(w.num_ops())) {
      tensor_size += w.bytes(v);
      ram += w.resident_bytes(v);
      operations += w.work(v);
    }
    CHECK(tensor_size == g.tensor_size);
    CHECK(operations == g.operations);
    CHECK(ram == g.ram);
  }
  for (const auto& [name, devices] :
       {std::pair{"devices_10", 10u}, {"devices_50", 50u}, {"scheduling_test_devices", 3u}}) {
    CHECK(io::read_platform_csv(root + "/data/critical_path_paper/" + name + ".csv").num_devices() == devices);
  }
}

TEST_CASE("critical_path_csv: damaged files are read or refused, nothing else") {
  weft::rng random{17};
  const std::string devices = device_header + "0,5,80,100;200,CPU\n1,43,40,100,GPU\n2,16,20,,CPU";
  for (int i = 0; i < 400; ++i) {
    const auto w = weft_test::random_workload(random, {.several_outputs = false, .kind_sets = false, .labels = false});
    const auto graph = weft_test::damaged(random, text_of([&](std::ostream& out) { io::write_workload_csv(out, w); }));
    CHECK(weft_test::reads_or_refuses(workload_of, graph));
    CHECK(weft_test::reads_or_refuses(platform_of, weft_test::damaged(random, devices)));
  }
}

} // namespace io_critical_path_csv_test
