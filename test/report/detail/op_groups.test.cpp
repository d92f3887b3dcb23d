// SPDX-License-Identifier: BSL-1.0
#include "weft/report/detail/op_groups.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace report_detail_op_groups_test {

using namespace weft;
using namespace weft::report::detail;

/// How many groups and ops each group holds, after checking that it is a tree.
std::vector<std::size_t> sizes(const op_groups& g, std::size_t ops) {
  REQUIRE(!g.name.empty());
  REQUIRE(g.parent.size() == g.name.size());
  REQUIRE(g.of.size() == ops);
  std::vector<std::size_t> size(g.name.size(), 0);
  for (std::size_t i = 1; i < g.parent.size(); ++i) {
    REQUIRE(g.parent[i] < i);
    ++size[g.parent[i]];
  }
  for (const std::uint32_t group : g.of) {
    REQUIRE(group < size.size());
    ++size[group];
  }
  return size;
}

/// The names from the outermost group to the op's.
std::string path(const op_groups& g, std::uint32_t op) {
  std::string text;
  for (std::uint32_t i = g.of[op]; i != 0; i = g.parent[i]) {
    text = "[" + g.name[i] + "]" + text;
  }
  return text;
}

op_groups group(const std::vector<std::string>& names, std::size_t most = 40) {
  std::vector<std::uint32_t> layer(names.size());
  for (std::uint32_t v = 0; v < names.size(); ++v) {
    layer[v] = v;
  }
  const auto g = group_ops(names, layer, most);
  for (std::size_t i = 1; const std::size_t n : sizes(g, names.size())) {
    CHECK(n <= most);
    CHECK((n > 1 || i == 1)); // no group of one
    ++i;
  }
  return g;
}

TEST_CASE("group_ops: scopes nest, a scope within a scope is one group, one op is none") {
  const auto g = group({"net/a/x", "net/a/y", "net/b/c/x", "net/b/c/y", "net/d/e/x", "net/a/s/u", "net/a/s/v", "loss"});
  CHECK(path(g, 0) == "[net/][a/]");
  CHECK(path(g, 1) == "[net/][a/]");
  CHECK(path(g, 2) == "[net/][b/c/]");
  CHECK(path(g, 4) == "[net/]");
  CHECK(path(g, 6) == "[net/][a/][s/]");
  CHECK(path(g, 7) == "");
  CHECK(g.name[0] == "");
  CHECK(group({"/gpu_0/a", "/gpu_0/b"}).name == std::vector<std::string>{"/gpu_0/"});
}

TEST_CASE("group_ops: an op that is called like a scope is in it") {
  const auto g = group({"layer/weights", "layer/weights/read", "layer/weights/Adam", "layer/MatMul", "x"});
  CHECK(path(g, 0) == "[layer/][weights/]");
  CHECK(path(g, 2) == "[layer/][weights/]");
  CHECK(path(g, 3) == "[layer/]");
}

TEST_CASE("group_ops: without scopes, ranges of layers; in one layer, ranges of ops") {
  std::vector<std::string> names;
  std::vector<std::uint32_t> layer;
  for (std::uint32_t v = 0; v < 1000; ++v) {
    names.push_back("n" + std::to_string(v));
    layer.push_back(v / 100);
  }
  const auto g = group_ops(names, layer, 40);
  const auto size = sizes(g, 1000);
  CHECK(*std::max_element(size.begin(), size.end()) <= 40);
  CHECK(size[0] == 10); // a layer each
  for (std::uint32_t v = 0; v < 1000; ++v) {
    std::uint32_t top = g.of[v];
    while (g.parent[top] != 0) {
      top = g.parent[top];
    }
    std::uint32_t first = g.of[v / 100 * 100];
    while (g.parent[first] != 0) {
      first = g.parent[first];
    }
    CHECK(top == first);
  }
  CHECK(std::count(g.name.begin(), g.name.end(), "n0 … n99") == 1);
  const auto chain = group(names);
  CHECK(std::count(chain.name.begin(), chain.name.end(), "layers 1 to 100") == 1);
}

TEST_CASE("group_ops: a few scopes stay beside ranges of the ops that have none; many scopes become ranges") {
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) {
    names.push_back(i % 3 == 0 ? "a/" + std::to_string(i) : std::to_string(i));
  }
  const auto few = group(names);
  CHECK(path(few, 0).starts_with("[a/]"));
  CHECK(path(few, 1).starts_with("[layers "));
  names.clear();
  for (int i = 0; i < 300; ++i) {
    names.push_back("layer_" + std::to_string(i / 3) + "/" + std::to_string(i % 3));
  }
  const auto many = group(names);
  CHECK(path(many, 0).ends_with("[layer_0/]"));
  CHECK(path(many, 0).starts_with("[layer_0 … layer_"));
}

TEST_CASE("group_ops: no group is too large, whatever the names") {
  CHECK(group({}).name.size() == 1);
  CHECK(group({""}).of == std::vector<std::uint32_t>{0});
  CHECK(group(std::vector<std::string>(500, "same")).name.size() > 10);
  CHECK(group(std::vector<std::string>(500, "same/same")).name.size() > 10);
  CHECK(group(std::vector<std::string>(500, "")).name.size() > 10);
  CHECK(group(std::vector<std::string>(500, "///")).name.size() > 10);
  std::vector<std::string> deep;
  for (std::size_t i = 0; i < 600; ++i) {
    deep.push_back((deep.empty() ? "" : deep.back()) + "s/");
  }
  CHECK(group(deep).name.size() > 500);
  rng random{5};
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> names;
    std::vector<std::uint32_t> layer;
    const std::size_t n = 1 + random() % 3000, layers = 1 + random() % 50, scopes = 1 + random() % 200;
    for (std::size_t v = 0; v < n; ++v) {
      std::string name;
      for (std::size_t k = random() % 4; k > 0; --k) {
        name += "s" + std::to_string(random() % scopes) + "/";
      }
      names.push_back(name + "op");
      layer.push_back(static_cast<std::uint32_t>(random() % layers));
    }
    for (const std::size_t most : {20u, 40u}) {
      for (const std::size_t size : sizes(group_ops(names, layer, most), n)) {
        CHECK(size <= most);
      }
    }
  }
}

} // namespace report_detail_op_groups_test
