// SPDX-License-Identifier: BSL-1.0
/// Makes a hang a failure that comes soon.
#pragma once

#include <unistd.h>

namespace weft::test {

/// The process is ended by SIGALRM if this lives for longer, and by that all ranks.
struct watchdog {
  explicit watchdog(unsigned seconds) { ::alarm(seconds); }
  ~watchdog() { ::alarm(0); }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
};

} // namespace weft::test
