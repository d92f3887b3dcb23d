// SPDX-License-Identifier: BSL-1.0
#include "weft/model/training_roles.hpp"
#include "weft/model/lower.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/gradients.hpp"

#include "parallel/built_net.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace model_training_roles_test {

using namespace weft;
using extents = model_graph::extents;

constexpr std::int64_t wide = 64;
constexpr byte_count square = 4 * wide * wide;

/// A graph whose ops are found by their names.
struct graph_with_names : model_graph {
  std::map<std::string, op_id> named = {};

  tensor_id held(const char* name, extents dims, tensor_role role) {
    return add_tensor({.dims = std::move(dims), .role = role, .name = name});
  }
  tensor_id make(const std::string& name, const std::string& type, std::vector<tensor_id> inputs, extents dims,
                 const std::string& axes = {}, storage_form form = storage_form::own) {
    op o{.type = type, .name = name, .inputs = std::move(inputs), .form = form};
    if (!axes.empty()) {
      o.texts["axes"] = axes;
    }
    const op_id v = add_op(std::move(o), {{.dims = std::move(dims)}});
    named[name] = v;
    return *outputs(v).begin();
  }
  op_role role_of(const std::string& name) const {
    const auto role = (*this)[named.at(name)].role;
    return role == op_role::by_name ? op_role::forward : role;
  }
};

/// A traced step: two products with one parameter, a normalisation that keeps averages, and an optimiser with momentum,
/// a decay of the parameter and a norm of the gradients.
struct traced_step : graph_with_names {
  explicit traced_step(std::int64_t batch) {
    const auto x = held("x", {batch, wide}, tensor_role::input);
    const auto w = held("w", {wide, wide}, tensor_role::parameter), m = held("m", {wide, wide}, tensor_role::state);
    const auto bias = held("bias", {wide}, tensor_role::parameter);
    const auto average = held("average", {wide}, tensor_role::state), rate = held("rate", {}, tensor_role::state);
    // forward
    const auto y = make("y", "aten.mm", {x, w}, {batch, wide}, "mk,kn->mn");
    const auto mean = make("mean", "aten.mean", {y}, {wide}, "mn->n");
    (void)make("keep", "aten.add_", {average, mean}, {wide}, "n,n->n", storage_form::writes);
    const auto z = make("z", "my.norm", {y, mean, bias}, {batch, wide}, "mn,n,n->mn");
    const auto out = make("out", "aten.mm", {z, w}, {batch, wide}, "mk,kn->mn");
    // backward
    const auto dz = make("dz", "aten.mm", {out, w}, {batch, wide}, "mn,kn->mk");
    const auto turned = make("turned", "aten.mm", {out, z}, {wide, wide}, "mn,mk->nk");
    const auto dw2 = make("dw2", "aten.t", {turned}, {wide, wide}, "nk->kn", storage_form::view);
    const auto dbias = make("dbias", "aten.sum", {dz}, {wide}, "mn->n");
    const auto dw1 = make("dw1", "aten.mm", {x, dz}, {wide, wide}, "mk,mn->kn");
    // update
    const auto dw = make("dw", "aten.add", {dw1, dw2}, {wide, wide}, "kn,kn->kn");
    const auto schedule = make("schedule", "aten.mul", {rate}, {}, "->");
    const auto norm = make("norm", "aten.norm", {dw, dbias}, {});
    const auto clipped = make("clipped", "aten.div", {dw, norm}, {wide, wide}, "kn,->kn");
    const auto slowed = make("slowed", "aten.mul_", {m}, {wide, wide}, "kn->kn", storage_form::writes);
    const auto moved = make("moved", "aten.add_", {slowed, clipped}, {wide, wide}, "kn,kn->kn", storage_form::writes);
    const auto decayed = make("decayed", "aten.mul", {w}, {wide, wide}, "kn->kn");
    const auto by = make("by", "aten.add", {moved, decayed}, {wide, wide}, "kn,kn->kn");
    (void)make("new_w", "aten.add_", {w, by, schedule}, {wide, wide}, "kn,kn,->kn", storage_form::writes);
    (void)make("new_bias", "aten.add_", {bias, dbias, schedule}, {wide}, "n,n,->n", storage_form::writes);
  }
};

