// SPDX-License-Identifier: BSL-1.0
/// Reads and writes recorded scientific workflows in WfFormat, the JSON of WfCommons.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/io/detail/json_document.hpp"
#include "weft/io/detail/name_index.hpp"
#include "weft/io/files.hpp"
#include "weft/io/json_workload.hpp" // op_references
#include "weft/io/reader.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <istream>
#include <iterator>
#include <limits>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

namespace detail {

/// A workflow, read list by list. Versions before 1.5 have files and times inside the tasks.
class wfformat_file {
public:
  explicit wfformat_file(const json_document& document) : root_{document} {}

  model read() && {
    const auto workflow = root_.object().at("workflow");
    const auto specification = workflow.object().find("specification");
    const auto tasks = (specification ? *specification : workflow).at("tasks");
    read_tasks(tasks.array("a list of tasks"));
    read_all_times(workflow, tasks);
    for (auto& o : ops_) {
      builder_.add_op(std::move(o));
    }
    ops_ = {};
    if (specification) {
      if (const auto files = specification->find("files")) {
        list_files(*files);
      }
    } else {
      list_files_of(tasks);
    }
    each_file(tasks, true, [this](auto&&... x) { produce(x...); });
    each_file(tasks, false, [this](auto&&... x) { consume(x...); });
    read_dependencies(tasks);
    build(tasks);
    add_notes();
    return std::move(result_);
  }

private:
  struct data_file {
    byte_count bytes = 0;
    op_id producer = none;
    std::uint32_t output = 0;
    op_id last_reader = none; // tasks come in their order, so it tells who lists a file twice
  };
  using op_pair = std::pair<op_id, op_id>;

  static byte_count size_of(const json_value& file) {
    const auto size = file.find("sizeInBytes");
    return (size ? *size : file.at("size")).whole(0, workload_builder::max_total_bytes);
  }

  void read_tasks(const json_value& tasks) {
    const auto n = tasks.size();
    tasks_.reserve(n);
    ops_.reserve(n);
    result_.seconds.assign(n, std::numeric_limits<double>::quiet_NaN());
    for (const json_value& task : tasks) {
      const auto v = static_cast<op_id>(ops_.size());
      const auto id = task.object().find("id");
      const auto name = id ? *id : task.at("name");
      op o{.name = name.text()};
      if (o.name.empty()) {
        name.fail("is empty; parents and children refer to a task by it");
      }
      if (const auto category = task.find("category"); category && category->is_string()) {
        o.type = category->text();
      }
      if (const auto label = task.find("name"); id && label && label->text() != o.name) {
        labels_.add(label->text(), v);
      }
      tasks_.add(o.name, v);
      ops_.push_back(std::move(o));
    }
    if (const auto twice = tasks_.sort()) {
      tasks[twice->second].fail("the id " + in_quotes(ops_[twice->second].name) + " was given to /tasks/" +
                                std::to_string(twice->first) + "; ids must differ");
    }
    (void)labels_.sort(); // only ids need to differ
    builder_.reserve(n, 0, 0);
  }

  /// The task that a parent, a child or a record of an execution calls by its id or, in old versions, by its name.
  op_id task_called(const json_value& reference) const {
    const auto name = reference.text();
    const auto v = tasks_.find(name) != none ? tasks_.find(name) : labels_.find(name);
    if (v == none) {
      reference.fail("there is no task called " + in_quotes(name));
    }
    return v;
  }

  void read_all_times(const json_value& workflow, const json_value& tasks) {
    const auto execution = workflow.find("execution");
    const json_value& holder = execution ? *execution : workflow;
    if (const auto makespan = holder.find("makespanInSeconds"); makespan && makespan->is_number()) {
      result_.notes.push_back("the recorded makespan of " + number_text(makespan->number()) +
                              " s counts queueing and staging of files as well");
    }
    const auto machines = holder.find("machines");
    num_machines_ = machines && machines->is_array() ? machines->size() : 0;
    if (!execution) {
      op_id v = 0;
      for (const json_value& task : tasks) {
        read_times(v++, task);
      }
    } else if (const auto records = execution->find("tasks")) {
      std::vector<bool> seen(ops_.size(), false);
      for (const json_value& record : records->array("a list of records")) {
        const auto v = task_called(record.object().at("id"));
        if (seen[v]) {
          record.fail("there is another record of task " + in_quotes(ops_[v].name));
        }
        seen[v] = true;
        read_times(v, record);
      }
    }
  }

