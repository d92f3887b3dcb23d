// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/io/wfformat.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

namespace io_wfformat_test {

using namespace weft;

const std::string forked = R"({"name": "fork", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": [
  {"name": "split", "id": "t1", "parents": [], "children": ["t2", "t3"], "inputFiles": ["in"], "outputFiles": ["a", "b"]},
  {"name": "work", "id": "t2", "parents": ["t1"], "children": ["t4"], "inputFiles": ["a", "a"], "outputFiles": ["c"]},
  {"name": "work", "id": "t3", "parents": ["t1"], "children": ["t4"], "inputFiles": ["a", "b"], "outputFiles": []},
  {"name": "join", "id": "t4", "parents": ["t2", "t3"], "children": [], "inputFiles": ["c", "out"], "outputFiles": ["out"]}],
 "files": [{"id": "in", "sizeInBytes": 100}, {"id": "a", "sizeInBytes": 2e3}, {"id": "b", "sizeInBytes": 3},
  {"id": "c", "sizeInBytes": 7}, {"id": "out", "sizeInBytes": 12}]},
 "execution": {"makespanInSeconds": 9.5, "tasks": [
  {"id": "t1", "runtimeInSeconds": 1.25, "coreCount": 2, "command": {"program": "cut"}},
  {"id": "t4", "runtimeInSeconds": 0}, {"id": "t2", "runtimeInSeconds": 3}],
  "machines": [{"nodeName": "m"}, {"nodeName": "n"}]}}})";

model read(const std::string& text) {
  return io::wfformat_reader::read(text, "w.json");
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// `producer>consumer:bytes` in the order of the tensors.
std::string edges_of(const workload& w) {
  std::string text;
  for (const tensor_id t : ids(w.num_tensors())) {
    for (const op_id c : w.consumers(t)) {
      text += (text.empty() ? "" : " ") + std::string{w.name(w.producer(t))} + ">" + std::string{w.name(c)} + ":" +
              std::to_string(w.bytes(t));
    }
  }
  return text;
}

TEST_CASE("wfformat: tasks, files and times of version 1.5") {
  CHECK(io::wfformat_reader::recognises(forked));
  const auto m = read(forked);
  CHECK(m.format == "WfFormat");
  CHECK(edges_of(m.ops) == "t1>t2:2000 t1>t3:2000 t1>t3:3 t2>t4:7 t3>t4:0"); // the last is a control edge
  CHECK(m.ops.num_tensors() == 5); // the file that nobody reads, too
  CHECK(m.ops.type(0) == "cut");
  CHECK(m.ops.work(0) == 1.25);
  REQUIRE(m.seconds.size() == 4);
  CHECK(m.seconds[1] == 3);
  CHECK(m.seconds[2] != m.seconds[2]);
  CHECK(m.seconds[3] == 0);
  CHECK(m.measured_on == kind_set{device_kind::cpu});
  const auto has = [&](const std::string& part) {
    return std::ranges::any_of(m.notes, [&](const auto& note) { return note.find(part) != std::string::npos; });
  };
  CHECK(has("the recorded makespan of 9.5 s"));
  CHECK(has("1 task has no recorded time"));
  CHECK(has("2 machines"));
  CHECK(has("1 task ran on several cores"));
  CHECK(has("1 file comes from outside, 100 bytes in all; staging"));
  CHECK(has("1 file is read by the task that writes it"));
  CHECK(m.notes.size() == 6);
}

TEST_CASE("wfformat: older versions have files and times inside tasks, and names for ids") {
  const auto m = read(R"({"schemaVersion": "1.3", "workflow": {"makespan": 4, "tasks": [
    {"name": "a_1", "runtime": 2.5, "category": "a", "parents": [], "children": ["b \u0041"],
     "files": [{"link": "output", "name": "x", "size": 5}, {"link": "input", "name": "raw", "size": 1}]},
    {"name": "b A", "id": "ID2", "runtimeInSeconds": 1, "parents": ["a_1"], "cores": 4,
     "files": [{"link": "input", "name": "x", "sizeInBytes": 5}]}]}})");
  CHECK(edges_of(m.ops) == "a_1>ID2:5");
  CHECK(m.ops.type(0) == "a");
  CHECK(m.seconds == std::vector<double>{2.5, 1});
}

