// SPDX-License-Identifier: BSL-1.0
#include "model_file.hpp"

#include "foreign_models.hpp"
#include "networks.hpp"
#include "random_graphs.hpp"

#include "weft/core/readable.hpp"
#include "weft/io/files.hpp"
#include "weft/io/json_workload.hpp"
#include "weft/partition/layer_split.hpp"
#include "weft/partition/op_name.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/in_place.hpp"
#include "weft/workload/recomputed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace tool {
namespace {

using namespace weft;

constexpr std::string_view zoo_prefix = "zoo:";

/// The readers of the libraries that this program was built with, and what they read.
std::vector<std::pair<input::source, foreign_reader>> foreign_readers([[maybe_unused]] const model_options& o) {
  std::vector<std::pair<input::source, foreign_reader>> readers;
#ifdef WEFT_TOOL_ONNX
  readers.emplace_back(input::source::onnx, onnx_reader(o));
#endif
#ifdef WEFT_TOOL_PYTORCH
  readers.emplace_back(input::source::pytorch, pytorch_reader(o));
#endif
#ifdef WEFT_TOOL_STABLEHLO
  readers.emplace_back(input::source::stablehlo, stablehlo_reader(o));
#endif
#ifdef WEFT_TOOL_TENSORFLOW
  readers.emplace_back(input::source::tensorflow, tensorflow_reader(o));
#endif
  return readers;
}

/// A graph of TensorFlow's, which has shapes and takes times; its cost graphs do not.
bool is_graph_def(const input& in) {
  return in.from == input::source::tensorflow && in.model.format != "TensorFlow CostGraphDef";
}
bool is_saved_model(const input& in) {
  return in.from == input::source::tensorflow && in.model.format == "TensorFlow SavedModel";
}

/// Options that would have no effect are mistakes.
void refuse_options_of_others(const model_options& o, const input& in) {
  const auto refuse = [&in](bool useless, const char* why) {
    if (useless) {
      throw error(fmt::format("{}; '{}' is {}", why, in.spec, in.model.format));
    }
  };
  const bool is_onnx = in.from == input::source::onnx;
  const bool is_stablehlo = in.from == input::source::stablehlo;
  const bool is_pytorch = in.from == input::source::pytorch;
  refuse(o.batch != 0 && !is_onnx && !is_pytorch && !is_stablehlo && !is_graph_def(in),
         "--batch is for ONNX models, PyTorch and StableHLO programs, and TensorFlow graphs");
  refuse(!o.dimensions.empty() && !is_onnx && !is_pytorch,
         "--dim is for ONNX models and PyTorch programs; --shape for TensorFlow graphs");
  refuse(!o.shapes.empty() && !is_graph_def(in), "--shape is for TensorFlow graphs; --batch and --dim for ONNX models");
  refuse(!o.parameters.empty() && !is_stablehlo, "--parameters is for StableHLO programs");
  refuse(!o.fetch.empty() && !is_graph_def(in), "--fetch is for TensorFlow graphs");
  refuse((!o.signature.empty() || !o.tags.empty()) && !is_saved_model(in),
         "--signature and --tags are for TensorFlow SavedModels");
  refuse(o.keep_functions && !is_graph_def(in), "--keep-functions is for TensorFlow graphs");
  refuse(!o.trips.empty() && !is_graph_def(in) && !is_pytorch && !is_stablehlo,
         "--trips is for TensorFlow graphs, PyTorch and StableHLO programs");
  refuse(o.trips.size() > o.trips.count("*") && !is_graph_def(in), "--trips NAME=N is for TensorFlow graphs");
  refuse(!o.times.empty() && !is_graph_def(in), "--times is for TensorFlow graphs; --profile for all models");
}

/// The file itself, or that of a SavedModel in its folder.
std::string file_of(const std::string& spec) {
  if (!std::filesystem::is_directory(spec)) {
    return spec;
  }
  for (const char* const name : {"saved_model.pb", "saved_model.pbtxt"}) {
    if (const auto path = std::filesystem::path{spec} / name; std::filesystem::is_regular_file(path)) {
      return path.string();
    }
  }
  throw error("'" + spec + "' is a folder without saved_model.pb or saved_model.pbtxt; give a file, or the folder of a "
              "SavedModel");
}

/// Reads a file of any format.
void read(const model_options& o, input& in) {
  in.spec = file_of(in.spec);
  in.bytes = io::read_file(in.spec);
  std::vector<foreign_reader> readers;
  for (auto& [source, reader] : foreign_readers(o)) {
    if (in.from == input::source::other && reader.recognises(in.bytes)) {
      in.from = source;
    }
    readers.push_back(std::move(reader));
  }
  in.model = model_from(in.bytes, in.spec, readers);
}

std::string zoo_spec(const std::string& given, const model_options& o) {
  auto spec = given.substr(zoo_prefix.size());
  if (o.batch != 0) {
    if (spec.find('@') != spec.npos) {
      throw error("--batch: '" + given + "' has a batch size already; leave out one of the two");
    }
    spec.insert(std::min(spec.find(':'), spec.size()), "@" + std::to_string(o.batch));
  }
  return spec;
}

/// The block of each of the model's own ops, as names say: `layer_3`, `h12`, `model.layers.7`; in the order of ops.
std::vector<op_id> blocks_of(const input& in) {
  const auto& w = in.model.ops;
  std::unordered_map<std::string_view, op_id> blocks;
  std::vector<op_id> block_of(w.num_ops(), none);
  for (const op_id v : ids(in.num_own_ops)) {
    if (const auto layer = partition::op_name{w.name(v)}.layer(true); !layer.empty()) {
      block_of[v] = blocks.try_emplace(layer, static_cast<op_id>(blocks.size())).first->second;
    }
  }
  return block_of;
}

bool is_gradient(const input& in, op_id v) { return partition::op_name{in.model.ops.name(v)}.is_gradient; }

std::vector<bool> backward_pass(const input& in) {
  return backward_ops(in.model.ops, [&](op_id v) { return is_gradient(in, v); });
}

/// The ops to be made again, in the first `num_blocks` blocks.
std::vector<op_id> recomputed(recomputation what, std::uint32_t num_blocks, const input& in) {
  const auto block_of = blocks_of(in);
  auto ops = recomputed_ops(in.model.ops, what, [&](op_id v) { return block_of[v] < num_blocks ? block_of[v] : none; },
                            backward_pass(in));
  if (ops.empty()) {
    throw error(fmt::format("--recompute: no {} of '{}' were found; blocks are told from the names of ops, such as "
                            "layer_3/…, attentions by their softmax",
                            what == recomputation::blocks ? "blocks" : "attentions", in.spec));
  }
  return ops;
}

void note_recomputed(const model_options& o, std::size_t count, input& in) {
  const bool some = *o.recompute == recomputation::blocks && o.recomputed_blocks < num_blocks(in);
  in.model.notes.push_back(
    fmt::format("{} ops{} are run again for the backward pass, and their results are not kept until then", count,
                some ? fmt::format(" of the first {} blocks", o.recomputed_blocks) : ""));
}

void expand(const model_options& o, input& in) {
  auto& m = in.model;
  if (m.unit != work_unit::flop) {
    throw error(fmt::format("--train: '{}' ({}) tells {} and no FLOP, so nobody knows how long updates would take",
                            in.spec, m.format, m.unit == work_unit::seconds ? "times" : "work in a unit of its own"));
  }
  step_options how{.rule = *o.train};
  if (o.recompute) {
    how.recompute = recomputed(*o.recompute, o.recomputed_blocks, in);
  }
  auto step = training_step_with_origins(m.ops, how);
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
  if (o.recompute) {
    note_recomputed(o, how.recompute.size(), in);
  }
}

void require_gradients(const input& in) {
  const auto all = ids(in.model.ops.num_ops());
  if (std::none_of(all.begin(), all.end(), [&](op_id v) { return is_gradient(in, v); })) {
    throw error(fmt::format("--recompute is for training steps; --train adds the backward pass to a forward model, as "
                            "in zoo:gpt2_small:inference --train adam --recompute blocks. No op of '{}' is called a "
                            "gradient, such as gradients/…", in.spec));
  }
}

/// Makes what the backward pass of a training step reads again.
void recompute(const model_options& o, input& in) {
  auto& m = in.model;
  const auto& w = m.ops;
  auto step = recomputed_step(w, recomputed(*o.recompute, o.recomputed_blocks, in),
                              [&](op_id v) { return is_gradient(in, v); });
  const auto again = step.graph.num_ops() - w.num_ops();
  const bool has_origin = in.origin.size() == w.num_ops();
  for (std::size_t v = w.num_ops(); v < step.origin.size(); ++v) {
    if (!m.seconds.empty()) {
      m.seconds.push_back(m.seconds[step.origin[v]]);
    }
    if (has_origin) {
      in.origin.push_back(in.origin[step.origin[v]]);
    }
  }
  m.ops = std::move(step.graph);
  note_recomputed(o, again, in);
}

/// The format of numbers, and the cache of keys and values.
void set_memory(const model_options& o, input& in) {
  auto& w = in.model.ops;
  const auto in_file = number_bits(in.model);
  const double bits = o.numbers ? 8.0 * bytes_of(*o.numbers) : in_file != 0 ? in_file : 32;
  if (o.numbers && in_file != 32) {
    if (in_file != bits || o.four_bit_weights) {
      throw error(
        fmt::format("--dtype is for models in single precision, and the numbers of '{}' have {}; leave it out", in.spec,
                    in_file != 0 ? fmt::format("{} bits", in_file) : "several widths"));
    }
    in.model.notes.push_back(
      fmt::format("numbers are taken to be {}, as wide as the file has them", to_string(*o.numbers)));
  } else if (o.numbers) {
    const storage_format format{.tensor_bits = bits, .weight_bits = o.four_bit_weights ? 4 : bits};
    const auto all = ids(w.num_ops());
    const bool trains = std::any_of(all.begin(), all.end(), [&](op_id v) { return is_update(w.type(v)); });
    if (trains && format.weight_bits < 16) {
      throw error("--dtype: a training step with weights of fewer than 16 bits is not known here; use bf16 or fp16");
    }
    w = stored_as(w, format);
    in.model.notes.push_back(fmt::format(
      "numbers are taken to be {}{}{}", to_string(*o.numbers),
      o.four_bit_weights ? ", weights of 4 bits without their scales" : "",
      trains && bits < 32 ? ", with parameters and the optimiser's state in single precision besides" : ""));
  }
  if (o.cache) {
    auto cache = *o.cache;
    if (cache.batch != 0 && in.batch != 0 && cache.batch != in.batch) {
      throw error(fmt::format("--kv-cache: batch={}, but the model has a batch of {}; leave batch= out", cache.batch,
                              in.batch));
    }
    cache.batch = std::max({cache.batch, in.batch, std::uint64_t{1}});
    cache.bits = bits;
    w = with_kv_cache(w, cache);
    in.model.notes.push_back(fmt::format("keys and values of {} tokens of {} sequence{}: {} in each attention",
                                         cache.context, cache.batch, cache.batch == 1 ? "" : "s",
                                         readable_bytes(static_cast<byte_count>(cache.bytes_per_layer()))));
  }
}

} // namespace

