// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/core/random.hpp"
#include "weft/io/dax.hpp"
#include "weft/io/read.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace io_dax_test {

using namespace weft;

const std::string forked = R"(<?xml version="1.0" encoding="UTF-8"?>
<!-- generated: some day, <adag> -->
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" count="1" index="0" name="test" jobCount="3">
  <job id="ID00000" namespace="Montage" name="mProject" version="1.0" runtime="13.5">
    <uses file="region.hdr" link="input" register="true" transfer="true" optional="false" type="data" size="304"/>
    <uses file="p1.fits" link="output" register="false" transfer="false" optional="false" type="data" size="4167312"/>
  </job>
  <job id="ID00001" name="mDiff" runtime="10">
    <uses file="p1.fits" link="input" size="4167312"/>
    <uses file="d.fits" link="output" size="7"/>
  </job>
  <job id="ID00002" name="mConcat" runtime="1.25">
    <uses file="d.fits" link="input" size="7"/>
  </job>
  <child ref="ID00001">
    <parent ref="ID00000"/>
  </child>
  <child ref="ID00002">
    <parent ref="ID00000"/>
    <parent ref="ID00001"/>
  </child>
</adag>
)";

model read(const std::string& text) {
  return io::dax_reader::read(text, "w.dax");
}

std::string adag(const std::string& inside, const std::string& attributes = R"(version="3.6" name="w")") {
  return "<adag " + attributes + ">" + inside + "</adag>";
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("dax: jobs, files and times") {
  const auto m = io::model_from(forked, "w.dax");
  CHECK(m.format == "Pegasus DAX");
  CHECK(m.unit == work_unit::seconds);
  CHECK(m.measured_on == kind_set{device_kind::cpu});
  CHECK(m.seconds == std::vector<double>{13.5, 10, 1.25});
  CHECK(m.ops.name(1) == "ID00001");
  CHECK(m.ops.type(1) == "mDiff");
  CHECK(weft_test::outline(m.ops) == "13.5,10,1.25 0>1:4167312 0>2:0 1>2:7"); // the second is a control edge
  CHECK(m.notes == std::vector<std::string>{
                     "1 file comes from outside, 304 bytes in all; staging is not modelled"});
}

TEST_CASE("dax: as its versions and the programs that write it have it") {
  const std::string edge = R"(<child ref="b"><parent ref="a"/></child>)";
  const std::string two = R"(<job id="a" name="x" runtime="2"/><job id="b" name="x" runtime="3"/>)";
  const auto job = [](const std::string& id, const std::string& inside) {
    return "<job id=\"" + id + "\" name=\"x\">" + inside + "</job>";
  };
  const std::string time2 = R"(<profile namespace="pegasus" key="runtime">2</profile>)";
  const std::string time3 = "<profile namespace=\"pegasus\" key=\"runtime\">\n 3.0\n</profile>";
  for (const auto& [text, outline] : std::vector<weft_test::outlined>{
         {forked, "13.5,10,1.25 0>1:4167312 0>2:0 1>2:7"},
         {"\xef\xbb\xbf" + adag(two + edge), "2,3 0>1:0"},
         {adag("<job id='a' name='x' runtime='2'/>\n<job id='b' runtime='3'></job>" + edge), "2,3 0>1:0"},
         {adag(edge + two), "2,3 0>1:0"}, // dependencies first
         {adag(job("a", time2 +
                          R"(<uses name="f" link="output" register="false"><metadata key="size">5</metadata></uses>)") +
               job("b", time3 + R"(<uses name="f" link="input"/>)") + edge),
          "2,3 0>1:5"},
         {adag("<file name=\"f\"><metadata key=\"size\">5</metadata><pfn url=\"file:///f\" site=\"local\"/></file>" +
               job("a", time2 + R"(<uses name="f" link="output"/>)") +
               job("b", time3 + R"(<uses name="f" link="input"/>)")),
          "2,3 0>1:5"},
         {adag(job("a", R"(<argument>-i <file name="in"/> <![CDATA[ a < b ]]></argument><stdout name="o"/>)" + time2) +
               job("b", time3) + edge),
          "2,3 0>1:0"},
         {adag(R"(<dag id="a" file="one.dag"/><dax id="b" name="two.dax"/>)" + edge), "0,0 0>1:0"},
         {adag(two + edge + edge + R"(<child ref="b"><parent ref="a" edge-label="again"/></child>)"), "2,3 0>1:0"},
         {"<!DOCTYPE adag>\n" + adag("<!-- part 1: <job> -->" + two, R"(xmlns="x" version="2.1")"), "2,3"},
         {adag(R"(<job id="a" runtime="2"><uses file="f" link="inout" size="4"/></job>
                  <job id="b" runtime="3"><uses file="f" link="inout" size="4"/><uses file="g" link="none"/></job>)"),
          "2,3 0>1:4"},
       }) {
    CAPTURE(text);
    CHECK(io::dax_reader::recognises(text));
    CHECK(weft_test::outline(read(text).ops) == outline);
  }
  const auto four = R"(<profile namespace="pegasus" key="cores">4</profile>)";
  const auto cores = read(adag(job("a", time2 + four) + job("b", time3)));
  CHECK(cores.ops.slots(0) == 4);
  CHECK(cores.ops.slots(1) == 1);
  CHECK(std::ranges::any_of(cores.notes, [](const auto& n) { return n.starts_with("1 task ran on several cores"); }));
  CHECK(read(adag(R"(<job id="a&lt;1&gt;"/>)")).ops.name(0) == "a<1>");
  std::istringstream in{forked};
  CHECK(io::read_dax(in).ops.num_ops() == 3);
}

/// A job of one second; `uses` as in "-f +g ~h:5": reads f, writes g, does both with h, whose size is 5.
std::string job_of(const std::string& id, const std::string& uses) {
  std::istringstream words{uses};
  std::string text = "<job id=\"" + id + "\" runtime=\"1\">";
  for (std::string word; words >> word;) {
    const auto colon = word.find(':');
    text += "<uses file=\"" + word.substr(1, colon - 1) + "\" link=\"" +
            (word[0] == '-' ? "input" : word[0] == '+' ? "output" : "inout") + "\" size=\"" +
            (colon == word.npos ? "1" : word.substr(colon + 1)) + "\"/>";
  }
  return text + "</job>";
}

std::string before(const std::string& parent, const std::string& child) {
  return "<child ref=\"" + child + "\"><parent ref=\"" + parent + "\"/></child>";
}

TEST_CASE("dax: files that several jobs write") {
  for (const auto& [text, outline] : std::vector<weft_test::outlined>{
         {job_of("a", "+f") + job_of("b", "+f") + job_of("c", "-f") + before("a", "c") + before("b", "c"),
          "1,1,1 0>2:1 1>2:1"},
         {job_of("a", "+f") + job_of("b", "+f") + job_of("c", "-f"), "1,1,1 0>2:1 1>2:1"}, // nothing is listed
         {job_of("a", "-f") + job_of("b", "+f") + job_of("c", "+f"), "1,1,1 1>0:1 2>0:1"}, // the reader comes first
         {job_of("a", "+f:4") + job_of("b", "+f:5") + job_of("c", "-f:9") + job_of("d", "-f"),
          "1,1,1,1 0>2:4 0>3:4 1>2:5 1>3:5"}, // parts of several sizes
         {job_of("a", "+f") + job_of("b", "~f") + job_of("c", "-f"), "1,1,1 0>1:1 1>2:1"},
         {job_of("a", "+f") + job_of("b", "-f +f") + job_of("c", "-f"), "1,1,1 0>1:1 1>2:1"}, // the same
         {job_of("a", "~f") + job_of("b", "~f") + job_of("c", "~f"), "1,1,1 0>1:1 1>2:1"},
         {job_of("a", "~f") + job_of("b", "~f") + job_of("c", "-f") + before("b", "a"), "1,1,1 0>2:1 1>0:1"},
         {job_of("a", "+f") + job_of("r", "-f") + job_of("b", "+f") + before("r", "b"), "1,1,1 0>1:1 1>2:0"},
         {job_of("c", "+f +g") + job_of("a", "-g +f") + job_of("b", "-f +g"),
          "1,1,1 0>2:1 0>1:1 1>2:1"}, // who waits for whom is a contradiction: in the order of the jobs
         {job_of("a", "+f +f") + job_of("b", "+f") + job_of("c", "-f -f"), "1,1,1 0>2:1 1>2:1"},
         {job_of("r", "-f") + job_of("u", "~f") + job_of("v", "~f") + job_of("w", "+f"),
          "1,1,1,1 1>2:1 2>0:1 3>1:1"},
       }) {
    CAPTURE(text);
    const auto m = read(adag(text));
    CHECK(weft_test::outline(m.ops) == outline);
    CHECK(std::ranges::any_of(m.notes, [](const auto& n) { return n.find("written by several tasks") != n.npos; }));
  }
  const auto early = read(adag(job_of("r", "-f:7") + job_of("a", "+f") + job_of("b", "+f") + before("r", "a") +
                               before("r", "b"))); // reads what was there before
  CHECK(weft_test::outline(early.ops) == "1,1,1 0>1:0 0>2:0");
  CHECK(std::ranges::any_of(early.notes, [](const auto& n) {
      return n.starts_with("1 file comes from outside, 7 bytes in all");
    }));
  const auto cycle = weft_test::parse_error_of([&] {
    (void)read(adag(job_of("a", "+f") + job_of("b", "+f") + before("a", "b") + before("b", "a")));
  });
  CHECK(std::string{cycle.what()}.find("the graph has a cycle") != std::string::npos);
}

/// The nodes that are reached from each node.
std::vector<std::vector<bool>> reach_of(const workload& w) {
  const std::size_t n = w.num_ops();
  std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
  for (const tensor_id t : ids(w.num_tensors())) {
    for (const op_id c : w.consumers(t)) {
      reach[w.producer(t)][c] = true;
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
      }
    }
  }
  return reach;
}

