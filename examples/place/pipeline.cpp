// SPDX-License-Identifier: BSL-1.0
#include "pipeline.hpp"

#include "parallel_step.hpp"
#include "sharding.hpp"

#include "weft/core/readable.hpp"
#include "weft/io/pipeline_csv.hpp"
#include "weft/io/runtime_placement.hpp"
#include "weft/parallel/choose_all_reduce.hpp"
#include "weft/parallel/choose_resharding.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/find_pipeline_order.hpp"
#include "weft/parallel/gradients.hpp"
#include "weft/parallel/pipeline_stages.hpp"
#include "weft/parallel/replica_placement.hpp"
#include "weft/parallel/staged_step.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/partition/layers.hpp"
#include "weft/platform/links.hpp"
#include "weft/report/names.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/solve/recomputation.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/role.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

namespace place {
namespace {

using namespace weft;

/// A way in which devices share the work: `replicas` × `stages` × `ranks` of them.
struct pipeline_shape {
  std::uint32_t replicas = 1; ///< each with a part of the batch
  std::uint32_t stages = 2;   ///< devices, or groups of them, one behind the other
  std::uint32_t ranks = 1;    ///< devices that split the ops of a stage
  std::uint32_t turns = 1;    ///< stages of each device
  std::uint64_t micro_batches = 1;

  std::size_t devices() const { return std::size_t{replicas} * stages * ranks; }
  /// Forward and backward ones of all replicas.
  std::uint64_t passes() const { return 2 * micro_batches * stages * turns * replicas; }
  parallel::configuration config() const {
    return {.devices = static_cast<std::uint32_t>(devices()),
            .replicas = replicas,
            .ranks = ranks,
            .stages = stages,
            .turns = turns,
            .micro_batches = micro_batches};
  }
  std::string name() const {
    if (replicas > 1 && ranks > 1 && stages > 1) { // the table has no room for more
      return fmt::format("data {}, tensor {}, pipeline {}", replicas, ranks, stages);
    }
    std::vector<std::string> parts;
    for (const auto& [count, what] :
         {std::pair{replicas, "data"}, std::pair{ranks, "tensor"}, std::pair{stages, "pipeline"}}) {
      if (count > 1) {
        parts.push_back(fmt::format("{} × {}", count, what));
      }
    }
    return parts.empty() ? "gradient accumulation" : fmt::format("{}", fmt::join(parts, ", "));
  }
  std::string spec() const {
    if (devices() == 1) {
      return fmt::format("accumulate={}", micro_batches);
    }
    return fmt::format("pipeline={}{}{},micro-batches={}{}", stages,
                       replicas > 1 ? fmt::format(",data={}", replicas) : "",
                       ranks > 1 ? fmt::format(",tensor={}", ranks) : "", micro_batches,
                       turns > 1 ? fmt::format(",turns={}", turns) : "");
  }
};

/// Longer steps are not looked for: each order that is tried would take a second to run.
constexpr std::uint64_t max_passes = 10'000;
constexpr std::uint64_t max_passes_given = 1'000'000; ///< of a step that was asked for

/// Times that are known op by op, wherever ops run.
struct known_times : tool::estimate {
  std::vector<double> seconds = {};

  template <class W, class P>
  double compute_time(const W& /*w*/, op_id v, const P& /*p*/, device_id /*d*/) const {
    return seconds[v];
  }
  template <class W, class P>
  device_id device_class(const W& /*w*/, const P& /*p*/, device_id /*d*/) const {
    return 0;
  }
};

/// The part of a model that a micro-batch is, cut into stages.
struct staged_model {
  workload ops = {};                 ///< those of the model, or its parts
  placement where = {};              ///< of the first replica
  std::vector<bool> repeated = {};   ///< by op: for each micro-batch
  std::vector<std::uint32_t> stage = {};
  std::vector<double> seconds = {};  ///< by op
  partition::model_layers layers = {};
  std::vector<std::uint32_t> stage_of_part = {}; ///< of the layers, what comes before them and what follows
};

/// The way in which ops of a step in micro-batches are launched.
cost::launches launches_of(const options& o, const tool::input& in) {
  const bool is_eager = in.net && in.net->training() && in.net->kernels() == weft::nn::kernel_set::framework;
  return o.launches.value_or(is_eager ? cost::launches::eager : cost::launches::single);
}

/// True if ops on the device are launched by a host whose time is not in theirs.
bool is_launched(const options& o, const tool::target& target, device_id d) {
  return target.devices.kind(d) != device_kind::cpu && !target.devices.reached_rates(d) && !o.modelling.peak_rates;
}

/// A model in micro-batches of one size.
class micro_batch_model {
public:
  micro_batch_model(const options& o, const tool::target& target, const tool::input& whole, std::uint64_t examples,
                    const cost::efficiency_table& table, const cost::efficiency_table& with_launches)
      : o_{o}, target_{target}, in_{tool::load_with_batch(o.source, o.modelling, examples)},
        estimate_{tool::make_estimate(o.modelling, in_, target, table)},
        with_launches_{tool::make_estimate(o.modelling, in_, target, with_launches)} {
    in_.name = whole.name;
    const auto other = tool::load_with_batch(o.source, o.modelling, 2 * examples);
    if (!parallel::have_same_ops(in_.model.ops, other.model.ops)) {
      throw error("its ops depend on the batch");
    }
    if (const auto type = unknown_update(in_.model.ops); !type.empty() && parallel::gradients(in_.model.ops).empty()) {
      throw error(fmt::format("it changes its variables by ops of type {}, and it is not known which of their inputs "
                              "are gradients",
                              type));
    }
    repeated_ = parallel::repeated_ops(in_.model.ops, other.model.ops);
    if (std::find(repeated_.begin(), repeated_.end(), true) == repeated_.end()) {
      throw error("nothing in it grows with the batch");
    }
    tool::make_costs(o.modelling, in_, target, estimate_, notes_); // for its notes
    if (const auto how = launches_of(o, in_); how == cost::launches::eager) {
      notes_.push_back(fmt::format("a framework in Python launches: its host takes {:.0f} µs for an op and {:.1f} ms "
                                   "for a pass of a stage, while accelerators run; --launches single is for a runtime",
                                   1e6 * cost::launch_seconds(how), 1e3 * cost::pass_launch_seconds(how)));
    }
    in_.model.ops = parallel::with_free_sums(in_.model.ops);
  }

