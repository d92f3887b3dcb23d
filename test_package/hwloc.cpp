// SPDX-License-Identifier: BSL-1.0
#include <weft/interop/hwloc.hpp>

int main() { return weft::local_topology{}.describe().sockets >= 1 ? 0 : 1; }
