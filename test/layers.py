#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks what the folder structure promises: layers, details that stay inside, self-description, size and silence of
the headers, that they include the standard headers that they need, and that they look at the compiler first.

  layers.py                    check include/weft; one line per violation, exit code 1 if there is one
  layers.py --write-umbrella   regenerate include/weft/all.hpp and the other umbrellas
  layers.py --self-test        check that every rule finds a violation of it
"""
import re
import sys
import tempfile
import textwrap
from pathlib import Path

LAYERS = [
    ["core"],
    ["ops"],
    ["graph", "platform"],
    ["workload", "cost"],
    ["model"],
    ["plan", "problem.hpp", "owning_problem.hpp", "instance.hpp"],
    ["partition", "schedule", "concurrency", "bound", "validate", "allocate"],
    ["refine", "simulate", "execute", "throughput", "evaluate", "objective", "shard"],
    ["solve", "parallel"],
    ["planner"],
    ["views", "views.hpp"],
    ["io", "report"],
    ["interop"],
    ["tool"],
]
LAYER = {part: number for number, parts in enumerate(LAYERS) for part in parts}
OPTIONAL = {"views", "views.hpp", "io", "report", "interop", "tool"}  # need foreign libraries: not in the umbrella
# The umbrella headers: what they say of themselves, and which headers they have. A header is in the first that wants
# it.
UMBRELLAS = {
    "networks.hpp": ("Workloads and platforms to try things with: networks that you write, bundled ones, and random "
                     "graphs. Apart from all.hpp, since a program that plans its own graphs should not wait for a "
                     "compiler that reads them.",
                     r"workload/(generate|nn/|zoo|training_step\.hpp)|graph/(generate|polyhedral)|(platform|cost)/generate"),
    "models.hpp": ("Facts about ops by their type (shapes, FLOP, gradients, rooflines), and machines described by "
                   "their parts: for those who read models. Apart from all.hpp, which plans with any costs.",
                   r"ops/|model/|workload/(frozen|fused|graph_training_step|in_place|model\.|offloaded|op_blocks|optimizer|parameter_holders|recomputation|recomputed|stored_as)|"
                   r"cost/(efficiency|launches|roofline)|partition/(on_accelerators|pin)|solve/(fastest_amount|narrower_numbers|offloading|recomputation)|platform/(described_machine|gpu_names|inventory|processor_sheets)"),
    "concurrency.hpp": ("Numbers of threads for ops, and which ops run at once: models of times, controllers, and "
                        "simulated, bounded and checked runs of teams on one many-core machine.",
                        r"concurrency/|bound/moldable|platform/machine|simulate/manycore|validate/teams"),
    "execute.hpp": ("Runs of plans: a plan as a program for each device, executors, and offsets of tensors in memory.",
                    r"execute/|allocate/"),
    "shard.hpp": ("Variants of ops: how each op is sharded, or which of several ways it is done, chosen at once for "
                  "all. Apart from all.hpp, whose users would compile a search that few of them need.",
                  r"shard/"),
    "planner.hpp": ("The planner: ways in which devices share a step (data, tensor and pipeline parallelism), "
                    "compared, and the one to take. Apart from all.hpp, which plans where each op runs once.",
                    r"planner/"),
    "parallel.hpp": ("Steps that several devices do together: collectives as ops and transfers, and data parallelism. "
                     "Apart from all.hpp, which plans where each op runs once.",
                     r"parallel/|platform/canonical_order"),
    "all.hpp": ("The main umbrella: graphs, platforms, costs, workloads, and every partitioner, policy, refiner, "
                "bound, simulator and solver; it needs the standard library only. The other umbrellas are "
                "networks.hpp, models.hpp, concurrency.hpp, execute.hpp, shard.hpp, parallel.hpp "
                "and planner.hpp; graphs cut at "
                "many levels are in partition/acyclic.hpp.", r""),
}
# Too expensive for an umbrella, whose users rarely need them
BY_NAME = re.compile(r"planner/(kinds/|run|devices|shareable|short_search|usual_placements)|"
                     r"partition/(acyclic|multilevel/)|workload/generate/named|execute/(measured_step|tuning)")
# A checker shares nothing with what it checks.
FORBIDDEN = {"validate": {"partition", "schedule", "simulate", "allocate"}}
FOREIGN = {"views": ("range/v3/",), "io": ("nlohmann/", "range/v3/"), "report": ("range/v3/",)}
MAX_LINES = 600

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
PRINT = re.compile(r"\bstd::(cout|cerr|clog|puts)\b|(?<![a-z_])(std::)?[fv]?printf\s*\(|#\s*include\s*<iostream>")
EXIT = re.compile(r"(?<![\w.>])(std::)?(exit|abort|terminate|quick_exit|_Exit)\s*\(")
FOREIGN_DETAIL = re.compile(r"\b(\w+)::detail\b")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
STANDARD_NAME = re.compile(r"\bstd::(?:ranges::)?(\w+)")
# Names of the standard library, by the header that has them. Where one of them is used, this header, or a header of
# weft that is included there, includes it: what a standard library's headers include of each other differs.
STANDARD = {
    "algorithm": "all_of any_of clamp copy fill find_if lower_bound max_element min_element none_of sort upper_bound",
    "array": "array", "atomic": "atomic atomic_ref", "barrier": "barrier",
    "bit": "bit_cast bit_width countr_zero popcount",
    "bitset": "bitset", "charconv": "from_chars to_chars", "chrono": "chrono",
    "cmath": "ceil exp floor isfinite isnan log log2 pow sqrt",
    "compare": "partial_ordering strong_ordering weak_ordering",
    "complex": "complex", "concepts": "convertible_to floating_point integral invocable same_as",
    "condition_variable": "condition_variable", "cstddef": "byte",
    "cstdint": "int32_t int64_t uint8_t uint16_t uint32_t uint64_t", "cstring": "memcmp memcpy", "deque": "deque",
    "exception": "current_exception exception_ptr throw_with_nested", "filesystem": "filesystem",
    "fstream": "ifstream ofstream", "functional": "function", "future": "async future promise",
    "initializer_list": "initializer_list", "istream": "istream", "iterator": "back_inserter", "latch": "latch",
    "limits": "numeric_limits", "map": "map multimap", "memory": "make_shared make_unique shared_ptr unique_ptr",
    "mutex": "lock_guard mutex scoped_lock unique_lock", "numeric": "accumulate gcd iota partial_sum",
    "optional": "nullopt optional", "ostream": "ostream", "queue": "priority_queue queue", "regex": "regex",
    "set": "multiset set", "source_location": "source_location", "span": "span",
    "sstream": "istringstream ostringstream", "stdexcept": "invalid_argument logic_error runtime_error",
    "stop_token": "stop_source stop_token", "string": "getline string", "string_view": "string_view",
    "thread": "jthread thread", "tuple": "make_tuple tie tuple",
    "type_traits": "conditional_t decay_t invoke_result_t is_arithmetic_v is_same_v remove_cvref_t",
    "unordered_map": "unordered_map", "unordered_set": "unordered_set", "utility": "exchange forward move pair swap",
    "variant": "variant visit", "vector": "vector",
}
STANDARD_HEADER = {name: header for header, names in STANDARD.items() for name in names.split()}


def part_of(path):
    """The folder, or the file at the top, that decides a header's layer."""
    return path.split("/")[0]


