// SPDX-License-Identifier: BSL-1.0
/// Index expressions of StableHLO's operations whose attributes decide along which axes they may be split.
#pragma once

#include "weft/interop/stablehlo/costs.hpp"
#include "weft/interop/stablehlo/program.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/ops/index_expression.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Each is made of an operation of a program; see `ops::axes_finder::by_expression`. Empty: it stays whole.
/// Source: the StableHLO specification (openxla.org/stablehlo/spec).
namespace weft::stablehlo::detail::index_expressions {

using ops::index_expression::letters;
using ops::index_expression::max_rank;

inline std::size_t rank_of(const program& p, const operation& o, std::size_t operand) {
  return p.operand_type(o, operand).dims.size();
}
/// The numbers after a word in an attribute: `lhs_batching_dimensions = [0]`.
inline std::vector<std::size_t> numbers_after(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  return at == text.npos ? std::vector<std::size_t>{} : numbers_in(text.substr(at));
}
inline bool contains(const std::vector<std::size_t>& list, std::size_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

/// The dimensions of the second operand that a product contracts, or that are its batch.
inline std::vector<std::size_t> second_product_axes(const program& p, const operation& o, const std::string& kind) {
  if (const auto numbers = p.attribute_of(o, "dot_dimension_numbers"); !numbers.empty()) {
    return numbers_after(numbers, "rhs_" + kind + "_dimensions");
  }
  const auto text = p.attribute_of(o, kind + "_dims"); // [1] x [0]
  const auto second = text.find(']');
  return second == text.npos ? std::vector<std::size_t>{} : numbers_in(text.substr(second));
}
/// The batch, the rest of the first operand, the rest of the second one.
inline std::string product(const program& p, const operation& o) {
  const std::size_t first = rank_of(p, o, 0), second = rank_of(p, o, 1);
  const auto both = [&](const char* kind) {
    return std::pair{product_axes(p, o, kind), second_product_axes(p, o, kind)};
  };
  const auto batch = both("batching"), summed = both("contracting");
  if (first + second > max_rank || batch.first.size() != batch.second.size() ||
      summed.first.size() != summed.second.size()) {
    return {};
  }
  auto left = letters(first), right = letters(second, 'A');
  std::string made;
  const auto share = [&](const auto& pair) {
    for (std::size_t i = 0; i < pair.first.size(); ++i) {
      if (pair.first[i] >= first || pair.second[i] >= second) {
        return false;
      }
      right[pair.second[i]] = left[pair.first[i]];
    }
    return true;
  };
  if (!share(batch) || !share(summed)) {
    return {};
  }
  for (const auto d : batch.first) {
    made += left[d];
  }
  for (std::size_t d = 0; d < first; ++d) {
    made += contains(batch.first, d) || contains(summed.first, d) ? "" : std::string(1, left[d]);
  }
  for (std::size_t d = 0; d < second; ++d) {
    made += contains(batch.second, d) || contains(summed.second, d) ? "" : std::string(1, right[d]);
  }
  return left + "," + right + "->" + made;
}
inline std::vector<std::size_t> list_of(const program& p, const operation& o, std::string_view key,
                                        std::string_view other) {
  const auto text = p.attribute_of(o, key);
  return numbers_in(text.empty() ? p.attribute_of(o, other) : text);
}
inline std::string transpose(const program& p, const operation& o) {
  const auto from = letters(std::min(rank_of(p, o, 0), max_rank));
  std::string to;
  for (const auto d : list_of(p, o, "dims", "permutation")) {
    to += d < from.size() ? from[d] : '.';
  }
  return from + "->" + to;
}
/// Dimensions of the operand go where the attribute says; those that are repeated are new there.
inline std::string broadcast(const program& p, const operation& o) {
  const auto& from = p.operand_type(o, 0).dims;
  const auto& to = p.result_type(o).dims;
  const auto dims = list_of(p, o, "dims", "broadcast_dimensions");
  if (to.size() > max_rank || dims.size() != from.size()) {
    return {};
  }
  const auto made = letters(to.size());
  std::string read;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    read += dims[d] < to.size() && to[dims[d]] == from[d] ? made[dims[d]] : '.';
  }
  return read + "->" + made;
}
/// Sums: parts of them are terms. Of other reductions the dimensions that go stay whole.
inline std::string reduce(const program& p, const operation& o) {
  const auto rank = rank_of(p, o, 0);
  if (rank > max_rank || o.num_operands != 2 || o.num_results != 1) {
    return {};
  }
  const auto dims = list_of(p, o, "dimensions", "dims");
  const auto applied = p.attribute_of(o, "applies");
  bool is_sum = plain_name(applied) == "add";
  for (const auto r : p.regions_of(o)) {
    const auto inside = p.ops_in(r);
    is_sum = inside.size() == 2 && plain_name(p.ops[inside[0]].name) == "add";
  }
  const auto [read, made] =
    ops::index_expression::reduced(rank, [&](std::size_t d) { return contains(dims, d); }, false, is_sum);
  return read + (is_sum ? ",+->" : ",->") + made; // what a sum begins with is added once
}
/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, of one group.
inline std::string convolution(const program& p, const operation& o) {
  auto text = p.attribute_of(o, "dim_numbers");
  text = text.empty() ? p.attribute_of(o, "dimension_numbers") : text;
  text.remove_prefix(std::min(text.find('['), text.size())); // what the attribute is called
  const auto second = text.find("]x["), result = text.find("]->[");
  const auto groups = [&](std::string_view key) {
    const auto found = leading_number(p.attribute_of(o, key));
    return found ? found->first : std::size_t{1};
  };
  if (text.empty() || second == text.npos || result == text.npos || result < second ||
      groups("feature_group_count") != 1 || groups("batch_group_count") != 1) {
    return {};
  }
  const auto operand = [](std::string_view part, char f) {
    std::string dims;
    for (const char c : part) {
      dims += c == 'b'                   ? "n"
              : c == 'f'                 ? std::string(1, f)
              : c == 'i'                 ? "c"
              : c == 'o'                 ? "f"
              : c >= '0' && c <= '9'     ? "."
                                         : "";
    }
    return dims;
  };
  const auto end = std::min(text.find(']', result + 3), text.size());
  return operand(text.substr(0, second), 'c') + "," + operand(text.substr(second, result - second), 'c') + "->" +
         operand(text.substr(result, end - result), 'f');
}

/// Rows of a table by numbers, as embeddings are read (`gather`) and their gradients added up (`scatter`): dimension 0
/// of the table is the one that numbers choose, whose own last dimension, of extent 1, names it.
inline bool chooses_rows(const program& p, const operation& o, std::string_view window, std::string_view gone,
                         std::string_view chosen, const std::vector<std::int64_t>& rows) {
  auto text = p.attribute_of(o, "dimension_numbers");
  text = text.empty() ? p.attribute_of(o, "scatter_dimension_numbers") : text;
  const auto& table = p.operand_type(o, 0).dims;
  const auto& numbers = p.operand_type(o, 1).dims;
  if (table.size() + numbers.size() > max_rank || table.empty() || numbers.empty() || numbers.back() != 1 ||
      rows.size() + 2 != table.size() + numbers.size() || text.find("batching_dims = [") != text.npos ||
      numbers_after(text, gone) != std::vector<std::size_t>{0} ||
      numbers_after(text, chosen) != std::vector<std::size_t>{0}) {
    return false;
  }
  std::vector<std::size_t> last; // of the rows: what is left of the table
  for (std::size_t d = 1; d < table.size(); ++d) {
    last.push_back(numbers.size() - 2 + d);
  }
  constexpr std::string_view key = "index_vector_dim = ";
  const auto at = text.find(key);
  const auto vector = at == text.npos ? leading_number("0") : leading_number(text.substr(at + key.size()));
  return numbers_after(text, window) == last && vector && vector->first == numbers.size() - 1 &&
         std::equal(table.begin() + 1, table.end(), rows.end() - static_cast<std::ptrdiff_t>(table.size() - 1));
}
inline std::string gather(const program& p, const operation& o) {
  if (!chooses_rows(p, o, "offset_dims", "collapsed_slice_dims", "start_index_map", p.result_type(o).dims)) {
    return {};
  }
  const auto table = letters(rank_of(p, o, 0)), numbers = letters(rank_of(p, o, 1) - 1, 'A');
  return table + "," + numbers + ".->" + numbers + table.substr(1);
}
inline std::string scatter(const program& p, const operation& o) {
  const auto regions = p.regions_of(o);
  const bool adds = o.num_operands == 3 && regions.size() == 1 && p.ops_in(regions[0]).size() == 2 &&
                    plain_name(p.ops[p.ops_in(regions[0])[0]].name) == "add";
  if (!adds || !chooses_rows(p, o, "update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims",
                             p.operand_type(o, 2).dims)) {
    return {};
  }
  const auto table = letters(rank_of(p, o, 0)), numbers = letters(rank_of(p, o, 1) - 1, 'A');
  return "+" + table + "," + numbers + ".," + numbers + table.substr(1) + "->" + table;
}

/// The expression of an operation; empty: what the catalogue of ops says counts.
inline std::string of(const program& p, const operation& o) {
  using rule = std::string (*)(const program&, const operation&);
  static constexpr rule stays_whole = [](const program&, const operation&) { return std::string{}; };
  static constexpr std::pair<std::string_view, rule> rules[] = {
    {"broadcast_in_dim", broadcast}, {"composite", stays_whole}, {"convolution", convolution},
    {"custom_call", stays_whole},    {"dot_general", product},   {"gather", gather},
    {"reduce", reduce},              {"scatter", scatter},       {"transpose", transpose}};
  const auto* const at =
    std::find_if(std::begin(rules), std::end(rules), [&](const auto& r) { return r.first == plain_name(o.name); });
  if (at == std::end(rules)) {
    return {};
  }
  try {
    const auto text = at->second(p, o);
    const bool fits = !text.empty() &&
                      ops::fits(
                        text, [&](std::size_t k) { return p.operand_type(o, k).dims.size(); },
                        [&](std::size_t k) { return p.result_type(o, k).dims.size(); });
    return fits ? text : ops::index_expression::whole();
  } catch (const error&) { // of an attribute
    return ops::index_expression::whole();
  }
}

/// The same of an operation that reads some operands as they were before they were shown in another shape, with so many
/// dimensions; nothing of them is in parts.
inline std::string with_whole_operands(const program& p, const operation& o, std::string text,
                                       const std::vector<std::optional<std::size_t>>& ranks) {
  if (text.empty()) {
    ops::call c;
    for (const auto id : p.operands(o)) {
      c.inputs.emplace_back(p.type_of(id).dims);
    }
    for (std::uint32_t i = 0; i < o.num_results; ++i) {
      c.outputs.emplace_back(p.result_type(o, i).dims);
    }
    const bool each = ops::is_elementwise(o.name, o.num_operands) && o.num_results == 1;
    text = each ? ops::index_expression::broadcast(c) : ops::index_expression::whole();
  }
  const auto arrow = text.find("->");
  std::string made;
  std::size_t at = 0, k = 0;
  for (const auto& rank : ranks) {
    const auto end = std::min(text.find(',', at), arrow);
    made += k++ == 0 ? "" : ",";
    made += rank ? std::string(*rank, '.') : at < arrow ? text.substr(at, end - at) : "";
    at = std::min(end + 1, arrow);
  }
  return made + text.substr(arrow);
}

} // namespace weft::stablehlo::detail::index_expressions
