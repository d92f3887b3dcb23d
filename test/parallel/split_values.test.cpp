// SPDX-License-Identifier: BSL-1.0
// What ops compute in parts is, put together, what they compute as a whole: networks with numbers, split at random.
#include "weft/core/random.hpp"
#include "weft/model/graph_of_network.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/workload/nn/attention.hpp"
#include "weft/workload/nn/gradients.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace split_values_test {

using namespace weft;
using parallel::layout;
using dims_list = std::vector<std::uint64_t>;

struct array {
  dims_list dims;
  std::vector<double> values;

  explicit array(dims_list d = {}) : dims{std::move(d)}, values(nn::element_count(dims), 0.0) {}
};

/// Calls f(index by dimension, number of the element), row by row.
template <class F>
void for_each_index(const dims_list& dims, F f) {
  std::vector<std::uint64_t> index(dims.size(), 0);
  const auto count = nn::element_count(dims);
  for (std::size_t i = 0; i < count; ++i) {
    f(index, i);
    for (std::size_t d = dims.size(); d-- > 0 && ++index[d] == dims[d];) {
      index[d] = 0;
    }
  }
}

/// The element of an operand that is repeated along missing dimensions and those of extent 1.
double repeated(const array& a, const std::vector<std::uint64_t>& index) {
  std::size_t at = 0;
  for (std::size_t d = 0; d < a.dims.size(); ++d) {
    const auto i = index[index.size() - a.dims.size() + d];
    at = at * a.dims[d] + (a.dims[d] == 1 ? 0 : i);
  }
  return a.values[at];
}

array part_of(const array& a, const layout& l, std::uint32_t rank) {
  auto dims = a.dims;
  const auto first = rank * l.part.of(dims[l.dimension]);
  dims[l.dimension] = l.part.of(dims[l.dimension], rank);
  array part{dims};
  for_each_index(dims, [&](auto index, std::size_t i) {
    index[l.dimension] += first;
    part.values[i] = repeated(a, index);
  });
  return part;
}

array joined(const std::vector<array>& parts, std::size_t dimension) {
  auto dims = parts[0].dims;
  const auto extent = dims[dimension]; // of all but the last one
  for (std::size_t r = 1; r < parts.size(); ++r) {
    dims[dimension] += parts[r].dims[dimension];
  }
  array whole{dims};
  for_each_index(dims, [&](auto index, std::size_t i) {
    const auto& part = parts[index[dimension] / extent];
    index[dimension] %= extent;
    whole.values[i] = repeated(part, index);
  });
  return whole;
}

/// Sums of products by an index expression.
array by_expression(std::string_view text, const std::vector<array>& in) {
  std::map<char, std::uint64_t> extent;
  std::vector<std::string> operands(1);
  const auto arrow = text.find("->");
  for (const char c : text.substr(0, arrow)) {
    c == ',' ? void(operands.emplace_back()) : void(operands.back() += c);
  }
  const std::string out{text.substr(arrow + 2)};
  for (std::size_t k = 0; k < operands.size(); ++k) {
    for (std::size_t d = 0; d < operands[k].size(); ++d) {
      extent[operands[k][d]] = in[k].dims[d];
    }
  }
  std::string letters;
  dims_list all, made;
  for (const auto& [c, e] : extent) {
    letters += c;
    all.push_back(e);
  }
  for (const char c : out) {
    made.push_back(extent[c]);
  }
  array sum{made};
  for_each_index(all, [&](const auto& index, std::size_t) {
    const auto place = [&](const std::string& word, const dims_list& dims) {
      std::size_t at = 0;
      for (std::size_t d = 0; d < word.size(); ++d) {
        at = at * dims[d] + index[letters.find(word[d])];
      }
      return at;
    };
    double product = 1;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      product *= in[k].values[place(operands[k], in[k].dims)];
    }
    sum.values[place(out, made)] += product;
  });
  return sum;
}

template <class F>
array elementwise(const dims_list& dims, const std::vector<array>& in, F f) {
  array out{dims};
  for_each_index(dims, [&](const auto& index, std::size_t i) {
    out.values[i] = f(repeated(in[0], index), in.size() > 1 ? repeated(in[1], index) : 0);
  });
  return out;
}

/// f(row, width, number of the row) for the rows of an array.
template <class F>
void for_each_row(array& a, F f) {
  const auto width = a.dims.back();
  for (std::size_t row = 0; row < a.values.size() / width; ++row) {
    f(a.values.data() + row * width, width, row);
  }
}

