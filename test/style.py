#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks what formatters leave open: lines end at column 120, and a header opens with a noun phrase for what it is.

  style.py [FILE...]     check these files, or all sources of the repository; a line per finding, exit code 1 for any
  style.py --self-test   check that every rule finds a violation of it, and lets pass what it exempts

May be longer: lines of raw string literals, which hold data and scripts as they are; rows of tables in comments; and
lines without a blank to break them at, such as addresses.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("benchmark", "cmake", "examples", "include", "port", "scripts", "src", "test", "test_package")
SOURCES = {".hpp", ".cpp", ".c", ".h", ".py", ".sh", ".cmake", ".js"}
MAX_COLUMNS = 120

RAW = re.compile(r'R"([^\s()\\]{0,16})\(.*?\)\1"', re.S)
RIDDLE = re.compile(r"///? ?(What|Whether|How|Where|Why|When|Which|Who|Whose|That|All that|Everything that)\b")


def sources():
    found = [p for folder in FOLDERS for p in (ROOT / folder).rglob("*")]
    return sorted(p for p in [*ROOT.glob("*"), *found] if p.suffix in SOURCES or p.name == "CMakeLists.txt")


def in_raw_strings(text):
    """The numbers of the lines that a raw string literal is in."""
    lines = set()
    for match in RAW.finditer(text):
        first = text.count("\n", 0, match.start()) + 1
        lines.update(range(first, first + match[0].count("\n") + 1))
    return lines


def can_be_broken(line):
    """Whether there is a blank behind what stands first in a line, indented and commented or not."""
    return " " in re.sub(r"^\s*(//[/!]?<?|#)?\s*", "", line).rstrip()


def findings(name, text):
    """(line, what is wrong and how to mend it) of a file."""
    lines = text.splitlines()
    raw = in_raw_strings(text) if name.endswith((".hpp", ".cpp")) else set()
    for number, line in enumerate(lines, 1):
        table = re.match(r"\s*//[/!]? *\|", line)
        if len(line) > MAX_COLUMNS and number not in raw and not table and can_be_broken(line):
            yield number, f"has {len(line)} columns; break it so that it ends at column {MAX_COLUMNS}"
    if name.endswith(".hpp") and len(lines) > 1 and (match := RIDDLE.match(lines[1])):
        yield 2, f"a header opens with a noun phrase for what it is ('Live ranges of tensors'), not with '{match[1]}'"


def self_test():
    long = "x " * (MAX_COLUMNS // 2)
    head = "// SPDX-License-Identifier: BSL-1.0\n"
    cases = [  # (name, text, line of the finding or None)
        ("a.cpp", f"{long}\n", None),
        ("a.cpp", f"\n{long}x\n", 2),
        ("a.py", f"{'é' * 60} {'é' * 59}\n", None),
        ("a.py", f"{'é' * 60} {'é' * 60}\n", 1),
        ("CMakeLists.txt", f"{long}x\n", 1),
        ("a.cpp", f'auto t = R"(\n{long}x\n)";\n', None),
        ("a.cpp", f'auto t = R"(\n)";\n{long}x\n', 3),
        ("a.hpp", f"{head}/// A row.\n/// | {long} |\n", None),
        ("a.hpp", f"{head}/// A link.\n/// https://{'x' * MAX_COLUMNS}\n", None),
        ("a.hpp", f"{head}/// Live ranges of tensors.\n", None),
        ("a.hpp", f"{head}/// Where tensors are.\n", 2),
        ("a.hpp", f"{head}// Whether it fits.\n", 2),
        ("a.hpp", f"{head}/// Wheres.\n", None),
        ("a.cpp", f"{head}/// Whether it fits.\n", None),
    ]
    failed = 0
    for name, text, line in cases:
        found = [number for number, _ in findings(name, text)]
        if found != ([] if line is None else [line]):
            failed += 1
            print(f"{name}: findings in {found} instead of {line}:\n{text}")
    return failed


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    if any(a.startswith("-") for a in arguments):
        print(__doc__)
        return 2
    files = [Path(a).resolve() for a in arguments] or sources()
    found = [f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{number}: {problem}"
             for path in files for number, problem in findings(path.name, path.read_text())]
    print(*found, f"{len(files)} files, {len(found)} findings", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
