// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/openmp.hpp>

int main() {
  weft::execute::openmp_teams teams;
  weft::execute::seat s{};
  s.team.threads = 2;
  int ran = 0;
  teams(s, [&] { ran = 1; });
  return ran == 1 ? 0 : 1;
}
