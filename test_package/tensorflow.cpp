// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/tensorflow/reader.hpp>

int main() { return weft::tensorflow::reader{.batch = 2}.batch == 2 ? 0 : 1; }
