// SPDX-License-Identifier: BSL-1.0
// Bundled networks written as graphs and read again.
#include "support/rounds.hpp"

#include "weft/interop/tensorflow.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace interop_tensorflow_network_test {

using namespace weft;

/// Everything but work is the same; work, computed from types and shapes alone, within 1 %.
void check_copy(const workload& w, const workload& copy) {
  REQUIRE(copy.num_ops() == w.num_ops());
  CHECK(copy.num_edges() == w.num_edges());
  CHECK(copy.num_groups() == w.num_groups());
  std::size_t different = 0;
  double work = 0;
  double work_of_copy = 0;
  for (const op_id v : ids(w.num_ops())) {
    const bool same = copy.name(v) == w.name(v) && copy.type(v) == w.type(v) && copy.kinds(v) == w.kinds(v) &&
                      copy.group(v) == w.group(v) && copy.resident_bytes(v) == w.resident_bytes(v) &&
                      std::ranges::equal(copy.inputs(v), w.inputs(v)) &&
                      std::ranges::equal(copy.outputs(v), w.outputs(v)) &&
                      std::ranges::all_of(w.outputs(v), [&](tensor_id t) { return copy.bytes(t) == w.bytes(t); });
    if (!same && different++ == 0) {
      FAIL_CHECK("op " << v << " '" << w.name(v) << "' of type " << w.type(v) << " is another one");
    }
    work += w.work(v);
    work_of_copy += copy.work(v);
  }
  CHECK(different == 0);
  CHECK(work_of_copy == doctest::Approx(work).epsilon(0.01));
}

TEST_CASE("every bundled network reads back as it is") { // one under sanitizers
  for (const auto& e : std::span{zoo::entries}.first(static_cast<std::size_t>(test::rounds(zoo::entries.size())))) {
    CAPTURE(e.name);
    nn::network net;
    const auto task = zoo::define(net, std::string{e.name} + "@2");
    const auto built = training_step_with_origins(net, task.objectives, task.options);
    std::ostringstream out;
    tensorflow::write_network(out, net, built);
    const auto m = tensorflow::reader{}.read(out.str(), "network.pb");
    check_copy(built.graph, m.ops);
    CHECK(m.notes.empty());
  }
}

TEST_CASE("texts say the same, without bookkeeping ops too, and placements are kept") {
  nn::network net{{.bookkeeping = false}};
  const auto task = zoo::define(net, "mnist_conv@4");
  const auto built = training_step_with_origins(net, task.objectives, task.options);
  const auto& w = built.graph;
  std::ostringstream binary;
  tensorflow::write_network(binary, net, built);
  std::ostringstream text;
  tensorflow::write_network(text, net, built, {.text = true});
  CHECK(tensorflow::from_text(text.str(), tensorflow::schema::message_id::graph_def, "text") == binary.str());
  check_copy(w, tensorflow::reader{}.read(text.str(), "network.pbtxt").ops);

  const auto last = std::vector<op_id>{built.origin.back()}; // everything that one op depends on
  std::ostringstream part;
  tensorflow::write_network(part, net, last);
  check_copy(net.build(last), tensorflow::reader{}.read(part.str(), "part.pb").ops);

  std::vector<device_id> placement(w.num_ops(), 1);
  for (const op_id v : ids(w.num_ops())) {
    placement[v] = w.kinds(v).contains(device_kind::gpu) ? 1 : 0;
  }
  const std::vector<std::string> names{"/device:CPU:0", "/device:GPU:0"};
  std::ostringstream placed;
  tensorflow::write_network(placed, net, built, {.placement = placement, .names = names});
  const auto copy = tensorflow::reader{}.read(placed.str(), "placed.pb").ops;
  for (const op_id v : ids(w.num_ops())) {
    CHECK(copy.kinds(v) == (placement[v] == 1 ? device_kind::gpu : device_kind::cpu));
  }
  for (const auto& wrong : {std::vector(w.num_ops() - 1, device_id{0}), std::vector(w.num_ops(), device_id{2})}) {
    CHECK_THROWS_AS(tensorflow::write_network(placed, net, built, {.placement = wrong, .names = names}), error);
  }
}

} // namespace interop_tensorflow_network_test
