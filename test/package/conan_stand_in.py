# SPDX-License-Identifier: BSL-1.0
"""As much of Conan 2 as conanfile.py uses, to run the recipe where Conan is not installed."""
import fnmatch
import shutil
import sys
import types
from collections import defaultdict
from pathlib import Path


class ConanInvalidConfiguration(Exception):
    pass


class Options(dict):
    def get_safe(self, name, default=None):
        return self.get(name, default)


class Info:
    def __init__(self):
        self.properties = {}
        self.requires, self.cxxflags, self.sharedlinkflags, self.exelinkflags = [], [], [], []
        self.components = None

    def set_property(self, name, value):
        self.properties[name] = value


class Version(tuple):
    def __new__(cls, text):
        return super().__new__(cls, [int(part) for part in str(text).split(".")])

    def __lt__(self, other):
        return tuple(self) < tuple(Version(other))


class Settings(types.SimpleNamespace):
    def __str__(self):
        return self.name

    def __eq__(self, other):
        return self.name == other


class ConanFile:
    conan_data = None
    version = None

    def __init__(self, recipe_folder, options, compiler, compiler_version, cppstd):
        self.recipe_folder = str(recipe_folder)
        self.settings = types.SimpleNamespace(
            compiler=Settings(name=compiler, version=compiler_version, cppstd=cppstd))
        unknown = set(options) - set(self.options)
        assert not unknown, f"the recipe has no options {unknown}"
        self.options = Options({**self.default_options, **options})
        self.requirements_made, self.fetched = {}, None
        self.cpp_info = Info()
        self.cpp_info.components = defaultdict(Info)
        self.info = types.SimpleNamespace(clear=lambda: None)

    @property
    def ref(self):
        return f"{self.name}/{self.version}"

    def requires(self, reference, **traits):
        self.requirements_made[reference] = traits


def check_min_cppstd(recipe, least):
    if int(str(recipe.settings.compiler.cppstd).removeprefix("gnu")) < least:
        raise ConanInvalidConfiguration(f"needs C++{least}")


def copy(recipe, pattern, src, dst):
    """As Conan's: `*` matches slashes too. Looks only into the folder that the pattern names: elsewhere in a checkout
    builds and other tests make and remove files meanwhile."""
    fixed = pattern.split("*")[0].rpartition("/")[0]
    for path in [Path(src) / pattern] if "*" not in pattern else (Path(src) / fixed).rglob("*"):
        inner = path.relative_to(src)
        if path.is_file() and fnmatch.fnmatchcase(inner.as_posix(), pattern):
            (Path(dst) / inner).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, Path(dst) / inner)


def get(recipe, **source):
    recipe.fetched = source


def save(recipe, path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def basic_layout(recipe, src_folder="."):
    recipe.source_subfolder = src_folder


def install():
    """Makes `import conan` find this."""
    modules = {
        "conan": {"ConanFile": ConanFile},
        "conan.errors": {"ConanInvalidConfiguration": ConanInvalidConfiguration},
        "conan.tools": {},
        "conan.tools.build": {"check_min_cppstd": check_min_cppstd},
        "conan.tools.files": {"copy": copy, "get": get, "save": save, "load": lambda _, path: Path(path).read_text()},
        "conan.tools.layout": {"basic_layout": basic_layout},
        "conan.tools.scm": {"Version": Version},
    }
    for name, members in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(members)
        sys.modules[name] = module
