# SPDX-License-Identifier: BSL-1.0
# A case is one file with a second line `// expect: weft: <regex>`. As it is, it compiles without a word, which test
# compile_fail/twins checks for all. When WEFT_COMPILE_FAIL is defined it must fail, and what is expected must be within
# the first 12 lines of what the compiler prints: a user reads the library's sentence before anything else, whatever
# follows. A third line `// flags of the failure: <flag>…` adds to what the compiler gets.
# cmake -D CASE=… -D COMPILER=… -D "FLAGS=…" -D FIRST_ERROR=… -P check.cmake

set(max_lines 12)

file(STRINGS "${CASE}" first_lines LIMIT_COUNT 3)
if(NOT first_lines MATCHES "// expect: ([^;]+)")
  message(FATAL_ERROR "${CASE} has no line '// expect: <regex>'")
endif()
set(expected "${CMAKE_MATCH_1}")
set(more_flags "")
if(first_lines MATCHES "// flags of the failure: ([^;]+)")
  separate_arguments(more_flags NATIVE_COMMAND "${CMAKE_MATCH_1}")
endif()
separate_arguments(flags NATIVE_COMMAND "${FLAGS}")

execute_process(COMMAND "${COMPILER}" ${flags} ${more_flags} -DWEFT_COMPILE_FAIL ${FIRST_ERROR} -fsyntax-only "${CASE}"
  RESULT_VARIABLE result ERROR_VARIABLE message)
if(NOT result)
  message(FATAL_ERROR "${CASE} must not compile")
endif()
string(REPEAT "[^\n]*\n?" ${max_lines} head)
string(REGEX MATCH "^${head}" head "${message}")
if(NOT head MATCHES "${expected}")
  message(FATAL_ERROR
    "${CASE} fails, but without '${expected}' in the first ${max_lines} lines of the message:\n${message}")
endif()
