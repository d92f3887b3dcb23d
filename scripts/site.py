#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Builds the site of README.md, CHANGELOG.md and docs/ with mkdocs, and follows every link in it.

  site.py FOLDER      builds the site there; exit status 1 if mkdocs warns of something or a link leads nowhere,
                      77 if mkdocs or its theme material is not installed

The pages lie in the site as they lie in the repository, so that the same links hold. What a link leads to that is no
page, such as a header or an example, is shown in a page of its own, a folder as a list of its files.
"""
import html
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
AS_THEY_ARE = {".svg", ".png", ".json"}
LINK = re.compile(r"(\]\(|src=\"|href=\")([^)\"\s#]+)(#[^)\"\s]*)?(?=[)\"])")


class Stage:
    """What mkdocs reads: a copy of the pages, and pages of the sources that they link to."""

    def __init__(self, folder):
        self.folder = folder
        self.pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
        self.sources = set()
        for page in self.pages:
            self.write(page.relative_to(ROOT), self.page(page))
        for source in sorted(self.sources):
            self.show(source)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def page(self, path):
        """The text of a page, with its links to sources led to where they are shown."""
        lines = []
        fenced = False
        for line in path.read_text().splitlines():
            if line.startswith("```"):
                fenced = not fenced
            if not fenced:
                line = LINK.sub(lambda match: match[1] + self.target(path, *match.group(1, 2)) + (match[3] or ""), line)
                item = re.match(r"(- |\d+\. )", line)
                if item and lines and lines[-1] and not re.match(r"(- |\d+\. | )", lines[-1]):
                    lines.append("")  # git hosts begin a list without an empty line before it
            lines.append(line)
        return "\n".join(lines) + "\n"

    def target(self, page, before, link):
        """Where a link of a page leads in the site."""
        there = (page.parent / link).resolve()
        if re.match(r"[a-z]+:", link) or not there.exists():
            return link
        if there in self.pages:  # mkdocs looks after links in Markdown, not in HTML
            return link if before == "](" else link.replace("README.md", "index.md").removesuffix(".md") + ".html"
        if there.suffix in AS_THEY_ARE:
            name = there.relative_to(ROOT)
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(there, self.folder / name)
            return link
        self.sources.add(there)
        return link.rstrip("/") + ("/index.html" if there.is_dir() else ".html")

    def show(self, path):
        """A page of a source or a folder; it is no page of mkdocs, so that searches find what readers want."""
        name = path.relative_to(ROOT)
        if path.is_dir():
            rows = "".join(f"<li><a href=\"{html.escape(p.name)}.html\">{html.escape(p.name)}</a></li>\n"
                           for p in sorted(path.iterdir()) if p.is_file() and not p.name.startswith("."))
            body, file = f"<ul>\n{rows}</ul>", f"{name}/index.html"
            for p in path.iterdir():
                if p.is_file() and not p.name.startswith(".") and p not in self.sources:
                    self.show(p)
        else:
            body, file = f"<pre>{html.escape(path.read_text(errors='replace'))}</pre>", f"{name}.html"
        up = "../" * (len(pathlib.PurePath(file).parts) - 1)
        self.write(file, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                         "<meta name=\"viewport\" content=\"width=device-width\">\n"
                         f"<title>{html.escape(str(name))}</title>\n"
                         "<style>:root { color-scheme: light dark } "
                         "body { margin: 1em auto; max-width: 125ch }</style>\n"
                         f"<p><a href=\"{up}index.html\">weft</a> / {html.escape(str(name))}</p>\n{body}\n</html>\n")


def navigation():
    """The tables of docs/README.md as mkdocs has them: [{title: page}]."""
    index = (ROOT / "docs/README.md").read_text()
    strategies = [{p.stem: f"docs/strategies/{p.name}"} for p in sorted((ROOT / "docs/strategies").glob("*.md"))
                  if p.stem != "README"]
    guide, concepts = [], []
    for title, page in re.findall(r"^\| \[([^\]]*)\]\(([^)#]*)\)", index, re.M):
        entry = {title.strip("`"): f"docs/{page}"}
        (concepts if page.startswith("concepts/") else guide).append(entry)
    return [{"weft": "README.md"}, {"Guide": [{"Contents": "docs/README.md"}, *guide]}, {"Concepts": concepts},
            {"Strategies": strategies}, {"Changelog": "CHANGELOG.md"}]


class Page(html.parser.HTMLParser):
    """The links and anchors of a page of the site, and text that is no text."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.stray = [], set(), []
        self.inside = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        self.links += [attributes[key] for key in ("href", "src") if attributes.get(key)]
        if tag in ("p", "pre", "script", "style"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, text):
        if self.inside[-1:] == ["p"]:  # markup that was not understood
            self.stray += re.findall(r"(?m)^(?:- |\| ?-+|```).*|\]\([^)]*\)", text)


def problems_of(site):
    """What is wrong with the pages of a site."""
    pages = {p: Page(p.read_text(errors="replace")) for p in site.rglob("*.html") if p.name != "404.html"}
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in page.links:
            split = urllib.parse.urlsplit(link)
            if split.scheme or split.netloc:
                if split.scheme not in ("http", "https") or not re.fullmatch(r"[\w.-]+\.[a-z]+", split.netloc):
                    yield f"{name}: {link} is no link"
                continue
            there = (path.parent / urllib.parse.unquote(split.path)).resolve() if split.path else path
            if there.is_dir():
                there = there / "index.html"
            if not there.exists():
                yield f"{name}: the link {link} leads nowhere"
            elif split.fragment and there in pages and urllib.parse.unquote(split.fragment) not in pages[there].anchors:
                yield f"{name}: there is no anchor for the link {link}"
        for text in page.stray:
            yield f"{name}: markup that was not understood: {text}"
    found = {entry["location"] for entry in json.loads((site / "search/search_index.json").read_text())["docs"]}
    for page in [p for p in ROOT.glob("docs/**/*.md")]:
        name = str(page.relative_to(ROOT).with_suffix(".html")).replace("README.html", "index.html")
        if name not in found:
            yield f"{name}: a search does not find it"


def build(site):
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder) / "pages"
        Stage(stage)
        config = pathlib.Path(folder) / "mkdocs.yml"
        config.write_text((ROOT / "docs/mkdocs.yml").read_text()
                          + f"docs_dir: {json.dumps(str(stage))}\nnav: {json.dumps(navigation())}\n")
        done = subprocess.run(["mkdocs", "build", "--strict", "--clean", "--config-file", config, "--site-dir",
                               site.resolve()], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        if done.returncode:
            print(done.stdout)
        return done.returncode


def missing():
    """What is not installed, or nothing."""
    if not shutil.which("mkdocs"):
        return "mkdocs"
    themes = subprocess.run(["mkdocs", "build", "--help"], capture_output=True, text=True, check=False).stdout
    return "" if "material" in themes else "mkdocs-material"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    site = pathlib.Path(sys.argv[1])
    if lacking := missing():
        print(f"skipped: {lacking} is not installed")
        return 77
    if build(site):
        return 1
    problems = sorted(set(problems_of(site)))
    print("\n".join([*problems, f"{len(list(site.rglob('*.html')))} pages, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