def headers_in(root):
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*.hpp"))


def umbrella_headers(root, umbrella):
    """What an umbrella header includes: of what needs the standard library only."""
    chosen = []
    for path in headers_in(root):
        if path in UMBRELLAS or part_of(path) in OPTIONAL or "detail" in path.split("/") or BY_NAME.match(path):
            continue
        if umbrella != next(name for name, (_, wants) in UMBRELLAS.items() if re.match(wants, path)):
            continue
        if not any("/" in name for kind, name in INCLUDE.findall((root / path).read_text()) if kind == "<"):
            chosen.append(path)
    return chosen


def umbrella_text(root, umbrella):
    chosen = umbrella_headers(root, umbrella)
    chosen.sort(key=lambda path: (LAYER.get(part_of(path), len(LAYERS)), path))
    about = textwrap.fill(UMBRELLAS[umbrella][0], 120, initial_indent="/// ", subsequent_indent="/// ")
    text = f"// SPDX-License-Identifier: BSL-1.0\n{about}\n#pragma once\n"
    previous = None
    for path in chosen:
        layer = LAYER.get(part_of(path))
        text += ("\n" if layer != previous else "") + f'#include "weft/{path}"\n'
        previous = layer
    return text


def write_umbrellas(root):
    for umbrella in UMBRELLAS:
        (root / umbrella).write_text(umbrella_text(root, umbrella))


