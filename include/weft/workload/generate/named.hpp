// SPDX-License-Identifier: BSL-1.0
/// Generators by name, and their options as text: `layered,ops=100,ccr=1`.
#pragma once

#include "weft/platform/generate.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/generate/fft.hpp"
#include "weft/workload/generate/fork_join.hpp"
#include "weft/workload/generate/gauss.hpp"
#include "weft/workload/generate/heterogeneity.hpp"
#include "weft/workload/generate/layered.hpp"
#include "weft/workload/generate/random_dag.hpp"
#include "weft/workload/generate/series_parallel.hpp"
#include "weft/workload/generate/stencil.hpp"
#include "weft/workload/generate/tiles.hpp"
#include "weft/workload/model.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace weft::generate {

inline constexpr std::uint32_t max_named_ops = 10'000'000; ///< of a workload that a text asks for
inline constexpr std::uint32_t max_named_devices = 4096;   ///< of a platform

/// A number among a generator's options that a text may set.
struct parameter {
  std::string_view name;
  std::variant<std::uint32_t*, std::uint64_t*, double*> value;
};

/// `name=value` pairs in their order.
using named_values = std::vector<std::pair<std::string, std::string>>;

/// A generator with a name. `Made` is a workload or a platform.
template <class Made>
struct named_generator {
  std::string_view name;
  std::string_view description;
  bool drawn;     ///< depends on a seed
  work_unit unit; ///< of a workload's work
  named_values (*defaults)();                             ///< its parameters
  Made (*make)(const named_values& given, std::uint64_t seed); ///< throws as `parse_named` and the generator do
};

/// A generator and its parameters, as a text asks for them.
template <class Made>
struct named_request {
  const named_generator<Made>* generator = nullptr;
  named_values values = {};         ///< of the generator's own parameters
  std::optional<double> ccr = {};   ///< of a workload: the ratio that tensors are to be scaled to; see `with_ccr`
  std::uint64_t seed = 0;           ///< of the first
  std::uint64_t count = 1;          ///< how many, with the seeds seed, seed + 1, …

  /// The text of one with a seed of its own: `layered,ops=100,ccr=1,seed=7`.
  std::string text(std::uint64_t own_seed) const {
    auto all = described(',', ',');
    return generator->drawn ? all + ",seed=" + std::to_string(own_seed) : all;
  }
  /// A name without commas: `layered ops=100 ccr=1`.
  std::string title() const { return described(' ', ' '); }

  /// The one of a seed. Throws `value_error` for what is no number, out of the generator's range, or larger than
  /// `max_named_ops` or `max_named_devices` allow.
  Made make(std::uint64_t own_seed) const;

private:
  std::string described(char first, char next) const;
};

namespace detail {

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc{} && end == text.data() + text.size();
}