  const tool::input& in() const { return in_; }
  const std::vector<std::string>& notes() const { return notes_; }

  /// The time in which a gradient of so many bytes is added to another one.
  double seconds_of_sum(byte_count bytes, device_id d) const {
    workload_builder b;
    const op_id term = b.add_op({.bytes = bytes}), before = b.add_op({.bytes = bytes});
    const op_id sum = b.add_op({.work = static_cast<double>(bytes) / element_bytes(o_, in_.model),
                                .bytes = bytes,
                                .type = "Add"});
    b.add_edge(before, sum);
    b.add_edge(term, sum);
    return estimate_.compute_time(std::move(b).build(), sum, target_.devices, d);
  }

  /// Seconds that a micro-batch takes each of so many devices that split its ops as is fastest, without what they send.
  double least_seconds(std::uint32_t ranks, device_id device) const {
    if (const auto at = least_.find(ranks); at != least_.end()) {
      return at->second;
    }
    const auto& w = in_.model.ops;
    const auto where = replica_on(device, w, target_.devices);
    const auto model =
      ranks > 1 ? axes_of(in_) : parallel::split_model{};
    const auto parts = ranks > 1 ? std::optional<parallel::split_ops>{std::in_place, model, ranks} : std::nullopt;
    double seconds = 0;
    for (const op_id v : ids(w.num_ops())) {
      if (!repeated_[v] || where[v] != device) {
        continue;
      }
      double least = estimate_.compute_time(w, v, target_.devices, device);
      if (parts) {
        for (const auto axis : parts->axes(v)) {
          least = std::min(least, estimate_.compute_time(parts->ops(), parts->of(v, axis), target_.devices, device));
        }
      }
      seconds += least;
    }
    return least_[ranks] = seconds;
  }

  /// Seconds that a host takes to launch the ops of a micro-batch that run on the device.
  double host_seconds(device_id device) const {
    if (!is_launched(o_, target_, device)) {
      return 0;
    }
    const auto& w = in_.model.ops;
    const auto where = replica_on(device, w, target_.devices);
    double seconds = 0;
    for (const op_id v : ids(w.num_ops())) {
      seconds += repeated_[v] && where[v] == device ? cost::host_seconds(w, v, launches_of(o_, in_)) : 0;
    }
    return seconds;
  }

  /// Seconds that a micro-batch takes a stage at least: its device, or the host that launches its passes.
  double seconds_of_stage(const pipeline_shape& s, device_id device) const {
    const double host = host_seconds(device);
    const auto passes = s.stages == 1 || host == 0 ? 0 : s.turns; // and as many backward where that stage has some
    return std::max(least_seconds(s.ranks, device) / s.stages,
                    host / s.stages + passes * cost::pass_launch_seconds(launches_of(o_, in_)));
  }

  /// In so many stages on these devices, the first replica's; `ranks` for each stage, `turns` stages for each device.
  /// None if ops and what they send take far longer than that, one after the other.
  std::optional<staged_model> staged(const pipeline_shape& shape, const std::vector<device_id>& devices,
                                     double faster_than) const {
    const auto& w = in_.model.ops;
    const auto stages = shape.stages * shape.turns;
    const auto home = [&](std::uint32_t stage, std::uint32_t rank) {
      return devices[std::size_t{stage % shape.stages} * shape.ranks + rank];
    };
    // As if each stage had a device of its own, on which everything may run.
    const auto like = chosen_devices(target_.devices.devices(), {devices.front()}).front();
    const platform line{std::vector<device>(stages, like), uniform_links{}};
    const auto anywhere = w.with_kinds(std::vector<kind_set>(w.num_ops(), kind_set::all()));
    const auto on_first = replica_on(devices.front(), w, target_.devices);
    known_times times{estimate_};
    for (const op_id v : ids(w.num_ops())) {
      times.seconds.push_back(with_launches_.compute_time(w, v, target_.devices, on_first[v]));
    }
    std::vector<device_id> all(stages);
    std::iota(all.begin(), all.end(), 0);
    const weft::problem on_line{anywhere, line, times};
    const auto cut = parallel::pipeline_stages(on_line, all, repeated_);
    staged_model m;
    m.layers = partition::find_layers(on_line);
    m.stage_of_part.assign(m.layers.num_parts(), 0);
    for (const op_id v : ids(w.num_ops())) { // gradients may be in earlier stages than their layers
      auto& stage = m.stage_of_part[m.layers.part[on_line.component(v)]];
      stage = std::max(stage, cut[v]);
    }
    m.stage.assign(cut.begin(), cut.end());
    const auto order = graph::topological_order(w);
    for (auto i = order.rbegin(); i != order.rend(); ++i) { // sums for updates are where these are
      for (const tensor_id t : w.outputs(*i)) {
        for (const op_id c : w.consumers(t)) {
          if (parallel::is_sum(w.type(*i)) && !repeated_[c] && w.consumers(t).size() == 1) {
            m.stage[*i] = m.stage[c];
          }
        }
      }
    }
    std::vector<placement> where(shape.ranks, placement(w.num_ops()));
    std::map<device_id, placement> on; // by home
    for (std::uint32_t s = 0; s < stages; ++s) {
      for (std::uint32_t r = 0; r < shape.ranks; ++r) {
        if (const auto d = home(s, r); !on.contains(d)) {
          on[d] = replica_on(d, w, target_.devices);
        }
      }
    }
    for (const op_id v : ids(w.num_ops())) {
      for (std::uint32_t r = 0; r < shape.ranks; ++r) {
        where[r][v] = on.at(home(m.stage[v], r))[v];
      }
    }
    if (shape.ranks == 1) {
      m.ops = w;
      m.where = std::move(where.front());
      m.repeated = repeated_;
      for (const op_id v : ids(w.num_ops())) {
        m.seconds.push_back(estimate_.compute_time(w, v, target_.devices, m.where[v]));
      }
      return m;
    }
    return split(shape, devices, where, faster_than, m) ? std::optional{std::move(m)} : std::nullopt;
  }

private:
  /// True if other ops than those of micro-batches read what v makes, as updates read gradients.
  bool is_added_up(op_id v) const {
    const auto& w = in_.model.ops;
    const auto outputs = w.outputs(v);
    return repeated_[v] && std::any_of(outputs.begin(), outputs.end(), [&](tensor_id t) {
             const auto& readers = w.consumers(t);
             return std::any_of(readers.begin(), readers.end(), [&](op_id c) { return !repeated_[c]; });
           });
  }

