// SPDX-License-Identifier: BSL-1.0
#include "model_options.hpp"

#include "help_text.hpp"

#include "weft/core/error.hpp"
#include "weft/io/text.hpp"
#include "weft/platform/presets.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace tool {
namespace {

/// `name=value` in two.
std::pair<std::string, std::string> assignment(const std::string& text, const char* option, const char* example) {
  const auto at = text.rfind('=');
  if (at == text.npos || at == 0 || at + 1 == text.size()) {
    throw weft::error(
      fmt::format("{}: '{}' is not NAME=VALUE; write, for example, {} {}", option, text, option, example));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

std::uint64_t extent(std::string_view text, const char* option) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || value == 0 || value > 1'000'000'000) {
    throw weft::error(fmt::format("{}: '{}' is not an extent; write an integer from 1 to 1000000000", option, text));
  }
  return value;
}

std::vector<std::uint64_t> extents(std::string_view text, const char* option) {
  std::vector<std::uint64_t> dims;
  while (true) {
    const auto end = text.find('x');
    dims.push_back(extent(text.substr(0, end), option));
    if (end == text.npos) {
      return dims;
    }
    text.remove_prefix(end + 1);
  }
}

weft::optimizer optimizer_called(std::string_view rule) {
  using weft::optimizer;
  return rule == "sgd"        ? optimizer::sgd
         : rule == "momentum" ? optimizer::momentum
         : rule == "rmsprop"  ? optimizer::rmsprop
                              : optimizer::adam;
}

template <class Choice, std::size_t N>
using named_choices = std::array<std::pair<const char*, Choice>, N>;

constexpr named_choices<weft::nn::kernel_set, 3> kernel_sets{{{"separate", weft::nn::kernel_set::separate},
                                                        {"framework", weft::nn::kernel_set::framework},
                                                        {"compiled", weft::nn::kernel_set::compiled}}};
constexpr named_choices<weft::nn::attention_kernels, 2> attention_kernel_names{
  {{"separate", weft::nn::attention_kernels::separate}, {"fused", weft::nn::attention_kernels::fused}}};

template <class Choice, std::size_t N>
std::vector<std::string> names_of(const named_choices<Choice, N>& all) {
  std::vector<std::string> names;
  for (const auto& [name, choice] : all) {
    names.emplace_back(name);
  }
  return names;
}

/// The choice of that name, which is one of them.
template <class Choice, std::size_t N>
Choice choice_called(const named_choices<Choice, N>& all, const std::string& text) {
  for (const auto& [name, choice] : all) {
    if (text == name) {
      return choice;
    }
  }
  return all.front().second;
}

} // namespace