TEST_CASE("dax: whatever jobs read and write, there is no cycle, and readers wait for all writers that may precede") {
  rng random{11};
  std::size_t num_pairs = 0, num_waits = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto n = 2 + random.below(6);
    const auto num_files = 1 + random.below(3);
    const bool pure = i % 3 == 0; // nobody does both, and nothing is listed: nothing can be a contradiction
    std::vector<std::string> uses(n);
    struct link {
      std::size_t file;
      std::size_t job;
    };
    std::vector<link> writers, readers;
    for (std::size_t f = 0; f < num_files; ++f) {
      const auto name = "f" + std::to_string(f) + " ";
      std::size_t num_writers = 0;
      for (std::size_t v = 0; v < n; ++v) {
        const auto kind = random.below(5);
        const bool writes = pure ? kind == 1 && v % 2 == 0 : kind == 1 || kind == 3;
        const bool reads = pure ? kind >= 2 && v % 2 == 1 : kind == 2 || kind == 3;
        num_writers += writes ? 1u : 0u;
        uses[v] += (writes ? "+" + name : "") + (reads ? "-" + name : "");
        if (writes) {
          writers.push_back({f, v});
        }
        if (reads) {
          readers.push_back({f, v});
        }
      }
      for (std::size_t extra = num_writers; extra < 2; ++extra) { // files with one writer would be fixed
        uses.push_back("+" + name);
        writers.push_back({f, uses.size() - 1});
      }
    }
    std::string text;
    for (std::size_t v = 0; v < uses.size(); ++v) {
      text += job_of("j" + std::to_string(v), uses[v]);
    }
    std::vector<std::pair<std::size_t, std::size_t>> listed;
    for (std::size_t k = pure ? n : 0; k < n; ++k) { // along another order than that of the jobs
      const auto a = random.below(static_cast<std::uint32_t>(n)), b = random.below(static_cast<std::uint32_t>(n));
      if (a * 5 % 7 < b * 5 % 7) {
        listed.emplace_back(a, b);
        text += before("j" + std::to_string(a), "j" + std::to_string(b));
      }
    }
    CAPTURE(text);
    const auto reach = reach_of(read(adag(text)).ops);
    for (std::size_t v = 0; v < uses.size(); ++v) {
      REQUIRE_FALSE(reach[v][v]);
    }
    for (const auto& [a, b] : listed) {
      CHECK(reach[a][b]);
    }
    for (const auto& w : writers) {
      for (const auto& r : readers) {
        if (w.file == r.file && w.job != r.job) {
          ++num_pairs;
          num_waits += reach[w.job][r.job] ? 1u : 0u;
          CHECK((reach[w.job][r.job] || !pure));
          if (!pure && !reach[w.job][r.job]) { // there is a reason, or they are in a contradiction
            const bool later = reach[r.job][w.job];
            const bool both = std::ranges::any_of(readers, [&](const auto& x) {
              return std::ranges::any_of(writers, [&](const auto& y) { return x.job == y.job; });
            });
            CHECK((later || both || !listed.empty()));
          }
        }
      }
    }
  }
  CHECK(num_waits * 4 > num_pairs * 3);
}

