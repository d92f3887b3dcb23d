// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/io/dot.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace io_dot_reader_test {

using namespace weft;

model read(const std::string& text) {
  return io::dot_reader::read(text, "g.dot");
}

std::string error_of(const std::string& text) {
  return weft_test::parse_error_of([&] { (void)read(text); }).what();
}

/// `a>b:bytes` for each edge, in the order of producers, their tensors and consumers.
std::string edges_of(const workload& w) {
  std::string text;
  for (const tensor_id t : ids(w.num_tensors())) {
    for (const op_id c : w.consumers(t)) {
      text += std::string{text.empty() ? "" : " "} + std::string{w.name(w.producer(t))} + ">" + std::string{w.name(c)} +
              ":" + std::to_string(w.bytes(t));
    }
  }
  return text;
}

TEST_CASE("dot reader: what write_dot writes comes back") {
  rng random{7};
  for (int i = 0; i < 200; ++i) {
    const auto w = weft_test::random_workload(random);
    const auto m = read(weft_test::text_of([&](std::ostream& out) { io::write_dot(out, w); }));
    CHECK(weft_test::same(m.ops, w));
    CHECK(m.notes.empty());
    CHECK(m.format == "DOT");
    std::vector<device_id> placed(w.num_ops());
    for (auto& d : placed) {
      d = random.below(3);
    }
    const auto placed_text =
      weft_test::text_of([&](std::ostream& out) { io::write_dot(out, w, {.bytes = false}, placed); });
    CHECK(weft_test::same(read(placed_text).ops, w));
  }
}

TEST_CASE("dot reader: weights by the names that people use") {
  const auto m =
    read("digraph G {\n"
         "  a [weight=2.5]; b [size=\"1e3\", alpha=0.2]; c [work=4; size=9]; d [comp=\"5\" label=\"D\\n\\N\"]\n"
         "  a -> b [size=10.5]; a -> c [weight=\"7\"]; b -> d [comm=3, bytes=4]; c -> d\n"
         "}\n");
  CHECK(m.ops.num_ops() == 4);
  CHECK(m.ops.work(0) == 2.5);
  CHECK(m.ops.work(1) == 1000);
  CHECK(m.ops.work(2) == 4);
  CHECK(m.ops.work(3) == 5);
  CHECK(m.ops.name(3) == "D\nd");
  CHECK(edges_of(m.ops) == "a>b:11 a>c:7 b>D\nd:4 c>D\nd:0");
  CHECK(m.notes == std::vector<std::string>{"1 edge has no weight; it is a control edge"});
}

TEST_CASE("dot reader: names of attributes without case") {
  const auto m = read("digraph{a[Weight=2];b[WORK=3, Label=B];a->b[Weight=5]}");
  CHECK(m.ops.work(0) == 2);
  CHECK(m.ops.work(1) == 3);
  CHECK(edges_of(m.ops) == "a>B:5");
}

TEST_CASE("dot reader: a file whose weights nobody understood says so") {
  const std::string none_known = "no node has a weight under a name that is known here (work, work_weight, weight, "
                                 "comp, computation, cost, size); the work of each is 1";
  const std::string control = "1 edge has no weight; it is a control edge";
  const std::string unread = "; they have numbers that are not read: ";
  struct sample {
    std::string text;
    std::vector<std::string> notes;
  };
  for (const auto& [text, notes] : std::vector<sample>{
         {"digraph{a;b;a->b}", {none_known, control}},
         {"digraph{a[exec_time=4];b[exec_time=\"5\"];a->b[latency=3]}",
          {none_known + unread + "exec_time", control + unread + "latency"}},
         {"digraph{a[WCET=\"4 ms\",Period=20,color=\"0.5 1 1\"];b;a->b[label=7]}",
          {none_known + unread + "wcet, period", control + unread + "label"}},
         {"digraph{node[flops=1e9];a;b;a->b[label=\"7 KiB\",minlen=2]}", {none_known + unread + "flops", control}},
         {"digraph{a[label=4,width=2,height=1,fontsize=10,penwidth=3];b[label=5];a->b[weight=2,len=3]}", {none_known}},
         {"digraph{a[weight=4];b[load=5];a->b[bytes=1]}",
          {"1 node has no weight; its work is 1" + unread + "load"}},
         {"digraph{a[weight=4,alpha=0.2];b[weight=5];a->b[bytes=1,alpha=1]}", {}},
         {"digraph{a[comp_cost=4];b[comp_cost=5];a->b[comm_cost=1]}",
          {none_known + unread + "comp_cost", control + unread + "comm_cost"}},
         {"digraph{a[t1=1,t2=2,t3=3,t4=4,t5=5,t6=6,t7=7];b;a->b[size=1]}",
          {none_known + unread + "t1, t2, t3, t4, t5, t6"}},
         {"digraph{graph[nodesep=1];a[runtime=4s, type=x, host=n01];b;a->b[size=1]}",
          {none_known + unread + "runtime"}},
       }) {
    CAPTURE(text);
    CHECK(read(text).notes == notes);
  }
}

