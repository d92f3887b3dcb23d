#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Installs what is missing, then builds and runs the tests. The last line is `N passed, N failed`.
#
#   scripts/test.sh           with g++, optimised: property, golden, docs and tool tests, examples, and the unit tests
#                             that run long; with clang, under the address and undefined-behaviour sanitizers: the
#                             others
#   scripts/test.sh --all     also MPI, benchmarks, packages, strangers' projects, every header by itself, examples and
#                             tools checked by clang, long and property tests under these sanitizers, property tests
#                             of twice as many problems, and what uses threads under the thread sanitizer
#
# WEFT_REFERENCE_DATA in the environment: folder of the published data that some tests compare with (see docs).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/steps.sh

all=false
jobs=$(($(nproc) + 1)) # tests at once: some wait for a browser
options=(-DWEFT_TEST_ALL=OFF -DWEFT_BUILD_BENCHMARKS=OFF)
case "${1:-}" in
  "") ;;
  --all) all=true jobs=$(nproc) options=(-DWEFT_TEST_BENCHMARKS=ON) ;; # ranks of MPI want a core each
  *) echo "usage: scripts/test.sh [--all]" >&2; exit 2 ;;
esac

scripts/setup.sh test
reference=${WEFT_REFERENCE_DATA:+$(realpath "$WEFT_REFERENCE_DATA")}
if [ -z "$reference" ]; then
  echo "WEFT_REFERENCE_DATA is not set: tests against published data will say that they skipped"
fi

passed=0
failed=0
failures=()

# Adds the counts of a preset's ctest log and the names of what failed; a run that ended before it counted is one
# failure.
count() {
  local log="$steps_logs/test-$1.log" summary
  summary=$(grep -oE '[0-9]+ tests failed out of [0-9]+' "$log" | tail -n 1 || true)
  if [ -n "$summary" ]; then
    local bad=${summary%% *} all=${summary##* } name
    passed=$((passed + all - bad))
    failed=$((failed + bad))
    while read -r name; do
      failures+=("$1: $name")
    done < <(sed -n '/^The following tests FAILED:/,$s/^[[:space:]]*[0-9]* - //p' "$log")
  else
    failed=$((failed + 1))
    failures+=("$1: its tests did not end")
  fi
}

# The build leaves out what lacks a library; here everything is installed, so leaving out would hide a defect.
nothing_left_out() {
  ! grep -E '(is|are) left out' "$steps_logs/configure-$1.log"
}

# check PRESET [LAUNCHER...]: configures, builds and tests a preset. As many compilers at once as there are cores: the
# sources that are compiled as one take gigabytes.
check() {
  local preset=$1
  shift
  if step "configure-$preset" cmake --preset "$preset" "-DWEFT_REFERENCE_DATA=$reference" "${options[@]}" &&
    nothing_left_out "$preset" &&
    step "build-$preset" cmake --build --preset "$preset" --parallel "$(nproc)"; then
    step "test-$preset" "$@" ctest --preset "$preset" --parallel "$jobs" || true
    count "$preset"
  else
    failed=$((failed + 1))
    failures+=("$preset: did not build")
  fi
}

check release
check asan
if $all; then
  check clang
  # The thread sanitizer of clang 16 does not get along with much address-space randomisation.
  if setarch "$(uname -m)" -R true 2>/dev/null; then
    check tsan setarch "$(uname -m)" -R
  else
    check tsan
  fi
fi

printf '[%s] logs are in %s\n' "$(steps_clock)" "$steps_logs"
if [ "$failed" != 0 ]; then
  printf 'failed: %s\n' "${failures[@]}"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