/// Rows divided by the root of the mean of their squares, and scaled; that root goes to `roots`, if there are any.
array rms_norm(array x, const array& scale, array* roots) {
  for_each_row(x, [&](double* row, std::size_t n, std::size_t number) {
    double squares = 1e-3;
    for (std::size_t i = 0; i < n; ++i) {
      squares += row[i] * row[i];
    }
    const double root = std::sqrt(squares / static_cast<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      row[i] *= scale.values[i] / root;
    }
    if (roots != nullptr) {
      roots->values[number] = root;
    }
  });
  return x;
}

/// The ops of Llama; nothing for other ones. Of a cache, which is no operand, the new key and value stand for all.
std::vector<array> compute_llama(const nn::op_spec& op, const std::vector<array>& in,
                                 const std::vector<dims_list>& dims) {
  const auto& type = op.type;
  array out{dims[0]};
  const auto width = dims[0].empty() ? 1 : dims[0].back();
  if (type == "RMSNorm") {
    array roots{dims[1]};
    out = rms_norm(in[0], in[1], &roots);
    return {out, roots};
  }
  if (type == "RMSNormGrad") { // of dy, x, scale, root; a simple stand-in for the gradient of x
    array of_scale{dims[1]};
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const double normal = in[1].values[i] / in[3].values[i / width];
      of_scale.values[i % width] += in[0].values[i] * normal;
      out.values[i] = in[0].values[i] * in[2].values[i % width] / in[3].values[i / width] + normal;
    }
    return {out, of_scale};
  }
  if (type == "AddRMSNorm") {
    const auto sum = elementwise(dims[1], {in[0], in[1]}, [](double a, double b) { return a + b; });
    return {rms_norm(sum, in[2], nullptr), sum};
  }
  if (type == "SwiGLU" || type == "SwiGLUGrad") {
    const auto& pairs = in[0];
    for (std::size_t i = 0; 2 * i < pairs.values.size(); ++i) {
      const double gate = pairs.values[2 * i], other = pairs.values[2 * i + 1], s = 1 / (1 + std::exp(-gate));
      if (type == "SwiGLU") {
        out.values[i] = gate * s * other;
      } else {
        out.values[2 * i] = in[1].values[i] * other * s * (1 + gate * (1 - s));
        out.values[2 * i + 1] = in[1].values[i] * gate * s;
      }
    }
    return {out};
  }
  if (type == "RotaryEmbedding") {
    for (std::size_t i = 0; i < out.values.size(); i += 2) {
      const auto place = i / (width * dims[0][2]) % dims[0][1] * width + i % width;
      const double c = in[1].values[place], s = in[1].values[place + 1];
      out.values[i] = in[0].values[i] * c - in[0].values[i + 1] * s;
      out.values[i + 1] = in[0].values[i] * s + in[0].values[i + 1] * c;
    }
    return {out};
  }
  if (type == "CachedAttention") {
    const auto group = dims[0][2];
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const auto head = i / (width * group), q = head * (group + 2) * width + i % (width * group);
      const auto key = (head * (group + 2) + group) * width + i % width;
      out.values[i] = std::tanh(in[0].values[q] * in[0].values[key]) * in[0].values[key + width];
    }
    return {out};
  }
  return {};
}

