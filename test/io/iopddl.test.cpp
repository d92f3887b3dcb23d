// SPDX-License-Identifier: BSL-1.0
#include "weft/io/iopddl.hpp"

#include "weft/shard/best.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace io_iopddl_test {

using namespace weft;

/// The parts of a small file, each of which a test can replace.
struct parts {
  std::string intervals = "[[0, 2], [1, 1]]", costs = "[[1, 2], [3]]", usages = "[[5, 6], [7]]", ends = "[[0, 1]]",
              matrices = "[[8, 1000000000000000000]]", limit = "10", more = "";

  std::string text() const {
    return R"({"problem": {"name": "small", "nodes": {"intervals": )" + intervals + R"(, "costs": )" + costs +
           R"(, "usages": )" + usages + R"(}, "edges": {"nodes": )" + ends + R"(, "costs": )" + matrices +
           R"(}, "usage_limit": )" + limit + more + "}}";
  }
};

shard::variant_problem read(const std::string& text) {
  std::istringstream in{text};
  return io::read_iopddl(in, "p.json");
}
std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const parse_error& e) {
    CHECK(e.file == "p.json");
    return e.what();
  }
  return "";
}

TEST_CASE("iopddl: a problem, with its keys in any order and others ignored") {
  const auto p = read(parts{}.text());
  CHECK(p.num_ops() == 2);
  CHECK(p.costs(0)[1] == 2);
  CHECK(p.bytes(1)[0] == 7);
  CHECK(p.live(0) == shard::live_range{0, 2});
  CHECK(p.live(1).empty());
  CHECK(p.edge(0).to == 1);
  CHECK(p.edge_costs(0)[1] == shard::never);
  CHECK(p.limit() == 10);

  const auto other = read(R"({"by": [{"a": [1, [2.5, null, true]]}], "problem": {"usage_limit": null, "edges":
    {"costs": [[1]], "nodes": [[0, 0]], "more": {"nodes": 3}}, "nodes": {"costs": [[4e2]], "usages": [[0]],
    "intervals": [[0, 0]]}}})");
  CHECK(other.num_ops() == 1);
  CHECK(other.costs(0)[0] == 400);
  CHECK(other.limit() == shard::variant_problem::no_limit);
}

TEST_CASE("iopddl: the contest's example costs 445") {
  const auto p = io::read_iopddl(std::filesystem::path{"../examples/shard/example.json"}); // tests run in test/
  const auto found = shard::best(p);
  CHECK(found.cost == 445);
  CHECK(found.is_optimal());
  CHECK(found.peak <= 50);
  std::ostringstream out;
  io::write_iopddl_solution(out, found.choice);
  CHECK(out.str() == "{\"solution\": [0, 0, 2, 1, 0]}\n");
}

