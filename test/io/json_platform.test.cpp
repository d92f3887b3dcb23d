// SPDX-License-Identifier: BSL-1.0
#include "json_samples.hpp"
#include "platform/routes.hpp"
#include "support.hpp"

#include "weft/io/json_platform.hpp"
#include "weft/platform/identical.hpp"
#include "weft/platform/presets.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace io_json_platform_test {

namespace io = weft::io;
using weft_test::text_of;

weft::platform<> platform_of(const std::string& text) {
  std::istringstream in{text};
  return io::read_platform_json(in, "p.json");
}

std::string file_with(const std::string& links) {
  return R"({"format": "weft.platform", "version": 1, "devices": [{"kind": "gpu", "speed": 2, "count": 8}], "links": )" +
         links + "}";
}

TEST_CASE("json_platform: devices as people write them") {
  const auto p = platform_of(R"({
    "format": "weft.platform", "version": 1,
    "devices": [
      {"name": "host", "kind": "CPU", "speed": 1e12, "memory": 64e9, "memory_bandwidth": 2e11, "slots": 16,
       "idle_watts": 60, "active_watts": 225.5, "send_overhead": 5e-6},
      {"name": "gpu", "kind": "gpu", "speed": 14000000000000, "memory": 18446744073709551615, "rates": "peak",
       "count": 2},
      {"kind": "kind12", "speed": 0.5, "rates": "reached"}
    ],
    "links": {"uniform": {"latency": 1e-6, "bandwidth": 1e10, "joules_per_byte": 8e-11}},
    "send_work": 10})");
  REQUIRE(p.num_devices() == 4);
  CHECK(p.name(0) == "host");
  CHECK(p.name(1) == "gpu0");
  CHECK(p.name(2) == "gpu1");
  CHECK(p.name(3).empty());
  CHECK(p.kind(3) == static_cast<weft::device_kind>(12));
  CHECK(p.memory_capacity(0) == 64'000'000'000);
  CHECK(p.memory_capacity(3) == std::numeric_limits<weft::byte_count>::max());
  CHECK(p.memory_bandwidth(0) == 2e11);
  CHECK(std::isinf(p.memory_bandwidth(1)));
  CHECK(p.slots(0) == 16);
  CHECK(p.slots(1) == 1);
  CHECK(p.idle_watts(0) == 60);
  CHECK(p.active_watts(0) == 225.5);
  CHECK(p.active_watts(1) == 0);
  CHECK(p.send_overhead(0) == 5e-6);
  CHECK(p.send_overhead(1) == 0);
  CHECK(!p.reached_rates(0)); // files that do not say it are of data sheets
  CHECK(!p.reached_rates(2));
  CHECK(p.reached_rates(3));
  CHECK(p.joules_per_byte(2, 0) == 8e-11);
  CHECK(p.latency(3, 1) == 1e-6);
  CHECK(p.bandwidth(0, 2) == 1e10);
  CHECK(p.send_work() == 10);
}

