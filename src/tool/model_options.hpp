// SPDX-License-Identifier: BSL-1.0
/// Command-line options for reading models and for their costs, the same for all tools.
#pragma once

#include "weft/platform/number_format.hpp"
#include "weft/workload/model.hpp"
#include "weft/workload/nn/kernels.hpp"
#include "weft/workload/offloaded.hpp"
#include "weft/workload/optimizer.hpp"
#include "weft/workload/stored_as.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace tool {

struct model_options {
  std::uint64_t batch = 0; ///< 0: what the model says
  std::map<std::string, std::uint64_t, std::less<>> dimensions = {};
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> shapes = {};
  std::string parameters = {};         ///< of a StableHLO program: how many arguments, or how their names begin
  std::vector<std::string> fetch = {}; ///< of a TensorFlow graph; see `tensorflow::reader::fetch`
  std::string signature = {};  ///< of a SavedModel
  std::string tags = {};       ///< of the graph in a SavedModel
  std::map<std::string, std::uint64_t, std::less<>> trips = {}; ///< of loops, by name; `*`: of all others
  bool keep_functions = false; ///< calls stay one op
  std::optional<weft::nn::kernel_set> kernels = {};         ///< of bundled networks; none: see `zoo::usual_kernels`
  std::optional<weft::nn::attention_kernels> attention = {}; ///< likewise; none: fused
  std::optional<weft::optimizer> train = {};
  std::optional<std::string> freeze = {}; ///< names of parameters that are not trained: `weft::name_patterns`
  std::optional<weft::work_unit> work = {}; ///< of files that do not say it; none: stays unknown
  bool peak_rates = false;
  std::string times = {};
  std::string profile = {};
  std::string times_table = {}; ///< a file of the times of all ops on all devices, which need no estimates then
  std::optional<weft::number_format> numbers = {}; ///< of tensors and, unless `weight_bits`, of weights
  std::optional<double> weight_bits = {};          ///< with their scales
  std::optional<weft::recomputation> recompute = {};
  std::uint32_t recomputed_blocks = weft::none; ///< of blocks, the first so many
  bool recompute_least = false;                 ///< the tool is to find `recompute`, which is not given
  bool offload_least = false;                   ///< the tool is to send to the host what does not fit
  std::vector<weft::round_trip> offloaded = {}; ///< what waits on the host, if that is given
  std::optional<weft::kv_cache> cache = {};
  std::optional<bool> in_place = {}; ///< results lie in memory of others; none: of training steps, only views
  bool fuse = false; ///< chains that compilers run as one kernel are one op

  friend bool operator==(const model_options&, const model_options&) = default;
};

/// The number that --trips gives without the name of a loop, if it does.
inline std::optional<double> trips_of_all_loops(const model_options& o) {
  const auto at = o.trips.find("*");
  return at == o.trips.end() ? std::nullopt : std::optional{static_cast<double>(at->second)};
}

/// Adds options that fill `o` when `app` parses: to the topic `models` of --help --batch, --dim, --shape, --parameters,
/// --fetch, --signature, --tags, --trips, --keep-functions, --kernels, --attention, --train, --freeze and --work, to
/// the topic `costs` --peak-rates, --times and --profile.
void add_model_options(CLI::App& app, model_options& o);

/// Adds --times-table to the topic `costs`, for tools that run the ops of the file on the devices of the platform.
void add_times_table_option(CLI::App& app, model_options& o);

/// Adds to the topic `memory` --dtype, --kv-cache, --fuse, --in-place, --recompute and --offload: what a model takes in
/// memory.
void add_memory_options(CLI::App& app, model_options& o);

/// The values of --recompute and --offload for what `o` has made again and sent to the host.
std::string recompute_text(const model_options& o);
std::string offload_text(const model_options& o);

/// Those that `add_model_options` adds and a command line gave.
std::vector<std::string_view> given_options(const model_options& o);

/// Throws `weft::error` if any of them is given: they have no effect on `what`.
void refuse_model_options(const model_options& o, const char* what);

/// What files of models a tool reads, for a help text.
std::string list_model_formats();
/// The named platforms, for a help text.
std::string list_platforms();

} // namespace tool
