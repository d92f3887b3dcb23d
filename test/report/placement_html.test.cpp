// SPDX-License-Identifier: BSL-1.0
#include "weft/report/placement_html.hpp"

#include "report/page.hpp"

#include "report/columns.hpp"
#include "support/small_problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/generate/layered.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace report_placement_html_test {

using namespace weft;
using namespace weft::report;
using json = nlohmann::json;

template <class Problem>
placed_model placed(const Problem& p, const placement& where, placed_model_options about = {}) {
  trace run;
  simulator<Problem, schedule::path_completion_time>{p}.run({where}, simulate::recorder{run});
  return make_placed_model(p, where, std::move(run), std::move(about));
}

std::string page(const placed_model& m) {
  std::ostringstream out;
  write_placement_html(out, m);
  return out.str();
}

std::vector<double> numbers(const json& column) { return test::numbers_in(column.get<std::string>()); }

TEST_CASE("write_placement_html: the tables say what the analysis says, without a script") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  const auto html = page(placed(p, {0, 0, 1, 1},
                                {.model = "diamond",
                                 .platform = "three",
                                 .bound = {5, lower_bound::rule::area},
                                 .baselines = {{"one device", 40}},
                                 .strategies = {{"dfs", absent, absent, absent, "no room"}},
                                 .notes = {"an assumption"}}));
  CHECK(html.starts_with("<!doctype html>\n<html lang=\"en\">"));
  CHECK(html.ends_with("</html>\n"));
  CHECK(html.find("<title>diamond on three</title>") != std::string::npos);
  CHECK(html.find("above the lower bound of 5.00 s (area)") != std::string::npos);
  CHECK(html.find("350 B<small>3 ×</small>") != std::string::npos); // from 0 to 1
  CHECK(html.find("<li>an assumption</li>") != std::string::npos);
  CHECK(html.find("no room") != std::string::npos);
  CHECK(test::count(html, "<tr class=\"best\">") == 1);
  CHECK(test::count(html, "role=\"alert\"") == 0);
  CHECK(test::count(html, "<section") == test::count(html, "</section>"));
  CHECK(test::count(html, "<table") == test::count(html, "</table>"));
  CHECK(test::count(html, "http://") + test::count(html, "https://") + test::count(html, " src=") +
          test::count(html, "<link") + test::count(html, "url(") ==
        0);
}

