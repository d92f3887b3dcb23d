// SPDX-License-Identifier: BSL-1.0
// The code of docs/report.md.
#include "weft/platform/presets.hpp"
#include "weft/report/placed_model.hpp"
#include "weft/report/placement_html.hpp"
#include "weft/report/summary.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/best.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <utility>

namespace docs_report_test {

// [report]
/// Writes what there is to say about a solver's plan: a summary, and a page.
template <class Problem>
void explain(const Problem& problem, const weft::result& found, std::ostream& text, std::ostream& page) {
  if (!found) {
    text << found.reason << '\n';
    return;
  }
  weft::trace run;
  weft::simulator<Problem, weft::schedule::static_order>{problem}.run(found.plan, weft::simulate::recorder{run});
  const auto report = weft::report::make_placed_model(
    problem, found.plan.placement, std::move(run),
    {.model = "mnist_conv",
     .platform = "dgx_a100",
     .strategy = "best",
     .bound = found.bound,
     .baselines = {{"everything on gpu0", 0.25e-3}},     // seconds; absent, with a status, if it does not fit
     .strategies = {{"heft", 0.5e-3, 60e6, 0.01}},       // step time, peak memory, time to find it
     .notes = {"Compute times: work over peak speed."}}); // what had to be assumed
  weft::report::write_summary(text, report);
  weft::report::write_placement_html(page, report);
}
// [report]

TEST_CASE("docs/report.md: a plan explained") {
  const auto w = weft::zoo::make("mnist_conv");
  const auto platform = weft::presets::dgx_a100();
  const weft::problem p{w, platform};
  std::ostringstream text, page;
  explain(p, weft::solve::best(p, {.moves = 100}), text, page);
  CHECK(text.str().starts_with("mnist_conv on dgx_a100\n181 ops, 9 devices"));
  CHECK(text.str().find("Not valid") == std::string::npos);
  CHECK(page.str().ends_with("</html>\n"));
}

} // namespace docs_report_test
