// SPDX-License-Identifier: BSL-1.0
/// Devices, placements and runs of steps that several devices share, however they do.
#pragma once

#include "parallel.hpp"

#include "weft/parallel/choose_devices.hpp"

#include <memory>
#include <string>
#include <vector>

namespace place {

/// Of the sets of devices that are alike the one that computes most, accelerators first.
std::vector<weft::device_id> alike_devices(const weft::platform<>& p);

/// The devices of a mesh among these, by the links that join them (`parallel::choose_devices`).
std::vector<weft::device_id> joined_devices(const options& o, const tool::target& target,
                                            const std::vector<weft::device_id>& among,
                                            const std::vector<weft::parallel::mesh_level>& levels);

/// The bytes that each of these devices may fill, if those that work in one memory have equal parts of it: of those
/// that have least.
weft::byte_count memory_for_each(const weft::platform<>& p, const std::vector<weft::device_id>& devices);

/// All ops on the device; those that may not run there, and their colocation groups, on the one that may and is
/// nearest.
weft::placement replica_on(weft::device_id home, const weft::workload& w, const weft::platform<>& p);

/// The same for each of these devices.
std::vector<weft::placement> replicas_on(const std::vector<weft::device_id>& devices, const weft::workload& w,
                                         const weft::platform<>& p);

/// Their names, as short as can be, and their order if it is not that of their numbers.
std::string range_of(const weft::platform<>& p, const std::vector<weft::device_id>& devices);

/// The type of an op that changes a variable in a way of its own; empty if there is none.
std::string unknown_update(const weft::workload& w);

/// The reason for which nobody knows along what ops of the model may be split.
std::string why_not_along_axes(const tool::input& in);

/// Bytes of a number in a gradient.
double element_bytes(const options& o, const weft::model& m);

/// Simulates a step whose ops are made, with that placement. `origin` says which op of `model` each came from. Where it
/// does not fit as a framework would run it, it takes an order in which the model holds little on one device.
void run_step(const options& o, const tool::target& target, const weft::cost::efficiency_table& table,
              weft::placement where, const weft::workload& model, const std::vector<weft::op_id>& origin,
              parallel_step& step);

/// Simulates a step whose problem and plan are made, and says whether it fits.
void follow_step(const options& o, const tool::target& target, parallel_step& step);

/// Adds to what the line of a way says, if there is something to add.
void add_remark(const std::string& remark, weft::report::way& w);

/// A line of the table of ways.
weft::report::way way_of(const problem& p, const answer& a, const std::string& name, std::uint64_t batch);

/// The fastest first, what does not fit last.
void sort_ways(std::vector<weft::report::way>& ways);

/// Steps whose ops and messages take so many times as long one after the other are not tried: little of that overlaps.
constexpr double most_overlap = 1.3;

/// No step was found that keeps to the memory.
struct does_not_fit : weft::error {
  using error::error;
};

/// Adds a way of which none was found.
void keep_misfit(const std::string& name, const std::string& why, parallel_answer& all);

/// Adds a step to the ways, and keeps it if it may be the one to take.
void keep_best(std::shared_ptr<parallel_step> step, const std::string& name, const tool::input& in,
               parallel_answer& all);

/// Keeps a step that fits, unless another one makes it needless.
void keep(std::shared_ptr<parallel_step> step, parallel_answer& all);

/// Sets the step to take of those that are kept: the simplest whose features pay for themselves, as --least-gain says.
void choose_way(const options& o, parallel_answer& all);

} // namespace place