/// What an op makes of whole operands or of parts. `dims`: of its outputs then. `parts`: what a mean is of, in units of
/// this part.
std::vector<array> compute(const nn::op_spec& op, const std::vector<array>& in, const std::vector<dims_list>& dims,
                           double parts) {
  const auto& type = op.type;
  if (auto made = compute_llama(op, in, dims); !made.empty()) {
    return made;
  }
  if (type == "Sum" && op.axes.empty()) { // what was repeated
    array out{dims[0]};
    for_each_index(in[0].dims, [&](const auto& index, std::size_t i) {
      std::size_t at = 0;
      for (std::size_t d = 0; d < out.dims.size(); ++d) {
        const auto k = index[index.size() - out.dims.size() + d];
        at = at * out.dims[d] + (out.dims[d] == 1 ? 0 : k);
      }
      out.values[at] += in[0].values[i];
    });
    return {out};
  }
  if (!op.axes.empty()) {
    auto out = by_expression(op.axes, in);
    for (auto& x : out.values) {
      x /= type == "Mean" ? parts * static_cast<double>(in[0].values.size() / out.values.size()) : 1;
    }
    return {out};
  }
  if (type == "Reshape") {
    array out{dims[0]};
    out.values = in[0].values;
    return {out};
  }
  if (type == "Softmax" || type == "SoftmaxGrad") {
    array out = in[0];
    for_each_row(out, [&](double* x, std::size_t n, std::size_t row) {
      double sum = 0;
      const double largest = *std::max_element(x, x + n);
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = type == "Softmax" ? std::exp(x[i] - largest) : x[i];
        sum += type == "Softmax" ? x[i] : x[i] * in[1].values[row * n + i];
      }
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = type == "Softmax" ? x[i] / sum : in[1].values[row * n + i] * (x[i] - sum);
      }
    });
    return {out};
  }
  if (type == "LayerNorm") { // and the mean and the deviation of each row
    std::vector<array> out{in[0], array{dims[1]}, array{dims[2]}};
    for_each_row(out[0], [&](double* x, std::size_t n, std::size_t row) {
      double sum = 0, squares = 0;
      for (std::size_t i = 0; i < n; ++i) {
        sum += x[i];
        squares += x[i] * x[i];
      }
      const double mean = sum / static_cast<double>(n);
      const double deviation = std::sqrt(squares / static_cast<double>(n) - mean * mean + 1e-3);
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = (x[i] - mean) / deviation * in[1].values[i] + in[2].values[i];
      }
      out[1].values[row] = mean;
      out[2].values[row] = deviation;
    });
    return out;
  }
  if (type == "LayerNormGrad") { // of dy, x, scale, mean, deviation; a simple stand-in for the gradient of x
    std::vector<array> out{in[0], array{dims[1]}, array{dims[2]}};
    for_each_row(out[0], [&](double* dx, std::size_t n, std::size_t row) {
      for (std::size_t i = 0; i < n; ++i) {
        const double normal = (in[1].values[row * n + i] - in[3].values[row]) / in[4].values[row];
        out[1].values[i] += dx[i] * normal;
        out[2].values[i] += dx[i];
        dx[i] = dx[i] * in[2].values[i] / in[4].values[row] + normal;
      }
    });
    return out;
  }
  if (type == "AddN") {
    array out{dims[0]};
    for (const auto& x : in) {
      out = elementwise(dims[0], {out, x}, [](double a, double b) { return a + b; });
    }
    return {out};
  }
  const auto f = [&](double a, double b) {
    return type == "Add"                            ? a + b
           : type == "Sub"                          ? a - b
           : type == "Mul"                          ? a * b
           : type == "RealDiv"                      ? a / b
           : type == "Neg"                          ? -a
           : type == "Identity" || type == "Tile"   ? a
           : type == "Tanh"                         ? std::tanh(a)
           : type == "TanhGrad"                     ? a * (1 - b * b)
                                                    : std::nan("");
  };
  return {elementwise(dims[0], in, f)};
}

/// The values of all tensors of a workload that a network was built to, as a whole and in parts by random choices.
class random_splits {
public:
  random_splits(const nn::network& net, const nn::built_workload& built, std::uint32_t ranks)
      : net_{net}, built_{built}, ranks_{ranks},
        model_{parallel::make_split_model(graph_of(net), built.graph, built.origin)},
        variants_{model_, ranks} {
    for (const op_id v : ids(built.origin.size())) {
      number_[built.origin[v]] = v;
    }
  }

