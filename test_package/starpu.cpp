// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/starpu.hpp>

int main() {
  const weft::starpu::session starpu{{.cpus = 1}};
  return starpu.cpu_workers().size() == 1 ? 0 : 1;
}
