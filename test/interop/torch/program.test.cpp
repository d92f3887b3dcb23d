// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/torch.hpp"

#include "interop/pytorch_programs.hpp"
#include "support/random_plans.hpp"
#include "weft/core/random.hpp"
#include "weft/execute/static_executor.hpp"
#include "weft/io/files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/jit/serialization/pickle.h>

namespace interop_torch_program_test {

using namespace weft;
namespace run = weft::torch; // `torch` is PyTorch's
using json = nlohmann::json;
using weft_test::exported_program;
using weft_test::zip_of;
using tensors = std::map<std::string, at::Tensor>;

std::string saved(const tensors& by_name) {
  c10::Dict<std::string, at::Tensor> dict;
  for (const auto& [name, value] : by_name) {
    dict.insert(name, value);
  }
  const auto bytes = ::torch::jit::pickle_save(dict);
  return {bytes.begin(), bytes.end()};
}

std::string archive_of(const exported_program& p, const tensors& state, const std::vector<at::Tensor>& inputs = {}) {
  std::vector<c10::IValue> examples(inputs.begin(), inputs.end());
  const auto bytes = ::torch::jit::pickle_save(c10::ivalue::Tuple::create(examples));
  return zip_of({{"serialized_exported_program.json", p.text()},
                 {"serialized_state_dict.pt", saved(state)},
                 {"serialized_example_inputs.pt", {bytes.begin(), bytes.end()}}});
}

at::Tensor numbers(at::IntArrayRef shape, double from = -1, double to = 1) {
  return at::linspace(from, to, c10::multiply_integers(shape)).view(shape).contiguous();
}

std::vector<op_id> program_order(const run::program& p) {
  std::vector<op_id> order(p.calls.size());
  std::iota(order.begin(), order.end(), op_id{0});
  return order;
}

/// Results and state after two runs in that order.
std::vector<at::Tensor> after(const run::program& p, const std::vector<op_id>& order) {
  run::session values{p};
  at::manual_seed(7);
  for (int i = 0; i < 2; ++i) {
    values.begin();
    for (const op_id v : order) {
      values.run(v);
    }
  }
  auto all = values.results();
  for (std::size_t i = 0; i < p.state.size(); ++i) {
    all.push_back(values.state(i));
  }
  return all;
}

bool same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const at::Tensor& x, const at::Tensor& y) { return at::equal(x, y); });
}

/// A layer, relu(x w + 0.5), whose weights then become half as large.
exported_program small() {
  exported_program p;
  p.parameter("p_w", {"3", "2"}).input("x", {"4", "3"});
  p.aten("mm", {{"self", "x"}, {"mat2", "p_w"}}, "mm", {"4", "2"});
  p.aten("add.Tensor", {{"self", "mm"}, {"other", json{{"as_float", 0.5}}}}, "sum", {"4", "2"});
  p.aten("relu", {{"self", "sum"}}, "y", {"4", "2"});
  p.aten("mul_.Scalar", {{"self", "p_w"}, {"other", json{{"as_float", 0.5}}}}, "w", {"3", "2"});
  return p.returns({"y"});
}

TEST_CASE("torch: a program computes what its ops compute, and changes parameters in place") {
  const auto w = numbers({3, 2}), x = numbers({4, 3});
  const auto p = run::program_of(archive_of(small(), {{"w", w}}, {x}), "small.pt2");
  REQUIRE(p.calls.size() == 4);
  CHECK(p.calls[1].name == "aten::add.Tensor");
  CHECK(p.graph.type(0) == "aten.mm");
  CHECK(p.state.front().name == "w");

  run::session values{p};
  for (int i = 0; i < 3; ++i) {
    values.begin();
    for (const op_id v : ids(p.calls.size())) {
      values.run(v, {i == 2 ? 2u : 1u});
    }
    const auto weights = w * std::pow(0.5, i);
    CHECK(at::allclose(values.results().front(), at::relu(at::mm(x, weights) + 0.5)));
    CHECK(at::allclose(values.state(0), weights * 0.5));
    CHECK(values.num_alive() == 3); // parameter, input, result: what lies between is freed
  }
  CHECK(at::equal(p.state.front().value, w)); // of the program, for other sessions

  values.set_input(0, at::ones({4, 3}));
  values.begin();
  for (const op_id v : ids(p.calls.size())) {
    values.run(v);
  }
  CHECK(at::allclose(values.results().front(), at::relu(at::mm(at::ones({4, 3}), w * 0.125) + 0.5)));
  CHECK_THROWS_WITH_AS(values.set_input(0, at::ones({2, 3})), "input 0: has to be Float [4, 3], as when the program "
                       "was traced, not Float [2, 3]", value_error);
  CHECK_THROWS_WITH_AS(values.set_input(1, at::ones({2, 3})), "input 1: the program has 1 inputs", value_error);
}

