// SPDX-License-Identifier: BSL-1.0
// Every file of the published data is read or refused for a reason.
#include <doctest/doctest.h>

#ifdef WEFT_REFERENCE_DATA
#include "weft/graph/topological_order.hpp"
#include "weft/io/read.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <vector>
#endif

namespace io_reference_test {

#ifdef WEFT_REFERENCE_DATA
using namespace weft;

struct counts {
  std::size_t nodes = 0;
  std::size_t edges = 0; ///< pairs of a producer and a consumer
};

/// Nodes and edges by file name, counted by another program.
std::map<std::string, counts> counted(const std::filesystem::path& path) {
  const std::string text = io::read_file(path);
  io::line_reader lines{text, path.string()};
  (void)lines.next();
  std::map<std::string, counts> result;
  while (const auto line = lines.next()) {
    const auto fields = io::split(*line, ',', 6);
    result[std::string{fields[0]}] = {std::stoul(std::string{fields[1]}), std::stoul(std::string{fields[3]})};
  }
  return result;
}

counts count(const workload& w) {
  std::size_t pairs = 0;
  for (const op_id v : ids(w.num_ops())) {
    std::vector<op_id> from;
    for (const tensor_id t : w.inputs(v)) {
      from.push_back(w.producer(t));
    }
    std::sort(from.begin(), from.end());
    pairs += static_cast<std::size_t>(std::unique(from.begin(), from.end()) - from.begin());
  }
  return {w.num_ops(), pairs};
}

TEST_CASE("reference data: every file is read, with the counts that another program found, or refused for a reason") {
  const std::filesystem::path root{WEFT_REFERENCE_DATA};
  if (root.empty()) {
    MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
    return;
  }
  const auto expected = counted(root / "reference" / "input_stats.csv");
  std::map<std::string, int> kinds; // how many files of each sort
  std::vector<std::filesystem::directory_entry> entries; // of the formats that weft reads; there is other data, too
  for (const char* folder :
       {"critical_path_paper", "dnn-partitioning", "hyperdag", "onnx", "pipedream", "stg", "tensorflow", "wfcommons"}) {
    using files_below = std::filesystem::recursive_directory_iterator;
    std::copy(files_below{root / "data" / folder}, files_below{}, std::back_inserter(entries));
  }
  for (const auto& entry : entries) {
    if (!entry.is_regular_file()) {
      continue;
    }
    const auto name = std::filesystem::relative(entry.path(), root).generic_string();
    CAPTURE(name);
    try {
      const auto m = io::read_model(entry.path());
      ++kinds[m.format];
      if (const auto found = expected.find(name); found != expected.end()) {
        CHECK(count(m.ops).nodes == found->second.nodes);
        CHECK(count(m.ops).edges == found->second.edges);
      } else {
        ++kinds["uncounted"];
      }
      CHECK((m.seconds.empty() || m.seconds.size() == m.ops.num_ops()));
      CHECK(m.seconds.empty() == m.measured_on.empty());
      continue;
    } catch (const parse_error& e) {
      const std::string what = e.what();
      if (what.find("it is a platform") != std::string::npos) {
        CHECK(io::read_platform(entry.path()).num_devices() > 0);
        ++kinds["platform"];
        continue;
      }
      CAPTURE(what);
      const auto has = [&](const char* part) { return what.find(part) != std::string::npos; };
      const auto extension = entry.path().extension();
      CHECK(what.find('\n') == std::string::npos);
      CHECK((extension == ".onnx"    ? has("it is an ONNX model")
             : extension == ".pbtxt" ? has("it is a TensorFlow graph as text")
             : extension == ".json"  ? has("it is a placement of the device-placement study")
                                     : has("its format is not known")));
      ++kinds[extension.string()];
    }
  }
  const std::map<std::string, int> files{{".json", 3},
                                         {".md", 1},
                                         {".onnx", 5},
                                         {".pbtxt", 4},
                                         {".txt", 1},
                                         {"HyperDAG", 3},
                                         {"PipeDream profile", 4},
                                         {"Standard Task Graph", 123},
                                         {"WfFormat", 5},
                                         {"critical-path CSV", 4},
                                         {"dnn-partitioning JSON", 8},
                                         {"platform", 4},
                                         {"uncounted", 2}};
  CHECK(kinds == files);
}

#else
TEST_CASE("reference data: every file is read or refused for a reason") {
  MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
}
#endif

} // namespace io_reference_test