TEST_CASE("dax: what cannot be read says where and why") {
  struct sample {
    std::string text;
    std::string error;
  };
  for (const auto& [text, error] : {
         sample{"<adag>", "the workflow is not complete: the end of 'adag' is missing"},
         sample{"<dag/>", "w.dax:1: the outermost element is not 'adag'"},
         sample{"<adag/><adag/>", "w.dax:1: the outermost element is not 'adag'"},
         sample{adag("<job id='a'></jib>"), "the end of 'jib' is not expected here"},
         sample{adag("<job name='a'/>"), "'job' has no attribute 'id'"},
         sample{adag("<job id='a'>\n<uses link='input'/></job>"), "w.dax:2: 'uses' has no attribute 'name'"},
         sample{changed(forked, "ID00002\" name", "ID00000\" name"),
                "w.dax:12: there is another job with the id 'ID00000'; ids must differ"},
         sample{changed(forked, "parent ref=\"ID00001\"", "parent ref=\"ID9\""),
                "w.dax:20: there is no job with the id 'ID9'"},
         sample{changed(forked, "runtime=\"10\"", "runtime=\"ten\""), "w.dax:8: runtime 'ten' is not a number"},
         sample{changed(forked, "runtime=\"10\"", "runtime=\"-1\""), "w.dax:8: runtime '-1' is negative"},
         sample{changed(forked, "size=\"304\"", "size=\"1e30\""), "w.dax:5: size '1e30' is too large"},
         sample{changed(forked, "child ref=\"ID00001\"", "child ref=\"ID00000\""), "the graph has a cycle"},
       }) {
    CAPTURE(error);
    const std::string what = weft_test::parse_error_of([&] { (void)read(text); }).what();
    CHECK_MESSAGE(what.find(error) != std::string::npos, what);
    CHECK(what.find('\n') == std::string::npos);
  }
  for (const char* text : {"", "<topology/>", "adag", "{\"x\": \"<adag\"}"}) {
    CHECK_FALSE(io::dax_reader::recognises(text));
  }
}

} // namespace io_dax_test
