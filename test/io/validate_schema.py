#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks JSON files against the published schemas.

  validate_schema.py SCHEMAS FOLDER

Every FOLDER/valid/*.json must satisfy the schema of its "format" in the folder SCHEMAS, and every
FOLDER/invalid/KIND-*.json must be refused by the schema weft.KIND. Exit status: 0 if so, 1 if not, 77 if the Python
package jsonschema is missing.
"""
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: the Python package jsonschema is not installed")
    sys.exit(77)


def main(schema_folder, folder):
    validators = {}
    for path in sorted(pathlib.Path(schema_folder).glob("*.schema.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.Draft7Validator.check_schema(schema)
        validators[path.name.removesuffix(".schema.json")] = jsonschema.Draft7Validator(schema)
    problems = []
    counts = {}

    def check(path, file_format, wanted):
        document = json.loads(path.read_text(encoding="utf-8"))
        error = next(validators[file_format or document["format"]].iter_errors(document), None)
        counts[path.parent.name] = counts.get(path.parent.name, 0) + 1
        if wanted and error:
            problems.append(f"{path}: {list(error.absolute_path)}: {error.message}")
        if not wanted and not error:
            problems.append(f"{path}: is wrong, but the schema accepts it")

    for path in sorted(pathlib.Path(folder).glob("valid/*.json")):
        check(path, None, True)
    for path in sorted(pathlib.Path(folder).glob("invalid/*.json")):
        check(path, "weft." + path.name.split("-")[0], False)
    for problem in problems:
        print(problem[:300])
    if not counts.get("valid") or not counts.get("invalid"):
        problems.append("no files")
        print(f"{folder}: expected files in valid/ and invalid/")
    print(f"{counts.get('valid', 0)} valid and {counts.get('invalid', 0)} invalid files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
