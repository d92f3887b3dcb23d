// SPDX-License-Identifier: BSL-1.0
/// StarPU for tests: says nothing, binds no thread to a core, and keeps its files to the test.
#pragma once

#include "weft/interop/starpu/session.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_TEST_LSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_TEST_LSAN 1
#endif
#endif
#ifdef WEFT_TEST_LSAN
#include <sanitizer/lsan_interface.h>
#endif

namespace interop_starpu_test {

/// A folder of this test's own, in which StarPU keeps what it measures. It is gone afterwards.
class starpu_home {
public:
  starpu_home() : path_{std::filesystem::temp_directory_path() / ("weft_starpu_" + std::to_string(::getpid()))} {
    std::filesystem::create_directories(path_);
    ::setenv("STARPU_HOME", path_.c_str(), 1);
    ::setenv("STARPU_SILENT", "1", 1);
    ::setenv("STARPU_WORKERS_NOBIND", "1", 1);
  }
  starpu_home(const starpu_home&) = delete;
  starpu_home& operator=(const starpu_home&) = delete;
  ~starpu_home() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

private:
  std::filesystem::path path_;
};

/// What StarPU allocates when it is initialised, and never frees, is no leak of a test.
class unchecked_for_leaks {
#ifdef WEFT_TEST_LSAN
public:
  unchecked_for_leaks() { __lsan_disable(); }
  unchecked_for_leaks(const unchecked_for_leaks&) = delete;
  unchecked_for_leaks& operator=(const unchecked_for_leaks&) = delete;
  ~unchecked_for_leaks() { __lsan_enable(); }
#endif
};

/// StarPU with so many workers, which may be more than there are cores.
struct quiet_session {
  starpu_home home = {};
  weft::starpu::session starpu;
  explicit quiet_session(int cpus = 2, const unchecked_for_leaks& = {}) : starpu{{.cpus = cpus}} {}
};

} // namespace interop_starpu_test