std::vector<std::string> gradients_of(const workload& w) {
  std::vector<std::string> names;
  for (const tensor_id t : parallel::gradients(w)) {
    names.emplace_back(w.name(w.producer(t)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("training_roles: what leads from gradients to new parameters, and no statistics of the forward pass") {
  traced_step g{8};
  mark_training_roles(g);
  const std::map<std::string, op_role> other{
    {"dw", op_role::parameter_gradient}, {"dbias", op_role::parameter_gradient},
    {"dw1", op_role::parameter_gradient}, {"dw2", op_role::parameter_gradient},
    {"turned", op_role::parameter_gradient}, {"norm", op_role::update},
    {"schedule", op_role::update}, {"clipped", op_role::update}, {"slowed", op_role::update}, {"by", op_role::update},
    {"moved", op_role::update}, {"decayed", op_role::update}, {"new_w", op_role::update},
    {"new_bias", op_role::update}};
  for (const auto& [name, v] : g.named) {
    CAPTURE(name);
    const auto at = other.find(name);
    CHECK(g.role_of(name) == (at == other.end() ? op_role::forward : at->second));
  }
  const auto w = lower(g).graph;
  CHECK(gradients_of(lower(with_batch(g, 1)).graph) == gradients_of(w)); // which another batch keeps
  CHECK(is_training_step(w));
  CHECK(gradients_of(w) == std::vector<std::string>{"dbias", "dw"}); // the sum of the two
}

TEST_CASE("training_roles: none without a batch, without parameters that change, or if one is made of the batch") {
  const auto has_roles = [](model_graph g) {
    mark_training_roles(g);
    const auto all = ids(g.num_ops());
    return std::any_of(all.begin(), all.end(), [&](op_id v) { return g[v].role != op_role::by_name; });
  };
  CHECK(has_roles(traced_step{2}));
  traced_step direct{8};
  const auto v = *direct.outputs(direct.named["z"]).begin();
  (void)direct.make("at_once", "my.update", {0, v, 1}, {wide, wide}, "", storage_form::own);
  direct.replace(1, *direct.outputs(direct.named["at_once"]).begin());
  CHECK_FALSE(has_roles(direct));
  model_graph forward;
  const auto x = forward.add_tensor({.dims = {8, 4}, .role = tensor_role::input});
  (void)forward.add_op({.type = "aten.relu", .inputs = {x}}, {{.dims = {8, 4}}});
  CHECK_FALSE(has_roles(forward));
}

/// A step of one product, whose update is to be added; `gradient` is that of the parameter.
struct bare_step : graph_with_names {
  tensor_id x, w, y, gradient;
  bare_step() {
    x = held("x", {8, wide}, tensor_role::input);
    w = held("w", {wide, wide}, tensor_role::parameter);
    y = make("y", "aten.mm", {x, w}, {8, wide}, "mk,kn->mn");
    gradient = make("dw", "aten.mm", {x, y}, {wide, wide}, "mk,mn->kn");
  }
};

TEST_CASE("training_roles: a loss that a regularisation adds to is no gradient, and what the passes read no update") {
  bare_step g;
  const auto loss = g.make("loss", "aten.sum", {g.y}, {}, "mn->");
  const auto decay = g.make("decay", "aten.norm", {g.w}, {}, "->");
  const auto total = g.make("total", "aten.add", {loss, decay}, {}, ",->");
  const auto ones = g.make("ones", "aten.ones_like", {total}, {}, "->");
  (void)g.make("dy", "aten.mul", {g.y, ones}, {8, wide}, "mn,->mn");
  const auto own = g.make("own", "aten.mul", {g.w, ones}, {wide, wide}, "kn,->kn");
  const auto sum = g.make("sum", "aten.add", {g.gradient, own}, {wide, wide}, "kn,kn->kn");
  (void)g.make("new_w", "aten.add_", {g.w, sum}, {wide, wide}, "kn,kn->kn", storage_form::writes);
  mark_training_roles(g);
  for (const char* name : {"loss", "decay", "total", "ones", "dy", "y"}) {
    CAPTURE(name);
    CHECK(g.role_of(name) == op_role::forward);
  }
  CHECK(gradients_of(lower(g).graph) == std::vector<std::string>{"dw"});
}

TEST_CASE("training_roles: gradients that are clipped where they lie are added up before") {
  bare_step g;
  const auto shown = g.make("shown", "aten.detach", {g.gradient}, {wide, wide}, "kn->kn", storage_form::view);
  const auto norm = g.make("norm", "aten.norm", {g.gradient}, {}, "->");
  (void)g.make("clip", "aten.mul_", {shown, norm}, {wide, wide}, "kn,->kn", storage_form::writes);
  (void)g.make("new_w", "aten.add_", {g.w, g.gradient}, {wide, wide}, "kn,kn->kn", storage_form::writes);
  (void)g.make("returned", "aten.detach", {norm}, {}, "->", storage_form::view);
  mark_training_roles(g);
  for (const char* name : {"shown", "norm", "clip", "new_w", "returned"}) {
    CAPTURE(name);
    CHECK(g.role_of(name) == op_role::update);
  }
  CHECK(gradients_of(lower(g).graph) == std::vector<std::string>{"dw"});
}

TEST_CASE("training_roles: state that gathers gradients, statistics among parameters, and a table's gradient") {
  bare_step g;
  const auto sum = g.held("sum", {wide, wide}, tensor_role::state);
  const auto average = g.held("average", {wide}, tensor_role::parameter);
  const auto table = g.held("table", {4}, tensor_role::parameter);
  const auto mean = g.make("mean", "aten.mean", {g.y}, {wide}, "mn->n");
  (void)g.make("z", "aten.sub", {g.y, mean}, {8, wide}, "mn,n->mn");
  g.replace(average, g.make("new_average", "aten.lerp", {average, mean}, {wide}, "n,n->n"));
  (void)g.make("gathered", "aten.add_", {sum, g.gradient}, {wide, wide}, "kn,kn->kn", storage_form::writes);
  const auto places = g.make("places", "aten.mean", {g.y}, {wide}, "mn->n");
  const auto of_table = g.make("of_table", "aten.embedding_dense_backward", {places}, {4});
  (void)g.make("new_table", "aten.add_", {table, of_table}, {4}, "n,n->n", storage_form::writes);
  mark_training_roles(g);
  CHECK(g.role_of("mean") == op_role::forward);
  CHECK(g.role_of("new_average") == op_role::forward);
  CHECK(g.role_of("gathered") == op_role::update);
  CHECK(gradients_of(lower(g).graph) == std::vector<std::string>{"dw", "of_table"});
}

TEST_CASE("training_roles: a counter is no training, and a gradient that a pass writes into is not told") {
  bare_step counts;
  const auto n = counts.held("n", {}, tensor_role::parameter);
  counts.replace(n, counts.make("next", "aten.add", {n}, {}, "->"));
  mark_training_roles(counts);
  CHECK(counts.role_of("next") == op_role::forward);
  bare_step adds;
  (void)adds.make("again", "my.add_", {adds.gradient, adds.x}, {wide, wide}, "", storage_form::writes);
  (void)adds.make("new_w", "aten.add_", {adds.w, adds.gradient}, {wide, wide}, "kn,kn->kn", storage_form::writes);
  mark_training_roles(adds);
  CHECK(adds.role_of("new_w") == op_role::forward);
}

TEST_CASE("data_parallel: sharded updates go with the gradient, not with a count, and norms are of all parts") {
  bare_step g;
  const auto tokens = g.make("tokens", "aten.sum", {g.x}, {}, "mk->");
  const auto bias = g.held("bias", {wide}, tensor_role::parameter), m = g.held("m", {wide, wide}, tensor_role::state);
  const auto dbias = g.make("dbias", "aten.sum", {g.y}, {wide}, "mn->n");
  const auto norm = g.make("norm", "aten.norm", {g.gradient}, {}, "->");
  const auto other = g.make("other", "aten.norm", {dbias}, {}, "->");
  const auto all = g.make("all", "aten.stack", {norm, other}, {2});
  const auto mean = g.make("per_token", "aten.div", {g.gradient, tokens, all}, {wide, wide}, "kn,,.->kn");
  const auto moved = g.make("moved", "aten.add_", {m, mean}, {wide, wide}, "kn,kn->kn", storage_form::writes);
  (void)g.make("new_w", "aten.add_", {g.w, moved}, {wide, wide}, "kn,kn->kn", storage_form::writes);
  (void)g.make("new_bias", "aten.add_", {bias, dbias, all}, {wide}, "n,n,.->n", storage_form::writes);
  mark_training_roles(g);
  const auto step = lower(g).graph;
  CHECK(gradients_of(step) == std::vector<std::string>{"dbias", "dw", "tokens"});
  constexpr std::uint32_t replicas = 4;
  const auto made = parallel::data_parallel(step, test::each_on_its_own(step, replicas),
                                            parallel::ring_all_reduce(replicas), {.shard_updates = true});
  std::map<std::string, double> done; // work
  for (const op_id v : ids(made.graph.num_ops())) {
    const op_id from = made.origin[v];
    if (from != none && step.name(from) == "all") {
      std::size_t read = 0;
      for (const tensor_id t : made.graph.inputs(v)) {
        const op_id of = made.origin[made.graph.producer(t)];
        read += of != none && step.name(of) == "norm" ? 1u : 0u;
      }
      CHECK(read == replicas);
    }
    if (from != none) {
      done[std::string{step.name(from)}] += made.graph.work(v) / std::max(1.0, step.work(from));
    }
  }
  CHECK(done["moved"] == doctest::Approx(1));
  const double work_of_all = step.work(g.named["all"]);
  CHECK(done["all"] == doctest::Approx(replicas * work_of_all / std::max(1.0, work_of_all)));

  bare_step flat; // an optimiser that works on all gradients as one
  const auto more = flat.held("bias", {wide}, tensor_role::parameter);
  const auto second = flat.make("dbias", "aten.sum", {flat.y}, {wide}, "mn->n");
  const auto row = flat.make("row", "aten.view", {flat.gradient}, {wide * wide});
  const auto joined = flat.make("cat", "aten.cat", {row, second}, {wide * wide + wide});
  (void)flat.make("new_w", "aten.add_", {flat.w, joined}, {wide, wide}, "", storage_form::writes);
  (void)flat.make("new_bias", "aten.add_", {more, joined}, {wide}, "", storage_form::writes);
  mark_training_roles(flat);
  const auto w = lower(flat).graph;
  CHECK(gradients_of(w).size() == 2);
  CHECK_NOTHROW(parallel::data_parallel(w, test::each_on_its_own(w, 2), parallel::ring_all_reduce(2)));
}

TEST_CASE("data_parallel: replicas of a traced step add up its gradients before its own ops update with them") {
  constexpr std::uint32_t replicas = 4;
  traced_step traced{8};
  mark_training_roles(traced);
  const auto step = lower(traced).graph;
  for (const bool sharded : {false, true}) {
    CAPTURE(sharded);
    const auto made = parallel::data_parallel(step, test::each_on_its_own(step, replicas),
                                              parallel::ring_all_reduce(replicas), {.shard_updates = sharded});
    CHECK(made.gradient_bytes == square + 4 * wide);
    byte_count momentum = 0;
    double work = 0;
    for (const op_id v : ids(made.graph.num_ops())) {
      const op_id from = made.origin[v];
      if (from == none) {
        continue;
      }
      if (step.name(from) == "slowed") {
        momentum += made.graph.resident_bytes(v);
        work += made.graph.work(v) / step.work(from);
      }
      for (const tensor_id t : made.graph.inputs(v)) { // no update reads the gradient of one replica
        const op_id of = made.origin[made.graph.producer(t)];
        CHECK((!is_update(step, from) || of == none || made.graph.bytes(t) == 0 ||
               step.role(of) != op_role::parameter_gradient));
      }
    }
    CHECK(momentum == square * (sharded ? 1 : replicas));
    CHECK(work == doctest::Approx(sharded ? 1 : replicas));
  }
}

} // namespace model_training_roles_test