void add_model_options(CLI::App& app, model_options& o) {
  using texts = std::vector<std::string>;
  app.option_defaults()->group("models");
  app.add_option("--batch", o.batch, "Examples per step: extent 0 of the model's inputs")
    ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
    ->type_name("N");
  const auto add_dimensions = [&o](const texts& given) {
    for (const auto& text : given) {
      const auto [name, value] = assignment(text, "--dim", "seq_len=128");
      o.dimensions[name] = extent(value, "--dim");
    }
  };
  app
    .add_option_function<texts>(
      "--dim", add_dimensions,
      "Size of a symbolic dimension of an ONNX model or PyTorch program, as in --dim seq_len=128; of an\n"
      "extent without a name in an ONNX model as in --dim boxes.0=100 (tensor and axis), or of all\n"
      "that ops of a type decide by data as in --dim NonZero=100")
    ->type_name("NAME=N");
  const auto add_shapes = [&o](const texts& given) {
    for (const auto& text : given) {
      const auto [name, value] = assignment(text, "--shape", "images=32x224x224x3");
      o.shapes[name] = extents(value, "--shape");
    }
  };
  app.add_option_function<texts>("--shape", add_shapes,
                                 "Shape of an input or of an op's first result in a TensorFlow graph, as in\n"
                                 "--shape images=32x224x224x3")
    ->type_name("NAME=NxN…");
  app
    .add_option("--parameters", o.parameters,
                "Arguments of a StableHLO program that are parameters: how many of the first, or how their\n"
                "names begin, as in --parameters params")
    ->type_name("N|NAME");
  app.add_option("--fetch", o.fetch,
                 "What a step of a TensorFlow graph fetches; only what that needs counts. Without it, what the\n"
                 "signature of a SavedModel gives; of a graph, all but what initialises, saves, restores and\n"
                 "summarises; with '*' everything")
    ->delimiter(',')
    ->type_name("NAME,…")
    ->allow_extra_args(false);
  app.add_option("--signature", o.signature, "What a TensorFlow SavedModel computes, if not serving_default")
    ->type_name("NAME");
  app.add_option("--tags", o.tags, "Which graph of a TensorFlow SavedModel, if not the one for serving")
    ->type_name("TAG,…");
  const auto add_trips = [&o](const texts& given) {
    for (const auto& text : given) {
      const bool named = text.find('=') != text.npos;
      const auto [name, value] = named ? assignment(text, "--trips", "loop=20") : std::pair{std::string{"*"}, text};
      o.trips[name] = extent(value, "--trips");
    }
  };
  app
    .add_option_function<texts>(
      "--trips", add_trips,
      "How often the loops of a model run, where that does not follow from their counters; one of them\n"
      "(ONNX, TensorFlow) as in --trips decoder/while=20")
    ->type_name("N|NAME=N")
    ->allow_extra_args(false);
  app.add_flag("--keep-functions", o.keep_functions,
               "A call of a function in a TensorFlow graph stays one op, instead of the ops inside");
  app
    .add_option_function<std::string>(
      "--kernels", [&o](const std::string& text) { o.kernels = choice_called(kernel_sets, text); },
      "How the layers of a bundled network become ops: separate (one for each piece of arithmetic, as TensorFlow 1\n"
      "ran them), framework (a kernel for each op of a layer, as PyTorch runs them: a product with its bias, dropout,\n"
      "softmax of masked scores), or compiled (also a sum with its normalisation, a normalisation with its activation)")
    ->check(CLI::IsMember(names_of(kernel_sets)).description(""))
    ->type_name("separate|framework|compiled")
    ->default_str("framework; of networks of 2016 and before separate");
  app
    .add_option_function<std::string>(
      "--attention", [&o](const std::string& text) { o.attention = choice_called(attention_kernel_names, text); },
      "Attention of a bundled network: separate (products and a softmax whose scores go through memory), or fused\n"
      "(one kernel, such as FlashAttention, forward and backward)")
    ->check(CLI::IsMember(names_of(attention_kernel_names)).description(""))
    ->type_name("separate|fused")
    ->default_str("fused, unless --kernels is separate");
  app
    .add_option_function<std::string>(
      "--train", [&o](const std::string& rule) { o.train = optimizer_called(rule); },
      "Make a training step of a forward model: adds gradients and updates by this rule")
    ->expected(0, 1)
    ->check(CLI::IsMember({"sgd", "momentum", "adam", "rmsprop"}).description(""))
    ->type_name("sgd|momentum|adam|rmsprop");
  app
    .add_option("--freeze", o.freeze,
                "Parameters that a training step, made by --train or of a bundled network, leaves as they are:\n"
                "patterns of their names, or of those of the ops that hold them, as in --freeze '*,!lora_*'. * stands\n"
                "for any characters, ? for one; the last pattern that describes a name counts, and ! takes back;\n"
                "lora_* describes layers.0.lora_A, too")
    ->type_name("PATTERN,…");
  app
    .add_option_function<std::string>(
      "--work",
      [&o](const std::string& unit) { o.work = unit == "flop" ? weft::work_unit::flop : weft::work_unit::seconds; },
      "What work counts in a file that does not say it (STG, HyperDAG, DOT, CSV; native JSON, if\n"
      "not FLOP); seconds are those of the first GPU, or of the first device if there is none,\n"
      "and for ops that may not run there, of the devices where they may")
    ->check(CLI::IsMember({"flop", "seconds"}).description(""))
    ->type_name("flop|seconds");
  app.option_defaults()->group("costs");
  app.add_flag("--peak-rates", o.peak_rates, "Costs from peak rates instead of what ops usually reach (docs/costs.md)");
  app.add_option("--times", o.times, "Measured times: a CostGraphDef or step statistics of TensorFlow")
    ->type_name("FILE");
  app
    .add_option("--profile", o.profile,
                "Measured times as a profile (weft.profile); its machines are kinds of devices, such as gpu")
    ->type_name("FILE");
}

void add_times_table_option(CLI::App& app, model_options& o) {
  app
    .add_option("--times-table", o.times_table,
                "What each op takes on each device, in seconds, in place of all estimates: CSV with a row per op\n"
                "and a column per device (op,0,1,…), or the .times.csv that --problems writes")
    ->type_name("FILE");
}

