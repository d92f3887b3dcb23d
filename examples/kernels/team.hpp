// SPDX-License-Identifier: BSL-1.0
/// Work sharing among the threads of a kernel's OpenMP team.
#pragma once

#include "kernels/op_call.hpp"

#include <omp.h>

namespace kernels {

/// Sets the size of the teams that this thread opens, for as long as it lives.
class team_size {
public:
  explicit team_size(unsigned threads) : outer_{omp_get_max_threads()} {
    omp_set_num_threads(static_cast<int>(threads));
  }
  team_size(const team_size&) = delete;
  team_size& operator=(const team_size&) = delete;
  ~team_size() { omp_set_num_threads(outer_); }

private:
  int outer_;
};

/// About how long one core has to be busy with an op, in seconds, for a team to be worth its while.
inline constexpr double default_worth_sharing = 8e-6;

/// How long an op takes one core, roughly, in seconds.
inline double estimated_time(const op_call& call) {
  constexpr double flop_per_second = 1e11, floats_per_second = 4e9;
  double floats = 0;
  for (const auto& x : call.in) {
    floats += static_cast<double>(x.size());
  }
  for (const auto& y : call.out) {
    floats += static_cast<double>(y.size());
  }
  return call.work() / flop_per_second + floats / floats_per_second;
}

/// One thread for an op that is done before a team has met, else all: with libgomp, a team of any size between is
/// dear, because threads that sit out are ended and started again later.
inline unsigned team_for(const op_call& call, unsigned threads, double worth_sharing) {
  return estimated_time(call) < worth_sharing ? 1 : threads;
}

/// Calls `body(first, last)` on each thread of the team for its share of `[0, n)`; shares begin at multiples of
/// `grain`.
template <class Body>
void share(unsigned team, std::size_t n, std::size_t grain, const Body& body) {
  if (team == 1) {
    body(std::size_t{0}, n);
    return;
  }
  const std::size_t grains = (n + grain - 1) / grain;
#pragma omp parallel num_threads(team)
  {
    const auto members = static_cast<std::size_t>(omp_get_num_threads());
    const auto member = static_cast<std::size_t>(omp_get_thread_num());
    const std::size_t first = std::min(n, grains * member / members * grain);
    const std::size_t last = std::min(n, grains * (member + 1) / members * grain);
    if (first < last) {
      body(first, last);
    }
  }
}

/// Shares of whole cache lines.
template <class Body>
void share_floats(unsigned team, std::size_t n, const Body& body) {
  share(team, n, 16, body);
}

} // namespace kernels