/// A program of ops that make, view and change matrices of four rows, or of two.
class random_program {
public:
  explicit random_program(std::uint64_t seed) : random_{seed} {
    p_.parameter("p_a", {"4", "4"}).parameter("p_b", {"4", "4"}).input("x", {"4", "4"});
    fours_ = {"p_a", "p_b", "x"};
    const auto count = 5 + random_.below(30);
    for (std::size_t i = 0; i < count; ++i) {
      add();
    }
    p_.returns({fours_.back(), any(fours_)});
  }
  run::program operator()() const {
    return run::program_of(archive_of(p_, {{"a", numbers({4, 4})}, {"b", numbers({4, 4}, 0, 1)}},
                                        {numbers({4, 4}, -0.5, 0.25)}), "random.pt2");
  }

private:
  std::string any(const std::vector<std::string>& of) { return of[random_.below(of.size())]; }
  std::string next() { return "t" + std::to_string(count_++); }
  void make_four(const std::string& type, const std::vector<std::pair<std::string, json>>& arguments) {
    fours_.push_back(next());
    p_.aten(type, arguments, fours_.back(), {"4", "4"});
  }
  void add() {
    const json half{{"as_float", 0.5}}, from{{"as_int", random_.below(3)}}, rows{{"as_int", 2}};
    switch (random_.below(12)) {
    case 0: make_four("tanh", {{"self", any(fours_)}}); break;
    case 1: make_four("add.Tensor", {{"self", any(fours_)}, {"other", any(fours_)}, {"alpha", half}}); break;
    case 2: make_four("mul_.Scalar", {{"self", any(fours_)}, {"other", half}}); break;
    case 3: make_four("t", {{"self", any(fours_)}}); break;
    case 4: // of a copy, since views of one storage may overlap
      make_four("clone", {{"self", any(fours_)}});
      make_four("copy_", {{"self", any(fours_)}, {"src", fours_.back()}});
      break;
    case 5:
      if (random_.below(2) == 0) {
        make_four("rand_like", {{"self", any(fours_)}});
      } else {
        make_four("rand", {{"size", exported_program::ints({4, 4})}});
      }
      break;
    case 6: {
      const auto name = next();
      p_.aten("narrow", {{"self", any(fours_)}, {"dim", json{{"as_int", 0}}}, {"start", from}, {"length", rows}}, name,
              {"2", "4"});
      twos_.push_back(name);
      break;
    }
    case 7: {
      const std::vector<std::string> names{next(), next()};
      p_.shape(names[0], {"2", "4"}).shape(names[1], {"2", "4"});
      p_.aten("split.Tensor", {{"self", any(fours_)}, {"split_size", rows}},
              json::array({exported_program::tensors(names)}));
      twos_.insert(twos_.end(), names.begin(), names.end());
      break;
    }
    case 10: make_four("type_as", {{"self", any(fours_)}, {"other", any(fours_)}}); break; // the same tensor
    case 11: make_four("_unsafe_view", {{"self", any(fours_)}, {"size", exported_program::ints({4, 4})}}); break;
    case 8:
      if (!twos_.empty()) {
        const auto name = next();
        p_.aten("add_.Tensor", {{"self", any(twos_)}, {"other", half}}, name, {"2", "4"});
        twos_.push_back(name);
      }
      break;
    default:
      if (!twos_.empty()) {
        make_four("cat", {{"tensors", exported_program::tensors({any(twos_), any(twos_)})}});
      }
    }
  }

  rng random_;
  exported_program p_;
  std::vector<std::string> fours_, twos_ = {};
  int count_ = 0;
};

