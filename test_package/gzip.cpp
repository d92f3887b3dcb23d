// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/gzip.hpp>

#include <string>

int main() {
  const char* const name = "weft_test_package.gz";
  const gzFile file = gzopen(name, "wb");
  gzputs(file, "four ops");
  gzclose(file);
  weft::interop::gzip_stream in{name};
  std::string first;
  in >> first;
  return first == "four" ? 0 : 1;
}
