// SPDX-License-Identifier: BSL-1.0
#include "weft/report/detail/text.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace report_detail_text_test {

using namespace weft::report::detail;

TEST_CASE("report text: numbers") {
  CHECK(shortest(182.535) == "182.535");
  CHECK(shortest(.1 + .2) == "0.30000000000000004");
  CHECK(shortest(std::numeric_limits<double>::quiet_NaN()).empty());
  CHECK(shortest(std::numeric_limits<double>::infinity()).empty());
  CHECK(json_number(std::numeric_limits<double>::infinity()) == "null");
  CHECK(fixed(2. / 3, 3) == "0.667");
  CHECK(fixed(-0.04, 1) == "0.0");
  CHECK(fixed(-0.0, 0) == "0");
  CHECK(fixed(-0.06, 1) == "-0.1");
  CHECK(fixed(std::numeric_limits<double>::max(), 3).size() > 300);
  CHECK(significant(182.5350000001, 6) == "182.535");
  CHECK(three_digits(9.996) == "10.0");
  CHECK(three_digits(1234) == "1234");
}

TEST_CASE("report text: units") {
  CHECK(duration(0) == "0 s");
  CHECK(duration(1.5) == "1.50 s");
  CHECK(duration(.0123) == "12.3 ms");
  CHECK(duration(45e-6) == "45.0 µs");
  CHECK(duration(3e-9) == "3.00 ns");
  CHECK(amount(0) == "0 B");
  CHECK(amount(999) == "999 B");
  CHECK(amount(999.9) == "0.98 KiB");
  CHECK(amount(12288) == "12.0 KiB");
  CHECK(amount(1'048'576) == "1.00 MiB");
  CHECK(amount(80.0 * (1ull << 30)) == "80.0 GiB");
  CHECK(amount(std::numeric_limits<double>::quiet_NaN()).empty());
  CHECK(percentage(.255) == "25.5 %");
  CHECK(percentage(-1e-12) == "0.0 %");
  CHECK(percentage(-.001) == "-0.1 %");
  CHECK(percentage(12.34) == "1234 %");
}

TEST_CASE("report text: UTF-8 that is not becomes U+FFFD, byte by byte") {
  CHECK(printable("größe 网") == "größe 网");
  CHECK(printable("a\tb\x1b[1m") == "a\ufffdb\ufffd[1m");
  CHECK(printable("\xff\xc3") == "\ufffd\ufffd");
  CHECK(printable("\xc0\xaf") == "\ufffd\ufffd");           // overlong
  CHECK(printable("\xed\xa0\x80") == "\ufffd\ufffd\ufffd"); // surrogate
  CHECK(printable("\xf0\x9f\x98\x80") == "😀");
  CHECK(printable("\xf4\x90\x80\x80") == "\ufffd\ufffd\ufffd\ufffd"); // beyond Unicode
}

TEST_CASE("report text: widths") {
  static_assert(display_width("abc") == 3);
  static_assert(display_width("") == 0);
  CHECK(display_width("größe") == 5);
  CHECK(display_width("gro\u0308ße") == 5); // combining diaeresis
  CHECK(display_width("网络") == 4);
  CHECK(display_width("µs ×") == 4);
}

TEST_CASE("report text: escaping") {
  CHECK(escape_html("<a href='x'>\"&\"</a>") == "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/a&gt;");
  CHECK(quote_json("a\"b\\c\n\t\x01</s") == R"("a\"b\\c\n\t\u0001\u003c/s")");
  CHECK(quote_json("\xff") == "\"\ufffd\"");
}

} // namespace report_detail_text_test
