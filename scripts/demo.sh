#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Installs what is missing, builds the comparison of all strategies and the placement tool, runs both on bundled
# networks, prints what they find and says where their reports are.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/steps.sh

echo "On two cores and a bare Debian 12 this takes about 3 minutes, most of them compiling."
scripts/setup.sh demo
step configure-demo cmake --preset release
step build-demo cmake --build --preset release --target compare place

report=build/demo/report.html
mkdir -p "$(dirname "$report")"
build/release/examples/compare --workload zoo:mnist_conv,zoo:lstm --platform preset:paper_like_10 \
  --partition all --schedule all --repeat 5 --jobs "$(nproc)" --html "$report"
echo
placed=build/demo/placed.html
build/release/examples/place zoo:inception_v3@16 --platform dgx_a100 --html "$placed"
echo
echo "Reports with charts: $PWD/$report and $PWD/$placed"
