# SPDX-License-Identifier: BSL-1.0
"""The pages and tables of docs/ that are made from the headers, for check.py: a page per strategy of the registry, and
indices of strategies, headers and concepts. What they lack, a docstring lacks; `Missing` says which.

A docstring of a strategy is text, and then, each at the beginning of a line or after a full stop:

  Departs: …       where it differs from its source (optional)
  Source: …        where it comes from
  Complexity: …    what it costs
  Memory: …        (optional)
  Choose it …      when to use it
"""
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include/weft"
SOURCES = "algorithms.md#sources"  # what [CP] and the like stand for

KINDS = {"partitioner": "Partitioner", "policy": "Ready policy", "refiner": "Refiner", "solver": "Solver"}
PLURALS = {"partitioner": "Partitioners", "policy": "Ready policies", "refiner": "Refiners", "solver": "All together"}
OPTIONS = {"partitioner": "--partition", "policy": "--schedule", "refiner": "--refine",
           "solver": "--schedule best --partition"}  # of compare
# The page that has more, by the part of the list that has the strategy.
MORE = {"placement_rules": ("reproduction.md", "how its results compare with those of the paper"),
        "list_schedulers": ("list_scheduling.md", "list schedulers side by side, and what makes them fast"),
        "clusterings": ("clustering.md", "how clusters are mapped to devices"),
        "memory_constrained": ("memory.md", "how plans keep to the memory"),
        "searches": ("exact.md", "what can be proven"),
        "policies": ("execution_model.md", "what happens in a run"),
        "refiners": ("refinement.md", "how changes are evaluated, and how refiners compare"),
        "best": ("memory.md", "plans that keep to the memory over time")}
LABELS = ("Departs", "Source", "Complexity", "Memory")


class Missing(ValueError):
    """A docstring lacks something."""


@functools.cache
def headers():
    """Path below include/weft → text."""
    return {str(h.relative_to(INCLUDE)): h.read_text() for h in sorted(INCLUDE.rglob("*.hpp"))}


def sentence_of(text):
    """What a header says of itself: its first sentence."""
    comment = re.match(r"(?://(?! ?/).*\n)*((?:///.*\n)+)", text)
    if not comment:
        return ""
    lines = [line[3:].strip() for line in comment[1].splitlines()]
    whole = " ".join(lines[: lines.index("")] if "" in lines else lines)
    return re.match(r".*?[.](?= [A-Z`]|$)|.*", whole)[0].rstrip(".: ")


def shown_default(value):
    """What stands in a table of options for a member's initial value."""
    if value.startswith("std::numeric_limits"):
        return "no limit"
    return "" if value in ("", "{}", "Start()", "Policy()") else f"`{value}`"


class Declaration:
    """A public name with its docstring: `keyword name … {` or `using name = …;`."""

    def __init__(self, header, match):
        text = headers()[header]
        self.header = header
        self.lines = [line.removeprefix("///").removeprefix(" ") for line in match[1].splitlines()]
        end = text.find(";", match.end())
        alias = re.match(r"\s*=\s*([^;]+)", text[match.end():end]) if match[2] == "using" else None
        self.target = re.sub(r"\s+", " ", alias[1]) if alias else None
        body = re.match(r"[^;{]*\{\n(.*?)^\};?", text[match.end():], re.S | re.M) if match[2] == "struct" else None
        self.body = body[1] if body else ""


@functools.cache
def declaration(qualified):
    """The declaration of `space::name`, found by its docstring."""
    space, _, name = qualified.rpartition("::")
    pattern = re.compile(r"((?:^///.*\n)+)(?:^template.*\n(?:^ +.*\n)*)?^(struct|using|\w+_result) "
                         rf"{name}\b(?! *;)", re.M)
    found = [(h, m) for h, text in headers().items() if not space or f"namespace weft::{space} {{" in text
             for m in pattern.finditer(text)]
    if len(found) != 1:
        raise Missing(f"include/weft: {len(found)} declarations of {qualified} with a docstring instead of 1")
    return Declaration(*found[0])


