// SPDX-License-Identifier: BSL-1.0
/// Protocol Buffers' binary encoding, read in place without copies, and written.
///
/// Source: Protocol Buffers documentation, *Encoding*.
#pragma once

#include "weft/core/error.hpp"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

namespace weft::io::protobuf {

enum class kind : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// One field of a message. `value` holds a number (a fixed one as its bits), `bytes` a text, a message or packed
/// numbers; `whole` is the field with its tag.
struct field {
  std::uint32_t number = 0;
  protobuf::kind kind = kind::varint;
  bool complete = true; ///< false if the message ends before its bytes do
  std::uint64_t value = 0;
  std::string_view bytes = {};
  std::string_view whole = {};

  std::int64_t integer() const { return static_cast<std::int64_t>(value); }
};

/// The number in bytes of which the first counts least.
inline std::uint64_t fixed(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

namespace detail {

/// Takes a variable-length number from the front. Returns the problem with it, or null.
inline const char* take_varint(std::string_view& rest, std::uint64_t& value) {
  if (!rest.empty() && static_cast<unsigned char>(rest.front()) < 0x80) { // as nearly all are
    value = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    return nullptr;
  }
  value = 0;
  for (unsigned i = 0; i < 10; ++i) {
    if (i >= rest.size()) {
      return "a number ends early";
    }
    const auto byte = static_cast<unsigned char>(rest[i]);
    value |= std::uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      rest.remove_prefix(i + 1);
      return nullptr;
    }
  }
  return "a number is longer than ten bytes";
}

/// Takes a field from the front. Returns the problem with it, or null.
inline const char* take_field(std::string_view& rest, field& f) {
  const auto start = rest;
  std::uint64_t tag = 0;
  const char* problem = take_varint(rest, tag);
  f = {.number = static_cast<std::uint32_t>(tag >> 3), .kind = static_cast<protobuf::kind>(tag & 7)};
  if (problem != nullptr || f.number == 0 || tag >> 32 != 0) {
    return problem != nullptr ? problem : "a field has an impossible number";
  }
  if (f.kind == kind::varint) {
    problem = take_varint(rest, f.value);
  } else {
    std::uint64_t size = f.kind == kind::fixed64 ? 8 : 4;
    if (f.kind == kind::bytes) {
      problem = take_varint(rest, size);
    } else if (f.kind != kind::fixed64 && f.kind != kind::fixed32) {
      return "a field has an unknown type"; // such as a group, of which these formats have none
    }
    if (problem != nullptr) {
      return problem;
    }
    const auto taken = rest.substr(0, size);
    rest.remove_prefix(taken.size());
    problem = taken.size() == size ? nullptr : "a field ends early";
    if (f.kind == kind::bytes) {
      f.bytes = taken;
      f.complete = problem == nullptr;
    } else {
      f.value = fixed(taken);
    }
  }
  f.whole = {start.data(), start.size() - rest.size()};
  return problem;
}

inline void require(const char* problem) {
  if (problem != nullptr) {
    throw error(std::string{"damaged protocol buffer: "} + problem + "; was the file cut off or changed?");
  }
}

} // namespace detail

/// Takes a variable-length number, or a number of bytes, from the front. Throws `error` if it is not all there.
inline std::uint64_t take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  detail::require(detail::take_varint(rest, value));
  return value;
}
inline std::string_view take(std::string_view& rest, std::uint64_t count) {
  detail::require(count > rest.size() ? "a field ends early" : nullptr);
  const auto taken = rest.substr(0, count);
  rest.remove_prefix(taken.size());
  return taken;
}

/// The fields of a message in order, or those of one number: a range, and the iterator over it. Walking throws `error`
/// where the bytes are no message.
class fields {
public:
  using value_type = field;
  using difference_type = std::ptrdiff_t;

  explicit fields(std::string_view bytes, std::uint32_t number = 0) : rest_{bytes}, number_{number} {}
  /// Walking ends where the bytes are no message, and `damaged` becomes true; a last field that is cut off counts.
  fields(std::string_view bytes, bool& damaged) : rest_{bytes}, damaged_{&damaged} {}

  fields begin() const {
    auto first = *this;
    return ++first;
  }
  std::default_sentinel_t end() const { return {}; }

  const field& operator*() const { return now_; }
  fields& operator++() {
    do {
      at_end_ = rest_.empty();
      if (at_end_) {
        break;
      }
      if (const char* const problem = detail::take_field(rest_, now_); problem != nullptr) {
        detail::require(damaged_ == nullptr ? problem : nullptr);
        *damaged_ = true;
        at_end_ = now_.complete;
        rest_ = {};
      }
    } while (number_ != 0 && now_.number != number_);
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const fields& i, std::default_sentinel_t) { return i.at_end_; }

private:
  std::string_view rest_;
  std::uint32_t number_ = 0;
  bool at_end_ = false;
  bool* damaged_ = nullptr;
  field now_ = {};
};

/// Calls `take(std::uint64_t)` with each number of a repeated field of integers, packed or not, until it returns false.
template <class Take>
void for_each_integer(const field& f, const Take& take) {
  if (f.kind != kind::bytes) {
    (void)take(f.value);
    return;
  }
  for (auto rest = f.bytes; !rest.empty();) {
    if (!take(take_varint(rest))) {
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

/// Appends a field: a varint of a whole number, a fixed one of a real number, else bytes.
template <class Value>
  requires std::integral<Value> || std::floating_point<Value> || std::convertible_to<Value, std::string_view>
void put(std::string& out, std::uint32_t number, const Value& value) {
  const auto tag = [&](kind k) { put_varint(out, std::uint64_t{number} << 3 | static_cast<unsigned>(k)); };
  if constexpr (std::integral<Value>) {
    tag(kind::varint);
    put_varint(out, static_cast<std::uint64_t>(value));
  } else if constexpr (std::floating_point<Value>) {
    using bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
    tag(sizeof(Value) == 4 ? kind::fixed32 : kind::fixed64);
    for (unsigned i = 0; i < 8 * sizeof(Value); i += 8) {
      out += static_cast<char>(std::bit_cast<bits>(value) >> i & 0xff);
    }
  } else {
    const std::string_view bytes = value;
    tag(kind::bytes);
    put_varint(out, bytes.size());
    out += bytes;
  }
}

/// A message of fields, given as number, value, number, value, …
template <std::integral Number, class Value, class... More>
std::string message(Number number, const Value& value, const More&... more) {
  std::string out;
  put(out, static_cast<std::uint32_t>(number), value);
  if constexpr (sizeof...(more) > 0) {
    out += message(more...);
  }
  return out;
}

/// A repeated field: what `value` makes of each element of a list.
template <class List, class Value = std::identity>
std::string repeated(std::uint32_t number, const List& list, const Value& value = {}) {
  std::string out;
  for (const auto& x : list) {
    put(out, number, value(x));
  }
  return out;
}

/// The message with some fields changed: `change(out, field)` appends what comes in place of a field and returns true,
/// or returns false to keep it as it is, byte by byte. Throws `error` for bytes that are no message.
template <class Change>
std::string rewritten(std::string_view bytes, const Change& change) {
  std::string out;
  for (const auto& f : fields{bytes}) {
    if (!change(out, f)) {
      out += f.whole;
    }
  }
  return out;
}

} // namespace weft::io::protobuf