TEST_CASE("torch: in any order that the graph allows, and on several threads, the same comes out") {
  rng random{3};
  int others = 0; // orders
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const auto p = random_program{seed}();
    const auto expected = after(p, program_order(p));
    CAPTURE(seed);
    for (int i = 0; i < 3; ++i) {
      const auto order = test::random_topological_order(p.graph, random);
      REQUIRE(order.size() == p.calls.size());
      others += order != program_order(p);
      CHECK(same(after(p, order), expected));
    }
    if (seed % 5 != 0) {
      continue;
    }
    plan workers{placement(p.calls.size())};
    for (const op_id v : ids(p.calls.size())) {
      workers.placement[v] = static_cast<device_id>(random.below(3));
      workers.order.push_back(step::run(v));
    }
    static_executor execute{p.graph, workers};
    run::session values{p};
    at::manual_seed(7);
    for (int i = 0; i < 2; ++i) {
      values.begin();
      execute([&](op_id v, team t) { values.run(v, t); }).rethrow();
    }
    auto all = values.results();
    all.insert(all.end(), {values.state(0), values.state(1)});
    CHECK(same(all, expected));
  }
  CHECK(others > 1000);
}

TEST_CASE("torch: a norm changes its statistics before these are read") {
  exported_program p;
  p.buffer("b_mean", {"3"}).buffer("b_var", {"3"}).input("x", {"5", "3"});
  for (const char* unused : {"save_mean", "save_var"}) {
    p.shape(unused, {"3"});
  }
  p.aten("neg", {{"self", "b_mean"}}, "before", {"3"});
  p.shape("norm", {"5", "3"});
  const json none = exported_program::none(), share{{"as_float", 0.5}};
  p.aten("native_batch_norm",
         {{"input", "x"}, {"weight", none}, {"bias", none}, {"running_mean", "b_mean"}, {"running_var", "b_var"},
          {"training", json{{"as_bool", true}}}, {"momentum", share}, {"eps", json{{"as_float", 1e-5}}}},
         json::array({exported_program::tensor("norm"), exported_program::tensor("save_mean"),
                      exported_program::tensor("save_var")}));
  p.aten("neg", {{"self", "b_mean"}}, "after", {"3"});
  p.returns({"before", "after"});
  const auto made = run::program_of(archive_of(p, {{"mean", at::ones({3})}, {"var", at::ones({3})}},
                                                 {numbers({5, 3}, 0, 14)}), "norm.pt2");
  run::session values{made};
  for (const op_id v : ids(made.calls.size())) {
    values.run(v);
  }
  CHECK(at::allclose(values.results()[0], -at::ones({3})));
  CHECK(at::allclose(values.results()[1], -0.5 * (1 + numbers({3}, 6, 8))));
  const auto& w = made.graph;
  const auto comes_before = [&](op_id u, op_id v) {
    const auto outputs = w.outputs(u);
    return std::any_of(outputs.begin(), outputs.end(), [&](tensor_id t) {
      const auto readers = w.consumers(t);
      return std::find(readers.begin(), readers.end(), v) != readers.end();
    });
  };
  CHECK(comes_before(0, 1));
  CHECK(comes_before(1, 2));
}

TEST_CASE("torch: what replaces buffers and inputs is copied there, and is no result") {
  const auto program = [] {
    exported_program q;
    q.buffer("b_count", {"2"}).input("x", {"2"});
    q.aten("add.Scalar", {{"self", "b_count"}, {"other", json{{"as_int", 1}}}}, "next", {"2"});
    q.aten("gt.Scalar", {{"self", "x"}, {"other", json{{"as_float", 0.0}}}}, "mask", {"2"});
    q.aten("add.Tensor", {{"self", "b_count"}, {"other", "x"}}, "sum", {"2"});
    q.aten("masked_fill.Scalar",
           {{"self", "sum"}, {"mask", "mask"}, {"value", json{{"as_float", "-Infinity"}}}}, "y", {"2"});
    q.returns({"next", "y"});
    q.output_spec({{"buffer_mutation", {{"arg", {{"name", "next"}}}, {"buffer_name", "count"}}}});
    return q.output_spec({{"user_output", {{"arg", exported_program::tensor("y")}}}});
  }();
  const auto made = run::program_of(archive_of(program, {{"count", at::zeros({2})}}, {numbers({2})}), "count.pt2");
  run::session values{made};
  const double infinity = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    values.begin();
    for (const op_id v : ids(made.calls.size())) {
      values.run(v);
    }
    REQUIRE(values.results().size() == 1);
    CHECK(values.results().front()[0].item<double>() == i - 1);
    CHECK(values.results().front()[1].item<double>() == -infinity);
    CHECK(at::equal(values.state(0), at::full({2}, i + 1.0)));
  }
}

