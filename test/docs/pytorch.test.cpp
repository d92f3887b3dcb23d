// SPDX-License-Identifier: BSL-1.0
// The code of docs/pytorch.md, each piece between two lines with its name.
#include "weft/interop/pytorch.hpp"
#include "interop/pytorch_programs.hpp"

#include <doctest/doctest.h>

#include <string>

namespace docs_pytorch_test {

// [read]
/// Bytes of the parameters and buffers of a program for so many examples of so many tokens.
double resident_bytes(const std::string& archive, std::uint64_t examples, std::uint64_t tokens) {
  const weft::pytorch::reader reader{.batch = examples, .dimensions = {{"s1", tokens}}};
  const weft::model m = reader.read(archive, "net.pt2");
  double sum = 0;
  for (const weft::op_id v : weft::ids(m.ops.num_ops())) {
    sum += static_cast<double>(m.ops.resident_bytes(v));
  }
  return sum;
}
// [read]

TEST_CASE("docs: an exported PyTorch program is read") {
  weft_test::exported_program p;
  p.parameter("p_w", {"64", "64"}).input("x", {"s0", "s1", "64"});
  p.node("torch.ops.aten.linear.default", {{"input", "x"}, {"weight", "p_w"}}, "linear", {"s0", "s1", "64"});
  CHECK(resident_bytes(p.text(), 8, 128) == 64 * 64 * 4);
}

} // namespace docs_pytorch_test