template <class Number>
std::string number_text(Number value) {
  std::array<char, 40> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// Reads a whole number, also as `4e6`.
template <class Number>
  requires(!std::is_floating_point_v<Number>)
bool read_whole(std::string_view text, Number& value) {
  if (read_number(text, value)) {
    return true;
  }
  double number = 0;
  const bool whole = read_number(text, number) && number >= 0 && number < 0x1.0p53 && number == std::floor(number) &&
                     number <= static_cast<double>(std::numeric_limits<Number>::max());
  value = whole ? static_cast<Number>(number) : value;
  return whole;
}

/// Sets a parameter. Throws `value_error` that names it.
template <class Number>
void set_number(std::string_view name, const std::string& text, Number& value) {
  bool is_read = false;
  if constexpr (std::is_floating_point_v<Number>) {
    is_read = read_number(text, value);
  } else {
    is_read = read_whole(text, value);
  }
  if (!is_read) {
    throw value_error(std::string{name},
                      "'" + text + "' is not " +
                        (std::is_floating_point_v<Number>
                           ? "a number"
                           : "a whole number up to " + number_text(std::numeric_limits<Number>::max())));
  }
}

/// The text of an error in the words of a command line: `ops: must be at least 1`.
inline std::string in_words_of_text(const value_error& e) {
  constexpr std::string_view count_of_ops = "num_ops";
  std::string_view said = e.what();
  for (const std::string_view prefix : {"generator option ", "generator options of a platform: "}) {
    said.remove_prefix(said.starts_with(prefix) ? prefix.size() : 0);
  }
  return said.starts_with(count_of_ops) ? "ops" + std::string{said.substr(count_of_ops.size())} : std::string{said};
}

inline std::string names_of(const named_values& values) {
  std::string names;
  for (const auto& [name, value] : values) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

inline bool is_given(const named_values& given, std::string_view name) {
  return std::any_of(given.begin(), given.end(), [&](const auto& x) { return x.first == name; });
}

inline std::vector<parameter> with_amounts(std::vector<parameter> own, random_amounts& a) {
  own.insert(own.end(), {{"min_work", &a.min_work}, {"max_work", &a.max_work}, {"min_bytes", &a.min_bytes},
                         {"max_bytes", &a.max_bytes}});
  return own;
}
inline std::vector<parameter> parameters_of(layered_dag_options& o) {
  auto& s = o.shape;
  return {{"ops", &s.num_ops},
          {"levels", &s.levels},
          {"min_width", &s.min_width},
          {"max_width", &s.max_width},
          {"in_degree", &s.in_degree},
          {"edge_probability", &s.edge_probability},
          {"edge_level_limit", &s.edge_level_limit},
          {"edge_decay", &s.edge_decay},
          {"long_range_share", &s.long_range_share},
          {"min_work", &o.min_work},
          {"max_work", &o.max_work},
          {"min_bytes", &o.min_bytes},
          {"max_bytes", &o.max_bytes},
          {"min_resident_bytes", &o.min_resident_bytes},
          {"max_resident_bytes", &o.max_resident_bytes},
          {"cpu_only_probability", &o.cpu_only_probability},
          {"gpu_only_probability", &o.gpu_only_probability},
          {"colocation_share", &o.colocation_share}};
}
inline std::vector<parameter> parameters_of(random_dag_options& o) {
  return with_amounts({{"ops", &o.ops}, {"degree", &o.degree}}, o.amounts);
}
inline std::vector<parameter> parameters_of(fork_join_options& o) {
  return with_amounts({{"width", &o.width}, {"length", &o.length}, {"stages", &o.stages}}, o.amounts);
}
inline std::vector<parameter> parameters_of(series_parallel_options& o) {
  return with_amounts({{"ops", &o.ops}, {"parallel_share", &o.parallel_share}}, o.amounts);
}
inline std::vector<parameter> parameters_of(fft_options& o) { return {{"points", &o.points}, {"block", &o.block}}; }
inline std::vector<parameter> parameters_of(gaussian_elimination_options& o) {
  return {{"columns", &o.columns}, {"rows_per_column", &o.rows_per_column}};
}
inline std::vector<parameter> parameters_of(tile_options& o) { return {{"tiles", &o.tiles}, {"size", &o.size}}; }
inline std::vector<parameter> parameters_of(stencil_1d_options& o) {
  return {{"width", &o.width}, {"steps", &o.steps}, {"block", &o.block}};
}
inline std::vector<parameter> parameters_of(stencil_2d_options& o) {
  return {{"width", &o.width}, {"height", &o.height}, {"steps", &o.steps}, {"block", &o.block}};
}
inline std::vector<parameter> parameters_of(related_options& o) {
  return {{"devices", &o.devices},          {"min_speed", &o.min_speed},     {"max_speed", &o.max_speed},
          {"latency", &o.all.latency}, {"bandwidth", &o.all.bandwidth}, {"gpu_share", &o.gpu_share}};
}
inline std::vector<parameter> parameters_of(heterogeneous_options& o) {
  return {{"devices", &o.devices},
          {"min_speed", &o.min_speed},
          {"max_speed", &o.max_speed},
          {"min_bandwidth", &o.min_bandwidth},
          {"max_bandwidth", &o.max_bandwidth},
          {"memory_times_speed", &o.memory_times_speed},
          {"gpu_share", &o.gpu_share},
          {"send_work", &o.send_work}};
}

/// The options where a text says nothing: those of the generators, apart from what these take from papers.
template <class Options>
Options usual() {
  Options o;
  if constexpr (std::is_same_v<Options, layered_dag_options>) { // as in the suite: a number of ops, and no constraints
    o.shape = {.min_width = 5, .max_width = 25, .num_ops = 100, .in_degree = 3};
    o.cpu_only_probability = o.gpu_only_probability = o.colocation_share = 0;
  }
  if constexpr (std::is_same_v<Options, related_options>) {
    o.all.bandwidth = 1e6; // tensors of a given CCR so have enough bytes for whole ones not to matter
  }
  if constexpr (std::is_same_v<Options, heterogeneous_options>) {
    o.send_work = 0; // as HEFT and what followed it have it: no paper but [CP] lets sends occupy the sender
  }
  return o;
}

/// About how many ops, or for platforms devices, options make.
inline double size_of(const layered_dag_options& o) {
  const auto& s = o.shape;
  return s.num_ops != 0 ? static_cast<double>(s.num_ops) : s.levels * ((double{1} * s.min_width + s.max_width) / 2);
}
inline double size_of(const random_dag_options& o) { return o.ops; }
inline double size_of(const fork_join_options& o) { return o.stages * (1 + double{1} * o.width * o.length) + 1; }
inline double size_of(const series_parallel_options& o) { return o.ops; }
inline double size_of(const fft_options& o) {
  return o.points * (2 + std::floor(std::log2(std::max<double>(o.points, 1))));
}
inline double size_of(const gaussian_elimination_options& o) { return double{1} * o.columns * o.columns / 2; }
inline double size_of(const tile_options& o) { return double{1} * o.tiles * o.tiles * o.tiles / 6; } // at least
inline double size_of(const stencil_1d_options& o) { return double{1} * o.width * o.steps; }
inline double size_of(const stencil_2d_options& o) { return double{1} * o.width * o.height * o.steps; }
inline double size_of(const related_options& o) { return o.devices; }
inline double size_of(const heterogeneous_options& o) { return o.devices; }

/// Refuses what is too large before anything is allocated for it.
template <class Options>
void check_size(const Options& o) {
  constexpr bool of_devices = requires { o.devices; };
  constexpr std::uint32_t most = of_devices ? max_named_devices : max_named_ops;
  if (const double size = size_of(o); !(size <= most)) {
    throw value_error(of_devices ? "devices" : "ops", "there would be about " + number_text(std::round(size)) +
                                                        ", and at most " + number_text(most) + " are made");
  }
}

/// Of what excludes each other, what is given counts.
template <class Options>
void settle(const named_values& given, Options& o) {
  if constexpr (std::is_same_v<Options, layered_dag_options>) {
    if (is_given(given, "levels")) {
      require(!is_given(given, "ops"), "levels", "cannot be given together with ops; leave out one of the two");
      o.shape.num_ops = 0;
    } else {
      require(o.shape.num_ops >= 1, "ops", "must be at least 1"); // to the generator, 0 means so many levels
    }
    if (is_given(given, "edge_probability")) {
      require(!is_given(given, "in_degree"), "edge_probability", "cannot be given together with in_degree; leave out "
                                                                 "one");
      o.shape.in_degree = 0;
    } else if (o.shape.in_degree == 0) { // to the generator, 0 means edge_probability
      o.shape.edge_probability = 0;
    }
  }
  check_size(o);
}

template <class Options>
named_values defaults_of() {
  auto o = usual<Options>();
  named_values values;
  for (const auto& p : parameters_of(o)) {
    values.emplace_back(p.name, std::visit([](const auto* x) { return number_text(*x); }, p.value));
  }
  return values;
}

template <class Options, auto Make>
auto make_named(const named_values& given, std::uint64_t seed) {
  auto o = usual<Options>();
  const auto all = parameters_of(o);
  for (const auto& [name, text] : given) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const parameter& p) { return p.name == name; });
    std::visit([&](auto* x) { set_number(name, text, *x); }, at->value);
  }
  settle(given, o);
  return Make(o, seed);
}