TEST_CASE("json_platform: devices that work in the memory of another one") {
  const auto with = [](const std::string& gpu) {
    return platform_of(R"({"format": "weft.platform", "version": 1, "links": {"uniform": {}}, "devices": [
      {"name": "cpu", "kind": "cpu", "speed": 1, "memory": 1000, "memory_bandwidth": 5}, )" +
                       gpu + "]}");
  };
  const auto p = with(R"({"name": "gpu", "kind": "gpu", "speed": 2, "memory_of": "cpu", "count": 2})");
  CHECK(p.memory_of(0) == 0);
  CHECK(p.memory_of(2) == 0);
  CHECK(p.memory_capacity(1) == 1000);
  CHECK(p.memory_bandwidth(2) == 5);
  const auto text = text_of([&](std::ostream& out) { io::write_platform_json(out, p); });
  CHECK(text.find(R"("name": "gpu0", "kind": "gpu", "speed": 2, "memory": 0, "memory_of": "cpu")") != text.npos);
  CHECK(platform_of(text).devices() == p.devices());
  const auto numbered = with(R"({"name": "cpu", "kind": "cpu", "speed": 2, "memory_of": 0, "memory_bandwidth": 4})");
  CHECK(numbered.memory_bandwidth(1) == 4);
  CHECK(platform_of(text_of([&](std::ostream& out) { io::write_platform_json(out, numbered); })).devices() ==
        numbered.devices()); // two are called cpu: by number
  const auto refused = [&](const std::string& gpu, const char* why) {
    CAPTURE(gpu);
    CHECK_THROWS_WITH_AS(with(gpu), doctest::Contains(why), weft::parse_error);
  };
  refused(R"({"kind": "gpu", "speed": 2, "memory_of": "host"})", "no device is called 'host': name the device");
  refused(R"({"name": "cpu", "kind": "gpu", "speed": 2, "memory_of": "cpu"})", "several devices are called 'cpu'");
  refused(R"({"kind": "gpu", "speed": 2, "memory_of": 1})", "cannot share its own memory");
  refused(R"({"kind": "gpu", "speed": 2, "memory_of": 2})", "whole number from 0 to 1");
  refused(R"({"kind": "gpu", "speed": 2, "memory_of": 0, "memory": 9})", "write 0, or leave it out");
  refused(R"({"kind": "gpu", "speed": 2, "memory_of": 0}, {"kind": "gpu", "speed": 2, "memory_of": 1})",
          "yet another one");
}

TEST_CASE("json_platform: links as a matrix, with numbers for all and defaults") {
  auto text = std::string{
    R"({"format": "weft.platform", "version": 1, "devices": [{"kind": "gpu", "speed": 2, "count": 2}], "links": )"};
  const auto p = platform_of(text + R"({"matrix": {"latency": 0.5, "bandwidth": [[7, null], [3, 8]],
    "joules_per_byte": [[0, 2], [null, 0]]}}})");
  CHECK(p.latency(0, 1) == 0.5);
  CHECK(p.latency(1, 0) == 0.5);
  CHECK(std::isinf(p.bandwidth(0, 1)));
  CHECK(p.bandwidth(1, 0) == 3);
  CHECK(p.joules_per_byte(0, 1) == 2);
  CHECK(p.joules_per_byte(1, 0) == 0);
  const auto q = platform_of(text + R"({"matrix": {}}})");
  CHECK(q.latency(0, 1) == 0);
  CHECK(std::isinf(q.bandwidth(0, 1)));
}

TEST_CASE("json_platform: links as levels") {
  const auto p = platform_of(file_with(R"({"levels": [
    {"bandwidth": 100, "size": 2}, {"bandwidth": 10, "latency": 1, "size": 2}, {"bandwidth": 1, "latency": 5}]})"));
  CHECK(p.bandwidth(0, 1) == 100);
  CHECK(p.latency(0, 1) == 0);
  CHECK(p.bandwidth(1, 2) == 10);
  CHECK(p.bandwidth(3, 0) == 10);
  CHECK(p.bandwidth(3, 4) == 1);
  CHECK(p.latency(7, 0) == 5);
  const weft::hierarchical_links hierarchy{{{0, 100}, {1, 10}, {5, 1}}, {2, 2}, 8};
  for (const weft::device_id d : weft::ids(8)) {
    for (const weft::device_id e : weft::ids(8)) {
      if (d != e) {
        CHECK(p.links()(d, e) == hierarchy(d, e));
      }
    }
  }
  CHECK(platform_of(file_with(R"({"levels": [{"bandwidth": 3}]})")).bandwidth(7, 0) == 3);
}