class Strategy:
    def __init__(self, kind, name, type_name, part):
        self.kind, self.name, self.type_name, self.part = kind, name, type_name, part
        self.declared = declaration(type_name)
        self.text, self.parts = split(self.declared.lines)
        for part in ("Source", "Complexity", "Choose it"):
            if part not in self.parts:
                raise Missing(f"include/weft/{self.declared.header}: the docstring of {type_name} has no "
                              f"'{part}{'' if part == 'Choose it' else ':'} …'")

    def sentence(self):
        """In one sentence: the header's if that has no other strategy, else the docstring's first."""
        if sum(s.declared.header == self.declared.header for s in strategies()) == 1:
            return sentence_of(headers()[self.declared.header])
        return re.match(r".*?[.:](?= |$)", self.text.replace("\n", " "))[0].rstrip(".:")

    def options(self):
        """(name, default, description) of each."""
        body = self.declared.body
        if self.kind == "solver":
            body = declaration("solve::best_options").body
        elif self.declared.target:
            body = declaration("partition::" + re.match(r"\w+", self.declared.target)[0]).body
        found = []
        public = re.split(r"^(?:private:|  (?:template|constexpr|struct|class|[\w:]+ operator)\b)", body, flags=re.M)[0]
        pattern = re.compile(r"((?:^  ///.*\n)*)^  (?:\[\[no_unique_address\]\] )?(?!static|using)([\w:<>*() ,&]+?) "
                             r"(\w+)(?: = ([^;]+)|(\{\}))?;(?: *///< (.*))?.*\n", re.M)
        for before, type_name, name, value, _, behind in pattern.findall(public):
            if type_name in ("Priority", "Choice", "Offset", "Preference", "Clusterer", "Mapper"):
                continue  # an alias has chosen it
            text = " ".join(line.strip().removeprefix("///").strip() for line in before.splitlines()) or behind
            if not text:
                raise Missing(f"include/weft/{self.declared.header}: {name} of {self.type_name} has no docstring")
            found.append((name, shown_default(value), text))
        return found

    def cost(self):
        """Its complexity in short."""
        return re.split(r"[.,;:](?= |$)| instead", self.parts["Complexity"])[0]

    def row(self):
        """The strategy's name in the tables of docs/performance.md."""
        return {"refiner": f"`heft` + `{self.name}`", "solver": "`solve::best`"}.get(self.kind, f"`{self.name}`")


def split(lines):
    """The text of a docstring, and its labelled parts."""
    blocks = []  # of lines; a list item or a line of code stands alone
    fenced = False
    for line in lines:
        if line.startswith("```"):
            fenced = not fenced
            blocks.append(line if fenced else blocks.pop() + "\n" + line)
        elif fenced:
            blocks[-1] += "\n" + line
        elif not line:
            blocks.append("")
        elif re.match(r" *- ", line) or not blocks or not blocks[-1] or blocks[-1].endswith("```"):
            blocks.append(line.strip() if re.match(r" *- ", line) else line)
        elif blocks[-1].startswith("- ") and not line.startswith(" "):
            blocks += ["", line]
        else:
            blocks[-1] += " " + line.strip()
    text, parts = [], {}
    for block in blocks:
        if block.startswith("```"):
            text += ["", block, ""]
            continue
        pieces = re.split(rf"(?:^|(?<=[.?)] ))(?:({'|'.join(LABELS)}): |(Choose it) )", block)
        text.append(pieces[0].strip())
        for label, choose, content in zip(pieces[1::3], pieces[2::3], pieces[3::3]):
            parts[label or choose] = content.strip()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(text)).strip(), parts


@functools.cache
def strategies():
    """All of the library's list, in its order, and `best`."""
    found = []
    part = None
    for line in headers()["solve/standard_strategies.hpp"].splitlines():
        if match := re.match(r"constexpr void (\w+)\(To& to\) \{", line):
            part = match[1]
        elif match := re.match(r'  to.add_(partitioner|policy|refiner)\("(\w+)", ([\w:]+)(?:<.*>)?\{\}\);', line):
            found.append(Strategy(*match.groups(), part))
    return [*found, Strategy("solver", "best", "solve::best", "best")]


