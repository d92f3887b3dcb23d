// SPDX-License-Identifier: BSL-1.0
/// A recorded workflow while it is read: tasks, the files that they exchange, and their other dependences.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/graph/strong_components.hpp"
#include "weft/io/text.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace weft::io::detail {

/// Tasks are set first, then who writes and who reads files, and the order at last.
class workflow {
public:
  using op_pair = std::pair<op_id, op_id>;

  model result; ///< format and notes of the reader's own may be set

  std::size_t num_tasks() const { return ops_.size(); }
  void reserve(std::size_t tasks) { ops_.reserve(tasks); }
  op_id add_task(op o) {
    ops_.push_back(std::move(o));
    result.seconds.push_back(std::numeric_limits<double>::quiet_NaN());
    return static_cast<op_id>(ops_.size() - 1);
  }
  op& task(op_id v) { return ops_[v]; }

  void set_time(op_id v, double seconds) {
    num_times_ += std::isnan(result.seconds[v]) ? 1u : 0u;
    ops_[v].work = result.seconds[v] = seconds;
  }
  void set_cores(op_id v, double cores) {
    num_parallel_ += cores > 1 && ops_[v].slots == 1 ? 1u : 0u;
    ops_[v].slots = static_cast<std::uint32_t>(std::ceil(std::clamp(cores, 1.0, 1e9)));
  }

  /// All tasks are there and no file yet.
  void set_files(std::size_t count) {
    builder_.reserve(ops_.size(), 0, 0);
    for (auto& o : ops_) {
      builder_.add_op(std::move(o));
    }
    ops_ = {};
    files_.resize(count);
  }

  /// The task writes the file. Tasks come in their order; what one says twice counts once.
  void produce(op_id v, std::uint32_t file, byte_count bytes) {
    auto& writers = files_[file].writers;
    if (writers.empty() || writers.back().task != v) {
      writers.push_back({v, builder_.add_output(v, bytes)});
    }
  }

  /// The task reads the file. Tasks come in their order; what one says twice counts once.
  void consume(op_id v, std::uint32_t file, byte_count bytes) {
    auto& readers = files_[file].readers;
    if (readers.empty() || readers.back().task != v) {
      readers.push_back({v, num_reads_++, bytes});
    }
  }

  /// Pairs of parents and children, sorted and each once; a control edge where they share no file.
  void order(std::vector<op_pair> listed) { listed_ = std::move(listed); }

  /// The task takes place on the device of another one.
  void colocate(op_id v, op_id with) { builder_.colocate(with, v); }

  /// Throws as `workload_builder::build` does, and `value_error` for more than 20 million pairs of tasks that write and
  /// read the same files.
  void build() {
    const auto rank = ranks();
    for (const auto& f : files_) {
      trace(f, rank);
    }
    weft::sort(flows_,
               [](const flow& a, const flow& b) { return a.read != b.read ? a.read < b.read : a.from < b.from; });
    std::vector<op_pair> shared;
    for (const auto& f : flows_) {
      builder_.add_edge(f.from, f.to, f.output);
      shared.emplace_back(f.from, f.to);
    }
    sort_unique(shared);
    std::vector<op_pair> without_file;
    std::set_difference(listed_.begin(), listed_.end(), shared.begin(), shared.end(), std::back_inserter(without_file));
    for (const auto& [parent, child] : without_file) {
      builder_.add_control_edge(parent, child);
    }
    num_unlisted_ = shared.size() - (listed_.size() - without_file.size());
    result.ops = std::move(builder_).build();
  }

  model finish(const char* format) && {
    auto& notes = result.notes;
    const auto count = [&notes](std::size_t n, const char* what) {
      if (n > 0) {
        notes.push_back(counted(n, what));
      }
    };
    result.format = format;
    result.unit = work_unit::seconds;
    if (num_times_ == 0) {
      result.seconds = {};
      notes.push_back("no times are recorded: work is 0");
    } else {
      result.measured_on = device_kind::cpu;
      count(result.seconds.size() - num_times_, "{task has|tasks have} no recorded time; {its|their} work is 0");
    }
    count(num_parallel_, "{task|tasks} ran on several cores; {its|their} time is that of all of them together");
    if (num_staged_ > 0) {
      notes.push_back(counted(num_staged_, "{file comes|files come} from outside, ") + number_text(staged_bytes_) +
                      " bytes in all; staging is not modelled");
    }
    count(num_shared_files_, "{file is|files are} written by several tasks; who reads {it|one} waits for all that "
                             "write it before");
    count(num_in_place_, "{file is|files are} read by the task that writes {it|them}, which is not an edge");
    count(num_unlisted_, "{pair of tasks shares|pairs of tasks share} a file without being listed as parent and "
                         "child; {it|each} makes an edge");
    return std::move(result);
  }

private:
  struct version {
    op_id task;
    std::uint32_t output;
  };
  struct read {
    op_id task;
    std::uint32_t number; // of all reads, in their order
    byte_count bytes;
  };
  struct data_file {
    std::vector<version> writers; // ascending
    std::vector<read> readers;    // ascending
  };
  struct flow {
    op_id from;
    op_id to;
    std::uint32_t output;
    std::uint32_t read;
  };
  static constexpr std::size_t max_flows = 20'000'000;

