#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints what including and using the library costs a compiler: seconds of CPU and peak memory, beside a file that
includes only the standard headers that the library includes.

  compile_time.py [--once] [--build FOLDER] COMPILER [FLAG...]
  compile_time.py --check | --write | --headers COMPILER

Each file is compiled without and with optimisation, three times in turns, and the least time is taken; --once: one
time each, and without optimisation only. --build: also each source of compare and place as a build there (with
compile_commands.json) compiles it.

Memory is the same on every machine, so it has a budget, budget.json: --check compiles those files that tell most, fails
where one takes over 3 % more than there, and then looks for the headers that grew. After a change that is worth its
price, --write measures everything anew and writes the budget, with what the headers of weft/all.hpp take, and the
table of docs/performance.md. --headers prints what each header adds to those before it. The budget is of g++ 12: with
another compiler these exit with 77.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUDGET = Path(__file__).with_name("budget.json")
PAGE = ROOT / "docs/performance.md"
SLACK = 1.03
STEP = 4  # the budget tells what the headers of weft/all.hpp take together, four more at a time
COMPILER = "12"  # of g++, for which the budget is
CHECKED = [("`weft/all.hpp` alone", "-O0"), ("`examples/quick_start.cpp`", "-O0"),
           ("a program with `solve::best`", "-O2"), ("the same with `weft::compiled`", "-O0"),
           ("`planner::best` with `weft::compiled`", "-O0")]
OPTIONAL = ("io", "report", "interop")  # not in weft/all.hpp


def standard_headers():
    headers = ROOT / "include/weft"
    texts = [h.read_text() for h in headers.rglob("*.hpp") if h.relative_to(headers).parts[0] not in OPTIONAL]
    return sorted({name for text in texts for name in re.findall(r"^#include (<[a-z_]+>)", text, re.M)})


