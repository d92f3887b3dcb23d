// SPDX-License-Identifier: BSL-1.0
/// The models that a command line may name, and writing them again with devices.
#pragma once

#include "model_options.hpp"

#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/model.hpp"
#include "weft/workload/nn/network.hpp"
#include "weft/workload/step_origins.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tool {

struct input;
struct loaded_model;

/// The models that were made of a source lately, so that none is made twice. One thread at a time may use it.
class made_models {
public:
  /// The result of `make` for these options, but for those that `load` sees to last: --in-place, --fuse and what waits
  /// on the host.
  input of(model_options o, const std::function<input(const model_options&)>& make) const;

private:
  mutable std::vector<std::pair<model_options, std::shared_ptr<const input>>> all_; // the latest last
};

/// A source of models that a command line names: a file, which is read and parsed once, a bundled network, or a
/// generated graph.
struct model_source {
  std::string spec;                             ///< as on the command line; of the folder of a SavedModel the file
  std::string name;                             ///< of the file, without folder, or of the bundled network
  std::string bytes = {};                       ///< of the file
  std::shared_ptr<const loaded_model> file = {}; ///< parsed
  std::shared_ptr<const model_source> of_any_batch = {}; ///< the bundled network whose name has a batch, without it …
  std::size_t batch_at = 0; ///< … and where it was; 0: not in the name
  made_models made = {};
};

/// A model, and where it came from.
struct input {
  std::string spec; ///< of the source
  std::string name; ///< … or of the generated graph
  weft::model model;
  std::shared_ptr<const model_source> from = {}; ///< for formats that are written again
  std::shared_ptr<const weft::nn::network> net = {}; ///< the bundled network
  std::vector<weft::op_id> origin = {};          ///< … and which of its ops they are
  std::shared_ptr<const weft::step_origins> step = {}; ///< of a training step made of a forward model
  std::uint64_t batch = 0; ///< examples of a step: those of the bundled network, or of --batch; 0: as the file says
  std::optional<double> ccr = {}; ///< of a generated graph: what `fit_ccr` gives it on a platform
  std::string summed_by = {};       ///< an op of the file that adds up over the batch, see `weft::graph_batch`
  bool changes_parameters = false;  ///< own ops of the file do
  std::vector<weft::byte_count> frozen = {}; ///< of what the first ops hold, the bytes that are not trained
  std::size_t num_own_ops = 0; ///< the first ops of the workload are those of the file or the network, in its order
  bool takes_any_unit = false; ///< the file leaves open what its work counts, so that --work may say it
  std::shared_ptr<const input> unfused = {}; ///< with --fuse: the model before chains of ops became one op each …
  std::vector<weft::op_id> into = {};        ///< … and for each of its ops the one that does its work
};

/// Reads and parses the file, if it is one. Throws `weft::error` of one line for everything that is wrong.
std::shared_ptr<const model_source> open(const std::string& spec);

/// Makes the model of the file, or the bundled network or generated graph, and expands it to a training step if that is
/// wanted. What was made lately with the same options is not made again. Throws as `open`.
input load(std::shared_ptr<const model_source> from, const model_options& o);

/// The extents that nobody gave, such as `sequence = 1 (--dim sequence=N), batch = 1 (--batch N)`; empty if there are
/// none.
std::string list_assumed(const weft::model& m);

/// Puts results into the memory of inputs and of parameters, as --in-place says.
void share_memory(const model_options& o, input& in);

/// Lets tensors wait on the host, as `weft::offloaded` does.
void offload(const std::vector<weft::round_trip>& trips, input& in);

/// True if a softmax between products, or an op that is an attention as a whole, is in the forward pass.
bool has_attentions(const input& in);

/// The number of blocks of layers that the names of the model's own ops tell.
std::uint32_t num_blocks(const input& in);

/// The same with another batch than the name of a bundled network or `o` says.
input load_with_batch(std::shared_ptr<const model_source> from, model_options o, std::uint64_t batch);

/// Says what the work of ops counts, where the file leaves it open. FLOP are no measured times any more. Throws
/// `weft::error` if the file says otherwise.
void state_unit(weft::work_unit unit, input& in);

/// Refuses an output file whose format the model cannot be written in.
void check_output(const std::string& file, const input& in);

/// Writes the model again with the device of each op. Returns notes on what could not be written.
std::vector<std::string> write_placed(const std::string& file, const input& in, const model_options& o,
                                      const weft::placement& where, const weft::platform<>& devices);

/// Makes the folder, and refuses models that cannot be split into it: those that are no ONNX file, and those with
/// weights in files that a model in this folder may not name.
void check_split(const std::string& folder, const input& in);

/// Writes a model per stage and a manifest into the folder; the names of the stages' files.
std::vector<std::string> write_split(const std::string& folder, const input& in, const model_options& o,
                                     const weft::placement& where, const weft::platform<>& devices,
                                     const weft::trace& run);

} // namespace tool
