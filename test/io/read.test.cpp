// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/io/json_plan.hpp"
#include "weft/io/json_profile.hpp"
#include "weft/io/json_schedule.hpp"
#include "weft/io/read.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace io_read_test {

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
  for (const auto& text : {std::string{"hello"}, std::string{"[1]"}, std::string{"1 2, 3"}, std::string{"Ide,x\n"}}) {
    const auto what = message(text, true);
    CHECK(what.find("not a model: its format is not known; it begins with '") != std::string::npos);
    CHECK(what.find("; the formats understood are weft JSON, ") != std::string::npos);
    CHECK(what.find("Standard Task Graph") != std::string::npos);
    CHECK(message(text, false).find("not a platform: its format is not known") != std::string::npos);
  }
  CHECK(message(device_csv, true).find("not a model: it is a platform") !=
        std::string::npos);
  CHECK(message(graph_csv, false).find("not a platform: it is a model") !=
        std::string::npos);
  CHECK(message(platform_json, true).find("it is a platform (weft JSON)") !=
        std::string::npos);
}

TEST_CASE("read: what no reader takes is told by sight, with a way out") {
  const auto told = [](std::string_view bytes) {
    const auto e = weft_test::parse_error_of([&] { (void)io::model_from(bytes, "x"); });
    CHECK(e.file == "x");
    return std::string{e.what()};
  };
  struct sample {
    std::string bytes;
    const char* part;
  };
  using namespace std::string_literals;
  for (const auto& [bytes, part] : {
         sample{"", "it is empty"},
         sample{" \r\n", "it is empty"},
         sample{"\x08\x07\x12\x07pytorch", "it is an ONNX model, for which weft needs its component onnx"},
         sample{"module @jit_f {\n", "it is a program in StableHLO, for which weft needs its component stablehlo"},
         sample{"ML\xefR", "it is a program in StableHLO"},
         sample{R"({"graph_module": {}})", "it is a PyTorch program, for which weft needs its component pytorch"},
         sample{"\n\x0e\n\x05" "const\x12\x05" "Const",
                "it is a TensorFlow graph, for which weft needs its component tensorflow"},
         sample{"# a\n\nnode {\n  name: \"x\"\n}", "it is a TensorFlow graph as text"},
         sample{"library: {", "it is a TensorFlow graph as text"},
         sample{"\x08\x01\x12\x10", "it is a TensorFlow SavedModel"},
         sample{"\x1c\0\0\0TFL3"s, "it is a TensorFlow Lite model"},
         sample{"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "git lfs pull"},
         sample{"%%MatrixMarket matrix coordinate real general\n% made by hand\n3 3 2\n1 1 1.5\n2 3 -1\n",
                "it is a Matrix Market matrix"},
         sample{R"([{"name": "abz5", "jobs": 10, "path": "instances/abz5"}])", "it is a list of files"},
         sample{"---\nx-pegasus:\n  apiLang: python\npegasus: \"5.0\"\n", "it is a workflow of Pegasus 5 in YAML"},
         sample{"GGUF\3\0\0\0\0\0\0\0"s, "it is a GGUF file"},
         sample{"\x48\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}"s,
                "it is a safetensors file"},
         sample{"\x89HDF\r\n", "it is an HDF5 file"},
         sample{"PK\x03\x04", "it is a zip archive"},
         sample{"\x1f\x8b\x08", "it is compressed with gzip"},
         sample{R"({"version": 1, "format": "weft.plan"})", "it is a plan;"},
         sample{R"({"format": "weft.trace"})", "it is a trace;"},
         sample{R"({"format": "weft.profile"})", "it is a profile;"},
         sample{R"({"instance": "01a", "format": "fajsp", "operations": [{"operation": 0, "option": 0, "machine": 0,
"duration": 42}], "precedences": [[0, 1, 0]]})",
                "it is a flexible assembly job shop (FAJSP) in JSON, as ScheduleOpt has it"},
         sample{"5 3 3\n0 1 0\n1 2 0\n3 4 1\n2 0 3 1 5\n1 1 6\n2 0 1 2 4\n1 2 2\n3 0 1 1 4 2 4\n",
                "it is a flexible assembly job shop (FAJSP), a list of precedences"},
         sample{"# of two jobs\n5 3 3\n0 1\n0 2\n3 4\n2 0 3 1 5\n1 1 6\n2 0 1 2 4\n1 2 2\n3 0 1 1 4 2 4",
                "give the text file of the same instance that has a line per job"},
         sample{"2 1 2\n0 1 0\n1 0 3\n1 1 4\n", "it is a flexible assembly job shop (FAJSP), a list of precedences"},
         sample{"3 0 1\n1 0 3\n1 0 4\n1 0 5\n", "it is a flexible assembly job shop (FAJSP), a list of precedences"},
         sample{R"({"instance": "abz5", "machines": 10, "jobs": 10, "data": [{"job": 0, "operation": 0, "machine": 4,
"duration": 88}]})",
                "it is a job shop in JSON, as ScheduleOpt has it, with its operations in \"data\""},
         sample{R"({"format": "other"})", "its \"format\" is not one that is known"},
         sample{R"({"cpus": [], "fpgas": []})", "not a problem"},
         sample{R"({"ops": {"format": "weft.workload"}})", "it is JSON, but without"},
         sample{"{", "it is JSON, but without"},
         sample{"\x7f" "ELF\0"s, "it is not text"},
       }) {
    CAPTURE(part);
    CHECK(told(bytes).starts_with("x:1: not a model: "));
    CHECK(told(bytes).find(part) != std::string::npos);
    CHECK(told(bytes).find('\n') == std::string::npos);
  }
}

