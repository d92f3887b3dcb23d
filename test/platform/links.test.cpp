// SPDX-License-Identifier: BSL-1.0
#include "routes.hpp"
#include "weft/platform/links.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace platform_links_test {

using namespace weft;
using weft_test::amount;
using weft_test::route;
using links_taken = std::vector<link_id>;

TEST_CASE("links: uniform links are the same everywhere, and free by default") {
  constexpr uniform_links links{{2e-6, 5e9}};
  static_assert(links(0, 7) == weft::link{2e-6, 5e9});
  CHECK(uniform_links{}(0, 1) == weft::link{0, std::numeric_limits<double>::infinity()});
}

TEST_CASE("links: a matrix keeps each direction apart") {
  link_matrix links{3, {1, 10}};
  CHECK(links.num_devices() == 3);
  CHECK(links(2, 0) == weft::link{1, 10});
  links.set(0, 1, {2, 20});
  CHECK(links(0, 1) == weft::link{2, 20});
  CHECK(links(1, 0) == weft::link{1, 10});
  links.connect(2, 1, {3, 30});
  CHECK(links(1, 2) == weft::link{3, 30});
  CHECK(links(2, 1) == weft::link{3, 30});
  CHECK(links(0, 2) == weft::link{1, 10});
}

TEST_CASE("links: a matrix of equal links is written out when one of them changes") {
  const weft::link slow{1e-6, 1e9}, fast{1e-6, 2e9};
  link_matrix all{4, slow};
  CHECK(all.are_alike());
  CHECK(all.num_links() == 16);
  CHECK(all.link_at(7) == slow);
  CHECK(link_matrix{4, uniform_links{slow}}.are_alike());
  all.set(2, 1, fast);
  CHECK(!all.are_alike());
  CHECK(all(2, 1) == fast);
  CHECK(all(1, 2) == slow);
  CHECK(all(3, 0) == slow);
  CHECK(all.link_at(9) == fast);
}

TEST_CASE("links: in a hierarchy the innermost common enclosure counts") {
  // Four cores in a socket, two sockets in a node, three nodes in a rack.
  constexpr weft::link cache{1, 1000};
  constexpr weft::link socket{2, 100};
  constexpr weft::link network{3, 10};
  const hierarchical_links links{{cache, socket, network}, {4, 2}, 24};
  CHECK(links(0, 3) == cache);
  CHECK(links(4, 7) == cache);
  CHECK(links(3, 4) == socket);
  CHECK(links(0, 7) == socket);
  CHECK(links(7, 8) == network);
  CHECK(links(0, 23) == network);
  CHECK(links(16, 23) == socket);
  for (device_id a = 0; a < 24; ++a) {
    for (device_id b = 0; b < 24; ++b) {
      CHECK(links(a, b) == links(b, a));
      CHECK(links(a, b) == (a / 4 == b / 4 ? cache : a / 8 == b / 8 ? socket : network));
    }
  }
}

TEST_CASE("links: a hierarchy of one level is uniform") {
  const hierarchical_links links{{{1, 2}}, {}, 100};
  CHECK(links(0, 99) == weft::link{1, 2});
}

// A topology lacks nothing; without any of its parts it is a link model as before.
struct star {
  std::size_t num_devices() const { return 3; }
  std::size_t num_links() const { return 6; }
  weft::link link_at(link_id) const { return {1, 10}; }
  template <class F>
  void visit_route(device_id a, device_id b, F&& f) const {
    f(2 * a);
    f(2 * b + 1);
  }
  weft::link operator()(device_id a, device_id b) const { return along_route(*this, a, b); }
};
struct without_devices : star {
  void num_devices() const {}
};
struct without_links : star {
  void num_links() const {}
};
struct without_amounts : star {
  int link_at(link_id) const { return 0; }
};
struct without_routes : star {
  void visit_route(device_id, device_id) const {}
};
static_assert(network_topology<star> && network_topology<link_matrix> && network_topology<hierarchical_links>);
static_assert(link_model<without_routes> && !network_topology<uniform_links>);
static_assert(!network_topology<without_devices> && !network_topology<without_links>);
static_assert(!network_topology<without_amounts> && !network_topology<without_routes>);

TEST_CASE("links: in a hierarchy each part of an enclosure has a port out and a port in") {
  // Seven devices in pairs, pairs in twos: the last pair and the last two are not full.
  const hierarchical_links links{{{1, 100}, {0.3, 10}, {5e-324, 1}}, {2, 2}, 7};
  CHECK(links.num_devices() == 7);
  CHECK(links.num_links() == 14 + 8 + 4);
  CHECK(route(links, 0, 1) == links_taken{0, 3});
  CHECK(route(links, 1, 0) == links_taken{2, 1});
  CHECK(route(links, 1, 3) == links_taken{14, 17}); // the pairs' ports, shared …
  CHECK(route(links, 0, 2) == links_taken{14, 17}); // … by all of their devices
  CHECK(route(links, 6, 0) == links_taken{24, 23});
  CHECK(route(links, 3, 3).empty());
  for (device_id a = 0; a < 7; ++a) {
    for (device_id b = 0; b < 7; ++b) {
      if (a != b) {
        CHECK(amount(links, a, b) == links(a, b));
      }
    }
  }
}

TEST_CASE("links: each pair of a plain matrix has a link of its own") {
  link_matrix links{3, {1, 10}};
  links.set(1, 2, {2, 20});
  CHECK(!links.shares_links());
  CHECK(links.num_links() == 9);
  CHECK(route(links, 1, 2) == links_taken{5});
  CHECK(route(links, 1, 1).empty());
  CHECK(links.link_at(5) == weft::link{2, 20});
}

TEST_CASE("links: a matrix keeps the routes of what it is made of, and a pair that is set gets a link of its own") {
  const hierarchical_links levels{{{1, 100}, {3, 10}}, {2}, 4};
  link_matrix links{4, levels};
  REQUIRE(links.shares_links());
  CHECK(links.num_links() == levels.num_links());
  for (device_id a = 0; a < 4; ++a) {
    for (device_id b = 0; b < 4; ++b) {
      CHECK(route(links, a, b) == route(levels, a, b));
      CHECK((a == b || links(a, b) == levels(a, b)));
    }
  }
  for (const double latency : {7.0, 8.0}) { // a second time it is the same link
    links.set(0, 3, {latency, 70});
    CHECK(links.num_links() == levels.num_links() + 1);
    CHECK(route(links, 0, 3) == links_taken{static_cast<link_id>(levels.num_links())});
    CHECK(amount(links, 0, 3) == weft::link{latency, 70});
    CHECK(links(0, 3) == weft::link{latency, 70});
  }
  CHECK(route(links, 0, 2) == route(levels, 0, 2));
  CHECK(route(links, 3, 0) == route(levels, 3, 0));
  links.set(2, 2, {9, 9}); // means nothing
  CHECK(route(links, 2, 2).empty());
  CHECK(links.num_links() == levels.num_links() + 1);

  const link_matrix again{4, links};
  CHECK(route(again, 0, 3) == route(links, 0, 3));
  CHECK(!link_matrix{4, link_matrix{4}}.shares_links());
}

} // namespace platform_links_test
