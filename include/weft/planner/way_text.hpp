// SPDX-License-Identifier: BSL-1.0
/// The ways that are asked for, as text.
#pragma once

#include "weft/core/error.hpp"
#include "weft/planner/way.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace weft::planner {

namespace detail {

/// A part of a text such as `data=8,sharded`: `name=value`, or a name alone.
struct named_value {
  std::string_view name = {}, value = {};
  bool has_value = false;
};

inline std::vector<named_value> named_values(std::string_view text) {
  std::vector<named_value> all;
  for (bool more = true; more;) {
    const auto end = std::min(text.find(','), text.size());
    const auto part = text.substr(0, end);
    const auto equals = std::min(part.find('='), part.size());
    const bool has_value = equals < part.size();
    all.push_back({part.substr(0, equals), has_value ? part.substr(equals + 1) : part.substr(equals), has_value});
    more = end < text.size();
    text.remove_prefix(more ? end + 1 : end);
  }
  return all;
}

/// The parser of such a text.
class way_parser {
public:
  explicit way_parser(std::string_view text) : text_{text}, parts_{named_values(text)} {}

  wanted_ways parse() {
    using which = wanted_ways::which;
    const auto& first = parts_.front();
    if (first.name == "pipeline" || first.name == "accumulate") {
      take_pipeline();
    } else if (first.name == "data" || first.name == "tensor" || first.name == "context") {
      x_.of = first.name == "data" ? which::data : first.name == "tensor" ? which::tensor : which::context;
      if (first.has_value) {
        take_devices();
      } else if (parts_.size() > 1) {
        fail("write " + std::string{first.name} + "=N for N devices before what follows");
      }
    } else if (text_ != "auto") {
      fail("write auto, data, tensor or context, data=N, tensor=N or context=N for N devices, pipeline=K for K stages, "
           "or accumulate=M for M micro-batches");
    }
    return x_;
  }

private:
  [[noreturn]] void fail(const std::string& how) const {
    throw value_error("'" + std::string{text_} + "'", how);
  }

