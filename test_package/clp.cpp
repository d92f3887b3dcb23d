// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/clp.hpp>

int main() {
  weft::partition::sct::program lp;
  lp.compute = {1, 1};
  lp.arcs.push_back({.from = 0, .to = 1, .transfer = 5});
  return weft::interop::clp{}(lp).front() < 1e-6 ? 1 : 0; // the only successor is the favourite one
}
