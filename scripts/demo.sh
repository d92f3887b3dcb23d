#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Installs what is missing, builds the comparison, runs it on bundled networks and platforms, and says where the report is.
# Arguments are handed to compare instead of the default selection, e.g. scripts/demo.sh --workload zoo:lstm --platform preset:dgx_a100
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/steps.sh

scripts/setup.sh demo
report=build/demo/report.html
mkdir -p build/demo
step configure-release cmake --preset release
step build-compare cmake --build --preset release --target compare

if [ $# = 0 ]; then
  set -- --workload zoo:mnist_conv,zoo:lstm --platform preset:paper_like_10,preset:p3_8xlarge
fi
build/release/examples/compare --partition all --schedule all --repeat 5 --html "$report" "$@"
echo
echo "Report with charts: $PWD/$report"
