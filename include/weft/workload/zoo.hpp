// SPDX-License-Identifier: BSL-1.0
/// The bundled networks by name.
#pragma once

#include "weft/workload/zoo/bert.hpp"
#include "weft/workload/zoo/dcgan.hpp"
#include "weft/workload/zoo/dynamic_rnn.hpp"
#include "weft/workload/zoo/gnmt.hpp"
#include "weft/workload/zoo/gpt2.hpp"
#include "weft/workload/zoo/inception_v3.hpp"
#include "weft/workload/zoo/llama.hpp"
#include "weft/workload/zoo/lstm.hpp"
#include "weft/workload/zoo/mnist_conv.hpp"
#include "weft/workload/zoo/ptb_lstm.hpp"
#include "weft/workload/zoo/resnet50.hpp"
#include "weft/workload/zoo/switch_transformer.hpp"

#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace weft::zoo {

/// The size of a network's input.
struct input_size {
  std::uint64_t batch = 0;  ///< examples
  std::uint64_t length = 0; ///< steps, words or tokens of an example; 0 for networks that have no such thing
};

/// A bundled network.
struct entry {
  std::string_view name;
  std::string_view description; ///< one line
  input_size size;              ///< those of its source
  training_task (*define)(nn::network& net, input_size size); ///< adds its forward ops, and says what to minimise
  /// Adds the ops that make one more token of each sequence, with a cache; null for networks that do not.
  void (*decode)(nn::network& net, input_size size) = nullptr;
  /// True if each step of a sequence has ops of its own, so that long ones are large graphs.
  bool is_unrolled = false;

  constexpr std::uint64_t max_length() const { return is_unrolled ? 100'000 : 1'000'000'000; }
};

namespace detail {
/// Versions of one network that differ in their options.
template <bert_options Sizes>
training_task bert_of(nn::network& net, input_size s) {
  auto o = Sizes;
  o.length = s.length;
  return bert_task(net, s.batch, o);
}
template <gpt2_options Sizes>
training_task gpt2_of(nn::network& net, input_size s) {
  auto o = Sizes;
  o.length = s.length;
  return gpt2_task(net, s.batch, o);
}
template <gpt2_options Sizes>
void gpt2_step_of(nn::network& net, input_size s) {
  auto o = Sizes;
  o.length = s.length;
  gpt2_decode(net, s.batch, o);
}
template <llama_options Sizes>
training_task llama_of(nn::network& net, input_size s) {
  auto o = Sizes;
  o.length = s.length;
  return llama_task(net, s.batch, o);
}
template <llama_options Sizes>
void llama_step_of(nn::network& net, input_size s) {
  auto o = Sizes;
  o.length = s.length;
  llama_decode(net, s.batch, o);
}
} // namespace detail

