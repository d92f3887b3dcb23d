// SPDX-License-Identifier: BSL-1.0
/// The bundled networks by name, with the sizes of their sources or others.
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
#include "weft/workload/zoo/sizes.hpp"
#include "weft/workload/zoo/switch_transformer.hpp"
#include "weft/workload/zoo/vit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

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
  /// Adds its forward ops, and says what to minimise.
  training_task (*add_forward)(nn::network& net, input_size size, given_sizes given);
  /// Adds the ops that make one more token of each sequence, with a cache; null for networks that do not.
  void (*add_decoding)(nn::network& net, input_size size, given_sizes given) = nullptr;
  /// True if each step of a sequence has ops of its own, so that long ones are large graphs.
  bool is_unrolled = false;
  std::span<const size_key> sizes = {}; ///< those that can be given in place of the source's

  training_task define(nn::network& net, input_size s) const { return add_forward(net, s, {}); }
  constexpr std::uint64_t max_length() const { return is_unrolled ? 100'000 : 1'000'000'000; }
};

namespace detail {

template <class Options>
Options sized(Options o, input_size s, given_sizes given) {
  if constexpr (requires { o.length; }) {
    o.length = s.length;
  }
  return resized(o, given);
}

/// A network with sizes of its own, which a text may change.
template <const auto& Sizes, auto Task>
constexpr entry sized_entry(std::string_view name, std::string_view description, input_size size) {
  return {.name = name,
          .description = description,
          .size = size,
          .add_forward = [](nn::network& net, input_size s, given_sizes given) {
            return Task(net, s.batch, sized(Sizes, s, given));
          },
          .sizes = size_keys<std::remove_cvref_t<decltype(Sizes)>>};
}

/// The same of a network that also decodes.
template <const auto& Sizes, auto Task, auto Decode>
constexpr entry decoding_entry(std::string_view name, std::string_view description, input_size size) {
  auto e = sized_entry<Sizes, Task>(name, description, size);
  e.add_decoding = [](nn::network& net, input_size s, given_sizes given) {
    Decode(net, s.batch, sized(Sizes, s, given));
  };
  return e;
}

template <const bert_options& Sizes>
constexpr entry bert_entry(std::string_view name, std::string_view description, input_size size) {
  return sized_entry<Sizes, bert_task>(name, description, size);
}
template <const gpt2_options& Sizes>
constexpr entry gpt2_entry(std::string_view name, std::string_view description, input_size size) {
  return decoding_entry<Sizes, gpt2_task, gpt2_decode>(name, description, size);
}
template <const llama_options& Sizes>
constexpr entry llama_entry(std::string_view name, std::string_view description, input_size size) {
  return decoding_entry<Sizes, llama_task, llama_decode>(name, description, size);
}

} // namespace detail

