// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/generate/named.hpp"

#include "weft/cost/generate/ccr.hpp"
#include "weft/problem.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace workload_named_test {

using namespace weft;
using generate::parse_named;
using generate::platform_families;
using generate::workload_families;

auto graph(std::string_view text) { return parse_named(text, workload_families); }
auto machine(std::string_view text) { return parse_named(text, platform_families); }

std::string refusal(auto read) {
  try {
    read();
  } catch (const value_error& e) {
    return e.what();
  }
  return "none";
}

TEST_CASE("parse_named: parameters, and what all families share") {
  const auto r = graph("layered,ops=40,ccr=0.5,count=3,seed=7,min_work=2");
  CHECK(r.generator->name == "layered");
  CHECK(r.ccr == 0.5);
  CHECK(r.count == 3);
  CHECK(r.seed == 7);
  CHECK(r.title() == "layered ops=40 min_work=2 ccr=0.5");
  CHECK(r.text(8) == "layered,ops=40,min_work=2,ccr=0.5,seed=8");
  CHECK(graph(r.text(8)).text(8) == r.text(8)); // what is written is read again
  const auto w = r.make(7);
  CHECK(w.num_ops() == 40);
  for (op_id v = 0; v < 40; ++v) {
    CHECK(w.work(v) >= 2);
  }
  CHECK(graph("cholesky").text(0) == "cholesky");
  CHECK(graph("cholesky").title() == "cholesky");
  CHECK(graph("layered,levels=4,max_width=5,min_width=5").make(0).num_ops() == 20);
}

TEST_CASE("parse_named: every family is the generator's with its defaults, and its own parameters") {
  for (const auto& f : workload_families) {
    CAPTURE(f.name);
    const auto r = graph(f.name);
    const auto a = r.make(3);
    CHECK(a.num_ops() > 0);
    CHECK(r.make(3).num_edges() == a.num_edges());
    std::string all{f.name}; // with all defaults written out but those that take the place of others
    for (const auto& [name, value] : f.defaults()) {
      if (name != "levels" && name != "edge_probability") {
        all += "," + name + "=" + value;
      }
    }
    const auto b = graph(all).make(3);
    CHECK(b.num_ops() == a.num_ops());
    CHECK(b.num_edges() == a.num_edges());
  }
  CHECK(graph("fft").make(0).num_ops() == generate::fft().num_ops());
  CHECK(graph("lu,tiles=3").make(0).num_ops() == generate::lu({.tiles = 3}).num_ops());
  CHECK(graph("random_dag,ops=50").make(5).num_edges() == generate::random_dag({.ops = 50}, 5).num_edges());
  CHECK(graph("layered").make(0).num_ops() == 100);
}

TEST_CASE("parse_named: platforms") {
  const auto related = machine("related,devices=4,min_speed=2,max_speed=2,bandwidth=5,gpu_share=0.5").make(0);
  CHECK(related.num_devices() == 4);
  CHECK(related.speed(3) == 2);
  CHECK(related.bandwidth(0, 3) == 5);
  CHECK(related.name(0) == "cpu0");
  CHECK(related.name(3) == "gpu3");
  CHECK(related.reached_rates(0));
  CHECK(machine("heterogeneous,devices=6").make(0).num_devices() == 6);
  CHECK(machine("heterogeneous").make(0).send_work() == 0); // unlike the generator's default
  CHECK(machine("heterogeneous,send_work=10").make(0).devices() == generate::heterogeneous().devices());
  CHECK(machine("heterogeneous,send_work=10").make(0).send_work() == generate::heterogeneous().send_work());
  const auto w = generate::with_ccr(graph("layered,ops=60").make(1), machine("related").make(1), 2);
  CHECK(generate::ccr_of(w, machine("related").make(1)) == doctest::Approx(2).epsilon(1e-4));
}

