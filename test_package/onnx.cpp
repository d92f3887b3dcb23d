// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/onnx/proto.hpp>

#include <string>

int main() { return onnx::ModelProto{}.SerializeAsString().empty() ? 0 : 1; }