  /// Splits each op among the devices of its stage; false if that takes too long.
  bool split(const pipeline_shape& shape, const std::vector<device_id>& devices, const std::vector<placement>& where,
             double faster_than, staged_model& m) const {
    const auto& w = in_.model.ops;
    const auto model = axes_of(in_);
    const parallel::split_ops parts{model, shape.ranks};
    const std::vector<device_id> group(devices.begin(), devices.begin() + shape.ranks);
    const parallel::fastest_resharding fastest{target_.devices, group, o_.contention,
                                               parallel::usual_collectives(target_.devices, group), estimate_};
    const auto choose = [&](std::uint32_t stages, byte_count capacity) -> const parallel::chosen_splits& {
      auto& chosen = chosen_[{shape.ranks, stages}];
      if (chosen.axis.empty()) {
        chosen = parallel::choose_splits(
          model, shape.ranks,
          {.op = [&](op_id v, std::uint32_t axis) {
             return estimate_.compute_time(parts.ops(), parts.of(v, axis), target_.devices, where.front()[v]);
           },
           .transfer = [&](parallel::resharding what, byte_count size) { return fastest.seconds(what, size); },
           .capacity = capacity,
           .lasts = [&](op_id v) { return is_added_up(v); }},
          {.budget = {.moves = 2000, .stop = o_.budget.stop}, .jobs = o_.jobs});
      }
      return chosen;
    };
    constexpr auto unlimited = std::numeric_limits<byte_count>::max();
    const auto capacity = memory_for_each(target_.devices, devices) * shape.stages; // of all stages
    const auto& fastest_splits = choose(0, unlimited);
    const auto& chosen = fastest_splits.peak <= capacity ? fastest_splits : choose(shape.stages, capacity);
    if (!chosen.found) {
      throw does_not_fit("no splits of its ops were found that fit into memory");
    }
    double once = 0; // seconds, of what no micro-batch does
    for (const op_id v : ids(w.num_ops())) {
      once += repeated_[v] ? 0 : estimate_.compute_time(parts.ops(), parts.of(v, chosen.axis[v]), target_.devices,
                                                        where.front()[v]);
    }
    const auto each = (chosen.seconds - once) * static_cast<double>(shape.micro_batches);
    if ((each + once) / shape.stages > most_overlap * faster_than) {
      return false;
    }
    auto made = parallel::tensor_parallel(
      model, chosen.axis, where, element_bytes(o_, in_.model),
      [&](parallel::resharding what, byte_count size) { return fastest.messages(what, size); });
    const auto stage_of_op = std::exchange(m.stage, {});
    m.ops = std::move(made.graph);
    m.where = std::move(made.where);
    const auto n = m.ops.num_ops();
    m.stage.assign(n, none);
    m.repeated.assign(n, false);
    m.seconds.assign(n, 0);
    const auto stages_of = [&](device_id d) { // what joins and cuts tensors is where its inputs come from, or goes to
      const auto at = std::find(devices.begin(), devices.end(), d);
      return at == devices.end() ? none
                                 : static_cast<std::uint32_t>(at - devices.begin()) / shape.ranks;
    };
    const auto order = graph::topological_order(m.ops);
    for (const op_id v : order) {
      const auto from = made.origin[v];
      m.seconds[v] = estimate_.compute_time(m.ops, v, target_.devices, m.where[v]);
      if (from != none) {
        m.stage[v] = stage_of_op[from];
        m.repeated[v] = repeated_[from];
        continue;
      }
      for (const tensor_id t : m.ops.inputs(v)) {
        const auto producer = m.ops.producer(t);
        m.repeated[v] = m.repeated[v] || m.repeated[producer];
        if (m.stage[producer] != none && m.stage[producer] % shape.stages == stages_of(m.where[v])) {
          m.stage[v] = m.stage[producer];
        }
      }
    }
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      for (const tensor_id t : m.ops.outputs(*i)) {
        for (const op_id c : m.ops.consumers(t)) {
          m.stage[*i] = m.stage[*i] == none ? m.stage[c] : m.stage[*i];
        }
      }
      m.stage[*i] = m.stage[*i] == none ? 0 : m.stage[*i];
    }
    return true;
  }