template <class Options, workload (*Make)(const Options&)>
workload undrawn(const Options& o, std::uint64_t) {
  return Make(o);
}

inline platform<> related_of(const related_options& o, std::uint64_t seed) {
  const auto made = related_platform(o, seed);
  std::vector<std::string> names;
  for (const device_id d : ids(made.num_devices())) {
    names.push_back(to_string(made.kind(d)) + std::to_string(d));
  }
  platform<> named{made.devices(), link_matrix{made.num_devices(), made.links().all}};
  named.set_names(std::move(names));
  return named.changed([](device& d) { d.reached_rates = true; });
}

template <class Options, workload (*Make)(const Options&, std::uint64_t)>
constexpr named_generator<workload> drawn_graph(std::string_view name, std::string_view description) {
  return {name, description, true, work_unit::own, defaults_of<Options>, make_named<Options, Make>};
}
template <class Options, workload (*Make)(const Options&)>
constexpr named_generator<workload> algorithm(std::string_view name, std::string_view description) {
  return {name, description, false, work_unit::flop, defaults_of<Options>,
          make_named<Options, undrawn<Options, Make>>};
}

} // namespace detail

/// The families of workloads, named after their functions. Parameters are the options of these; of `layered`, `ops` is
/// `num_ops`, the defaults are those of the suite with 100 ops, and where `levels` or `edge_probability` is given, it
/// takes the place of `ops` or `in_degree`.
inline constexpr std::array<named_generator<workload>, 10> workload_families{{
  detail::drawn_graph<layered_dag_options, layered>("layered", "levels of ops, edges to the next levels"),
  detail::drawn_graph<random_dag_options, random_dag>("random_dag", "each pair of ops joined with one probability"),
  detail::drawn_graph<fork_join_options, fork_join>("fork_join", "chains between forks and joins"),
  detail::drawn_graph<series_parallel_options, series_parallel>("series_parallel", "two-terminal series-parallel"),
  detail::algorithm<fft_options, fft>("fft", "fast Fourier transform"),
  detail::algorithm<gaussian_elimination_options, gaussian_elimination>("gaussian_elimination", "with pivots"),
  detail::algorithm<tile_options, cholesky>("cholesky", "tiled Cholesky factorisation"),
  detail::algorithm<tile_options, lu>("lu", "tiled LU factorisation"),
  detail::algorithm<stencil_1d_options, stencil_1d>("stencil_1d", "steps of a three-point stencil"),
  detail::algorithm<stencil_2d_options, stencil_2d>("stencil_2d", "steps of a five-point stencil"),
}};

