// SPDX-License-Identifier: BSL-1.0
/// A recorded workflow while it is read: tasks, the files that they exchange, and their other dependences.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/io/text.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft::io::detail {

/// Tasks are set first, then what writes files, then what reads them, and the order at last.
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

  /// The task that writes a file: v, unless another one does.
  op_id produce(op_id v, std::uint32_t file, byte_count bytes) {
    auto& f = files_[file];
    if (f.producer == none) {
      f.producer = v;
      f.output = builder_.add_output(v, bytes);
    }
    return f.producer;
  }

  void consume(op_id v, std::uint32_t file, byte_count bytes) {
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

  /// Control edges between parents and children, sorted and each once, that share no file.
  void order(const std::vector<op_pair>& listed) {
    sort_unique(shared_);
    std::vector<op_pair> without_file;
    std::set_difference(listed.begin(), listed.end(), shared_.begin(), shared_.end(), std::back_inserter(without_file));
    for (const auto& [parent, child] : without_file) {
      builder_.add_control_edge(parent, child);
    }
    num_unlisted_ = shared_.size() - (listed.size() - without_file.size());
  }

  /// Throws as `workload_builder::build` does.
  void build() { result.ops = std::move(builder_).build(); }

  model finish(const char* format) && {
    auto& notes = result.notes;
    const auto count = [&notes](std::size_t n, const char* what) {
      if (n > 0) {
        notes.push_back(std::to_string(n) + what);
      }
    };
    result.format = format;
    result.unit = work_unit::seconds;
    if (num_times_ == 0) {
      result.seconds = {};
      notes.push_back("no times are recorded: work is 0");
    } else {
      result.measured_on = device_kind::cpu;
      count(result.seconds.size() - num_times_, " tasks have no recorded time; their work is 0");
    }
    count(num_parallel_, " tasks ran on several cores; their time is that of all of them together");
    if (num_staged_ > 0) {
      notes.push_back(std::to_string(num_staged_) + " files of " + number_text(staged_bytes_) +
                      " bytes in all come from outside; staging them is not modelled");
    }
    count(num_in_place_, " files are read by the task that writes them, which is not an edge");
    count(num_unlisted_, " pairs of tasks share a file without being listed as parent and child; it makes an edge");
    return std::move(result);
  }

private:
  struct data_file {
    op_id producer = none;
    std::uint32_t output = 0;
    op_id last_reader = none; // tasks come in their order, so it tells who lists a file twice
  };

  workload_builder builder_;
  std::vector<op> ops_;
  std::vector<data_file> files_;
  std::vector<op_pair> shared_; // producer and consumer of a file
  std::size_t num_times_ = 0;
  std::size_t num_parallel_ = 0;
  std::size_t num_staged_ = 0;
  std::size_t num_in_place_ = 0;
  std::size_t num_unlisted_ = 0;
  double staged_bytes_ = 0;
};

} // namespace weft::io::detail