TEST_CASE("torch: an input without a value is asked for") {
  const auto made = run::program_of(archive_of(small(), {{"w", numbers({3, 2})}}), "small.pt2");
  run::session values{made};
  CHECK_THROWS_WITH_AS(values.begin(), "input 0: has no value; give it by set_input", value_error);
  CHECK_THROWS_WITH_AS(values.set_input(0, {}), "input 0: has no value", value_error);
  values.set_input(0, numbers({4, 3}));
  CHECK_NOTHROW(values.begin());
}

TEST_CASE("torch: a step in a file") {
  const std::string path = "small.pt2.tmp";
  const auto w = numbers({3, 2}), x = numbers({4, 3});
  io::write_file(path, [&](std::ostream& out) { out << archive_of(small(), {{"w", w}}, {x}); });
  plan plan{placement(4, 0)};
  // [run]
  const auto step = weft::torch::read_program(path);
  weft::static_executor execute{step.graph, plan}; // or another executor
  weft::torch::session values{step};                 // parameters, the optimizer's state, inputs
  values.begin();
  execute([&](weft::op_id v, weft::team t) { values.run(v, t); }).rethrow();
  const at::Tensor loss = values.results().front();
  // [run]
  std::filesystem::remove(path);
  CHECK(at::allclose(loss, at::relu(at::mm(x, w) + 0.5)));
  CHECK_THROWS_AS(run::read_program(path), error);
}

TEST_CASE("torch: a program is tuned, and starts where it would have without") {
  const std::string path = "tuned.pt2.tmp";
  const auto w = numbers({3, 2}), x = numbers({4, 3});
  io::write_file(path, [&](std::ostream& out) { out << archive_of(small(), {{"w", w}}, {x}); });
  const std::vector<at::Tensor> batches{x, at::ones({4, 3}), x * 2};
  std::vector<at::Tensor> losses;
  // [tune]
  auto step = weft::torch::tune(weft::torch::read_program(path));
  for (const auto& batch : batches) {
    const at::Tensor loss = step.run({batch}).front();
    losses.push_back(loss);
  }
  // [tune]
  std::filesystem::remove(path);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    CHECK(at::allclose(losses[i], at::relu(at::mm(batches[i], w * std::pow(0.5, i)) + 0.5)));
  }
  CHECK(at::allclose(step.values().state(0), w * 0.125));
  CHECK(at::allclose(step.run().front(), at::relu(at::mm(batches[2], w * 0.125) + 0.5))); // with the last inputs
  CHECK(step.found().settings().size() > 2);
  CHECK(step.program().keys.size() == 4);
  CHECK(step.program().keys[0] == "aten::mm(7[4,3][1,1], 7[3,2][1,1])");
  CHECK_THROWS_WITH_AS(step.run({x, x}), "inputs: 2 are given, and the program has 1", value_error);
  CHECK_THROWS_AS(step.run({at::ones({2, 3})}), value_error);
  auto moved = std::move(step);
  CHECK(moved.run().size() == 1);
}

TEST_CASE("torch: random programs compute the same with every setting, on two cores") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto p = random_program{seed}();
    const auto expected = after(p, program_order(p));
    run::session values{p};
    execute::tuned<run::session, execute::openmp_crew> found{
      values, {.here = {.name = "two", .cores_per_socket = 2}, .steps = 20, .joining = {.short_seconds = 1e-6}}};
    for (std::size_t i = 0; i < found.settings().size(); ++i) {
      values.restart();
      at::manual_seed(7);
      for (int k = 0; k < 2; ++k) {
        found.run(i).rethrow();
      }
      auto all = values.results();
      for (std::size_t k = 0; k < p.state.size(); ++k) {
        all.push_back(values.state(k));
      }
      CHECK(same(all, expected));
    }
  }
}

