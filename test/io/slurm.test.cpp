// SPDX-License-Identifier: BSL-1.0
#include "weft/core/error.hpp"
#include "weft/io/slurm.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace io_slurm_test {

using namespace weft;
using names = std::vector<std::string>;

template <class Read>
std::string refusal(const Read& read) {
  try {
    static_cast<void>(read());
  } catch (const error& e) {
    return e.what();
  }
  return "";
}
template <class Reader>
std::string refusal_of(const std::string& text) {
  return refusal([&] { return Reader::read(text, "in"); });
}

TEST_CASE("node lists: ranges, leading zeros, several brackets") {
  CHECK(io::node_names("node[01-04,07]") == names{"node01", "node02", "node03", "node04", "node07"});
  CHECK(io::node_names("login1,gpu[8-11]") == names{"login1", "gpu8", "gpu9", "gpu10", "gpu11"});
  CHECK(io::node_names("rack[1-2]n[1-2]-ib") == names{"rack1n1-ib", "rack1n2-ib", "rack2n1-ib", "rack2n2-ib"});
  CHECK(io::node_names("p-gc-[099-101]") == names{"p-gc-099", "p-gc-100", "p-gc-101"});
}

TEST_CASE("node lists: mistakes") {
  const auto wrong = [](const char* text) { return refusal([&] { return io::node_names(text); }); };
  CHECK(wrong("node[1-4") == "node list 'node[1-4': there is a '[' without ']'");
  CHECK(wrong("node[4-1]") == "node list 'node[4-1]': the range '4-1' must go up, and by less than 10000");
  CHECK(wrong("node[a-b]") == "node list 'node[a-b]': 'a-b' is not a number or a range such as 01-04");
  CHECK(wrong("a,,b") == "node list 'a,,b': a name is missing in 'a,,b'");
  CHECK(wrong("a[0-9999]b[0-9999]") == "node list 'a[0-9999]b[0-9999]': more than 10000 nodes");
  CHECK(wrong("a[1][1][1][1][1]") == "node list 'a[1][1][1][1][1]': there are too many brackets");
}

constexpr const char* shown = R"(NodeName=gpu01 Arch=x86_64 CoresPerSocket=64 
   CPUAlloc=0 CPUEfctv=256 CPUTot=256 CPULoad=0.03
   AvailableFeatures=a100,ib
   ActiveFeatures=a100,ib
   Gres=gpu:a100:8(S:0-1)
   NodeAddr=gpu01 NodeHostName=gpu01 Version=22.05.8
   OS=Linux 5.15.0-56-generic #62-Ubuntu SMP Tue Nov 22 19:54:14 UTC 2022 
   RealMemory=2051000 AllocMem=0 FreeMem=2023987 Sockets=2 Boards=1
   State=IDLE ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=gpu 
   CfgTRES=cpu=256,mem=2051000M,billing=256,gres/gpu=8
   AllocTRES=
   CapWatts=n/a

NodeName=cpu01 Arch=x86_64 CoresPerSocket=20 
   CPUAlloc=0 CPUTot=40 CPULoad=0.01
   Gres=(null)
   RealMemory=190000 AllocMem=0 FreeMem=100 Sockets=2 Boards=1
   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1

)";

TEST_CASE("scontrol show node: blocks, lines, and slurm.conf") {
  CHECK(io::scontrol_reader::recognises(shown));
  const auto nodes = io::scontrol_reader::read(shown, "in");
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0] == inventory::node{"gpu01", 2, 128, byte_count{2051000} << 20, {{"a100", 8}}});
  CHECK(nodes[1] == inventory::node{"cpu01", 2, 40, byte_count{190000} << 20, {}});
  const auto lines = io::scontrol_reader::read(
    "# compute\nNodeName=n[1-2] CPUs=64 ThreadsPerCore=2 RealMemory=1000 Gres=gpu:2,shard:8 # two\n"
    "NodeName=n3 CPUs=8 Gres=gpu:a100_3g:2,gpu:a100:1,nic:4\n", "in");
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == inventory::node{"n2", 0, 32, byte_count{1000} << 20, {{"", 2}}});
  CHECK(lines[2].gpus == std::vector<inventory::gpu_count>{{"a100_3g", 2}, {"a100", 1}});
  const auto one_line = io::scontrol_reader::read(
    "NodeName=n1 CoresPerSocket=8 OS=Linux 5.15.0-91-generic #101-Ubuntu SMP RealMemory=1000 Sockets=2\n", "in");
  CHECK(one_line[0] == inventory::node{"n1", 2, 16, byte_count{1000} << 20, {}}); // of scontrol -o: no comment in it
  const auto reason =
    io::scontrol_reader::read("NodeName=n1 CPUs=8 Gres=gpu:l4:1 Reason=new cards # was Gres=gpu:l4:4\n", "in");
  CHECK(reason[0].gpus == std::vector<inventory::gpu_count>{{"l4", 1}});
}

