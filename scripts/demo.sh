#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Installs what is missing, builds the comparison of all strategies, runs it on bundled networks, prints its table and
# says where its report is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/steps.sh

scripts/setup.sh demo
step configure-demo cmake --preset release
step build-demo cmake --build --preset release --target compare

report=build/demo/report.html
mkdir -p "$(dirname "$report")"
build/release/examples/compare --workload zoo:mnist_conv,zoo:lstm --platform preset:paper_like_10 \
  --partition all --schedule all --repeat 5 --jobs "$(nproc)" --html "$report"
echo
echo "Report with charts: $PWD/$report"
