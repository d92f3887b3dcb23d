#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints what facilities of the standard library and of weft/core cost g++ at -O0, per element type or call site: the
memory that the compiler allocates, which is the same in every run and goes with its time.

  prices.py [g++]
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COUNT = 20  # element types or call sites per file
HEADERS = "".join(f"#include <{h}>\n" for h in ("algorithm", "functional", "map", "memory", "optional", "ranges",
                                                "span", "tuple", "unordered_map", "unordered_set", "vector"))
HEADERS += "".join(f'#include "weft/core/{h}.hpp"\n' for h in ("buffer", "numbering", "reversed", "sort"))
LESS = "[](const X#& a, const X#& b) { return a.b < b.b; }"
USE = ("int f#({0}<X#>& v) {{ v.push_back({{1, 2}}); v.resize(5); v.assign(5, X#{{}}); int s = 0;"
       " for (auto& x : v) s += x.a; return s + v.back().a; }}")
KEY = "struct K# { unsigned long k = 0; operator unsigned long() const { return k; } };"
CASES = {
    "std::vector, used": USE.format("std::vector"),
    "weft::buffer, used": USE.format("weft::buffer"),
    "std::vector as a member": "struct S# { std::vector<X#> v; };",
    "std::ranges::sort with a lambda": f"void f#(std::vector<X#>& v) {{ std::ranges::sort(v, {LESS}); }}",
    "std::stable_sort with a lambda":
        f"void f#(std::vector<X#>& v) {{ std::stable_sort(v.begin(), v.end(), {LESS}); }}",
    "std::sort with a lambda": f"void f#(std::vector<X#>& v) {{ std::sort(v.begin(), v.end(), {LESS}); }}",
    "weft::sort with a lambda": f"void f#(std::vector<X#>& v) {{ weft::sort(v, {LESS}); }}",
    "std::views::reverse":
        "int f#(std::span<const X#> v) { int s = 0; for (auto& x : v | std::views::reverse) s += x.a;"
        " return s; }",
    "weft::reversed":
        "int f#(std::span<const X#> v) { int s = 0; for (auto& x : weft::reversed(v)) s += x.a; return s; }",
    "std::ranges::any_of":
        "bool f#(std::vector<X#>& v) { return std::ranges::any_of(v, [](const X#& x) { return x.a; }); }",
    "std::any_of":
        "bool f#(std::vector<X#>& v) { return std::any_of(v.begin(), v.end(), [](const X#& x) { return x.a; }); }",
    "a loop over a std::vector": "int f#(std::vector<X#>& v) { for (auto& x : v) if (x.a) return 1; return 0; }",
    "a loop over a weft::buffer": "int f#(weft::buffer<X#>& v) { for (auto& x : v) if (x.a) return 1; return 0; }",
    "std::span of a std::vector": "int g#(std::span<const X#>); int f#(std::vector<X#>& v) { return g#(v); }",
    "std::span of pointer and size": "int g#(std::span<const X#>); int f#(X# *p, std::size_t n) { return g#({p, n}); }",
    "std::map": "int f#(std::map<int, X#>& m) { return m[5].a; }",
    "std::unordered_map": "int f#(std::unordered_map<int, X#>& m) { return m[5].a; }",
    "std::unordered_set": KEY + "bool f#(std::unordered_set<K#, std::hash<unsigned long>>& s) {"
                                " return s.insert(K#{1}).second; }",
    "weft::numbering": KEY + "bool f#(weft::numbering<K#>& s) { return s.insert(K#{1}); }",
    "std::function of a lambda":
        "void g#(const std::function<int(X#)>&); void f#(int z) { g#([z](X# x) { return x.a + z; }); }",
    "std::optional": "std::optional<X#> f#(int n) { if (n) return X#{1, 2}; return {}; }",
    "std::unique_ptr": "void f#(std::unique_ptr<X#>& p) { p = std::make_unique<X#>(); }",
    "an inline function with push_back, unused": "inline void f#(std::vector<X#>& v) { v.push_back({1, 2}); }",
    "the same as a template": "template <class T> void f#(std::vector<T>& v, X# x) { v.push_back(x); }",
}


def megabytes(compiler, folder, code):
    (folder / "x.cpp").write_text(code)
    said = subprocess.run([compiler, "-std=c++20", "-O0", "-ftime-report", f"-I{ROOT / 'include'}", "-c", "x.cpp", "-o",
                           "x.o"], cwd=folder, capture_output=True, text=True)
    total = re.search(r"^ TOTAL .*?(\d+)([kMG])\s*$", said.stderr, re.M)
    if said.returncode != 0 or total is None:
        sys.exit(f"prices: {compiler} does not compile this, or tells no memory (it must be g++)\n{said.stderr[:2000]}")
    return int(total[1]) * {"k": 1e-3, "M": 1, "G": 1e3}[total[2]]


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] == ["--help"]:
        print(__doc__)
        return
    compiler = sys.argv[1] if len(sys.argv) == 2 else "g++"
    types = "".join(f"struct X{i} {{ int a; double b; }};\n" for i in range(COUNT))
    with tempfile.TemporaryDirectory() as folder:
        base = megabytes(compiler, Path(folder), HEADERS + types)
        print(f'{"":44} {"MB each":>8}')
        for name, case in CASES.items():
            code = HEADERS + types + "".join(case.replace("#", str(i)) + "\n" for i in range(COUNT))
            print(f"{name:44} {(megabytes(compiler, Path(folder), code) - base) / COUNT:8.1f}", flush=True)


main()
