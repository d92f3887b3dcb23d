#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks that every header compiles by itself, all of them in few runs of clang.

  headers.py [--self-test] CLANG INCLUDE SOURCE [FLAG...]

The headers below the folder INCLUDE that SOURCE includes become the submodules of one module, of which clang parses
each as if it were alone, and once: what a header uses must be in itself or in what it includes. The standard headers
that they include are a module, too. Headers that reach headers of C++ libraries which no module can have are compiled
one by one instead. --self-test also checks that a header which lacks an include is found.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

INCLUDE = re.compile(r'^ *# *include ([<"])([^>"]+)[>"]', re.M)
# Libraries whose headers use what they do not include, or cannot be read apart from each other.
NO_MODULE = ("boost/", "coin-or/", "coin/", "hwloc.h", "oneapi/", "onnx/", "google/")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr or f"{command[0]} ended with {done.returncode}"


def errors_of(clang, include, headers, flags):
    """What clang says of headers below a folder: how many are in the module, how many are not, and the errors."""
    includes = {}
    for path in sorted(include.rglob("*.hpp")):
        includes[path.relative_to(include).as_posix()] = INCLUDE.findall(path.read_text())

    def reaches(name, seen):
        """The foreign headers that a header includes, itself or through others."""
        if name in seen or name not in includes:
            return set()
        seen.add(name)
        found = set()
        for kind, other in includes[name]:
            found |= {other} if kind == "<" else reaches(other, seen)
        return found

    alone = [name for name in headers if any(other.startswith(NO_MODULE) for other in reaches(name, set()))]
    together = [name for name in headers if name not in alone]
    foreign = sorted(set().union(*(reaches(name, set()) for name in headers)))
    base = [clang, "-std=c++20", "-DONNX_NAMESPACE=onnx", "-DONNX_ML=1", "-DOMPI_SKIP_MPICXX",
            "-DMPICH_SKIP_MPICXX", *flags, "-I", str(include)]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)

        def text_of(names):
            return "".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in names)

        # of the standard headers, those that others include, too
        (folder / "modular.cpp").write_text(text_of(n for n in foreign if re.fullmatch("[a-z_]+|nlohmann/.*", n)))
        listed = subprocess.run([*base, "-fsyntax-only", "-H", str(folder / "modular.cpp")], capture_output=True,
                                text=True).stderr
        modular = r"^\.+ (\S+/c\+\+/(?:v1|[0-9.]+)/[a-z_]+|\S+/nlohmann/json\.hpp)$"
        paths = dict.fromkeys(re.findall(modular, listed, re.M))
        lines = ["module standard [system] {"]
        lines += [f'  module h{i} {{ header "{path}" export * }}' for i, path in enumerate(paths)]
        lines += ["}", "module weft {"]
        lines += [f'  module h{i} {{ header "{include / name}" export * }}' for i, name in enumerate(together)]
        (folder / "module.modulemap").write_text("\n".join([*lines, "}", ""]))
        (folder / "first.cpp").write_text(f'#include "{together[0]}"\n')
        modules = [*base, "-fsyntax-only", "-fmodules", "-fcxx-modules", "-fno-implicit-module-maps",
                   "-Xclang", "-fmodules-local-submodule-visibility",
                   f"-fmodule-map-file={folder / 'module.modulemap'}", f"-fmodules-cache-path={folder / 'modules'}",
                   str(folder / "first.cpp")]
        (folder / "base.hpp").write_text(text_of(foreign))
        base_header = [*base, "-x", "c++-header", str(folder / "base.hpp"), "-o", str(folder / "base.pch")]
        if alone and (text := run(base_header)):
            return len(together), len(alone), [text]
        one_by_one = [[*base, "-fsyntax-only", "-include-pch", str(folder / "base.pch"), "-x", "c++",
                       "-Wno-pragma-once-outside-header", str(include / name)] for name in alone]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            said = [text for text in pool.map(run, [modules, *one_by_one]) if text]
    return len(together), len(alone), said


def self_test(clang, flags):
    """Whether a header is found that uses what it does not include."""
    with tempfile.TemporaryDirectory() as folder:
        weft = Path(folder) / "weft"
        weft.mkdir()
        (weft / "a.hpp").write_text("#pragma once\n#include <vector>\nstruct first { std::vector<int> all; };\n")
        for uses, included in (("first", ""), ("std::vector<int>", ""), ("first", '#include "weft/a.hpp"\n')):
            (weft / "b.hpp").write_text(f"#pragma once\n{included}struct second {{ {uses} one; }};\n")
            if bool(errors_of(clang, Path(folder), ["weft/a.hpp", "weft/b.hpp"], flags)[2]) != (included == ""):
                return f"headers: self-test: a header with {uses} and '{included.strip()}' was judged wrongly"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("clang")
    parser.add_argument("include", type=Path)
    parser.add_argument("source", type=Path)
    options, flags = parser.parse_known_args()
    if options.self_test and (wrong := self_test(options.clang, flags)):
        sys.exit(wrong)
    headers = [name for _, name in INCLUDE.findall(options.source.read_text())]
    together, alone, said = errors_of(options.clang, options.include.resolve(), headers, flags)
    for text in said:
        print(text)
    print(f"headers: {together} in one module, {alone} one by one, "
          f"{'not all right' if said else 'all compile by themselves'}")
    sys.exit(bool(said))


main()
