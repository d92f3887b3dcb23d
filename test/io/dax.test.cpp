// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

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
                     "1 files of 304 bytes in all come from outside; staging them is not modelled"});
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
  CHECK(std::ranges::any_of(cores.notes, [](const auto& n) { return n.starts_with("1 tasks ran on several cores"); }));
  CHECK(read(adag(R"(<job id="a&lt;1&gt;"/>)")).ops.name(0) == "a<1>");
  std::istringstream in{forked};
  CHECK(io::read_dax(in).ops.num_ops() == 3);
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
         sample{changed(forked, "\"p1.fits\" link=\"input\"", "\"p1.fits\" link=\"output\""),
                "w.dax:9: the file 'p1.fits' is also written by another job, 'ID00000'; a file has one producer"},
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