void state_unit(work_unit unit, input& in) {
  auto& m = in.model;
  const bool open = m.unit == work_unit::own || m.format == io::json_workload_reader::format();
  if (m.unit != unit && !open) {
    throw error(fmt::format("--work: the work of '{}' ({}) is in {}; leave the option out", in.spec, m.format,
                            m.unit == work_unit::flop ? "FLOP" : "seconds"));
  }
  if (m.unit != unit && unit == work_unit::seconds) {
    for (const op_id v : ids(m.ops.num_ops())) {
      m.seconds.push_back(m.ops.work(v));
    }
    m.measured_on = device_kind::gpu;
  }
  m.unit = unit;
}

input load(const std::string& spec, const model_options& o) {
  input in;
  in.spec = in.name = spec;
  if (spec.starts_with(zoo_prefix)) {
    if (!o.times.empty() || !o.shapes.empty() || !o.dimensions.empty() || !o.fetch.empty() || !o.parameters.empty() ||
        !o.signature.empty() || !o.tags.empty() || !o.trips.empty() || o.keep_functions) {
      throw error(
        "--times, --shape, --dim, --fetch, --parameters, --signature, --tags, --trips and --keep-functions are "
        "for model files; a bundled network has none");
    }
    if (o.cache && spec.ends_with(":decode")) {
      throw error("--kv-cache: '" + spec + "' has a cache already, of as many tokens as its sequences");
    }
    if (o.train && spec.ends_with(":decode")) {
      throw error("--train: '" + spec + "' makes one token with a cache; a forward pass to train is " +
                  spec.substr(0, spec.find(':', zoo_prefix.size())) + ":inference");
    }
    in.from = input::source::network;
    auto made = make_network_with_origins(zoo_spec(spec, o));
    in.net = std::move(made.net);
    in.model = {.ops = std::move(made.ops), .format = "bundled network"};
    in.origin = std::move(made.origin);
    in.batch = made.batch;
  } else if (spec.starts_with(random_prefix)) {
    auto made = make_random_graph(spec);
    in.name = std::move(made.name);
    in.model = std::move(made.model);
    in.ccr = made.ccr;
    refuse_options_of_others(o, in);
  } else {
    const auto path = std::filesystem::path{spec};
    in.name = (path.has_filename() ? path : path.parent_path()).filename().string(); // a folder may end in a slash
    in.tags = o.tags;
    in.batch = o.batch;
    read(o, in);
    refuse_options_of_others(o, in);
    if (!o.times.empty() && in.model.seconds.empty()) {
      throw error(
        fmt::format("--times: '{}' has no time for any op of '{}'; its nodes must be called like those of the "
                    "graph",
                    o.times, spec));
    }
  }
  in.num_own_ops = in.model.ops.num_ops();
  if (in.num_own_ops == 0) {
    throw error("'" + spec + "' has no op; there is nothing to place");
  }
  if (o.work) {
    state_unit(*o.work, in);
  }
  if (o.train) {
    expand(o, in);
  } else if (o.recompute || o.recompute_least) {
    require_gradients(in);
    if (o.recompute) {
      recompute(o, in);
    }
  }
  set_memory(o, in);
  share_memory(o, in);
  if (!o.offloaded.empty()) {
    offload(o.offloaded, in);
    in.model.notes.push_back(fmt::format("{} tensor{} on the host while nothing reads {}", o.offloaded.size(),
                                         o.offloaded.size() == 1 ? " waits" : "s wait",
                                         o.offloaded.size() == 1 ? "it" : "them"));
  }
  return in;
}