  const options& o_;
  const tool::target& target_;
  tool::input in_;
  tool::estimate estimate_;      ///< of kernels
  tool::estimate with_launches_; ///< of ops, which take no less than the host takes to launch them
  std::vector<std::string> notes_;
  std::vector<bool> repeated_;
  // By ranks and stages; 0 of them: as if there were memory for all.
  mutable std::map<std::pair<std::uint32_t, std::uint32_t>, parallel::chosen_splits> chosen_ = {};
  mutable std::map<std::uint32_t, double> least_ = {}; // seconds, by ranks
};

/// Ops of a pass as they run by themselves, of one of so many stages of `ranks` devices.
parallel::pass_run run_alone(const options& o, const tool::target& target, const workload& ops,
                             const placement& where, std::vector<double> seconds, parallel::backward_passes how,
                             cost::launches launched, std::size_t stages, std::size_t ranks) {
  known_times times;
  times.seconds = std::move(seconds);
  const problem alone{ops, target.devices, tool::costs{times, ops, target.devices}};
  answer a;
  a.plan.placement = where;
  if (how == parallel::backward_passes::whole) { // where memory is short
    for (const op_id v : solve::lazy_order(ops)) {
      a.plan.order.push_back(step::run(v));
    }
  }
  follow(o, alone, a);
  simulate::memory_tracker<problem> memory{alone};
  memory.follow(where, a.run);
  const std::vector<double> none_yet(target.devices.num_devices(), 0);
  parallel::pass_run r{.seconds = none_yet, .peak = memory.peaks(), .busy = none_yet};
  for (const op_id v : ids(ops.num_ops())) {
    r.seconds[where[v]] = std::max(r.seconds[where[v]], a.run.ops[v].finish);
    r.busy[where[v]] += a.run.ops[v].finish - a.run.ops[v].start;
  }
  std::vector<double> host(target.devices.num_devices(), 0);
  for (const op_id v : ids(ops.num_ops())) {
    if (is_launched(o, target, where[v])) {
      host[where[v]] += cost::host_seconds(ops, v, launched, ranks);
    }
  }
  for (const device_id d : ids(host.size())) {
    const bool passes_on = host[d] > 0 && stages > 1;
    r.launched_in(d, host[d] + (passes_on ? cost::pass_launch_seconds(launched) : 0));
  }
  for (const auto& x : a.run.transfers) {
    r.bytes_sent += static_cast<double>(ops.bytes(x.tensor));
  }
  return r;
}

/// The stage that lacks most memory for one micro-batch; nothing if none does.
std::string about_memory(const parallel::pipeline_problem& p, byte_count memory) {
  std::string text;
  byte_count most = 0;
  for (std::uint32_t s = 0; s < p.num_stages(); ++s) {
    const auto d = p.stages[s].device;
    const byte_count peak = p.stages[s].peak();
    if (peak > p.capacity[d] && peak - p.capacity[d] > most) {
      most = peak - p.capacity[d];
      text = fmt::format("; stage {} needs {} for a micro-batch, and parameters and gradients leave {} of {}", s,
                         readable_bytes(peak), readable_bytes(p.capacity[d]), readable_bytes(memory));
    }
  }
  return text;
}

/// Writes what runtimes read: the layers of each stage, and what each rank does in turn.
void write_exports(const options& o, const tool::input& whole, const staged_model& m, const pipeline_shape& shape,
                   std::uint64_t micro_batch, const parallel::pipeline_problem& p,
                   const parallel::pipeline_order& order, parallel_step& step) {
  if (!o.schedule.empty()) {
    std::ostringstream text;
    io::write_pipeline_csv(text, p, order);
    step.schedule = text.str();
  }
  if (o.exports.empty()) {
    return;
  }
  io::layer_placement where{.embedding = m.stage_of_part.front(), .head = m.stage_of_part.back()};
  for (std::uint32_t i = 0; i < m.layers.num_layers; ++i) {
    where.layers.push_back({m.layers.named ? m.layers.scopes[i] : std::string{}, m.stage_of_part[i + 1]});
  }
  for (const auto& s : m.layers.outside) {
    where.outside.push_back({s.scope, m.stage_of_part[s.part]});
  }
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    where.devices.push_back({fmt::format("gpu{}", s)});
  }
  where.replicas = shape.replicas;
  where.tensor_ranks = shape.ranks;
  where.micro_batch = micro_batch;
  where.batch = whole.batch;
  for (const auto& e : o.exports) {
    const auto& format = io::runtime_formats[e.format];
    auto written = format.write(where);
    for (const auto& note : written.notes) {
      step.found.notes.push_back(fmt::format("{}: {}", format.name, note));
    }
    step.found.exports.push_back(std::move(written.text));
  }
}

