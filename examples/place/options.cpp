// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include "tool/command_line.hpp"
#include "tool/networks.hpp"

#include "weft/core/error.hpp"
#include "weft/platform/presets.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

namespace place {
namespace {

/// `name=value` in two.
std::pair<std::string, std::string> assignment(const std::string& text, const char* option, const char* example) {
  const auto at = text.find('=');
  if (at == text.npos || at == 0 || at + 1 == text.size()) {
    throw weft::error(fmt::format("{}: '{}' is not NAME=VALUE; write, for example, {} {}", option, text, option, example));
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

std::string footer() {
  std::string text = "Models\n"
                     "  Files, recognised by content: ONNX, TensorFlow GraphDef and CostGraphDef (binary and text), native\n"
                     "  JSON, WfFormat, DOT with weights, HyperDAG, PipeDream graphs, standard task graphs (STG), the\n"
                     "  critical-path paper's CSV, JSON of the device-placement study.\n";
  text += tool::list_networks(20);
  text += "  The bundled networks are training steps, or forward ops, as in zoo:bert_base:inference. Batch size and\n"
          "  length of the sequences may follow the name, as in zoo:bert_base@32x128:inference.\n\nPlatforms\n";
  for (const auto& e : weft::presets::entries) {
    text += fmt::format("  {:<20} {}\n", e.name, e.description);
  }
  text += "  Files: native JSON (see docs/formats.md), the critical-path paper's CSV, HyperDAG machines.\n"
          "\nObjectives\n"
          "  makespan  the time of one step\n"
          "  period    the time between two steps of a pipelined run: the largest load of a device or link\n"
          "  memory    the largest share of its memory that any device needs\n"
          "\nExamples\n"
          "  place resnet50.onnx --platform workstation_2gpu --batch 32\n"
          "  place resnet50.onnx --platform pcie_4gpu --batch 64 --train adam -o placed.onnx --html report.html\n"
          "  place graph.pbtxt --platform p3_8xlarge --times costs.pbtxt -o placed.pbtxt\n"
          "  place zoo:bert_large --platform dgx_a100 --budget 30 --html report.html --trace trace.json\n"
          "  place zoo:gpt2_small:inference --platform my_machine.json --objective period\n"
          "\nExit status: 0 with a plan, 1 if nothing fits, 2 for wrong arguments or files.\n";
  return text;
}

} // namespace

options parse(int argc, char** argv) {
  options o;
  CLI::App app{"Decides where each op of a model runs on a machine, when, and whether it fits: reads the model, searches for\n"
               "a placement, simulates it, and says how long a step takes and what keeps it from being faster."};
  app.get_formatter()->column_width(34);
  app.footer(footer());
  app.add_option("model", o.model, "What to place")->required()->type_name("FILE|zoo:NAME");
  app.add_option("--platform", o.platform, "Where to place it")->required()->type_name("NAME|FILE");
  app.add_option("--batch", o.batch, "Examples per step: extent 0 of the model's inputs")
    ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
    ->type_name("N");
  std::vector<std::string> dimensions, shapes;
  app.add_option("--dim", dimensions, "Size of a symbolic dimension of an ONNX model, as in --dim seq_len=128")
    ->type_name("NAME=N");
  app.add_option("--shape", shapes, "Shape of an input of a TensorFlow graph, as in --shape images=32x224x224x3")
    ->type_name("NAME=NxN…");
  std::string rule;
  auto* const training =
    app.add_option("--train", rule, "Place a training step of a forward model: adds gradients and updates by this rule")
      ->expected(0, 1)
      ->check(CLI::IsMember({"sgd", "momentum", "adam", "rmsprop"}).description(""))
      ->type_name("sgd|momentum|adam|rmsprop");
  std::string objective = "makespan";
  app.add_option("--objective", objective, "What to make small")
    ->check(CLI::IsMember({"makespan", "period", "memory"}).description(""))
    ->type_name("makespan|period|memory")
    ->capture_default_str();
  std::string budget = "5";
  app.add_option("--budget", budget,
                 "What the search may spend: seconds, or moves, as in 100000moves, with which results do\n"
                 "not depend on the machine's speed")
    ->type_name("SECONDS|Nmoves")
    ->capture_default_str();
  app.add_option("--memory-share", o.memory_share, "How much of each device's memory may be used")
    ->check(CLI::Range(0.01, 1.0))
    ->type_name("SHARE")
    ->capture_default_str();
  app.add_flag("--peak-rates", o.peak_rates, "Costs from peak rates instead of what ops usually reach (docs/costs.md)");
  app.add_option("--times", o.times, "Measured times: a CostGraphDef or step statistics of TensorFlow")->type_name("FILE");
  app.add_option("--profile", o.profile,
                 "Measured times as a profile (weft.profile); its machines are kinds of devices, such as gpu")
    ->type_name("FILE");
  app.add_option("--seed", o.seed, "The same seed gives the same result, if the budget is in moves")
    ->type_name("S")
    ->capture_default_str();
  app.add_option("--jobs", o.jobs, "Threads of the search")
    ->check(CLI::Range(1u, 1024u))
    ->type_name("N")
    ->capture_default_str();
  app.add_option("-o,--output", o.out, "Write the model again with the device of each op")->type_name("FILE");
  app.add_option("--plan", o.plan, "Write the plan: device and order of each op, as JSON")->type_name("FILE");
  app.add_option("--html", o.html, "Write a report with charts, to be opened in a browser")->type_name("FILE");
  app.add_option("--trace", o.trace, "Write the run as a Chrome trace, to be opened in Perfetto")->type_name("FILE");
  tool::parse(app, "place", argc, argv);

  for (const auto& text : dimensions) {
    const auto [name, value] = assignment(text, "--dim", "seq_len=128");
    o.dimensions[name] = extent(value, "--dim");
  }
  for (const auto& text : shapes) {
    const auto [name, value] = assignment(text, "--shape", "images=32x224x224x3");
    o.shapes[name] = extents(value, "--shape");
  }
  if (training->count() > 0) {
    using weft::optimizer;
    o.train = rule == "sgd"        ? optimizer::sgd
              : rule == "momentum" ? optimizer::momentum
              : rule == "rmsprop"  ? optimizer::rmsprop
                                   : optimizer::adam;
  }
  o.objective = objective == "period"   ? objective::period
                : objective == "memory" ? objective::memory
                                        : objective::makespan;
  o.budget = tool::parse_budget(budget, "place");
  return o;
}

} // namespace place