namespace {

weft::kv_cache cache_of(const std::string& text) {
  weft::kv_cache cache{.batch = 0}; // as the model's
  const std::pair<std::string_view, std::uint64_t*> keys[] = {
    {"context", &cache.context}, {"heads", &cache.heads}, {"size", &cache.head_size}, {"batch", &cache.batch}};
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string part{rest.substr(0, rest.find(','))};
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const auto [name, value] = assignment(part, "--kv-cache", "context=4096,heads=8,size=128");
    const auto key = std::find_if(std::begin(keys), std::end(keys), [&](const auto& k) { return k.first == name; });
    if (key == std::end(keys)) {
      throw weft::error(fmt::format("--kv-cache: there is no '{}'; the keys are context, heads, size and batch", name));
    }
    *key->second = extent(value, "--kv-cache");
  }
  if (cache.context == 0 || cache.heads == 0 || cache.head_size == 0) {
    throw weft::error("--kv-cache: context, heads (of keys and values) and size (of a head) are needed, as in "
                      "--kv-cache context=4096,heads=8,size=128");
  }
  return cache;
}

void take_number_format(const std::string& text, model_options& o) {
  o.weight_bits.reset();
  o.numbers = weft::parse_number_format(text);
  if (o.numbers) {
    return;
  }
  const auto at = text.find('=');
  const auto weights = weft::parse_weight_format(std::string_view{text}.substr(0, at));
  if (!weights) {
    throw weft::error("--dtype: there is no '" + text + "'; give fp32, bf16, fp16, fp8, int8, int4-weights or "
                      "int8-weights, or the last two with bits per weight, as in int4-weights=4.8");
  }
  double bits = weights->stored;
  if (at != text.npos) {
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + at + 1, end, bits);
    if (parsed.ec != std::errc{} || parsed.ptr != end || !(bits >= weights->bits && bits <= 16)) {
      throw weft::error(fmt::format("--dtype {}: give the bits per weight, scales included, from {} to 16, as in {}={}",
                                    text, weights->bits, weights->name, weights->stored));
    }
  }
  o.numbers = weft::number_format::fp16;
  o.weight_bits = bits;
}

void take_recomputation(const std::string& text, model_options& o) {
  constexpr std::string_view some_blocks = "blocks=";
  o.recompute_least = text == "auto";
  if (o.recompute_least) {
    return;
  }
  if (text.starts_with(some_blocks)) {
    o.recomputed_blocks = static_cast<std::uint32_t>(extent(text.substr(some_blocks.size()), "--recompute blocks"));
  } else if (text != "attention" && text != "blocks") {
    throw weft::error(fmt::format("--recompute: there is no {}; write attention, blocks, blocks=N or auto",
                                  weft::io::in_quotes(text)));
  }
  o.recompute = text == "attention" ? weft::recomputation::attention : weft::recomputation::blocks;
}

/// Round trips as `TENSOR:AFTER:READER+READER`, by numbers; without an op after which it comes back, AFTER is empty.
void take_offloading(const std::string& text, model_options& o) {
  o.offload_least = text == "auto";
  o.offloaded.clear();
  if (o.offload_least || text == "none") {
    return;
  }
  const auto fail = [&](const std::string&) {
    throw weft::error(fmt::format("--offload: there is no {}; write auto or none (other values are those that --plan "
                                  "writes)", weft::io::in_quotes(text)));
  };
  const auto number = [&](std::string_view digits) {
    return weft::io::parse_number<std::uint32_t>(digits, "--offload", fail);
  };
  for (const auto trip : weft::io::split(text, ',')) {
    const auto parts = weft::io::split(trip, ':');
    if (parts.size() != 3) {
      fail({});
    }
    auto& made = o.offloaded.emplace_back(weft::round_trip{.tensor = number(parts[0])});
    made.after = parts[1].empty() ? weft::none : number(parts[1]);
    for (const auto reader : weft::io::split(parts[2], '+')) {
      made.readers.push_back(number(reader));
    }
  }
}

} // namespace

std::string recompute_text(const model_options& o) {
  return *o.recompute == weft::recomputation::attention ? "attention"
         : o.recomputed_blocks == weft::none            ? "blocks"
                                                        : fmt::format("blocks={}", o.recomputed_blocks);
}

std::string offload_text(const model_options& o) {
  std::string text;
  for (const auto& x : o.offloaded) {
    text += fmt::format("{}{}:{}:{}", text.empty() ? "" : ",", x.tensor,
                        x.after == weft::none ? std::string{} : std::to_string(x.after), fmt::join(x.readers, "+"));
  }
  return text;
}