void share_memory(const model_options& o, input& in) {
  auto& w = in.model.ops;
  if (o.in_place ? *o.in_place : in.model.format != io::json_workload_reader::format()) {
    const auto all = ids(w.num_ops());
    const bool trains = std::any_of(all.begin(), all.end(), [&](op_id v) { return is_update(w.type(v)); });
    w = with_shared_memory(w, o.in_place || !trains, in.model.returned);
  } else if (o.in_place) {
    w = w.with_output_memory(std::vector<output_memory>(w.num_ops(), output_memory::own));
  }
}

void offload(const std::vector<round_trip>& trips, input& in) {
  in.model.ops = offloaded(in.model.ops, trips);
  if (!in.model.seconds.empty()) {
    in.model.seconds.resize(in.model.ops.num_ops(), std::numeric_limits<double>::quiet_NaN());
  }
}

bool has_attentions(const input& in) { return !attentions(in.model.ops, backward_pass(in)).empty(); }

std::uint32_t num_blocks(const input& in) {
  std::uint32_t count = 0;
  for (const op_id block : blocks_of(in)) {
    count = block == none ? count : std::max(count, block + 1);
  }
  return count;
}

input load_with_batch(const std::string& spec, model_options o, std::uint64_t batch) {
  if (o.cache && o.cache->batch != 0) {
    o.cache->batch = batch;
  }
  const auto at = spec.starts_with(zoo_prefix) ? spec.find('@') : spec.npos;
  if (at == spec.npos) {
    o.batch = batch;
    return load(spec, o);
  }
  const auto end = std::min(spec.find_first_not_of("0123456789", at + 1), spec.size());
  return load(spec.substr(0, at + 1) + std::to_string(batch) + spec.substr(end), o);
}

