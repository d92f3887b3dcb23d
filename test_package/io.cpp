// SPDX-License-Identifier: BSL-1.0
#include <weft/io/json_platform.hpp>

#include <sstream>
#include <string>
#include <vector>

int main() {
  const weft::platform<> p{std::vector<weft::device>(2), weft::link_matrix{2}};
  std::ostringstream out;
  weft::io::write_platform_json(out, p);
  return out.str().find("devices") != std::string::npos ? 0 : 1;
}
