// SPDX-License-Identifier: BSL-1.0
/// Classes of ops that cost the same: a measurement of one holds for all.
#pragma once

#include "weft/core/error.hpp"
#include "weft/workload/concepts.hpp"

#include <array>
#include <charconv>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::concurrency {

using class_id = std::uint32_t;
using type_id = std::uint32_t;

/// Divides the ops of a workload into classes of equal op type and input shapes, numbered by their first op, and the
/// classes into types. Training steps have hundreds of classes, however many ops they have.
/// Memory: 4 bytes per op, about 200 per class. [CC] profiles and decides per class.
class op_classes {
public:
  op_classes() = default;

  /// Classes by type, work, resident bytes and the sizes of inputs and outputs: what a workload tells of shapes. An op
  /// without a type has its own work as type. Complexity: O((n + m) log classes).
  template <dataflow_workload W>
  explicit op_classes(const W& w) {
    collect(w, [&w](op_id v) {
      std::string key = type_of(w, v) + " work=" + short_text(w.work(v));
      if (w.resident_bytes(v) > 0) {
        key += " resident=" + std::to_string(w.resident_bytes(v));
      }
      for (const tensor_id t : w.inputs(v)) {
        key += (key.find(" in=") == key.npos ? " in=" : ",") + std::to_string(w.bytes(t));
      }
      bool first = true;
      for (const tensor_id t : w.outputs(v)) {
        key += (first ? " out=" : ",") + std::to_string(w.bytes(t));
        first = false;
      }
      return key;
    });
  }

  /// Classes by keys of your own, one per op, such as the op's type and shapes.
  /// Throws `value_error` if there is not one key per op.
  template <dataflow_workload W>
  op_classes(const W& w, std::span<const std::string> keys) {
    if (keys.size() != static_cast<std::size_t>(w.num_ops())) {
      throw value_error("op_classes", std::to_string(keys.size()) + " keys for " + std::to_string(w.num_ops()) +
                                        " ops; give one per op");
    }
    collect(w, [keys](op_id v) { return keys[v]; });
  }

  std::size_t num_ops() const { return class_of_.size(); }
  std::size_t num_classes() const { return key_.size(); }
  std::size_t num_types() const { return type_name_.size(); }
  class_id class_of(op_id v) const { return class_of_[v]; }
  type_id type(class_id c) const { return type_[c]; }
  op_id representative(class_id c) const { return first_[c]; } ///< its smallest op
  std::size_t size(class_id c) const { return size_[c]; }      ///< how many ops it has
  const std::string& key(class_id c) const { return key_[c]; }
  const std::string& type_name(type_id t) const { return type_name_[t]; }

private:
  /// The shortest decimal number, without an exponent, that is read back as x.
  static std::string short_text(double x) {
    std::array<char, 400> text; // the largest has 309 digits
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::fixed).ptr};
  }

  template <class W>
  static std::string type_of(const W& w, op_id v) {
    if constexpr (requires { std::string_view{w.type(v)}; }) {
      if (!std::string_view{w.type(v)}.empty()) {
        return std::string{w.type(v)};
      }
    }
    return "op of " + short_text(w.work(v));
  }

  template <class W, class Key>
  void collect(const W& w, Key key_of) {
    std::map<std::string, class_id> classes;
    std::map<std::string, type_id> types;
    for (const op_id v : ids(static_cast<std::size_t>(w.num_ops()))) {
      const auto [at, is_new] = classes.try_emplace(key_of(v), static_cast<class_id>(key_.size()));
      if (is_new) {
        const auto [type, new_type] = types.try_emplace(type_of(w, v), static_cast<type_id>(type_name_.size()));
        if (new_type) {
          type_name_.push_back(type->first);
        }
        key_.push_back(at->first);
        type_.push_back(type->second);
        first_.push_back(v);
        size_.push_back(0);
      }
      class_of_.push_back(at->second);
      ++size_[at->second];
    }
  }

  std::vector<class_id> class_of_; // by op
  std::vector<std::string> key_;   // by class, as all below
  std::vector<type_id> type_;
  std::vector<op_id> first_;
  std::vector<std::size_t> size_;
  std::vector<std::string> type_name_; // by type
};

} // namespace weft::concurrency
