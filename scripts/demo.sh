#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Installs what is missing, builds the first example, the comparison of all strategies and the placement tool, runs
# them, the tools on bundled networks, prints what they find and says where their reports are.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/steps.sh

echo "On two cores and a bare Debian 12 this takes about 3 minutes, two of them compiling."
scripts/setup.sh demo
step configure-demo cmake --preset release

programs=build/release/examples
step build-quick_start cmake --build --preset release --target quick_start --parallel "$(nproc)"
echo
"$programs/quick_start" | sed 's/^/    /'
echo "    (examples/quick_start.cpp: four ops on a CPU and two GPUs)"
echo

step build-demo cmake --build --preset release --target compare place --parallel "$(nproc)"
report=build/demo/report.html
mkdir -p "$(dirname "$report")"
"$programs/compare" --workload zoo:mnist_conv,zoo:lstm --platform preset:paper_like_10 \
  --partition all --schedule all --repeat 5 --jobs "$(nproc)" --html "$report"
echo
placed=build/demo/placed.html
"$programs/place" zoo:inception_v3@16 --platform dgx_a100 --html "$placed"
echo
echo "Reports with charts: $PWD/$report and $PWD/$placed"
