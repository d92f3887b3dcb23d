// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/zoo.hpp"

#include "summary.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace workload_zoo_test {

using namespace weft;

/// A network of the zoo before its gradients are added.
struct forward_pass {
  explicit forward_pass(std::string_view name) {
    const auto task = zoo::define(net, name);
    std::vector<nn::tensor> losses;
    for (const auto& o : task.objectives) {
      losses.push_back(o.loss);
    }
    graph = inference(net, losses);
  }
  double work() const { return test::total_work(graph); }
  nn::network net;
  workload graph;
};

std::size_t count_objectives(const zoo::entry& e) {
  nn::network net;
  return e.define(net, {1, 1}).objectives.size();
}

std::size_t ops_in_scope(const workload& w, std::string_view scope) {
  return static_cast<std::size_t>(
    std::ranges::count_if(ids(w.num_ops()), [&](op_id v) { return w.name(v).starts_with(scope); }));
}

TEST_CASE("zoo: parameters are those computed by hand") {
  // 5·5·1·32 + 32, 5·5·32·64 + 64, 3136·1024 + 1024, 1024·10 + 10
  CHECK(forward_pass("mnist_conv").net.num_parameters() == 832 + 51'264 + 3'212'288 + 10'250);
  // kernel (28 + 128)·512, bias 512, dense 128·10 + 10
  CHECK(forward_pass("lstm").net.num_parameters() == 79'872 + 512 + 1'290);
  // kernel (1 + 64)·256, bias 256, dense 64·2 + 2
  CHECK(forward_pass("dynamic_rnn").net.num_parameters() == 16'640 + 256 + 130);
}

TEST_CASE("zoo: resident bytes are parameters and optimiser state") {
  CHECK(test::total_resident_bytes(zoo::make("mnist_conv")) == 3 * 4 * 3'274'634 + 8); // Adam: two slots, two powers
  CHECK(test::total_resident_bytes(zoo::make("lstm")) == 3 * 4 * 81'674 + 8);
  CHECK(test::total_resident_bytes(zoo::make("dynamic_rnn")) == 4 * 17'026); // gradient descent: none
}

TEST_CASE("zoo: forward FLOP of mnist_conv are those computed by hand") {
  const double products = 2.0 * 784 * 32 * 25 + 2.0 * 196 * 64 * 25 * 32 + 2.0 * 3136 * 1024 + 2.0 * 1024 * 10;
  const double images = 3 * 784.0 * 32 + 3 * 196.0 * 64; // bias, ReLU, and 4 per element of the halved pool
  const double vectors = 2 * 1024 + 7 * 1024 + 10;       // bias and ReLU; dropout's seven elementwise ops; bias
  const double loss = 5 * 10 + 1;
  CHECK(forward_pass("mnist_conv").work() == 50 * (products + images + vectors + loss) + 1);
}

TEST_CASE("zoo: forward FLOP of lstm are those computed by hand") {
  const double step = 2.0 * 156 * 512 + 512 + 10 * 128; // product, bias, 10 elementwise ops on the state
  CHECK(forward_pass("lstm").work() == 128 * (28 * step + 2 * 1280 + 10 + 5 * 10 + 1));
}

TEST_CASE("zoo: forward FLOP of dynamic_rnn are those computed by hand") {
  const double step = 2.0 * 65 * 256 + 256 + 10 * 64 + 3 * 64 + 1; // as lstm, three selects and the mask
  const double after = 3 + 2 * 128 + 2 + 5 * 2 + 1;                // indices, dense layer, loss
  CHECK(forward_pass("dynamic_rnn").work() == 128 * (20 * step - 2 * 64 + after)); // nobody reads the last states
}

TEST_CASE("zoo: the backward pass of one loss costs about twice the forward pass") {
  for (const auto& e : zoo::entries) {
    if (count_objectives(e) > 1) {
      continue;
    }
    CAPTURE(e.name);
    const auto w = zoo::make(e.name);
    double updates = 0;
    for (const op_id v : ids(w.num_ops())) {
      updates += w.type(v).starts_with("Apply") ? w.work(v) : 0;
    }
    const double forward = forward_pass(e.name).work();
    CHECK((test::total_work(w) - updates - forward) / forward == doctest::Approx(2).epsilon(0.02));
  }
}

TEST_CASE("zoo: networks have the ops of their unrolled source") {
  const auto lstm = zoo::make("lstm");
  CHECK(test::count_type(lstm, "MatMul") == 28 + 1 + 2 * 29);
  CHECK(test::count_type(lstm, "Sigmoid") == 3 * 28);
  CHECK(test::count_type(lstm, "TanhGrad") == 2 * 28);
  CHECK(ops_in_scope(lstm, "lstm/step_3/") == 17);
  CHECK(test::find_op(lstm, "lstm/step_27/MatMul") != none);
  CHECK(test::find_op(lstm, "lstm/step_28/MatMul") == none);
  CHECK(test::find_op(lstm, "gradients/lstm/step_3/MatMul_grad/MatMul_1") != none);
  CHECK(lstm.num_ops() > 1000);
  CHECK(lstm.num_ops() < 3000);

  const auto dynamic = zoo::make("dynamic_rnn");
  // Forward three per step; backward two for each. The last step's states lead nowhere.
  CHECK(test::count_type(dynamic, "Select") == 3 * 20 - 2 + 2 * (3 * 20 - 2));
  CHECK(test::count_type(dynamic, "GreaterEqual") == 20);

  const auto conv = zoo::make("mnist_conv");
  CHECK(test::count_type(conv, "Conv2D") == 2);
  CHECK(test::count_type(conv, "Conv2DBackpropInput") == 2);
  CHECK(test::count_type(conv, "ApplyAdam") == 8);
  CHECK(test::count_type(conv, "VariableV2") == 3 * 8 + 2);
}

TEST_CASE("zoo: an LSTM's parameters are shared by its steps, and their gradients added up") {
  const auto w = zoo::make("lstm");
  const op_id kernel = test::find_op(w, "lstm/basic_lstm_cell/kernel/read");
  REQUIRE(kernel != none);
  CHECK(w.consumers(*w.outputs(kernel).begin()).size() == 2 * 28); // each step's product and its gradient
  const op_id update = test::find_op(w, "Adam/update_lstm/basic_lstm_cell/kernel/ApplyAdam");
  REQUIRE(update != none);
  const auto is_sum = [&](tensor_id t) { return w.type(w.producer(t)) == "AddN"; };
  const auto sum = std::ranges::find_if(w.inputs(update), is_sum);
  REQUIRE(sum != w.inputs(update).end());
  CHECK(w.inputs(w.producer(*sum)).size() == 28);
  CHECK(w.work(w.producer(*sum)) == 27.0 * 156 * 512);
}

TEST_CASE("zoo: variables, reads, slots and updates are colocated; the input pipeline is on a CPU") {
  for (const auto& e : zoo::entries) {
    CAPTURE(e.name);
    const auto w = zoo::make(e.name);
    std::size_t updates = 0;
    for (const op_id v : ids(w.num_ops())) {
      if (w.type(v).starts_with("Apply")) {
        ++updates;
        REQUIRE(w.group(v) != none);
        for (const tensor_id t : w.inputs(v)) {
          if (w.type(w.producer(t)) == "VariableV2") { // the parameter and its slots
            CHECK(w.group(w.producer(t)) == w.group(v));
            for (const op_id reader : w.consumers(t)) {
              CHECK(w.group(reader) == w.group(v));
            }
          }
        }
      }
      CHECK(w.kinds(v) == (w.type(v) == "IteratorGetNext" ? kind_set{device_kind::cpu} : kind_set::all()));
    }
    CHECK(updates > 0);
  }
}

TEST_CASE("zoo: FLOP and activations grow linearly with the batch, parameters do not") {
  for (const auto& e : zoo::entries) {
    CAPTURE(e.name);
    const auto one = zoo::make(e.name, 16);
    const auto two = zoo::make(e.name, 32);
    const auto three = zoo::make(e.name, 48);
    CHECK(one.num_ops() == two.num_ops());
    CHECK(one.num_edges() == two.num_edges());
    CHECK(test::total_resident_bytes(one) == test::total_resident_bytes(two));
    CHECK(test::total_work(two) > 1.5 * test::total_work(one));
    CHECK(test::total_tensor_bytes(three) - test::total_tensor_bytes(two) ==
          test::total_tensor_bytes(two) - test::total_tensor_bytes(one));
  }
}

TEST_CASE("zoo: the same network is made each time, with the parameters that its description says") {
  for (const auto& e : zoo::entries) {
    CAPTURE(e.name);
    CHECK(test::fingerprint(zoo::make(e.name)) == test::fingerprint(zoo::make(e.name)));
    auto digits = std::to_string(forward_pass{e.name}.net.num_parameters());
    for (auto i = digits.size(); i > 3; i -= 3) {
      digits.insert(i - 3, ",");
    }
    const bool stated = e.description.find("(" + digits + " parameters)") != e.description.npos;
    CHECK((stated || e.description.starts_with("the same with")));
  }
}

TEST_CASE("zoo: define and training_step_with_origins give the workload that make gives, and its origins") {
  for (const auto& e : zoo::entries) {
    CAPTURE(e.name);
    nn::network net;
    const auto task = zoo::define(net, std::string{e.name} + "@3");
    const auto built = training_step_with_origins(net, task.objectives, task.options);
    CHECK(test::fingerprint(built.graph) == test::fingerprint(zoo::make(e.name, 3)));
    bool same = built.origin.size() == built.graph.num_ops();
    for (op_id v = 0; same && v < built.graph.num_ops(); ++v) {
      same = built.graph.name(v) == net[built.origin[v]].op.name && built.graph.type(v) == net[built.origin[v]].op.type;
    }
    CHECK(same);
  }
}

TEST_CASE("zoo: without bookkeeping, networks have fewer ops and the same state") {
  for (const auto& e : zoo::entries) {
    CAPTURE(e.name);
    const auto full = zoo::make(e.name);
    const auto bare = zoo::make(e.name, {.bookkeeping = false});
    CHECK(bare.num_ops() < full.num_ops());
    CHECK(test::total_work(bare) <= test::total_work(full));
    CHECK(test::total_resident_bytes(bare) == test::total_resident_bytes(full));
    CHECK(test::count_type(bare, "BroadcastGradientArgs") == 0);
    CHECK(test::count_type(bare, "NoOp") == count_objectives(e)); // the ends of the updates
  }
}

TEST_CASE("zoo: names, batch sizes and errors") {
  CHECK(test::fingerprint(zoo::make("lstm@128")) == test::fingerprint(zoo::make("lstm")));
  CHECK(test::fingerprint(zoo::make("lstm@128")) == test::fingerprint(zoo::lstm(128)));
  CHECK(test::fingerprint(zoo::make("lstm@32")) != test::fingerprint(zoo::make("lstm")));
  CHECK(std::ranges::is_sorted(zoo::entries, {}, &zoo::entry::name));
  CHECK_THROWS_WITH_AS(zoo::make("vgg"),
                       "zoo: there is no network 'vgg'; choose one of bert_base, bert_large, dcgan, dynamic_rnn, gnmt,"
                       " gpt2_large, gpt2_medium, gpt2_small, gpt2_xl, gpt3_13b, gpt3_175b, inception_v3, llama2_13b, "
                       "llama2_70b, llama2_7b, llama3_405b, llama3_70b, llama3_8b, lstm, mistral_7b, mixtral_8x7b, "
                       "mnist_conv, ptb_lstm, ptb_lstm_fused, qwen2_7b, resnet50, resnet50_cifar10, switch_base, "
                       "vit_b_16, vit_l_16, with a batch size if you like, such as lstm@32, or bert, gpt2, llama, "
                       "mixtral, vit with sizes of your own, such as gpt2+layers=6+hidden=512+heads=8",
                       value_error);
  for (const char* spec : {"lstm@", "lstm@0", "lstm@-1", "lstm@3y", "lstm@1000001", "lstm@99999999999999999999"}) {
    CAPTURE(spec);
    CHECK_THROWS_WITH_AS(zoo::make(spec), doctest::Contains("is not a batch size"), value_error);
  }
  CHECK_THROWS_AS(zoo::make("@3"), value_error);
}

/// The parameters of the network that a text describes.
std::uint64_t parameters(std::string_view spec) {
  const auto r = zoo::parse(spec);
  nn::network net{{.training = r.training}};
  zoo::define(net, r);
  return net.num_parameters();
}

TEST_CASE("zoo: sizes in a text are those of the options") {
  const auto same = [](std::string_view spec, const workload& made) {
    CAPTURE(spec);
    CHECK(test::fingerprint(zoo::make(spec)) == test::fingerprint(made));
  };
  same("gpt2+layers=2+hidden=96+heads=3@2x64", zoo::gpt2(2, {.layers = 2, .hidden = 96, .heads = 3, .length = 64}));
  same("gpt2+heads=3+hidden=96+layers=2@2x64", zoo::gpt2(2, {.layers = 2, .hidden = 96, .heads = 3, .length = 64}));
  same("gpt2_small+layers=1+ffn=5+vocabulary=7+positions=9+tied=0+dropout=0+lora=3@1x8",
       zoo::gpt2(1, {.layers = 1, .ffn = 5, .length = 8, .vocabulary = 7, .positions = 9, .tied = false,
                     .dropout = false, .lora = 3}));
  same("gpt2+layers=1@1x2048", zoo::gpt2(1, {.layers = 1, .length = 2048, .positions = 2048}));
  same("bert+layers=1+predictions=3@1x600",
       zoo::bert(1, {.layers = 1, .length = 600, .predictions = 3, .positions = 600}));
  same("llama3_8b+layers=1+qkv_bias=1+head_size=8+tied=1+lora=2@1x16",
       zoo::llama(1, {.layers = 1, .kv_heads = 8, .head_size = 8, .ffn = 14'336, .vocabulary = 128'256, .length = 16,
                      .qkv_bias = true, .tied = true, .lora = 2}));
  same("switch_base+layers=2+experts=3+target_length=5@2x16",
       zoo::switch_transformer(2, {.layers = 2, .experts = 3, .length = 16, .target_length = 5}));
  same("vit+layers=1+image=32+patch=8+classes=10@2",
       zoo::vit(2, {.layers = 1, .image_size = 32, .patch_size = 8, .classes = 10}));
  same("mixtral+layers=1+experts=4+experts_per_token=1@1x16",
       zoo::llama(1, {.layers = 1, .kv_heads = 8, .ffn = 14'336, .length = 16, .experts = 4, .experts_per_token = 1}));
  same("mistral_7b+experts=8@1x16", zoo::make("mixtral@1x16"));
  same("gpt2@4", zoo::make("gpt2_small"));
  same("bert", zoo::make("bert_base"));
  same("llama", zoo::make("llama2_7b"));
  CHECK(zoo::make("llama+layers=1@1x8:decode").num_ops() == zoo::make("llama2_7b+layers=1@1x8:decode").num_ops());
  CHECK(zoo::make("gpt2+layers=1@1x4096:decode").num_ops() == zoo::make("gpt2_small+layers=1@1:decode").num_ops());
  for (const auto& e : zoo::families) {
    CHECK(std::ranges::find(zoo::entries, e.name, &zoo::entry::name) == zoo::entries.end());
    CHECK(!e.sizes.empty());
  }
}

TEST_CASE("zoo: parameters for given sizes are the published ones") {
  CHECK(parameters("gpt2+layers=36+hidden=1280+heads=20@1") == 774'030'080);
  CHECK(parameters("gpt2+layers=96+hidden=12288+heads=96@1x2048") == 174'604'259'328);
  CHECK(parameters("llama+layers=40+hidden=5120+heads=40@1:inference") == 13'015'864'320);
  CHECK(parameters("llama+layers=28+hidden=3584+heads=28+kv_heads=4+ffn=18944+vocabulary=152064+qkv_bias=1@1:decode") ==
        7'615'616'512);
  CHECK(parameters("bert_base+layers=24+hidden=1024+heads=16") == 336'226'108);
}

TEST_CASE("zoo: sizes that a network does not have, or cannot have, are refused") {
  const auto refused = [](const char* spec, const char* because) {
    CAPTURE(spec);
    CHECK_THROWS_WITH_AS(zoo::make(spec), doctest::Contains(because), value_error);
  };
  CHECK_THROWS_WITH_AS(zoo::parse("gpt2+depth=3@2"),
                       "zoo: 'depth' in 'gpt2+depth=3@2' is not a size of gpt2; choose of layers, hidden, heads, ffn, "
                       "vocabulary, positions, tied, dropout, lora, as in gpt2+layers=4", value_error);
  refused("gpt2+", "is not a size of gpt2; choose of layers");
  refused("gpt2+=3", "is not a size of gpt2; choose of layers");
  refused("gpt2++layers=3", "is not a size of gpt2; choose of layers");
  refused("gpt2+layers=3+layers=4", "gives 'layers' twice");
  refused("lstm+layers=3", "lstm has one set of sizes");
  refused("+layers=3", "there is no network ''");
  for (const char* spec : {"gpt2+layers", "gpt2+layers=", "gpt2+layers=0", "gpt2+layers=-1", "gpt2+layers=3y",
                           "gpt2+layers=10001", "gpt2+layers=99999999999999999999", "gpt2+layers=1=2"}) {
    refused(spec, "is not a value of layers; write an integer from 1 to 10000 after layers=");
  }
  refused("gpt2+hidden=1000000001", "from 1 to 1000000000 after hidden=");
  refused("gpt2+tied=2", "is not a value of tied; write an integer from 0 to 1 after tied=");
  refused("gpt2+heads=7", "gpt2+heads=7 with a batch of 4 and a length of 1024 cannot be built; give other sizes");
  refused("gpt2+hidden=1000000000+heads=1", "cannot be built; give other sizes");
  refused("llama+heads=32+kv_heads=5", "cannot be built; give other sizes");
  refused("llama+heads=1000000000+head_size=1000000000@1000000:decode", "cannot be built; give other sizes");
  refused("gpt2_small@1x2048", "sequences have at most 1024 tokens");
}

TEST_CASE("zoo: sizes after the batch, and a learned mask of one head") {
  CHECK_THROWS_WITH_AS(zoo::make("gpt2@8+layers=4"), doctest::Contains("sizes go before the @"), value_error);
  const auto updates = [](nn::kernel_set kernels) {
    const auto w = zoo::make("switch_base+layers=2+heads=1@1x32", {.kernels = kernels});
    std::size_t count = 0;
    for (const op_id v : ids(w.num_ops())) {
      count += w.type(v) == "ApplyAdam" && w.name(v).find("relative_positions") != std::string::npos;
    }
    return count;
  };
  CHECK(updates(nn::kernel_set::separate) == 2);
  CHECK(updates(nn::kernel_set::framework) == updates(nn::kernel_set::separate));
}

TEST_CASE("zoo: long contexts are what their formula says") {
  struct sample {
    const char* name;
    std::uint64_t parameters, layers, kv_heads, head_size;
  };
  for (const auto& [name, parameters, layers, kv_heads, head_size] :
       {sample{"llama3_8b", 8'030'261'248, 32, 8, 128}, sample{"llama2_7b", 6'738'415'616, 32, 32, 128},
        sample{"llama3_70b", 70'553'706'496, 80, 8, 128}}) {
    for (const std::uint64_t batch : {1u, 3u}) {
      double work = 0; // of the context so far
      for (const std::uint64_t length : {1'000u, 100'000u, 131'072u, 1'000'000u, 10'000'000u, 100'000'000u}) {
        const auto spec = std::string{name} + "@" + std::to_string(batch) + "x" + std::to_string(length) + ":decode";
        CAPTURE(spec);
        const auto w = zoo::make(spec);
        const auto cache = 2 * batch * length * kv_heads * head_size * layers;
        CHECK(test::total_resident_bytes(w) == 4 * (parameters + cache));
        CHECK(test::total_work(w) > work);
        work = test::total_work(w);
      }
    }
  }
  // The largest tensor of a forward pass has batch × heads × length² elements.
  CHECK(zoo::make("llama2_7b@1x131072:inference").num_ops() == zoo::make("llama2_7b@1x1024:inference").num_ops());
  for (const char* spec : {"llama3_8b@1x10000000:inference", "llama3_8b@1000000x1000000000:decode",
                           "bert_base@1000000x100000", "gpt2_small@1x131072:inference"}) {
    CAPTURE(spec);
    CHECK_THROWS_WITH_AS(zoo::make(spec), doctest::Contains("is too large; give smaller ones"), value_error);
  }
  for (const char* spec : {"lstm@1x100001", "gnmt@1x1000000", "llama3_8b@1x1000000001:decode"}) {
    CAPTURE(spec);
    CHECK_THROWS_WITH_AS(zoo::parse(spec), doctest::Contains("is not a length"), value_error);
  }
}

TEST_CASE("zoo: texts may also give a length and a mode") {
  const auto all = zoo::parse("bert_large@8x512:inference");
  CHECK(all.network == &zoo::find("bert_large"));
  CHECK(all.size.batch == 8);
  CHECK(all.size.length == 512);
  CHECK(!all.training);
  const auto nothing = zoo::parse("bert_large");
  CHECK(nothing.size.batch == 4);
  CHECK(nothing.size.length == 128);
  CHECK(nothing.training);
  CHECK(!zoo::parse("resnet50:inference").training);
  CHECK(zoo::parse("lstm@2:training").size.length == 28);
  CHECK(test::fingerprint(zoo::make("lstm@2x3")) == test::fingerprint(zoo::lstm(2, {.steps = 3})));
  CHECK(test::fingerprint(zoo::make("lstm@2:inference")) == test::fingerprint(zoo::make_inference("lstm@2")));
  CHECK(test::fingerprint(zoo::make_inference("lstm@2:training")) == test::fingerprint(zoo::make_inference("lstm@2")));
  CHECK_THROWS_WITH_AS(zoo::make("resnet50@2x3"),
                       "zoo: resnet50 has no sequences, so 'resnet50@2x3' can have a batch size only", value_error);
  CHECK_THROWS_WITH_AS(zoo::make("lstm:"), doctest::Contains("is not a mode"), value_error);
  CHECK_THROWS_WITH_AS(zoo::make("lstm:fast"), doctest::Contains("write training, inference or decode"), value_error);
  const auto step = zoo::parse("llama2_70b@2x100:decode");
  CHECK((step.decode && !step.training && step.size.length == 100));
  CHECK_THROWS_WITH_AS(zoo::make("bert_base:decode"), doctest::Contains("does not generate token after token"),
                       value_error);
  for (const char* spec : {"lstm@2x", "lstm@2x0", "lstm@2x-1", "lstm@2x100001", "lstm@2x3x4"}) {
    CAPTURE(spec);
    CHECK_THROWS_WITH_AS(zoo::make(spec), doctest::Contains("is not a length"), value_error);
  }
  nn::network training;
  CHECK_THROWS_WITH_AS(zoo::define(training, "lstm:inference"), doctest::Contains(".training = false"), value_error);
}

TEST_CASE("zoo: inference has the forward ops of the outputs, nothing random, and only parameters") {
  for (const auto& e : zoo::entries) {
    CAPTURE(e.name);
    const auto w = zoo::make_inference(e.name);
    const forward_pass forward{e.name};
    CHECK(test::total_work(w) < forward.work());
    CHECK(ops_in_scope(w, "gradients") == 0);
    CHECK(test::count_type(w, "RandomUniform") == 0);
    CHECK(test::count_type(w, "SparseSoftmaxCrossEntropyWithLogits") == 0);
    CHECK(test::total_resident_bytes(w) > 0);
    std::size_t ends = 0;
    for (const op_id v : ids(w.num_ops())) {
      ends += w.out_edges(v).begin() == w.out_edges(v).end();
    }
    CHECK(ends == (e.name.starts_with("bert") ? 2 : 1)); // BERT has two heads
  }
  // Batch normalisation keeps two averages per channel besides its parameters.
  CHECK(test::total_resident_bytes(zoo::make_inference("resnet50")) == 4 * (25'557'032 + 2 * 26'560));
}

TEST_CASE("zoo: the generic training step of an inference costs what the network's own step does") {
  for (const auto& e : zoo::entries) {
    if (count_objectives(e) > 1) {
      continue;
    }
    CAPTURE(e.name);
    nn::network net;
    const auto rule = e.define(net, e.size).options.rule;
    const auto own = zoo::make(e.name, {.bookkeeping = false});
    const auto forward = zoo::make_inference(e.name, {.bookkeeping = false});
    const auto w = training_step(forward, {.rule = rule});
    CHECK(test::total_work(w) == doctest::Approx(test::total_work(own)).epsilon(0.015));
    CHECK(w.num_ops() < own.num_ops());
    CHECK(test::total_resident_bytes(w) == (1 + cost_of(rule).slots) * test::total_resident_bytes(forward));
  }
}

TEST_CASE("zoo: options change the networks") {
  const auto small = zoo::lstm(4, {.steps = 3, .inputs = 5, .hidden = 7, .classes = 2});
  CHECK(test::count_type(small, "Tanh") == 2 * 3);
  CHECK(test::total_resident_bytes(small) == 3 * 4 * (12 * 28 + 28 + 7 * 2 + 2) + 8);
  const auto masked = zoo::dynamic_rnn(4, {.max_steps = 2, .inputs = 3, .hidden = 5, .classes = 2});
  CHECK(test::count_type(masked, "GreaterEqual") == 2);
  CHECK(test::total_resident_bytes(masked) == 4 * (8 * 20 + 20 + 5 * 2 + 2));
}

TEST_CASE("zoo: the table in docs/workloads.md is up to date") {
  std::ifstream file{std::filesystem::path{__FILE__}.parent_path() / "../../docs/workloads.md"};
  REQUIRE(file);
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  const auto row = [](const zoo::entry& e, std::uint64_t count, double forward) {
    const auto w = zoo::make(e.name);
    char text[256];
    std::snprintf(text, sizeof text, "| `%s` | %u | %zu | %zu | %zu | %llu | %.3f | %.3f | %.3f | %.1f |",
                  std::string{e.name}.c_str(), static_cast<unsigned>(e.size.batch), w.num_ops(), w.num_edges(),
                  w.num_groups(), static_cast<unsigned long long>(count), forward / 1e9, test::total_work(w) / 1e9,
                  static_cast<double>(test::total_resident_bytes(w)) / 1e6,
                  static_cast<double>(test::total_tensor_bytes(w)) / 1e6);
    return std::string{text};
  };
  for (const auto& e : zoo::entries) {
    const forward_pass forward{e.name};
    const auto expected = row(e, forward.net.num_parameters(), forward.work());
    CAPTURE(expected);
    CHECK(page.find(expected) != page.npos);
  }
}

} // namespace workload_zoo_test