TEST_CASE("wfformat: one direction is enough if the other is not used at all; shared files are edges anyway") {
  const std::string tasks = R"({"workflow": {"specification": {"tasks": [
    {"id": "a", "outputFiles": ["f"]}, {"id": "b", "parents": ["a", "a"]}, {"id": "c", "inputFiles": ["f"], "parents": ["b"]}],
    "files": [{"id": "f", "sizeInBytes": 6}]}}})";
  const auto m = read(tasks);
  CHECK(edges_of(m.ops) == "a>c:6 a>b:0 b>c:0");
  CHECK(m.seconds.empty());
  CHECK(m.measured_on.empty());
  CHECK(m.notes == std::vector<std::string>{"no times are recorded: work is 0",
                                            "1 pair of tasks shares a file without being listed as parent and child; "
                                            "it makes an edge"});
}

/// Independent tasks with records that end like this.
std::string tasks_that(const std::vector<std::string>& records, bool old = false) {
  std::string tasks;
  std::string times;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto id = "\"id\": \"t" + std::to_string(i) + "\"";
    tasks += std::string{i == 0 ? "" : ", "} + "{\"name\": \"t\", " + id + (old ? records[i] : "") + "}";
    times += std::string{i == 0 ? "" : ", "} + "{" + id + records[i] + "}";
  }
  return old ? R"({"schemaVersion": "1.4", "workflow": {"tasks": [)" + tasks + "]}}"
             : R"({"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [)" + tasks +
                 R"(], "files": []}, "execution": {"tasks": [)" + times + "]}}}";
}

TEST_CASE("wfformat: cores are the slots that a task takes") {
  struct sample {
    std::string text;
    std::vector<std::uint32_t> slots;
  };
  const std::string ten = R"(, "runtimeInSeconds": 10)";
  for (const auto& [text, slots] : std::vector<sample>{
         {tasks_that({ten, ten}), {1, 1}},
         {tasks_that({ten + R"(, "coreCount": 1)", ten}), {1, 1}},
         {tasks_that({ten + R"(, "coreCount": 4)", ten + R"(, "coreCount": 4)"}), {4, 4}},
         {tasks_that({ten, ten + R"(, "coreCount": 4)", ten}), {1, 4, 1}},
         {tasks_that({ten + R"(, "coreCount": 2.0)", ten}), {2, 1}},
         {tasks_that({ten + R"(, "coreCount": 1.5)"}), {2}},
         {tasks_that({ten + R"(, "coreCount": 0)"}), {1}},
         {tasks_that({R"(, "runtime": 10, "cores": 8)", R"(, "runtime": 3, "cores": 1)"}, true), {8, 1}},
         {tasks_that({R"(, "coreCount": 16)"}), {16}},
         {tasks_that({ten + R"(, "coreCount": null)"}), {1}},
       }) {
    CAPTURE(text);
    const auto m = read(text);
    REQUIRE(m.ops.num_ops() == slots.size());
    for (const op_id v : ids(slots.size())) {
      CHECK(m.ops.slots(v) == slots[v]);
    }
    const auto copy = read(weft_test::text_of([&](std::ostream& out) { io::write_wfformat(out, m.ops); }));
    CHECK(copy.ops.slots(0) == slots[0]);
  }
}

bool says(const model& m, const std::string& part) {
  return std::ranges::any_of(m.notes, [&](const auto& note) { return note.find(part) != std::string::npos; });
}

TEST_CASE("wfformat: files that several tasks write") {
  const auto m = read(R"({"workflow": {"specification": {"tasks": [
    {"id": "r", "inputFiles": ["t"]}, {"id": "a", "outputFiles": ["t"]}, {"id": "b", "outputFiles": ["t"]}],
    "files": [{"id": "t", "sizeInBytes": 5}]}}})");
  CHECK(edges_of(m.ops) == "a>r:5 b>r:5");
  CHECK(says(m, "1 file is written by several tasks"));
  const auto old = read(R"({"workflow": {"tasks": [
    {"name": "a", "files": [{"link": "output", "name": "t", "size": 5}]},
    {"name": "b", "files": [{"link": "output", "name": "t", "size": 7}, {"link": "input", "name": "t", "size": 5}]},
    {"name": "r", "files": [{"link": "input", "name": "t", "size": 7}]}]}})");
  CHECK(edges_of(old.ops) == "a>b:5 b>r:7");
}

/// Tasks a and b, the child of a, with more keys; as of version 1.4, or 1.5.
std::string parent_and_child(const std::string& a, const std::string& b = "", bool old = true) {
  const std::string link_a = R"("children": ["b"])", link_b = R"("parents": ["a"])";
  return old ? R"({"workflow": {"tasks": [{"name": "a", )" + link_a + a + R"(}, {"name": "b", )" + link_b + b + "}]}}"
             : R"({"workflow": {"specification": {"tasks": [{"name": "a", "id": "a", )" + link_a +
                 R"(}, {"name": "b", "id": "b", )" + link_b + R"(}]}, "execution": {"tasks": [{"id": "a")" + a +
                 R"(}, {"id": "b")" + b + "}]}}}";
}