TEST_CASE("dot reader: ten ways in which graphs name their weights") {
  for (const auto& [text, outline] : std::vector<weft_test::outlined>{
         {"digraph{a[Weight=2];b[Weight=3];a->b[Weight=5]}", "2,3 0>1:5"},
         {"digraph \"g\" {\n  0 [Weight=\"2\"];\n  1 [Weight=\"3\"];\n  0 -> 1 [Weight=\"5\"];\n}\n", "2,3 0>1:5"},
         {"digraph G {\n1 [size=\"2e9\", alpha=\"0.10\"]\n2 [size=\"3\", alpha=\"0.2\"]\n1 -> 2 [size =\"536\"]\n}",
          "2e+09,3 0>1:536"},
         {"strict digraph{a[cost=2];b[COST=3];a->b[size=5]}", "2,3 0>1:5"},
         {"digraph{a[comp=2,comm=5];b[comp=3];a->b}", "2,3 0>1:5"},
         {"digraph{a[work_weight=2,comm_weight=5,mem_weight=9];b[work_weight=3];c[work_weight=1];a->b;a->c}",
          "2,3,1 0>1:5 0>2:5"},
         {"digraph{a[computation=2.5];b[computation=3];a->b[comm=5]}", "2.5,3 0>1:5"},
         {"digraph{node[weight=2];a;b;c;edge[weight=5];a->b->c}", "2,2,2 0>1:5 1>2:5"},
         {"digraph{a[label=\"x (4)\" weight=2]b[WeIgHt=3]a->b[BYTES=5]}", "2,3 0>1:5"},
         {"digraph{a[weight=2 size=7];b[Size=3];a->b[bytes=4.2 weight=1]}", "2,3 0>1:5"},
       }) {
    CAPTURE(text);
    CHECK(weft_test::outline(read(text).ops) == outline);
  }
}

