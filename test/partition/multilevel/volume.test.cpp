// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/multilevel/volume.hpp"

#include "weft/graph/csr.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace multilevel_volume_test {

using namespace weft;
using namespace weft::partition::multilevel;

TEST_CASE("volume: an output counts once per other part, by its heaviest edge") {
  const csr_graph g{5, std::vector<graph::arc>{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 4}}};
  const auto d = number(
                   g, [](op_id) { return 1; }, [](const graph::arc& e) { return e.source == 0 ? e.target : 5; })
                   .dag;
  CHECK(output_weights(d) == std::vector<double>{4, 5, 0, 0, 0});
  std::vector<std::uint32_t> part{0, 0, 1, 1, 2};
  CHECK(volume_gains{d, part}.volume() == 4 + 4 + 5);
  CHECK(with_shared_outputs(d).out.weight == std::vector<double>{1, 1, 1, 1, 5});

  const std::vector<double> limit{5, 5, 5};
  CHECK(refiner<volume_gains>{d, part, limit}({}) == 13);
  CHECK(volume_gains{d, part}.volume() == 0);
}

} // namespace multilevel_volume_test
