#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Makes sure that everything needed is installed: scripts/setup.sh demo|cluster|test|docs
# On Debian 12 it installs what is missing; elsewhere it says what is missing and exits with 1.
set -euo pipefail

purpose=${1:-test}
case $purpose in
  demo | cluster | test | docs) ;;
  *) echo "usage: scripts/setup.sh demo|cluster|test|docs" >&2; exit 2 ;;
esac
min_gcc=12
min_cmake=3.25

# What is needed, for what, how to see that it is there, and Debian's package:
# a tool, a header, the Python module, a folder, the runtime of clang's sanitizers, or a theme of mkdocs. A cluster
# needs what the demo needs, and an MPI. Tests need everything; without what is there for `more` they leave some out,
# and say so.
needs() {
  cat <<'LIST'
demo tool   g++                               g++
demo tool   cmake                             cmake
demo tool   ninja                             ninja-build
demo header range/v3/version.hpp              librange-v3-dev
demo header nlohmann/json.hpp                 nlohmann-json3-dev
demo header fmt/format.h                      libfmt-dev
demo header CLI/CLI.hpp                       libcli11-dev
demo header oneapi/dnnl/dnnl.hpp              libdnnl-dev
demo header oneapi/tbb/task_arena.h           libtbb-dev
demo header hwloc.h                           libhwloc-dev
demo header onnx/onnx_pb.h                    libonnx-dev
demo header google/protobuf/message.h         libprotobuf-dev
demo header zip.h                             libzip-dev
demo header zlib.h                            zlib1g-dev
cluster mpi  mpicxx                           libopenmpi-dev
cluster tool mpirun                           openmpi-bin
test tool   clang++-16                        clang-16
test tool   python3                           python3
test tool   valgrind                          valgrind
test tool   chromium                          chromium
test tool   ccache                            ccache
test header doctest/doctest.h                 doctest-dev
test header rapidcheck.h                      librapidcheck-dev
test header benchmark/benchmark.h             libbenchmark-dev
test header boost/graph/adjacency_list.hpp    libboost-dev
test header coin/Clp_C_Interface.h            coinor-libclp-dev
test mpi    mpicxx.openmpi                    libopenmpi-dev
test tool   mpirun.openmpi                    openmpi-bin
test mpi    mpicxx.mpich                      libmpich-dev
test tool   mpirun.mpich                      mpich
more header simgrid/s4u.hpp                   libsimgrid-dev
more data   /usr/share/libonnx-testdata/data  libonnx-testdata
more header torch/csrc/api/include/torch/version.h libtorch-dev
more python torch                             python3-torch
test header starpu/1.3/starpu_config.h        libstarpu-dev
test python jsonschema                        python3-jsonschema
test clang  runtime                           libclang-rt-16-dev
docs tool   python3                           python3
docs tool   mkdocs                            mkdocs
docs theme  material                          mkdocs-material
LIST
}

headers_present() { # prints those of its arguments that the compiler finds
  command -v g++ >/dev/null || return 0
  for header in "$@"; do
    printf '#if __has_include(<%s>)\nHAVE %s\n#endif\n' "$header" "$header"
  done | g++ -x c++ -std=c++20 -E -P - 2>/dev/null | sed -n 's/ //g; s/^HAVE//p'
}

is_present() { # KIND NAME
  case $1 in
    tool) command -v "$2" >/dev/null ;;
    header) grep -qxF "$2" <<<"$found_headers" ;;
    mpi) # a compiler with headers
      command -v "$2" >/dev/null && "$2" -E -include mpi.h -x c++ /dev/null >/dev/null 2>&1 ;;
    data) [ -d "$2" ] ;;
    python) command -v python3 >/dev/null && python3 -c "import $2" 2>/dev/null ;;
    theme) command -v mkdocs >/dev/null && mkdocs build --help | grep "$2" >/dev/null ;;
    clang)
      command -v clang++-16 >/dev/null &&
        compgen -G "$(clang++-16 -print-resource-dir)/lib/*/libclang_rt.tsan*" >/dev/null ;;
  esac
}

missing() { # [more]: prints "KIND NAME PACKAGE" for everything that is not there
  local kind name package for_what found_headers
  mapfile -t all < <(needs | awk '$2 == "header" {print $3}')
  found_headers=$(headers_present "${all[@]}")
  while read -r for_what kind name package; do
    if [ "$for_what" = more ]; then
      [ "${1:-}" = more ] || continue
    elif [ "${1:-}" = more ] || { [ "$purpose" != test ] && [ "$for_what" != "$purpose" ] &&
      [ "$purpose $for_what" != "cluster demo" ]; }; then
      continue
    fi
    is_present "$kind" "$name" || echo "$kind $name $package"
  done < <(needs) | sort -u
}

is_debian_12() {
  [ -r /etc/os-release ] && (. /etc/os-release && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ])
}

install() {
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "setup: installing needs root or sudo; missing: $*" >&2; return 1; }
    as_root=(sudo)
  fi
  echo "setup: installing $*"
  local get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300
    -o Acquire::Retries=3 -q)
  local attempt
  for attempt in 1 2 3; do
    if "${get[@]}" update; then
      break
    fi
    [ "$attempt" = 3 ] || { echo "setup: apt-get update failed, trying again in 10 s"; sleep 10; }
  done
  "${get[@]}" install -y --no-install-recommends "$@"
}

too_old() { # prints tools that are there but too old
  [ "$purpose" != docs ] || return 0
  local have
  have=$(g++ -dumpversion)
  [ "${have%%.*}" -ge "$min_gcc" ] || echo "g++ is version $have, at least $min_gcc is needed"
  have=$(cmake --version | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
  [ "$(printf '%s\n' "$min_cmake" "$have" | sort -V | head -n 1)" = "$min_cmake" ] ||
    echo "cmake is version $have, at least $min_cmake is needed"
}

absent=$(missing)
if [ -n "$absent" ] && is_debian_12; then
  mapfile -t packages < <(awk '{print $3}' <<<"$absent" | sort -u)
  install "${packages[@]}"
  absent=$(missing)
fi
if [ -n "$absent" ]; then
  echo "setup: these are missing; install them and run this again (the last column is Debian 12's package):" >&2
  sed 's/^tool/  program        /; s/^header/  C++ header     /; s/^python/  Python module  /
       s/^clang/  clang sanitizer/; s/^theme/  mkdocs theme   /; s/^mpi/  headers of MPI /' <<<"$absent" >&2
  exit 1
fi
if [ "$purpose" = test ] && is_debian_12; then
  mapfile -t packages < <(missing more | awk '{print $3}' | sort -u)
  if [ ${#packages[@]} -gt 0 ] && ! install "${packages[@]}"; then
    echo "setup: going on without ${packages[*]}"
  fi
fi
old=$(too_old)
if [ -n "$old" ]; then
  printf 'setup: %s\n' "$old" >&2
  exit 1
fi
