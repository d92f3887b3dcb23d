#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Fuzzes the readers of files: builds a fuzzer per reader with clang and runs one after the other.
#
#   scripts/fuzz.sh [SECONDS] [READER...]     60 seconds for each reader of test/fuzz unless stated
#
# One line of verdict per reader; fails if a fuzzer found something. CXX in the environment: the compiler to use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
[[ $seconds =~ ^[0-9]+$ ]] || { echo "usage: scripts/fuzz.sh [SECONDS] [READER...]" >&2; exit 2; }
shift || true
build=build/fuzz
mkdir -p "$build/found" "$build/failed" "$build/logs"

cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="${CXX:-clang++-16}" -DCMAKE_BUILD_TYPE=None \
  -DWEFT_BUILD_FUZZERS=ON > "$build/logs/configure.log" || { cat "$build/logs/configure.log" >&2; exit 1; }
targets=("${@/#/fuzz_}")
[ $# -gt 0 ] || targets=(weft_fuzzers)
cmake --build "$build" --target "${targets[@]}" > "$build/logs/build.log" ||
  { tail -n 40 "$build/logs/build.log" >&2; exit 1; }
if [ $# -gt 0 ]; then
  readers=("$@")
else
  mapfile -t readers < <(find "$build/test" -maxdepth 1 -name 'fuzz_*' -type f -executable -printf '%f\n' |
    sed 's/^fuzz_//' | sort)
fi

bad=0
for reader in "${readers[@]}"; do
  found=$build/found/$reader
  mkdir -p "$found" "$build/failed/$reader"
  log=$build/logs/$reader.log
  corpus=()
  [ ! -d "test/fuzz/corpus/$reader" ] || corpus=("test/fuzz/corpus/$reader")
  verdict=ok
  nice -n 19 "$build/test/fuzz_$reader" "$found" "${corpus[@]}" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -rss_limit_mb=2048 -malloc_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$build/failed/$reader/" \
    > "$log" 2>&1 || verdict=FAILED
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
  memory=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log" | tail -n 1)
  printf '%-18s %-6s %10s inputs, %4s inputs kept, %5s MB' "$reader" "$verdict" "${runs:-?}" \
    "$(find "$found" -type f | wc -l)" "${memory:-?}"
  if [ "$verdict" = ok ]; then
    echo
  else
    bad=$((bad + 1))
    echo ": $(grep -m 1 -E '^SUMMARY|ERROR: ' "$log" || echo "see $log"); input in $build/failed/$reader"
  fi
done
echo "$((${#readers[@]} - bad)) readers stood, $bad fell"
[ "$bad" = 0 ]