/// A step of that shape. Null if no order of it is faster than `faster_than` seconds; without a problem (`made`) if no
/// order was found that fits.
std::unique_ptr<parallel_step> make_step(const options& o, const tool::target& target, const tool::input& whole,
                                         const micro_batch_model& model, const pipeline_shape& shape,
                                         const std::vector<device_id>& among, bool shard_updates,
                                         parallel::backward_passes how, double faster_than,
                                         const cost::efficiency_table& table) {
  using enum parallel::mesh_traffic;
  // The replicas of a stage are beside each other: what they send is most.
  const auto devices = joined_devices(o, target, among,
                                      {{shape.ranks},
                                       {shape.replicas, shard_updates ? in_parts : all_reduce},
                                       {shape.stages, neighbours}});
  std::vector<std::vector<device_id>> of_replica(shape.replicas);
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    for (std::uint32_t r = 0; r < shape.replicas; ++r) {
      for (std::uint32_t t = 0; t < shape.ranks; ++t) {
        of_replica[r].push_back(devices[(std::size_t{s} * shape.replicas + r) * shape.ranks + t]);
      }
    }
  }
  auto found_stages = model.staged(shape, of_replica.front(), faster_than);
  if (!found_stages) {
    return nullptr;
  }
  auto& m = *found_stages;
  m.ops = parallel::without_barriers(m.ops);
  const auto staged = parallel::make_staged_step(
    m.ops, m.repeated, m.stage, m.where,
    [&](const workload& ops, const placement& where, const std::vector<op_id>& origin) {
      std::vector<double> seconds;
      for (const op_id v : origin) {
        seconds.push_back(v == none ? 0 : m.seconds[v]);
      }
      return run_alone(o, target, ops, where, std::move(seconds), how, launches_of(o, whole),
                       shape.stages, shape.ranks);
    },
    how);
  std::vector<std::uint32_t> device_of(staged.num_stages);
  for (std::uint32_t s = 0; s < staged.num_stages; ++s) {
    device_of[s] = s % shape.stages;
  }
  std::vector<byte_count> capacity;
  for (const device_id d : ids(target.devices.num_devices())) {
    const bool is_stage = std::find(devices.begin(), devices.end(), d) != devices.end();
    capacity.push_back(is_stage ? memory_for_each(target.devices, devices) : target.devices.memory_capacity(d));
  }
  if (shard_updates) { // each replica has a part of what only updates read
    const auto& w = staged.graph;
    for (const op_id v : ids(w.num_ops())) {
      bool is_shared = !staged.repeated[v];
      bool is_read = is_update(w, v);
      for (const tensor_id t : w.outputs(v)) {
        for (const op_id c : w.consumers(t)) {
          is_shared = is_shared && (is_update(w, v) || is_update(w, c));
          is_read = true;
        }
      }
      const byte_count kept = w.resident_bytes(v) / shape.replicas;
      capacity[staged.where[v]] += is_shared && is_read ? w.resident_bytes(v) - kept : 0;
    }
  }
  const auto sum = [&](byte_count bytes, device_id d) { return model.seconds_of_sum(bytes, d); };
  auto p = parallel::pipeline_of(staged, static_cast<std::uint32_t>(shape.micro_batches), device_of, capacity,
                                 [&](byte_count bytes, device_id from, device_id to) {
                                   return target.devices.latency(from, to) +
                                          static_cast<double>(bytes) / target.devices.bandwidth(from, to);
                                 },
                                 sum);
  if (parallel::pipeline_bound(p, parallel::pipeline_objective::makespan) >= faster_than) {
    return nullptr;
  }
  std::vector<double> sums; // seconds, but for the first micro-batch
  for (const op_id v : ids(staged.graph.num_ops())) {
    sums.push_back(staged.repeated[v] ? parallel::seconds_of_sums(staged, v, sum) : 0);
  }
  const auto num_steps = static_cast<double>(p.passes_each() * p.stages.size() * p.micro_batches);
  const bool is_only_one = o.parallel == options::parallelism::pipeline;
  const auto moves = static_cast<std::uint64_t>(std::clamp((is_only_one ? 1e8 : 1e7) / num_steps, 1e2, 1e5));
  const auto given = p.capacity;
  std::unique_ptr<parallel_step> step;
  for (int tries = 0; tries < 4 && (!step || !step->found.found); ++tries) {
    const auto found =
      parallel::find_pipeline_order(p, {.budget = {.moves = moves, .stop = o.budget.stop}, .seed = o.seed});
    if (!found.found) {
      if (!step) {
        step = std::make_unique<parallel_step>();
        step->found.why = "no order of its micro-batches was found that fits" +
                          about_memory(p, memory_for_each(target.devices, devices));
      }
      break;
    }
    const auto passes =
      parallel::micro_batched(staged.graph, staged.repeated, p.micro_batches, staged.where,
                              element_bytes(o, model.in().model), parallel::micro_batch_sums::in_place);
    auto turns = parallel::turns_of(staged, passes, p, found.order);
    const auto last_turn = *std::max_element(turns.begin(), turns.end());
    step = std::make_unique<parallel_step>();
    step->in.spec = whole.spec;
    step->in.name = whole.name;
    step->in.from = whole.from;
    step->in.model = model.in().model;
    step->cost_notes = model.notes();
    auto& graph = step->in.model.ops;
    graph = passes.graph;
    auto where = passes.where;
    std::vector<op_id> origin(graph.num_ops()); // in the micro-batches
    std::iota(origin.begin(), origin.end(), 0);
    if (shape.replicas > 1) {
      std::vector<placement> replicas;
      for (const auto& mine : of_replica) {
        replicas.push_back(parallel::replica_placement(passes.where, of_replica.front(), mine, target.devices));
      }
      std::vector<device_id> firsts;
      for (const auto& mine : of_replica) {
        firsts.push_back(mine.front());
      }
      const auto estimate = tool::make_estimate(o.modelling, model.in(), target, table);
      const parallel::data_parallel_options reduced{.shard_updates = shard_updates,
                                                    .element_bytes = element_bytes(o, model.in().model)};
      const auto all_reduce = parallel::choose_all_reduce(reduced.bucket_bytes, target.devices, firsts, o.contention,
                                                          shard_updates, estimate);
      auto both = parallel::data_parallel(graph, replicas, all_reduce.messages, reduced);
      std::vector<std::uint64_t> of_both;
      for (const op_id v : both.origin) {
        of_both.push_back(v == none ? last_turn : turns[v]);
      }
      origin = std::move(both.origin);
      turns = std::move(of_both);
      graph = std::move(both.graph);
      where = std::move(both.where);
    }
    const auto estimate = tool::make_estimate(o.modelling, step->in, target, table);
    known_times times{estimate};
    for (const op_id v : ids(graph.num_ops())) {
      const bool is_new = origin[v] == none; // what reduces gradients
      const auto from = is_new ? none : passes.origin[origin[v]];
      if (from != none && staged.repeated[from]) {
        times.seconds.push_back(staged.seconds[from] + (passes.replica[origin[v]] > 0 ? sums[from] : 0));
        step->sent_within += staged.sent_within[from];
      } else { // what others have added up is there
        times.seconds.push_back(from == none && !is_new ? 0
                                                        : estimate.compute_time(graph, v, target.devices, where[v]));
      }
    }
    step->made = std::make_unique<problem>(graph, target.devices, tool::costs{times, graph, target.devices});
    auto& a = step->found;
    a.found = true;
    a.plan.placement = std::move(where);
    a.plan.order = parallel::order_by_turns(graph, turns);
    follow_step(o, target, *step);
    std::vector<double> busy(target.devices.num_devices(), 0);
    for (const op_id v : ids(graph.num_ops())) {
      busy[a.plan.placement[v]] += a.run.ops[v].finish - a.run.ops[v].start;
    }
    double idle = 0;
    for (const auto d : of_replica.front()) {
      idle += (1 - busy[d] / a.run.makespan) / static_cast<double>(of_replica.front().size());
    }
    write_exports(o, whole, m, shape, model.in().batch, p, found.order, *step);
    if (shape.stages == 1 && shape.ranks == 1 && shape.replicas > 1) {
      step->how = shard_batch(target, model.in(), devices, shard_updates, {});
      step->how.value.batch = whole.batch;
      step->how.value.micro_batches = shape.micro_batches;
    }
    step->config = shape.config();
    step->config.shards_updates = shard_updates;
    step->config.recomputes = o.modelling.recompute.has_value();
    step->about = fmt::format("{}{} micro-batches, {:.0f} % idle{}",
                              shape.turns > 1 ? fmt::format("in {} turns, ", shape.turns) : "", shape.micro_batches,
                              100 * idle, shard_updates ? ", sharded updates" : "");
    const auto on_what = shape.devices() == 1 ? report::device_name(target.devices, devices.front())
                                              : range_of(target.devices, devices);
    a.strategy = fmt::format("{} on {}, {} micro-batches of {} sample{}{}{}, devices idle for {:.1f} % of the step",
                             staged.num_stages == 1 ? is_training_step(graph) ? "gradient accumulation"
                                                                        : "parts of the batch one after the other"
                             : shape.turns > 1      ? fmt::format("pipeline of {} stages, {} per device,",
                                                                  staged.num_stages, shape.turns)
                                                    : fmt::format("pipeline of {} stages", staged.num_stages),
                             on_what, shape.micro_batches, model.in().batch, model.in().batch == 1 ? "" : "s",
                             shape.replicas > 1 ? fmt::format(" for each of {} replicas", shape.replicas) : "",
                             staged.num_stages == 1 ? "" : fmt::format("; order improved from {}", found.start),
                             100 * idle);
    step->spec = shape.spec() + (shape.replicas > 1 ? shard_updates ? ",sharded" : ",whole" : "");
    for (std::size_t d = 0; d < p.capacity.size(); ++d) {
      p.capacity[d] = given[d] / 10 * static_cast<byte_count>(9 - tries);
    }
  }
  return step;
}