  void read_times(op_id v, const json_value& record) {
    const auto time = record.has("runtimeInSeconds") ? record.find("runtimeInSeconds") : record.find("runtime");
    if (time) {
      ops_[v].work = result_.seconds[v] = time->number();
      ++num_times_;
    }
    const auto command = record.find("command");
    if (const auto program = command ? command->find("program") : std::nullopt; program && program->is_string()) {
      ops_[v].type = program->text();
    }
    const auto cores = record.has("coreCount") ? record.find("coreCount") : record.find("cores");
    if (cores && cores->is_number() && cores->number() > 1) {
      ++num_parallel_;
    }
  }

  void list_files(const json_value& files) {
    const auto n = files.array("a list of files").size();
    names_.reserve(n);
    files_.reserve(n);
    for (const json_value& file : files) {
      names_.add(file.object().at("id").text(), static_cast<std::uint32_t>(files_.size()));
      files_.push_back({.bytes = size_of(file)});
    }
    if (const auto twice = names_.sort()) {
      files[twice->second].fail("the file is the same as /files/" + std::to_string(twice->first));
    }
  }

  void list_files_of(const json_value& tasks) {
    for (const json_value& task : tasks) {
      if (const auto files = task.find("files")) {
        for (const json_value& file : files->array("a list of files")) {
          names_.add(file.object().at("name").text(), 0);
        }
      }
    }
    files_.resize(names_.number_names());
  }

  /// Calls `use(task, number of the file, its size if it is told here, where)` for each file that a task writes, or
  /// for each that it reads.
  template <class Use>
  void each_file(const json_value& tasks, bool written, const Use& use) {
    op_id v = 0;
    const auto found = [&](const json_value& name) {
      const auto file = names_.find(name.text());
      if (file == none) {
        name.fail("the file " + in_quotes(name.text()) + " is not in the list of files, which tells sizes");
      }
      return file;
    };
    for (const json_value& task : tasks) {
      if (const auto list = task.find(written ? "outputFiles" : "inputFiles")) {
        for (const json_value& name : list->array("a list of files")) {
          const auto file = found(name);
          use(v, file, files_[file].bytes, name);
        }
      }
      if (const auto list = task.find("files")) {
        for (const json_value& file : list->array("a list of files")) {
          if (const auto link = file.at("link"); link.text() == (written ? "output" : "input")) {
            use(v, found(file.at("name")), size_of(file), file);
          }
        }
      }
      ++v;
    }
  }

  void produce(op_id v, std::uint32_t file, byte_count bytes, const json_value& where) {
    auto& f = files_[file];
    if (f.producer == none) {
      f.bytes = bytes;
      f.producer = v;
      f.output = builder_.add_output(v, bytes);
    } else if (f.producer != v) {
      where.fail("the file is also written by another task, /tasks/" + std::to_string(f.producer) +
                 "; a file has one producer");
    }
  }

  void consume(op_id v, std::uint32_t file, byte_count bytes, const json_value&) {
    auto& f = files_[file];
    if (f.producer == none && f.last_reader == none) {
      ++num_staged_;
      staged_bytes_ += static_cast<double>(bytes);
    }
    if (f.producer == v) {
      ++num_in_place_;
    } else if (f.producer != none && f.last_reader != v) {
      builder_.add_edge(f.producer, v, f.output);
      shared_.emplace_back(f.producer, v);
    }
    f.last_reader = v;
  }