def cost_of(command):
    """Seconds of CPU and peak MB of a compiler and what it runs."""
    with tempfile.TemporaryFile("w+") as said:
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        if running.returncode != 0:
            said.seek(0)
            sys.exit(f"compile_time: {shlex.join(map(str, command))}\n{said.read()}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measure(commands, times):
    """{name: command} -> {name: (seconds, MB)}"""
    found = {name: (float("inf"), 0) for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            seconds, megabytes = cost_of(command)
            found[name] = (min(seconds, found[name][0]), max(megabytes, found[name][1]))
    return found


def sources_of_tools(build):
    """Commands of a build that compile the tools, without the launcher."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        if re.search(r"/examples/(compare|place)[/.]|/src/(compare|compiled|tool)/", str(path)):
            command = shlex.split(entry["command"])
            if Path(command[0]).name == "ccache":
                command = command[1:]
            yield "/".join(path.parts[-2:]), entry["directory"], command


def headers_of_all():
    """All that weft/all.hpp includes, each header after those that it includes, so that what it adds is its own."""
    found = {}

    def visit(name):
        if name not in found:
            for other in re.findall(r'^#include "(.+)"', (ROOT / "include" / name).read_text(), re.M):
                visit(other)
            found[name] = True

    visit("weft/all.hpp")
    return [*found][:-1]


def cost_of_first(compiler, folder, headers, count):
    """MB that g++ allocates in all, and seconds of CPU, for the first headers of weft/all.hpp."""
    source = Path(folder) / f"first_{count}.cpp"
    source.write_text("".join(f'#include "{name}"\n' for name in headers[:count]))
    said = subprocess.run([compiler, "-std=c++20", "-O0", "-ftime-report", f"-I{ROOT / 'include'}", "-c", source,
                           "-o", os.devnull], capture_output=True, text=True)
    total = re.search(r"^ TOTAL +: +([\d.]+) +([\d.]+) +[\d.]+ +(\d+)([kMG])", said.stderr, re.M)
    if said.returncode != 0 or not total:
        sys.exit(f"compile_time: {source.name}: {said.stderr}")
    unit = {"k": 1 / 1024, "M": 1, "G": 1024}[total[4]]
    return round(int(total[3]) * unit), float(total[1]) + float(total[2])


def costs_of_headers(compiler, step):
    """[(header, MB, seconds)]: all of weft/all.hpp up to this header, for one of `step` headers and the last."""
    headers = headers_of_all()
    counts = [*range(step, len(headers), step), len(headers)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        costs = pool.map(lambda count: cost_of_first(compiler, folder, headers, count), counts)
        found = []
        for count, (megabytes, seconds) in zip(counts, costs):
            found.append((headers[count - 1], megabytes, seconds))
            print(f"\r{count} of {len(headers)} headers", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    return found


def print_headers(compiler):
    print(f'{"":44} {"adds MB":>8} {"MB":>6} {"adds s":>8} {"s":>6}')
    before = (0, 0)
    for name, megabytes, seconds in costs_of_headers(compiler, 1):
        print(f"{name:44} {megabytes - before[0]:8} {megabytes:6} {seconds - before[1]:8.2f} {seconds:6.2f}")
        before = megabytes, seconds


def grown_headers(compiler, budget):
    """Where weft/all.hpp takes more than in the budget: [(MB more, {header: MB that it adds now})], the most first."""
    headers = headers_of_all()
    ends = [0, *(i + 1 for i, name in enumerate(headers) if name in budget)]  # up to where the budget tells
    ends[-1] = len(headers)
    budget = [0, *(budget[headers[end - 1]] for end in ends[1:-1]), [*budget.values()][-1]]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        def costs(counts):
            return [cost[0] for cost in pool.map(lambda n: cost_of_first(compiler, folder, headers, n), counts)]

        now = [0, *costs(ends[1:])]
        grown = [(now[i] - now[i - 1] - budget[i] + budget[i - 1], i) for i in range(1, len(ends))]
        found = []
        for grew, i in sorted(grown, reverse=True)[:3]:
            if grew > 1:  # which rounding does
                before = [now[i - 1], *costs(range(ends[i - 1] + 1, ends[i] + 1))]
                added = {headers[ends[i - 1] + k]: before[k + 1] - before[k] for k in range(len(before) - 1)}
                found.append((grew, added))
    return found


def check(commands, compiler):
    budget = json.loads(BUDGET.read_text())
    heavier = []
    for name, level in CHECKED:
        key = f"{name} {level}"
        megabytes, allowed = cost_of(commands[name, level])[1], budget["peak MB"][key]
        print(f"{key:40} {megabytes:6.0f} MB, {megabytes / allowed - 1:+.1%} of the budget's {allowed}", flush=True)
        if megabytes > allowed * SLACK:
            heavier.append(f"{key}: takes {megabytes:.0f} MB, over 3 % more than {allowed}")
    failed = [*heavier]
    if f"\n{page_table(budget)}\n" not in PAGE.read_text():
        failed.append(f"{PAGE.relative_to(ROOT)}: its table is not the budget's; run compile_time.py --write g++")
    if heavier:
        print(*heavier, "looking for the headers that grew, which takes some minutes", sep="\n", flush=True)
        for grew, added in grown_headers(compiler, budget["headers of weft/all.hpp, MB up to each"]):
            max_first = sorted(added.items(), key=lambda item: -item[1])
            failed.append(f"  {grew} MB more of what g++ allocates lie in: " +
                          ", ".join(f"{name} ({mb} MB now)" for name, mb in max_first))
        failed.append(
            "Make it cheaper (docs/performance.md says how), or, where it is worth that, run --write; where no "
                      "header of weft/all.hpp is named, what grew is in that file only.")
    return failed


def page_table(budget):
    lines = ["| g++ 12 | CPU, -O0 | -O2 | peak memory, -O0 | -O2 |", "| --- | --: | --: | --: | --: |"]
    for name, row in budget["times"].items():
        peaks = [budget["peak MB"][f"{name} {level}"] for level in ("-O0", "-O2")]
        cells = [name, *(f"{ratio:.1f} ×" for ratio in row), *(f"{mb} MB" for mb in peaks)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write(commands, compiler, times):
    with ThreadPoolExecutor(1) as beside:  # it is seconds of CPU that are measured
        headers = beside.submit(costs_of_headers, compiler, STEP)
        found = measure(commands, times)
        headers = headers.result()
    base = {level: found["the standard headers alone", level][0] for level in ("-O0", "-O2")}
    budget = {
        "peak MB": {f"{name} {level}": round(found[name, level][1]) for name, level in commands},
        "times": {name: [round(found[name, level][0] / base[level], 1) for level in ("-O0", "-O2")]
                  for name, level in commands if level == "-O0"},
        "headers of weft/all.hpp, MB up to each": {name: mb for name, mb, _ in headers},
    }
    BUDGET.write_text(json.dumps(budget, indent=1, ensure_ascii=False) + "\n")
    begin = "<!-- figures: compile_time -->\n"
    before, after = PAGE.read_text().split(begin)
    PAGE.write_text(before + begin + page_table(budget) + "\n\n" + after.split("\n\n", 1)[1])
    print(page_table(budget))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--build", type=Path)
    way = parser.add_mutually_exclusive_group()
    for name in ("check", "write", "headers"):
        way.add_argument(f"--{name}", action="store_true")
    parser.add_argument("compiler")
    options, flags = parser.parse_known_args()
    if options.check or options.write or options.headers:
        said = subprocess.run([options.compiler, "--version"], capture_output=True, text=True).stdout
        if not re.match(rf"\S*(g\+\+|c\+\+)\S* .*\b{COMPILER}\.\d+\.\d+", said) or "clang" in said:
            print(f"skipped: the budget is of g++ {COMPILER}, not of {(said or options.compiler).splitlines()[0]}")
            sys.exit(77)
    if options.headers:
        return print_headers(options.compiler)
    times = 1 if options.once else 3
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "standard.cpp").write_text("".join(f"#include {name}\n" for name in standard_headers()))
        (folder / "all.cpp").write_text("#include <weft/all.hpp>\n")
        best = Path(__file__).with_name("best.cpp")
        files = {
            "the standard headers alone": [folder / "standard.cpp"],
            "`weft/all.hpp` alone": [folder / "all.cpp"],
            "`examples/quick_start.cpp`": [ROOT / "examples/quick_start.cpp"],
            "a program with `solve::best`": [best],
            "the same without `weft/all.hpp`": ["-DWEFT_ONLY_WHAT_IT_USES", best],
            "the same with `weft::compiled`": ["-DWEFT_COMPILED", best],
            "`planner::best` with `weft::compiled`": ["-DWEFT_COMPILED", Path(__file__).with_name("planner.cpp")],
            "`planner::best`": [Path(__file__).with_name("planner.cpp")],
        }
        compile_it = [options.compiler, "-std=c++20", f"-I{ROOT / 'include'}", *flags, "-c", "-o", folder / "out.o"]
        levels = ["-O0"] if options.once and not options.write else ["-O0", "-O2"]
        commands = {(name, level): [*compile_it, level, *what] for name, what in files.items() for level in levels}
        if options.write:
            return write(commands, options.compiler, times)
        if options.check:
            failed = check(commands, options.compiler)
            print(*failed, sep="\n")
            sys.exit(bool(failed))
        found = measure(commands, times)
        print(f'{"":40}' + "".join(f'{level + " seconds":>12} {"ratio":>6} {"MB":>6}' for level in levels))
        for name in files:
            line = f"{name:40}"
            for level in levels:
                seconds, megabytes = found[name, level]
                ratio = seconds / found["the standard headers alone", level][0]
                line += f"{seconds:12.2f} {ratio:6.1f} {megabytes:6.0f}"
            print(line)
        if options.build:
            commands = {}
            for name, directory, command in sources_of_tools(options.build.resolve()):
                out = command.index("-o")
                command[out + 1] = str(folder / "out.o")
                commands[name] = ["env", "-C", directory, *command]
            print(f'\n{"sources of the tools":40} {"seconds":>8} {"MB":>6}')
            total = 0
            for name, (seconds, megabytes) in measure(commands, 1).items():
                total += seconds
                print(f"{name:40} {seconds:8.2f} {megabytes:6.0f}")
            print(f'{"together":40} {total:8.2f}')


main()