/// All bundled networks, by name.
inline constexpr std::array<entry, 20> entries{{
  {"bert_base", "12 transformer encoders of 768, masked words and pairs of sentences, Adam (110,106,428 parameters)",
   {16, 128}, detail::bert_of<bert_base_sizes>},
  {"bert_large", "24 transformer encoders of 1024, the same (336,226,108 parameters)", {4, 128},
   detail::bert_of<bert_large_sizes>},
  {"dcgan", "generator and discriminator for 28x28 images, Adam (8,818,818 parameters)", {64},
   [](nn::network& net, input_size s) { return dcgan_task(net, s.batch); }},
  {"dynamic_rnn", "LSTM of 64 over up to 20 masked steps, gradient descent (17,026 parameters)", {128, 20},
   [](nn::network& net, input_size s) { return dynamic_rnn_task(net, s.batch, {.max_steps = s.length}); },
   nullptr, true},
  {"gnmt", "8 + 8 LSTMs of 1024 with attention over 20 words out of 32,000, Adam (280,858,880 parameters)", {64, 20},
   [](nn::network& net, input_size s) { return gnmt_task(net, s.batch, {.length = s.length}); }, nullptr, true},
  {"gpt2_medium", "24 transformer decoders of 1024, Adam (354,823,168 parameters)", {2, 1024},
   detail::gpt2_of<gpt2_medium_sizes>, detail::gpt2_step_of<gpt2_medium_sizes>},
  {"gpt2_small", "12 transformer decoders of 768, Adam (124,439,808 parameters)", {4, 1024},
   detail::gpt2_of<gpt2_small_sizes>, detail::gpt2_step_of<gpt2_small_sizes>},
  {"gpt2_xl", "48 transformer decoders of 1600, Adam (1,557,611,200 parameters)", {1, 1024},
   detail::gpt2_of<gpt2_xl_sizes>, detail::gpt2_step_of<gpt2_xl_sizes>},
  {"inception_v3", "94 convolutions in parallel branches for 299x299 images, RMSProp (27,161,264 parameters)", {16},
   [](nn::network& net, input_size s) { return inception_v3_task(net, s.batch); }},
  {"llama2_70b", "80 transformer decoders of 8192, 8 heads of keys for 64, Adam (68,976,648,192 parameters)",
   {1, 4096}, detail::llama_of<llama2_70b_sizes>, detail::llama_step_of<llama2_70b_sizes>},
  {"llama2_7b", "32 transformer decoders of 4096 with gated units, Adam (6,738,415,616 parameters)", {1, 4096},
   detail::llama_of<llama2_7b_sizes>, detail::llama_step_of<llama2_7b_sizes>},
  {"llama3_70b", "llama2_70b with a larger vocabulary, Adam (70,553,706,496 parameters)", {1, 8192},
   detail::llama_of<llama3_70b_sizes>, detail::llama_step_of<llama3_70b_sizes>},
  {"llama3_8b", "32 transformer decoders of 4096, 8 heads of keys for 32, Adam (8,030,261,248 parameters)", {1, 8192},
   detail::llama_of<llama3_8b_sizes>, detail::llama_step_of<llama3_8b_sizes>},
  {"lstm", "LSTM of 128 over 28 steps, the rows of an image, Adam (81,674 parameters)", {128, 28},
   [](nn::network& net, input_size s) { return lstm_task(net, s.batch, {.steps = s.length}); }, nullptr, true},
  {"mnist_conv", "two 5x5 convolutions and two dense layers for 28x28 images, Adam (3,274,634 parameters)", {50},
   [](nn::network& net, input_size s) { return mnist_conv_task(net, s.batch); }},
  {"ptb_lstm", "two LSTMs of 200 over 20 words out of 10,000, clipped gradient descent (4,651,600 parameters)",
   {20, 20}, [](nn::network& net, input_size s) { return ptb_lstm_task(net, s.batch, {.steps = s.length}); },
   nullptr, true},
  {"ptb_lstm_fused", "the same with a fused op per step of a cell", {20, 20},
   [](nn::network& net, input_size s) {
     return ptb_lstm_task(net, s.batch, {.steps = s.length, .fused_cell = true});
   }, nullptr, true},
  {"resnet50", "53 convolutions with shortcuts for 224x224 images, momentum (25,557,032 parameters)", {64},
   [](nn::network& net, input_size s) { return resnet50_task(net, s.batch); }},
  {"resnet50_cifar10", "the same for 32x32 images and 10 classes (23,528,522 parameters)", {64},
   [](nn::network& net, input_size s) {
     return resnet50_task(net, s.batch, {.image_size = 32, .classes = 10});
   }},
  {"switch_base", "12 + 12 transformer layers of 768, every other one with 8 experts, Adam (619,339,008 parameters)",
   {8, 512}, [](nn::network& net, input_size s) { return switch_task(net, s.batch, {.length = s.length}); }},
}};

/// The network of that name. Throws `value_error` that lists the names if there is none.
inline const entry& find(std::string_view name) {
  std::string known;
  for (const auto& e : entries) {
    if (e.name == name) {
      return e;
    }
    known += (known.empty() ? "" : ", ") + std::string{e.name};
  }
  throw value_error("zoo", "there is no network '" + std::string{name} + "'; choose one of " + known +
                             ", with a batch size if you like, such as lstm@32");
}

/// A request for a bundled network, parsed from a text.
struct request {
  const entry* network = nullptr;
  input_size size = {};
  bool training = true;
  bool decode = false; ///< one more token of each sequence, `size.length` of which are in a cache then
};