/// The families of platforms. `related` has a bandwidth of 10^6 unless told otherwise; speeds are what ops reach.
inline constexpr std::array<named_generator<platform<>>, 2> platform_families{{
  {"related", "devices that differ in speed, and equal links", true, work_unit::own,
   detail::defaults_of<related_options>, detail::make_named<related_options, detail::related_of>},
  {"heterogeneous", "speeds, memory and links as in the critical-path paper, whose send_work is 10", true,
   work_unit::own, detail::defaults_of<heterogeneous_options>,
   detail::make_named<heterogeneous_options, heterogeneous>},
}};

/// Reads `FAMILY`, and behind it any of `,NAME=VALUE`: the generator's parameters, `seed`, `count`, and for workloads
/// `ccr`. Spaces around parts do not count, and whole numbers may be written as `4e6`. Throws `value_error` for an
/// unknown family or parameter, listing those that there are, for what is no number or is given twice, and for a `seed`
/// or `count` where nothing is drawn. What is out of a generator's range throws when it is made.
template <class Made, std::size_t N>
named_request<Made> parse_named(std::string_view text, const std::array<named_generator<Made>, N>& families) {
  constexpr bool of_workloads = std::is_same_v<Made, workload>;
  const auto fail = [&](const std::string& problem) { throw value_error("random:" + std::string{text}, problem); };
  named_request<Made> r;
  auto rest = text;
  const auto take = [&rest] {
    auto part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    part.remove_prefix(std::min(part.size(), part.find_first_not_of(' ')));
    return part.substr(0, part.find_last_not_of(' ') + 1);
  };
  const auto family = take();
  const auto at = std::find_if(families.begin(), families.end(), [&](const auto& f) { return f.name == family; });
  if (at == families.end()) {
    std::string known;
    for (const auto& f : families) {
      known += (known.empty() ? "" : ", ") + std::string{f.name};
    }
    fail("there is no family '" + std::string{family} + "'; choose one of " + known);
  }
  r.generator = &*at;
  const auto own = at->defaults();
  named_values seen;
  while (!rest.empty()) {
    const auto part = take();
    const auto equals = part.find('=');
    const std::string name{part.substr(0, equals)};
    if (equals == part.npos || equals + 1 == part.size()) {
      fail("'" + std::string{part} + "' is not NAME=VALUE");
    }
    const std::string value{part.substr(equals + 1)};
    if (detail::is_given(seen, name)) {
      fail("'" + name + "' is given twice");
    }
    seen.emplace_back(name, value);
    const bool is_own = detail::is_given(own, name);
    if (!is_own && !at->drawn && (name == "seed" || name == "count")) {
      fail("'" + name + "' has no effect, since " + std::string{family} + " draws nothing; leave it out");
    }
    if (!is_own && name != "seed" && name != "count" && !(of_workloads && name == "ccr")) {
      fail("there is no parameter '" + name + "'; " + std::string{family} + " has " + detail::names_of(own) +
           (of_workloads ? ", ccr" : "") + (at->drawn ? ", seed, count" : ""));
    }
    try {
      double ratio = 0;
      if (of_workloads && name == "ccr") {
        detail::set_number(name, value, ratio);
        detail::require(ratio >= 0 && ratio <= 1e12, "ccr", "must be from 0 to 1e12");
        r.ccr = ratio;
      } else if (is_own) {
        r.values.emplace_back(name, value);
      } else if (name == "seed") {
        detail::set_number(name, value, r.seed);
      } else {
        detail::set_number(name, value, r.count);
        detail::require(r.count >= 1 && r.count <= 100'000, "count", "must be from 1 to 100000");
      }
    } catch (const value_error& e) {
      fail(detail::in_words_of_text(e));
    }
  }
  if (r.seed > std::numeric_limits<std::uint64_t>::max() - (r.count - 1)) {
    fail("seed + count - 1 must be below 2^64; take a smaller seed");
  }
  return r;
}

template <class Made>
Made named_request<Made>::make(std::uint64_t own_seed) const {
  try {
    return generator->make(values, own_seed);
  } catch (const value_error& e) {
    throw value_error("random:" + described(',', ','), detail::in_words_of_text(e));
  }
}

template <class Made>
std::string named_request<Made>::described(char first, char next) const {
  std::string text{generator->name};
  char separator = first;
  for (const auto& [name, value] : values) {
    text += std::exchange(separator, next) + name + "=" + value;
  }
  return ccr ? text + separator + "ccr=" + detail::number_text(*ccr) : text;
}

} // namespace weft::generate