TEST_CASE("wfformat: what tasks without files wrote goes to their children") {
  struct sample {
    std::string text;
    std::string edges;
  };
  for (const auto& [text, edges] : {
         sample{parent_and_child(R"(, "bytesWritten": 12)"), "a>b:12"},
         sample{parent_and_child(R"(, "writtenBytes": 12)"), "a>b:12"},
         sample{parent_and_child(R"(, "runtimeInSeconds": 1, "writtenBytes": 12.5)", "", false), "a>b:13"},
         sample{parent_and_child(R"(, "bytesWritten": 12, "bytesRead": 7)", "", false), "a>b:12"},
         sample{parent_and_child(R"(, "bytesWritten": 0)"), "a>b:0"},
         sample{parent_and_child(R"(, "bytesRead": 7)", R"(, "bytesRead": 12)"), "a>b:0"}, // of whatever
         sample{parent_and_child(R"(, "bytesWritten": null)"), "a>b:0"},
         sample{parent_and_child(R"(, "files": [], "bytesWritten": 12)"), "a>b:12"},
         sample{parent_and_child(R"(, "files": [{"link": "output", "name": "f", "size": 5}], "bytesWritten": 12)",
                                 R"(, "files": [{"link": "input", "name": "f", "size": 5}])"),
                "a>b:5"},
         sample{parent_and_child(R"(, "files": [{"link": "input", "name": "f", "size": 5}], "bytesWritten": 12)"),
                "a>b:0"},
         sample{parent_and_child(R"(, "type": "compute", "runtime": 3, "bytesWritten": 12)", R"(, "bytesWritten": 9)"),
                "a>b:12"},
       }) {
    CAPTURE(text);
    const auto m = read(text);
    CHECK(edges_of(m.ops) == edges);
    CHECK(says(m, " no files; the bytes") == (text.find("ritten") != text.npos && edges != "a>b:5" &&
                                       text.find("null") == text.npos && text.find("input") == text.npos));
  }
}

TEST_CASE("wfformat: transfers, as SimGrid writes them") {
  const auto m = read(R"({"name": "simple", "schemaVersion": "1.0", "workflow": {"makespan": 0, "executedAt": "now", "tasks": [
    {"name": "c1", "type": "compute", "parents": [], "runtime": 1e10, "machine": "Tremblay"},
    {"name": "t1", "type": "transfer", "parents": ["c1"], "bytesWritten": 5e8, "machine": "Jupiter"},
    {"name": "c2", "type": "compute", "parents": ["t1"], "runtime": 2e10},
    {"name": "t2", "type": "transfer", "parents": ["c1", "c2"], "writtenBytes": 7},
    {"name": "c3", "type": "compute", "parents": ["t2", "c2"], "runtime": 4}], "machines": []}})");
  CHECK(edges_of(m.ops) == "c1>t1:0 c1>t2:0 t1>c2:500000000 c2>t2:0 c2>c3:0 t2>c3:7");
  CHECK(m.ops.group(0) == m.ops.group(1)); // a transfer begins where its parent ran
  CHECK(m.ops.group(0) == m.ops.group(3));
  CHECK(m.ops.group(2) != m.ops.group(0));
  CHECK(m.ops.type(1) == "transfer");
  CHECK(m.seconds == std::vector<double>{1e10, 0, 2e10, 0, 4});
  CHECK(says(m, "2 tasks are transfers, as SimGrid writes them: their bytes"));
  CHECK_FALSE(says(m, " no files; the bytes"));
  const auto ran = read(R"({"workflow": {"tasks": [
    {"name": "a", "type": "transfer", "runtime": 3, "bytesWritten": 5, "children": ["b"]}, {"name": "b"}]}})");
  CHECK(ran.seconds[0] == 3); // a job that moved files, and took time
  CHECK(ran.ops.group(0) == none);
}