def names(kind):
    """What may stand in the first column of a table of all of a kind."""
    if kind == "preset":
        return [name for name, _ in presets()]
    return [s.name for s in strategies() if s.kind == kind]


def presets():
    """(name, description) of the named platforms."""
    return re.findall(r'^  \{"(\w+)", "([^"]+)", ', headers()["platform/presets.hpp"], re.M)


def relative(target, page):
    """A path below the root, as a link on a page (both as text)."""
    here, there = page.split("/")[:-1], target.split("/")
    while here and here[0] == there[0]:
        here, there = here[1:], there[1:]
    return "/".join([".."] * len(here) + there)


@functools.cache
def places_of_names():
    """Where links lead from names in code spans: a strategy's page, or the only header that is called so."""
    stems = [pathlib.PurePath(h).stem for h in headers()]
    places = {stem: f"include/weft/{h}" for stem, h in zip(stems, headers()) if stems.count(stem) == 1}
    for s in strategies():
        places[s.name] = places[s.type_name] = f"docs/strategies/{s.name}.md"
    return places


def linked(text, page):
    """Text of a docstring with links: to sources, headers, pages, strategies, and kernels that have a header."""
    here = page.removeprefix("docs/strategies/").removesuffix(".md")

    def code(match):
        name = match[1]
        target = places_of_names().get(name)
        return match[0] if not target or name.rpartition("::")[2] == here else f"[{match[0]}]({relative(target, page)})"

    def file(match):
        if match[0].startswith("docs/"):
            return f"[{match[0].removeprefix('docs/')}]({relative(match[0], page)})"
        return f"[`{match[0]}`]({relative('include/weft/' + match[0], page)})" if match[0] in headers() else match[0]

    def outside_code(plain):
        plain = re.sub(r"\[([A-Z]{2,}|Carlier)\]", rf"[[\1]]({relative('docs/' + SOURCES, page)})", plain)
        return re.sub(r"\b(?:docs/\w+\.md|[\w/]+\.hpp)\b", file, plain)

    blocks = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
    for i in range(0, len(blocks), 2):
        pieces = re.split(r"(`[^`]+`)", blocks[i])
        blocks[i] = "".join(re.sub(r"`([^`]+)`", code, p) if p.startswith("`") else outside_code(p) for p in pieces)
    return "".join(blocks)


def table(head, rows, align=None):
    return ["| " + " | ".join(head) + " |", "|" + "|".join(align or ["---"] * len(head)) + "|",
            *("| " + " | ".join(row) + " |" for row in rows)]


def suite_tables():
    """The tables of docs/performance.md that begin with `| strategy |` or `| ready policy |`: (head, rows)."""
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", (ROOT / "docs/performance.md").read_text(), re.M):
        head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        if head[0] in ("strategy", "ready policy"):
            found.append((head, rows))
    return found


def result_of(strategy):
    """(head, rows, place) of the table with its results; None if `benchmark/quality` was not run with it yet."""
    for head, rows in suite_tables():
        if (head[0] == "ready policy") == (strategy.kind == "policy"):
            for place, row in enumerate(rows, 1):
                if row[0] == strategy.row():
                    return head, rows, place
    return None


def made(what):
    """The first line of a page that is made as a whole."""
    return f"<!-- Generated from {what} by test/docs/check.py --update; edit there, not here. -->"