/// The pipelines of a step that are compared.
class pipelines {
public:
  pipelines(const options& o, const tool::target& target, const tool::input& in, const std::vector<device_id>& devices,
            const cost::efficiency_table& kernels, const cost::efficiency_table& with_launches,
            const std::function<void(const std::string&)>& on_stage, parallel_answer& all)
      : o_{o}, target_{target}, in_{in}, devices_{devices}, kernels_{kernels}, with_launches_{with_launches},
        on_stage_{on_stage}, all_{all} {}

  void run() {
    if (is_forced_) {
      if (auto why = why_not(); !why.empty()) {
        all_.why_not = std::move(why);
        return;
      }
      const auto s = given();
      s.stages * s.ranks == 1 && s.micro_batches == 0 ? accumulate(s) : add(s);
    } else {
      const auto n = static_cast<std::uint32_t>(devices_.size());
      for (std::uint32_t stages = 1; stages <= n; stages *= 2) { // 1: gradients are added up over micro-batches
        for (std::uint32_t ranks = 1; stages * ranks <= n; ranks *= 2) {
          if (n % (stages * ranks) == 0 && (ranks == 1 || may_split_ops_)) {
            pipeline_shape s{.replicas = n / (stages * ranks), .stages = stages, .ranks = ranks};
            if (stages * ranks == 1) {
              accumulate(s);
              continue;
            }
            for (s.turns = 1; s.turns <= std::min(stages, 2u); ++s.turns) {
              add(s);
            }
          }
        }
      }
    }
    try_each(usual_);
    if (found_.kept.empty() && all_.kept.empty()) {
      try_each(reserve_);
    }
    if (is_forced_ && found_.ways.empty()) {
      all_.why_not = why_not_;
    }
    all_.all_fit = all_.all_fit && found_.all_fit;
    constexpr std::size_t most = 5; // in the table
    sort_ways(found_.ways);
    for (std::size_t i = 0; i < found_.ways.size(); ++i) {
      auto& w = found_.ways[i];
      if (i < most || std::any_of(found_.kept.begin(), found_.kept.end(), [&](const auto& x) {
            return x->name == w.name && x->found.run.makespan == w.step_seconds;
          })) {
        all_.ways.push_back(std::move(w));
      }
    }
    for (auto& x : found_.kept) {
      keep(std::move(x), all_);
    }
  }

private:
  struct candidate {
    pipeline_shape shape;
    const micro_batch_model* model;
    double bound;    ///< seconds: the work of ops, and the wait for the first micro-batch's forward pass
    double estimate; ///< the same with the wait for the first and the last micro-batch
  };

