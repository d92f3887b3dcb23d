#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Holds README.md and docs/ against the sources, the programs and the results that they quote.

  check.py [--programs DIR] [--reference DIR] [--update] [PAGE…]

A comment right before a block says where the block comes from:

  <!-- FILE [marker] -->       a code block: the lines of FILE between two lines `// [marker]` or `# [marker]`, dedented
  <!-- output of PROGRAM -->   a text block: what examples/PROGRAM prints (needs --programs, where they were built)
  <!-- session -->             a console block: lines after `$ ` are commands, run one after the other in an empty
                               folder that all sessions of a page share, with the programs in the PATH and the source
                               tree in WEFT_SOURCE; those of README.md see the tree's entries in that folder, as in a
                               checkout; the other lines are what they print. A line `…` stands for any lines, also
                               none; a line that ends in it for any end (needs --programs)
  <!-- table NAME -->          a table that tables.py makes from results of `compare` or `manycore`; columns headed
                               `planning` are wall time and not compared, nor are cells for which tables.py has `…`
                               (needs --programs; some need --reference)
  <!-- list NAME -->           a table that reference.py makes from the headers: presets, partitioners, ready_policies …
  <!-- every KIND -->          a table written by hand whose first column names every preset, partitioner, policy or
                               refiner in a code span, and nothing else
  <!-- json -->                a JSON block that must satisfy the schema of its "format" in docs/schema (needs
                               jsonschema)
  <!-- figures: NAME -->       a table measured by hand, with the machine beside it; never compared, always listed

Also: commands of `sh` blocks that have no such comment, because they need a cluster or the like, name only options that
the programs' --help lists, presets, CMake options and files of the tree that exist. Every C++ block has such a comment,
relative links and their anchors lead somewhere, other links have the form of one, and headers and qualified names in
code spans exist. Pages that reference.py makes as a whole are as it makes them: one for each strategy of the registry,
and indices of headers and concepts. docs/README.md names every page once, CHANGELOG.md begins with the library's
version, and CITATION.cff has it. --update writes what is expected into the files. Blocks that cannot be checked for
want of a program or of reference data are listed. Exit status 1 if something does not hold.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import reference  # noqa: E402
import tables  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIRECTIVE = re.compile(r"^<!-- (.+) -->$")
NAMESPACES = ("bound", "concurrency", "cost", "execute", "generate", "graph", "io", "machines", "nn", "partition",
              "onnx", "parallel", "presets", "pytorch", "refine", "report", "schedule", "shard", "simulate", "solve",
              "stablehlo", "tensorflow", "throughput", "views", "zoo")

try:
    import jsonschema
except ImportError:
    jsonschema = None


