# SPDX-License-Identifier: BSL-1.0
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, get, load, save
from conan.tools.layout import basic_layout
from conan.tools.scm import Version

required_conan_version = ">=2.0.9"

# Each component: what it takes of others, as an option, its requirement and what it links of that; and the components
# that it uses. It is in the package when all of these are.
COMPONENTS = {
    "weft": ((), ()),
    "views": ((("with_range_v3", "range-v3/0.12.0", "range-v3::range-v3"),), ("weft",)),
    "io": ((("with_nlohmann_json", "nlohmann_json/3.11.3", "nlohmann_json::nlohmann_json"),), ("views",)),
    "report": ((), ("views",)),
    "boost_graph": ((("with_boost", "boost/1.84.0", "boost::headers"),), ("weft",)),
    "onetbb": ((("with_onetbb", "onetbb/2023.1.0", "onetbb::libtbb"),), ("weft",)),
    "openmp": ((("with_openmp", None, None),), ("weft",)),  # the compiler's
    "hwloc": ((("with_hwloc", "hwloc/2.12.2", "hwloc::hwloc"),), ("weft",)),
    "clp": ((("with_clp", "coin-clp/1.17.7", "coin-clp::coin-clp"),), ("weft",)),
    "gzip": ((("with_zlib", "zlib/1.3.1", "zlib::zlib"),), ("weft",)),
    "mpi": ((("with_openmpi", "openmpi/4.1.6", "openmpi::openmpi"),), ("weft",)),
    "tensorflow": ((), ("io",)),
    "stablehlo": ((), ("io",)),
    "pytorch": ((("with_libzip", "libzip/1.11.4", "libzip::libzip"),), ("io",)),
    "onnx": ((("with_onnx", "onnx/1.17.0", "onnx::onnx"),), ("io",)),
}
DEFAULTS = {"with_range_v3": True, "with_nlohmann_json": True}
OPTIONS = [option for needs, _ in COMPONENTS.values() for option, _, _ in needs]
MINIMUM = {"gcc": "12", "clang": "16"}

CHECK_COMPONENTS = """\
foreach(_weft_component IN LISTS weft_FIND_COMPONENTS)
  if(TARGET weft::${_weft_component})
    set(weft_${_weft_component}_FOUND TRUE)
  else()
    set(weft_${_weft_component}_FOUND FALSE)
    if(weft_FIND_REQUIRED_${_weft_component})
      set(weft_FOUND FALSE)
      set(weft_NOT_FOUND_MESSAGE "this package of weft has no component '${_weft_component}'; see its options with_*")
    endif()
  endif()
endforeach()
unset(_weft_component)
"""


class WeftConan(ConanFile):
    name = "weft"
    description = "Partitioning and scheduling of dataflow graphs on heterogeneous devices"
    license = "BSL-1.0"
    topics = ("scheduling", "partitioning", "dataflow", "heterogeneous", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {option: [True, False] for option in OPTIONS}
    default_options = {option: DEFAULTS.get(option, False) for option in OPTIONS}
    no_copy_source = True

    @property
    def _release(self):
        """Where the sources of this version are released; None: they are the tree that the recipe lies in."""
        return (self.conan_data or {}).get("sources", {}).get(self.version)

    def _present(self, component):
        needs, uses = COMPONENTS[component]
        return all(self.options.get_safe(option) for option, _, _ in needs) and all(self._present(u) for u in uses)

    def _missing(self, component):
        needs, uses = COMPONENTS[component]
        missing = [option for option, _, _ in needs if not self.options.get_safe(option)]
        return sum((self._missing(used) for used in uses), missing)

    def set_version(self):
        config = os.path.join(self.recipe_folder, "include", "weft", "core", "config.hpp")
        if not self.version and os.path.exists(config):
            self.version = ".".join(re.findall(r"WEFT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", load(self, config)))

    def export_sources(self):
        if not self._release:
            copy(self, "LICENSE", src=self.recipe_folder, dst=self.export_sources_folder)
            copy(self, "include/*", src=self.recipe_folder, dst=self.export_sources_folder)

    def layout(self):
        basic_layout(self, src_folder="src" if self._release else ".")

    def requirements(self):
        for needs, _ in COMPONENTS.values():
            for option, reference, _ in needs:
                if reference and self.options.get_safe(option):
                    self.requires(reference, transitive_headers=True)

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        compiler = str(self.settings.compiler)
        least = MINIMUM.get(compiler)
        if least and Version(self.settings.compiler.version) < least:
            raise ConanInvalidConfiguration(f"{self.ref} needs {compiler} {least} or newer")
        for component, (needs, _) in COMPONENTS.items():
            for option, _, _ in needs:
                if self.options.get_safe(option) and not self._present(component):
                    raise ConanInvalidConfiguration(
                        f"{self.ref}: {option} needs {' and '.join(self._missing(component))}")

    def source(self):
        if self._release:
            get(self, **self._release, strip_root=True)

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", src=os.path.join(self.source_folder, "include"),
             dst=os.path.join(self.package_folder, "include"))
        save(self, os.path.join(self.package_folder, "lib", "cmake", "weft", "check_components.cmake"),
             CHECK_COMPONENTS)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "weft")
        # The target of all components together; the name weft::weft is that of the first.
        self.cpp_info.set_property("cmake_target_name", "weft::everything")
        self.cpp_info.set_property("pkg_config_name", "weft-everything")
        self.cpp_info.set_property("cmake_build_modules",
                                   [os.path.join("lib", "cmake", "weft", "check_components.cmake")])
        for component, (needs, uses) in COMPONENTS.items():
            if not self._present(component):
                continue
            # Conan reserves the package's name for its root.
            part = self.cpp_info.components["core" if component == "weft" else component]
            part.set_property("cmake_target_name", f"weft::{component}")
            part.set_property("pkg_config_name", "weft" if component == "weft" else f"weft-{component}")
            part.requires = ["core" if used == "weft" else used for used in uses]
            part.requires += [target for _, _, target in needs if target]
            part.bindirs = []
            part.libdirs = []
        if self._present("openmp"):
            flags = ["-openmp:llvm"] if self.settings.compiler == "msvc" else ["-fopenmp"]
            openmp = self.cpp_info.components["openmp"]
            openmp.cxxflags = flags
            if self.settings.compiler != "msvc":
                openmp.sharedlinkflags = flags
                openmp.exelinkflags = flags