  /// The shape that was asked for; 0 micro-batches: as many as suit.
  pipeline_shape given() const {
    return {.replicas = std::max(1u, o_.pipeline.replicas),
            .stages = o_.pipeline.stages,
            .ranks = std::max(1u, o_.pipeline.ranks),
            .turns = std::max(1u, o_.pipeline.turns),
            .micro_batches = o_.pipeline.micro_batches};
  }

  /// The reason for which that is impossible; empty if none is known.
  std::string why_not() const {
    const auto s = given();
    if (s.ranks > 1 && !may_split_ops_) {
      return why_not_along_axes(in_) + ": leave tensor= out";
    }
    if (std::uint64_t{s.stages} * s.turns > in_.model.ops.num_ops()) {
      return fmt::format("a step of {} ops cannot be cut into {} stages", in_.model.ops.num_ops(),
                         std::uint64_t{s.stages} * s.turns);
    }
    if (s.devices() > devices_.size()) {
      return fmt::format("there are only {} devices that are alike, not {}", devices_.size(), s.devices());
    }
    if (s.micro_batches != 0 && in_.batch % (s.replicas * s.micro_batches) != 0) {
      return fmt::format("a batch of {} cannot be split into {} micro-batches of each of {} replica{}", in_.batch,
                         s.micro_batches, s.replicas, s.replicas == 1 ? "" : "s");
    }
    if (s.passes() > max_passes_given) {
      return fmt::format("a step of {} passes, of which at most {} are simulated: give fewer micro-batches", s.passes(),
                         max_passes_given);
    }
    if (s.micro_batches == 0 && (in_.batch % s.replicas != 0 || in_.batch == s.replicas)) {
      return fmt::format("a batch of {} cannot be split into micro-batches for {} replica{}", in_.batch, s.replicas,
                         s.replicas == 1 ? "" : "s");
    }
    return {};
  }

  /// The model of a micro-batch; null if there is none, such as where the model's batch is fixed.
  const micro_batch_model* model_of(const pipeline_shape& s) {
    const auto examples = in_.batch / (s.replicas * s.micro_batches);
    try {
      auto at = models_.find(examples);
      if (at == models_.end()) {
        at = models_.try_emplace(examples, o_, target_, in_, examples, kernels_, with_launches_).first;
      }
      return &at->second;
    } catch (const error& e) {
      why_not_ = e.what();
      return nullptr;
    }
  }

  /// Tries the fewest micro-batches of one stage that fit, which are the fastest.
  void accumulate(pipeline_shape s) {
    const auto& ops = in_.model.ops;
    const auto kind = target_.devices.kind(devices_.front());
    byte_count resident = 0;
    for (const op_id v : ids(ops.num_ops())) {
      resident += ops.kinds(v).contains(kind) ? ops.resident_bytes(v) : 0;
    }
    if (const auto memory = target_.devices.memory_capacity(devices_.front()); s.devices() == 1 && resident > memory) {
      keep_misfit(s.name(), fmt::format("parameters and their state take {} of {}", readable_bytes(resident),
                                        readable_bytes(memory)), found_);
      return;
    }
    const auto rows = found_.ways.size();
    const auto examples = in_.batch % s.replicas == 0 ? in_.batch / s.replicas : 0;
    for (s.micro_batches = 2; s.micro_batches <= examples && s.passes() <= max_passes; ++s.micro_batches) {
      if (examples % s.micro_batches != 0) {
        continue;
      }
      const auto* model = model_of(s);
      if (!model || is_stopped(o_) ||
          static_cast<double>(s.micro_batches) * model->seconds_of_stage(s, devices_.front()) >= too_slow(s)) {
        break;
      }
      found_.ways.erase(found_.ways.begin() + static_cast<std::ptrdiff_t>(rows), found_.ways.end());
      if (try_one(s, *model)) {
        break;
      }
    }
    if (found_.ways.size() == rows && why_not_.empty()) {
      why_not_ = fmt::format("no number of micro-batches above 1 divides the {} samples of {} into at most {} passes",
                             in_.batch, s.replicas == 1 ? "the batch" : fmt::format("{} replicas", s.replicas),
                             max_passes);
    }
  }

