// SPDX-License-Identifier: BSL-1.0
// Layers of models and graphs that others have written.
#include <doctest/doctest.h>

#ifdef WEFT_REFERENCE_DATA
#include "weft/interop/onnx.hpp"
#include "weft/interop/tensorflow.hpp"
#include "weft/io/files.hpp"
#include "weft/partition/layers.hpp"
#include "weft/platform/presets.hpp"
#include "weft/problem.hpp"

#include <filesystem>
#include <string>
#include <vector>
#endif

namespace interop_onnx_layers_test {

#ifdef WEFT_REFERENCE_DATA
using namespace weft;

std::string bytes_of(const std::string& file) {
  auto in = io::open_for_reading(std::filesystem::path{WEFT_REFERENCE_DATA} / "data" / file);
  return io::read_all(in, file);
}

/// What is to be found in a file, and whether by names.
struct expected {
  const char* file;
  bool named;
  std::uint32_t layers;
};

void check(const workload& w, const expected& e, bool training) {
  const auto q = presets::make("dgx_a100");
  const problem p{w, q};
  const auto l = partition::find_layers(p);
  CHECK(l.named == e.named);
  CHECK(l.num_layers == e.layers);
  for (const tensor_id t : ids(w.num_tensors())) {
    for (const op_id v : w.consumers(t)) {
      if (!training) {
        CHECK(l.part[p.component(w.producer(t))] <= l.part[p.component(v)]);
      }
    }
  }
}

TEST_CASE("golden: layers of ONNX models and TensorFlow graphs") {
  if (std::string{WEFT_REFERENCE_DATA}.empty()) {
    MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
    return;
  }
  for (const auto& e : {expected{"onnx/light_densenet121.onnx", true, 58}, {"onnx/light_squeezenet.onnx", true, 8},
                        {"onnx/light_resnet50.onnx", false, 18}, {"onnx/light_vgg19.onnx", false, 18},
                        {"onnx/light_bvlc_alexnet.onnx", false, 9}}) {
    CAPTURE(e.file);
    check(weft::onnx::reader{}.read(bytes_of(e.file), e.file).ops, e, false);
  }
  // Two convolutions and two dense layers, without scopes.
  for (const auto& e : {expected{"tensorflow/convolutional_network.pbtxt", false, 4},
                        {"tensorflow/mnist_convolution.pbtxt", false, 4}}) {
    CAPTURE(e.file);
    check(tensorflow::reader{.batch = 50}.read(bytes_of(e.file), e.file).ops, e, true);
  }
}
#else
TEST_CASE("golden: layers of ONNX models and TensorFlow graphs (skipped)") {
  MESSAGE("skipped: WEFT_REFERENCE_DATA is not set");
}
#endif

} // namespace interop_onnx_layers_test