/// All bundled networks, by name.
inline constexpr std::array<entry, 30> entries{{
  detail::bert_entry<bert_base_sizes>(
    "bert_base", "12 transformer encoders of 768, masked words and pairs of sentences, Adam (110,106,428 parameters)",
    {16, 128}),
  detail::bert_entry<bert_large_sizes>(
    "bert_large", "24 transformer encoders of 1024, the same (336,226,108 parameters)", {4, 128}),
  {"dcgan", "generator and discriminator for 28x28 images, Adam (8,818,818 parameters)", {64},
   [](nn::network& net, input_size s, given_sizes) { return dcgan_task(net, s.batch); }},
  {"dynamic_rnn", "LSTM of 64 over up to 20 masked steps, gradient descent (17,026 parameters)", {128, 20},
   [](nn::network& net, input_size s, given_sizes) { return dynamic_rnn_task(net, s.batch, {.max_steps = s.length}); },
   nullptr, true},
  {"gnmt", "8 + 8 LSTMs of 1024 with attention over 20 words out of 32,000, Adam (280,858,880 parameters)", {64, 20},
   [](nn::network& net, input_size s, given_sizes) { return gnmt_task(net, s.batch, {.length = s.length}); },
   nullptr, true},
  detail::gpt2_entry<gpt2_large_sizes>(
    "gpt2_large", "36 transformer decoders of 1280, Adam (774,030,080 parameters)", {1, 1024}),
  detail::gpt2_entry<gpt2_medium_sizes>(
    "gpt2_medium", "24 transformer decoders of 1024, Adam (354,823,168 parameters)", {2, 1024}),
  detail::gpt2_entry<gpt2_small_sizes>(
    "gpt2_small", "12 transformer decoders of 768, Adam (124,439,808 parameters)", {4, 1024}),
  detail::gpt2_entry<gpt2_xl_sizes>(
    "gpt2_xl", "48 transformer decoders of 1600, Adam (1,557,611,200 parameters)", {1, 1024}),
  detail::gpt2_entry<gpt3_13b_sizes>(
    "gpt3_13b", "40 transformer decoders of 5120, all of whose attention is dense, Adam (12,853,386,240 parameters)",
    {1, 2048}),
  detail::gpt2_entry<gpt3_175b_sizes>(
    "gpt3_175b", "96 transformer decoders of 12288, the same (174,604,259,328 parameters)", {1, 2048}),
  {"inception_v3", "94 convolutions in parallel branches for 299x299 images, RMSProp (27,161,264 parameters)", {16},
   [](nn::network& net, input_size s, given_sizes) { return inception_v3_task(net, s.batch); }},
  detail::llama_entry<llama2_13b_sizes>(
    "llama2_13b", "40 transformer decoders of 5120 with gated units, Adam (13,015,864,320 parameters)", {1, 4096}),
  detail::llama_entry<llama2_70b_sizes>(
    "llama2_70b", "80 transformer decoders of 8192, 8 heads of keys for 64, Adam (68,976,648,192 parameters)",
    {1, 4096}),
  detail::llama_entry<llama2_7b_sizes>(
    "llama2_7b", "32 transformer decoders of 4096 with gated units, Adam (6,738,415,616 parameters)", {1, 4096}),
  detail::llama_entry<llama3_405b_sizes>(
    "llama3_405b", "126 transformer decoders of 16384, 8 heads of keys for 128, Adam (405,853,388,800 parameters)",
    {1, 8192}),
  detail::llama_entry<llama3_70b_sizes>(
    "llama3_70b", "llama2_70b with a larger vocabulary, Adam (70,553,706,496 parameters)", {1, 8192}),
  detail::llama_entry<llama3_8b_sizes>(
    "llama3_8b", "32 transformer decoders of 4096, 8 heads of keys for 32, Adam (8,030,261,248 parameters)", {1, 8192}),
  {"lstm", "LSTM of 128 over 28 steps, the rows of an image, Adam (81,674 parameters)", {128, 28},
   [](nn::network& net, input_size s, given_sizes) { return lstm_task(net, s.batch, {.steps = s.length}); },
   nullptr, true},
  detail::llama_entry<mistral_7b_sizes>(
    "mistral_7b", "llama3_8b with llama2_7b's vocabulary, Adam (7,241,732,096 parameters)", {1, 4096}),
  detail::llama_entry<mixtral_8x7b_sizes>(
    "mixtral_8x7b", "mistral_7b with 8 experts per layer, 2 for each token, Adam (46,702,792,704 parameters)",
    {1, 4096}),
  {"mnist_conv", "two 5x5 convolutions and two dense layers for 28x28 images, Adam (3,274,634 parameters)", {50},
   [](nn::network& net, input_size s, given_sizes) { return mnist_conv_task(net, s.batch); }},
  {"ptb_lstm", "two LSTMs of 200 over 20 words out of 10,000, clipped gradient descent (4,651,600 parameters)",
   {20, 20},
   [](nn::network& net, input_size s, given_sizes) { return ptb_lstm_task(net, s.batch, {.steps = s.length}); },
   nullptr, true},
  {"ptb_lstm_fused", "the same with a fused op per step of a cell", {20, 20},
   [](nn::network& net, input_size s, given_sizes) {
     return ptb_lstm_task(net, s.batch, {.steps = s.length, .fused_cell = true});
   }, nullptr, true},
  detail::llama_entry<qwen2_7b_sizes>(
    "qwen2_7b", "28 decoders as Llama's, of 3584, with biases in attention, Adam (7,615,616,512 parameters)",
    {1, 4096}),
  {"resnet50", "53 convolutions with shortcuts for 224x224 images, momentum (25,557,032 parameters)", {64},
   [](nn::network& net, input_size s, given_sizes) { return resnet50_task(net, s.batch); }},
  {"resnet50_cifar10", "the same for 32x32 images and 10 classes (23,528,522 parameters)", {64},
   [](nn::network& net, input_size s, given_sizes) {
     return resnet50_task(net, s.batch, {.image_size = 32, .classes = 10});
   }},
  detail::sized_entry<switch_base_sizes, switch_task>(
    "switch_base", "12 + 12 transformer layers of 768, every other one with 8 experts, Adam (619,339,008 parameters)",
    {8, 512}),
  detail::sized_entry<vit_b_16_sizes, vit_task>(
    "vit_b_16", "12 transformer encoders of 768 for 224x224 images, Adam (86,567,656 parameters)", {64}),
  detail::sized_entry<vit_l_16_sizes, vit_task>("vit_l_16", "24 of 1024, the same (304,326,632 parameters)", {64}),
}};

