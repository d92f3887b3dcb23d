# SPDX-License-Identifier: BSL-1.0
# Where Conan is installed: makes the package with every component, and builds and runs a program for each.
# In a home of its own below the build, and on a copy, so that nothing of the user's or of the sources changes.
# cmake -D SOURCE=... -D WORK=... -P conan.cmake
cmake_minimum_required(VERSION 3.25)
find_program(conan conan)
if(NOT conan)
  message("skipped: Conan is not installed; test_package was not built with it")
  return()
endif()
set(ENV{CONAN_HOME} "${WORK}/home")
execute_process(COMMAND "${conan}" profile detect --exist-ok)
execute_process(COMMAND "${conan}" search range-v3/0.12.0 RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
if(result)
  message("skipped: Conan reaches no index of packages; test_package was not built with it")
  return()
endif()
file(REMOVE_RECURSE "${WORK}/recipe")
file(COPY "${SOURCE}/conanfile.py" "${SOURCE}/LICENSE" "${SOURCE}/include" "${SOURCE}/test_package"
  DESTINATION "${WORK}/recipe")
file(READ "${SOURCE}/conanfile.py" recipe)
string(REGEX MATCHALL "\"with_[a-z0-9_]+\", [\"N]" names "${recipe}")
set(options "")
foreach(name IN LISTS names)
  string(REGEX REPLACE "\"(with_[a-z0-9_]+)\".*" "-o;&:\\1=True" option "${name}")
  list(APPEND options ${option})
endforeach()
execute_process(COMMAND "${conan}" create "${WORK}/recipe" --build=missing -s compiler.cppstd=20
  -o "boost/*:header_only=True" ${options} RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "conan create failed")
endif()
