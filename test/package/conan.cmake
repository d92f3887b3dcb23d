# SPDX-License-Identifier: BSL-1.0
# Where Conan is installed: makes the package with every component, and builds and runs a program for each.
# cmake -D SOURCE=... -P conan.cmake
cmake_minimum_required(VERSION 3.25)
find_program(conan conan)
if(NOT conan)
  message("skipped: Conan is not installed; test_package was not built with it")
  return()
endif()
execute_process(COMMAND "${conan}" profile show RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
if(result) # the first use of Conan here
  execute_process(COMMAND "${conan}" profile detect)
endif()
file(READ "${SOURCE}/conanfile.py" recipe)
string(REGEX MATCHALL "\"with_[a-z0-9_]+\", [\"N]" names "${recipe}")
set(options "")
foreach(name IN LISTS names)
  string(REGEX REPLACE "\"(with_[a-z0-9_]+)\".*" "-o;&:\\1=True" option "${name}")
  list(APPEND options ${option})
endforeach()
# Under a user and channel of its own, so that a weft/<version> in the cache stays as it is.
execute_process(COMMAND "${conan}" create "${SOURCE}" --user=weft --channel=test --build=missing
  -s compiler.cppstd=20 ${options} RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "conan create failed")
endif()