def strategy_page(s):
    page = f"docs/strategies/{s.name}.md"
    header = f"include/weft/{s.declared.header}"
    link = lambda target: relative(target, page)  # noqa: E731
    lines = [made(f"the docstring in {header}"), "", f"# `{s.name}`", "",
             f"*{KINDS[s.kind]}* `{s.type_name}`, in [`{s.declared.header}`]({link(header)}); "
             f"[`compare {OPTIONS[s.kind]} {s.name}`]({link('docs/compare.md')}).", "",
             linked(s.text, page), ""]
    if "Departs" in s.parts:
        lines += [f"*Departs from its source:* {linked(s.parts['Departs'], page)}", ""]
    if s.declared.target:
        lines += [f"It is `{s.declared.target}`.", ""]
    lines += ["## When to use it", "", linked(f"Choose it {s.parts['Choose it']}", page), ""]
    lines += ["## Source and complexity", ""]
    lines += [f"- **{label}:** {linked(s.parts[label], page)}" for label in LABELS[1:] if label in s.parts]
    lines += ["", "n ops, m edges.", ""]
    lines += ["## Options", ""]
    if options := s.options():
        lines += table(["option", "default", "what it is"],
                       [[f"`{n}`", v, linked(t, page)] for n, v, t in options]) + [""]
    else:
        lines += ["None.", ""]
    if result := result_of(s):
        head, rows, place = result
        what = f"Makespan / lower bound, geometric means over the [suite]({link('docs/generators.md')}#the-suite)"
        how = f"[how it was measured]({link('docs/performance.md')}#quality-quality)"
        if s.kind == "policy":
            what += f", on the placements of three partitioners; the plans of `heft` have an order ({how})."
        else:
            what = f"Place {place} of {len(rows)}. {what}, with the first and the last of all ({how})."
            rows = [rows[i] for i in sorted({0, place - 1, len(rows) - 1})]
        lines += ["## In the suite", "", what, "", *table(head, rows, ["---"] + ["--:"] * (len(head) - 1)), ""]
    more, what = MORE[s.part]
    lines += ["## More", "", f"- [{what[0].upper()}{what[1:]}]({link('docs/' + more)})",
              f"- [All strategies]({link('docs/strategies/README.md')})", ""]
    return "\n".join(lines)


def strategy_rows(kind, page):
    return [[f"[`{s.name}`]({relative(f'docs/strategies/{s.name}.md', page)})", linked(s.sentence(), page),
             linked(s.cost(), page)] for s in strategies() if s.kind == kind]


def strategy_index():
    page = "docs/strategies/README.md"
    lines = [made("the headers of the strategies"), "", "# Strategies", "",
             "All strategies of `weft::registry::standard()`, each with a page of its own. The last column is the "
             "geometric mean of makespan / lower bound over the [suite](../generators.md#the-suite): for partitioners "
             "under the ready policy that suits them, for refiners after `heft`, for ready policies on the placements "
             "of three partitioners. [Algorithms](../algorithms.md) has the notation and the sources.", ""]
    for kind, title in PLURALS.items():
        results = [result_of(s) for s in strategies() if s.kind == kind]
        rows = [[*row, result[1][result[2] - 1][-1] if result else "not measured"]
                for row, result in zip(strategy_rows(kind, page), results)]
        lines += [f"## {title}", "", *table(["name", "in one sentence", "complexity", "suite"], rows,
                                            ["---", "---", "---", "--:"]), ""]
    return "\n".join(lines)


def public_headers():
    return [h for h in headers() if "detail/" not in h]


def header_index():
    page = "docs/headers.md"
    folders = {}
    for header in public_headers():
        folders.setdefault(header.split("/")[0] if "/" in header else "", []).append(header)
    lines = [made("the first lines of the headers"), "", "# Headers", "",
             "Every public header, by its first sentence. [Architecture](architecture.md) says how folders depend "
             "on each other.", ""]
    for folder, members in folders.items():
        rows = [[f"[`{h}`]({relative('include/weft/' + h, page)})", linked(sentence_of(headers()[h]), page)]
                for h in members]
        lines += [f"## {folder or 'weft'}", "", *table(["header", "what it has"], rows), ""]
    return "\n".join(lines)


