// SPDX-License-Identifier: BSL-1.0
/// One function per file format that takes any bytes: it returns if they are read or refused as they should be, and
/// throws anything but a `weft::error` if not.
#pragma once

#include "io/support.hpp"
#include "weft/io/critical_path_csv.hpp"
#include "weft/io/json.hpp"
#include "weft/io/read.hpp"

#include <array>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::test::fuzz {

inline void expect(bool holds, const char* what) {
  if (!holds) {
    throw std::logic_error{what};
  }
}

/// Reads the bytes; if that works, writes what came out, which must read back as the same.
template <class Read, class Write, class Same>
void read_and_write(std::string_view bytes, const Read& read, const Write& write, const Same& same) {
  try {
    std::istringstream in{std::string{bytes}};
    const auto value = read(in);
    const auto text = weft_test::text_of([&](std::ostream& out) { write(out, value); });
    std::istringstream again{text};
    const auto copy = read(again);
    expect(same(value, copy), "what was written does not read back as the same");
    expect(text == weft_test::text_of([&](std::ostream& out) { write(out, copy); }), "a second copy is written differently");
  } catch (const error& e) {
    const std::string_view what = e.what();
    expect(!what.empty() && what.find_first_of("\r\n") == what.npos, "an error message is not one line");
  }
}

inline void workload_csv(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_workload_csv(in); },
    [](std::ostream& out, const workload& w) { io::write_workload_csv(out, w); },
    [&](const workload& a, const workload& b) { // carriage returns in names are not kept
      return bytes.find('\r') != bytes.npos || weft_test::same(a, b);
    });
}

inline void platform_csv(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_platform_csv(in); },
    [](std::ostream& out, const platform<>& p) { io::write_platform_csv(out, p); },
    [](platform<> a, platform<> b) { // names are not kept
      a.set_names(std::vector<std::string>(a.num_devices()));
      b.set_names(std::vector<std::string>(b.num_devices()));
      return weft_test::same_platform(a, b);
    });
}

inline void workload_json(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_workload_json(in); },
    [](std::ostream& out, const workload& w) { io::write_workload_json(out, w); }, weft_test::same);
}

inline void platform_json(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_platform_json(in); },
    [](std::ostream& out, const platform<>& p) { io::write_platform_json(out, p); },
    weft_test::same_platform<platform<>, platform<>>);
}

inline void plan_json(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_plan_json(in); },
    [](std::ostream& out, const plan& p) { io::write_plan_json(out, p); }, std::equal_to<plan>{});
}

inline void trace_json(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_trace_json(in); },
    [](std::ostream& out, const trace& t) { io::write_trace_json(out, t); }, std::equal_to<trace>{});
}

inline void profile_json(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_profile_json(in); },
    [](std::ostream& out, const concurrency::profile& p) { io::write_profile_json(out, p); },
    std::equal_to<concurrency::profile>{});
}

struct named_reader {
  const char* name; ///< of the function, and of the folder with its corpus
  void (*read)(std::string_view bytes);
};

inline constexpr std::array<named_reader, 7> readers{{{"workload_csv", workload_csv},
                                                      {"platform_csv", platform_csv},
                                                      {"workload_json", workload_json},
                                                      {"platform_json", platform_json},
                                                      {"plan_json", plan_json},
                                                      {"trace_json", trace_json},
                                                      {"profile_json", profile_json}}};

} // namespace weft::test::fuzz
