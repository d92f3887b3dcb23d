// SPDX-License-Identifier: BSL-1.0
/// The bundled networks by name.
#pragma once

#include "weft/workload/zoo/dynamic_rnn.hpp"
#include "weft/workload/zoo/lstm.hpp"
#include "weft/workload/zoo/mnist_conv.hpp"

#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace weft::zoo {

/// A bundled network.
struct entry {
  std::string_view name;
  std::string_view description; ///< one line
  std::uint64_t batch;          ///< the batch size of its source
  workload (*make)(std::uint64_t batch);
};

/// All bundled networks, by name.
inline constexpr std::array<entry, 3> entries{{
  {"dynamic_rnn", "LSTM of 64 over up to 20 masked steps, gradient descent (17,026 parameters)", 128,
   [](std::uint64_t batch) { return dynamic_rnn(batch); }},
  {"lstm", "LSTM of 128 over 28 steps, the rows of an image, Adam (81,674 parameters)", 128,
   [](std::uint64_t batch) { return lstm(batch); }},
  {"mnist_conv", "two 5x5 convolutions and two dense layers for 28x28 images, Adam (3,274,634 parameters)", 50,
   [](std::uint64_t batch) { return mnist_conv(batch); }},
}};

/// The training step of the network of that name; batch 0 means the batch size of its source.
/// Throws `value_error` that lists the names if there is no such network.
inline workload make(std::string_view name, std::uint64_t batch) {
  std::string known;
  for (const auto& e : entries) {
    if (e.name == name) {
      return e.make(batch == 0 ? e.batch : batch);
    }
    known += (known.empty() ? "" : ", ") + std::string{e.name};
  }
  throw value_error("zoo", "there is no network '" + std::string{name} + "'; choose one of " + known +
                             ", with a batch size if you like, such as lstm@32");
}

/// The training step that `name` or `name@batch` describes, e.g. `lstm@32`.
/// Throws `value_error` for an unknown name or a batch size that is not an integer from 1 to 1,000,000.
inline workload make(std::string_view spec) {
  const auto at = spec.find('@');
  if (at == spec.npos) {
    return make(spec, 0);
  }
  const auto digits = spec.substr(at + 1);
  std::uint64_t batch = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), batch);
  if (problem != std::errc{} || end != digits.data() + digits.size() || batch == 0 || batch > 1'000'000) {
    throw value_error("zoo", "'" + std::string{digits} + "' in '" + std::string{spec} +
                               "' is not a batch size; write an integer from 1 to 1000000 after the @");
  }
  return make(spec.substr(0, at), batch);
}

} // namespace weft::zoo
