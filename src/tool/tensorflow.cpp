// SPDX-License-Identifier: BSL-1.0
#include "formats.hpp"

#include "weft/interop/tensorflow.hpp"

#include <span>

namespace tool {
namespace {

using namespace weft;

tensorflow::reader tensorflow_reader(const model_options& o) {
  return {.batch = o.batch,
          .shapes = {o.shapes.begin(), o.shapes.end()},
          .costs = o.times.empty() ? tensorflow::measured_costs{} : tensorflow::read_costs(o.times),
          .fetch = o.fetch,
          .signature = o.signature,
          .tags = o.tags,
          .trips = {o.trips.begin(), o.trips.end()},
          .keep_functions = o.keep_functions};
}

loaded_model parse_graph(std::string_view bytes, const std::string& file) {
  return {.read = [bytes, file](const model_options& o) { return tensorflow_reader(o).read(bytes, file); },
          .write_placed = [bytes, file](std::ostream& out, const placed_input& p) {
            return tensorflow::write_placed(out, bytes, p.in.model.ops, p.where, tensorflow::device_names(p.devices),
                                            file, p.options.tags);
          }};
}

void write_graph(std::ostream& out, std::string_view extension, const placed_input& p) {
  const auto names = tensorflow::device_names(p.devices);
  const auto own = std::span{p.where}.first(p.in.num_own_ops);
  tensorflow::write_network(out, *p.in.net, p.in.origin,
                            {.text = extension == ".pbtxt", .placement = own, .names = names});
}

} // namespace

file_format tensorflow_format() {
  model_kind graph{.format = "TensorFlow GraphDef",
                   .models = "TensorFlow graphs",
                   .takes = {"--batch", "--shape", "--fetch", "--trips", "--trips NAME=N", "--keep-functions",
                             "--times"},
                   .written_as = {".pb", ".pbtxt", ""}};
  auto saved = graph;
  saved.format = "TensorFlow SavedModel";
  saved.models = "SavedModels";
  saved.takes.insert(saved.takes.end(), {"--signature", "--tags"});
  return {.component = "tensorflow",
          .kinds = {std::move(graph), std::move(saved)},
          .recognises = [](std::string_view bytes) { return tensorflow::reader{}.recognises(bytes); },
          .parse = parse_graph,
          .networks_as = {".pb", ".pbtxt"},
          .write_network = write_graph};
}

} // namespace tool
