// SPDX-License-Identifier: BSL-1.0
/// Ctrl-C as a request to end with what there is so far.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stop_token>
#include <thread>

namespace tool {

/// The exit status after Ctrl-C, as shells have it: 128 and the number of SIGINT.
inline constexpr int interrupted = 130;

/// Once one is made, and until the program ends, the first SIGINT requests a stop and the second ends the program at
/// once. Make it before other threads, so that they inherit the blocked SIGINT.
class interrupt {
public:
  /// `what` is said to be ended on a terminal.
  explicit interrupt(const char* what = "ending with the best plan so far") {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGINT);
    pthread_sigmask(SIG_BLOCK, &only, nullptr);
    std::thread{[only, what, requested = source_]() mutable {
      int number = 0;
      sigwait(&only, &number);
      requested.request_stop(); // before it is said
      if (isatty(STDERR_FILENO) != 0) {
        std::fprintf(stderr, "\r\x1b[K%s; Ctrl-C again ends at once …", what);
        std::fflush(stderr);
      }
      sigwait(&only, &number);
      std::_Exit(interrupted);
    }}.detach();
  }
  interrupt(const interrupt&) = delete;
  interrupt& operator=(const interrupt&) = delete;

  /// To be kept as long as what is to stop.
  const std::stop_token& token() const { return token_; }

private:
  std::stop_source source_;
  std::stop_token token_ = source_.get_token();
};

} // namespace tool