  /// Control edges between parents and children that share no file. Both must say so, unless no task lists parents,
  /// or none lists children.
  void read_dependencies(const json_value& tasks) {
    std::vector<op_pair> from_parents;
    std::vector<op_pair> from_children;
    op_id v = 0;
    for (const json_value& task : tasks) {
      if (const auto list = task.find("parents")) {
        for (const json_value& parent : list->array("a list of tasks")) {
          from_parents.emplace_back(task_called(parent), v);
        }
      }
      if (const auto list = task.find("children")) {
        for (const json_value& child : list->array("a list of tasks")) {
          from_children.emplace_back(v, task_called(child));
        }
      }
      ++v;
    }
    const auto sort_unique = [](std::vector<op_pair>& pairs) {
      weft::sort(pairs);
      pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    };
    sort_unique(from_parents);
    sort_unique(from_children);
    sort_unique(shared_);
    if (!from_parents.empty() && !from_children.empty() && from_parents != from_children) {
      const auto [p, c] = std::mismatch(from_parents.begin(), from_parents.end(), from_children.begin(),
                                        from_children.end());
      const bool child_missing = c == from_children.end() || (p != from_parents.end() && *p < *c);
      const auto [parent, child] = child_missing ? *p : *c;
      tasks[child_missing ? parent : child].fail(
        std::string{child_missing ? "children" : "parents"} + " lacks /tasks/" +
        std::to_string(child_missing ? child : parent) + ", which lists this task as its " +
        (child_missing ? "parent" : "child") + "; both directions must agree");
    }
    const auto& listed = from_parents.empty() ? from_children : from_parents;
    std::vector<op_pair> without_file;
    std::set_difference(listed.begin(), listed.end(), shared_.begin(), shared_.end(), std::back_inserter(without_file));
    for (const auto& [parent, child] : without_file) {
      builder_.add_control_edge(parent, child);
    }
    num_unlisted_ = shared_.size() - (listed.size() - without_file.size());
  }

  void build(const json_value& tasks) {
    try {
      result_.ops = std::move(builder_).build();
    } catch (const cycle_error& e) {
      std::throw_with_nested(tasks[e.ops.front()].located(e.what()));
    } catch (const error& e) {
      std::throw_with_nested(tasks.located(e.what()));
    }
  }

  void add_notes() {
    auto& notes = result_.notes;
    const auto count = [&notes](std::size_t n, const char* what) {
      if (n > 0) {
        notes.push_back(std::to_string(n) + what);
      }
    };
    result_.format = "WfFormat";
    result_.unit = work_unit::seconds;
    if (num_times_ == 0) {
      result_.seconds = {};
      notes.push_back("no times are recorded: work is 0");
    } else {
      result_.measured_on = device_kind::cpu;
      count(result_.seconds.size() - num_times_, " tasks have no recorded time; their work is 0");
    }
    count(num_machines_ > 1 ? num_machines_ : 0, " machines, perhaps of several speeds, were measured as if they were one");
    count(num_parallel_, " tasks ran on several cores; their time is that of all of them together");
    if (num_staged_ > 0) {
      notes.push_back(std::to_string(num_staged_) + " files of " + number_text(staged_bytes_) +
                      " bytes in all come from outside; staging them is not modelled");
    }
    count(num_in_place_, " files are read by the task that writes them, which is no edge");
    count(num_unlisted_, " pairs of tasks share a file without being listed as parent and child; the file counts");
  }

  json_value root_;
  workload_builder builder_;
  model result_;
  std::vector<op> ops_;
  name_index tasks_;
  name_index labels_; // names of tasks that have another id
  name_index names_;
  std::vector<data_file> files_;
  std::vector<op_pair> shared_; // producer and consumer of a file
  std::size_t num_machines_ = 0;
  std::size_t num_times_ = 0;
  std::size_t num_parallel_ = 0;
  std::size_t num_staged_ = 0;
  std::size_t num_in_place_ = 0;
  std::size_t num_unlisted_ = 0;
  double staged_bytes_ = 0;
};

/// What tasks are called: by their names if all are there and differ, else with their numbers in front.
template <class W>
std::vector<std::string> task_ids(const W& w) {
  const auto references = op_references(w);
  const bool unique =
    std::all_of(references.begin(), references.end(), [](const auto& reference) { return reference.is_string(); });
  std::vector<std::string> result;
  for (const op_id v : ids(references.size())) {
    std::string name;
    if constexpr (requires { std::string{w.name(v)}; }) {
      name = w.name(v);
    }
    result.push_back(unique ? name : std::to_string(v) + (name.empty() ? "" : "_" + name));
  }
  return result;
}

} // namespace detail