/// Reads `NAME`, `NAME@BATCH` or `NAME@BATCHxLENGTH`, and `:inference`, `:decode` or `:training` after any of them,
/// such as `bert_large@8x512:inference`. Parts left out default to the network's source, and to training.
/// Throws `value_error` for an unknown name or mode, a batch size that is not an integer from 1 to 1,000,000, a length
/// that is not one from 1 to a billion (100,000 for networks with ops for each step), a length for a network that has
/// none, and decoding with a network that does not make token after token.
inline request parse(std::string_view spec) {
  request r;
  auto rest = spec;
  if (const auto colon = rest.find(':'); colon != rest.npos) {
    const auto mode = rest.substr(colon + 1);
    r.training = mode == "training";
    r.decode = mode == "decode";
    if (!r.training && !r.decode && mode != "inference") {
      throw value_error("zoo", "'" + std::string{mode} + "' in '" + std::string{spec} +
                                 "' is not a mode; write training, inference or decode after the colon");
    }
    rest = rest.substr(0, colon);
  }
  const auto at = rest.find('@');
  r.network = &find(rest.substr(0, at));
  r.size = r.network->size;
  if (r.decode && r.network->decode == nullptr) {
    throw value_error("zoo", std::string{r.network->name} + " does not generate token after token, so '" +
                               std::string{spec} + "' can be training or inference only");
  }
  if (at == rest.npos) {
    return r;
  }
  const auto number = [spec](std::string_view digits, const char* what, std::uint64_t largest, const char* where) {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc{} || end != digits.data() + digits.size() || value == 0 || value > largest) {
      throw value_error("zoo", "'" + std::string{digits} + "' in '" + std::string{spec} + "' is not a " + what +
                                 "; write an integer from 1 to " + std::to_string(largest) + " after the " + where);
    }
    return value;
  };
  rest = rest.substr(at + 1);
  const auto cross = rest.find('x');
  r.size.batch = number(rest.substr(0, cross), "batch size", 1'000'000, "@");
  if (cross != rest.npos) {
    if (r.size.length == 0) {
      throw value_error("zoo", std::string{r.network->name} + " has no sequences, so '" + std::string{spec} +
                                 "' can have a batch size only");
    }
    r.size.length = number(rest.substr(cross + 1), "length", r.network->max_length(), "x");
  }
  return r;
}

/// Adds the forward ops of the network that is asked for, and returns what its training step minimises. Throws
/// `value_error` if no training is asked for and the network was made for it, and if a tensor has more than 2^44
/// elements.
inline training_task define(nn::network& net, const request& r) {
  nn::detail::require(r.training || !net.training(), "zoo",
                      std::string{r.network->name} + " without training needs a network that is made with "
                                                     "{.training = false}");
  try {
    if (r.decode) {
      r.network->decode(net, r.size);
      return {};
    }
    return r.network->define(net, r.size);
  } catch (const value_error& e) {
    throw value_error("zoo", std::string{r.network->name} + " with a batch of " + std::to_string(r.size.batch) +
                               (r.size.length == 0 ? "" : " and a length of " + std::to_string(r.size.length)) +
                               " is too large; give smaller ones (" + e.what() + ")");
  }
}

/// Adds the forward ops of the network that a text describes (see `parse`), and returns what its training step
/// minimises. For `training_step`, `training_step_with_origins` and `inference`. Throws as `parse` does, and if the
/// text asks for inference and the network was made for training.
inline training_task define(nn::network& net, std::string_view spec) {
  return define(net, parse(spec));
}

/// The step that a text describes (see `parse`), e.g. `lstm@32` or `bert_large:inference`: a training step, or the
/// forward ops that the network's outputs depend on. Throws as `parse` does.
inline workload make(std::string_view spec, nn::network_options options = {}) {
  const auto r = parse(spec);
  options.training = options.training && r.training;
  nn::network net{options};
  const auto task = define(net, r);
  return options.training ? training_step(net, task.objectives, task.options) : inference(net);
}

/// The training step of the network of that name; batch 0 means the batch size of its source.
/// Throws `value_error` that lists the names if there is no such network.
inline workload make(std::string_view name, std::uint64_t batch) {
  const auto& e = find(name);
  nn::network net;
  const auto task = e.define(net, {batch == 0 ? e.size.batch : batch, e.size.length});
  return training_step(net, task.objectives, task.options);
}

/// The forward ops that the network's outputs depend on, without dropout and normalised by known statistics, whatever
/// mode the text has. Throws as `parse` does.
inline workload make_inference(std::string_view spec, nn::network_options options = {}) {
  options.training = false;
  return make(spec, options);
}

} // namespace weft::zoo