TEST_CASE("parse_named: one line says what is wrong, and what there is") {
  CHECK(refusal([] { graph("layerd,ops=3"); }) ==
        "random:layerd,ops=3: there is no family 'layerd'; choose one of layered, random_dag, fork_join, "
        "series_parallel, fft, gaussian_elimination, cholesky, lu, stencil_1d, stencil_2d");
  CHECK(refusal([] { graph("fft,ops=3"); }) ==
        "random:fft,ops=3: there is no parameter 'ops'; fft has points, block, ccr");
  CHECK(refusal([] { graph("random_dag,opps=3"); }) ==
        "random:random_dag,opps=3: there is no parameter 'opps'; random_dag has ops, degree, min_work, max_work, "
        "min_bytes, max_bytes, ccr, seed, count");
  CHECK(refusal([] { graph("layered,ops=many").make(0); }) ==
        "random:layered,ops=many: ops: 'many' is not a whole number up to 18446744073709551615");
  CHECK(refusal([] { graph("fft,points=-2").make(0); }) ==
        "random:fft,points=-2: points: '-2' is not a whole number up to 4294967295");
  CHECK(refusal([] { graph("fft,points=6").make(0); }) ==
        "random:fft,points=6: points: must be a power of two from 2 to 2^24");
  CHECK(refusal([] { graph("layered,ccr=-1"); }) ==
        "random:layered,ccr=-1: ccr: must be from 0 to 1e12");
  CHECK(refusal([] { graph("layered,ccr=nan"); }).find("ccr: ") != std::string::npos);
  CHECK(refusal([] { graph("layered,count=0"); }) ==
        "random:layered,count=0: count: must be from 1 to 100000");
  CHECK(refusal([] { graph("layered,ops=3,ops=4"); }) == "random:layered,ops=3,ops=4: 'ops' is given twice");
  CHECK(refusal([] { graph("layered,ops"); }) == "random:layered,ops: 'ops' is not NAME=VALUE");
  CHECK(refusal([] { graph("layered,ops=9,levels=4").make(0); }).find("together with ops") != std::string::npos);
  CHECK(refusal([] { graph("lu,count=2"); }) ==
        "random:lu,count=2: 'count' has no effect, since lu draws nothing; leave it out");
  CHECK(refusal([] { machine("related,ccr=1"); }) ==
        "random:related,ccr=1: there is no parameter 'ccr'; related has devices, min_speed, max_speed, latency, "
        "bandwidth, gpu_share, seed, count");
  CHECK(refusal([] { machine("related,min_speed=9").make(0); }) ==
        "random:related,min_speed=9: min_speed, max_speed: need 0 < smallest <= largest");
  CHECK(refusal([] { machine("heterogeneous,gpu_share=2").make(0); }) ==
        "random:heterogeneous,gpu_share=2: needs at least one device and a gpu_share from 0 to 1");
}

TEST_CASE("parse_named: 0 is a number, not another option's default") {
  CHECK(refusal([] { graph("layered,ops=0").make(0); }) == "random:layered,ops=0: ops: must be at least 1");
  const auto w = graph("layered,ops=50,in_degree=0").make(0);
  CHECK(w.num_ops() == 50);
  CHECK(w.num_edges() == 0);
}

TEST_CASE("parse_named: spaces around parts do not count") {
  CHECK(graph(" layered , ops=40, ccr=1 ").title() == "layered ops=40 ccr=1");
  CHECK(refusal([] { graph("layered,ops=4, ,ccr=1"); }).ends_with("'' is not NAME=VALUE"));
}

TEST_CASE("parse_named: whole numbers may be written with an exponent") {
  CHECK(graph("layered,ops=2e2").make(0).num_ops() == 200);
  CHECK(graph("layered,seed=1e3").seed == 1000);
  CHECK(refusal([] { graph("layered,ops=2.5").make(0); }).find("'2.5' is not a whole number") != std::string::npos);
  CHECK(refusal([] { graph("fft,points=1e10").make(0); }).find("up to 4294967295") != std::string::npos);
  CHECK(refusal([] { graph("layered,ops=nan").make(0); }).find("is not a whole number") != std::string::npos);
}

TEST_CASE("parse_named: what is too large is refused before it is made") {
  CHECK(refusal([] { graph("layered,ops=1e12").make(0); }) ==
        "random:layered,ops=1e12: ops: there would be about 1e+12, and at most 10000000 are made");
  for (const char* text : {"layered,levels=4e9", "random_dag,ops=4e9", "fork_join,width=1e6,length=1e6",
                           "series_parallel,ops=2e7", "fft,points=16777216", "gaussian_elimination,columns=20000",
                           "cholesky,tiles=1000", "lu,tiles=900", "stencil_1d,width=1e5,steps=1e5",
                           "stencil_2d,width=1e4,height=1e4"}) {
    CAPTURE(text);
    CHECK(refusal([&] { graph(text).make(0); }).find("ops: there would be about ") != std::string::npos);
  }
  for (const char* text : {"related,devices=5000", "heterogeneous,devices=4e9"}) {
    CAPTURE(text);
    CHECK(refusal([&] { machine(text).make(0); }).find(", and at most 4096 are made") != std::string::npos);
  }
}

TEST_CASE("parse_named: every seed of a count exists") {
  CHECK(graph("layered,count=2,seed=18446744073709551614").count == 2);
  CHECK(refusal([] { graph("layered,count=3,seed=18446744073709551614"); }).find("take a smaller seed") !=
        std::string::npos);
  CHECK(machine("related,count=4,seed=2").count == 4);
}

} // namespace workload_named_test