void check_output(const std::string& file, const input& in) {
  const auto extension = std::filesystem::path{file}.extension();
  const bool is_network = in.from == input::source::network;
  const bool is_onnx = in.from == input::source::onnx;
  if (!is_network && !is_onnx && !is_graph_def(in)) {
    throw error(
      fmt::format("-o writes ONNX models and TensorFlow graphs, and '{}' is {}; use --plan for the plan as JSON",
                  in.spec, in.model.format));
  }
  const bool fits = extension == ".onnx"                           ? is_network || is_onnx
                    : extension == ".pb" || extension == ".pbtxt" ? !is_onnx
                                                                   : extension.empty() && !is_network;
  if (!fits) {
    throw error(fmt::format("-o: {} is written as {}, not as '{}'; use --plan for the plan as JSON",
                            is_network ? "a bundled network" : in.model.format,
                            is_onnx      ? ".onnx"
                            : is_network ? ".onnx, .pb or .pbtxt (a GraphDef)"
                                         : ".pb or .pbtxt",
                            file));
  }
#ifndef WEFT_TOOL_ONNX
  if (in.from == input::source::network && extension == ".onnx") {
    throw error("-o: this program was built without ONNX (component onnx of weft)");
  }
#endif
#ifndef WEFT_TOOL_TENSORFLOW
  if (in.from == input::source::network && extension != ".onnx") {
    throw error("-o: this program was built without TensorFlow (component tensorflow of weft)");
  }
#endif
}

