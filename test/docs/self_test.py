#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every rule of check.py finds a violation of it, in a copy of the repository that is broken here and there."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What is broken: a file, a text in it and what takes its place (None: the file goes), and what check.py then says.
BROKEN = [
    ("docs/strategies/heft.md", None, "", "docs/strategies/heft.md: is missing"),
    ("docs/strategies/etf.md", "earliest start", "best start", "docs/strategies/etf.md: differs"),
    ("include/weft/solve/standard_strategies.hpp", '  to.add_partitioner("heft", partition::heft{});\n',
     '  to.add_partitioner("heft", partition::heft{});\n  to.add_partitioner("own", partition::first_device{});\n',
     "partition/first_device.hpp: the docstring of partition::first_device has no 'Source: …'"),
    ("include/weft/solve/standard_strategies.hpp", '  to.add_partitioner("olb", partition::olb{});\n', "",
     "docs/strategies/olb.md: there is no such strategy"),
    ("include/weft/partition/etf.hpp", "/// Choose it", "/// Take it",
     "the docstring of partition::etf has no 'Choose it"),
    ("include/weft/refine/tabu_search.hpp", " ///< changes that a step evaluates, besides those that are tabu", "",
     "candidates of refine::tabu_search"),
    ("include/weft/core/heap.hpp", "/// ", "/// Or not: ", "docs/headers.md: differs"),
    ("docs/performance.md", "| `mcp` |", "| `mcq` |", "docs/strategies/mcp.md: differs from"),
    ("docs/costs.md", "| `jetson_agx_orin` |", "| a board |", "does not name each preset once: jetson_agx_orin"),
    ("docs/algorithms.md", "[`genetic`]", "[`generic`]", "does not name each refiner once: genetic"),
    ("docs/workloads.md", "| `dgx_h100` |", "| `dgx_h200` |", "differs from 'list presets'"),
    ("docs/README.md", "| [Memory](memory.md)", "| [Memory](costs.md)", "0 rows begin with a link to memory.md"),
    ("docs/memory.md", "[CP]", "[CP](algorithms.md#nowhere)", "there is no heading for the link"),
    ("docs/memory.md", "[CP]", "[CP](nowhere.md)", "leads nowhere"),
    ("docs/memory.md", "[CP]", "[CP](https:/example.org)", "is no link"),
    ("docs/memory.md", "`weft::memory_rule`", "`solve::no_such_name`", "no header has the name solve::no_such_name"),
    ("README.md", "scripts/test.sh ", "scripts/tests.sh ", "there is no scripts/tests.sh in the source tree"),
    ("docs/install.md", "-DWEFT_BUILD_TESTS", "-DWEFT_BUILD_TEST", "CMake has no option WEFT_BUILD_TEST"),
    ("CHANGELOG.md", "\n## 0", "\n## 9", "the first version is not"),
    ("CITATION.cff", "\nversion: 0", "\nversion: 9", "the version is not"),
]


def groups():
    """What is broken at a time: a page once, and a header alone, since check.py says less of what is made from it."""
    pages = []
    for broken in BROKEN:
        if broken[0].startswith("include/"):
            yield [broken]
            continue
        group = next((g for g in pages if all(name != broken[0] for name, *_ in g)), None)
        if group is None:
            group = []
            pages.append(group)
        group.append(broken)
    yield from pages


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for part in ("docs", "include", "src", "test", "examples", "benchmark", "scripts", "data", "cmake", "port"):
            shutil.copytree(ROOT / part, root / part)
        for part in ("README.md", "CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "LICENSE", "conanfile.py"):
            shutil.copy(ROOT / part, root / part)

        def check():
            done = subprocess.run([sys.executable, root / "test/docs/check.py"], capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

        status, output = check()
        if status != 0:
            print(f"check.py says of what is not broken:\n{output}")
            failures += 1
        for group in groups():
            before = {name: (root / name).read_text() for name, *_ in group}
            for name, old, new, _ in group:
                if old is None:
                    (root / name).unlink()
                elif old not in before[name]:
                    print(f"{name} has no '{old}'")
                    failures += 1
                else:
                    (root / name).write_text(before[name].replace(old, new, 1))
            status, output = check()
            for name, old, new, text in group:
                if status != 1 or text not in output:
                    print(f"{name}, '{old}' → '{new}': check.py does not say '{text}' but\n{output}")
                    failures += 1
            for name, text in before.items():
                (root / name).write_text(text)
    print(f"{len(BROKEN)} violations, {failures} not found")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