TEST_CASE("dot reader: edges of size -1 are an order without data") {
  for (const auto& [text, outline] : std::vector<weft_test::outlined>{
         {"digraph G { a [size=\"4e9\"]; b [size=\"6e9\"]; c [size=\"5e9\"]; a->b [size=\"-1\"];\n"
          "a->c [size=\"1e6\"]; }",
          "4e+09,6e+09,5e+09 0>2:1000000 0>1:0"},
         {"digraph{a[size=2];b[size=3];a->b[size=-1]}", "2,3 0>1:0"},
         {"digraph{a[size=2];b[size=3];a->b[size=\" -1.0 \"]}", "2,3 0>1:0"},
         {"digraph{a[size=2];b[size=3];a->b[size=\"-1.000000e+00\"]}", "2,3 0>1:0"},
         {"digraph{a[weight=2];b[weight=3];a->b[weight=-1]}", "2,3 0>1:0"},
         {"digraph{node[size=2];a;b;c;edge[size=-1];a->b->c}", "2,2,2 0>1:0 1>2:0"},
         {"digraph{a[size=2,comm=9];b[size=3];c[size=4];a->b[size=-1];a->c}", "2,3,4 0>2:9 0>1:0"},
         {"strict digraph{a[size=2];b[size=3];a->b[size=8];a->b[size=-1]}", "2,3 0>1:0"},
         {"digraph{a[size=2];b[size=3];a->b[size=8];a->b[size=-1]}", "2,3 0>1:8 0>1:0"},
         {"digraph{root[size=0];a[size=2];end[size=0];root->a[size=-1];a->end[size=-1]}", "0,2,0 0>1:0 1>2:0"},
         {"digraph{a[size=2];b[size=3];c[size=4];{a;b}->c[bytes=-1]}", "2,3,4 0>2:0 1>2:0"},
       }) {
    CAPTURE(text);
    const auto m = read(text);
    CHECK(weft_test::outline(m.ops) == outline);
    CHECK(m.notes.empty()); // nothing is missing
  }
  for (const char* size : {"-2", "-0.5", "-1e9", "-1x", "\"- 1\"", "-inf"}) {
    CAPTURE(size);
    CHECK(error_of(std::string{"digraph{a[size=2];b[size=3];a->b[size="} + size + "]}").starts_with("g.dot:1: "));
  }
}

TEST_CASE("dot reader: slots come back") {
  workload_builder b;
  b.add_op({.work = 1, .name = "a"});
  b.add_op({.work = 1, .name = "b", .slots = 4});
  const auto m = read(weft_test::text_of([&](std::ostream& out) { io::write_dot(out, std::move(b).build()); }));
  CHECK(m.ops.slots(0) == 1);
  CHECK(m.ops.slots(1) == 4);
}

TEST_CASE("dot reader: weights of OneStopParallel, which separates attributes by semicolons") {
  const auto m = read("digraph G {\n0 [work_weight=\"3\";comm_weight=\"2\";mem_weight=\"1\";type=\"1\";];\n"
                      "1 [work_weight=\"4\";comm_weight=\"0\"];\n2 [work_weight=1];\n0 -> 1\n0->2 0->2\n}");
  CHECK(m.ops.num_tensors() == 1);
  CHECK(edges_of(m.ops) == "0>1:2 0>2:2");
  CHECK(m.ops.type(0) == "1");
}

TEST_CASE("dot reader: chains, subgraphs, defaults, ports, comments, quotes") {
  const auto m = read("# a line of the preprocessor\n"
                      "/* a\n comment */ STRICT Digraph \"my\" + \" graph\" {\n"
                      "  graph [rankdir=LR] // the rest\n"
                      "  rankdir = TB; node [work=3 shape=box]; edge [bytes=8];\n"
                      "  \"a b\":port:ne -> -1.5 -> x_1;\n"
                      "  subgraph cluster_1 { label=\"c\"; node [work=5]; edge[bytes=1]; p; q [work=6]; p -> q }\n"
                      "  {u; v} -> subgraph { s t } -> w [bytes=2];\n"
                      "  h [label=<<b>bold</b>>]; \"a\\\"q\\\\\"; \"joined\\\nline\"\n"
                      "}");
  std::string names;
  for (const op_id v : ids(m.ops.num_ops())) {
    names += std::string{m.ops.name(v)} + "," + std::to_string(static_cast<int>(m.ops.work(v))) + ";";
  }
  CHECK(names == "a b,3;-1.5,3;x_1,3;p,5;q,6;u,3;v,3;s,3;t,3;w,3;h,3;a\"q\\\\,3;joinedline,3;");
  CHECK(edges_of(m.ops) == "a b>-1.5:8 -1.5>x_1:8 p>q:1 u>s:2 u>t:2 v>s:2 v>t:2 s>w:2 t>w:2");
}

TEST_CASE("dot reader: edges that are given twice") {
  CHECK(edges_of(read("digraph { a -> b [bytes=1]; a -> b [bytes=2] }").ops) == "a>b:1 a>b:2");
  CHECK(edges_of(read("strict digraph { a -> b [bytes=1]; a -> b [bytes=2] }").ops) == "a>b:2");
  CHECK(edges_of(read("digraph { a -> b; a -> b }").ops) == "a>b:0");
  CHECK(read("digraph{}").ops.num_ops() == 0);
}