void add_memory_options(CLI::App& app, model_options& o) {
  app.option_defaults()->group("memory");
  app
    .add_option_function<std::string>(
      "--dtype",
      [&o](const std::string& text) { take_number_format(text, o); },
      "Format of the numbers of a model in single precision, or in this format already: bytes of tensors\n"
      "and weights, and rates of the devices\n\n"
      "int4-weights, int8-weights: weights in groups of 32 with a scale,\n"
      "of 4.5 and 8.5 bits, or as many as are given, as in int4-weights=4.8; the rest fp16")
    ->type_name("fp32|bf16|fp16|fp8|int8|int4-weights[=BITS]|int8-weights[=BITS]");
  app
    .add_option_function<std::string>(
      "--kv-cache", [&o](const std::string& text) { o.cache = cache_of(text); },
      "Keys and values that a decoder keeps of so many tokens: heads of keys and values, size of a head, and\n"
      "sequences (batch), if the model's batch is not known; as in context=4096,heads=8,size=128")
    ->type_name("KEY=N,…");
  app.add_flag("--fuse", o.fuse,
               "A product or convolution and what goes on with its result element by element, such as a bias and a\n"
               "Relu, are one op, as compilers make one kernel of them; what lies between takes no memory");
  app
    .add_option_function<std::string>(
      "--in-place", [&o](const std::string& text) { o.in_place = text == "on"; },
      "Views, such as what variables hand on, take no memory, and ops that work element by element, such as Relu,\n"
      "write over an input that no other op reads; off: neither does")
    ->check(CLI::IsMember({"on", "off"}).description(""))
    ->type_name("on|off")
    ->default_str("on, of training steps the views alone; workloads as JSON say it themselves");
  app
    .add_option_function<std::string>(
      "--recompute", [&o](const std::string& what) { take_recomputation(what, o); },
      "What a training step makes again for the backward pass instead of keeping it: what is inside attentions,\n"
      "or inside blocks of layers, the first N or all; auto: whichever makes the step\n"
      "fastest, nothing, attentions, the first few blocks or all; plans that run ops on the host for lack of memory\n"
      "count, too")
    ->type_name("attention|blocks[=N]|auto");
  app
    .add_option_function<std::string>(
      "--offload", [&o](const std::string& what) { take_offloading(what, o); },
      "What a training step sends to the host while nothing reads it, and back for the backward pass: none, or\n"
      "auto: what one accelerator cannot hold, if that is faster than running ops on the host. With --recompute\n"
      "auto: instead of running ops again, or in addition, as --least-gain of place says")
    ->type_name("auto|none");
}

std::vector<std::string_view> given_options(const model_options& o) {
  const std::pair<bool, std::string_view> options[] = {
    {o.batch != 0, "--batch"},      {!o.dimensions.empty(), "--dim"}, {!o.shapes.empty(), "--shape"},
    {!o.fetch.empty(), "--fetch"},  {!o.parameters.empty(), "--parameters"},
    {!o.signature.empty(), "--signature"}, {!o.tags.empty(), "--tags"},
    {o.trips.contains("*"), "--trips"}, {o.trips.size() > o.trips.count("*"), "--trips NAME=N"},
    {o.keep_functions, "--keep-functions"}, {o.kernels.has_value(), "--kernels"},
    {o.attention.has_value(), "--attention"},
    {o.train.has_value(), "--train"}, {o.freeze.has_value(), "--freeze"}, {o.work.has_value(), "--work"},
    {o.peak_rates, "--peak-rates"}, {!o.times.empty(), "--times"},    {!o.profile.empty(), "--profile"},
    {!o.times_table.empty(), "--times-table"}};
  std::vector<std::string_view> given;
  for (const auto& [is_given, option] : options) {
    if (is_given) {
      given.push_back(option);
    }
  }
  return given;
}

void refuse_model_options(const model_options& o, const char* what) {
  if (const auto given = given_options(o); !given.empty()) {
    throw weft::error(fmt::format("{} has no effect on {}; leave the option out", given.front(), what));
  }
}

std::string list_model_formats() {
  return help_paragraph(
    "Files, recognised by content: ONNX, PyTorch (torch.export), StableHLO (text), TensorFlow SavedModel (also its "
    "folder), GraphDef and CostGraphDef (binary and text), native JSON, WfFormat, Pegasus DAX, DOT with weights, "
    "HyperDAG, PipeDream graphs, standard task graphs (STG), job shops (text and JSON), the critical-path paper's CSV, "
    "JSON of the device-placement study.");
}

std::string list_platforms() {
  std::string text;
  for (const auto& e : weft::presets::entries) {
    text += help_entry(e.name, e.description);
  }
  text += help_entry("identical:P", "P devices of speed 1 whose links take no time");
  return text;
}

} // namespace tool
