// SPDX-License-Identifier: BSL-1.0
/// A model read from a file: the graph, measured times if it has any, and the assumptions made.
#pragma once

#include "weft/workload/workload.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/// The unit of the work of a model's ops.
enum class work_unit : unsigned char {
  flop,    ///< floating-point operations
  seconds, ///< the time that an op takes on devices of the kind that `model::measured_on` says
  own      ///< what the file means by it, which it does not say; the speeds of devices are meant in the same
};

/// A size that neither a file nor an option of its reader gives, so that some value was taken for it: extents of
/// tensors, or how often a loop runs.
struct assumed_size {
  enum class option : unsigned char {
    batch,     ///< of readers: `batch`
    dimension, ///< `dimensions`, by this name
    shape,     ///< `shapes`, by this name
    trips,     ///< `trips`, by the name of this loop, or `unknown_trips` of all loops
    nothing    ///< readers have no option for it
  };
  option given_by = option::nothing;
  std::string name = {};   ///< of a dimension, input, op or loop; empty of the batch
  std::string type = {};   ///< of the op that makes a tensor of this extent, if it is one; empty of inputs
  std::uint64_t value = 1; ///< what was taken, for each open extent

  friend bool operator==(const assumed_size&, const assumed_size&) = default;
};

class model_graph;

/// A parameter, or a copy of it, as a file calls it.
struct named_parameter {
  std::string name = {};
  op_id op = none; ///< that holds it, among its resident bytes
  byte_count bytes = 0;
};

/// A workload as a file describes it. Times that somebody measured stand beside the graph, since they hold for one
/// kind of device only; cost/measured.hpp makes a cost model of them.
struct model {
  workload ops = {};
  std::string format = {};             ///< what the file is, such as `ONNX`
  std::shared_ptr<const model_graph> graph = {}; ///< of its ops, by their ids; null: not of this format
  work_unit unit = work_unit::flop;    ///< of the work of `ops`; seconds must not be divided by FLOP/s
  std::vector<double> seconds = {};    ///< measured compute time per op; NaN where there is none; empty if nowhere
  kind_set measured_on = {};           ///< the kind of device on which it was measured
  std::vector<op_id> returned = {};    ///< ops that make results of the model, ascending; empty if nobody says
  std::vector<named_parameter> parameters = {}; ///< those with names; what ops hold beside them, these name
  std::vector<assumed_size> assumed = {}; ///< each once
  std::vector<std::string> notes = {}; ///< one line each: what else was assumed, left out, or not understood
  /// Bytes of floating-point tensors by the bits of a number; empty if the file does not say what its tensors hold.
  std::map<std::uint32_t, double> float_bytes = {};
};

/// The bits that a model's floating-point numbers have: 32 if the file does not say, 0 if more than a hundredth of
/// their bytes belongs to numbers of another width than most.
inline std::uint32_t number_bits(const model& m) {
  double all = 0;
  double most = 0;
  std::uint32_t bits = 32;
  for (const auto& [width, bytes] : m.float_bytes) {
    all += bytes;
    bits = bytes > most ? width : bits;
    most = bytes > most ? bytes : most;
  }
  return most >= 0.99 * all ? bits : 0;
}

} // namespace weft
