// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/zoo/bert.hpp"
#include "weft/workload/zoo/gpt2.hpp"
#include "weft/workload/zoo/llama.hpp"
#include "weft/workload/zoo/switch_transformer.hpp"
#include "weft/workload/zoo/vit.hpp"

#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace workload_zoo_transformers_test {

using namespace weft;

template <class Loss>
std::uint64_t parameters(Loss loss) {
  nn::network net;
  (void)loss(net);
  return net.num_parameters();
}
std::uint64_t parameters(const zoo::bert_options& o) {
  return parameters([&](nn::network& net) { return zoo::bert_loss(net, 1, o); });
}
std::uint64_t parameters(const zoo::gpt2_options& o) {
  return parameters([&](nn::network& net) { return zoo::gpt2_loss(net, 1, o); });
}
std::uint64_t parameters(const zoo::llama_options& o) {
  return parameters([&](nn::network& net) { return zoo::llama_loss(net, 1, o); });
}
std::uint64_t parameters(const zoo::vit_options& o) {
  return parameters([&](nn::network& net) { return zoo::vit_loss(net, 1, o); });
}
std::uint64_t parameters(const zoo::switch_options& o) {
  return parameters([&](nn::network& net) { return zoo::switch_loss(net, 1, o); });
}
double products(const workload& w) {
  return test::work_of_types(w, {"MatMul", "BatchMatMulV2"});
}
std::size_t in_scope(const workload& w, const std::string& scope) {
  std::size_t count = 0;
  for (const op_id v : ids(w.num_ops())) {
    count += w.name(v).starts_with(scope);
  }
  return count;
}

TEST_CASE("bert: parameters are those of the published models, with both heads") {
  // V·H + 512·H + 2·H + 2H; per layer 4 (H² + H) + 2·4H² + 5H + 4H; pooler H² + H; heads H² + H + 2H + V and 2H + 2
  const auto by_hand = [](std::uint64_t layers, std::uint64_t h) {
    const std::uint64_t v = 30'522;
    return v * h + 512 * h + 2 * h + 2 * h + layers * (12 * h * h + 13 * h) + 2 * (h * h + h) + 2 * h + v + 2 * h + 2;
  };
  CHECK(parameters(zoo::bert_base_sizes) == by_hand(12, 768));
  CHECK(parameters(zoo::bert_large_sizes) == by_hand(24, 1024));
  CHECK(parameters(zoo::bert_base_sizes) == 110'106'428);  // "110M"
  CHECK(parameters(zoo::bert_large_sizes) == 336'226'108); // "340M"
}

TEST_CASE("bert: FLOP of the products are those computed by hand, and three times that in a training step") {
  const double N = 2, S = 20, H = 32, L = 3, V = 100, P = 3; // 15 % of 20
  const zoo::bert_options o{.layers = 3, .hidden = 32, .heads = 4, .length = 20, .vocabulary = 100};
  nn::network net{{.training = false}};
  (void)zoo::bert_loss(net, 2, o);
  const double layer = 2 * 12 * H * H * N * S + 2 * 2 * N * S * S * H;
  const double heads = 2 * N * P * (H * H + H * V) + 2 * N * (H * H + 2 * H);
  CHECK(products(inference(net)) == L * layer + heads);
  const auto w = zoo::bert(2, o, {.bookkeeping = false});
  CHECK(products(w) == 3 * (L * layer + heads));
  CHECK(test::count_type(w, "RandomUniform") == 1 + 3 * L);
  CHECK(test::count_type(zoo::bert(2, {.layers = 3, .hidden = 32, .heads = 4, .dropout = false}), "RandomUniform") ==
        0);
}