TEST_CASE("dot reader: what cannot be read says where and why") {
  struct sample {
    std::string text;
    std::string error;
  };
  for (const auto& [text, error] : {
         sample{"graph { a -- b }", "g.dot:1: the graph is undirected, but data flows one way: write 'digraph'"},
         sample{"digraph {\n a -- b }", "g.dot:2: '--' is an undirected edge"},
         sample{"digraph {\n a -> b\n b -> a }", "g.dot:2: the graph has a cycle: op 0 'a' -> op 1 'b' -> op 0 'a'"},
         sample{"digraph {\n a [work=big] }", "g.dot:2: work 'big' is not a number"},
         sample{"digraph { a [work=-1] }", "g.dot:1: work '-1' is negative"},
         sample{"digraph { a -> b [bytes=1e300] }", "bytes '1e300' is too large"},
         sample{"digraph { a [kinds=\"cpu|steam\"] }", "unknown device kind 'steam'"},
         sample{"digraph { a [outputs=\"1 2\"]; a -> b [tensor=2] }", "the node has no output 2, it lists 2"},
         sample{"digraph { a [kinds=cpu colocation=x]\nb [kinds=gpu colocation=x] }", "no common device kind"},
         sample{"digraph {\n a ->\n}", "g.dot:3: expected a node or a subgraph, at '}'"},
         sample{"digraph { a [work=1", "expected an attribute or ']', but the file ends"},
         sample{"digraph { a", "expected a node, an edge, a subgraph or '}', but the file ends"},
         sample{"digraph { \"a", "the string does not end"},
         sample{"digraph { a [label=<b<c>]", "the HTML text does not end"},
         sample{"digraph { /* a", "the comment does not end"},
         sample{"digraph { \"a\" + b }", "a plus sign joins two strings in quotes"},
         sample{"digraph { node -> b }", "expected '[' after a keyword; a node of that name needs quotes"},
         sample{"digraph { a } digraph { b }", "write one graph per file"},
         sample{"digraph { a ? b }", "this is not DOT: '? b }'"},
         sample{"digraph { a:b:c:d }", "at ':'"},
         sample{"", "expected 'digraph', but the file ends"},
         sample{std::string("digraph { \"a\0\" }", 16), "there is a byte of zero"},
       }) {
    CAPTURE(text);
    const auto what = error_of(text);
    CHECK_MESSAGE(what.find(error) != std::string::npos, what);
    CHECK(what.find('\n') == std::string::npos);
  }
  const auto lenient = read("digraph { 1abc [work=2.5e-1]; 2 [work=1e3] 1abc->2 }"); // as people write it
  CHECK(lenient.ops.name(0) == "1abc");
  CHECK(lenient.ops.work(0) == 0.25);
  CHECK(lenient.ops.work(1) == 1000);
  CHECK(lenient.ops.num_edges() == 1);
  std::string deep = "digraph ";
  for (int i = 0; i < 100'000; ++i) {
    deep += '{';
  }
  CHECK(error_of(deep).find("subgraphs are nested more than 64 deep") != std::string::npos);
  std::string names;
  for (int i = 0; i < 2000; ++i) {
    names += "a" + std::to_string(i) + " ";
  }
  CHECK(error_of("digraph { {" + names + "} -> { b" + names + "} }").find("too many") != std::string::npos);
}

TEST_CASE("dot reader: what is DOT and what is not") {
  for (const char* text : {"digraph {", "strict digraph x {", " // c\n graph \"g\" {", "digraph \"a\" + \"b\" {"}) {
    CHECK(io::dot_reader::recognises(text));
  }
  for (const char* text : {"", "digraph", "digraph of text", "{", "node {", "strict {", "graph;", "<graph>"}) {
    CHECK_FALSE(io::dot_reader::recognises(text));
  }
}

} // namespace io_dot_reader_test