TEST_CASE("json_platform: levels keep their routes, and come back as levels") {
  const auto p = platform_of(file_with(R"({"levels": [
    {"bandwidth": 100, "size": 2}, {"bandwidth": 50, "size": 1}, {"bandwidth": 10, "latency": 1, "size": 2},
    {"bandwidth": 1, "latency": 5, "size": 9}, {}]})"));
  const weft::hierarchical_links hierarchy{{{0, 100}, {1, 10}, {5, 1}}, {2, 2}, 8};
  CHECK(p.num_links() == hierarchy.num_links());
  for (const weft::device_id d : weft::ids(8)) {
    for (const weft::device_id e : weft::ids(8)) {
      CHECK(weft_test::route(p, d, e) == weft_test::route(hierarchy, d, e));
    }
  }
  const auto text = text_of([&](std::ostream& out) { io::write_platform_json(out, p); });
  CHECK(text.find(R"("links": {"levels": [
      {"bandwidth": 100, "size": 2},
      {"latency": 1, "bandwidth": 10, "size": 2},
      {"latency": 5, "bandwidth": 1}
  ]})") != std::string::npos);
  CHECK(weft_test::same_platform(p, platform_of(text)));
}

TEST_CASE("json_platform: links as a network of switches and cables") {
  const auto p = platform_of(R"({"format": "weft.platform", "version": 1, "devices": [
    {"name": "cpu", "kind": "cpu", "speed": 1}, {"name": "gpu", "kind": "gpu", "speed": 2, "count": 2}],
    "links": {"network": {
      "switches": ["pcie", "spare"],
      "links": [
        {"between": ["cpu", "pcie"], "latency": 1, "bandwidth": 16},
        {"between": ["gpu0", 3], "latency": 2, "bandwidth": 16},
        {"from": "gpu1", "to": "pcie", "bandwidth": 8},
        {"from": "pcie", "to": "gpu1"},
        {"bandwidth": 40}
      ],
      "routes": [{"from": 1, "to": "gpu1", "over": [6]}]
    }}})");
  using links_taken = std::vector<weft::link_id>;
  CHECK(p.num_links() == 7);
  CHECK(p.latency(0, 1) == 3);
  CHECK(p.bandwidth(0, 1) == 16);
  CHECK(weft_test::route(p, 0, 2) == links_taken{0, 5});
  CHECK(weft_test::route(p, 2, 0) == links_taken{4, 1});
  CHECK(weft_test::route(p, 1, 2) == links_taken{6});
  CHECK(p.bandwidth(1, 2) == 40);
  CHECK(p.links().wiring().switch_name(1) == "spare");
  const auto text = text_of([&](std::ostream& out) { io::write_platform_json(out, p); });
  CHECK(text.find(R"("links": {"network": {
      "switches": ["pcie", "spare"],
      "links": [
        {"between": ["cpu", "pcie"], "latency": 1, "bandwidth": 16},
        {"between": ["gpu0", "pcie"], "latency": 2, "bandwidth": 16},
        {"from": "gpu1", "to": "pcie", "bandwidth": 8},
        {"from": "pcie", "to": "gpu1"},
        {"bandwidth": 40}
      ],
      "routes": [
        {"from": "gpu0", "to": "gpu1", "over": [6]}
      ]
  }})") != std::string::npos);
  CHECK(weft_test::same_platform(p, platform_of(text)));
  CHECK(platform_of(text).links().wiring().switch_name(1) == "spare");
}

