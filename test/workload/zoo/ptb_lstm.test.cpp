// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/zoo/ptb_lstm.hpp"

#include "workload/summary.hpp"

#include <doctest/doctest.h>

namespace workload_zoo_ptb_lstm_test {

using namespace weft;

std::uint64_t parameters(const zoo::ptb_lstm_options& o) {
  nn::network net;
  (void)zoo::ptb_lstm_loss(net, 1, o);
  return net.num_parameters();
}
double forward_work(std::uint64_t batch, const zoo::ptb_lstm_options& o) {
  nn::network net;
  const nn::tensor loss[] = {zoo::ptb_lstm_loss(net, batch, o)};
  return test::total_work(inference(net, loss));
}

TEST_CASE("ptb_lstm: parameters are those of the source's three sizes") {
  // V·H + layers · (2H·4H + 4H) + H·V + V; the paper says 20 and 66 million for medium and large.
  CHECK(parameters(zoo::ptb_small) == 4'651'600);
  CHECK(parameters(zoo::ptb_medium) == 19'775'200);
  CHECK(parameters(zoo::ptb_large) == 66'022'000);
  CHECK(parameters({.fused_cell = true}) == 4'651'600);
}

TEST_CASE("ptb_lstm: forward FLOP are those computed by hand, whatever the cell is made of") {
  const double N = 5, T = 20, H = 200, V = 10'000;
  const double words = N * T * (2 * (2 * 2 * H * 4 * H + 14 * H) + 2 * H * V + V + 5 * V + 1);
  CHECK(forward_work(5, {}) == words + 1);
  CHECK(forward_work(5, {.fused_cell = true}) == words + 1);
}

TEST_CASE("ptb_lstm: a training step has the ops of the unrolled cells") {
  const auto w = zoo::ptb_lstm(5, {}, {.bookkeeping = false});
  CHECK(test::count_type(w, "MatMul") == 3 * (2 * 20 + 1));
  CHECK(test::count_type(w, "Sigmoid") == 3 * 2 * 20);
  CHECK(test::count_type(w, "TanhGrad") == 2 * 2 * 20);
  CHECK(test::count_type(w, "Gather") == 1);
  CHECK(test::count_type(w, "UnsortedSegmentSum") == 1);
  CHECK(test::count_type(w, "ApplyGradientDescent") == 1 + 2 * 2 + 2);
  CHECK(test::count_type(w, "L2Loss") == 7); // clipping reads all gradients
  const double product = 2 * 200 * 800 * 2, logits = 200 * 10'000;
  CHECK(test::multiply_adds(w) == 3 * 5 * 20 * (product + logits));
}

TEST_CASE("ptb_lstm: with fused cells it has one op per step of a cell, and the same multiply-adds") {
  const auto w = zoo::ptb_lstm(5, {.fused_cell = true}, {.bookkeeping = false});
  CHECK(test::count_type(w, "LSTMBlockCell") == 2 * 20);
  CHECK(test::count_type(w, "LSTMBlockCellGrad") == 2 * 20);
  CHECK(test::count_type(w, "MatMul") == 2 * 2 * 20 + 3);
  CHECK(test::count_type(w, "Sigmoid") == 0);
  const auto basic = zoo::ptb_lstm(5, {}, {.bookkeeping = false});
  const double inside = 2.0 * 20 * 5 * 14 * 200; // what a fused op does besides its product
  CHECK(test::multiply_adds(w) + (test::work_of_types(w, {"LSTMBlockCell"}) - inside) / 2 ==
        test::multiply_adds(basic));
  CHECK(test::total_work(w) == doctest::Approx(test::total_work(basic)).epsilon(0.001));
}

TEST_CASE("ptb_lstm: the larger sizes have dropout on the words and on all cells' outputs") {
  const auto w = zoo::ptb_lstm(2, {.steps = 4, .hidden = 6, .vocabulary = 30, .dropout = true});
  CHECK(test::count_type(w, "RandomUniform") == 1 + 2 * 4);
  CHECK(test::count_type(zoo::ptb_lstm(2, {.steps = 4}), "RandomUniform") == 0);
}

TEST_CASE("ptb_lstm: layers and steps are options; extents of zero are errors") {
  const auto w = zoo::ptb_lstm(2, {.steps = 3, .layers = 4, .hidden = 6, .vocabulary = 30});
  CHECK(test::count_type(w, "Tanh") == 2 * 3 * 4);
  CHECK(test::total_resident_bytes(w) == 4 * (30 * 6 + 4 * (12 * 24 + 24) + 6 * 30 + 30));
  CHECK_THROWS_AS(zoo::ptb_lstm(0), value_error);
  CHECK_THROWS_AS(zoo::ptb_lstm(1, {.steps = 0}), value_error);
  CHECK_THROWS_AS(zoo::ptb_lstm(1, {.vocabulary = 0}), value_error);
}

} // namespace workload_zoo_ptb_lstm_test