TEST_CASE("slurm.conf: defaults carry over, boards, and what Slurm takes where nothing is said") {
  const auto nodes = io::scontrol_reader::read("NodeName=DEFAULT Boards=2 SocketsPerBoard=2 CoresPerSocket=24\n"
                                               "NodeName=DEFAULT RealMemory=1000 Gres=gpu:4\n"
                                               "NodeName=a,b\nNodeName=c Boards=1 Gres=(null) RealMemory=1\n"
                                               "NodeName=DEFAULT CoresPerSocket=8\nNodeName=d\n", "in");
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[1] == inventory::node{"b", 4, 96, byte_count{1000} << 20, {{"", 4}}});
  CHECK(nodes[2] == inventory::node{"c", 2, 48, 0, {}});
  CHECK(nodes[3].cores == 32);
  CHECK(io::scontrol_reader::read("NodeName=a Sockets=4 Boards=2 CoresPerSocket=8\n", "in")[0].cores == 32);
  CHECK(io::scontrol_reader::read("NodeName=a CPUs=64\n", "in")[0].cores == 0); // of hardware threads
  CHECK(refusal_of<io::scontrol_reader>("NodeName=a SocketsPerBoard=65536 Boards=65536\n") ==
        "in:1: 4294967296 sockets in a node are more than 65536");
  CHECK(refusal_of<io::scontrol_reader>("NodeName=a Sockets=65536 CoresPerSocket=2\n") ==
        "in:1: 131072 cores in a node are more than 65536");
  CHECK(refusal_of<io::scontrol_reader>("NodeName=DEFAULT CPUs=1\n").find("there is no node") != std::string::npos);
}

TEST_CASE("sinfo -N: hardware threads are no cores") {
  const auto cores = [](const std::string& text) { return io::sinfo_reader::read(text, "in").at(0).cores; };
  CHECK(cores("NODELIST CPUS MEMORY GRES\nn1 256 2051000 gpu:8\n") == 0);
  CHECK(cores("NODELIST CPUS THREADS\nn1 256 2\n") == 128);
  CHECK(cores("NODELIST S:C:T MEMORY GRES\nn1 2:64:2 2051000 gpu:8\n") == 128);
  CHECK(io::sinfo_reader::read("NODELIST MEMORY\nn1 1\n", "in").at(0).memory == 0);
}

TEST_CASE("sinfo -N: columns in any order, nodes once for each partition") {
  const std::string text = "NODELIST CPUS MEMORY GRES S:C:T\n"
                           "gpu01 256 2051000 gpu:a100:8(S:0-1) 2:64:2\n"
                           "gpu01 256 2051000 gpu:a100:8(S:0-1) 2:64:2\n"
                           "gpu[02-03] 256 2051000 gpu:a100:8(S:0-1) 2:64:2\n"
                           "cpu01 40+ 190000+ (null) 2:20:1\n";
  CHECK(io::sinfo_reader::recognises(text));
  const auto nodes = io::sinfo_reader::read(text, "in");
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[2] == inventory::node{"gpu03", 2, 128, byte_count{2051000} << 20, {{"a100", 8}}});
  CHECK(nodes[3] == inventory::node{"cpu01", 2, 40, byte_count{190000} << 20, {}});
  const std::string dated =
    "Tue Nov 22 19:54:14 2022\n"
    "NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON\n"
    "n1             1      gpu*        idle 8       2:4:1  16000        0      1   (null) not yet up\n";
  CHECK(io::sinfo_reader::recognises(dated));
  CHECK(io::sinfo_reader::read(dated, "in")[0] == inventory::node{"n1", 2, 8, byte_count{16000} << 20, {}});
}

TEST_CASE("Slurm: what cannot be read is refused in one line") {
  CHECK(refusal_of<io::scontrol_reader>("Hello\n") == "in:1: there is no node; a node begins with NodeName=");
  CHECK(refusal_of<io::scontrol_reader>("NodeName=a\xff\x01 RealMemory=9\n").find("no node has a name such as 'a") !=
        std::string::npos);
  CHECK(refusal_of<io::scontrol_reader>("NodeName=a RealMemory=x\n") == "in:1: memory 'x' is not a whole number");
  CHECK(refusal_of<io::scontrol_reader>("NodeName=a Gres=gpu:5000000000\n") ==
        "in:1: number of GPUs '5000000000' is too large");
  CHECK(refusal_of<io::scontrol_reader>("NodeName=a Gres=gpu:a:600,gpu:b:600\n") ==
        "in:1: more than 1000 GPUs in a node");
  CHECK(refusal_of<io::scontrol_reader>("NodeName=a RealMemory=9\nNodeName=a RealMemory=8\n") ==
        "in:2: the node 'a' is listed twice with different figures");
  std::string often;
  for (int i = 0; i < 30; ++i) {
    often += "NodeName=a[0-9999]\n";
  }
  CHECK(refusal_of<io::scontrol_reader>(often).find("more than 10000 nodes") != std::string::npos);
  CHECK(!io::sinfo_reader::recognises("NODELIST is here\n"));
  CHECK(refusal_of<io::sinfo_reader>("gpu01 256\n").starts_with("in:1: the first line must name the columns"));
  CHECK(refusal_of<io::sinfo_reader>("NODELIST CPUS\n") == "in:1: no node follows the line of headers");
  CHECK(refusal_of<io::sinfo_reader>("NODELIST CPUS\nn1\n").starts_with("in:2: 1 fields for 2 columns"));
  CHECK(refusal_of<io::sinfo_reader>("NODELIST S:C:T\nn1 2:3\n") == "in:2: S:C:T '2:3' must be sockets:cores:threads");
}

} // namespace io_slurm_test
