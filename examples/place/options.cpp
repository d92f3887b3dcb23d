// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include "tool/command_line.hpp"
#include "tool/help_text.hpp"
#include "tool/networks.hpp"

#include "weft/io/json_plan.hpp"
#include "weft/io/runtime_placement.hpp"

#include "weft/io/text.hpp"
#include "weft/planner/way_text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace place {
namespace {

std::string about_models() {
  return "Models\n" + tool::list_model_formats() + tool::list_networks() +
         tool::help_paragraph(
           "The bundled networks are training steps, or forward ops, as in zoo:bert_base:inference. Batch size and "
           "length of the sequences may follow the name, as in zoo:bert_base@32x128:inference. GPTs and Llamas also "
           "decode, one token of each sequence, as in zoo:llama2_70b@1x4096:decode with a cache of 4096 tokens. "
           "Sizes may follow the names of transformers, as in "
           "zoo:gpt2+layers=24+hidden=2304+heads=24@128x2048 or zoo:llama3_8b+layers=4.") +
         tool::help_entry("random:FAMILY", "a generated graph, as in random:layered,ops=100,ccr=1,seed=7; compare "
                                           "--help models lists the families and their parameters");
}

std::string about_platforms() {
  return "Platforms\n" + tool::list_platforms() +
         tool::help_entry("random:FAMILY", "a generated platform, as in random:related,devices=8,max_speed=4; compare "
                                           "--help platforms lists the families and their parameters") +
         tool::help_paragraph("Files: native JSON (docs/formats.md; the program machine writes it), the critical-path "
                              "paper's CSV, HyperDAG machines.");
}

std::string about_objectives() {
  constexpr std::size_t indent = 13;
  return "Objectives\n" + tool::help_entry("makespan", "the time of one step", indent) +
         tool::help_entry("period", "the time between two steps of a pipelined run: the largest load of a device or "
                                    "link", indent) +
         tool::help_entry("memory", "the largest share of its memory that any device needs", indent) +
         tool::help_entry("energy", "the joules of one step, by the power that the platform's devices and links draw; "
                                    "with --deadline, of the plans that take at most so long", indent);
}

constexpr const char* first_examples =
  "Examples\n"
  "  place zoo:resnet50@256 --platform dgx_a100\n"
  "  place resnet50.onnx --platform workstation_2gpu --batch 32\n"
  "  place resnet50.onnx --platform pcie_4gpu --batch 64 --train adam -o placed.onnx --html report.html\n";

constexpr const char* more_examples =
  "  place graph.pbtxt --platform p3_8xlarge --times costs.pbtxt -o placed.pbtxt\n"
  "  place zoo:resnet50@256 --platform dgx_a100 --parallel data\n"
  "  place zoo:gpt2_xl@1:inference --platform dgx_a100 --parallel tensor=8 --sharding sharding.json\n"
  "  place zoo:llama2_70b@1x4096:decode --platform dgx_h100 --dtype bf16 --parallel tensor=8\n"
  "  place zoo:bert_large --platform dgx_a100 --budget 30 --html report.html --trace trace.json\n"
  "  place zoo:inception_v3 --platform dgx_a100 --uncertainty 0.2 --html report.html\n"
  "  place zoo:bert_base --platform pcie_4gpu --contention none --budget 30\n"
  "  place zoo:gpt2_xl:inference --platform workstation_1gpu --dtype bf16 --train adam \\\n"
  "        --recompute blocks --max-batch\n"
  "  place zoo:gpt2_small:inference --platform my_machine.json --objective period\n"
  "  place zoo:inception_v3@32 --platform workstation_2gpu --objective energy --deadline 0.2\n"
  "  place zoo:inception_v3@32 --platform workstation_2gpu --pareto --html report.html\n"
  "  place resnet50.onnx --platform pcie_4gpu --batch 64 --plan plan.json --split stages\n"
  "  place resnet50.onnx --platform pcie_4gpu --from-plan plan.json --html report.html\n"
  "  place llama.onnx --platform pcie_4gpu --by-layer --objective period --export vllm=serve.sh\n"
  "  place detector.onnx --platform pcie_4gpu --pin 'NonMaxSuppression=cpu,/decoder/*=gpu1'\n";

constexpr const char* exit_status =
  "\nExit status: 0 with a plan, 1 if nothing fits, 2 for wrong arguments or files, 130 after Ctrl-C,\n"
  "which keeps the best plan so far.\n";

tool::help_pages help() {
  return {.topics = {{"models", "sizes that a model leaves open; formats, bundled networks",
                      about_models()},
                     {"platforms", "named machines, and files of them", about_platforms()},
                     {"costs", "how long ops and transfers take"},
                     {"memory", "what a step keeps in memory, and how much there is"},
                     {"parallel", "how several devices share the work of a step"},
                     {"layers", "whole layers or chosen ops on devices, and files for runtimes that take layers"},
                     {"search", "what to make small, and what the search may spend", about_objectives()},
                     {"files", "plans, reports and models to write, and plans to read"},
                     {"examples", "more command lines, and the exit status",
                      std::string{first_examples} + more_examples + exit_status}},
          .usual = {"model", "--platform", "--batch", "--train", "--dtype", "--max-batch", "--parallel", "--by-layer",
                    "--objective", "--budget", "--output", "--plan", "--export", "--html", "--help"},
          .ending = std::string{first_examples} + exit_status};
}

/// The placement of layers that is asked for, and the files of runtimes that are to say it.
void take_exports(const std::vector<std::string>& exports, options& o) {
  for (const auto& e : exports) {
    const auto equals = e.find('=');
    const auto& known = weft::io::runtime_formats;
    const auto format =
      std::find_if(known.begin(), known.end(), [&](const auto& f) { return f.name == e.substr(0, equals); });
    if (equals == e.npos || equals + 1 == e.size() || format == known.end()) {
      std::string names;
      for (const auto& f : known) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", f.name);
      }
      throw weft::error(fmt::format("--export {}: write FORMAT=FILE; formats are {}", e, names));
    }
    o.exports.push_back({static_cast<std::size_t>(format - known.begin()), e.substr(equals + 1)});
  }
  const bool pipelined = o.is_pipeline();
  if (!o.exports.empty() && !o.by_layers && !pipelined) {
    throw weft::error(fmt::format(
      "--export writes which device has which layers: {}",
      o.is_forced()
        ? "here devices share the batch or each layer, and --sharding FILE writes how, with options for vLLM, "
          "Megatron-LM and DeepSpeed; stages of such devices, as in --parallel pipeline=2,tensor=4, are exported, too"
        : "it needs --by-layer or --parallel pipeline=K; --sharding FILE writes how devices share each layer"));
  }
  for (const auto& e : o.exports) {
    const auto name = weft::io::runtime_formats[e.format].name;
    if (pipelined && name != "vllm" && name != "megatron" && name != "deepspeed") {
      throw weft::error(fmt::format("--export {} says nothing of stages: with --parallel pipeline=K write vllm, "
                                    "megatron or deepspeed",
                                    name));
    }
  }
  if (!o.exports.empty() && pipelined && o.ways.turns > 1) {
    throw weft::error("--export writes one stage for each device: leave turns out");
  }
  if (!o.schedule.empty() && !pipelined) {
    throw weft::error("--schedule writes the order of a pipeline: it needs --parallel pipeline=K");
  }
  if (!o.exports.empty() && !o.pins.empty()) {
    throw weft::error("--export writes whole layers, and --pin may take ops out of theirs: leave one of them out");
  }
  if (o.by_layers && ((o.objective != objective::makespan && o.objective != objective::period) || o.pareto)) {
    throw weft::error("--by-layer needs --objective makespan or period, and no --pareto");
  }
}