def concept_index():
    page = "docs/concepts/README.md"
    rows = []
    for header in public_headers():
        for comment, name in re.findall(r"((?:^///.*\n)+)(?:^template.*\n)+^concept (\w+)", headers()[header], re.M):
            own = ROOT / f"docs/concepts/{name}.md"
            text, _ = split([line.removeprefix("///").removeprefix(" ") for line in comment.splitlines()])
            sentence = re.match(r".*?[.:](?= |$)|.*", text.replace("\n", " "))[0].rstrip(".:")
            rows.append([f"[`{name}`]({name}.md)" if own.exists() else f"`{name}`", linked(sentence, page),
                         f"[`{header}`]({relative('include/weft/' + header, page)})"])
    lines = [made("the docstrings of the concepts"), "", "# Concepts", "",
             "All public concepts of the library. Those that programs usually model have a page of their own, and so "
             "have [observers](observers.md), which are not a concept.", "",
             *table(["concept", "a model is", "header"], sorted(rows, key=lambda row: row[0].strip("[`"))), ""]
    return "\n".join(lines)


def pages():
    """Path below the root → text, of every page that is made as a whole."""
    made_pages = {f"docs/strategies/{s.name}.md": strategy_page(s) for s in strategies()}
    made_pages["docs/strategies/README.md"] = strategy_index()
    made_pages["docs/headers.md"] = header_index()
    made_pages["docs/concepts/README.md"] = concept_index()
    return made_pages


def onnx_operators():
    """Type of an operator of ONNX → the operator set since which it is, or None if any library has its schema."""
    lines = (pathlib.Path(__file__).parent / "onnx_operators.txt").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return {row[0]: row[1] if len(row) > 1 else None for row in rows}


def onnx_ops():
    """(cost, shapes, operators) of ONNX and of com.microsoft, by what the catalogue and the tables of shapes have."""
    catalogue = headers()["ops/detail/framework_table.hpp"].split("op_table[] = {", 1)[1]
    costs = {}
    for types, facts in re.findall(r'^  \{((?:\s*"[^"]*")+),\s*\{(.*?)\}\}', catalogue, re.S | re.M):
        for name in "".join(re.findall(r'"([^"]*)"', types)).split():
            costs[name] = ".flop" in facts
    bodies = re.search(r"control_flow\[\] = \{(.*?)\}", headers()["interop/onnx/control_flow.hpp"])[1]
    rules = {}
    table = headers()["interop/onnx/shape_table.hpp"]
    for kinds, since in re.findall(r'^  \{((?:\s*"[\w. ]+")+),[^"]*?(?:, (\d+|last))?\},$', table, re.M):
        rules.update(dict.fromkeys("".join(re.findall(r'"([^"]*)"', kinds)).split(), since))
    operators = onnx_operators()
    extensions = [kind for kind in [*rules, *costs] if kind.startswith("com.microsoft.")]
    groups = {}
    for kind in sorted({**operators, **dict.fromkeys(extensions)}):
        has_rule = any(costs.get(name) for name in ("onnx." + kind, kind, kind.removeprefix("com.microsoft.")))
        cost = "its bodies" if f'"{kind}"' in bodies else "rule" if has_rule else "none"
        schema = kind in operators and operators[kind] is None
        own = rules.get(kind)
        shapes = (("schema" if schema else "as declared") if own is None else "rule" if own == "" or not schema else
                  "schema, and where that is silent a rule" if own == "last" else
                  f"schema, and from operator set {own} on a rule")
        groups.setdefault((cost, shapes), []).append(kind)
    return [[cost, shapes, " ".join(f"`{kind}`" for kind in kinds)] for (cost, shapes), kinds in sorted(groups.items())]


def list_of(what, page):
    """The lines of the table `<!-- list WHAT -->` on a page (as text)."""
    if what == "onnx_ops":
        return table(["cost", "shapes", "operators"], onnx_ops())
    if what == "presets":
        return table(["name", "what it is"], [[f"`{name}`", text] for name, text in presets()])
    for kind, title in PLURALS.items():
        if what == title.lower().replace(" ", "_"):
            return table(["name", "in one sentence", "complexity"], strategy_rows(kind, page))
    raise ValueError(f"there is no list '{what}'")