  /// Adds the two numbers of micro-batches that seem fastest, and the largest, for which memory is enough if it is for
  /// any; the others are for where nothing fits, as parts of larger ones may be split further.
  void add(pipeline_shape s) {
    std::vector<candidate> counts;
    const auto add_count = [&] {
      if (const auto* model = model_of(s)) {
        const double each = model->seconds_of_stage(s, devices_.front());
        constexpr double forward = 0.25; // of a pass at least; more where nothing is run again
        const auto count = static_cast<double>(s.micro_batches);
        const auto wait = static_cast<double>(s.stages - 1) / s.turns;
        counts.push_back({s, model, (count + forward * wait) * each, (count + wait) * each});
      }
    };
    if (s.micro_batches != 0 && is_forced_) {
      add_count();
    } else if (in_.batch % s.replicas == 0) {
      for (s.micro_batches = in_.batch / s.replicas; s.micro_batches > 1; s.micro_batches /= 2) {
        if (is_stopped(o_)) {
          return;
        }
        if (s.passes() <= max_passes) {
          add_count();
        }
        if (s.micro_batches % 2 != 0) {
          break;
        }
      }
    }
    std::stable_sort(counts.begin() + (counts.empty() ? 0 : 1), counts.end(),
                     [](const candidate& a, const candidate& b) { return a.estimate < b.estimate; });
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const bool second_is_better = counts.size() > 2 && counts[2].estimate < counts[0].estimate;
      (i < (second_is_better ? 3u : 2u) ? usual_ : reserve_).push_back(counts[i]);
    }
  }

  /// Those without splits of ops come first: they take least time to make.
  void try_each(std::vector<candidate>& some) {
    std::stable_sort(some.begin(), some.end(), [](const candidate& a, const candidate& b) {
      return std::tuple{a.shape.ranks, a.estimate} < std::tuple{b.shape.ranks, b.estimate};
    });
    for (const auto& c : some) {
      if (is_stopped(o_)) {
        return;
      }
      if (is_forced_ || c.bound < too_slow(c.shape)) {
        try_one(c.shape, *c.model);
      }
    }
  }

  /// Pipelines that take little longer are shown, too, and simpler ones may be the ones to take.
  double too_slow(const pipeline_shape& s) const {
    double least = std::numeric_limits<double>::infinity();
    const double gain = 1 + o_.least_gain / 100;
    for (const auto& some : {std::cref(all_), std::cref(found_)}) {
      for (const auto& x : some.get().kept) {
        const bool is_simpler = parallel::is_simpler(s.config(), x->config);
        least = std::min(least, x->found.run.makespan *
                                  std::max(s.stages == 1 ? 1.0 : 1.1, is_simpler ? gain : 1.0));
      }
    }
    return is_forced_ ? std::numeric_limits<double>::infinity() : least;
  }

  void note_misfit(const pipeline_shape& s, const std::string& why) {
    if (!is_stopped(o_)) { // else a search had no time
      keep_misfit(s.name(), why, found_);
    }
  }

  /// Whether it fits.
  bool try_one(const pipeline_shape& s, const micro_batch_model& model) {
    on_stage_(fmt::format("trying {} with {} micro-batches", s.name(), s.micro_batches));
    try {
      for (const bool sharded : {false, true}) {
        if ((sharded && s.replicas == 1) || (o_.shard_updates && is_forced_ && *o_.shard_updates != sharded)) {
          continue;
        }
        using enum parallel::backward_passes;
        auto step = make_step(o_, target_, in_, model, s, devices_, sharded, split, too_slow(s), kernels_);
        if (step && !step->found.found) {
          if (auto other = make_step(o_, target_, in_, model, s, devices_, sharded, whole, too_slow(s), kernels_)) {
            step = std::move(other);
          }
        }
        if (!step) {
          break;
        }
        if (!step->made) {
          note_misfit(s, step->found.why);
          continue;
        }
        const bool fits = step->found.found;
        keep_best(std::move(step), s.name(), in_, found_);
        if (fits) {
          return true;
        }
      }
    } catch (const cycle_error&) {
      why_not_ = fmt::format("{} stages of layers would wait for each other in a circle, as ops of several layers are "
                             "kept together: try another number of stages", s.stages * s.turns);
    } catch (const does_not_fit& e) {
      note_misfit(s, e.what());
    } catch (const error& e) { // such as a model with fewer layers than stages
      why_not_ = e.what();
    }
    return false;
  }

  const options& o_;
  const tool::target& target_;
  const tool::input& in_;
  const std::vector<device_id>& devices_;
  const cost::efficiency_table& kernels_;
  const cost::efficiency_table& with_launches_;
  const std::function<void(const std::string&)>& on_stage_;
  parallel_answer& all_;
  bool is_forced_ = o_.parallel == options::parallelism::pipeline;
  bool may_split_ops_ = has_axes(in_);
  std::map<std::uint64_t, micro_batch_model> models_ = {}; // by examples of a micro-batch
  std::vector<candidate> usual_ = {};
  std::vector<candidate> reserve_ = {};
  parallel_answer found_ = {};
  std::string why_not_ = {};
};

} // namespace

void pipeline_work(const options& o, const tool::target& target, const tool::input& in,
                   const std::vector<device_id>& devices,
                   const std::function<void(const std::string&)>& on_stage, parallel_answer& all) {
  const auto how = launches_of(o, in);
  static const auto kernels = tool::efficiencies(o.modelling, how, false); // steps point to it
  const auto with_launches = tool::efficiencies(o.modelling, how);
  pipelines{o, target, in, devices, kernels, with_launches, on_stage, all}.run();
}

} // namespace place
