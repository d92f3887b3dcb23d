# SPDX-License-Identifier: BSL-1.0
# Programs and tests of the component mpi, for each MPI that is installed: Debian's compilers and launchers have the
# names mpicxx.openmpi and mpirun.openmpi, mpicxx.mpich and mpirun.mpich. Elsewhere it is the one that FindMPI finds.

set(weft_mpis "") # what to build and test with; each has the target weft_with_<name> and weft_<name>_run
if(TARGET weft::mpi)
  foreach(name IN ITEMS openmpi mpich)
    find_program(WEFT_MPICXX_${name} mpicxx.${name})
    find_program(WEFT_MPIRUN_${name} NAMES mpirun.${name} mpiexec.${name})
    mark_as_advanced(WEFT_MPICXX_${name} WEFT_MPIRUN_${name})
    if(NOT WEFT_MPICXX_${name} OR NOT WEFT_MPIRUN_${name})
      continue()
    endif()
    execute_process(COMMAND "${WEFT_MPICXX_${name}}" -show OUTPUT_VARIABLE command RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed)
      execute_process(COMMAND "${WEFT_MPICXX_${name}}" -E -include mpi.h -x c++ /dev/null
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET) # a compiler may be there without the headers
    endif()
    if(failed)
      continue()
    endif()
    separate_arguments(flags UNIX_COMMAND "${command}")
    set(folders ${flags})
    list(FILTER folders INCLUDE REGEX "^-I")
    list(TRANSFORM folders REPLACE "^-I" "")
    list(FILTER flags INCLUDE REGEX "^-(L|l|Wl)")
    list(FILTER flags EXCLUDE REGEX "^-l(mpi_cxx|mpichcxx)$") # the C++ bindings
    get_target_property(definitions weft::mpi INTERFACE_COMPILE_DEFINITIONS)
    add_library(weft_with_${name} INTERFACE)
    target_include_directories(weft_with_${name} SYSTEM INTERFACE ${folders})
    target_compile_definitions(weft_with_${name} INTERFACE ${definitions})
    target_link_libraries(weft_with_${name} INTERFACE weft::weft ${flags})
    set(weft_${name}_run "${WEFT_MPIRUN_${name}}" -n)
    list(APPEND weft_mpis ${name})
  endforeach()
  if(WEFT_SANITIZE AND weft_mpis) # one is enough for what the sanitizers can find, and they take their time
    list(GET weft_mpis 0 weft_mpis)
  endif()
  if(NOT weft_mpis)
    add_library(weft_with_mpi INTERFACE)
    target_link_libraries(weft_with_mpi INTERFACE weft::mpi)
    set(weft_mpi_run "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG})
    set(weft_mpis mpi)
  endif()
endif()

# Open MPI wants to be told that there may be more ranks than cores, and that it may run as root, in a container.
set(weft_mpi_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none ASAN_OPTIONS=detect_leaks=0)
if(WEFT_SANITIZE)
  list(APPEND weft_mpi_environment WEFT_MPI_CASES=100) # random ones
endif()
cmake_host_system_information(RESULT weft_cores QUERY NUMBER_OF_LOGICAL_CORES)

# weft_mpi_programs(<target> <source>... [LIBRARIES ...]): the program <target>_<mpi> for each MPI. What else it links
# must not be weft::mpi, which is one of them.
function(weft_mpi_programs target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
  foreach(name IN LISTS weft_mpis)
    add_executable(${target}_${name} ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${target}_${name} PRIVATE weft_dev weft_with_${name} ${arg_LIBRARIES})
  endforeach()
endfunction()

# weft_mpi_tests(<test> <target> RANKS <n>... [ARGUMENTS ...] [LABELS ...] [PROPERTIES ...]): runs <target>_<mpi> on so
# many ranks, as <test>.<mpi>.<n>, one test at a time: ranks that wait take all of their core.
function(weft_mpi_tests test target)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "RANKS;ARGUMENTS;LABELS;PROPERTIES")
  foreach(name IN LISTS weft_mpis)
    foreach(ranks IN LISTS arg_RANKS)
      if(name STREQUAL "mpich" AND ranks GREATER 2 AND ranks GREATER weft_cores)
        continue() # its ranks take all of their core while they wait: five times as long as with the others
      endif()
      add_test(NAME ${test}.${name}.${ranks}
        COMMAND ${weft_${name}_run} ${ranks} "$<TARGET_FILE:${target}_${name}>" ${arg_ARGUMENTS})
      set_tests_properties(${test}.${name}.${ranks} PROPERTIES LABELS "mpi;${arg_LABELS}"
        PROCESSORS ${weft_cores} ${arg_PROPERTIES} ENVIRONMENT "${weft_mpi_environment}")
    endforeach()
  endforeach()
endfunction()

# SimGrid's MPI, SMPI: programs run on clusters that are simulated, in virtual time, of hundreds of ranks. It loads them
# as a library for each rank. Its compiler smpicxx does no more than this, but for macros in place of `exit` and
# `sleep`, which break other headers; so programs take the time from MPI_Wtime only.
find_program(WEFT_SMPIRUN smpirun)
mark_as_advanced(WEFT_SMPIRUN)
set(weft_has_smpi FALSE)
if(TARGET weft_simgrid AND WEFT_SMPIRUN AND TARGET weft::mpi AND NOT WEFT_SANITIZE)
  set(weft_has_smpi TRUE)
  add_library(weft_with_smpi INTERFACE)
  target_include_directories(weft_with_smpi SYSTEM INTERFACE "${WEFT_SIMGRID_INCLUDE}/smpi")
  target_link_libraries(weft_with_smpi INTERFACE weft::weft weft_simgrid)
  target_link_options(weft_with_smpi INTERFACE -Wl,-z,defs)
endif()

# weft_smpi_program(<target> <source>... [LIBRARIES ...]): <target> for smpirun, as $<TARGET_FILE:<target>>.
function(weft_smpi_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
  add_library(${target} MODULE ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE weft_dev weft_with_smpi ${arg_LIBRARIES})
endfunction()