using option_list = std::vector<CLI::Option*>;

/// Refuses options of searches that nothing reads: cuts between layers are not searched for at random.
void refuse_unread(const CLI::App& app, const options& o) {
  for (const char* name : {"--budget", "--jobs", "--seed"}) {
    const bool of_samples = name == std::string_view{"--seed"} && o.uncertainty > 0;
    if (o.by_layers && app.count(name) != 0 && !of_samples) {
      throw weft::error(
        fmt::format("{} has no effect: --by-layer tries all cuts, and does not search; leave {} out", name, name));
    }
  }
}

/// `NonMaxSuppression=cpu,/decoder/*=gpu1|gpu2`: ops and their devices.
void add_pins(const std::string& text, options& o) {
  for (const auto part : weft::io::split(text, ',')) {
    const auto equals = part.rfind('=');
    if (equals == part.npos || equals == 0 || equals + 1 == part.size()) {
      throw weft::error(fmt::format("--pin {}: write OPS=DEVICE, as in NonMaxSuppression=cpu or '/decoder/*=gpu1'; a "
                                    "comma in a name is a ?",
                                    weft::io::in_quotes(part)));
    }
    auto& pin = o.pins.emplace_back(weft::partition::pin{.ops = std::string{part.substr(0, equals)}, .devices = {}});
    for (const auto device : weft::io::split(part.substr(equals + 1), '|')) {
      pin.devices.emplace_back(device);
    }
  }
}

