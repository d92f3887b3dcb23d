#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Lists every message that a user of the library and its tools can see, and checks that each is English.

  messages.py --list FILE   write all messages to FILE: 'source:line: message', … where a value goes
  messages.py               check that none has a phrase of NOT_ENGLISH; a line per finding, exit code 1 for any
  messages.py --self-test   check how sources are read, that each phrase and messages of each kind are found

A message is a string literal of at least two words in include/, src/ or examples/. Literals side by side or joined by
'+' and '<<' are one message; the branches of a conditional expression in brackets stand as {this|that}.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "examples")
WORDS = re.compile(r"[A-Za-z][a-z'’]+,? +[^\W\d_]{2,}|[A-Za-z]{2,} …|… [A-Za-z]{2,}")

TOKEN = re.compile(
    r'(?P<blank>\s+|//(?:\\\n|[^\n])*|/\*.*?\*/|(?m:^[ \t]*\#[ \t]*(?:include|pragma|if|error)\b(?:\\\n|[^\n])*))'
    r'|(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^\s()\\]{0,16})\((?P<body>.*?)\)(?P=mark)")'
    r'|(?P<text>(?:u8|[uUL])?"(?P<chars>(?:\\.|[^"\\\n])*)")'
    r"|(?P<char>(?<![0-9A-Za-z])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')"
    r"|(?P<word>\w[\w']*|::|<<|.)", re.S)
ESCAPE = re.compile(r'\\(?:x[0-9a-fA-F]+|u[0-9a-fA-F]{4}|[0-7]{1,3}|.)', re.S)
ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "r": "", "0": ""}

NOT_ENGLISH = [  # (regular expression, what to write instead, a message that it finds)
    (r"(?<!here )(?<!would )\b(?:is|are|was|were|be) no (?!(?:more|less|fewer|longer|better|worse|other)\b)[a-z]",
     "'is not a …'", "it is no text"),
    (r"\b(?:has|have) not (?:a|an|any|as|enough|the)\b|\bwhich \w+ (?:has|have) not\b", "'does not have …'",
     "the call has not as many results as the function"),
    (r"\bfor want of\b", "'without …' or 'as there are no …'", "blocks of equal work, for want of layers"),
    (r"\bwhat lacks\b|\black in\b", "'what is missing', '… short'", "accelerate names what lacks"),
    (r"\bsplit among … of …", "the number that is asked for and the one there is, each in words",
     "a batch of … cannot be split among … of … devices"),
    (r"'…' is …[,;]", "the kind of a thing in brackets, as it comes without an article: '…' (…)",
     "'…' is …, which takes …"),
    (r"\bplaced by\b", "a noun for what was chosen, as in 'strategy: …', as what follows may be a sentence",
     "9 devices; placed by …"),
    (r"\bnobody knows\b", "'is not known'", "times are of the whole batch, and nobody knows those of a part"),
    (r"(?<!formats )\bunderstood are\b", "the subject first: '… are understood'", "not a graph: understood are …"),
    (r"-\w+ goes with\b|\bIt goes with\b", "'needs'", "--deadline goes with --objective energy"),
    (r"\bfor ever\b", "'forever'", "it would take for ever"),
    (r"\btexts\b", "'strings'", "ops make texts"),
    (r"(?<!file)(?<!model)\b(?:TensorFlow|PyTorch|Slurm|ROCm)'s:", "'of TensorFlow', or 'a TensorFlow …'",
     "not a graph of TensorFlow's: …"),
    (r"\beach other one\b", "'every other one'", "each other one with 8 experts"),
    (r"\b(?:that|which) there (?:is|are) not\b", "'that does not exist'", "has layer …, which there is not"),
    (r"[…\d] (?:is|are) the most$", "'at most … are possible'", "has 5000 ops; 4096 are the most"),
    (r"\bcalled so\b", "'of that name'", "the machine has none that is called so"),
    (r"\b(?:allows?|enables?|permits?) to [a-z]+\b", "'lets … …', or 'allows …ing'", "it allows to search longer"),
    (r"\b(?:informations|datas|softwares|hardwares)\b", "the singular", "no informations on links"),
    (r"\bsumm?ed up that\b|\badded up on\b", "'gradient accumulation'", "gradients that are added up on gpu0"),
    (r"\btells? no\b", "'does not say', 'shows no'", "names of ops tell no layers"),
    (r"\bdoes (?:something|anything|nothing) else \w+\?", "'is something else …ing?'", "does something else run?"),
    (r"[;,]  +[a-z]", "one space", "device 2 appears twice;  name each device once"),
    (r"\bSay nothing but\b", "'Print … only'", "Say nothing but errors"),
]


def unescape(chars):
    def of(match):
        rest = match[0][1:]
        return chr(int(rest[1:], 16)) if rest[0] in "xu" and len(rest) > 1 else ESCAPED.get(rest, "")
    return ESCAPE.sub(of, chars)