class Checker:
    def __init__(self, options):
        self.options = options
        self.problems = []
        self.skipped = []
        self.checked = 0
        self.folders = {}  # where the sessions of a page run
        self.options_of = {}  # by program
        lists = [ROOT / "CMakeLists.txt", ROOT / "test/CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
        self.cmake = {name for path in lists for name in re.findall(r"WEFT_\w+", path.read_text())}
        headers = (ROOT / "include/weft").rglob("*.hpp")
        self.headers = {str(h.relative_to(ROOT / "include")): h.read_text() for h in headers}
        self.words = {word for text in self.headers.values() for word in re.findall(r"\w+", text)}

    def problem(self, path, line, text):
        self.problems.append(f"{path.relative_to(ROOT)}:{line}: {text}")

    def snippet(self, source, marker):
        lines = (ROOT / source).read_text().splitlines()
        marks = [i for i, line in enumerate(lines) if line.strip() in (f"// [{marker}]", f"# [{marker}]")]
        if len(marks) != 2:
            raise ValueError(f"{source} has {len(marks)} lines `// [{marker}]` instead of 2")
        return textwrap.dedent("\n".join(lines[marks[0] + 1:marks[1]])).splitlines()

    def program(self, name):
        path = self.options.programs / name if self.options.programs else None
        return path if path and path.is_file() else None

    def folder(self, path):
        """Where the sessions of a page run."""
        if path not in self.folders:
            self.folders[path] = tempfile.TemporaryDirectory()
            if path.parent == ROOT:
                for entry in ROOT.iterdir():
                    os.symlink(entry, pathlib.Path(self.folders[path].name) / entry.name)
        return self.folders[path].name

    def session(self, path, shown):
        """The commands of a session, each with what it printed; where `…` stands for some of that, as shown."""
        if not (self.options.programs and self.options.programs.is_dir()):
            return None
        examples = {source.stem for source in (ROOT / "examples").glob("*.cpp")}
        environment = {**os.environ, "WEFT_SOURCE": str(ROOT),
                       "PATH": f"{self.options.programs.resolve()}:{os.environ['PATH']}",
                       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",  # in containers
                       "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        wanted = []
        begins = [i for i, line in enumerate(shown) if line.startswith("$ ")]
        if not begins or begins[0] != 0:
            raise ValueError("a session begins with a line `$ COMMAND`")
        for begin, end in zip(begins, begins[1:] + [len(shown)]):
            if any(not self.program(word) for word in examples.intersection(shown[begin].split())):
                return None  # a launcher would not say so
            done = subprocess.run(["bash", "-c", shown[begin][2:]], cwd=self.folder(path), env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            printed = [line.rstrip() for line in done.stdout.splitlines()]
            if done.returncode == 127 or "command not found" in done.stdout:
                return None  # a program that was not built
            pattern = "".join("(?:[^\n]*\n)*" if line == "…" else
                              re.escape(line.removesuffix("…")) + "[^\n]*" * line.endswith("…") + "\n"
                              for line in shown[begin + 1:end])
            as_shown = re.fullmatch(pattern, "".join(line + "\n" for line in printed))
            wanted += shown[begin:end] if as_shown else [shown[begin], *printed]
        return wanted

    def expected(self, path, directive, shown):
        """The lines that the block must have; None if that cannot be found out here."""
        if directive.startswith("figures: "):
            return None
        if directive == "json":
            return self.valid(shown)
        if directive == "session":
            return self.session(path, shown)
        if match := re.fullmatch(r"output of (\S+)", directive):
            program = self.program(match[1])
            return program and subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
        if match := re.fullmatch(r"table (\S+)", directive):
            program = self.program(tables.program_of(match[1]))
            return program and tables.make(match[1], program, self.options.reference)
        if match := re.fullmatch(r"list (\S+)", directive):
            return reference.list_of(match[1], str(path.relative_to(ROOT)))
        if match := re.fullmatch(r"every (\S+)", directive):
            return self.complete(match[1], shown)
        if match := re.fullmatch(r"(\S+) \[(\S+)\]", directive):
            return self.snippet(match[1], match[2])
        raise ValueError(f"there is no directive '{directive}'")

    @staticmethod
    def complete(kind, shown):
        """The same lines if the first column has every name of a kind and no other."""
        known = reference.names(kind)
        named = [name for line in shown[2:] for name in re.findall(r"`(?:\w+::)*(\w+)`", line.split("|")[1])]
        if lost := [name for name in known if named.count(name) != 1]:
            raise ValueError(f"the table does not name each {kind} once: {', '.join(lost)}")
        if strange := [name for name in named if name not in known]:
            raise ValueError(f"there is no {kind} {', '.join(strange)}")
        return shown

    @staticmethod
    def valid(shown):
        """The same lines if they satisfy their schema; None if that cannot be found out here."""
        document = json.loads("\n".join(shown))
        schema = json.loads((ROOT / f"docs/schema/{document['format']}.schema.json").read_text())
        if not jsonschema:
            return None
        if error := next(jsonschema.Draft7Validator(schema).iter_errors(document), None):
            raise ValueError(f"{list(error.absolute_path)}: {error.message}")
        return shown

    @staticmethod
    def block(lines, first):
        """The range of the fenced block or table that begins at line `first`, without fences."""
        if lines[first].startswith("```"):
            end = next(i for i in range(first + 1, len(lines)) if lines[i] == "```")
            return first + 1, end
        end = first
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        return first, end

    def same(self, directive, shown, wanted):
        if not directive.startswith("table "):
            return shown == wanted
        rows = [[[cell.strip() for cell in line.strip("|").split("|")] for line in block] for block in (shown, wanted)]
        if len(rows[0]) != len(rows[1]):
            return False
        timed = {i for i, title in enumerate(rows[1][0]) if "planning" in title}
        return all(len(a) == len(b) and all(i in timed or x == y or y == "…" for i, (x, y) in enumerate(zip(a, b)))
                   for a, b in zip(*rows))

    def check_blocks(self, path):
        lines = path.read_text().splitlines()
        i = 0
        while i < len(lines):
            match = DIRECTIVE.match(lines[i])
            if not match or match[1].startswith("Generated from "):  # which check_made_pages looks after
                if lines[i].startswith("```"):
                    if lines[i] in ("```cpp", "```console"):
                        self.problem(path, i + 1, "a block of code that is neither compiled nor run")
                    first, end = self.block(lines, i)
                    if lines[i] == "```sh":
                        self.check_commands(path, first + 1, lines[first:end])
                    i = end
                i += 1
                continue
            first, end = self.block(lines, i + 1)
            try:
                wanted = self.expected(path, match[1], lines[first:end])
            except (ValueError, OSError, subprocess.CalledProcessError) as e:
                self.problem(path, i + 1, str(e))
                wanted = None
            else:
                if wanted is None:
                    self.skipped.append(f"{path.relative_to(ROOT)}:{i + 1}: {match[1]}")
            if wanted is not None:
                self.checked += 1
                if not self.same(match[1], lines[first:end], wanted):
                    wanted = self.merge(lines[first:end], wanted)
                    if self.options.update:
                        lines[first:end] = wanted
                        end = first + len(wanted)
                        path.write_text("\n".join(lines) + "\n")
                        print(f"{path.relative_to(ROOT)}:{i + 1}: updated")
                    else:
                        self.problem(path, i + 1, f"differs from '{match[1]}'; after looking at it, run "
                                                  "test/docs/check.py --update: "
                                     + self.difference(lines[first:end], wanted))
            i = end + 1

    def known_options(self, name):
        """The long options of a built program or of a script; None if it is neither."""
        if name not in self.options_of:
            program, script = None if "/" in name else self.program(name), ROOT / name
            text = None
            if program:
                text = subprocess.run([program, "--help", "all"], capture_output=True, text=True,
                                      check=False).stdout
            elif script.is_file() and name.startswith("scripts/"):
                text = script.read_text()
            self.options_of[name] = text and set(re.findall(r"--[a-z][\w-]*", text))
        return self.options_of[name]

    def check_commands(self, path, number, lines):
        """Commands that are shown and not run: what they name exists."""
        text = re.sub(r"(^|\s)#.*", "", "\n".join(lines), flags=re.M).replace("\\\n", " ")
        for command in re.split(r"&&|[;|\n]", text):
            known = None
            for word in command.split():
                name = re.sub(r"^(build/\w+/(examples|benchmark)/|\./)", "", word)
                if re.match(r"(scripts|test|examples|include|docs|cmake|port)/", name) and not (ROOT / name).exists():
                    self.problem(path, number, f"there is no {name} in the source tree")
                elif re.match(r"build/\w+/(examples|benchmark)/", word) and not list(ROOT.glob(f"*/{name}*")):
                    self.problem(path, number, f"the build makes no {name}")
                elif option := re.match(r"-D(WEFT_\w+)", word):
                    if option[1] not in self.cmake:
                        self.problem(path, number, f"CMake has no option {option[1]}")
                elif option := re.match(r"--[a-z][\w-]*", word):
                    if known is not None and option[0] not in known:
                        self.problem(path, number, f"no such option as {option[0]} in: {command.strip()}")
                elif self.known_options(name) is not None:
                    known = self.known_options(name)

    @staticmethod
    def merge(shown, wanted):
        """The wanted lines; cells that are `…` there keep what is shown."""
        if len(shown) != len(wanted):
            return wanted
        return ["|".join(a if b.strip() == "…" else b for a, b in zip(x.split("|"), y.split("|")))
                if "…" in y and x.count("|") == y.count("|") else y for x, y in zip(shown, wanted)]

    @staticmethod
    def difference(shown, wanted):
        for a, b in zip(shown + ["(nothing)"], wanted + ["(nothing)"]):
            if a != b:
                return f"\n    is:     {a}\n    wanted: {b}"
        return ""

    @staticmethod
    def anchors(path):
        titles = [re.sub(r"[`*]", "", line.lstrip("#").strip()) for line in path.read_text().splitlines()
                  if re.match(r"#+ ", line)]
        return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}

    def check_references(self, path):
        inside = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith("```"):
                inside = not inside
            if inside:
                continue
            for target in re.findall(r"(?:\]\(|src=\"|srcset=\"|href=\")([^)\" ]+)", line):
                if re.match(r"[a-z]+:", target):
                    if not re.fullmatch(r"https?://[\w.-]+\.[a-z]+(:\d+)?(/[^\s<>]*)?", target):
                        self.problem(path, number, f"{target} is no link")
                    continue
                name, _, anchor = target.partition("#")
                file = (path.parent / name).resolve() if name else path
                if not file.exists():
                    self.problem(path, number, f"the link {target} leads nowhere")
                elif anchor and anchor not in self.anchors(file):
                    self.problem(path, number, f"there is no heading for the link {target}")
            for code in re.findall(r"`([^`]+)`", line):
                self.check_names(path, number, code)

    def check_names(self, path, number, code):
        for name in re.findall(r"[\w/.]+\.hpp\b", code):
            if not any(name in (h, h.removeprefix("weft/")) or h.endswith("/" + name) for h in self.headers):
                self.problem(path, number, f"there is no header {name}")
        for space, name in re.findall(r"\b(?:weft::)?(\w+)::(\w+)", code):
            if space in NAMESPACES and name not in self.words:
                self.problem(path, number, f"no header has the name {space}::{name}")


    def check_made_pages(self):
        """The pages that are made as a whole; and none beside them."""
        try:
            wanted = reference.pages()
        except reference.Missing as e:
            self.problems.append(str(e))
            return
        for name, text in wanted.items():
            path = ROOT / name
            if path.exists() and path.read_text() == text:
                self.checked += 1
            elif self.options.update:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
                print(f"{name}: updated")
            else:
                state = "differs from" if path.exists() else "is missing; it is made from"
                self.problems.append(f"{name}: {state} the headers; run test/docs/check.py --update")
        for path in sorted((ROOT / "docs/strategies").glob("*.md")):
            if str(path.relative_to(ROOT)) not in wanted:
                self.problems.append(f"{path.relative_to(ROOT)}: there is no such strategy")

    def check_registry(self):
        """compare knows no strategy that the registry's source does not show."""
        program = self.program("compare")
        if not program:
            return
        text = subprocess.run([program, "--help", "strategies"], capture_output=True, text=True, check=True).stdout
        listed = re.search(r"^Strategies$(.*)", text, re.S | re.M)[1]
        for kind, word in (("partitioner", "partition"), ("policy", "schedule"), ("refiner", "refine")):
            known = re.split(r",\s*", re.search(rf"^  {word}: +(.*?)(?=^  \w+:)", listed, re.S | re.M)[1].strip())
            if known != reference.names(kind):
                self.problems.append(f"compare --help: {word} has other names than reference.py finds in the registry: "
                                     f"{', '.join(set(known) ^ set(reference.names(kind)))}")

    def check_index(self):
        """docs/README.md has a row for every page."""
        index = ROOT / "docs/README.md"
        rows = re.findall(r"^\| \[[^\]]*\]\(([^)#]*)\)", index.read_text(), re.M)
        for page in sorted((ROOT / "docs").rglob("*.md")):
            name = str(page.relative_to(ROOT / "docs"))
            once = page != index and (not name.startswith("strategies/") or name.endswith("README.md"))
            if once and rows.count(name) != 1:
                self.problem(index, 1, f"{rows.count(name)} rows begin with a link to {name} instead of 1")

    def check_versions(self):
        parts = [re.search(rf"WEFT_VERSION_{p} (\d+)", self.headers["weft/core/config.hpp"])[1]
                 for p in ("MAJOR", "MINOR", "PATCH")]
        for name, what, pattern in (("CHANGELOG.md", "the first version", r"^## \[?(\d+\.\d+\.\d+)"),
                                    ("CITATION.cff", "the version", r"^version: (\S+)$")):
            version = re.search(pattern, (ROOT / name).read_text(), re.M)
            if not version or version[1] != ".".join(parts):
                self.problem(ROOT / name, 1, f"{what} is not {'.'.join(parts)}, that of core/config.hpp")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, help="folder of the built examples")
    parser.add_argument("--reference", type=pathlib.Path, help="folder with data/ and reference/ (WEFT_REFERENCE_DATA)")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("page", nargs="*", type=pathlib.Path, help="check the blocks of these pages only")
    options = parser.parse_args()
    checker = Checker(options)
    pages = lambda: [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]  # noqa: E731
    for page in [p.resolve() for p in options.page] or pages():
        checker.check_blocks(page)
    checker.check_made_pages()  # with what the tables say now
    for page in pages():
        checker.check_references(page)
    checker.check_registry()
    checker.check_index()
    checker.check_versions()
    for line in checker.skipped:
        print(f"skipped: {line}")
    for line in checker.problems:
        print(line)
    print(f"{len(pages())} pages, {checker.checked} blocks checked, {len(checker.skipped)} skipped, "
          f"{len(checker.problems)} problems")
    return 1 if checker.problems or not checker.checked else 0


if __name__ == "__main__":
    sys.exit(main())
