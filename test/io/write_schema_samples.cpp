// SPDX-License-Identifier: BSL-1.0
/// Writes JSON files for validate_schema.py: `write_schema_samples FOLDER` puts what the library writes into
/// FOLDER/valid and what it refuses to read into FOLDER/invalid.
#include "json_samples.hpp"
#include "support.hpp"

#include "weft/io/json.hpp"
#include "weft/io/json_sharding.hpp"

#include <filesystem>
#include <iostream>

namespace {

namespace io = weft::io;
using path = std::filesystem::path;

void write_wrong(const path& folder, const char* kind, const std::vector<weft_test::wrong_file>& files) {
  for (const auto& file : files) {
    if (file.refused_by_schema) {
      io::write_file(folder / (std::string{kind} + "-" + file.name + ".json"),
                     [&](std::ostream& out) { out << file.text; });
    }
  }
}

void write_valid(const path& folder) {
  weft::rng random{42};
  for (int i = 0; i < 20; ++i) {
    const std::string name = std::to_string(i) + ".json";
    io::write_file(folder / ("workload-" + name),
                   [&](std::ostream& out) { io::write_workload_json(out, weft_test::random_workload(random)); });
    io::write_file(folder / ("platform-" + name),
                   [&](std::ostream& out) { io::write_platform_json(out, weft_test::random_platform(random)); });
  }
  const weft::plan plan{{0, weft::none, 1},
                        {weft::step::run(1), weft::step::run(0), weft::step::send(0, 2, 1), weft::step::run(2)}};
  io::write_file(folder / "plan.json", [&](std::ostream& out) { io::write_plan_json(out, plan); });
  io::plan_record record{.plan = plan, .ops = {"a", "b", "a"}, .devices = {"cpu", "gpu"}};
  record.origin = {.weft = "1.2.3", .model = "m.onnx", .model_format = "ONNX", .model_sha256 = std::string(64, '0')};
  record.origin->options = {{"batch", {"32"}}, {"peak-rates", {}}};
  record.origin->notes = {"a note"};
  io::write_file(folder / "plan-record.json", [&](std::ostream& out) { io::write_plan_json(out, record); });
  const weft::trace trace{{{0, 0, 1.5, 4}, {weft::none, 0, 0}}, {{0, 0, 1, 1.5, 2, 2, 3.25}}, 3.25};
  io::write_file(folder / "trace.json", [&](std::ostream& out) { io::write_trace_json(out, trace); });
  weft::concurrency::profile profile;
  profile.record({"a machine", "MatMul [2, 3]", 4, weft::affinity::spread}, 1e-3);
  profile.record({"a machine", "MatMul [2, 3]", 4, weft::affinity::spread}, 2e-3);
  for (const bool trains : {false, true}) {
    auto s = weft_test::sample_sharding();
    s.trains = trains;
    s.parameters[0].owner = trains ? weft::none : 1;
    io::write_file(folder / (trains ? "sharding-trained.json" : "sharding.json"), [&](std::ostream& out) {
      io::write_sharding_json(out, s, {.model = "m", .platform = "p", .devices = {"c", "d", "e", "f", "g"}});
    });
  }
  io::write_file(folder / "profile.json", [&](std::ostream& out) { io::write_profile_json(out, profile); });
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_schema_samples FOLDER\n";
    return 2;
  }
  const path folder{argv[1]};
  std::filesystem::create_directories(folder / "valid");
  std::filesystem::create_directories(folder / "invalid");
  write_valid(folder / "valid");
  write_wrong(folder / "invalid", "workload", weft_test::wrong_workloads());
  write_wrong(folder / "invalid", "platform", weft_test::wrong_platforms());
  write_wrong(folder / "invalid", "plan", weft_test::wrong_plans());
  write_wrong(folder / "invalid", "trace", weft_test::wrong_traces());
  write_wrong(folder / "invalid", "sharding", weft_test::wrong_shardings());
  write_wrong(folder / "invalid", "profile", weft_test::wrong_profiles());
}