def check_header(root, path, text, say):
    lines = text.splitlines()
    if not lines or lines[0] != "// SPDX-License-Identifier: BSL-1.0":
        say(path, 1, "the first line must be '// SPDX-License-Identifier: BSL-1.0'")
    if len(lines) < 2 or not re.match(r"/// \S.*", lines[1]):
        say(path, 2, "the second line must say in one '///' sentence what is in the header")
    if "#pragma once" not in lines:
        say(path, 1, "has no '#pragma once'")
    if len(lines) > MAX_LINES:
        say(path, MAX_LINES, f"has {len(lines)} lines; {MAX_LINES} is the most")
    for number, line in enumerate(lines, 1):
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
            say(path, number, "unfinished mark")
        macro = re.match(r"\s*#\s*define\s+(\w+)", line)
        if macro and path != "core/config.hpp" and not re.search(rf"^\s*#\s*undef\s+{macro[1]}\b", text, re.M):
            say(path, number, "macros that outlive their header belong into core/config.hpp")
    bare = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    code = STRING.sub('""', bare)
    for pattern, what in ((PRINT, "prints"), (EXIT, "ends the program")):
        if pattern is PRINT and part_of(path) == "report":
            continue
        for match in pattern.finditer(code):
            say(path, code[: match.start()].count("\n") + 1, f"library code {what}: {match.group().strip()}")
    return bare


def check_includes(root, path, code, say):
    part = part_of(path)
    if path not in UMBRELLAS and part not in LAYER:
        say(path, 1, f"'{part}' is in no layer; add it to the table in {Path(__file__).name}")
        return
    first = INCLUDE.search(code)
    if path not in UMBRELLAS and path != "core/config.hpp" and not (first and first[2].startswith("weft/")):
        say(path, 1, "includes a header of weft first, core/config.hpp if no other: an old compiler is to be told so")
    for match in INCLUDE.finditer(code):
        kind, name = match.groups()
        line = code[: match.start()].count("\n") + 1
        if kind == "<":
            if part != "interop" and "/" in name and not name.startswith(FOREIGN.get(part.removesuffix(".hpp"), ())):
                say(path, line, f"may not depend on <{name}>")
            continue
        if not name.startswith("weft/"):
            say(path, line, f'write "weft/…" instead of "{name}"')
            continue
        target = name.removeprefix("weft/")
        if not (root / target).is_file():
            say(path, line, f"includes {name}, which does not exist")
        elif path in UMBRELLAS:
            continue
        elif target in UMBRELLAS:
            say(path, line, "includes the umbrella header")
        elif LAYER.get(part_of(target), 99) > LAYER[part]:
            say(path, line, f"layer {LAYER[part]} ({part}) includes layer {LAYER.get(part_of(target))} ({target})")
        elif part_of(target) in FORBIDDEN.get(part, ()):
            say(path, line, f"{part} must not depend on {part_of(target)}")
        elif "detail" in target.split("/") and part_of(target) != part:
            say(path, line, f"weft/{target} is for {part_of(target)} alone; give what {part} needs a public header")
    for match in FOREIGN_DETAIL.finditer(code):
        if match[1] in LAYER and match[1] != part:
            line = code[: match.start()].count("\n") + 1
            say(path, line, f"{match[1]}::detail is for {match[1]} alone; give what {part} needs a public name")


def check_cycles(root, includes, say):
    state = {}

    def visit(path, trail):
        state[path] = "open"
        for target in includes.get(path, ()):
            if state.get(target) == "open":
                say(path, 1, "include cycle: " + " -> ".join(trail[trail.index(target):] + [target]))
            elif target not in state:
                visit(target, trail + [target])
        state[path] = "done"

    for path in sorted(includes):
        if path not in state:
            visit(path, [path])


