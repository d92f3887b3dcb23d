// SPDX-License-Identifier: BSL-1.0
// From what nvidia-smi, lscpu, hwloc and Slurm list of a machine to a platform that place and compare take.
#include "machine/lists.hpp"
#include "tool/command_line.hpp"
#include "tool/main.hpp"

#include "weft/core/error.hpp"
#include "weft/io/files.hpp"
#include "weft/io/json_platform.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

int run(int argc, char** argv) {
  std::vector<std::string> files;
  std::vector<std::string> gpus;
  std::string nodes;
  std::vector<std::string> cpus;
  std::string network;
  std::string out;
  weft::machine_assumptions assumed;

  CLI::App app{"Makes a platform of what tools list of a machine: peak rates by data sheets, links by topology."};
  app.footer("Files, recognised by content, all of one node except for the list of nodes\n"
             "  nvidia-smi --query-gpu=name,memory.total,power.limit,pcie.link.gen.max --format=csv > gpus.csv\n"
             "  nvidia-smi topo -m > topo.txt        lscpu -J > lscpu.json        cat /proc/meminfo > meminfo.txt\n"
             "  nvidia-smi -L > slices.txt           lstopo --of xml > node.xml\n"
             "  scontrol show node > nodes.txt, or sinfo -N -o '%N %z %m %G'\n"
             "\nExamples\n"
             "  machine gpus.csv topo.txt lscpu.json meminfo.txt -o my_machine.json\n"
             "  place resnet50.onnx --platform my_machine.json\n"
             "  machine gpus.csv topo.txt lscpu.json nodes.txt --nodes 'gpu[01-04]' --network 200Gbit/s \\\n"
             "          -o four.json\n"
             "  machine gpus.csv --gpu 'NVIDIA Foo=fp32:60,half:120,bandwidth:900' -o new.json\n"
             "\nExit status: 0 with a platform, 2 for wrong arguments or files.\n");
  app.add_option("file", files, "What tools wrote")->required()->type_name("FILE");
  app.add_option("-o,--output", out, "Where the platform goes, as JSON; without it, to standard output")
    ->type_name("FILE");
  app.add_option("--nodes", nodes,
                 "Which of the listed nodes make the machine; without a list of nodes: that it has these, all alike")
    ->type_name("NODES");
  app.add_option("--network", network, "Bandwidth of each network card and direction, as 200Gbit/s or 25GB/s")
    ->type_name("RATE");
  app.add_option("--network-latency", assumed.network_latency, "From node to node")
    ->check(CLI::Range(0.0, 1.0))
    ->type_name("SECONDS")
    ->capture_default_str();
  app
    .add_option(
      "--gpu", gpus,
      "Figures of a GPU, in TFLOP/s (fp32, half, fp8, int8), GB/s (bandwidth, nvlink), GiB (memory),\n"
      "watts, nvlinks, generation of pcie; or which GPU a name or a type of Slurm's means, as in a100=A100-SXM4-80GB\n"
      "(gpu=… for GPUs without a type)")
    ->type_name("NAME=KEY:X,…")
    ->allow_extra_args(false);
  app
    .add_option("--cpu", cpus,
                "Figures of the processors of a node: fp32 in TFLOP/s, bandwidth in GB/s, memory in GiB, watts")
    ->type_name("KEY:X,…")
    ->allow_extra_args(false);
  tool::parse(app, "machine", argc, argv);
  if (!out.empty()) {
    weft::io::require_writable(out);
  }

  auto all = machine_program::read_lists(files);
  const bool lists_nodes = !all.nodes.empty();
  if (!nodes.empty()) {
    machine_program::choose_nodes(all, nodes);
  }
  for (const auto& text : gpus) {
    machine_program::add_gpu(assumed, text);
  }
  for (const auto& text : cpus) {
    machine_program::set_cpu(assumed, text);
  }
  if (!network.empty()) {
    if (all.nodes.size() < 2) {
      throw weft::error(
        std::string{"--network is between nodes, and the machine has one; leave it out"} +
        (lists_nodes ? "" : ", or say which nodes there are, as in --nodes 'node[1-4]'"));
    }
    assumed.network_bandwidth = machine_program::bandwidth(network, "--network");
  }
  const auto [platform, notes] = weft::describe_machine(all, assumed);

  std::string description = tool::command_line("machine", argc, argv);
  const auto& guesses = platform.notes(); // stand in the file by themselves
  std::FILE* const say = out.empty() ? stderr : stdout;
  for (const auto& line : notes) {
    fmt::print(say, "{}\n", line);
    description += std::find(guesses.begin(), guesses.end(), line) == guesses.end() ? "; " + line : "";
  }
  const auto write = [&](std::ostream& to) { weft::io::write_platform_json(to, platform, description); };
  if (out.empty()) {
    write(std::cout);
  } else {
    weft::io::write_file(out, write);
    fmt::print("{} device{} written to {}\n", platform.num_devices(), platform.num_devices() == 1 ? "" : "s", out);
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  return tool::main_of("machine", argc, argv, run);
}
