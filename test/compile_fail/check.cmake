# SPDX-License-Identifier: BSL-1.0
# A case is one file with a first line `// expect: <regex>`. It must compile without a word as it is, and fail with a
# matching message when WEFT_COMPILE_FAIL is defined.
# cmake -D CASE=… -D COMPILER=… -D "FLAGS=…" -P check.cmake

file(STRINGS "${CASE}" first_lines LIMIT_COUNT 2)
if(NOT first_lines MATCHES "// expect: ([^;]+)")
  message(FATAL_ERROR "${CASE} has no line '// expect: <regex>'")
endif()
set(expected "${CMAKE_MATCH_1}")
separate_arguments(flags NATIVE_COMMAND "${FLAGS}")

execute_process(COMMAND "${COMPILER}" ${flags} -fsyntax-only "${CASE}" RESULT_VARIABLE result ERROR_VARIABLE message)
if(result OR message)
  message(FATAL_ERROR "the twin of ${CASE} must compile without a message, but:\n${message}")
endif()

execute_process(COMMAND "${COMPILER}" ${flags} -DWEFT_COMPILE_FAIL -fsyntax-only "${CASE}"
  RESULT_VARIABLE result ERROR_VARIABLE message)
if(NOT result)
  message(FATAL_ERROR "${CASE} must not compile")
endif()
if(NOT message MATCHES "${expected}")
  message(FATAL_ERROR "${CASE} fails, but without '${expected}' in the message:\n${message}")
endif()
