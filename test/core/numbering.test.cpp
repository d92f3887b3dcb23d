// SPDX-License-Identifier: BSL-1.0
#include "weft/core/numbering.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace core_numbering_test {

using weft::none;
using weft::numbering;

TEST_CASE("numbering: keys have numbers in the order in which they first came") {
  weft::rng random{3};
  for (int round = 0; round < 50; ++round) {
    numbering<std::uint64_t> n;
    std::map<std::uint64_t, std::uint32_t> known;
    std::vector<std::uint64_t> order;
    const std::uint64_t step = std::uint64_t{1} << (round % 60); // multiples of large powers of two collide easily
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t key = random.below(300) * step;
      CHECK(n.find(key) == (known.contains(key) ? known[key] : none));
      CHECK(n.contains(key) == known.contains(key));
      const bool is_new = known.try_emplace(key, static_cast<std::uint32_t>(known.size())).second;
      if (is_new) {
        order.push_back(key);
      }
      if (i % 2 == 0) {
        CHECK(n.insert(key) == is_new);
      }
      CHECK(n.number(key) == known[key]);
      CHECK(n.size() == known.size());
    }
    CHECK(std::vector<std::uint64_t>(n.begin(), n.end()) == order);
    n.clear();
    CHECK(n.empty());
    CHECK_FALSE(n.contains(order.front()));
    CHECK(n.number(order.back()) == 0);
  }
}

TEST_CASE("numbering: of strings, and of views of strings elsewhere") {
  numbering<std::string> own;
  numbering<std::string_view> views;
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) {
    texts.push_back("layer_" + std::to_string(i * 7 % 1000));
  }
  for (const std::string& s : texts) {
    CHECK(own.number(s) == views.number(s));
  }
  CHECK(own.size() == 1000);
  CHECK(views[13] == texts[13]);
  CHECK(views[13].data() == texts[13].data());
  CHECK(own.find("layer_7") == 1);
  CHECK(own.find("layer") == none);
  CHECK(own.find("") == none);
  CHECK(own.insert(""));
  CHECK_FALSE(own.insert(""));
}

TEST_CASE("numbering: an empty one has no number for any key") {
  const numbering<std::string_view> n;
  CHECK(n.empty());
  CHECK(n.find("x") == none);
}

} // namespace core_numbering_test
