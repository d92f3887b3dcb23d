# SPDX-License-Identifier: BSL-1.0
# WEFT_BUILD_TOOLS builds the tools that it names, and no other program.
# cmake -D SOURCE=… -D WORK=… -D COMPILER=… -P tools.cmake
cmake_minimum_required(VERSION 3.25)

find_program(NINJA NAMES ninja ninja-build)
if(NOT NINJA)
  message(STATUS "NOT CHECKED: Ninja is not installed")
  return()
endif()

# configure(<value of WEFT_BUILD_TOOLS> <variable for its output> <variable for its exit status>)
file(REMOVE_RECURSE "${WORK}")
function(configure tools output status)
  execute_process(COMMAND ${CMAKE_COMMAND} -S "${SOURCE}" -B "${WORK}" -G Ninja "-DCMAKE_MAKE_PROGRAM=${NINJA}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" -DWEFT_BUILD_EXAMPLES=OFF -DWEFT_BUILD_TESTS=OFF -DWEFT_BUILD_BENCHMARKS=OFF
    "-DWEFT_BUILD_TOOLS=${tools}" RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${output} "${text}" PARENT_SCOPE)
  set(${status} ${result} PARENT_SCOPE)
endfunction()

# expect_programs(<value of WEFT_BUILD_TOOLS> <program>...): these of four are built.
function(expect_programs tools)
  configure("${tools}" output status)
  if(status)
    message(FATAL_ERROR "WEFT_BUILD_TOOLS=${tools}:\n${output}")
  endif()
  execute_process(COMMAND "${NINJA}" -C "${WORK}" -t targets all OUTPUT_VARIABLE targets)
  foreach(program IN ITEMS compare machine place quick_start)
    string(FIND "${targets}" "\nexamples/${program}: CXX_EXECUTABLE_LINKER" at)
    if(program IN_LIST ARGN AND at EQUAL -1)
      message(FATAL_ERROR "WEFT_BUILD_TOOLS=${tools} does not build ${program}")
    elseif(NOT program IN_LIST ARGN AND NOT at EQUAL -1)
      message(FATAL_ERROR "WEFT_BUILD_TOOLS=${tools} builds ${program}")
    endif()
  endforeach()
endfunction()

expect_programs(compare compare)
expect_programs("machine;place" machine place)
expect_programs(compare,machine compare machine)
expect_programs(ON compare machine place)
expect_programs(y compare machine place)
expect_programs("")
expect_programs(OFF)
configure(compares output status)
if(NOT status OR NOT output MATCHES "WEFT_BUILD_TOOLS: there is no tool 'compares'")
  message(FATAL_ERROR "WEFT_BUILD_TOOLS=compares: ${output}")
endif()