TEST_CASE("write_placement_html: one definition of peak memory for the tile and the table") {
  workload_builder b;
  b.add_op({.work = 1, .bytes = 10, .resident_bytes = 600});
  b.add_op({.work = 1, .resident_bytes = 5000});
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  platform<> machine{std::vector<device>{{.memory_capacity = 2000}, {.memory_capacity = 100'000}},
                     link_matrix{2, {1, 1}}};
  machine.set_names({"small", "big"});
  const problem p{w, machine};
  const auto html = page(placed(p, {0, 1}, {.baselines = {{"one device", 40, 5610}}}));
  const auto tile = html.substr(html.find("<dt>Peak memory</dt>"), 200);
  CHECK(tile.find("<b>4.89 KiB</b><span>on big, 5.0 % of its 97.7 KiB; small is fullest: "
                  "610 B, 30.5 % of its 1.95 KiB</span>") != std::string::npos);
  const auto row = html.substr(html.find("<tr class=\"best\">"), 400);
  CHECK(row.find(">4.89 KiB</td>") != std::string::npos);
}

TEST_CASE("write_placement_html: energy by device, and its trade-off with time") {
  workload_builder b;
  b.add_op({.work = 4, .bytes = 100});
  b.add_op({.work = 2});
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  platform<> machine{std::vector<device>{{.idle_watts = 10, .active_watts = 50}, {.active_watts = 3000}},
                     link_matrix{2, {.joules_per_byte = 0.5}}};
  machine.set_names({"cool", "hot"});
  const problem p{w, machine};
  const auto alone = page(placed(p, {0, 1})); // 6 s: 60 J of idling, 160 + 6000 J of ops, 50 J of bytes
  CHECK(alone.find("<a href=\"#energy\">Energy</a>") != std::string::npos);
  CHECK(
    alone.find("6.27 kJ a step, 1045 W on average: 1.0 % for devices that are on, 98.2 % for ops and sends, 0.8 % for "
               "moving tensors.") != std::string::npos);
  const auto row = alone.substr(alone.find("cool</th>", alone.find("id=\"energy\"")), 400);
  CHECK(row.find(">220 J</td>") != std::string::npos);
  CHECK(row.find(">160 J</td>") != std::string::npos);
  CHECK(alone.find("<svg class=\"front\"") == std::string::npos);

  placed_model_options about{.bound = {5.9, lower_bound::rule::area}};
  about.front = {{6, 6270}, {6.5, 2000}, {9, 300}};
  about.least_joules = 250;
  const auto html = page(placed(p, {0, 1}, about));
  CHECK(test::count(html, "<circle") == 3);
  CHECK(test::count(html, "<circle class=\"own\"") == 1);
  CHECK(html.find("<title>6.00 s, 6.27 kJ: this plan</title>") != std::string::npos);
  CHECK(test::count(html, "<line class=\"bound\"") == 2);
  CHECK(html.find(">20.9 ×</td>") != std::string::npos); // the energy of the fastest over the least
  CHECK(html.find("there is no other") == std::string::npos);
  CHECK(test::count(html, "nan") == 0);
  CHECK(test::count(html, "<section") == test::count(html, "</section>"));
  about.front = {{6, 6270}};
  about.front_is_exact = true;
  const auto single = page(placed(p, {0, 1}, about));
  CHECK(test::count(single, "<circle") == 1);
  CHECK(single.find("there is no other") != std::string::npos);

  const auto silent = test::three_devices(); // which tells no power
  const problem q{w, silent};
  CHECK(page(placed(q, {0, 1})).find("Energy") == std::string::npos);
}

TEST_CASE("write_placement_html: the plan is in the table once, as what made it") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  const double step = placed(p, {0, 0, 1, 1}).step_seconds();
  const auto rows_of = [&](std::vector<alternative> strategies) {
    const auto html =
      page(placed(p, {0, 0, 1, 1}, {.baselines = {{"one device", step}}, .strategies = std::move(strategies)}));
    const auto first = html.find("<tbody>");
    return html.substr(first, html.find("</tbody>") - first);
  };
  const auto found = rows_of({{"dfs", step * 2}, {"heft", step, absent, 0.25}, {"annealing", step}});
  CHECK(test::count(found, "<tr") == 4); // the baseline is another plan, whatever its time
  CHECK(test::count(found, "this plan") == 1);
  CHECK(found.starts_with("<tbody>\n<tr class=\"best\"><th scope=\"row\">heft <span class=\"badge\">this plan</span>"));
  CHECK(found.find(">250 ms</td>") != std::string::npos); // what is known of it stays
  const auto other = rows_of({{"dfs", step * 2}});
  CHECK(test::count(other, "<tr") == 3);
  CHECK(other.starts_with("<tbody>\n<tr class=\"best\"><th scope=\"row\">this plan</th>"));
}

TEST_CASE("write_placement_html: the command that made it, what was made small, and no -0.0 %") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  auto m = placed(p, {0, 0, 1, 1}, {.command = "place 'a <b>.onnx' --objective period", .result = "period of 3 ms"});
  CHECK(page(m).find("<code>place &#39;a &lt;b&gt;.onnx&#39; --objective period</code>") != std::string::npos);
  CHECK(page(m).find("<p class=\"facts\">period of 3 ms</p>") != std::string::npos);
  m.devices[0].load.utilisation = -1e-9; // sums of rounded times may be below nothing
  CHECK(page(m).find("-0.0") == std::string::npos);
  CHECK(page(placed(p, {0, 0, 1, 1})).find("<code>") == std::string::npos);
}

TEST_CASE("even_rows: no tile falls alone into a row") {
  using report::detail::even_rows;
  const auto is = [](even_rows rows, std::size_t columns, std::size_t first) {
    CHECK(rows.columns == columns);
    CHECK(rows.first == first);
  };
  is({7, 6}, 4, 2); // the first tile is two wide: 4 + 4
  is({6, 6}, 6, 1);
  is({7, 4}, 4, 2);
  is({8, 6}, 4, 1);
  is({9, 4}, 3, 1);
  is({5, 2}, 2, 2);
  is({1, 6}, 1, 1);
  for (std::size_t n = 1; n < 40; ++n) {
    for (const std::size_t most : {2u, 4u, 6u}) {
      const even_rows rows{n, most};
      CHECK(rows.columns <= most);
      CHECK(rows.first <= rows.columns);
      CHECK((n + rows.first - 1) % rows.columns == 0);
    }
  }
}

