// SPDX-License-Identifier: BSL-1.0
#include "weft/platform/links.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace platform_links_test {

using namespace weft;

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

TEST_CASE("links: in a hierarchy the innermost common enclosure counts") {
  // Four cores in a socket, two sockets in a node, three nodes in a rack.
  constexpr weft::link cache{1, 1000};
  constexpr weft::link socket{2, 100};
  constexpr weft::link network{3, 10};
  const hierarchical_links links{{cache, socket, network}, {4, 2}};
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
  const hierarchical_links links{{{1, 2}}, {}};
  CHECK(links(0, 99) == weft::link{1, 2});
}

} // namespace platform_links_test