/// Networks whose sizes a text gives (`gpt2+layers=24+hidden=2304`), by name; those left out are those of one version.
inline constexpr std::array<entry, 5> families{{
  detail::bert_entry<bert_given_sizes>("bert", "BERT, as bert_base", {16, 128}),
  detail::gpt2_entry<gpt2_given_sizes>("gpt2", "GPT-2, as gpt2_small, with positions up to the length", {4, 1024}),
  detail::llama_entry<llama2_7b_sizes>(
    "llama", "Llama, as llama2_7b, with kv_heads as heads and ffn by Llama's rule, 8/3 of hidden", {1, 4096}),
  detail::llama_entry<mixtral_8x7b_sizes>("mixtral", "Llama with experts, as mixtral_8x7b", {1, 4096}),
  detail::sized_entry<vit_b_16_sizes, vit_task>("vit", "Vision Transformer, as vit_b_16", {64}),
}};

/// The network of that name, null if there is none.
inline const entry* lookup(std::string_view name) {
  for (const std::span<const entry> some : {std::span<const entry>{entries}, std::span<const entry>{families}}) {
    if (const auto at = std::ranges::find(some, name, &entry::name); at != some.end()) {
      return &*at;
    }
  }
  return nullptr;
}

/// The network of that name. Throws `value_error` that lists the names if there is none.
inline const entry& find(std::string_view name) {
  if (const auto* found = lookup(name)) {
    return *found;
  }
  std::string known;
  for (const auto& e : entries) {
    known += (known.empty() ? "" : ", ") + std::string{e.name};
  }
  std::string sized;
  for (const auto& e : families) {
    sized += (sized.empty() ? "" : ", ") + std::string{e.name};
  }
  throw value_error("zoo", "there is no network '" + std::string{name} + "'; choose one of " + known +
                             ", with a batch size if you like, such as lstm@32, or " + sized +
                             " with sizes of your own, such as gpt2+layers=6+hidden=512+heads=8");
}

/// The kernels that programs run a network as unless they are told otherwise: those of today's frameworks, but of the
/// networks that the papers weft grew out of have measured, those of their time.
constexpr nn::kernel_set usual_kernels(const entry& e) {
  for (const std::string_view name : {"dcgan", "dynamic_rnn", "inception_v3", "lstm", "mnist_conv", "ptb_lstm",
                                      "ptb_lstm_fused", "resnet50_cifar10"}) {
    if (e.name == name) {
      return nn::kernel_set::separate;
    }
  }
  return nn::kernel_set::framework;
}

/// A request for a bundled network, parsed from a text.
struct request {
  const entry* network = nullptr;
  std::vector<given_size> given = {}; ///< in place of the sizes of its source
  input_size size = {};
  bool training = true;
  bool decode = false; ///< one more token of each sequence, `size.length` of which are in a cache then
};

namespace detail {

/// The integer that is written so. Throws `value_error` that says what it is for if it is not within the limits.
inline std::uint64_t parse_number(std::string_view digits, std::uint64_t least, std::uint64_t largest,
                                  std::string_view spec, const std::string& what, const std::string& where) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc{} || end != digits.data() + digits.size() || value < least || value > largest) {
    throw value_error("zoo", "'" + std::string{digits} + "' in '" + std::string{spec} + "' is not a " + what +
                               "; write an integer from " + std::to_string(least) + " to " + std::to_string(largest) +
                               " after " + where);
  }
  return value;
}

/// The name of a network's size, from its table. Throws `value_error` that lists them if it has none of that name.
inline const size_key& find_size(const entry& network, std::string_view name, std::string_view spec) {
  const auto key = std::ranges::find(network.sizes, name, &size_key::name);
  if (key != network.sizes.end()) {
    return *key;
  }
  std::string known;
  for (const auto& k : network.sizes) {
    known += (known.empty() ? "" : ", ") + std::string{k.name};
  }
  throw value_error("zoo", known.empty() ? std::string{network.name} + " has one set of sizes, so '" +
                                             std::string{spec} + "' cannot give others"
                                         : "'" + std::string{name} + "' in '" + std::string{spec} +
                                             "' is not a size of " + std::string{network.name} + "; choose of " +
                                             known + ", as in " + std::string{network.name} + "+" +
                                             std::string{network.sizes[0].name} + "=4");
}