TEST_CASE("write_placement_html: data of the charts") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  const auto m = placed(p, {0, 0, 1, 1});
  const auto data = test::chart_data(page(m));
  CHECK(data["names"][0] == json::parse(R"(["a","b","c","d"])"));
  CHECK(numbers(data["run"]["device"]) == std::vector<double>{0, 0, 1, 1});
  for (std::size_t v = 0; v < 4; ++v) {
    CHECK(numbers(data["run"]["start"])[v] == m.run.trace.ops[v].start);
  }
  const auto steps = numbers(data["run"]["path"]["step"]);
  REQUIRE(steps.size() == m.path.size());
  CHECK(steps.back() == 3); // op d; a transfer is 4 ops + 3 transfers + its position
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& s = m.path[i];
    CHECK(steps[i] == s.index + (s.what == path_step::kind::op ? 0u : s.what == path_step::kind::send ? 4u : 7u));
  }
  REQUIRE(data["memory"].size() == 3);
  CHECK(numbers(data["memory"][1]["bytes"]).size() == m.memory[1].bytes.size());
  CHECK(data["memory"][0]["capacity"].is_null()); // without a limit
  CHECK(!data["graph"].contains("groups"));
  CHECK(data["graph"]["layers"] == 3);
  CHECK(numbers(data["graph"]["layer"]) == std::vector<double>{0, 1, 1, 2});
  CHECK(numbers(data["graph"]["from"]).size() == 4);
}

TEST_CASE("write_placement_html: uncertain times") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  const auto plain = placed(p, {0, 0, 1, 1});
  CHECK(test::count(page(plain), "uncertainty") == 0);
  CHECK(numbers(test::chart_data(page(plain))["run"]["slack"]).size() == 4);
  CHECK(!test::chart_data(page(plain))["run"].contains("critical"));

  makespan_distribution spread{.estimate = 10, .makespans = {}, .criticality = {1, 0.5, 0.25, 1}};
  for (int i = 0; i < 100; ++i) {
    spread.makespans.push_back(10 + 0.1 * i);
  }
  const auto m = placed(p, {0, 0, 1, 1}, {.spread = spread, .uncertainty = "off by <much>"});
  const auto html = page(m);
  CHECK(html.find("<a href=\"#uncertainty\">") != std::string::npos);
  CHECK(html.find("14.9 s on average, at most 19.4 s with probability 95 %, 19.7 s in the mean of the worst 5 %; "
                  "off by &lt;much&gt;. By the estimates, 10.0 s.") != std::string::npos);
  const auto begin = html.find("id=\"uncertainty\"");
  const auto section = html.substr(begin, html.find("id=\"devices\"") - begin);
  CHECK(test::count(section, "class=\"bar\"") == 15);
  CHECK(test::count(section, ">7</td>") + test::count(section, ">6</td>") == 15); // samples in each bar
  CHECK(test::count(section, "data-op=") == 4);
  CHECK(section.find("data-v=\"0.5\"") != std::string::npos);
  CHECK(test::count(html, "<section") == test::count(html, "</section>"));
  CHECK(test::count(html, "<table") == test::count(html, "</table>"));
  const auto data = test::chart_data(html);
  CHECK(numbers(data["run"]["critical"]) == spread.criticality);
  CHECK(numbers(data["run"]["slack"])[3] == 0);

  spread.makespans.assign(5, 10); // all alike
  CHECK(test::count(page(placed(p, {0, 0, 1, 1}, {.spread = spread})), "class=\"bar\"") == 1);
}