  /// The largest difference of a value, relative to the largest one of its tensor.
  double run(rng& random) {
    const auto& w = built_.graph;
    whole_.assign(w.num_tensors(), array{});
    parts_.assign(w.num_tensors(), std::vector<array>(ranks_));
    have_.assign(w.num_tensors(), layout{});
    double farthest = 0;
    for (const op_id v : ids(w.num_ops())) { // in the order in which they were added
      const auto& op = net_[built_.origin[v]].op;
      const auto axis = draw(v, random);
      std::vector<dims_list> dims;
      for (std::size_t k = 0; k < op.outputs.size(); ++k) {
        dims.push_back(op.outputs[k].dims);
        have_[tensor(v, k)] = variants_.of_output(v, k, axis);
      }
      if (op.inputs.empty() || model_.is_state[v] || reads_state(op)) {
        start(v, dims, random);
        continue;
      }
      const auto whole = compute(op, operands(v, none, 0, false), dims, 1);
      const bool contracted = have_[tensor(v, 0)].what == layout::partial && axis != parallel::chosen_splits::terms;
      for (std::uint32_t r = 0; r < ranks_; ++r) {
        auto part_dims = dims;
        for (std::size_t k = 0; k < dims.size(); ++k) {
          if (const auto l = have_[tensor(v, k)]; l.what == layout::split) {
            part_dims[k][l.dimension] = l.part.of(dims[k][l.dimension], r);
          }
        }
        const auto made = compute(op, operands(v, axis, r, true), part_dims, contracted ? share_of(v, axis, r) : 1);
        for (std::size_t k = 0; k < dims.size(); ++k) {
          parts_[tensor(v, k)][r] = made[k];
        }
      }
      for (std::size_t k = 0; k < dims.size(); ++k) {
        whole_[tensor(v, k)] = whole[k];
        farthest = std::max(farthest, difference(whole[k], together(tensor(v, k))));
      }
    }
    return farthest;
  }

private:
  tensor_id tensor(op_id v, std::size_t k) const {
    return *built_.graph.outputs(v).begin() + static_cast<tensor_id>(k);
  }
  tensor_id tensor(const nn::tensor& t) const { return tensor(number_.at(t.op()), t.output()); }
  bool reads_state(const nn::op_spec& op) const { return net_[op.inputs[0].op()].op.type == "VariableV2"; }

  /// The extent of an axis in units of a rank's part of it.
  double share_of(op_id v, std::uint32_t axis, std::uint32_t rank) const {
    return 1 / variants_.part(v, axis).share(rank);
  }

  /// A variant that can get its inputs.
  std::uint32_t draw(op_id v, rng& random) const {
    const auto& w = built_.graph;
    for (;;) {
      const auto axis = variants_.of(v)[random.below(variants_.of(v).size())];
      bool possible = true;
      std::size_t k = 0;
      for (const tensor_id t : w.inputs(v)) {
        const auto need = variants_.of_input(v, k++, axis);
        possible = possible && (w.bytes(t) == 0 ||
                                (parallel::between(have_[t], need) != parallel::resharding::impossible &&
                                 (!model_.is_state[w.producer(t)] || have_[t] == need)));
      }
      if (possible) {
        return axis;
      }
    }
  }

  /// Inputs, constants and parameters.
  void start(op_id v, const std::vector<dims_list>& dims, rng& random) {
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const tensor_id t = tensor(v, k);
      whole_[t] = array{dims[k]};
      for (auto& x : whole_[t].values) {
        x = random.uniform(0.5, 1.5);
      }
      const auto l = have_[t];
      for (std::uint32_t r = 0; r < ranks_ && !model_.is_state[v]; ++r) {
        parts_[t][r] = l.what == layout::split ? part_of(whole_[t], l, r) : whole_[t];
      }
    }
  }

  /// What an op reads: whole, or in the layout that a rank needs.
  std::vector<array> operands(op_id v, std::uint32_t axis, std::uint32_t rank, bool in_parts) const {
    std::vector<array> all;
    const auto& inputs = built_.graph.inputs(v);
    for (const auto& x : net_[built_.origin[v]].op.inputs) {
      const tensor_id t = tensor(x);
      if (!in_parts) {
        all.push_back(whole_[t]);
        continue;
      }
      const auto k = static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), t) - inputs.begin());
      const auto need = variants_.of_input(v, k, axis);
      all.push_back(need.what == layout::partial ? parts_[t][rank]
                    : need.what == layout::split ? part_of(together(t), need, rank)
                                                 : together(t));
    }
    return all;
  }

  array together(tensor_id t) const {
    if (have_[t].what == layout::split) {
      return joined(parts_[t], have_[t].dimension);
    }
    array all = parts_[t][0];
    for (std::uint32_t r = 1; r < ranks_ && have_[t].what == layout::partial; ++r) {
      for (std::size_t i = 0; i < all.values.size(); ++i) {
        all.values[i] += parts_[t][r].values[i];
      }
    }
    return all;
  }

  static double difference(const array& a, const array& b) {
    double largest = 1e-3, farthest = a.dims == b.dims ? 0 : 1e300; // some gradients are 0 but for rounding
    for (std::size_t i = 0; i < a.values.size() && farthest < 1e300; ++i) {
      largest = std::max(largest, std::abs(a.values[i]));
      const double apart = std::abs(a.values[i] - b.values[i]);
      farthest = apart <= 1e300 ? std::max(farthest, apart) : 1e300; // not a number is far away, too
    }
    return farthest / largest;
  }

  const nn::network& net_;
  const nn::built_workload& built_;
  std::uint32_t ranks_;
  parallel::split_model model_;
  parallel::detail::split_variants variants_;
  std::map<op_id, op_id> number_;
  std::vector<array> whole_;              ///< by tensor
  std::vector<std::vector<array>> parts_; ///< by tensor and rank
  std::vector<layout> have_;
};

