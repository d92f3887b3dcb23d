# SPDX-License-Identifier: BSL-1.0
# Builds examples/own_heuristic as a stranger would, by find_package against an installation, and looks for its
# heuristic in what it prints.
# cmake -D SOURCE=… -D BUILD=… -D WORK=… -D COMPILER=… -D GENERATOR=… -P own_heuristic.cmake

# run(<variable> COMMAND <command>... [FAILS]): what the command prints.
function(run variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FAILS" "" "COMMAND")
  execute_process(COMMAND ${arg_COMMAND} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if((result AND NOT arg_FAILS) OR (NOT result AND arg_FAILS))
    list(JOIN arg_COMMAND " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

function(expect text output)
  string(FIND "${output}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "there is no '${text}' in:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
run(output COMMAND ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/installed")
file(RENAME "${WORK}/installed" "${WORK}/prefix") # an installation can be moved
file(COPY "${SOURCE}/examples/own_heuristic" DESTINATION "${WORK}")
run(output COMMAND ${CMAKE_COMMAND} -S "${WORK}/own_heuristic" -B "${WORK}/build" -G "${GENERATOR}"
  "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
run(output COMMAND ${CMAKE_COMMAND} --build "${WORK}/build")

set(program "${WORK}/build/own_heuristic")
set(problem --workload zoo:mnist_conv --platform preset:paper_like_10 --schedule fifo)
run(output COMMAND "${program}" --help strategies)
expect("least_loaded" "${output}")
run(output COMMAND "${program}" ${problem} --format csv)
expect("zoo:mnist_conv,preset:paper_like_10,least_loaded,fifo" "${output}")
expect("zoo:mnist_conv,preset:paper_like_10,hash,fifo" "${output}")
run(output COMMAND "${program}" --workload zoo:mnist_conv --platform preset:paper_like_10 --partition earliest_end
  --schedule static_order --format csv)
expect(",own\n" "${output}") # runs in the order that it plans
run(output COMMAND "${program}" ${problem} --partition heft,least_loaded --refine local_search --html "${WORK}/r.html"
  --trace "${WORK}/t.json")
expect("least_loaded" "${output}")
file(READ "${WORK}/r.html" report)
expect("least_loaded" "${report}")
run(output COMMAND "${program}" ${problem} --partition least_lauded FAILS)
expect("unknown partitioner 'least_lauded'; known are: all, hash" "${output}")

# Under a name that is taken.
file(READ "${SOURCE}/examples/own_heuristic/main.cpp" text)
string(REPLACE "\"least_loaded\"" "\"heft\"" text "${text}")
file(WRITE "${WORK}/own_heuristic/main.cpp" "${text}")
run(output COMMAND ${CMAKE_COMMAND} --build "${WORK}/build")
run(output COMMAND "${program}" ${problem} FAILS)
expect("compare: there are two strategies 'heft'; call your own something else" "${output}")