/// Takes what begins with its mark; the name is in the model.
struct marked_reader {
  char mark = '!';
  std::string_view name = "marked";
  std::string_view format() const { return name; }
  bool recognises(std::string_view bytes) const { return bytes.starts_with(mark); }
  weft::model read(std::string_view bytes, const std::string& file) const {
    if (bytes.size() > 1) {
      throw weft::parse_error(file, 1, "more than the mark");
    }
    weft::model m;
    m.format = name;
    return m;
  }
};

TEST_CASE("read: further readers come first, in their order") {
  static_assert(io::model_reader<marked_reader> && !io::platform_reader<marked_reader>);
  CHECK(io::model_from("!", "f", marked_reader{}).format == "marked");
  CHECK(io::model_from("?", "f", marked_reader{}, marked_reader{'?', "second"}).format == "second");
  CHECK(io::model_from("!", "f", marked_reader{'!', "a"}, marked_reader{'!', "b"}).format == "a");
  CHECK(io::model_from("3", "f", marked_reader{'3', "digit"}).format == "digit"); // else a standard task graph
  CHECK(io::model_from(workload_json, "f", marked_reader{}).format == "weft JSON");
  CHECK(weft_test::parse_error_of([] { (void)io::model_from("!!", "f", marked_reader{}); }).what() ==
        std::string{"f:1: more than the mark"});
  CHECK(std::string{weft_test::parse_error_of([] { (void)io::model_from("?", "f", marked_reader{}); }).what()}.find(
          "the formats understood are marked, weft JSON") != std::string::npos);
  const temporary_file file{"!"};
  CHECK(io::read_model(file.path(), marked_reader{}).format == "marked");
  CHECK(io::read_workload(file.path(), marked_reader{}).num_ops() == 0);
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
  const auto two_ops = io::model_from(R"({"format": "weft.workload", "version": 1, "ops": [
    {"name": "first", "work": 1}, {"name": "matmul", "work": 1}]})", "f").ops;
  weft::platform<> two_gpus{{{}, {}}, weft::link_matrix{2}};
  two_gpus.set_names({"gpu0", "gpu1"});
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
                     : is("weft.sharding") ? "sharding" // which is for others to read
                     : is("weft.profile")
                       ? "profile of " + std::to_string(io::read_profile_json(file.path()).num_entries())
                     : is("weft.trace") ? "trace of " + std::to_string(io::read_trace_json(file.path()).ops.size())
                     : is("weft.schedule")
                       ? "schedule of " +
                           std::to_string(io::read_given_plan_json(file.path(), two_ops, two_gpus).run->ops.size())
                     : is("weft.platform") || is("Id,RAM")
                       ? "platform of " + std::to_string(io::read_platform(file.path()).num_devices())
                       : "workload of " + std::to_string(io::read_workload(file.path()).num_ops()));
    }
  }
  CHECK(read == std::vector<std::string>{"workload of 5", "platform of 5", "platform of 8", "platform of 3",
                                         "plan of 6", "plan of 3", "trace of 2", "schedule of 2", "profile of 2",
                                         "sharding", "workload of 4", "platform of 3"});
}

TEST_CASE("read: a model says what its work counts") {
  const auto unit = [](const std::string& text) { return io::model_from(text, "f").unit; };
  CHECK(unit(workload_json) == weft::work_unit::flop);
  CHECK(unit(graph_csv) == weft::work_unit::own);
  CHECK(unit("1\n0 0 0\n1 3 1 0\n2 0 1 1\n") == weft::work_unit::own);
  CHECK(unit("digraph { a [work=2]; }") == weft::work_unit::own);
  CHECK(unit("% HyperDAG\n1 2 2\n0 7\n0 2\n1 3\n0 0\n0 1\n") == weft::work_unit::own);
  CHECK(unit("a -- L(x) -- forward_compute_time=1, backward_compute_time=2, activation_size=3, parameter_size=4\n") ==
        weft::work_unit::seconds);
  CHECK(unit(R"({"schemaVersion": "1.4", "workflow": {"tasks": [{"name": "a"}]}})") == weft::work_unit::seconds);
}

TEST_CASE("read: standard task graphs and problems of the placement study are models") {
  const std::string stg = "# two tasks\n 2\n0 0 0\n1 3 1 0\n2 4 1 0\n3 0 2 1 2\n";
  const auto tasks = io::model_from(stg, "s");
  CHECK(tasks.ops.num_ops() == 4);
  CHECK(tasks.seconds.empty());
  const std::string study = R"({"maxSizePerFPGA": 1, "maxFPGAs": 1, "maxCPUs": 1, "edges": [], "nodes": [
    {"id": 7, "supportedOnFpga": true, "cpuLatency": 20, "fpgaLatency": 3, "size": 5},
    {"id": 8, "supportedOnFpga": false, "cpuLatency": 20, "fpgaLatency": 3, "size": 5}]})";
  const auto m = io::model_from(study, "s");
  CHECK(m.unit == weft::work_unit::seconds);
  CHECK(m.ops.work(0) == 0.003);
  CHECK(m.ops.work(1) == 0.02); // where it runs
  CHECK(m.seconds.at(0) == 0.003);
  CHECK(m.seconds.at(1) != m.seconds.at(1));
  CHECK(m.measured_on == weft::kind_set{weft::device_kind::fpga});
  CHECK(m.notes.size() == 2);
  CHECK(io::holds_dnn_partitioning(temporary_file{study}.path()));
  CHECK_FALSE(io::holds_dnn_partitioning(temporary_file{stg}.path()));
  CHECK_FALSE(io::holds_dnn_partitioning(temporary_file{workload_json}.path()));
  CHECK_THROWS_AS((void)io::holds_dnn_partitioning("/nonexistent/s.json"), weft::error);
}

} // namespace io_read_test