TEST_CASE("torch: what an op refuses ends the run with its name") {
  auto made = run::program_of(archive_of(small(), {{"w", numbers({5, 2})}}, {numbers({4, 3})}), "small.pt2");
  run::session values{made};
  const auto order = program_order(made);
  plan one{placement(order.size(), 0)};
  for (const op_id v : order) {
    one.order.push_back(step::run(v));
  }
  static_executor execute{made.graph, one};
  const auto report = execute([&](op_id v, team t) { values.run(v, t); });
  CHECK(report.status == execute::run_status::failed);
  CHECK(report.failed == 0);
  CHECK_THROWS_WITH(report.rethrow(), doctest::Contains("aten::mm: mat1 and mat2 shapes cannot be multiplied"));
}

TEST_CASE("torch: what cannot be run is refused in one line") {
  const tensors state{{"w", numbers({3, 2})}};
  const auto refused = [&](const exported_program& p, const std::string& why) {
    CHECK_THROWS_WITH_AS(run::program_of(archive_of(p, state, {numbers({4, 3})}), "p.pt2"),
                         doctest::Contains(why.c_str()), parse_error);
  };
  const auto with = [&](const std::string& type, const std::vector<std::pair<std::string, json>>& arguments) {
    auto p = small();
    p.aten(type, arguments, "more", {"4", "2"});
    return p;
  };
  refused(with("no_such_op", {{"self", "y"}}).aten("nor_this", {{"self", "y"}}, "most", {"4", "2"}),
          "2 ops are not in PyTorch ");
  refused(with("relu", {}), "node 4 (torch.ops.aten.relu.default): argument 'self' is missing");
  refused(with("relu", {{"self", "y"}, {"upper", json{{"as_int", 1}}}}), "argument 'upper' is not known to PyTorch ");
  refused(with("relu", {{"self", "z"}}), "tensor 'z' is read before any node makes it");
  refused(with("relu", {{"self", json{{"as_graph", json::object()}}}}), "'self': 'as_graph' is not known here");
  refused(with("to.dtype", {{"self", "y"}, {"dtype", json{{"as_scalar_type", 99}}}}), "element type 99 is not known");
  refused(with("zeros", {{"size", exported_program::ints({2})}, {"device", json{{"as_device", {{"type", "cuda"}}}}}}),
          "argument 'device': device 'cuda' is not the CPU");
  refused(with("relu", {{"self", exported_program::none()}}), "argument 'self': it has to be given");
  refused(with("relu", {{"self", exported_program::tensors({"y"})}}), "argument 'self': tensors are given where none");
  refused(with("sum.dim_IntList", {{"self", "y"}, {"dim", json{{"as_ints", 1}}}}), "argument 'dim': a list is missing");
  refused(with("sum.dim_IntList", {{"self", "y"}, {"dim", json{{"as_ints", {1.5}}}}}), "a whole number is missing");
  refused(with("mul.Scalar", {{"self", "y"}, {"other", json{{"as_float", "much"}}}}), "a number is missing");
  auto large = small();
  large.aten("relu", {{"self", "y"}}, "more", {"4000000000000", "4000000000000"});
  refused(large, "its results are larger than any memory");
  auto counted = small();
  counted.node("_operator.add", {{"a", "y"}}, "more", {"4", "2"});
  refused(counted, "'_operator.add' cannot be called by name");
  auto newer = json::parse(small().text());
  newer["schema_version"]["major"] = 9;
  CHECK_THROWS_WITH_AS(run::program_of(newer.dump(), "p.json"),
                       doctest::Contains("it has schema version 9, and up to 8 is known here"), parse_error);
  CHECK_THROWS_WITH_AS(run::program_of(archive_of(small(), {{"v", at::ones({1})}}), "p.pt2"),
                       doctest::Contains("the archive has no values of parameter 'w'"), parse_error);
  CHECK_THROWS_WITH_AS(run::program_of(small().text(), "p.json"),
                       doctest::Contains("the archive has no values of parameter 'w'"), parse_error);
  CHECK_THROWS_WITH_AS(run::program_of(zip_of({{"serialized_exported_program.json", small().text()},
                                                 {"serialized_state_dict.pt", "no tensors"}}), "p.pt2"),
                       doctest::Contains("\"serialized_state_dict.pt\" cannot be read"), parse_error);
  CHECK_THROWS_AS(run::program_of("PK\x03\x04 and no more", "p.pt2"), parse_error);
}

} // namespace interop_torch_program_test