TEST_CASE("iopddl: bad input is refused in one line that says where") {
  const auto with = [](auto change) {
    parts p;
    change(p);
    return refusal(p.text());
  };
  const std::vector<std::pair<std::string, std::string>> cases{
    {with([](parts& p) { p.intervals = "[[0, 2]]"; }), "p.json: /problem/nodes/intervals: has 1 lists for 2 nodes"},
    {with([](parts& p) { p.usages = "[[5, 6]]"; }), "p.json: /problem/nodes/usages: has 1 lists for 2 nodes"},
    {with([](parts& p) { p.usages = "[[5], [7]]"; }),
     "p.json: op 0: it has 2 costs but 1 numbers of bytes; give one of each per variant"},
    {with([](parts& p) { p.costs = "[[], [3]]"; }), "p.json: op 0: it has no variants; give at least one"},
    {with([](parts& p) { p.costs = "[[1, -2], [3]]"; }),
     "p.json: op 0: variant 1 has a cost of -2; they must not be negative"},
    {with([](parts& p) { p.intervals = "[[2, 0], [1, 1]]"; }),
     "p.json: op 0: its live range ends at 0, before it begins at 2"},
    {with([](parts& p) { p.intervals = "[[2], [1, 1]]"; }),
     "p.json: /problem/nodes/intervals/0: has 1 numbers; give two, the begin and the end"},
    {with([](parts& p) { p.ends = "[[0, 2]]"; }), "p.json: /problem/edges/nodes/0: there is no node 2; there are 2"},
    {with([](parts& p) { p.ends = "[[-1, 0]]"; }), "p.json: /problem/edges/nodes/0: there is no node -1; there are 2"},
    {with([](parts& p) { p.ends = "[[0, 1, 1]]"; }),
     "p.json: /problem/edges/nodes/0: has 3 ends; only edges between two nodes are supported"},
    {with([](parts& p) { p.ends = "[[0, 1], [1, 0]]"; }), "p.json: /problem/edges/costs: has 1 lists for 2 edges"},
    {with([](parts& p) { p.matrices = "[[8]]"; }),
     "p.json: edge 0: has 1 costs; ops 0 and 1 have 2 and 1 variants, so 2 are needed"},
    {with([](parts& p) { p.costs = "[[1, 9223372036854775808], [3]]"; }),
     "p.json: /problem/nodes/costs/0/1: '9223372036854775808' is beyond 2^63"},
    {with([](parts& p) { p.matrices = "[[1, 1e300]]"; }), "p.json: /problem/edges/costs/0/1: '1e300' is beyond 2^63"},
    {with([](parts& p) { p.limit = "99999999999999999999"; }),
     "p.json: /problem/usage_limit: '99999999999999999999' is beyond 2^63"},
    {with([](parts& p) { p.limit = "-3"; }), "p.json: the limit: is -3; it must not be negative"},
    {with([](parts& p) { p.limit = "\"10\""; }), "p.json: /problem/usage_limit: cannot be a string"},
    {with([](parts& p) { p.costs = "[[1, 2.5], [3]]"; }),
     "p.json: /problem/nodes/costs/0/1: '2.5' is not a whole number"},
    {with([](parts& p) { p.costs = "[[1, [2]], [3]]"; }), "p.json: /problem/nodes/costs/0/1: expected a number"},
    {with([](parts& p) { p.costs = "[[1, null], [3]]"; }),
     "p.json: /problem/nodes/costs/0/1: expected a number, got null"},
    {with([](parts& p) { p.costs = "[1, 2]"; }), "p.json: /problem/nodes/costs/0/0: expected a list of numbers"},
    {with([](parts& p) { p.costs = "{}"; }), "p.json: /problem/nodes/costs: expected a list of lists of numbers"},
    {with([](parts& p) { p.costs = "7"; }), "p.json: /problem/nodes/costs: cannot be a number"},
    {with([](parts& p) { p.more = ", \"usage_limit\": 4"; }),
     "p.json: /problem/usage_limit: the key is given twice"},
    {refusal("{}"), "p.json: /problem/nodes/intervals: the key is missing"},
    {refusal("{\"problem\": []}"), "p.json: /problem: expected an object"},
    {refusal("[]"), "p.json: /: expected an object"},
  };
  for (const auto& [said, expected] : cases) {
    CHECK(said == expected);
  }
  for (const auto& text : {std::string{""}, std::string{"{"}, parts{}.text() + "x", std::string(200, '[')}) {
    const auto said = refusal(text);
    CHECK(!said.empty());
    CHECK(said.find('\n') == std::string::npos);
  }
}

TEST_CASE("iopddl: other keys may have any values; the limit is a number") {
  for (const std::string more : {R"(, "hash": 18446744073709551615)", R"(, "a/b": [18446744073709551615, 1e300])",
                                 R"(, "usage_limit/x": 3)", R"(, "problem/usage_limit": 3)"}) {
    CAPTURE(more);
    CHECK(read(parts{.more = more}.text()).limit() == 10);
  }
  CHECK(read(R"({"problem/usage_limit": 3, "problem": {"nodes": {"costs": [[1]], "usages": [[0]],
    "intervals": [[0, 0]]}, "edges": {"costs": [], "nodes": []}}})").limit() == shard::variant_problem::no_limit);
  for (const std::string limit : {R"({"bytes": 3})", "[3]"}) {
    CHECK(refusal(parts{.limit = limit}.text()).find("expected a number") != std::string::npos);
  }
  const auto overflow = refusal(parts{.more = R"(, "x": 1e400)"}.text());
  CHECK(overflow.find("json.exception") == std::string::npos);
  const auto twice = refusal(parts{.more = ", \"usage\\nlimit\": }"}.text());
  CHECK(twice.find('\n') == std::string::npos);
}

} // namespace io_iopddl_test