  /// Numbers of tasks in an order in which those who read a file that several tasks write come behind all of them, as
  /// far as parents, children and other files allow; what contradicts itself, such as two tasks that both read and
  /// write a file, is in the order of these, and of equals in that of the tasks. Empty if no file has several writers,
  /// or if nothing can be in order.
  std::vector<std::uint32_t> ranks() const {
    const auto n = result.seconds.size();
    std::vector<std::vector<op_id>> fixed(n);
    for (const auto& [parent, child] : listed_) {
      fixed[parent].push_back(child);
    }
    bool several = false;
    for (const auto& f : files_) {
      several = several || f.writers.size() > 1;
      for (const auto& r : f.readers) {
        if (f.writers.size() == 1 && f.writers[0].task != r.task) {
          fixed[f.writers[0].task].push_back(r.task);
        }
      }
    }
    std::vector<std::uint32_t> place(n, none);
    if (!several || !number_in_order(fixed, place)) {
      return {};
    }
    for (const auto& f : files_) { // a node of its own stands for all pairs of those who write and who read a file
      if (f.writers.size() > 1) {
        const auto node = static_cast<op_id>(fixed.size());
        fixed.emplace_back();
        for (const auto& w : f.writers) {
          fixed[w.task].push_back(node);
        }
        for (const auto& r : f.readers) {
          fixed[node].push_back(r.task);
        }
      }
    }
    const auto component = graph::strong_components(fixed);
    std::vector<op_id> tasks(n);
    std::iota(tasks.begin(), tasks.end(), 0u);
    weft::sort(tasks, [&](op_id a, op_id b) {
      return component[a] != component[b] ? component[a] < component[b] : place[a] < place[b];
    });
    for (std::uint32_t i = 0; i < n; ++i) {
      place[tasks[i]] = i;
    }
    return place;
  }

  /// A topological order that takes the first task of those that may come next; false if there is a cycle.
  static bool number_in_order(const std::vector<std::vector<op_id>>& after, std::vector<std::uint32_t>& place) {
    graph::release_counter waiting{after};
    std::priority_queue<op_id, std::vector<op_id>, std::greater<>> ready;
    const auto push = [&](op_id v) { ready.push(v); };
    waiting.for_each_ready(push);
    std::uint32_t count = 0;
    while (!ready.empty()) {
      const auto v = ready.top();
      ready.pop();
      place[v] = count++;
      waiting.finish(after, v, push);
    }
    return count == after.size();
  }

  /// The readers of each version of a file: those who only write it add a part, who reads it gets all parts so far, and
  /// who does both makes one of them.
  void trace(const data_file& f, const std::vector<std::uint32_t>& rank) {
    if (f.writers.size() < 2) {
      for (const auto& r : f.readers) {
        num_in_place_ += !f.writers.empty() && f.writers[0].task == r.task ? 1u : 0u;
        hand_over(f.writers, r);
      }
      stage(f, f.writers.empty());
      return;
    }
    if (rank.empty()) {
      return; // there is a cycle without these files
    }
    ++num_shared_files_;
    struct use {
      std::uint32_t rank;
      const version* writes;
      const read* reads;
    };
    std::vector<use> uses;
    for (auto w = f.writers.begin(), end = f.writers.end(); w != end; ++w) {
      uses.push_back({rank[w->task], &*w, nullptr});
    }
    for (const auto& r : f.readers) {
      const auto w = std::ranges::lower_bound(f.writers, r.task, {}, &version::task);
      if (w != f.writers.end() && w->task == r.task) {
        uses[static_cast<std::size_t>(w - f.writers.begin())].reads = &r;
      } else {
        uses.push_back({rank[r.task], nullptr, &r});
      }
    }
    weft::sort(uses, [](const use& a, const use& b) { return a.rank < b.rank; });
    std::vector<version> parts;
    bool outside = false;
    for (const auto& u : uses) {
      if (u.reads != nullptr) {
        outside = outside || parts.empty();
        hand_over(parts, *u.reads);
      }
      if (u.writes != nullptr) {
        if (u.reads != nullptr) {
          parts.clear();
        }
        parts.push_back(*u.writes);
      }
    }
    stage(f, outside);
  }

  void hand_over(const std::vector<version>& parts, const read& to) {
    if (flows_.size() + parts.size() > max_flows) {
      throw value_error("files", "more than " + std::to_string(max_flows) +
                                   " pairs of tasks write and read the same file; give what each task writes a name "
                                   "of its own");
    }
    for (const auto& part : parts) {
      if (part.task != to.task) {
        flows_.push_back({part.task, to.task, part.output, to.number});
      }
    }
  }

  void stage(const data_file& f, bool from_outside) {
    if (from_outside && !f.readers.empty()) {
      ++num_staged_;
      staged_bytes_ += static_cast<double>(f.readers.front().bytes);
    }
  }

  workload_builder builder_;
  std::vector<op> ops_;
  std::vector<data_file> files_;
  std::vector<op_pair> listed_; // parents and children
  std::vector<flow> flows_;
  std::uint32_t num_reads_ = 0;
  std::size_t num_times_ = 0;
  std::size_t num_parallel_ = 0;
  std::size_t num_staged_ = 0;
  std::size_t num_in_place_ = 0;
  std::size_t num_unlisted_ = 0;
  std::size_t num_shared_files_ = 0;
  double staged_bytes_ = 0;
};

} // namespace weft::io::detail
