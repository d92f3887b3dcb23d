// SPDX-License-Identifier: BSL-1.0
// The main function of the tests that run on several ranks. All of them fail when one does: what a rank other than the
// first prints is shown if it failed, and a rank that cannot go on ends the others, which may wait for it.
#define DOCTEST_CONFIG_IMPLEMENT
#include "weft/interop/mpi/session.hpp"

#include <doctest/doctest.h>

#include <iostream>
#include <sstream>
#include <string>

#include <mpi.h>

namespace {

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::ostringstream& said() {
  static std::ostringstream out;
  return out;
}

void print_what_was_said() {
  std::cout << "rank " + std::to_string(rank_of_world()) + ":\n" + said().str() << std::flush; // in one piece
}

/// Ends all ranks when a test case is left early on this one, by REQUIRE or by an exception.
struct leaves_nobody_waiting : doctest::IReporter {
  explicit leaves_nobody_waiting(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& s) override {
    if (s.failure_flags != 0 && left_early_) {
      print_what_was_said();
      weft::mpi::session::end_all_ranks(1);
    }
  }
  void test_case_exception(const doctest::TestCaseException&) override { left_early_ = true; }
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& a) override {
    left_early_ = left_early_ || (a.m_failed && (a.m_at & doctest::assertType::is_require) != 0);
  }
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

private:
  bool left_early_ = false;
};
REGISTER_LISTENER("leaves_nobody_waiting", 1000, leaves_nobody_waiting);

} // namespace

int main(int argc, char** argv) {
  weft::mpi::session mpi{argc, argv, weft::mpi::threads::multiple};
  doctest::Context context{argc, argv};
  context.setCout(&said());
  int failed = context.run() == 0 ? 0 : 1;
  if (rank_of_world() == 0 || failed != 0) {
    print_what_was_said();
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return failed;
}