def tokens(text):
    """(kind, text, line) of what is not blank: 'text' for literals, else 'word'."""
    line = 1
    for match in TOKEN.finditer(text):
        if match["raw"] is not None:
            yield "text", match["body"], line
        elif match["text"] is not None:
            yield "text", unescape(match["chars"]), line
        elif match["blank"] is None:
            yield "word", match[0], line
        line += match[0].count("\n")


OPENS, CLOSES = "([{", ")]}"
JOINS = ("+", "<<")
STREAMS = ("out", "cout", "cerr")


def bracket_end(found, first):
    """The index of the bracket that closes the one at `first`."""
    depth = 0
    for at in range(first, len(found)):
        if found[at][0] == "word":
            depth += (found[at][1] in OPENS) - (found[at][1] in CLOSES)
            if depth == 0:
                return at
    return len(found) - 1


def alternatives(inside):
    """What a conditional expression in brackets can add to a message: {this|that}, or … where it is another value."""
    depth, branches, first, tested = 0, [], 0, False
    for at, (kind, word, _) in enumerate([*inside, ("word", ":", 0)]):
        if kind != "word":
            continue
        depth += (word in OPENS) - (word in CLOSES)
        if depth == 0 and word in "?:":
            if word == ":" and tested:
                branches.append("".join(text for _, text in joined(inside[first:at])))
            tested = tested or word == "?"
            first = at + 1
    return "{" + "|".join(text or "…" for text in branches) + "}" if branches else "…"


def joined(found):
    """The messages in a list of tokens, as (line, text)."""
    at, messages = 0, []
    while at < len(found):
        if found[at][0] != "text":
            at += 1
            continue
        begin = at
        before = [word for kind, word, _ in found[max(begin - 2, 0):begin] if kind == "word"]
        joined_on = before[-1:] and before[-1] in JOINS and before[0] not in STREAMS
        text, nested, value = "…" if joined_on else "", [], False
        while at < len(found):
            kind, word, _ = found[at]
            behind = found[at - 1] if at > begin else ("word", "+", 0)
            if kind == "text":
                if behind[0] != "text" and behind[1] not in JOINS:
                    break
                text, value = text + word, False
            elif word in OPENS and (value or behind == ("word", behind[1], behind[2]) and behind[1] in JOINS):
                end = bracket_end(found, at)
                inside = found[at + 1:end]
                choice = "…" if value else alternatives(inside)
                text += "" if value else choice
                nested += joined(inside) if choice == "…" else []
                value, at = True, end
            elif word in JOINS:
                value = False
            elif word in ",;?:=" or word in CLOSES or behind[0] == "text":
                break
            elif not value:
                text, value = text + "…", True
            at += 1
        messages += [(found[begin][2], text), *nested]
    return messages


SCRIPT = re.compile(r"\b(?:const|let|function)\b.*?[;{]|\) => |^[^\n]*\{[^\n]*: [^\n]*;[^\n]*\}", re.S)
SCRIPT_TEXT = re.compile(
    r"""//[^\n]*|'((?:\\.|[^'\\\n])+)'|"((?:\\.|[^"\\\n])+)"|`((?:\\.|[^`\\])+)`|>([^<>{}`'"]+)<""")


def lines_of(line, message):
    """(line, text) of a message that may be several lines long, or be a script that has messages itself."""
    if "\n" in message and SCRIPT.search(message):
        for match in SCRIPT_TEXT.finditer(message):
            if text := next((group for group in match.groups() if group), ""):
                yield line + message.count("\n", 0, match.start()), re.sub(r"\$\{[^{}]*\}", "…", unescape(text))
    else:
        for part in message.split("\n"):
            yield line, part


TAG = re.compile(r"</?(?:[abp]|button|circle|d[dlt]|details|div|em|figure|figcaption|footer|h[1-6]|header|html|"
                 r"input|label|li|line|main|meta|nav|ol|option|path|rect|script|section|select|small|span|strong|"
                 r"su[bp]|summary|svg|t[dhr]|table|tbody|text|tfoot|thead|"
                 r"title|ul)\b[^<>]*(?:>|$)|<!doctype html>|^[^<>]*=\"[^<>]*>")
STYLE = re.compile(r"\\[SDWsdw]|\{ ?[-a-z]+: [^{}]*\}|^[-a-z]+: .*(?:[0-9](?:px|rem)|var\(|display|position).*[;,]$")

IDENTIFIERS = re.compile(r"[a-z0-9_. ]*_[a-z0-9_. ]*")


def spoken(tag):
    """What a reader sees or hears of a tag: its labels and titles."""
    return "".join(f" {text} " for text in re.findall(r'(?:aria-label|title|placeholder)=[\\]?"([^"<>]*)', tag[0]))