/// Takes the options that a plan was made with, where the command line has none of its own. What differs is told.
void take_from(const std::map<std::string, std::vector<std::string>>& made_with, const option_list& assumed,
               options& o) {
  const auto words = [](const std::string& name, const std::vector<std::string>& values) {
    return fmt::format("--{}{}{}", name, values.empty() ? "" : " ", fmt::join(values, " "));
  };
  for (CLI::Option* option : assumed) {
    const auto& name = option->get_single_name();
    const auto made = made_with.find(name);
    const bool given = option->count() != 0;
    if (given && (made == made_with.end() || made->second != option->results())) {
      o.other_assumptions.push_back(
        fmt::format("{} is given; the plan was made {}", words(name, option->results()),
                    made == made_with.end() ? "without it" : "with " + words(name, made->second)));
    } else if (!given && made != made_with.end()) {
      try {
        option->add_result(made->second);
        option->run_callback();
      } catch (const CLI::Error& e) {
        throw weft::error(fmt::format("{}: it was made with {}: {}", o.from_plan,
                                      weft::io::on_one_line(words(name, made->second)),
                                      weft::io::on_one_line(e.what())));
      }
    }
  }
  for (const auto& [name, values] : made_with) {
    if (std::none_of(assumed.begin(), assumed.end(), [&](auto* x) { return x->get_single_name() == name; })) {
      throw weft::error(fmt::format("{}: it was made with {}, an option that this program does not have", o.from_plan,
                                    weft::io::on_one_line(words(name, values))));
    }
  }
}

/// `none`, or the ways that the planner is to compare.
void take_parallelism(const std::string& text, options& o) {
  o.shares = text != "none";
  if (o.shares) {
    try {
      o.ways = weft::planner::wanted_from(text);
    } catch (const weft::value_error& e) {
      throw weft::error(fmt::format("--parallel {}", e.what()));
    }
  }
}

/// Data parallelism copies the model's ops, so what is said of each of them has no meaning.
void check_parallelism(options& o) {
  const bool of_the_model = !o.pins.empty() || !o.out.empty() || !o.split.empty() || o.by_layers || o.finds_batch() ||
                            o.pareto || o.objective != objective::makespan;
  if (o.parallel_given && o.shares && of_the_model) {
    throw weft::error("--parallel makes a workload of several copies of the model, for the step time: leave --pin, -o, "
                      "--split, --by-layer, --max-batch, --pareto and other objectives out, or give --parallel none");
  }
  if (o.parallel_given && o.shares && !o.is_forced() && !o.from_plan.empty()) {
    throw weft::error("--from-plan takes the plan as it is, and --parallel auto looks for another one: leave one of "
                      "them out");
  }
  if (!o.parallel_given && (of_the_model || !o.plan.empty() || !o.from_plan.empty())) {
    o.shares = false;
    o.of_own_ops = o.from_plan.empty() && o.objective == objective::makespan && !o.pareto;
  }
  if (!o.sharding.empty() && o.is_pipeline() && o.ways.stages == 1 && o.ways.replicas < 2 && o.ways.ranks < 2) {
    throw weft::error("--sharding says how devices share tensors, and one device shares none: leave it out, or give "
                      "--parallel data or tensor");
  }
  if (!o.sharding.empty() && o.is_pipeline() && (o.ways.stages > 1 || o.ways.ranks > 1)) {
    throw weft::error("--sharding says how devices share tensors, and stages of a pipeline share none: leave it out, "
                      "or give --parallel data or tensor");
  }
  if (!o.sharding.empty() && !o.shares) {
    throw weft::error("--sharding writes how several devices share a step, and each op is to be on one device: give "
                      "--parallel data, tensor or auto, without what is about the model's own ops");
  }
}