/// Reads a workflow of version 1.5, or of one of those before it, in which files and times are inside the tasks.
///
/// Tasks become ops in their order, named by their ids; the type is the program that was run, or the category. Each
/// file that a task writes is a tensor that all tasks which list it as an input consume. Parents and children without
/// a common file are joined by a control edge; both must say so, unless no task of the file lists parents, or none
/// children. Work is the recorded run time in seconds on the machines that were used, of kind CPU, and so are
/// `model::seconds` (NaN for tasks without a record). Files that no task writes are staged in from outside, which is
/// not modelled. Notes tell what is left out.
///
/// Throws `parse_error` with file, line and the path of the value; when the graph as a whole is unusable (a cycle),
/// the underlying error is nested in it. Complexity: O((tasks + files + references) · log(tasks + files)).
/// Source: Coleman et al., WfCommons: A framework for enabling scientific workflow research and development, Future
/// Generation Computer Systems 128, 2022.
struct wfformat_reader {
  static constexpr std::string_view format() { return "WfFormat"; }
  static bool recognises(std::string_view bytes) {
    const auto workflow = detail::outermost_value(bytes, "workflow");
    return workflow && *workflow == "{";
  }
  static model read(std::string_view bytes, const std::string& file) {
    const detail::json_document document{bytes, file};
    return detail::wfformat_file{document}.read();
  }
};

/// The same from a stream. `file` is what errors call the input.
inline model read_wfformat(std::istream& in, const std::string& file = "<stream>") {
  return wfformat_reader::read(read_all(in, file), file);
}
/// The same from a file. Throws `error` if it cannot be opened.
inline model read_wfformat(const std::filesystem::path& path) {
  return wfformat_reader::read(read_file(path), path.string());
}

/// Writes a workload as a workflow of version 1.5: a file per tensor, also for those of zero bytes, so that reading it
/// back gives the same ops and tensors. Run times are `seconds` (one per op, NaN where there is none) or, without
/// them, the work. Tasks are called by the names of their ops if these differ, else by numbers and names. Resident
/// bytes, kinds and groups are dropped: the format cannot hold them.
/// Throws `value_error` if `seconds` has neither no entry nor one per op.
template <dataflow_workload W>
void write_wfformat(std::ostream& out, const W& w, std::span<const double> seconds = {}) {
  using json = nlohmann::ordered_json;
  const auto n = static_cast<std::size_t>(w.num_ops());
  if (!seconds.empty() && seconds.size() != n) {
    throw value_error("seconds", "has " + std::to_string(seconds.size()) + " entries for " + std::to_string(n) + " ops");
  }
  const auto names = detail::task_ids(w);
  const auto file = [](tensor_id t) { return "t" + std::to_string(t); };
  const auto list = [&](std::vector<op_id> ops) {
    weft::sort(ops);
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    auto result = json::array();
    for (const op_id v : ops) {
      result.push_back(names[v]);
    }
    return result;
  };
  out << "{\n  \"name\": \"workload\",\n  \"schemaVersion\": \"1.5\",\n  \"workflow\": {\n    \"specification\": {\n"
      << "      \"tasks\": [";
  for (const op_id v : ids(n)) {
    std::vector<op_id> parents;
    std::vector<op_id> children;
    auto inputs = json::array();
    auto outputs = json::array();
    for (const tensor_id t : w.inputs(v)) {
      parents.push_back(w.producer(t));
      inputs.push_back(file(t));
    }
    for (const tensor_id t : w.outputs(v)) {
      outputs.push_back(file(t));
      for (const op_id c : w.consumers(t)) {
        children.push_back(c);
      }
    }
    out << (v == 0 ? "\n        " : ",\n        ")
        << detail::one_line(json{{"name", names[v]},
                                 {"id", names[v]},
                                 {"parents", list(parents)},
                                 {"children", list(children)},
                                 {"inputFiles", inputs},
                                 {"outputFiles", outputs}});
  }
  out << "\n      ],\n      \"files\": [";
  for (const tensor_id t : ids(static_cast<std::size_t>(w.num_tensors()))) {
    out << (t == 0 ? "\n        " : ",\n        ")
        << detail::one_line(json{{"id", file(t)}, {"sizeInBytes", static_cast<byte_count>(w.bytes(t))}});
  }
  out << "\n      ]\n    },\n    \"execution\": {\n      \"tasks\": [";
  for (const op_id v : ids(n)) {
    json record{{"id", names[v]}};
    const double time = seconds.empty() ? static_cast<double>(w.work(v)) : seconds[v];
    if (!std::isnan(time)) {
      record["runtimeInSeconds"] = detail::json_number(time);
    }
    if constexpr (requires { std::string{w.type(v)}; }) {
      if (!w.type(v).empty()) {
        record["command"] = json{{"program", std::string{w.type(v)}}};
      }
    }
    out << (v == 0 ? "\n        " : ",\n        ") << detail::one_line(record);
  }
  out << "\n      ]\n    }\n  }\n}\n";
}

} // namespace weft::io