def check_folder_cycles(includes, say):
    """A folder is a layer: what it includes does not come back to it."""
    reached = {}
    for path, targets in includes.items():
        if path not in UMBRELLAS:
            reached.setdefault(part_of(path), {}).update(
                {part_of(t): path for t in targets if t not in UMBRELLAS and part_of(t) != part_of(path)})

    def leads_to(part, goal, seen):
        return part == goal or any(next not in seen and leads_to(next, goal, seen | {next})
                                   for next in sorted(reached.get(part, ())))

    for part in sorted(reached):
        for target, path in sorted(reached[part].items()):
            if part < target and leads_to(target, part, {target}):
                say(path, 1, f"{part} includes {target}, and {target} leads back to {part}")


def check_programs(root, say):
    """What is not the library uses what is public."""
    for folder in ("src", "examples", "benchmark"):
        for path in sorted(p for kind in ("*.cpp", "*.hpp") for p in (root.parents[1] / folder).rglob(kind)):
            name = path.relative_to(root.parents[1]).as_posix()
            code = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), path.read_text())
            if name.startswith("src/compiled/"):  # compiles what is inside
                continue
            uses = [m for m in INCLUDE.finditer(code) if m[2].startswith("weft/") and "detail" in m[2].split("/")]
            uses += [m for m in FOREIGN_DETAIL.finditer(code) if m[1] in LAYER]
            for match in uses:
                line = code[: match.start()].count("\n") + 1
                say(f"../../{name}", line, f"a program must not use {match[0].strip()}; give it a public name")


def check_standard_headers(includes, codes, say):
    def included(path):
        """The standard and foreign headers that a header includes, or those of weft that it includes."""
        seen, left, found = set(), [path], set()
        while left:
            if (at := left.pop()) in codes and at not in seen:
                seen.add(at)
                left += includes[at]
                found.update(name for kind, name in INCLUDE.findall(codes[at]) if kind == "<")
        return found

    for path, code in codes.items():
        there = None
        for name in sorted({m[1] for m in STANDARD_NAME.finditer(code)} & STANDARD_HEADER.keys()):
            there = included(path) if there is None else there
            if STANDARD_HEADER[name] not in there:
                line = code[: re.search(rf"\bstd::(?:ranges::)?{name}\b", code).start()].count("\n") + 1
                say(path, line, f"uses std::{name} without <{STANDARD_HEADER[name]}>")


def violations(root):
    found = []

    def say(path, line, problem):
        found.append(f"include/weft/{path}:{line}: {problem}".replace("include/weft/../../", ""))

    includes, codes = {}, {}
    for path in headers_in(root):
        code = check_header(root, path, (root / path).read_text(), say)
        check_includes(root, path, code, say)
        includes[path] = [n.removeprefix("weft/") for k, n in INCLUDE.findall(code) if k == '"']
        codes[path] = code
    check_cycles(root, includes, say)
    check_folder_cycles(includes, say)
    check_programs(root, say)
    check_standard_headers(includes, codes, say)
    for umbrella in UMBRELLAS:
        listed = includes.get(umbrella, [])
        wanted = umbrella_headers(root, umbrella)
        for path in sorted(set(wanted) - set(listed)):
            say(umbrella, 1, f"lacks weft/{path}; run test/layers.py --write-umbrella")
        for path in sorted(set(listed) - set(wanted)):
            say(umbrella, 1, f"must not include weft/{path}; run test/layers.py --write-umbrella")
    return found


