// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/io/json_plan.hpp"
#include "weft/io/json_profile.hpp"
#include "weft/io/read.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace {

namespace io = weft::io;

/// A file that is there as long as this object.
class temporary_file {
public:
  explicit temporary_file(const std::string& text) {
    std::random_device unique; // tests of several builds may run at the same time
    path_ = std::filesystem::temp_directory_path() /
            ("weft-read-test-" + std::to_string(unique()) + "-" + std::to_string(unique()));
    io::write_file(path_, [&](std::ostream& out) { out << text; });
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

const std::string graph_csv =
  "Id,(Outgoing) node,(Incoming) node,Colocation nodes,#tensorSize, #operations\n0,,,,1,2\n";
const std::string device_csv = "Id,RAM,#operations,commnication speed,type\n0,1,2,,CPU\n";
const std::string workload_json = "\n {\"format\": \"weft.workload\", \"version\": 1, \"ops\": [{}, {}]}";
const std::string platform_json =
  "\xef\xbb\xbf{\"format\": \"weft.platform\", \"version\": 1, \"devices\": [{\"kind\": \"gpu\", \"speed\": 1}]}";

} // namespace

TEST_CASE("read: the content decides the format, not the name") {
  CHECK(io::read_workload(temporary_file{graph_csv}.path()).num_ops() == 1);
  CHECK(io::read_workload(temporary_file{"Meta,1\n" + graph_csv}.path()).num_ops() == 1);
  CHECK(io::read_workload(temporary_file{workload_json}.path()).num_ops() == 2);
  CHECK(io::read_platform(temporary_file{device_csv}.path()).kind(0) == weft::device_kind::cpu);
  CHECK(io::read_platform(temporary_file{platform_json}.path()).kind(0) == weft::device_kind::gpu);
}

TEST_CASE("read: other content is refused with a line that says what is understood") {
  const auto message = [](const std::string& text, bool workload) {
    const temporary_file file{text};
    const auto e = weft_test::parse_error_of(
      [&] { workload ? (void)io::read_workload(file.path()) : (void)io::read_platform(file.path()); });
    CHECK(e.file == file.path().string());
    CHECK(e.line == 1);
    return std::string{e.what()};
  };
  for (const auto& text : {std::string{}, std::string{"node {\n name: \"x\"\n}"}, std::string{"\x08\x01\x12\x00", 4},
                           std::string{"[1]"}}) {
    const auto what = message(text, true);
    CHECK(what.find("not a workload: its format is not known") != std::string::npos);
    CHECK(what.find("\"weft.workload\"") != std::string::npos);
    CHECK(what.find("Id,(Outgoing) node") != std::string::npos);
    CHECK(message(text, false).find("not a platform: its format is not known") != std::string::npos);
  }
  CHECK(message(device_csv, true).find("not a workload: it is a CSV of devices") != std::string::npos);
  CHECK(message(graph_csv, false).find("not a platform: it is a CSV of a graph") != std::string::npos);
  CHECK(message(platform_json, true).find("this is a 'weft.platform' file, expected 'weft.workload'") !=
        std::string::npos);
}

TEST_CASE("read: files that cannot be opened or written") {
  CHECK_THROWS_WITH_AS((void)io::read_workload("/nonexistent/w.json"),
                       "cannot read '/nonexistent/w.json': there is no such file", weft::error);
  CHECK_THROWS_AS((void)io::read_platform(std::filesystem::temp_directory_path()), weft::error);
  CHECK_THROWS_WITH_AS(
    io::write_file("/nonexistent/w.json", [](std::ostream&) {}),
    "cannot write '/nonexistent/w.json': it cannot be opened; check that its folder exists and is writable",
    weft::error);
}

TEST_CASE("read: the examples in docs/formats.md are what they say") {
  const auto docs = std::filesystem::path{__FILE__}.parent_path() / "../../docs/formats.md";
  if (!std::filesystem::exists(docs)) {
    MESSAGE("skipped: docs/formats.md is not beside the tests");
    return;
  }
  auto in = io::open_for_reading(docs);
  const auto text = io::read_all(in, docs.string());
  std::vector<std::string> read;
  for (auto at = text.find("\n```"); at != std::string::npos; at = text.find("\n```", text.find("\n```", at + 1) + 1)) {
    const auto begin = text.find('\n', at + 1) + 1;
    const auto language = text.substr(at + 4, begin - at - 5);
    const temporary_file file{text.substr(begin, text.find("\n```", begin) + 1 - begin)};
    auto block = io::open_for_reading(file.path());
    const auto content = io::read_all(block, "block");
    const auto is = [&](const char* what) { return content.find(what) != std::string::npos; };
    if (language == "json" || language == "csv") {
      CAPTURE(content);
      read.push_back(is("weft.plan") ? "plan of " + std::to_string(io::read_plan_json(file.path()).order.size())
                     : is("weft.profile")
                       ? "profile of " + std::to_string(io::read_profile_json(file.path()).num_entries())
                     : is("weft.trace") ? "trace of " + std::to_string(io::read_trace_json(file.path()).ops.size())
                     : is("weft.platform") || is("Id,RAM")
                       ? "platform of " + std::to_string(io::read_platform(file.path()).num_devices())
                       : "workload of " + std::to_string(io::read_workload(file.path()).num_ops()));
    }
  }
  CHECK(read == std::vector<std::string>{"workload of 5", "platform of 5", "platform of 8", "plan of 6", "trace of 2",
                                         "profile of 2", "workload of 4", "platform of 3"});
}

TEST_CASE("read: standard task graphs are workloads, problems of the placement study are more than that") {
  const std::string stg = "# two tasks\n 2\n0 0 0\n1 3 1 0\n2 4 1 0\n3 0 2 1 2\n";
  CHECK(io::read_workload(temporary_file{stg}.path()).num_ops() == 4);
  const std::string study = "{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 1, \"maxCPUs\": 1, \"nodes\": [], \"edges\": []}";
  CHECK(io::holds_dnn_partitioning(temporary_file{study}.path()));
  CHECK_FALSE(io::holds_dnn_partitioning(temporary_file{stg}.path()));
  CHECK_FALSE(io::holds_dnn_partitioning(temporary_file{workload_json}.path()));
  CHECK_THROWS_AS((void)io::holds_dnn_partitioning("/nonexistent/s.json"), weft::error);
  const auto message = [](const std::string& text, bool workload) {
    const temporary_file file{text};
    return std::string{weft_test::parse_error_of([&] {
                         workload ? (void)io::read_workload(file.path()) : (void)io::read_platform(file.path());
                       }).what()};
  };
  CHECK(message(study, true).find("not a workload: it is a problem of the device-placement study") !=
        std::string::npos);
  CHECK(message(stg, false).find("not a platform: it is a standard task graph") != std::string::npos);
  CHECK(message("node", true).find("standard task graphs, which start with a number") != std::string::npos);
}