/// The same with the parts of Llama, whose four heads of queries share two of keys.
nn::tensor llama_block(nn::network& net, const nn::tensor& fed, std::uint64_t batch, std::uint64_t words,
                       std::uint64_t width) {
  const nn::attention_options o{.heads = 4, .kv_heads = 2, .head_size = width / 4, .bias = false, .dropout = false,
                                .angles = net.data("Const", "angles", {{words, width / 4}})};
  const auto seen = nn::rms_norm("norm", fed);
  auto y = net.training() ? nn::attention("attention", seen, seen, batch, o)
                          : nn::cached_attention("attention", seen, 10, o);
  auto x = fed;
  if (net.training()) {
    x = x + y;
    y = nn::rms_norm("norm2", x);
  } else {
    const auto both = nn::add_rms_norm("norm2", x, y);
    x = both.sum;
    y = both.normalised;
  }
  const auto gates = nn::reshape(nn::dense("in", y, 4 * width, false), {batch * words, 2 * width, 2});
  return x + nn::dense("out", nn::swiglu(gates), width, false);
}

/// A transformer block on `batch` sequences, with the gradients of its parameters.
nn::built_workload block(nn::network& net, std::uint64_t batch, std::uint64_t words, std::uint64_t width,
                         bool of_llama) {
  const auto fed = net.input_pipeline({{{batch * words, width}}, {{batch * words, width}}});
  nn::tensor x;
  if (of_llama) {
    x = llama_block(net, fed[0], batch, words, width);
  } else {
    x = nn::layer_norm("norm", fed[0]);
    x = fed[0] + nn::attention("attention", x, x, batch, {.heads = 4, .head_size = width / 4, .dropout = false});
    x = x - nn::dense("out", nn::tanh(nn::dense("in", nn::layer_norm("norm2", x), 2 * width)), width);
  }
  const auto loss = nn::reduce_mean(nn::reduce_sum(x * fed[1], {1}));
  std::vector<nn::tensor> parameters;
  for (const auto& p : net.variables()) {
    parameters.push_back(p.value);
  }
  std::vector<op_id> roots{loss.op()};
  for (const auto& g : nn::gradients(net, loss, parameters)) {
    if (g) {
      roots.push_back(g.op());
    }
  }
  return net.build_with_origins(roots);
}

TEST_CASE("splits: whatever axes are chosen, parts make up the whole") {
  rng random{31};
  for (const std::uint64_t batch : {1u, 2u, 4u}) {
    for (const std::uint64_t words : {4u, 8u}) { // with batch 1, 2: as many rows as columns
      for (const bool of_llama : {false, true}) {
        nn::network net{{.bookkeeping = false}};
        const auto built = block(net, batch, words, 8, of_llama);
        for (const std::uint32_t ranks : {1u, 2u, 3u, 4u, 5u, 6u}) {
          random_splits splits{net, built, ranks};
          for (int repeat = 0; repeat < 8; ++repeat) {
            CAPTURE(batch);
            CAPTURE(words);
            CAPTURE(of_llama);
            REQUIRE(splits.run(random) < 1e-6);
          }
        }
      }
    }
  }
}

TEST_CASE("splits: a step that decodes is split along sequences and heads of keys") {
  rng random{32};
  for (const std::uint64_t batch : {1u, 2u}) {
    nn::network net{{.bookkeeping = false, .training = false}};
    const auto x = llama_block(net, net.input_pipeline({{{batch, 8}}})[0], batch, 1, 8);
    const auto built = net.build_with_origins(std::vector{x.op()});
    for (const std::uint32_t ranks : {2u, 3u}) {
      random_splits splits{net, built, ranks};
      for (int repeat = 0; repeat < 50; ++repeat) {
        CAPTURE(batch);
        REQUIRE(splits.run(random) < 1e-6);
      }
    }
  }
}

} // namespace split_values_test