void check_offloading(options& o) {
  if (!o.modelling.offload_least && o.modelling.offloaded.empty()) {
    return;
  }
  if (o.modelling.offload_least && (o.by_layers || o.finds_batch() || !o.pins.empty() || !o.from_plan.empty() ||
                                    o.pareto || o.objective != objective::makespan)) {
    throw weft::error("--offload auto looks for plans op by op with a given batch, for the step time: leave "
                      "--by-layer, --max-batch, --pin, --from-plan, --pareto and other objectives out");
  }
  if (o.parallel_given && o.shares) {
    throw weft::error("--offload auto is for a step whose ops are on one device each: leave --parallel out, or give "
                      "--parallel none");
  }
  o.shares = false;
}

double overhead(const std::string& text) {
  constexpr std::pair<std::string_view, double> units[]{
    {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"GB", 1e9}, {"MB", 1e6}, {"", 1}};
  for (const auto& [unit, bytes] : units) {
    if (text.ends_with(unit)) {
      const auto number = weft::io::trim(std::string_view{text}.substr(0, text.size() - unit.size()));
      const auto fail = [](const std::string& problem) { throw weft::error(problem); };
      const double x = weft::io::parse_number<double>(number, "--overhead", fail) * bytes;
      if (unit.empty() && x >= 1) {
        throw weft::error("--overhead: '" + text + "' has no unit; give one, as in " + text +
                          "GiB, or a share below 1");
      }
      if (!(x >= 0 && x < 1e18) || (!unit.empty() && x < 1)) {
        break;
      }
      return x;
    }
  }
  throw weft::error("--overhead: '" + text + "' is neither a share below 1, as in 0.1, nor a size, as in 1.5GiB");
}

/// The words of a command line whose meaning other words decide, and options whose presence counts.
struct given_words {
  std::string objective = "makespan";
  std::string budget = "5";
  std::string by_layer = {};
  std::string max_batch = {};
  std::vector<std::string> exports = {};
  const CLI::Option* contention = nullptr;
  const CLI::Option* parallel = nullptr;
  const CLI::Option* layers = nullptr;
};

/// Memory that plans may use, and ops that stay where they are.
void add_limits(CLI::App& app, options& o) {
  app.option_defaults()->group("memory");
  app.add_option("--memory-share", o.memory_share, "How much of each device's memory may be used")
    ->check(CLI::Range(0.01, 1.0))
    ->type_name("SHARE")
    ->capture_default_str();
  app
    .add_option_function<std::string>(
      "--overhead", [&o](const std::string& text) { o.overhead = overhead(text); },
      "What the framework takes of each accelerator's memory for its context, workspaces and fragments: a\n"
      "share, as in 0.1, or bytes, as in 1.5GiB; nothing, if not given")
    ->type_name("SHARE|BYTES");
  app.option_defaults()->group("layers");
  app
    .add_option_function<std::vector<std::string>>(
      "--pin",
      [&o](const std::vector<std::string>& lists) {
        for (const auto& list : lists) {
          add_pins(list, o);
        }
      },
      "Keep ops on devices: those of a type, of a name, or whose names a pattern with * and ? matches, on a\n"
      "kind of device or a device, or on several of them, as in /decoder/*=gpu1|gpu2; may be given several times")
    ->type_name("OPS=DEVICE,…")
    ->expected(1)
    ->take_all();
}