TEST_CASE("json_platform: every preset and topology comes back with its routes, switches and names") {
  const auto comes_back = [](const auto& p) {
    const auto text = text_of([&](std::ostream& out) { io::write_platform_json(out, p); });
    const auto again = platform_of(text);
    CHECK(weft_test::same_platform(p, again));
    CHECK(text_of([&](std::ostream& out) { io::write_platform_json(out, again); }) == text);
    return again;
  };
  for (const auto& e : weft::presets::entries) {
    CAPTURE(e.name);
    const auto p = e.make();
    const auto again = comes_back(p);
    if (p.links().shares_links()) {
      const auto& a = p.links().wiring();
      const auto& b = again.links().wiring();
      REQUIRE(a.num_switches() == b.num_switches());
      CHECK(a.routing() == b.routing());
      for (std::size_t s = 0; s < a.num_switches(); ++s) {
        CHECK(a.switch_name(s) == b.switch_name(s));
      }
      for (const weft::link_id l : weft::ids(a.num_links())) {
        CHECK(a.ends(l) == b.ends(l));
      }
    }
  }
  namespace topology = weft::topology;
  const auto on = [](const auto& links) {
    return weft::platform<std::remove_cvref_t<decltype(links)>>{std::vector<weft::device>(links.num_devices()), links};
  };
  comes_back(on(topology::torus({4, 3, 2}, {1e-6, 1e9})));
  comes_back(on(topology::fat_tree({{4, {1e-6, 1e9}}, {3, {2e-6, 4e9}, 2}})));
  comes_back(on(topology::bus{3, {1e-6, 1e9}}));
  comes_back(on(weft::hierarchical_links{{{0, 9, 3}, {1, 4, 0.1}}, {2}, 4}));
}

TEST_CASE("json_platform: every wrong file is refused with file, line, path and reason") {
  for (const auto& sample : weft_test::wrong_platforms()) {
    const auto e = weft_test::parse_error_of([&] { (void)platform_of(sample.text); });
    const std::string what = e.what();
    CAPTURE(sample.name);
    CAPTURE(what);
    CHECK(e.line == sample.line);
    CHECK(what.find("p.json:" + std::to_string(sample.line) + ": " + sample.path) == 0);
    CHECK(what.find(sample.phrase) != std::string::npos);
  }
}

TEST_CASE("json_platform: random platforms come back as they were written") {
  weft::rng random{5};
  for (int i = 0; i < 300; ++i) {
    const auto p = weft_test::random_platform(random);
    const auto text = text_of([&](std::ostream& out) { io::write_platform_json(out, p); });
    CAPTURE(text);
    const auto again = platform_of(text);
    REQUIRE(weft_test::same_platform(p, again));
    CHECK(text_of([&](std::ostream& out) { io::write_platform_json(out, again); }) == text);
  }
}

TEST_CASE("json_platform: speeds that are no peaks are told from those that are") {
  const auto alike = weft::presets::identical(3);
  const auto of_identical = text_of([&](std::ostream& out) { io::write_platform_json(out, alike); });
  CHECK(of_identical.find(R"({"kind": "cpu", "speed": 1, "rates": "reached", "count": 3})") != std::string::npos);
  CHECK(platform_of(of_identical).reached_rates(2));
  const auto sheets = weft::presets::dgx_a100();
  const auto of_sheets = text_of([&](std::ostream& out) { io::write_platform_json(out, sheets); });
  CHECK(of_sheets.find("rates") == std::string::npos);
}

TEST_CASE("json_platform: writes any type of links") {
  const std::vector<weft::device> devices(4, weft::device{weft::device_kind::gpu, 3});
  const weft::platform<weft::uniform_links> uniform{devices, {{1e-6, 5}}};
  const auto text = text_of([&](std::ostream& out) { io::write_platform_json(out, uniform); });
  CHECK(text.find("\"count\": 4") != std::string::npos);
  CHECK(text.find("\"uniform\": {\"latency\": 1e-06, \"bandwidth\": 5}") != std::string::npos);
  CHECK(weft_test::same_platform(uniform, platform_of(text)));
  const weft::platform<weft::hierarchical_links> levels{devices, {{{0, 9}, {1, 4}}, {2}, 4}};
  CHECK(weft_test::same_platform(
    levels, platform_of(text_of([&](std::ostream& out) { io::write_platform_json(out, levels); }))));
}

TEST_CASE("json_platform: damaged files are read or refused, nothing else") {
  weft::rng random{23};
  for (int i = 0; i < 400; ++i) {
    const auto p = weft_test::random_platform(random);
    const auto text = weft_test::damaged(random, text_of([&](std::ostream& out) { io::write_platform_json(out, p); }));
    CHECK(weft_test::reads_or_refuses(platform_of, text));
  }
}

