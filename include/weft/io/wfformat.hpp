// SPDX-License-Identifier: BSL-1.0
/// Reads and writes recorded scientific workflows in WfFormat, the JSON of WfCommons.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/io/detail/json_document.hpp"
#include "weft/io/detail/name_index.hpp"
#include "weft/io/detail/workflow.hpp"
#include "weft/io/files.hpp"
#include "weft/io/json_workload.hpp" // op_references
#include "weft/io/reader.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <istream>
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
    const auto described = root_.object().at("workflow");
    const auto specification = described.object().find("specification");
    const auto tasks = (specification ? *specification : described).at("tasks");
    read_tasks(tasks.array("a list of tasks"));
    read_all_times(described, tasks);
    for (const op_id v : ids(transfers_.size())) {
      if (is_transfer(v)) {
        flow_.set_time(v, 0);
      }
    }
    if (specification) {
      if (const auto files = specification->find("files")) {
        list_files(*files);
      }
    } else {
      list_files_of(tasks);
    }
    const auto dependencies = read_dependencies(tasks);
    const auto makers = tasks_without_files(tasks);
    flow_.set_files(sizes_.size() + makers.size());
    each_file(tasks, true, [this](op_id v, std::uint32_t file, byte_count bytes) {
      flow_.produce(v, file, bytes);
    });
    each_file(tasks, false, [this](op_id v, std::uint32_t file, byte_count bytes) {
      flow_.consume(v, file, bytes);
    });
    pass_on(makers, dependencies);
    flow_.order(dependencies);
    build(tasks);
    return std::move(flow_).finish("WfFormat");
  }

