// SPDX-License-Identifier: BSL-1.0
/// Reads problems of the operator-sharding contest (IOPDDL, 2025) and writes their solutions.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/io/files.hpp"
#include "weft/io/text.hpp"
#include "weft/shard/variant_problem.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <limits>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::io {
namespace detail {

/// Lists of numbers, one after the other.
struct number_lists {
  buffer<std::int64_t> values;
  buffer<std::size_t> ends; ///< by list
  std::size_t size() const { return ends.size(); }
  std::span<const std::int64_t> operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return {values.data() + begin, ends[i] - begin};
  }
};

/// Takes the events of a JSON parser, so that a text is never in memory, nor are its equal matrices.
class iopddl_handler {
public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit iopddl_handler(std::string file) : file_{std::move(file)} {}

  bool key(string_t& name) {
    const std::string at = scopes_.empty() ? "" : scopes_.back().path;
    key_ = at + "/" + (name.find('/') == name.npos ? on_one_line(name) : in_quotes(name));
    if (list_of(key_) != nullptr || key_ == limit_key || key_ == "/problem" || key_ == "/problem/nodes" ||
        key_ == "/problem/edges") {
      for (const auto& seen : seen_) {
        if (seen == key_) {
          fail(key_, "the key is given twice");
        }
      }
      seen_.push_back(key_);
    }
    return true;
  }
  bool start_object(std::size_t) { return open('{'); }
  bool start_array(std::size_t) { return open('['); }
  bool end_object() { return close(); }
  bool end_array() {
    if (target_ != nullptr && scopes_.size() == list_depth_ + 1) {
      if (target_ == &matrices_) {
        matrix_of_.push_back(pool_.add({row_.data(), row_.size()}));
      } else {
        target_->values.append(row_.data(), row_.data() + row_.size());
        target_->ends.push_back(target_->values.size());
      }
      row_.clear();
    } else if (target_ != nullptr && scopes_.size() == list_depth_) {
      target_ = nullptr;
    }
    return close();
  }
  bool number_integer(number_integer_t x) { return add(x); }
  bool number_unsigned(number_unsigned_t x) {
    if (target_ == nullptr && key_ != limit_key) {
      return other("a number");
    }
    if (x > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return too_large(std::to_string(x));
    }
    return add(static_cast<std::int64_t>(x));
  }
  bool number_float(number_float_t x, const string_t& text) {
    if (target_ == nullptr && key_ != limit_key) {
      return other("a number");
    }
    if (x >= 0x1p63 || x < -0x1p63) {
      return too_large(text);
    }
    if (x != static_cast<number_float_t>(static_cast<std::int64_t>(x))) {
      fail(here(), in_quotes(text) + " is not a whole number");
    }
    return add(static_cast<std::int64_t>(x));
  }
  bool null() { return key_ == limit_key && scopes_.size() == 2 ? true : other("null"); }
  bool boolean(bool) { return other("a truth value"); }
  bool string(string_t&) { return other("a string"); }
  bool binary(binary_t&) { return other("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& e) const {
    const std::string_view what = e.what();
    const bool is_number = what.find("number overflow") != what.npos;
    const auto reason = what.find(is_number ? "] " : ": ");
    throw weft::parse_error(file_, 0,
                            "not valid JSON at byte " + std::to_string(position) + ": " +
                              on_one_line(reason == what.npos ? what : what.substr(reason + 2)));
  }

  shard::variant_problem made() const {
    for (const auto* key : {intervals_key, costs_key, usages_key, ends_key, matrices_key}) {
      bool found = false;
      for (const auto& seen : seen_) {
        found = found || seen == key;
      }
      if (!found) {
        fail(key, "the key is missing");
      }
    }
    const auto n = costs_.size();
    same_count(intervals_key, intervals_.size(), n, "nodes");
    same_count(usages_key, usages_.size(), n, "nodes");
    same_count(matrices_key, matrix_of_.size(), ends_.size(), "edges");
    shard::variant_problem p;
    if (limit_) {
      in_file(file_, [&] { p.set_limit(*limit_); });
    }
    for (std::size_t v = 0; v < n; ++v) {
      const auto interval = intervals_[v];
      if (interval.size() != 2) {
        fail(intervals_key, v, "has " + std::to_string(interval.size()) + " numbers; give two, the begin and the end");
      }
      in_file(file_, [&] { p.add_op(costs_[v], usages_[v], {interval[0], interval[1]}); });
    }
    for (std::size_t e = 0; e < ends_.size(); ++e) {
      const auto ends = ends_[e];
      if (ends.size() != 2) {
        fail(ends_key, e, "has " + std::to_string(ends.size()) + " ends; only edges between two nodes are supported");
      }
      for (const auto v : ends) {
        if (v < 0 || static_cast<std::uint64_t>(v) >= n) {
          fail(ends_key, e, "there is no node " + std::to_string(v) + "; there are " + std::to_string(n));
        }
      }
      in_file(file_, [&] {
        p.add_edge(static_cast<op_id>(ends[0]), static_cast<op_id>(ends[1]), pool_[matrix_of_[e]]);
      });
    }
    return p;
  }

private:
  static constexpr const char* limit_key = "/problem/usage_limit";
  static constexpr const char* intervals_key = "/problem/nodes/intervals";
  static constexpr const char* costs_key = "/problem/nodes/costs";
  static constexpr const char* usages_key = "/problem/nodes/usages";
  static constexpr const char* ends_key = "/problem/edges/nodes";
  static constexpr const char* matrices_key = "/problem/edges/costs";

  struct scope {
    char kind;
    std::string path;
  };

  number_lists* list_of(std::string_view path) {
    return path == intervals_key ? &intervals_
           : path == costs_key   ? &costs_
           : path == usages_key  ? &usages_
           : path == ends_key    ? &ends_
           : path == matrices_key ? &matrices_
                                  : nullptr;
  }

  [[noreturn]] void fail(const std::string& where, const std::string& problem) const {
    throw weft::parse_error(file_, 0, where + ": " + problem);
  }
  [[noreturn]] void fail(const char* list, std::size_t i, const std::string& problem) const {
    fail(list + ("/" + std::to_string(i)), problem);
  }
  void same_count(const char* list, std::size_t count, std::size_t wanted, const char* things) const {
    if (count != wanted) {
      fail(list, "has " + std::to_string(count) + " lists for " + std::to_string(wanted) + " " + things);
    }
  }

  /// The path of the value that comes next.
  std::string here() const {
    if (target_ == nullptr) {
      return key_;
    }
    const auto list = target_ == &matrices_ ? matrix_of_.size() : target_->size();
    return key_ + "/" + std::to_string(list) + "/" + std::to_string(row_.size());
  }

  bool open(char kind) {
    if (scopes_.size() >= 64) {
      fail(key_, "lists and objects are nested more than 64 deep");
    }
    if (target_ != nullptr) {
      if (kind != '[' || scopes_.size() != list_depth_) {
        fail(here(), "expected a number");
      }
    } else if (key_ == limit_key) {
      fail(key_, "expected a number");
    } else if (auto* list = list_of(key_); list != nullptr) {
      if (kind != '[') {
        fail(key_, "expected a list of lists of numbers");
      }
      target_ = list;
      list_depth_ = scopes_.size() + 1;
    } else if (kind == '[' &&
               (scopes_.empty() || key_ == "/problem" || key_ == "/problem/nodes" || key_ == "/problem/edges")) {
      fail(key_.empty() ? "/" : key_, "expected an object");
    }
    scopes_.push_back({kind, target_ != nullptr || kind == '[' ? key_ + "/…" : key_});
    return true;
  }
  bool close() {
    scopes_.pop_back();
    if (target_ == nullptr && !scopes_.empty()) {
      key_ = scopes_.back().path; // a list has no more keys of its own
    }
    return true;
  }

  bool add(std::int64_t x) {
    if (target_ != nullptr) {
      if (scopes_.size() != list_depth_ + 1) {
        fail(here(), "expected a list of numbers");
      }
      row_.push_back(x);
    } else if (key_ == limit_key) {
      limit_ = x;
    } else {
      return other("a number");
    }
    return true;
  }
  /// A value that no list of numbers has.
  bool other(const std::string& what) {
    if (target_ != nullptr) {
      fail(here(), "expected a number, got " + what);
    }
    if (scopes_.empty() || list_of(key_) != nullptr || key_ == limit_key || key_ == "/problem" ||
        key_ == "/problem/nodes" || key_ == "/problem/edges") {
      fail(key_.empty() ? "/" : key_, "cannot be " + what);
    }
    return true; // of a key that is not known here
  }
  bool too_large(const std::string& text) {
    fail(here(), in_quotes(text) + " is beyond 2^63");
  }

  std::string file_;
  std::string key_;
  std::vector<scope> scopes_;
  std::vector<std::string> seen_;
  number_lists intervals_, costs_, usages_, ends_, matrices_;
  shard::cost_pool pool_;
  buffer<std::uint32_t> matrix_of_; ///< by edge
  buffer<std::int64_t> row_;
  number_lists* target_ = nullptr;
  std::size_t list_depth_ = 0;
  std::optional<std::int64_t> limit_;
};

} // namespace detail

/// Reads a problem of the contest as JSON. Other keys than the contest's are ignored. Edges have two ends. Throws
/// `parse_error` with file and path for what is not such a problem. Neither the text nor equal matrices are kept.
/// Complexity: linear. `file` is what errors call the input.
/// Source: github.com/google/iopddl, and Moffitt and Fegade, *The ASPLOS 2025 / EuroSys 2025 Contest on Intra-Operator
/// Parallelism for Distributed Deep Learning*, 2025.
inline shard::variant_problem read_iopddl(std::istream& in, const std::string& file) {
  detail::iopddl_handler handler{file};
  nlohmann::json::sax_parse(in, &handler);
  return handler.made();
}
/// The same from a file. Throws `error` if it cannot be opened. For compressed ones see interop/gzip.hpp.
inline shard::variant_problem read_iopddl(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return read_iopddl(in, path.string());
}

/// Writes a choice as the contest's tools take it.
inline void write_iopddl_solution(std::ostream& out, std::span<const std::uint32_t> choice) {
  out << "{\"solution\": [";
  for (std::size_t v = 0; v < choice.size(); ++v) {
    out << (v == 0 ? "" : ", ") << choice[v];
  }
  out << "]}\n";
}

} // namespace weft::io