TEST_CASE("json_platform: a few bytes cannot ask for links between many devices") {
  const auto text = [](int count, const std::string& links) {
    return R"({"format": "weft.platform", "version": 1, "devices": [{"kind": "cpu", "speed": 1, "count": )" +
           std::to_string(count) + "}],\n\"links\": " + links + "}";
  };
  const auto read = [](const std::string& json) { return io::json_platform_reader::read(json, "p.json"); };
  const auto error = [&](const std::string& json) {
    return std::string{weft_test::parse_error_of([&] { (void)read(json); }).what()};
  };
  CHECK(read(text(1000, R"({"uniform": {}})")).num_devices() == 1000);
  for (const char* links : {R"({"uniform": {}})", R"({"matrix": {"latency": 1}})", R"({"matrix": {"latency": []}})",
                            R"({"levels": [{"size": 4}, {}]})"}) {
    CHECK(error(text(1001, links)).starts_with("p.json:1: /devices: 1001 devices, but only up to 1000 can do without"));
  }
  CHECK(error(text(10'001, "{}")).find("expected a whole number from 1 to 10000") != std::string::npos);
  std::string row = "[1";
  for (int i = 1; i < 1001; ++i) {
    row += ",1";
  }
  std::string rows = row + "]";
  for (int i = 1; i < 1001; ++i) {
    rows += "," + row + "]";
  }
  CHECK(read(text(1001, R"({"matrix": {"latency": [)" + rows + "]}}")).latency(7, 1000) == 1);
}

TEST_CASE("platform JSON: what is a guess is kept") {
  const auto p = platform_of(R"({"format": "weft.platform", "version": 1, "notes": ["cpu: a guess", "two\nlines"],
    "devices": [{"kind": "cpu", "speed": 1}]})");
  CHECK(p.notes() == std::vector<std::string>{"cpu: a guess", "two lines"});
  const auto copy = platform_of(text_of([&](std::ostream& out) { io::write_platform_json(out, p); }));
  CHECK(copy.notes() == p.notes());
  CHECK(p.with(weft::number_format::fp16).notes() == p.notes());
  CHECK_THROWS_WITH_AS(platform_of(R"({"format": "weft.platform", "version": 1, "notes": "x",
    "devices": [{"kind": "cpu", "speed": 1}]})"),
                       "p.json:1: /notes: expected a list of lines, found \"x\"", weft::parse_error);
}

TEST_CASE("platform JSON: speeds with narrower numbers, and a description for people") {
  std::istringstream in{R"({"format": "weft.platform", "version": 1, "description": "x", "devices": [
    {"kind": "gpu", "speed": 10, "narrow_speeds": {"half": 20, "int8": 40}}]})"};
  const auto p = io::read_platform_json(in);
  CHECK(p.devices()[0].narrow == weft::narrow_speeds{.half = 20, .int8 = 40});
  std::stringstream copy;
  io::write_platform_json(copy, p, "made of \"lists\"");
  CHECK(copy.str().find("\"description\": \"made of \\\"lists\\\"\",") != std::string::npos);
  CHECK(copy.str().find("\"narrow_speeds\": {\"half\": 20, \"int8\": 40}") != std::string::npos);
  CHECK(io::read_platform_json(copy).devices() == p.devices());
  std::istringstream wrong{R"({"format": "weft.platform", "version": 1, "devices": [
    {"kind": "gpu", "speed": 10, "narrow_speeds": {"half": 0}}]})"};
  CHECK_THROWS_WITH_AS(io::read_platform_json(wrong, "p.json"),
                       "p.json:2: /devices/0/narrow_speeds/half: expected a positive number, found 0",
                       weft::parse_error);
}

} // namespace io_json_platform_test
