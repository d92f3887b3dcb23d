#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""scripts/site.py builds the site of the docs without a warning and with links that lead somewhere, and its check finds
what is wrong with a site. Exit code 77: mkdocs is not installed."""
import importlib.util
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
specification = importlib.util.spec_from_file_location("site_of_docs", ROOT / "scripts/site.py")
site = importlib.util.module_from_spec(specification)
sys.dont_write_bytecode = True
specification.loader.exec_module(site)

# What is wrong with a page, and what is said of it.
WRONG = {
    '<a href="nowhere.html">x</a>': "the link nowhere.html leads nowhere",
    '<a href="other.html#nowhere">x</a>': "there is no anchor for the link other.html#nowhere",
    '<a href="#nowhere">x</a>': "there is no anchor for the link #nowhere",
    '<img src="nowhere.png">': "the link nowhere.png leads nowhere",
    '<a href="https:/example.org">x</a>': "https:/example.org is no link",
    "<p>Text:\n- an item</p>": "markup that was not understood: - an item",
    "<p>[text](page.md)</p>": "markup that was not understood: ](page.md)",
    "<p>| a | b |\n| --- | --- |</p>": "markup that was not understood: | ---",
}
RIGHT = ('<a href="other.html#here">x</a><a href="https://example.org/a">x</a><a href="folder/">x</a><p>a - b</p>'
         "<pre>- no list</pre>")


def found_in(folder, body):
    (folder / "search").mkdir(exist_ok=True)
    (folder / "folder").mkdir(exist_ok=True)
    pages = [f"docs/{p.relative_to(ROOT / 'docs')}".replace("README.md", "index.md").replace(".md", ".html")
             for p in ROOT.glob("docs/**/*.md")]
    index = ", ".join(f'{{"location": "{page}"}}' for page in pages)
    (folder / "search/search_index.json").write_text(f'{{"docs": [{index}]}}')
    (folder / "folder/index.html").write_text("")
    (folder / "other.html").write_text('<h1 id="here">x</h1>')
    (folder / "index.html").write_text(body)
    return list(site.problems_of(folder))


def main():
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if found := found_in(folder, RIGHT):
            failures.append(f"a site without problems has {found}")
        for body, said in WRONG.items():
            found = found_in(folder, body)
            if len(found) != 1 or said not in found[0]:
                failures.append(f"{body}: {found} instead of '{said}'")
        (folder / "search/search_index.json").write_text('{"docs": []}')
        if not any("docs/memory.html: a search does not find it" in text for text in site.problems_of(folder)):
            failures.append("a page that cannot be found is not told")
        for text in failures:
            print(text)
        if lacking := site.missing():
            print(f"skipped: {lacking} is not installed")
            return 1 if failures else 77
        if site.build(folder / "site"):
            failures.append("mkdocs warns")
        else:
            found = sorted(set(site.problems_of(folder / "site")))
            print("\n".join([*found, f"{len(list((folder / 'site').rglob('*.html')))} pages, {len(found)} problems"]))
            failures += found
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
