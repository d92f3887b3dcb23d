// SPDX-License-Identifier: BSL-1.0
/// Makes a hang a failure.
#pragma once

#include <unistd.h>

namespace weft::test {

/// The process is ended by SIGALRM if this lives for some minutes, and by that all ranks.
struct watchdog {
  watchdog() { ::alarm(240); } // seconds: on a busy machine, ranks that wait for each other took over 60
  ~watchdog() { ::alarm(0); }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
};

} // namespace weft::test