/// The ways to share a step, and launches.
void add_ways(CLI::App& app, options& o, given_words& given) {
  app.option_defaults()->group("parallel");
  given.parallel =
    app
      .add_option_function<std::string>(
        "--parallel", [&o](const std::string& text) { take_parallelism(text, o); },
        "How several devices share the work of a step; without it, or as auto: the simplest way of those that are\n"
        "fast, as --least-gain says\n\n"
        "none: each op once, on one device\n\n"
        "data, data=N: each of all or of N devices does a part of the batch, and gradients are all-reduced. After\n"
        "data=N, \",sharded\" lets each replica update a part of the parameters, \",fully-sharded\" hold no more than\n"
        "that part, too (ZeRO 3, FSDP; \",fully-sharded=G\": in groups of G that hold all), \",whole\" all of them,\n"
        "\",experts\" puts each expert of a mixture on one of the devices, \",by-speed\" gives larger parts to faster\n"
        "devices, and \",tensor=K\" gives each replica K devices, which split its ops, after which \",sharded\" and\n"
        "\",fully-sharded\" may follow as well\n\n"
        "tensor, tensor=N: each op is split along the axis that suits best, for bundled networks\n\n"
        "context, context=N: a sequence is split among all or N devices, which have whole weights; with several\n"
        "sequences in the batch, data=M,context=N for M of them\n\n"
        "pipeline=K: layers in K stages, which work on different micro-batches. After it, \",micro-batches=M\" says\n"
        "how many, \",turns=V\" gives each device V stages, \",data=N\" and \",tensor=T\" make N replicas of it\n"
        "with T devices for each stage\n\n"
        "accumulate=M: for one device, M micro-batches one after the other, whose gradients are added up; without\n"
        "\"=M\" as few as fit. \",data=N\" makes N replicas")
      ->type_name("none|auto|data[=N]|tensor[=N]|context[=N]|pipeline=K|accumulate[=M]");
  app.option_defaults()->group("costs");
  app
    .add_option_function<std::string>(
      "--launches",
      [&o](const std::string& how) {
        using weft::cost::launches;
        o.launches = how == "graph" ? launches::graph : how == "eager" ? launches::eager : launches::single;
      },
      "How kernels get to GPUs: single (a runtime launches each op and copy, which takes its host 5 µs), graph (a\n"
      "step is captured as a graph, such as a CUDA graph: 1 µs each), or eager (a framework in Python records\n"
      "gradients and drives micro-batches: 56 µs for each op). The GPU works while the host launches")
    ->check(CLI::IsMember({"single", "graph", "eager"}).description(""))
    ->type_name("single|graph|eager")
    ->default_str("single; eager for training with --kernels framework in stages of micro-batches");
}

/// The figure that is to be small, and what a search for that may spend.
void add_searches(CLI::App& app, options& o, given_words& given) {
  app.option_defaults()->group("search");
  app.add_option("--objective", given.objective, "What to make small")
    ->check(CLI::IsMember({"makespan", "period", "memory", "energy"}).description(""))
    ->type_name("makespan|period|memory|energy")
    ->capture_default_str();
  app.add_option("--deadline", o.deadline, "How long a step may take, with --objective energy")
    ->check(CLI::PositiveNumber.description(""))
    ->type_name("SECONDS");
  app.add_flag("--pareto", o.pareto,
               "Look for all trade-offs of step time and energy, for the report; the plan is the fastest, or with\n"
               "--objective energy the one of least energy");
  app.add_option("--budget", given.budget,
                 "What the search may spend: seconds, or moves, as in 100000moves, with which results do\n"
                 "not depend on the machine's speed\n\nCtrl-C ends it with the best plan so far")
    ->type_name("SECONDS|Nmoves")
    ->capture_default_str();
  app.option_defaults()->group("parallel");
  app.add_option("--least-gain", o.least_gain,
                 "By how much each feature that a plan needs, such as several devices, a pipeline, micro-batches or\n"
                 "sharded updates, has to make a step faster, where times are estimates, which are not that exact;\n"
                 "else the simpler plan is taken, and a line says which was not. For --objective makespan")
    ->check(CLI::Range(0.0, 1000.0))
    ->type_name("PERCENT")
    ->capture_default_str();
  app.option_defaults()->group("search");
  app.add_option("--jobs", o.jobs, "Threads of the search")
    ->check(CLI::Range(1u, 1024u))
    ->type_name("N")
    ->capture_default_str();
  app.option_defaults()->group("layers");
  given.layers =
    app
      .add_flag("--by-layer{}", given.by_layer,
                "Keep each layer of the model on one device: cut it between layers, for the devices given, in this\n"
                "order, or for those that suit best")
      ->expected(0, 1)
      ->option_text("[=DEVICE,…]");
  app.add_option("--export", given.exports,
                 "Write where the layers are, for a runtime: device_map (Hugging Face), vllm, llama.cpp, deepspeed,\n"
                 "megatron or tensorflow\n\n"
                 "May be given several times. It needs --by-layer, or for vllm, deepspeed and megatron with\n"
                 "--parallel pipeline=K; --sharding writes how devices share each layer")
    ->type_name("FORMAT=FILE")
    ->expected(1)
    ->take_all();
}