def self_test():
    bare = "// SPDX-License-Identifier: BSL-1.0\n/// A header.\n#pragma once\n"
    head = bare + '#include "weft/core/config.hpp"\n'
    good = {"core/config.hpp": bare, "core/a.hpp": head,
            "graph/b.hpp": head + '#include "weft/core/a.hpp"\n#include <vector>\n',
            "graph/c.hpp": head + '#include "weft/graph/b.hpp"\nusing c = std::vector<int>;\n',
            "graph/nested/e.hpp": head + '#include "weft/graph/detail/d.hpp"\nusing graph::detail::d;\n',
            "graph/detail/d.hpp": head}
    cases = [  # (what is added to a good tree, what must be said)
        ({"core/c.hpp": head + '#include "weft/graph/b.hpp"\n'}, "layer 0 (core) includes layer 2"),
        ({"validate/v.hpp": head + '#include "weft/partition/p.hpp"\n', "partition/p.hpp": head}, "must not depend on"),
        ({"core/c.hpp": head + '#include "weft/core/none.hpp"\n'}, "does not exist"),
        ({"plan/p.hpp": head + '#include "weft/graph/detail/d.hpp"\n', "graph/detail/d.hpp": head}, "for graph alone"),
        ({"problem.hpp": head + '#include "weft/graph/detail/d.hpp"\n', "graph/detail/d.hpp": head}, "graph alone"),
        ({"plan/p.hpp": head + "using graph::detail::d;\n"}, "graph::detail is for graph alone"),
        ({"core/c.hpp": head + '#include "a.hpp"\n'}, "instead of"),
        ({"core/c.hpp": head + "#include <fmt/format.h>\n"}, "may not depend on <fmt/format.h>"),
        ({"core/c.hpp": head + '#include "weft/core/d.hpp"\n', "core/d.hpp": head + '#include "weft/core/c.hpp"\n'},
         "include cycle"),
        ({"plan/c.hpp": head + '#include "weft/problem.hpp"\n', "problem.hpp": head + '#include "weft/plan/d.hpp"\n',
          "plan/d.hpp": head}, "leads back to plan"),
        ({"../../src/tool/p.cpp": '#include "weft/graph/detail/d.hpp"\n'}, "must not use"),
        ({"../../examples/p.cpp": "using weft::graph::detail::d;\n"}, "must not use graph::detail"),
        ({"core/c.hpp": bare}, "an old compiler"),
        ({"core/c.hpp": bare + '#include <vector>\n#include "weft/core/config.hpp"\n'}, "an old compiler"),
        ({"new/c.hpp": head}, "in no layer"),
        ({"core/c.hpp": head.replace("SPDX", "")}, "first line"),
        ({"core/c.hpp": head.replace("/// A header.", "")}, "second line"),
        ({"core/c.hpp": head.replace("#pragma once", "")}, "pragma once"),
        ({"core/c.hpp": head + "\n" * MAX_LINES}, "is the most"),
        ({"core/c.hpp": head + "// TO" + "DO: more\n"}, "unfinished mark"),
        ({"core/c.hpp": head + "#define X\n"}, "belong into core/config.hpp"),
        ({"core/c.hpp": head + "inline void f() { std::printf(1); }\n"}, "prints"),
        ({"core/c.hpp": head + "inline void f() { std::exit(1); }\n"}, "ends the program"),
        ({"core/c.hpp": head + "#include <map>\nusing x = std::map<int, std::ranges::vector>;\n"}, "without <vector>"),
        ({"core/c.hpp": None}, "lacks weft/core/c.hpp"),
        ({"io/c.hpp": head, "all.hpp": head + '#include "weft/io/c.hpp"\n'}, "must not include weft/io/c.hpp"),
        ({"execute/c.hpp": None}, "lacks weft/execute/c.hpp"),
        ({"workload/zoo.hpp": head, "all.hpp": head + '#include "weft/workload/zoo.hpp"\n'}, "must not include weft/w"),
    ]
    failed = 0

    def said(tree, complete=True):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "include" / "weft"
            for path, text in tree.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            if "all.hpp" not in tree and complete:
                write_umbrellas(root)
            return violations(root)

    if found := said(good):
        failed += 1
        print("a good tree is rejected:", *found, sep="\n  ")
    for extra, expected in cases:
        tree = good | {path: head if text is None else text for path, text in extra.items()}
        found = said(tree, complete=None not in extra.values())
        if not any(expected in line for line in found):
            failed += 1
            print(f"expected '{expected}' for {list(extra)}, got:", *found, sep="\n  ")
    return failed


def main(arguments):
    root = Path(__file__).resolve().parent.parent / "include" / "weft"
    if arguments == ["--write-umbrella"]:
        write_umbrellas(root)
        return 0
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    if arguments:
        print(__doc__)
        return 2
    found = violations(root)
    print(*found, f"{len(headers_in(root))} headers, {len(found)} violations", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
