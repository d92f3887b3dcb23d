# SPDX-License-Identifier: BSL-1.0
# A case is one file with a second line `// expect: weft: <regex>`. It must compile without a word as it is. When
# WEFT_COMPILE_FAIL is defined it must fail, and what is expected must be within the first 12 lines of what the compiler
# prints: a user reads the library's sentence before anything else, whatever follows. A third line
# `// flags of the failure: <flag>…` adds to what the compiler gets then.
# cmake -D CASE=… -D COMPILER=… -D "FLAGS=…" -D WITH_TWIN=<0|1> -P check.cmake

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

if(WITH_TWIN)
  execute_process(COMMAND "${COMPILER}" ${flags} -fsyntax-only "${CASE}" RESULT_VARIABLE result ERROR_VARIABLE message)
  if(result OR message)
    message(FATAL_ERROR "the twin of ${CASE} must compile without a message, but:\n${message}")
  endif()
endif()

execute_process(COMMAND "${COMPILER}" ${flags} ${more_flags} -DWEFT_COMPILE_FAIL -fsyntax-only "${CASE}"
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
