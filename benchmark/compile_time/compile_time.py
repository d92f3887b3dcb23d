#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints what including and using the library costs a compiler: seconds of CPU and peak memory, beside a file that
includes only the standard headers that the library includes.

  compile_time.py [--once] [--build FOLDER] COMPILER [FLAG...]

Each file is compiled without and with optimisation, three times in turns, and the least time is taken; --once: one
time each, and without optimisation only. --build: also each source of compare and place as a build there (with
compile_commands.json) compiles it.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--build", type=Path)
    parser.add_argument("compiler")
    options, flags = parser.parse_known_args()
    times = 1 if options.once else 3
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "standard.cpp").write_text("".join(f"#include {name}\n" for name in standard_headers()))
        (folder / "all.cpp").write_text("#include <weft/all.hpp>\n")
        best = Path(__file__).with_name("best.cpp")
        files = {
            "the standard headers alone": [folder / "standard.cpp"],
            "weft/all.hpp alone": [folder / "all.cpp"],
            "examples/quick_start.cpp": [ROOT / "examples/quick_start.cpp"],
            "a program with solve::best": [best],
            "the same without weft/all.hpp": ["-DWEFT_ONLY_WHAT_IT_USES", best],
            "the same with weft::compiled": ["-DWEFT_COMPILED_LINEAR", best],
        }
        compile_it = [options.compiler, "-std=c++20", f"-I{ROOT / 'include'}", *flags, "-c", "-o", str(folder / "out.o")]
        levels = ["-O0"] if options.once else ["-O0", "-O2"]
        found = measure({(name, level): [*compile_it, level, *map(str, what)] for name, what in files.items()
                         for level in levels}, times)
        print(f'{"":30}' + "".join(f'{level + " seconds":>12} {"ratio":>6} {"MB":>6}' for level in levels))
        for name in files:
            line = f"{name:30}"
            for level in levels:
                seconds, megabytes = found[name, level]
                line += f'{seconds:12.2f} {seconds / found["the standard headers alone", level][0]:6.1f} {megabytes:6.0f}'
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