TEST_CASE("bert: layers are recognised by their scopes, and their gradients too") {
  const auto w = zoo::bert(2, {.layers = 3, .hidden = 32, .heads = 4, .length = 8, .vocabulary = 100},
                           {.bookkeeping = false});
  for (const char* scope :
       {"embeddings/", "layer_0/attention/query/", "layer_2/ffn/hidden/", "layer_1/attention/output/norm/", "mlm/",
        "pooler/", "nsp/", "gradients/layer_2/ffn/", "gradients/layer_0/attention/key/"}) {
    CAPTURE(scope);
    CHECK(in_scope(w, scope) > 0);
  }
  CHECK(in_scope(w, "layer_0/") == in_scope(w, "layer_1/"));
  CHECK(in_scope(w, "gradients/layer_1/") == in_scope(w, "gradients/layer_2/"));
  CHECK(in_scope(w, "layer_3/") == 0);
  CHECK(test::find_op(w, "Adam/update_layer_2/ffn/hidden/weights/ApplyAdam") != none);
  // The word embeddings are used twice: their gradients are added up.
  const op_id update = test::find_op(w, "Adam/update_embeddings/word/ApplyAdam");
  REQUIRE(update != none);
  CHECK(std::ranges::any_of(w.inputs(update), [&](tensor_id t) { return w.type(w.producer(t)) == "AddN"; }));
}

TEST_CASE("bert: a training step of the large version has some thousand ops") {
  const auto w = zoo::bert(4, zoo::bert_large_sizes, {.bookkeeping = false});
  CHECK(w.num_ops() > 3000);
  CHECK(w.num_ops() < 6000);
  CHECK(test::total_resident_bytes(w) == 3 * 4 * 336'226'108ull + 8);
}

TEST_CASE("bert: sizes that do not fit are errors") {
  CHECK_THROWS_AS(zoo::bert(1, {.hidden = 100, .heads = 3}), value_error);
  CHECK_THROWS_AS(zoo::bert(1, {.heads = 0}), value_error);
  CHECK_THROWS_WITH_AS(zoo::bert(1, {.length = 513}), doctest::Contains("at most 512"), value_error);
  CHECK_THROWS_AS(zoo::bert(0), value_error);
  CHECK_THROWS_AS(zoo::bert(1, {.length = 0}), value_error);
}

