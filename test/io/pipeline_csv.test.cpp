// SPDX-License-Identifier: BSL-1.0
#include "weft/io/pipeline_csv.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <sstream>
#include <string>

namespace pipeline_csv_test {

using namespace weft;
using namespace weft::parallel;

std::string written(const pipeline_problem& p, pipeline_schedule schedule) {
  std::ostringstream out;
  io::write_pipeline_csv(out, p, *make_order(schedule, p));
  return out.str();
}

TEST_CASE("write_pipeline_csv: a line for each rank, in the letters of PyTorch") {
  pipeline_problem p{.micro_batches = 2};
  for (std::uint32_t s = 0; s < 2; ++s) {
    pipeline_stage stage{.device = s};
    for (auto& c : stage.cost) {
      c.seconds = 1;
    }
    p.stages.push_back(stage);
    p.capacity.push_back(1);
  }
  CHECK(written(p, pipeline_schedule::zero_bubble_1) == "0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1I0,1F1,1I1,1W0,1W1\n");
  CHECK(written(with_whole_backward(p), pipeline_schedule::one_forward_one_backward) ==
        "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  p.stages[0][pass::backward].seconds = 0; // nobody waits for the first stage
  CHECK(written(p, pipeline_schedule::zero_bubble_1) == "0F0,0F1,0B0,0B1\n1F0,1I0,1F1,1I1,1W0,1W1\n");
  p.trains = false;
  CHECK(written(p, pipeline_schedule::gpipe) == "0F0,0F1\n1F0,1F1\n");
}

} // namespace pipeline_csv_test
