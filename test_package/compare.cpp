// SPDX-License-Identifier: BSL-1.0
#include <weft/tool/compare.hpp>

int main() {
  char name[] = "use_compare", question[] = "--help";
  char* arguments[] = {name, question, nullptr};
  return weft::tool::compare(2, arguments, [](auto& all) {
    all.add_partitioner("all_on_one", [](const auto& p) { return weft::placement(p.num_ops(), 0); });
  });
}