TEST_CASE("gpt2: parameters are those of the published models") {
  CHECK(parameters(zoo::gpt2_small_sizes) == 124'439'808);
  CHECK(parameters(zoo::gpt2_medium_sizes) == 354'823'168);
  CHECK(parameters(zoo::gpt2_large_sizes) == 774'030'080);
  CHECK(parameters(zoo::gpt2_xl_sizes) == 1'557'611'200);
  CHECK(parameters(zoo::gpt3_13b_sizes) == 12'853'386'240); // "12,850M", table D.1 of the source
  CHECK(parameters(zoo::gpt3_175b_sizes) == 174'604'259'328); // "174,600M"
}

TEST_CASE("gpt2: FLOP of the products are those computed by hand, and three times that in a training step") {
  const double N = 2, S = 16, H = 32, L = 2, V = 50;
  const zoo::gpt2_options o{.layers = 2, .hidden = 32, .heads = 4, .length = 16, .vocabulary = 50};
  nn::network net{{.training = false}};
  (void)zoo::gpt2_loss(net, 2, o);
  const double forward = L * (2 * 12 * H * H * N * S + 2 * 2 * N * S * S * H) + 2 * N * S * H * V;
  CHECK(products(inference(net)) == forward);
  const auto w = zoo::gpt2(2, o, {.bookkeeping = false});
  CHECK(products(w) == 3 * forward);
  CHECK(in_scope(w, "layer_1/attention/") == in_scope(w, "layer_0/attention/"));
  CHECK(test::count_type(w, "RandomUniform") == 1 + 3 * L);
  CHECK_THROWS_AS(zoo::gpt2(1, {.length = 1025}), value_error);
  CHECK_THROWS_AS(zoo::gpt2(1, {.heads = 7}), value_error);
}

TEST_CASE("llama: parameters are those of the published models") {
  CHECK(parameters(zoo::llama2_7b_sizes) == 6'738'415'616);
  CHECK(parameters(zoo::llama2_13b_sizes) == 13'015'864'320);
  CHECK(parameters(zoo::llama2_70b_sizes) == 68'976'648'192);
  CHECK(parameters(zoo::llama3_8b_sizes) == 8'030'261'248);
  CHECK(parameters(zoo::llama3_70b_sizes) == 70'553'706'496);
  CHECK(parameters(zoo::llama3_405b_sizes) == 405'853'388'800);
  CHECK(parameters(zoo::mistral_7b_sizes) == 7'241'732'096);
  CHECK(parameters(zoo::qwen2_7b_sizes) == 7'615'616'512);
  CHECK(parameters(zoo::mixtral_8x7b_sizes) == 46'702'792'704);
}

TEST_CASE("llama: FLOP of the products are those computed by hand, and three times that in a training step") {
  const double N = 2, S = 16, H = 32, F = 48, L = 2, V = 50;
  const zoo::llama_options o{.layers = 2, .hidden = 32, .heads = 8, .kv_heads = 2, .ffn = 48, .vocabulary = 50,
                             .length = 16};
  const double layer = 2 * N * S * (2 * H * H + 2 * H * H / 4 + 3 * H * F) + 2 * 2 * N * S * S * H;
  const double forward = L * layer + 2 * N * S * H * V;
  nn::network net{{.training = false}};
  (void)zoo::llama_loss(net, 2, o);
  const auto inferred = inference(net);
  CHECK(products(inferred) == forward);
  CHECK(test::count_type(inferred, "AddRMSNorm") == 2 * L);
  const auto w = zoo::llama(2, o, {.bookkeeping = false});
  CHECK(products(w) == 3 * forward);
  CHECK(in_scope(w, "layer_1/attention/") == in_scope(w, "layer_0/attention/"));
  CHECK_THROWS_AS(zoo::llama(1, {.heads = 7}), value_error);
  CHECK_THROWS_AS(zoo::llama(1, {.kv_heads = 7}), value_error);
}

TEST_CASE("llama: a step that decodes reads all weights and the cache once, in eight ops per layer") {
  constexpr std::uint64_t batch = 2, length = 1000;
  auto o = zoo::llama2_70b_sizes;
  o.length = length;
  nn::network net{{.training = false}};
  zoo::llama_decode(net, batch, o);
  const auto w = inference(net);
  CHECK(net.num_parameters() == 68'976'648'192);
  const byte_count cache = 80ull * 2 * batch * length * 8 * 128 * 4;
  CHECK(test::total_resident_bytes(w) == 4 * 68'976'648'192 + cache);
  const double embeddings = 32'000.0 * 8192; // a lookup
  const double attended = 80.0 * batch * length * 8192 * 4;
  CHECK(test::total_work(w) ==
        doctest::Approx(2.0 * batch * (68'976'648'192 - embeddings) + attended).epsilon(0.002));
  CHECK(test::total_work(w) == doctest::Approx(2.0 * batch * 68'976'648'192 + attended).epsilon(0.01));
  double read = 0; // what passes through memory
  std::size_t launched = 0;
  for (const op_id v : ids(w.num_ops())) {
    const bool computes = w.work(v) > 0;
    launched += computes && w.name(v).starts_with("layer_79/");
    read += computes ? static_cast<double>(w.resident_bytes(v)) : 0;
    for (const tensor_id t : w.inputs(v)) {
      read += computes ? static_cast<double>(w.bytes(t)) : 0;
    }
  }
  CHECK(launched == 8);
  CHECK(read == doctest::Approx(4 * (68'976'648'192 - embeddings) + static_cast<double>(cache)).epsilon(0.002));
  CHECK(w.num_ops() < 2200);
}

TEST_CASE("gpt2: a step that decodes has the parameters of the model, and attends to a cache in each layer") {
  nn::network net{{.training = false}};
  zoo::gpt2_decode(net, 3);
  CHECK(net.num_parameters() == 124'439'808);
  const auto w = inference(net);
  CHECK(test::count_type(w, "CachedAttention") == 12);
  CHECK(test::total_resident_bytes(w) == 4 * (124'439'808ull + 12 * 2 * 3 * 1024 * 768));
}

TEST_CASE("llama with experts: FLOP of the products are those computed by hand, three times that in a training step") {
  const double N = 2, S = 16, H = 32, F = 48, L = 2, V = 50, E = 4;
  const zoo::llama_options o{.layers = 2, .hidden = 32, .heads = 8, .kv_heads = 2, .ffn = 48, .vocabulary = 50,
                             .length = 16, .experts = 4};
  const double layer = 2 * N * S * (2 * H * H + 2 * H * H / 4 + H * E + 2 * 3 * H * F) + 2 * 2 * N * S * S * H;
  const double forward = L * layer + 2 * N * S * H * V;
  nn::network net{{.training = false}};
  (void)zoo::llama_loss(net, 2, o);
  CHECK(products(inference(net)) == forward);
  const auto w = zoo::llama(2, o, {.bookkeeping = false});
  CHECK(products(w) == 3 * forward);
  CHECK(in_scope(w, "layer_1/moe/expert_3/") == in_scope(w, "layer_0/moe/expert_0/"));
  CHECK(in_scope(w, "layer_0/ffn/") == 0);
  CHECK(test::find_op(w, "gradients/layer_1/moe/router/mul_1_grad/mul") != none); // the balance
  CHECK_THROWS_AS(zoo::llama(1, {.experts = 4, .experts_per_token = 5}), value_error);
}

TEST_CASE("llama with experts: a token reads the weights of two of them, many tokens read all") {
  auto o = zoo::mixtral_8x7b_sizes;
  o.length = 1000;
  const double experts = 32.0 * 3 * 4096 * 14'336; // parameters of one in each layer
  const double others = 46'702'792'704 - 8 * experts - 32'000.0 * 4096; // and no lookup
  CHECK(others + 2 * experts + 32'000.0 * 4096 == doctest::Approx(12.9e9).epsilon(0.005)); // "13B active parameters"
  for (const std::uint64_t batch : {1u, 4u, 64u}) {
    CAPTURE(batch);
    nn::network net{{.training = false}};
    zoo::llama_decode(net, batch, o);
    const auto w = inference(net);
    const byte_count cache = 32 * 2 * batch * 1000 * 8 * 128 * 4;
    CHECK(test::total_resident_bytes(w) == 4 * 46'702'792'704 + cache);
    double read = 0;
    for (const op_id v : ids(w.num_ops())) {
      for (const tensor_id t : w.inputs(v)) {
        const auto from = w.producer(t);
        read += w.work(v) > 0 && w.type(from) == "Identity" ? static_cast<double>(w.bytes(t)) : 0;
      }
    }
    const double running = batch == 1 ? 2 : batch == 4 ? 5 : 8;
    CHECK(read == 4 * (others + running * experts));
    const auto tokens = static_cast<double>(batch);
    const double attended = 32 * tokens * 1000 * 4096 * 4;
    CHECK(test::total_work(w) == doctest::Approx(2 * tokens * (others + 2 * experts) + attended).epsilon(0.002));
  }
}

TEST_CASE("vit: parameters are those of torchvision's models") {
  CHECK(parameters(zoo::vit_b_16_sizes) == 86'567'656);
  CHECK(parameters(zoo::vit_l_16_sizes) == 304'326'632);
  CHECK(parameters(zoo::vit_options{.patch_size = 32}) == 88'224'232);                     // vit_b_32
  CHECK(parameters({.layers = 24, .hidden = 1024, .heads = 16, .patch_size = 32}) == 306'535'400); // vit_l_32
  CHECK(parameters({.layers = 32, .hidden = 1280, .heads = 16, .patch_size = 14}) == 632'045'800); // vit_h_14
}

TEST_CASE("vit: products are as many as torchvision says") {
  for (const auto& [o, billions] : {std::pair{zoo::vit_b_16_sizes, 17.564}, std::pair{zoo::vit_l_16_sizes, 61.555}}) {
    nn::network net{{.training = false}};
    (void)zoo::vit_loss(net, 1, o);
    const double work = test::work_of_types(inference(net), {"Conv2D", "MatMul", "BatchMatMulV2"});
    CHECK(work == doctest::Approx(2e9 * billions).epsilon(1e-4));
  }
}

TEST_CASE("vit: FLOP of the products are those computed by hand, and three times that in a training step") {
  const double N = 2, S = 17, H = 32, L = 2, C = 10; // 16 patches of 64 pixels in three colours, and a class
  const zoo::vit_options o{.layers = 2, .hidden = 32, .heads = 4, .image_size = 32, .patch_size = 8, .classes = 10};
  nn::network net{{.training = false}};
  (void)zoo::vit_loss(net, 2, o);
  const double forward = L * (2 * 12 * H * H * N * S + 2 * 2 * N * S * S * H) + 2 * N * H * C;
  CHECK(products(inference(net)) == forward);
  CHECK(test::work_of_types(inference(net), {"Conv2D"}) == 2 * N * 16 * 64 * 3 * H);
  const auto w = zoo::vit(2, o, {.bookkeeping = false});
  CHECK(products(w) == 3 * forward);
  CHECK(in_scope(w, "layer_1/attention/") == in_scope(w, "layer_0/attention/"));
  CHECK(test::count_type(w, "RandomUniform") == 0);
  CHECK(test::count_type(zoo::vit(2, {.layers = 2, .dropout = true}), "RandomUniform") == 1 + 4 * L);
  CHECK_THROWS_AS(zoo::vit(1, {.image_size = 225}), value_error);
  CHECK_THROWS_AS(zoo::vit(1, {.patch_size = 0}), value_error);
  CHECK_THROWS_AS(zoo::vit(1, {.heads = 7}), value_error);
}

TEST_CASE("switch transformer: parameters are those of the published models") {
  CHECK(parameters(zoo::switch_options{}) == 619'339'008);
  // 7.4 billion with 128 experts, table 9 of the source
  CHECK(static_cast<double>(parameters(zoo::switch_options{.experts = 128})) == doctest::Approx(7.4e9).epsilon(0.005));
  // without experts' multiplicity it is T5's base version, but for the routers
  CHECK(parameters(zoo::switch_options{.experts = 1}) == 222'903'552 + 12 * 768);
}

TEST_CASE("switch transformer: every other layer has experts, each with its share of the tokens") {
  const zoo::switch_options o{.layers = 4, .hidden = 32, .heads = 4, .head_size = 8, .ffn = 64, .experts = 4,
                              .length = 32, .vocabulary = 50};
  const auto w = zoo::switch_transformer(2, o, {.bookkeeping = false});
  CHECK(in_scope(w, "encoder/layer_0/ffn/") > 0);
  CHECK(in_scope(w, "encoder/layer_0/moe/") == 0);
  CHECK(in_scope(w, "decoder/layer_3/moe/expert_3/") == in_scope(w, "decoder/layer_1/moe/expert_0/"));
  CHECK(in_scope(w, "decoder/layer_1/cross_attention/") > 0);
  CHECK(in_scope(w, "encoder/layer_1/cross_attention/") == 0);
  CHECK(test::count_type(w, "TopKV2") == 4);
  const op_id expert = test::find_op(w, "encoder/layer_1/moe/expert_2/hidden/MatMul");
  REQUIRE(expert != none);
  CHECK(w.work(expert) == 2.0 * std::ceil(1.25 * 64 / 4) * 32 * 64);
  const op_id late = test::find_op(w, "decoder/layer_1/moe/expert_2/hidden/MatMul");
  CHECK(w.work(late) == 2.0 * std::ceil(1.25 * 16 / 4) * 32 * 64); // 8 targets per 32 tokens
  std::set<group_id> groups; // experts can be placed apart
  for (int e = 0; e < 4; ++e) {
    groups.insert(w.group(test::find_op(w, "encoder/layer_1/moe/expert_" + std::to_string(e) + "/hidden/weights")));
  }
  CHECK(groups.size() == 4);
  CHECK(groups.count(none) == 0);
  // The balance of each router is a part of the loss.
  CHECK(test::find_op(w, "gradients/encoder/layer_1/moe/router/mul_1_grad/mul") != none);
}

} // namespace workload_zoo_transformers_test
