#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Holds the components that CMake declares against the headers, the Conan recipe and the vcpkg port.

  recipes.py COMPONENTS.json CMAKE     one line per defect; exit code 1 if there is one

COMPONENTS.json: [{"name", "headers" (a regular expression), "uses", "includes", "depends"}] in order of dependency.
"""
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import conan_stand_in

ROOT = Path(__file__).resolve().parent.parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)
NOT_IN_PORT = {"clp",  # vcpkg's is static, and what it links is known to pkg-config only
               "starpu", "starpu-mpi",  # vcpkg has none
               "torch"}  # PyTorch brings its libraries
NOT_IN_CONAN = {"starpu", "starpu_mpi", "torch"}
found = []


def check(holds, what):
    if not holds:
        found.append(what)


def closure(components, name):
    """A component and all that it uses, directly or not."""
    return {name}.union(*(closure(components, used) for used in components[name]["uses"]))


def check_headers(components):
    """Every header is of one component, and includes what this one and those that it uses may include."""
    root = ROOT / "include" / "weft"
    owner, used_prefixes = {}, set()
    for path in sorted(p.relative_to(root).as_posix() for p in root.rglob("*.hpp")):
        owners = [c["name"] for c in components.values() if re.search(c["headers"], path)]
        check(len(owners) == 1, f"include/weft/{path} is of {len(owners)} components: {owners}")
        owner[path] = owners[0] if owners else "weft"
    for path, component in owner.items():
        usable = closure(components, component)
        prefixes = sum((components[c]["includes"] for c in usable), [])
        for kind, name in INCLUDE.findall((root / path).read_text()):
            if kind == '"':
                other = owner.get(name.removeprefix("weft/"))
                check(other in usable, f"include/weft/{path}: {component} does not use {other}, of which {name} is")
            elif "/" in name or name.endswith(".h"):
                mine = [p for p in prefixes if name.startswith(p)]
                check(mine, f"include/weft/{path}: {component} does not depend on what has <{name}>")
                used_prefixes.update((component, p) for p in mine)
    for name, component in components.items():
        check(not component["depends"] or any((name, p) in used_prefixes for p in component["includes"]),
              f"{name} depends on {component['depends']}, and no header of it includes that")


def load_recipe(folder):
    spec = importlib.util.spec_from_file_location("weft_recipe", folder / "conanfile.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_recipe(folder, options, compiler="gcc", version="12", cppstd="20", data=None):
    recipe = load_recipe(folder).WeftConan(folder, options, compiler, version, cppstd)
    recipe.conan_data = data
    if data:
        recipe.version = next(iter(data["sources"]))
    recipe.set_version()
    recipe.layout()
    recipe.requirements()
    recipe.validate()
    recipe.package_info()
    return recipe


def targets(recipe):
    return {part.properties["cmake_target_name"].removeprefix("weft::"): part
            for part in recipe.cpp_info.components.values()}


def refusal(options, **settings):
    try:
        run_recipe(ROOT, options, **settings)
    except conan_stand_in.ConanInvalidConfiguration as e:
        return str(e)
    return ""


def check_conan(components, version):
    everything = {option: True for option in load_recipe(ROOT).OPTIONS}
    recipe = run_recipe(ROOT, everything)
    parts = targets(recipe)
    check(recipe.version == version, f"conanfile.py: version {recipe.version} instead of {version}")
    wanted = set(components) - NOT_IN_CONAN
    check(set(parts) == wanted, f"conanfile.py: {sorted(set(parts) ^ wanted)} in CMake or Conan only")
    key = {"weft": "core"}
    for name in set(parts) & set(components):
        own = {r for r in parts[name].requires if "::" not in r}
        check(own == {key.get(u, u) for u in components[name]["uses"]}, f"conanfile.py: {name} uses {own}")
        foreign = [r for r in parts[name].requires if "::" in r]
        check(bool(foreign) == bool(components[name]["depends"]) or name == "openmp",
              f"conanfile.py: {name} requires {foreign}, in CMake {components[name]['depends']}")
        for reference in foreign:
            check(any(r.startswith(reference.split("::")[0] + "/") for r in recipe.requirements_made),
                  f"conanfile.py: {reference} is not required")
        check((ROOT / "test_package" / f"{name}.cpp").exists(), f"test_package lacks {name}.cpp")
    check(parts["openmp"].exelinkflags == ["-fopenmp"], "conanfile.py: openmp does not link")
    check(recipe.cpp_info.properties["cmake_target_name"].removeprefix("weft::") not in parts,
          "conanfile.py: the target of all components is one of theirs")

    default = set(targets(run_recipe(ROOT, {})))
    check(default == {"weft", "views", "io", "report", "stablehlo", "tensorflow"},
          f"conanfile.py: by default {sorted(default)}")
    least = run_recipe(ROOT, {"with_range_v3": False, "with_nlohmann_json": False})
    check(set(targets(least)) == {"weft"} and not least.requirements_made,
          "conanfile.py: without options, more than weft")
    for settings in ({"cppstd": "gnu17"}, {"version": "9"}, {"compiler": "clang", "version": "14"}):
        check(refusal({}, **settings), f"conanfile.py: {settings} is accepted")
    check("with_onnx needs with_nlohmann_json" in refusal({"with_onnx": True, "with_nlohmann_json": False}),
          "conanfile.py: onnx without io is accepted")


def check_conan_package(cmake, folder):
    """What the recipe copies; and its refusal of components that the package lacks, in a project."""
    recipe = run_recipe(ROOT, {})
    recipe.export_sources_folder = recipe.source_folder = str(folder / "sources")
    recipe.package_folder = str(folder / "package")
    recipe.export_sources()
    recipe.source()
    recipe.package()
    check(recipe.fetched is None, "conanfile.py: a checkout fetches its sources")
    for path in ("licenses/LICENSE", "include/weft/all.hpp", *recipe.cpp_info.properties["cmake_build_modules"]):
        check((folder / "package" / path).exists(), f"conanfile.py: the package lacks {path}")
    (module,) = recipe.cpp_info.properties["cmake_build_modules"]
    (folder / "config").mkdir()
    (folder / "config" / "weft-config.cmake").write_text(
        "if(NOT TARGET weft::io)\n  add_library(weft::io INTERFACE IMPORTED)\nendif()\n"
        f'include("{folder / "package" / module}")\n')
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.17)\nproject(asks LANGUAGES NONE)\n"
        "find_package(weft CONFIG REQUIRED COMPONENTS io)\nfind_package(weft CONFIG COMPONENTS onnx)\n"
        'message(STATUS "found: ${weft_FOUND}")\n')
    run = subprocess.run([cmake, "-S", folder, "-B", folder / "build", f"-Dweft_DIR={folder / 'config'}"],
                         capture_output=True, text=True)
    check("found: 0" in run.stdout and "no component 'onnx'" in run.stderr,
          f"Conan's package: a component that it lacks:\n{run.stdout}{run.stderr}")


def check_manifest(path):
    text = path.read_text()
    manifest = json.loads(text)
    order = ["name", "version", "description", "homepage", "license", "supports", "dependencies", "default-features",
             "features"]
    check(text == json.dumps(manifest, indent=2, ensure_ascii=False) + "\n" and
          list(manifest) == [k for k in order if k in manifest] and
          list(manifest["features"]) == sorted(manifest["features"]), f"{path.name} is not in format-manifest's form")
    return manifest


def check_vcpkg(components):
    port = check_manifest(ROOT / "port" / "weft" / "vcpkg.json")
    whole = check_manifest(ROOT / "vcpkg.json")
    features = port["features"]
    check(features == {k: v for k, v in whole["features"].items() if k != "development"},
          "vcpkg.json and port/weft/vcpkg.json have different features")
    wanted = {name.replace("_", "-") for name in components} - NOT_IN_PORT - {"weft"}
    check(set(features) == wanted, f"port/weft/vcpkg.json: {sorted(set(features) ^ wanted)} in CMake or the port only")
    for name, feature in features.items():
        own = {f for d in feature.get("dependencies", []) if isinstance(d, dict) for f in d["features"]}
        uses = {u.replace("_", "-") for u in components[name.replace("-", "_")]["uses"]} - {"weft"}
        check(own == uses, f"port/weft/vcpkg.json: {name} has the features {own}, uses {uses}")
        foreign = [d for d in feature.get("dependencies", []) if isinstance(d, str)]
        check(bool(foreign) == bool(components[name.replace("-", "_")]["depends"]) or name == "openmp",
              f"port/weft/vcpkg.json: {name} depends on {foreign}")
    usage = (ROOT / "port" / "weft" / "usage").read_text()
    for name in features:
        check(f"weft::{name.replace('-', '_')}" in usage, f"port/weft/usage does not name {name}")


def check_release(version, folder):
    """The recipes that scripts/recipes.sh makes."""
    tarball = folder / "v.tar.gz"
    tarball.write_bytes(b"a release")
    subprocess.run([ROOT / "scripts" / "recipes.sh", "owner/weft", tarball, folder], check=True, capture_output=True)
    manifest = check_manifest(folder / "vcpkg" / "ports" / "weft" / "vcpkg.json")
    check(manifest["homepage"] == "https://github.com/owner/weft", "recipes.sh: vcpkg.json without homepage")
    portfile = (folder / "vcpkg" / "ports" / "weft" / "portfile.cmake").read_text()
    check("vcpkg_from_github" in portfile and "CMAKE_CURRENT_LIST_DIR}/../.." not in portfile, "recipes.sh: portfile")
    recipe = folder / "conan" / "recipes" / "weft"
    data = (recipe / "all" / "conandata.yml").read_text()
    url, checksum = re.search(r'"' + version + r'":\s+url: "(.*)"\s+sha256: "([0-9a-f]{64})"', data).groups()
    made = run_recipe(recipe / "all", {}, data={"sources": {version: {"url": url, "sha256": checksum}}})
    made.source()
    check(made.fetched == {"url": url, "sha256": checksum, "strip_root": True} and made.source_subfolder == "src",
          f"recipes.sh: the recipe fetches {made.fetched}")
    check(made.homepage == "https://github.com/owner/weft" and made.url, "recipes.sh: conanfile.py without homepage")
    check((recipe / "all" / "test_package" / "conanfile.py").exists(), "recipes.sh: no test_package")


def main(components_json, cmake):
    components = {c["name"]: c for c in json.loads(Path(components_json).read_text())}
    config = (ROOT / "include" / "weft" / "core" / "config.hpp").read_text()
    version = ".".join(re.findall(r"define WEFT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", config))
    conan_stand_in.install()
    check_headers(components)
    check_conan(components, version)
    check_vcpkg(components)
    with tempfile.TemporaryDirectory() as folder:
        check_conan_package(cmake, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        check_release(version, Path(folder))
    print(*found, f"{len(components)} components, {len(found)} defects", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