std::vector<std::string> write_placed(const std::string& file, [[maybe_unused]] const input& in,
                                      [[maybe_unused]] const placement& where,
                                      [[maybe_unused]] const platform<>& devices) {
  std::vector<std::string> notes;
  io::write_file(file, [&]([[maybe_unused]] std::ostream& out) {
    [[maybe_unused]] const bool as_onnx = std::filesystem::path{file}.extension() == ".onnx";
#ifdef WEFT_TOOL_ONNX
    if (in.from == input::source::onnx || (in.from == input::source::network && as_onnx)) {
      write_onnx(out, in, where, devices);
      return;
    }
#endif
#ifdef WEFT_TOOL_TENSORFLOW
    notes = write_tensorflow(out, std::filesystem::path{file}.extension() == ".pbtxt", in, where, devices);
#endif
  });
  return notes;
}

void check_split(const std::string& folder, const input& in) {
  if (in.from != input::source::onnx) {
    throw error(fmt::format("--split cuts ONNX models, and '{}' is {}; -o writes other models with devices", in.spec,
                            in.model.format));
  }
#ifdef WEFT_TOOL_ONNX
  (void)way_to_data(folder, in);
#endif
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!std::filesystem::is_directory(folder)) {
    throw error(fmt::format("--split {}: the folder cannot be made{}{}", folder, failed ? ": " : "",
                            failed ? failed.message() : std::string{}));
  }
  io::require_writable(std::filesystem::path{folder} / "manifest.json");
}

std::vector<std::string> write_split([[maybe_unused]] const std::string& folder, [[maybe_unused]] const input& in,
                                     [[maybe_unused]] const model_options& o, [[maybe_unused]] const placement& where,
                                     [[maybe_unused]] const platform<>& devices, [[maybe_unused]] const trace& run) {
#ifdef WEFT_TOOL_ONNX
  return write_onnx_split(folder, in, o, where, devices, run);
#else
  return {};
#endif
}

} // namespace tool