TEST_CASE("wfformat: what is written reads back as the same ops and tensors") {
  rng random{5};
  for (int i = 0; i < 60; ++i) {
    const auto w = weft_test::random_workload(random, {.kind_sets = false});
    std::vector<double> seconds;
    for (const op_id v : ids(w.num_ops())) {
      seconds.push_back(v % 3 == 0 ? std::numeric_limits<double>::quiet_NaN() : random.uniform(0, 9));
    }
    const auto write = [](const workload& x, const std::vector<double>& times) {
      return weft_test::text_of([&](std::ostream& out) { io::write_wfformat(out, x, times); });
    };
    const auto text = write(w, seconds);
    CHECK(io::wfformat_reader::recognises(text));
    auto copy = read(text);
    REQUIRE(copy.ops.num_ops() == w.num_ops());
    REQUIRE(copy.ops.num_tensors() == w.num_tensors());
    for (const tensor_id t : ids(w.num_tensors())) {
      CHECK(copy.ops.bytes(t) == w.bytes(t));
      CHECK(std::ranges::equal(copy.ops.consumers(t), w.consumers(t)));
    }
    copy.seconds.resize(w.num_ops(), std::numeric_limits<double>::quiet_NaN());
    for (const op_id v : ids(w.num_ops())) {
      CHECK(copy.ops.type(v) == w.type(v));
      CHECK((copy.seconds[v] == seconds[v] || (v % 3 == 0 && copy.seconds[v] != copy.seconds[v])));
    }
    CHECK(write(copy.ops, copy.seconds) == text);
    const auto by_work = read(write(w, {}));
    for (const op_id v : ids(w.num_ops())) {
      CHECK(by_work.ops.work(v) == w.work(v));
    }
  }
  CHECK_THROWS_AS(io::write_wfformat(std::cout, workload{}, std::vector<double>(2)), value_error);
}

TEST_CASE("wfformat: what cannot be read says where and why") {
  struct sample {
    std::string text;
    std::string error;
  };
  for (const auto& [text, error] : {
         sample{"[]", "w.json:1: expected an object, found []"},
         sample{R"({"workflow": []})", "w.json:1: /workflow: expected an object"},
         sample{R"({"workflow": {}})", "/workflow: the key 'tasks' is missing"},
         sample{R"({"workflow": {"tasks": [{"id": ""}]}})", "/workflow/tasks/0/id: is empty"},
         sample{R"({"workflow": {"tasks": [{}]}})", "/workflow/tasks/0: the key 'name' is missing"},
         sample{changed(forked, "\"id\": \"t2\", \"p", "\"id\": \"t1\", \"p"),
                "/tasks/1: the id 't1' was given to /tasks/0"},
         sample{changed(forked, "\"parents\": [\"t1\"]", "\"parents\": [\"t9\"]"),
                "w.json:3: /workflow/specification/tasks/1/parents/0: there is no task called 't9'"},
         sample{
           changed(forked, "\"parents\": [\"t1\"]", "\"parents\": []"),
           "w.json:3: /workflow/specification/tasks/1: parents lacks /tasks/0, which lists this task as its child"},
         sample{changed(forked, "\"children\": [\"t2\", \"t3\"]", "\"children\": [\"t3\"]"),
                "w.json:2: /workflow/specification/tasks/0: children lacks /tasks/1"},
         sample{changed(forked, "\"inputFiles\": [\"in\"]", "\"inputFiles\": [\"on\"]"),
                "the file 'on' is not in the list of files"},
         sample{changed(forked, "{\"id\": \"b\",", "{\"id\": \"a\","), "files/2: the file is the same as /files/1"},
         sample{changed(forked, "\"sizeInBytes\": 3", "\"sizeInBytes\": -3"),
                "/files/2/sizeInBytes: expected a whole number"},
         sample{changed(forked, "\"runtimeInSeconds\": 3", "\"runtimeInSeconds\": -3"),
                "expected a number that is not negative"},
         sample{changed(forked, "\"id\": \"t4\", \"runtime", "\"id\": \"t1\", \"runtime"),
                "there is another record of task 't1'"},
         sample{changed(forked, "\"inputFiles\": [\"in\"]", "\"inputFiles\": [\"out\"]"), "the graph has a cycle"},
         sample{parent_and_child(R"(, "bytesWritten": 1e30)"), "/workflow/tasks/0/bytesWritten: is too large"},
         sample{parent_and_child(R"(, "bytesWritten": -1)"),
                "/workflow/tasks/0/bytesWritten: expected a number that is not negative"},
         sample{forked.substr(0, 700), "not valid JSON"},
       }) {
    CAPTURE(error);
    const std::string what = weft_test::parse_error_of([&] { (void)read(text); }).what();
    CHECK_MESSAGE(what.find(error) != std::string::npos, what);
    CHECK(what.find('\n') == std::string::npos);
  }
  for (const char* text : {"", "{}", R"({"workflow": 1})", R"({"x": {"workflow": {}}})", R"(["workflow", {}])"}) {
    CHECK_FALSE(io::wfformat_reader::recognises(text));
  }
}

} // namespace io_wfformat_test