TEST_CASE("write_placement_html: no name can leave its place") {
  const std::string evil = "</script><script>alert(1)</script><img src=x onerror=\"alert(2)\">'&\xff\x01</title><!--";
  const auto make_page = [](const std::string& name) {
    workload_builder b;
    b.add_op({.work = 1, .bytes = 10, .name = name, .type = name});
    b.add_op({.work = 1, .name = name + "2"});
    b.add_edge(0, 1);
    const auto w = std::move(b).build();
    platform<> machine{std::vector<device>(2), link_matrix{2, {1, 1}}};
    machine.set_names({name, name + "2"});
    const problem p{w, machine};
    return page(placed(p, {0, 1},
                       {.model = name, .platform = name, .strategy = name, .baselines = {{name, 1, 1, 1, name}},
                        .strategies = {{name, absent, absent, absent, name}}, .notes = {name}}));
  };
  const auto html = make_page(evil), harmless = make_page("x");
  for (const char* tag : {"<script", "</script", "</title", "<img", "<!--", "<b>"}) {
    CAPTURE(tag);
    CHECK(test::count(html, tag) == test::count(harmless, tag));
  }
  CHECK(html.find("onerror=\"") == std::string::npos);
  CHECK(test::chart_data(html)["names"][0][0].get<std::string>().starts_with("</script><script>alert(1)"));
}

TEST_CASE("write_placement_html: empty models, many devices, runs that are not valid") {
  const auto platform = test::three_devices();
  const auto nothing = workload_builder{}.build();
  const problem none_to_run{nothing, platform};
  const auto empty = page(placed(none_to_run, {}));
  CHECK(empty.find("There are no ops.") != std::string::npos);
  CHECK(empty.find("Nothing moves between devices.") != std::string::npos);
  CHECK(empty.find("nan") == std::string::npos);
  (void)test::chart_data(empty);

  const auto w = test::diamond();
  const problem p{w, platform};
  const auto broken = page(make_placed_model(p, {0, 0, 1, 1}, {}));
  CHECK(test::count(broken, "role=\"alert\"") == 1);
  (void)test::chart_data(broken);

  const weft::platform wide{std::vector<device>(40), uniform_links{}};
  const problem q{w, wide};
  const auto many = test::chart_data(page(placed(q, {0, 20, 30, 39})));
  CHECK(numbers(many["traffic"]).size() == 1600);
}

TEST_CASE("write_placement_html: large graphs are grouped, and the page stays small") {
  const auto w = generate::layered_sized(20'000, 50, 2, 1);
  const platform machine{std::vector<device>(4), uniform_links{}};
  const problem p{w, machine};
  placement where(p.num_ops());
  for (const op_id v : ids(p.num_ops())) {
    where[v] = v % 4;
  }
  const auto html = page(placed(p, where));
  const auto data = test::chart_data(html);
  const auto& graph = data["graph"];
  CHECK(graph["groups"].size() == numbers(graph["parent"]).size());
  CHECK(numbers(graph["group"]).size() == 20'000);
  CHECK(numbers(graph["layer"]).size() == 20'000);
  CHECK(numbers(graph["producer"]).size() == p.num_tensors());
  CHECK(numbers(graph["bytes"])[7] == static_cast<double>(w.bytes(7)));
  std::size_t first = 0; // of the consumers of a tensor
  const auto uses = numbers(graph["uses"]), consumers = numbers(graph["consumer"]);
  for (const tensor_id t : ids(p.num_tensors())) {
    REQUIRE(uses[t] == static_cast<double>(w.consumers(t).size()));
    for (const op_id v : w.consumers(t)) {
      REQUIRE(consumers[first++] == v);
    }
  }
  CHECK(html.size() < 4'000'000);
}

TEST_CASE("write_placement_html: how parameters are split") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  placed_model_options about;
  CHECK(page(placed(p, {0, 0, 1, 1}, about)).find("id=\"sharding\"") == std::string::npos);
  about.sharding = {.mesh = "2 × tensor on <a> to b",
                    .layers = {{.layers = "layer_0", .split = {"<x> [2, 4/2]"}, .whole = 1, .sent = "1 all-reduce"}},
                    .unsplit = "whole on each device: Tile 1.0 %"};
  const auto text = page(placed(p, {0, 0, 1, 1}, about));
  CHECK(text.find("id=\"sharding\"") != std::string::npos);
  CHECK(text.find("on &lt;a&gt; to b.") != std::string::npos);
  CHECK(text.find("&lt;x&gt; [2, 4/2]") != std::string::npos);
  CHECK(text.find("Tile 1.0 %.") != std::string::npos);
}

} // namespace report_placement_html_test