/// Reads `+layers=24+hidden=2304`.
inline std::vector<given_size> parse_sizes(const entry& network, std::string_view rest, std::string_view spec) {
  std::vector<given_size> given;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const auto part = rest.substr(0, rest.find('+'));
    rest.remove_prefix(part.size());
    const auto equals = std::min(part.find('='), part.size());
    const auto& key = find_size(network, part.substr(0, equals), spec);
    const auto name = std::string{key.name};
    if (std::ranges::find(given, key.name, &given_size::name) != given.end()) {
      throw value_error("zoo", "'" + std::string{spec} + "' gives '" + name + "' twice; leave out one of the two");
    }
    const auto digits = part.substr(std::min(equals + 1, part.size()));
    given.push_back({key.name, parse_number(digits, key.least, key.largest, spec, "value of " + name, name + "=")});
  }
  return given;
}

} // namespace detail

/// Reads `NAME`, `NAME@BATCH` or `NAME@BATCHxLENGTH`, with `:inference`, `:decode` or `:training` after any of them and
/// with sizes after the name, such as `bert_large@8x512:inference` or `gpt2+layers=24+hidden=2304+heads=24@128x2048`.
/// Parts left out default to the network's source, and to training.
/// Throws `value_error` for an unknown name or mode, a batch size that is not an integer from 1 to 1,000,000, a length
/// that is not one from 1 to a billion (100,000 for networks with ops for each step), a length for a network that has
/// none, decoding with a network that does not make token after token, a size that the network does not have, that is
/// given twice, or that is not an integer within its limits (`size_key`).
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
  const auto sized = rest.substr(0, at);
  const auto name = sized.substr(0, sized.find('+'));
  r.network = &find(name);
  r.given = detail::parse_sizes(*r.network, sized.substr(name.size()), spec);
  r.size = r.network->size;
  if (r.decode && r.network->add_decoding == nullptr) {
    throw value_error("zoo", std::string{r.network->name} + " does not generate token after token, so '" +
                               std::string{spec} + "' can be training or inference only");
  }
  if (at == rest.npos) {
    return r;
  }
  rest = rest.substr(at + 1);
  if (rest.find('+') != rest.npos) {
    throw value_error("zoo", "sizes go before the @ in '" + std::string{spec} + "', as in gpt2+layers=4@8");
  }
  const auto cross = rest.find('x');
  r.size.batch = detail::parse_number(rest.substr(0, cross), 1, 1'000'000, spec, "batch size", "the @");
  if (cross != rest.npos) {
    if (r.size.length == 0) {
      throw value_error("zoo", std::string{r.network->name} + " has no sequences, so '" + std::string{spec} +
                                 "' can have a batch size only");
    }
    r.size.length = detail::parse_number(rest.substr(cross + 1), 1, r.network->max_length(), spec, "length", "the x");
  }
  return r;
}

/// Adds the forward ops of the network that is asked for, and returns what its training step minimises. Throws
/// `value_error` if no training is asked for and the network was made for it, if a tensor has more than 2^44 elements,
/// and for given sizes that do not fit together.
inline training_task define(nn::network& net, const request& r) {
  nn::detail::require(r.training || !net.training(), "zoo",
                      std::string{r.network->name} + " without training needs a network that is made with "
                                                     "{.training = false}");
  try {
    if (r.decode) {
      r.network->add_decoding(net, r.size, r.given);
      return {};
    }
    return r.network->add_forward(net, r.size, r.given);
  } catch (const value_error& e) {
    std::string sizes;
    for (const auto& g : r.given) {
      sizes += "+" + std::string{g.name} + "=" + std::to_string(g.value);
    }
    throw value_error("zoo", std::string{r.network->name} + sizes + " with a batch of " + std::to_string(r.size.batch) +
                               (r.size.length == 0 ? "" : " and a length of " + std::to_string(r.size.length)) +
                               (sizes.empty() ? " is too large; give smaller ones ("
                                              : " cannot be built; give other sizes (") +
                               e.what() + ")");
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