def messages_of(text):
    """(line, message) of all messages of a source, one for each line of a longer text."""
    for line, message in joined(list(tokens(text))):
        for at, part in lines_of(line, message):
            shown = re.sub(r"\{[0-9]*(?::[^{}|]*(?:\{\}[^{}|]*)*)?\}", "…", part)
            shown = re.sub(r"%[-+.0-9]*[sdgfzu]+\b", "…", shown)
            shown = re.sub(r"…{2,}", "…", TAG.sub(spoken, shown)).strip()
            if WORDS.search(shown) and not STYLE.search(shown) and not IDENTIFIERS.fullmatch(shown):
                yield at, shown


def sources():
    found = [p for folder in FOLDERS for p in (ROOT / folder).rglob("*")]
    return sorted(p for p in found if p.suffix in (".hpp", ".cpp"))


def listed():
    """(source:line, message) of all messages."""
    for path in sources():
        for line, message in messages_of(path.read_text()):
            yield f"{path.relative_to(ROOT)}:{line}", message


def findings(message):
    """What is not English in a message, and what to write instead."""
    for phrase, instead, _ in NOT_ENGLISH:
        if match := re.search(phrase, message):
            yield f"'{match[0]}' is not English; write {instead}"


READ = [  # (source, messages in it)
    ('throw error("no " "op" + name + " here");', ["no op… here"]),
    ('fail(fmt::format("{} of {:.1f} % fit; {} do not", a, f("x y", b), c));', ["… of … % fit; … do not"]),
    ('out << "at most " << (n == 1 ? "one op" : "all ops") << " fit";', ["at most {one op|all ops} fit"]),
    ('auto s = n == 1 ? "one op fits" : "no op fits";', ["one op fits", "no op fits"]),
    ('refuse(where(x), "has " + in_quotes(a + "b") + " twice in " + y);', ["has … twice in …"]),
    ('help(R"(\nUsage is so\n  and so\n)");', ["Usage is so", "and so"]),
    ('char c = \'"\'; f("a name is \\"here\\"");', ['a name is "here"']),
    ('// "not a message"\n/* "nor this one" */ f("neither word", 1\'000, "or \\xe2");', ["neither word"]),
    ('#include "not/a message"\n#define CHECK(x) static_assert(x, "weft: this is it")', ["weft: this is it"]),
    ('out << "<p class=\\"help\\">The first <b>" << n << "</b> ops</p>";', ["The first … ops"]),
    ('out << "<svg aria-label=\\"Map of bytes\\">";', ["Map of bytes"]),
    ('js = R"(\nconst a = 1; // none of it\nlabel.textContent = `${n} of them`;\n)";', ["… of them"]),
    ('css = ".box small { color: red }"; f("one", "two", "--a-b", "key=value");', []),
]
KINDS = [  # a message of each kind: (kind, source, what it begins with)
    ("value error", "include/weft/core/error.hpp", "duplicate edge …"),
    ("parse error", "include/weft/io/json_platform.hpp", "there is no device: add at least one"),
    ("infeasibility", "include/weft/plan/infeasibility.hpp", "… fits nowhere: it needs"),
    ("violation", "include/weft/validate/violation.hpp", "… is sent from …"),
    ("note", "include/weft/io/detail/workflow.hpp", "no times are recorded"),
    ("static_assert", "include/weft/problem.hpp", "weft: this is not a problem; make one with"),
    ("summary", "include/weft/report/summary.hpp", "Longest ops on the critical path"),
    ("page", "include/weft/report/detail/html_gantt.hpp", "Find an op"),
    ("option", "examples/place/options.cpp", "Write the plan: device and order of each op"),
    ("sentence of a tool", "src/tool/model_file.cpp", "training step: … forward ops"),
    ("catalogue", "include/weft/workload/zoo.hpp", "LSTM of 128 over 28 steps"),
]


def self_test():
    failed = []
    for source, expected in READ:
        found = [message for _, message in messages_of(source)]
        if found != expected:
            failed.append(f"{source}: read as {found} instead of {expected}")
    for phrase, _, example in NOT_ENGLISH:
        if not re.search(phrase, example):
            failed.append(f"{phrase} does not find '{example}'")
    for fine in ("there is no op", "it takes no longer and is no worse", "it has not been found", "'…' (…) takes …"):
        failed += [f"'{fine}': {finding}" for finding in findings(fine)]
    all_messages = list(listed())
    for kind, source, begin in KINDS:
        if not any(where.startswith(source + ":") and text.startswith(begin) for where, text in all_messages):
            failed.append(f"no {kind} in {source} begins with '{begin}'")
    print("\n".join([*failed, f"{len(all_messages)} messages, {len(failed)} failures"]))
    return bool(failed)


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        return self_test()
    all_messages = list(listed())
    if arguments[:1] == ["--list"] and len(arguments) == 2:
        Path(arguments[1]).write_text("".join(f"{where}: {message}\n" for where, message in all_messages))
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    found = [f"{where}: {finding}" for where, message in all_messages for finding in findings(message)]
    print("\n".join([*found, f"{len(all_messages)} messages, {len(found)} findings"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
