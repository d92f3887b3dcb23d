// SPDX-License-Identifier: BSL-1.0
/// Protocol Buffers' binary encoding, read in place without copies, and written.
///
/// Source: Protocol Buffers documentation, *Encoding*.
#pragma once

#include "weft/core/error.hpp"

#include <bit>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace weft::tensorflow::wire {

enum class kind : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// One field of a message. `value` holds a number (a fixed one as its bits), `bytes` a text, a message or packed
/// numbers; `whole` is the field with its tag.
struct field {
  std::uint32_t number = 0;
  wire::kind kind = kind::varint;
  std::uint64_t value = 0;
  std::string_view bytes = {};
  std::string_view whole = {};

  std::int64_t integer() const { return static_cast<std::int64_t>(value); }
};

namespace detail {

[[noreturn]] inline void fail(const char* problem) {
  throw error(std::string{"damaged protocol buffer: "} + problem + "; was the file cut off or changed?");
}

/// Takes a variable-length number from the front.
inline std::uint64_t take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 10; ++i) {
    if (i >= rest.size()) {
      fail("a number ends early");
    }
    const auto byte = static_cast<unsigned char>(rest[i]);
    value |= std::uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      rest.remove_prefix(i + 1);
      return value;
    }
  }
  fail("a number is longer than ten bytes");
}

inline std::string_view take(std::string_view& rest, std::uint64_t count) {
  if (count > rest.size()) {
    fail("a field ends early");
  }
  const auto taken = rest.substr(0, count);
  rest.remove_prefix(taken.size());
  return taken;
}

inline std::uint64_t fixed(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

inline field take_field(std::string_view& rest) {
  const auto start = rest;
  const auto tag = take_varint(rest);
  field f{.number = static_cast<std::uint32_t>(tag >> 3)};
  if (f.number == 0 || tag >> 32 != 0) {
    fail("a field has an impossible number");
  }
  switch (tag & 7) {
  case 0: f.value = take_varint(rest); break;
  case 1: f.value = fixed(take(rest, 8)); break;
  case 2: f.bytes = take(rest, take_varint(rest)); break;
  case 5: f.value = fixed(take(rest, 4)); break;
  default: fail("a field has an unknown type");
  }
  f.kind = static_cast<kind>(tag & 7);
  f.whole = start.substr(0, start.size() - rest.size());
  return f;
}

} // namespace detail

/// The fields of a message, in order. Walking throws `error` where the bytes are no message.
class fields {
public:
  explicit fields(std::string_view bytes) : bytes_{bytes} {}

  class iterator {
  public:
    using value_type = field;
    using difference_type = std::ptrdiff_t;
    explicit iterator(std::string_view rest) : rest_{rest} { ++*this; }
    const field& operator*() const { return now_; }
    iterator& operator++() {
      at_end_ = rest_.empty();
      if (!at_end_) {
        now_ = detail::take_field(rest_);
      }
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) { return i.at_end_; }

  private:
    std::string_view rest_;
    field now_ = {};
    bool at_end_ = false;
  };

  iterator begin() const { return iterator{bytes_}; }
  std::default_sentinel_t end() const { return {}; }

private:
  std::string_view bytes_;
};

/// Calls `take(std::uint64_t)` with each number of a repeated field of integers, packed or not, until it returns false.
template <class Take>
void for_each_integer(const field& f, const Take& take) {
  if (f.kind != kind::bytes) {
    (void)take(f.value);
    return;
  }
  for (auto rest = f.bytes; !rest.empty();) {
    if (!take(detail::take_varint(rest))) {
      return;
    }
  }
}

inline void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out += static_cast<char>(value | 0x80);
  }
  out += static_cast<char>(value);
}
inline void put_tag(std::string& out, std::uint32_t number, kind k) {
  put_varint(out, std::uint64_t{number} << 3 | static_cast<unsigned>(k));
}
inline void put(std::string& out, std::uint32_t number, std::uint64_t value) {
  put_tag(out, number, kind::varint);
  put_varint(out, value);
}
inline void put(std::string& out, std::uint32_t number, std::string_view bytes) {
  put_tag(out, number, kind::bytes);
  put_varint(out, bytes.size());
  out += bytes;
}
inline void put_fixed(std::string& out, std::uint32_t number, kind k, std::uint64_t bits) {
  put_tag(out, number, k);
  for (unsigned i = 0; i < (k == kind::fixed64 ? 8u : 4u); ++i) {
    out += static_cast<char>(bits >> (8 * i) & 0xff);
  }
}
inline void put(std::string& out, std::uint32_t number, float value) {
  put_fixed(out, number, kind::fixed32, std::bit_cast<std::uint32_t>(value));
}
inline void put(std::string& out, std::uint32_t number, double value) {
  put_fixed(out, number, kind::fixed64, std::bit_cast<std::uint64_t>(value));
}

} // namespace weft::tensorflow::wire