  template <class Number = std::uint32_t>
  Number number(const named_value& part, std::string_view digits) const {
    Number x = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), x);
    if (failed == std::errc::result_out_of_range) {
      fail(std::string{part.name} + "=" + std::string{part.value} + " is too large a number");
    }
    if (failed != std::errc{} || end != digits.data() + digits.size()) {
      fail(std::string{part.name} + "=" + std::string{part.value} + " has no integer; write, for example, " +
           std::string{part.name} + "=2");
    }
    return x;
  }

  /// `data=N` or `tensor=N`, and what may follow.
  void take_devices() {
    using which = wanted_ways::which;
    const auto& first = parts_.front();
    auto& count = x_.of == which::data ? x_.replicas : x_.ranks;
    count = number(first, first.value);
    if (count < 2) {
      fail("give at least 2 devices, or none for one");
    }
    if (parts_.size() > 1 && x_.of == which::data && (parts_[1].name == "tensor" || parts_[1].name == "context")) {
      take_devices_of_replica();
      return;
    }
    for (auto part = parts_.begin() + 1; part != parts_.end(); ++part) {
      take_feature(*part);
    }
    if (x_.by_speed && x_.splits_experts) {
      fail("experts are split among devices that are alike; leave by-speed out");
    }
    if (x_.shards_parameters.value_or(false) && (x_.by_speed || x_.splits_experts)) {
      fail("all parameters are in parts on devices that are alike; leave by-speed and experts out");
    }
    const auto idle = std::count(x_.examples.begin(), x_.examples.end(), 0u);
    if (!x_.examples.empty() &&
        (x_.examples.size() != x_.replicas || static_cast<std::ptrdiff_t>(x_.examples.size()) < idle + 2)) {
      fail("data=N,by-speed=…: give N numbers of samples, at least two of them above 0, as in by-speed=169+87");
    }
    if (x_.shards_updates) {
      x_.splits_experts = x_.splits_experts.value_or(false);
      x_.by_speed = x_.by_speed.value_or(false);
    }
  }

  /// After `data=N`, `tensor=K` or `context=K`, and for the former how replicas update.
  void take_devices_of_replica() {
    using which = wanted_ways::which;
    const bool of_context = parts_[1].name == "context";
    x_.ranks = parts_[1].has_value ? number(parts_[1], parts_[1].value) : 0;
    if (x_.ranks < 2) {
      fail("data=N,tensor=K or data=N,context=K: give at least 2 devices for each replica, or data=N alone");
    }
    if (parts_.size() > 2) {
      const auto& last = parts_[2];
      const bool fully = last.name == "fully-sharded";
      if (parts_.size() > 3 || of_context || last.has_value ||
          !(fully || last.name == "sharded" || last.name == "whole")) {
        fail("after data=N,tensor=K write nothing, or whole, sharded or fully-sharded; after data=N,context=K nothing");
      }
      x_.shards_updates = last.name != "whole";
      x_.shards_parameters = fully;
    }
    x_.of = of_context ? which::context : which::data;
  }

  /// `whole`, `sharded`, `fully-sharded[=G]`, `experts` or `by-speed`, each once.
  void take_feature(const named_value& part) {
    const bool fully = part.name == "fully-sharded";
    auto* const what = part.name == "whole" || part.name == "sharded" || fully ? &x_.shards_updates
                       : part.name == "experts"                       ? &x_.splits_experts
                       : part.name == "by-speed"                      ? &x_.by_speed
                                                                      : nullptr;
    if (x_.of != wanted_ways::which::data || !what || what->has_value() ||
        (part.has_value && part.name != "by-speed" && !fully)) {
      fail("after the number of devices write nothing, or for data whole, sharded or fully-sharded, experts, by-speed, "
           "or tensor=K or context=K");
    }
    if (what == &x_.shards_updates) {
      x_.shards_parameters = fully;
    }
    *what = part.name != "whole";
    if (fully) {
      take_shard_ranks(part);
      return;
    }
    for (auto rest = part.value; part.has_value;) {
      const auto end = std::min(rest.find('+'), rest.size());
      x_.examples.push_back(number<std::uint64_t>(part, rest.substr(0, end)));
      if (end == rest.size()) {
        break;
      }
      rest.remove_prefix(end + 1);
    }
  }

  /// The replicas that hold all parameters together: all, or so many.
  void take_shard_ranks(const named_value& part) {
    const auto ranks = part.has_value ? number(part, part.value) : 0;
    if (part.has_value && (ranks < 2 || ranks >= x_.replicas || x_.replicas % ranks != 0)) {
      fail("fully-sharded=G: give the devices of a group that holds all parameters, at least 2, that divide data=N, or "
           "fully-sharded alone for all of them");
    }
    x_.shard_ranks = ranks;
  }

  /// `pipeline=K` or `accumulate[=M]`, and the other numbers in any order.
  void take_pipeline() {
    x_.of = wanted_ways::which::pipeline;
    for (const auto& part : parts_) {
      if ((part.name == "whole" || part.name == "sharded") && !part.has_value && !x_.shards_updates) {
        x_.shards_updates = part.name == "sharded";
        continue;
      }
      const bool accumulates = part.name == "accumulate" && x_.stages == 0;
      x_.stages = accumulates ? 1 : x_.stages;
      if (accumulates && !part.has_value) {
        continue;
      }
      const bool is_micro = accumulates || part.name == "micro-batches";
      auto* const count = part.name == "pipeline" ? &x_.stages
                          : part.name == "data"   ? &x_.replicas
                          : part.name == "tensor" ? &x_.ranks
                          : part.name == "turns"  ? &x_.turns
                                                  : nullptr;
      if (!part.has_value || !(count || is_micro) || (count ? *count : x_.micro_batches) != 0) {
        fail("write pipeline=K for K stages, and after that data=N, tensor=T, micro-batches=M, turns=V, whole or "
             "sharded, for N replicas with T devices per stage each, M micro-batches, V stages on each device, and how "
             "replicas update; or accumulate=M, and after that data=N, for M micro-batches of one stage");
      }
      const auto given = is_micro ? number<std::uint64_t>(part, part.value) : number(part, part.value);
      if (given == 0) {
        fail(std::string{part.name} + ": give at least 1");
      }
      if (is_micro) {
        x_.micro_batches = given;
      } else {
        *count = static_cast<std::uint32_t>(given);
      }
    }
    if (x_.shards_updates && *x_.shards_updates && x_.replicas < 2) {
      fail("replicas share their updates: give data=N for N of them, at least 2, or leave \",sharded\" out");
    }
  }

  std::string_view text_;
  std::vector<named_value> parts_;
  wanted_ways x_ = {};
};

} // namespace detail

/// The ways that a text asks for, such as `auto`, `data`, `data=8,sharded`, `tensor=4`, `data=2,tensor=4,sharded`,
/// `context=8`, `pipeline=2,data=2,micro-batches=8` or `accumulate=4`; that of `to_string(way)` asks for that way
/// alone. Throws `value_error` that says what to write.
inline wanted_ways wanted_from(std::string_view text) {
  return detail::way_parser{text}.parse();
}

} // namespace weft::planner
