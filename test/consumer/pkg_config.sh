# SPDX-License-Identifier: BSL-1.0
# Builds main.cpp with pkg-config alone, as docs/install.md says: PREFIX=… sh -e pkg_config.sh
# [pkg_config]
export PKG_CONFIG_PATH="$PREFIX/lib/pkgconfig:$PREFIX/lib64/pkgconfig:$PREFIX/share/pkgconfig"
g++ -std=c++20 -O2 main.cpp -o main $(pkg-config --cflags --libs weft)
# [pkg_config]
