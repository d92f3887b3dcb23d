// SPDX-License-Identifier: BSL-1.0
#include "setting.hpp"

#include "names.hpp"
#include "tool/costs.hpp"
#include "tool/random_graphs.hpp"

#include "weft/bound/best.hpp"
#include "weft/bound/component_memory.hpp"
#include "weft/cost/generate/suite.hpp"
#include "weft/cost/table.hpp"
#include "weft/io/job_shop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <utility>

namespace comparison {
namespace {

input make_suite_input(const weft::generate::suite_entry& e) {
  auto made = weft::generate::make_suite_instance(e);
  input i;
  i.name = "suite:" + e.name();
  i.read.model.ops = std::move(made.ops);
  i.devices.emplace(made.devices.devices(), weft::link_matrix{made.devices.num_devices(), made.devices.links().all},
                    made.devices.send_work());
  const auto& w = i.read.model.ops;
  i.times.emplace(weft::cost::table{made.seconds, w.num_ops(), i.devices->num_devices()}, w, *i.devices);
  return i;
}

input make_job_shop_input(std::string name, weft::io::flexible_job_shop&& shop) {
  const auto num_times = static_cast<double>(shop.ops.num_ops()) * static_cast<double>(shop.devices.num_devices());
  if (num_times > 1e8) {
    throw weft::error(fmt::format("'{}' has {} operations on {} machines; tables of more than 10^8 times are not made",
                                  name, shop.ops.num_ops(), shop.devices.num_devices()));
  }
  input i;
  i.name = std::move(name);
  i.times.emplace(shop.cost, shop.ops, shop.devices);
  i.read.model.ops = std::move(shop.ops);
  i.read.model.notes = {"times are in the file's unit, shown as seconds"};
  i.read.model.notes.insert(i.read.model.notes.end(), shop.notes.begin(), shop.notes.end());
  i.devices.emplace(std::move(shop.devices));
  return i;
}

/// All of the suite whose names are `wanted`, or start with it before a slash.
std::vector<input> load_suite(std::string_view wanted) {
  std::vector<input> inputs;
  for (const auto& e : weft::generate::suite()) {
    const auto name = e.name();
    if (wanted == "all" || name == wanted || name.starts_with(std::string{wanted} + "/")) {
      inputs.push_back(make_suite_input(e));
    }
  }
  if (inputs.empty()) {
    throw weft::error(
      fmt::format("the suite has no '{}'; it has all, {}, and parts of them such as 'fft/ccr 1/related'", wanted,
                  fmt::join(weft::generate::suite_families, ", ")));
  }
  return inputs;
}

/// The workloads of one item of `--workload`.
std::vector<input> load_workloads(const std::string& spec, const options& o) {
  if (spec.starts_with("suite:")) {
    tool::refuse_model_options(o.modelling, "the suite, whose problems bring their times");
    return load_suite(std::string_view{spec}.substr(6));
  }
  if (spec.starts_with(tool::random_prefix)) {
    std::vector<input> inputs;
    for (const auto& graph : tool::random_graphs(spec)) {
      auto read = tool::load(tool::open(graph), o.modelling);
      inputs.push_back({.name = read.name, .read = std::move(read)});
    }
    return inputs;
  }
  std::vector<input> one(1);
  one[0].name = spec;
  auto read = tool::load(tool::open(spec), o.modelling);
  if (read.model.format == weft::io::dnn_partitioning_reader::format()) {
    std::istringstream file{read.from->bytes};
    tool::refuse_model_options(o.modelling, "a problem of the placement study, which brings its times");
    one[0].placement_study = std::make_unique<study>(weft::io::read_dnn_partitioning(file, spec));
  } else if (read.model.format == weft::io::job_shop_reader::format()) {
    tool::refuse_model_options(o.modelling, "a job shop, which brings its times");
    one[0] = make_job_shop_input(std::move(one[0].name), weft::io::read_job_shop(read.from->bytes, spec));
  } else {
    read.from = {}; // nothing is written again
    one[0].read = std::move(read);
  }
  one[0].file = spec.starts_with("zoo:") ? std::string{} : spec;
  return one;
}

} // namespace

bench::bench(const options& o) {
  for (const auto& spec : o.workloads) {
    for (auto& loaded : load_workloads(spec, o)) {
      inputs.push_back(std::move(loaded));
    }
  }
  const bool over_time = o.memory == weft::memory_rule::over_time || !o.validate.empty();
  const auto brings_devices = [](const input& i) { return i.devices || i.placement_study; };
  const auto own = static_cast<std::size_t>(std::count_if(inputs.begin(), inputs.end(), brings_devices));
  if (o.platforms.empty() && own < inputs.size()) {
    throw weft::error("--platform is required (compare --help says more)");
  }
  if (!o.platforms.empty() && own == inputs.size()) {
    throw weft::error(fmt::format("'{}' brings its own devices; leave --platform out", inputs.front().name));
  }
  std::vector<std::string> platform_names;
  for (const auto& item : o.platforms) {
    const bool drawn = item.starts_with(tool::random_prefix);
    for (const auto& spec : drawn ? tool::random_platforms(item) : std::vector{item}) {
      platforms.push_back(tool::load_platform(spec));
      platform_names.push_back(platforms.back().name);
    }
  }
  name_all(platform_names);
  if (!o.modelling.times_table.empty() && (inputs.size() > 1 || platforms.size() > 1)) {
    throw weft::error(fmt::format("--times-table has the times of one workload on one platform, and there are {} × {}; "
                                  "give one of each", inputs.size(), platforms.size()));
  }
  const auto efficiencies = tool::efficiencies(o.modelling);
  std::vector<tool::target>* by_type = nullptr; // the platforms for models whose ops are estimated by their types
  for (auto& i : inputs) {
    if (i.placement_study) {
      settings.push_back({.workload_name = i.name,
                          .platform_name = std::string{own_devices},
                          .placement_study = i.placement_study.get(),
                          .unit_seconds = 1e-3});
    } else if (i.devices) {
      add(i.name, i.read.model.ops, std::string{own_devices}, *i.devices, *i.times, i.read.model.notes, over_time);
    } else {
      auto* targets = &platforms;
      if (i.read.model.ops.takes_several_slots()) {
        targets = &fitted.emplace_back(platforms);
        tool::fit_slots(i.read.model, *targets);
      } else if (tool::estimates_by_type(o.modelling, i.read.model)) {
        by_type = by_type ? by_type : &fitted.emplace_back(platforms);
        targets = by_type;
      }
      for (auto& target : *targets) {
        tool::fit_links(o.modelling, i.read.model, target);
      }
      for (std::size_t k = 0; k < targets->size(); ++k) {
        const auto& target = (*targets)[k];
        auto* read = &i.read;
        if (read->ccr) {
          read = &scaled.emplace_back(tool::load(read->from, o.modelling));
          tool::fit_ccr(o.modelling, *read, target, efficiencies);
        }
        const auto& model = read->model;
        auto notes = target.devices.notes();
        notes.insert(notes.end(), model.notes.begin(), model.notes.end());
        const auto base = tool::make_estimate(o.modelling, *read, target, efficiencies);
        auto costs = tool::make_costs(o.modelling, *read, target, base, notes);
        if (o.objective == objective::period) {
          if (auto note = tool::about_updates(model.ops); !note.empty()) {
            notes.push_back(std::move(note));
          }
        }
        add(i.name, model.ops, platform_names[k], target.devices, std::move(costs), std::move(notes), over_time);
      }
    }
  }
}

void bench::name_all(std::vector<std::string>& platform_names) {
  std::vector<named> workloads, targets;
  for (auto& i : inputs) {
    workloads.push_back({&i.name, !i.file.empty(), i.file});
  }
  for (std::size_t k = 0; k < platforms.size(); ++k) {
    targets.push_back({&platform_names[k], platforms[k].is_file, platforms[k].name});
  }
  name_apart("--workload", workloads);
  name_apart("--platform", targets);
}

void bench::add(const std::string& name, const weft::workload& w, std::string platform_name, const weft::platform<>& q,
                weft::cost::lowered costs, std::vector<std::string> notes, bool over_time) {
  settings.push_back(
    {.workload_name = name, .platform_name = std::move(platform_name), .notes = std::move(notes)});
  auto& task = settings.back().task.emplace(w, q, std::move(costs));
  if (over_time) {
    settings.back().over_time = task.with_resident_demands();
  }
  settings.back().bound = weft::bound::best(settings.back().for_bounds());
}

} // namespace comparison