/// Options beside those of a search that a plan of a file has in it.
void add_judgement(CLI::App& app, options& o, given_words& given) {
  app.option_defaults()->group("costs");
  app.add_option("--uncertainty", o.uncertainty,
                 "How far times may be from their estimates: sigma, the standard deviation of the logarithm of\n"
                 "each; says how long a step takes then, and on which ops that depends")
    ->check(CLI::Range(0.0, 2.0))
    ->type_name("SIGMA")
    ->capture_default_str();
  app.option_defaults()->group("search");
  app.add_option("--seed", o.seed, "The same seed gives the same result, if the budget is in moves")
    ->type_name("S")
    ->capture_default_str();
  app.option_defaults()->group("memory");
  app
    .add_flag("--max-batch{accelerators}", given.max_batch,
              "Look for the largest batch for which a plan is found that fits, and place the model with it: one that\n"
              "fits into the memory of accelerators, or with --max-batch=all into that of their hosts, too")
    ->option_text("[=all]");
}

/// Files that are written, and the plan that is read.
void add_files(CLI::App& app, options& o) {
  app.option_defaults()->group("files");
  app.add_option("-o,--output", o.out, "Write the model again with the device of each op")->type_name("FILE");
  app.option_defaults()->group("layers");
  app.add_option("--split", o.split,
                 "Cut an ONNX model into stages that run one after the other, each on one device: a model per\n"
                 "stage and manifest.json, which says what goes where")
    ->type_name("FOLDER");
  app.option_defaults()->group("files");
  app.add_option("--plan", o.plan, "Write the plan: device and order of each op, as JSON")->type_name("FILE");
  app.add_option("--from-plan", o.from_plan,
                 "Search for nothing: take the plan of a file that --plan wrote, with the options that it was made\n"
                 "with; ops and devices are found by their names")
    ->type_name("FILE");
  app.add_option("--html", o.html, "Write a report with charts, to be opened in a browser")->type_name("FILE");
  app.option_defaults()->group("parallel");
  app.add_option("--sharding", o.sharding,
                 "Write how the devices that share a step split its parameters, as JSON: the mesh, and per parameter\n"
                 "what JAX calls its PartitionSpec and PyTorch its placements; options for Megatron-LM, DeepSpeed\n"
                 "or vLLM")
    ->type_name("FILE");
  app.add_option("--schedule", o.schedule,
                 "Write the order of a pipeline's passes as CSV for torch.distributed.pipelining, a line for each rank")
    ->type_name("FILE");
  app.option_defaults()->group("files");
  app.add_option("--trace", o.trace, "Write the run as a Chrome trace, to be opened in Perfetto")->type_name("FILE");
}

/// Takes a plan from a file, with the options that it was made with. `searches` are for those who look for one.
void take_plan(const option_list& searches, const option_list& assumed, options& o, given_words& given) {
  if (o.from_plan.empty()) {
    return;
  }
  for (const CLI::Option* option : searches) {
    if (option->count() != 0) {
      throw weft::error(
        fmt::format("--{} is for searches, and --from-plan takes the plan as it is; leave one of them out",
                    option->get_single_name()));
    }
  }
  o.made = weft::io::read_plan_record_json(std::filesystem::path{o.from_plan});
  if (o.made.origin) {
    take_from(o.made.origin->options, assumed, o);
    given.objective = o.made.origin->objective;
  }
}

/// Takes words that may be of a file, or that no parser checked.
void take_words(const given_words& given, options& o) {
  const auto found = std::find(std::begin(objective_names), std::end(objective_names), given.objective);
  if (found == std::end(objective_names)) { // of a file; the command line was checked
    throw weft::error(fmt::format("{}: {} is not an objective of this program; there are {}", o.from_plan,
                                  weft::io::in_quotes(given.objective), fmt::join(objective_names, ", ")));
  }
  o.objective = static_cast<place::objective>(found - std::begin(objective_names));
  o.contention_given = given.contention->count() != 0;
  o.parallel_given = given.parallel->count() != 0;
  o.budget = tool::parse_budget(given.budget, "place");
  if (o.objective != objective::energy && o.deadline < std::numeric_limits<double>::infinity()) {
    throw weft::error("--deadline needs --objective energy: it says which plans are in time");
  }
  if (o.pareto && (o.objective == objective::period || o.objective == objective::memory)) {
    throw weft::error("--pareto is of step time and energy: leave --objective " + given.objective + " out");
  }
  if (!given.max_batch.empty()) {
    if (given.max_batch != "accelerators" && given.max_batch != "all") {
      throw weft::error(fmt::format("--max-batch={}: write --max-batch for what fits into the memory of accelerators, "
                                    "or --max-batch=all for what fits with that of their hosts",
                                    weft::io::in_quotes(given.max_batch)));
    }
    o.max_batch = given.max_batch == "all" ? options::batch_memory::all : options::batch_memory::accelerators;
  }
  o.by_layers = given.layers->count() != 0;
  o.by_layer = given.by_layer;
  take_exports(given.exports, o);
}

