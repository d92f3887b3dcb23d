// SPDX-License-Identifier: BSL-1.0
#include "model_file.hpp"

#include "weft/io/files.hpp"
#include "weft/io/read.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/zoo.hpp"

#ifdef WEFT_PLACE_ONNX
#include "weft/interop/onnx.hpp"
#endif
#ifdef WEFT_PLACE_TENSORFLOW
#include "weft/interop/tensorflow.hpp"
#endif

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

namespace place {
namespace {

using namespace weft;

constexpr std::string_view zoo_prefix = "zoo:";

/// The readers of optional components that this program was built with, with the options of the command line.
auto foreign_readers([[maybe_unused]] const options& o) {
  const auto onnx_readers = [&] {
#ifdef WEFT_PLACE_ONNX
    return std::tuple{weft::onnx::reader{.batch = o.batch, .dimensions = o.dimensions}};
#else
    return std::tuple{};
#endif
  };
  const auto tensorflow_readers = [&] {
#ifdef WEFT_PLACE_TENSORFLOW
    return std::tuple{
      tensorflow::reader{.batch = std::max(std::uint64_t{1}, o.batch),
                         .shapes = {o.shapes.begin(), o.shapes.end()},
                         .costs = o.times.empty() ? tensorflow::measured_costs{} : tensorflow::read_costs(o.times)}};
#else
    return std::tuple{};
#endif
  };
  return std::tuple_cat(onnx_readers(), tensorflow_readers());
}

input::source source_of([[maybe_unused]] std::string_view bytes) {
#ifdef WEFT_PLACE_ONNX
  if (weft::onnx::reader{}.recognises(bytes)) {
    return input::source::onnx;
  }
#endif
#ifdef WEFT_PLACE_TENSORFLOW
  if (tensorflow::reader{}.recognises(bytes)) {
    return input::source::tensorflow;
  }
#endif
  return input::source::other;
}

std::string zoo_spec(const options& o) {
  auto spec = o.model.substr(zoo_prefix.size());
  if (o.batch != 0) {
    if (spec.find('@') != spec.npos) {
      throw error("--batch: '" + o.model + "' has a batch size already; leave out one of the two");
    }
    spec.insert(std::min(spec.find(':'), spec.size()), "@" + std::to_string(o.batch));
  }
  return spec;
}

void expand(const options& o, input& in) {
  auto& m = in.model;
  if (m.work_is_time()) {
    throw error(fmt::format("--train: '{}' ({}) tells times and no FLOP, so nobody knows how long updates would take", o.model,
                            m.format));
  }
  auto step = training_step_with_origins(m.ops, {.rule = *o.train});
  if (!m.seconds.empty()) { // of the forward ops; what came from them takes as long per FLOP
    std::vector<double> seconds;
    for (const op_id v : ids(step.graph.num_ops())) {
      const op_id from = step.origin[v];
      seconds.push_back(v == from              ? m.seconds[v]
                        : m.ops.work(from) > 0 ? m.seconds[from] * (step.graph.work(v) / m.ops.work(from))
                                               : std::numeric_limits<double>::quiet_NaN());
    }
    m.seconds = std::move(seconds);
  }
  m.ops = std::move(step.graph);
  m.notes.push_back(fmt::format("training step: {} forward ops, {} for gradients and updates", in.num_own_ops,
                                m.ops.num_ops() - in.num_own_ops));
}

} // namespace

input load(const options& o) {
  input in;
  in.name = o.model;
  if (o.model.starts_with(zoo_prefix)) {
    if (!o.times.empty() || !o.shapes.empty() || !o.dimensions.empty()) {
      throw error("--times, --shape and --dim are for model files; a bundled network has none");
    }
    in.from = input::source::network;
    const auto wanted = zoo::parse(zoo_spec(o));
    in.net = std::make_unique<nn::network>(nn::network_options{.training = wanted.training});
    const auto task = wanted.network->define(*in.net, wanted.size);
    std::vector<op_id> roots;
    for (const auto& t : in.net->outputs()) {
      roots.push_back(t.op());
    }
    auto built = wanted.training ? training_step_with_origins(*in.net, task.objectives, task.options)
                                 : in.net->build_with_origins(roots);
    in.model = {.ops = std::move(built.graph), .format = "bundled network"};
    in.origin = std::move(built.origin);
  } else {
    in.name = std::filesystem::path{o.model}.filename().string();
    in.bytes = io::read_file(o.model);
    in.from = source_of(in.bytes);
    in.model = std::apply([&](const auto&... reader) { return io::model_from(in.bytes, o.model, reader...); },
                          foreign_readers(o));
    if (in.from == input::source::other && (o.batch != 0 || !o.shapes.empty() || !o.dimensions.empty())) {
      throw error(fmt::format("--batch, --shape and --dim are for ONNX models and TensorFlow graphs; '{}' is {}",
                              o.model, in.model.format));
    }
  }
  in.num_own_ops = in.model.ops.num_ops();
  if (in.num_own_ops == 0) {
    throw error("'" + o.model + "' has no op; there is nothing to place");
  }
  if (o.train) {
    expand(o, in);
  }
  return in;
}

void check_output(const options& o, const input& in) {
  if (o.out.empty()) {
    return;
  }
  const auto extension = std::filesystem::path{o.out}.extension();
  if (in.from == input::source::network && extension != ".onnx" && extension != ".pb" && extension != ".pbtxt") {
    throw error("-o: a bundled network is written as .onnx, .pb or .pbtxt (a GraphDef); '" + o.out + "' is none of them");
  }
  const bool is_cost_graph = in.from == input::source::tensorflow && in.model.format != "TensorFlow GraphDef";
  if (in.from == input::source::other || is_cost_graph) {
    throw error(fmt::format("-o writes ONNX models and TensorFlow graphs, and '{}' is {}; use --plan for the plan as JSON",
                            o.model, in.model.format));
  }
#ifndef WEFT_PLACE_ONNX
  if (in.from == input::source::network && extension == ".onnx") {
    throw error("-o: this program was built without ONNX (component weft::onnx)");
  }
#endif
}

void write_placed(const options& o, [[maybe_unused]] const input& in, [[maybe_unused]] const placement& where,
                  [[maybe_unused]] const platform<>& devices) {
  const placement own(where.begin(), where.begin() + static_cast<std::ptrdiff_t>(in.num_own_ops));
  io::write_file(o.out, [&]([[maybe_unused]] std::ostream& out) {
    [[maybe_unused]] const bool as_onnx = std::filesystem::path{o.out}.extension() == ".onnx";
#ifdef WEFT_PLACE_ONNX
    if (in.from == input::source::onnx || (in.from == input::source::network && as_onnx)) {
      std::vector<std::string> names;
      for (const device_id d : ids(devices.num_devices())) {
        names.emplace_back(devices.name(d).empty() ? "device" + std::to_string(d) : devices.name(d));
      }
      if (in.from == input::source::onnx) {
        weft::onnx::write_placed(out, in.bytes, own, names, o.model);
      } else {
        std::ostringstream model;
        weft::onnx::write_network(model, *in.net, in.origin);
        weft::onnx::write_placed(out, std::move(model).str(), own, names, o.model);
      }
      return;
    }
#endif
#ifdef WEFT_PLACE_TENSORFLOW
    const auto names = tensorflow::device_names(devices);
    if (in.from == input::source::tensorflow) {
      tensorflow::write_placed(out, in.bytes, own, names, o.model);
    } else {
      tensorflow::write_network(out, *in.net, in.origin,
                                {.text = std::filesystem::path{o.out}.extension() == ".pbtxt",
                                 .placement = own,
                                 .names = names});
    }
#endif
  });
}

} // namespace place
