// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/onetbb.hpp>

int main() {
  weft::execute::tbb_arenas teams;
  weft::execute::seat s{};
  s.team.threads = 2;
  int ran = 0;
  teams(s, [&] { ran = 1; });
  return ran == 1 ? 0 : 1;
}