private:
  using op_pair = workflow::op_pair;

  static byte_count size_of(const json_value& file) {
    const auto size = file.find("sizeInBytes");
    return (size ? *size : file.at("size")).whole(0, workload_builder::max_total_bytes);
  }

  void read_tasks(const json_value& tasks) {
    const auto n = tasks.size();
    tasks_.reserve(n);
    flow_.reserve(n);
    written_.resize(n);
    for (const json_value& task : tasks) {
      const auto v = static_cast<op_id>(flow_.num_tasks());
      const auto id = task.object().find("id");
      const auto name = id ? *id : task.at("name");
      op o{.name = name.text()};
      if (o.name.empty()) {
        name.fail("is empty; parents and children refer to a task by it");
      }
      if (const auto category = task.find("category"); category && category->is_string()) {
        o.type = category->text();
      }
      if (const auto type = task.find("type"); type && type->is_string() && type->text() == "transfer") {
        transfers_.resize(v + 1, false);
        transfers_[v] = true;
        o.type = "transfer";
      }
      if (const auto label = task.find("name"); id && label && label->text() != o.name) {
        labels_.add(label->text(), v);
      }
      tasks_.add(o.name, v);
      flow_.add_task(std::move(o));
    }
    if (const auto twice = tasks_.sort()) {
      tasks[twice->second].fail("the id " + in_quotes(flow_.task(twice->second).name) + " was given to /tasks/" +
                                std::to_string(twice->first) + "; ids must differ");
    }
    (void)labels_.sort(); // only ids need to differ
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

  void read_all_times(const json_value& described, const json_value& tasks) {
    const auto execution = described.find("execution");
    const json_value& holder = execution ? *execution : described;
    auto& notes = flow_.result.notes;
    if (const auto makespan = holder.find("makespanInSeconds"); makespan && makespan->is_number()) {
      notes.push_back("the recorded makespan of " + number_text(makespan->number()) +
                      " s counts queueing and staging of files as well");
    }
    const auto machines = holder.find("machines");
    if (const auto count = machines && machines->is_array() ? machines->size() : 0; count > 1) {
      notes.push_back(std::to_string(count) +
                      " machines, perhaps with different speeds, were measured as if they were one");
    }
    if (!execution) {
      op_id v = 0;
      for (const json_value& task : tasks) {
        read_times(v++, task);
      }
    } else if (const auto records = execution->find("tasks")) {
      std::vector<bool> seen(flow_.num_tasks(), false);
      for (const json_value& record : records->array("a list of records")) {
        const auto v = task_called(record.object().at("id"));
        if (seen[v]) {
          record.fail("there is another record of task " + in_quotes(flow_.task(v).name));
        }
        seen[v] = true;
        read_times(v, record);
      }
    }
  }

  void read_times(op_id v, const json_value& record) {
    if (const auto time = record.has("runtimeInSeconds") ? record.find("runtimeInSeconds") : record.find("runtime")) {
      flow_.set_time(v, time->number());
      if (v < transfers_.size()) {
        transfers_[v] = false; // a job that moved files, as it ran
      }
    }
    if (const auto bytes = record.has("writtenBytes") ? record.find("writtenBytes") : record.find("bytesWritten");
        bytes && bytes->is_number()) {
      const double written = std::ceil(bytes->number());
      if (written > static_cast<double>(workload_builder::max_total_bytes)) {
        bytes->fail("is too large");
      }
      written_[v] = static_cast<byte_count>(written);
    }
    const auto command = record.find("command");
    if (const auto program = command ? command->find("program") : std::nullopt; program && program->is_string()) {
      flow_.task(v).type = program->text();
    }
    const auto cores = record.has("coreCount") ? record.find("coreCount") : record.find("cores");
    if (cores && cores->is_number()) {
      flow_.set_cores(v, cores->number());
    }
  }

  void list_files(const json_value& files) {
    const auto n = files.array("a list of files").size();
    names_.reserve(n);
    sizes_.reserve(n);
    for (const json_value& file : files) {
      names_.add(file.object().at("id").text(), static_cast<std::uint32_t>(sizes_.size()));
      sizes_.push_back(size_of(file));
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
    sizes_.resize(names_.number_names());
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
          use(v, file, sizes_[file]);
        }
      }
      if (const auto list = task.find("files")) {
        for (const json_value& file : list->array("a list of files")) {
          if (const auto link = file.at("link"); link.text() == (written ? "output" : "input")) {
            use(v, found(file.at("name")), size_of(file));
          }
        }
      }
      ++v;
    }
  }

  /// Those that list no file, but whose record tells how much they wrote.
  std::vector<op_id> tasks_without_files(const json_value& tasks) const {
    std::vector<op_id> result;
    op_id v = 0;
    for (const json_value& task : tasks) {
      bool any = false;
      for (const char* key : {"files", "inputFiles", "outputFiles"}) {
        const auto list = task.find(key);
        any = any || (list && list->is_array() && list->size() > 0);
      }
      if (!any && written_[v]) {
        result.push_back(v);
      }
      ++v;
    }
    return result;
  }

  /// The bytes that these wrote are a file that their children read. Transfers, which SimGrid has as tasks, begin where
  /// their first parent ran.
  void pass_on(const std::vector<op_id>& makers, const std::vector<op_pair>& dependencies) {
    auto file = static_cast<std::uint32_t>(sizes_.size());
    std::size_t num_transfers = 0;
    for (const op_id v : makers) {
      const auto bytes = *written_[v];
      flow_.produce(v, file, bytes);
      const auto first = std::ranges::lower_bound(dependencies, op_pair{v, 0});
      for (auto d = first; d != dependencies.end() && d->first == v; ++d) {
        flow_.consume(d->second, file, bytes);
      }
      ++file;
      num_transfers += is_transfer(v) ? 1u : 0u;
    }
    std::vector<bool> is_placed(transfers_.size(), false);
    for (const auto& [parent, child] : dependencies) {
      if (is_transfer(child) && !is_placed[child]) {
        is_placed[child] = true;
        flow_.colocate(child, parent);
      }
    }
    auto& notes = flow_.result.notes;
    if (num_transfers > 0) {
      notes.push_back(counted(num_transfers, "{task is a transfer|tasks are transfers}, as SimGrid writes {it|them}: "
                                             "{its|their} bytes go from the device of {its|their} first parent to "
                                             "{its|their} children; SimGrid takes 'runtime' as FLOP, not as seconds"));
    }
    if (makers.size() > num_transfers) {
      notes.push_back(counted(makers.size() - num_transfers, "{task lists|tasks list} no files; the bytes that "
                                                             "{it|they} wrote go to each of {its|their} children"));
    }
  }

  bool is_transfer(op_id v) const { return v < transfers_.size() && transfers_[v] && written_[v]; }

  /// Parents and children, sorted and each once. Both must say so, unless no task lists parents, or none lists
  /// children.
  std::vector<op_pair> read_dependencies(const json_value& tasks) {
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
    sort_unique(from_parents);
    sort_unique(from_children);
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
    return from_parents.empty() ? from_children : from_parents;
  }

  void build(const json_value& tasks) {
    try {
      flow_.build();
    } catch (const cycle_error& e) {
      std::throw_with_nested(tasks[e.ops.front()].located(e.what()));
    } catch (const error& e) {
      std::throw_with_nested(tasks.located(e.what()));
    }
  }

  json_value root_;
  workflow flow_;
  name_index tasks_;
  name_index labels_; // names of tasks that have another id
  name_index names_;
  std::vector<byte_count> sizes_; // of files
  std::vector<std::optional<byte_count>> written_; // of tasks, in all
  std::vector<bool> transfers_;                    // whether a task is one; false for those behind the last
};

/// The ids of tasks: their names if all are there and differ, else with their numbers in front.
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
/// file that a task writes is a tensor that all tasks which list it as an input consume; of a file that several tasks
/// write, each makes a part, and who reads it waits for all parts that are made before, as far as parents and children
/// allow. Tasks without any file, but with `writtenBytes` (before 1.5 `bytesWritten`), hand so many bytes to each of
/// their children; tasks of type "transfer" without a run time are what SimGrid means by them: bytes on their way from
/// the device of the first parent. Parents and children without a common file are joined by a control edge; both must
/// say so, unless no task of the file lists parents, or none children. Work is the recorded run time in seconds on the
/// machines that were used, of kind CPU, and so are `model::seconds` (NaN for tasks without a record). `coreCount` is
/// how many slots of its device the op takes. Files that no task writes are staged in from outside, which is not
/// modelled. Notes tell what is left out.
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
    throw value_error("seconds",
                      "has " + std::to_string(seconds.size()) + " entries for " + std::to_string(n) + " ops");
  }
  const auto names = detail::task_ids(w);
  const auto file = [](tensor_id t) { return "t" + std::to_string(t); };
  const auto list = [&](std::vector<op_id> ops) {
    sort_unique(ops);
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
    if constexpr (requires { std::uint32_t{w.slots(v)}; }) {
      if (w.slots(v) > 1) {
        record["coreCount"] = w.slots(v);
      }
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
