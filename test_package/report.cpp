// SPDX-License-Identifier: BSL-1.0
#include <weft/report/csv.hpp>

#include <sstream>

int main() {
  std::ostringstream out;
  weft::report::write_csv(out, weft::report::comparison{});
  return out.str().starts_with("workload,") ? 0 : 1;
}
