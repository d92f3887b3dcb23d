# SPDX-License-Identifier: BSL-1.0
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class TestPackageConan(ConanFile):
    """Builds and runs a program for each component that the package has."""
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires(self.tested_reference_str)

    @property
    def _components(self):
        names = self.dependencies["weft"].cpp_info.components
        return ["weft" if name == "core" else name for name in names if name]

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["WEFT_TESTED"] = ",".join(self._components)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            for component in self._components:
                self.run(os.path.join(self.cpp.build.bindir, f"use_{component}"), env="conanrun")