/// Refuses what does not go together.
void check_options(const CLI::App& app, options& o) {
  if (o.by_layers && o.finds_batch()) {
    throw weft::error(
      "--max-batch looks for plans op by op, and --by-layer cuts between layers: leave one of them out, or "
      "try batches with --batch");
  }
  if (o.modelling.recompute_least && (o.by_layers || o.finds_batch() || !o.from_plan.empty())) {
    throw weft::error("--recompute auto looks for plans op by op with a given batch: leave --by-layer, --max-batch and "
                      "--from-plan out, or say what to run again");
  }
  if (o.modelling.fuse && !o.pins.empty()) {
    throw weft::error("--pin names ops as the model has them, and --fuse joins them: leave one of them out");
  }
  check_offloading(o);
  check_parallelism(o);
  refuse_unread(app, o);
  const bool has_run_on_network = o.objective == objective::makespan || o.objective == objective::energy;
  if (o.contention != weft::contention_model::none && (!has_run_on_network || o.pareto)) {
    throw weft::error("--contention needs --objective makespan or energy, and no --pareto: a period has no run in "
                      "which transfers wait, and least memory and trade-offs are of runs without contention");
  }
  if (o.finds_batch() && (o.modelling.batch != 0 || !o.from_plan.empty())) {
    throw weft::error("--max-batch looks for the batch: leave --batch and --from-plan out");
  }
}

} // namespace

options parse(int argc, char** argv) {
  options o;
  given_words given;
  CLI::App app{
    "Decides where each op of a model runs on a machine, when, and whether it fits: reads the model, searches for\n"
    "a placement, simulates it, and says how long a step takes and what keeps it from being faster."};
  app.option_defaults()->group("models");
  app.add_option("model", o.model, "What to place")->required()->type_name("FILE|zoo:NAME");
  app.option_defaults()->group("platforms");
  app.add_option("--platform", o.platform, "Where to place it")->required()->type_name("NAME|FILE");
  const auto options_from = [&app](std::size_t first) { // in the order in which they were added
    const auto all = app.get_options();
    return option_list(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
  };
  const auto before = app.get_options().size();
  tool::add_model_options(app, o.modelling);
  tool::add_memory_options(app, o.modelling);
  app.option_defaults()->group("costs");
  given.contention = tool::add_contention_option(app, o.contention, "fair if the platform has a network");
  add_limits(app, o);
  add_ways(app, o, given);
  const auto assumed = options_from(before);
  add_searches(app, o, given);
  const auto searches = options_from(before + assumed.size());
  add_judgement(app, o, given);
  add_files(app, o);
  tool::parse(app, "place", argc, argv, help());
  take_plan(searches, assumed, o, given);
  for (const CLI::Option* option : assumed) {
    if (option->count() != 0) {
      o.assumed[option->get_single_name()] = option->results();
    }
  }
  take_words(given, o);
  check_options(app, o);
  return o;
}

void choose_network(options& o, const weft::platform<>& devices) {
  if (!o.contention_given) {
    const bool on_links = devices.links().shares_links() && o.objective == objective::makespan && !o.pareto;
    o.contention = on_links                    ? weft::contention_model::fair
                   : o.modelling.offload_least ? weft::contention_model::port // else all come back at once
                                               : weft::contention_model::none;
  }
  o.assumed["contention"] = {std::string{weft::to_string(o.contention)}};
}

std::string about_network(const options& o, const weft::platform<>& devices) {
  switch (o.contention) {
  case weft::contention_model::fair: return "transfers share the links of their routes by max-min fairness";
  case weft::contention_model::port: return "each device sends one tensor at a time, and receives one";
  case weft::contention_model::none: break;
  }
  const bool unasked = devices.links().shares_links() && !o.contention_given;
  return unasked ? "transfers do not slow each other down, though they share links" : "";
}

} // namespace place
