// SPDX-License-Identifier: BSL-1.0
#include "model_file.hpp"

#include "formats.hpp"
#include "main.hpp"
#include "networks.hpp"
#include "random_graphs.hpp"

#include "weft/core/readable.hpp"
#include "weft/core/sort.hpp"
#include "weft/io/files.hpp"
#include "weft/io/foreign_formats.hpp"
#include "weft/io/json_workload.hpp"
#include "weft/io/read.hpp"
#include "weft/io/text.hpp"
#include "weft/io/wfformat.hpp"
#include "weft/model/batch.hpp"
#include "weft/partition/layer_split.hpp"
#include "weft/workload/fused.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/in_place.hpp"
#include "weft/workload/op_blocks.hpp"
#include "weft/workload/recomputed.hpp"
#include "weft/workload/role.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace tool {
namespace {

using namespace weft;

constexpr std::string_view zoo_prefix = "zoo:";

using words = std::vector<std::string_view>;

bool contains(const words& list, std::string_view name) { return std::ranges::find(list, name) != list.end(); }

/// `a, b and c`.
std::string listed(const words& list, const char* last = "and") {
  const auto begin = list.begin();
  return list.size() < 2 ? std::string{list.empty() ? "" : list[0]}
                         : fmt::format("{} {} {}", fmt::join(begin, list.end() - 1, ", "), last, list.back());
}

/// The kinds of models that take options or are written.
std::vector<model_kind> kinds() {
  std::vector<model_kind> all;
  model_kind network{.format = "bundled network",
                     .models = "bundled networks",
                     .takes = {"--batch", "--kernels", "--attention"}};
  for (const auto& f : file_formats()) {
    all.insert(all.end(), f.kinds.begin(), f.kinds.end());
    network.written_as.insert(network.written_as.end(), f.networks_as.begin(), f.networks_as.end());
  }
  all.push_back(std::move(network));
  return all;
}

model_kind kind_of(const model& m) {
  const auto all = kinds();
  const auto found = std::ranges::find(all, m.format, &model_kind::format);
  return found == all.end() ? model_kind{} : *found;
}

/// `a, b and c`: what models are called for which something is the case.
template <class Is>
std::string models_that(Is is) {
  words list;
  for (const auto& kind : kinds()) {
    if (is(kind)) {
      list.push_back(kind.models);
    }
  }
  return list.empty() ? "models that this program was not built for" : listed(list);
}

/// Options that would have no effect are mistakes.
void refuse_options_of_others(const model_options& o, const input& in) {
  auto own = kind_of(in.model).takes;
  std::erase(own, "--trips NAME=N"); // a way to give --trips
  own.push_back("--profile");
  for (const auto option : given_options(o)) {
    const bool general = option == "--train" || option == "--freeze" || option == "--work" ||
                         option == "--peak-rates" || option == "--times-table";
    if (!general && !contains(own, option)) {
      throw error(fmt::format("{} is for {}; '{}' ({}) takes {}", option,
                              models_that([&](const model_kind& kind) { return contains(kind.takes, option); }),
                              in.spec, in.model.format, listed(own)));
    }
  }
}

/// The file itself, or that of a SavedModel in its folder.
std::string file_of(const std::string& spec) {
  if (!std::filesystem::exists(spec) && is_network(spec)) {
    throw error(fmt::format("cannot read '{0}': there is no such file; the bundled network is zoo:{0}", spec));
  }
  if (!std::filesystem::is_directory(spec)) {
    return spec;
  }
  for (const char* const name : {"saved_model.pb", "saved_model.pbtxt"}) {
    if (const auto path = std::filesystem::path{spec} / name; std::filesystem::is_regular_file(path)) {
      return path.string();
    }
  }
  throw error("'" + spec + "' is a folder without saved_model.pb or saved_model.pbtxt; give a file, or the folder of a "
              "SavedModel");
}

/// Reads nothing: adds to what is understood where no format is recognised.
struct reader_of_components {
  static std::string format() {
    words formats;
    for (const auto& f : file_formats()) {
      for (const auto& kind : f.kinds) {
        formats.push_back(kind.format);
      }
    }
    return fmt::format("{}", fmt::join(formats, ", "));
  }
  static bool recognises(std::string_view) { return false; }
  static model read(std::string_view, const std::string&) { return {}; }
};

/// Parses the bytes in the format that they have, or seem to have.
loaded_model parsed(std::string_view bytes, const std::string& file) {
  const auto component = io::component_for(bytes);
  const auto& formats = file_formats();
  auto found = std::ranges::find_if(formats, [&](const auto& f) { return f.recognises(bytes); });
  if (found == formats.end() && !component.empty()) {
    found = std::ranges::find(formats, component, &file_format::component);
    if (found == formats.end()) {
      throw error(fmt::format("'{}': {}, and this program was built without it; cmake -DWEFT_COMPONENTS='{};report' "
                              "says what it takes", file, io::what_it_looks_like(bytes), component));
    }
  }
  if (found == formats.end()) {
    return {.read = [m = io::model_from(bytes, file, reader_of_components{})](const model_options&) { return m; }};
  }
  return found->parse(bytes, file);
}

std::string zoo_spec(const model_source& from, const model_options& o) {
  const auto& given = from.spec;
  auto spec = given.substr(zoo_prefix.size());
  if (o.batch != 0) {
    if (spec.find('@') != spec.npos) {
      throw error("--batch: '" + given + "' has a batch size already; leave out one of the two");
    }
    const auto at = from.batch_at != 0 ? from.batch_at - zoo_prefix.size() : std::min(spec.find(':'), spec.size());
    spec.insert(at, "@" + std::to_string(o.batch));
  }
  return spec;
}

/// The ops to be made again, in the first `num_blocks` blocks.
std::vector<op_id> recomputed(recomputation what, std::uint32_t num_blocks, const input& in) {
  const auto block_of = blocks_of_ops(in.model.ops, in.num_own_ops);
  auto ops = recomputed_ops(in.model.ops, what, [&](op_id v) { return block_of[v] < num_blocks ? block_of[v] : none; },
                            backward_ops(in.model.ops));
  if (ops.empty()) {
    throw error(fmt::format("--recompute: no {} of '{}' were found; blocks are told from the names of ops, such as "
                            "layer_3/…, attentions by their softmax",
                            what == recomputation::blocks ? "blocks" : "attentions", in.spec));
  }
  return ops;
}

void note_recomputed(const model_options& o, std::size_t count, input& in) {
  const bool some = *o.recompute == recomputation::blocks && o.recomputed_blocks < num_blocks(in);
  in.model.notes.push_back(
    fmt::format("{} ops{} are run again for the backward pass, and their results are not kept until then", count,
                some ? fmt::format(" of the first {} blocks", o.recomputed_blocks) : ""));
}

void note_frozen(const frozen_parameters& f, input& in) {
  in.model.notes.push_back(fmt::format(
    "frozen: {} of {} parameters, {} of {}, which have no gradient and no state of the optimiser", f.count, f.all,
    readable_bytes(static_cast<byte_count>(f.frozen_bytes)), readable_bytes(static_cast<byte_count>(f.all_bytes))));
}

void expand(const model_options& o, input& in) {
  auto& m = in.model;
  if (m.unit != work_unit::flop) {
    throw error(fmt::format("--train: '{}' ({}) tells {} and no FLOP, so it is not known how long updates would take",
                            in.spec, m.format, m.unit == work_unit::seconds ? "times" : "work in a unit of its own"));
  }
  step_options how{.rule = *o.train};
  if (o.recompute) {
    how.recompute = recomputed(*o.recompute, o.recomputed_blocks, in);
  }
  std::optional<frozen_parameters> kept;
  if (o.freeze) {
    kept = frozen_by_option(in.spec, [&] { return frozen(m, *o.freeze); });
    how.frozen = in.frozen = kept->bytes;
  }
  auto step = training_step_with_origins(m.ops, how);
  if (!m.seconds.empty()) { // of the forward ops; what came from them takes as long per FLOP
    std::vector<double> seconds;
    for (const op_id v : ids(step.graph.num_ops())) {
      const op_id from = step.from.op[v];
      seconds.push_back(v == from              ? m.seconds[v]
                        : m.ops.work(from) > 0 ? m.seconds[from] * (step.graph.work(v) / m.ops.work(from))
                                               : std::numeric_limits<double>::quiet_NaN());
    }
    m.seconds = std::move(seconds);
  }
  m.ops = std::move(step.graph);
  in.step = std::make_shared<const step_origins>(std::move(step.from));
  m.notes.push_back(fmt::format("training step: {} forward ops, {} for gradients and updates", in.num_own_ops,
                                m.ops.num_ops() - in.num_own_ops));
  if (kept) {
    note_frozen(*kept, in);
  }
  if (o.recompute) {
    note_recomputed(o, how.recompute.size(), in);
  }
}

/// The frozen parameters of a bundled network, by the ops of its step.
void take_frozen(const frozen_parameters& f, input& in) {
  if (f.count > 0) {
    for (const op_id v : in.origin) {
      in.frozen.push_back(f.bytes[v]);
    }
    note_frozen(f, in);
  }
}

void require_gradients(const input& in) {
  const auto& w = in.model.ops;
  const auto all = ids(w.num_ops());
  if (std::none_of(all.begin(), all.end(), [&](op_id v) { return is_gradient(w, v); })) {
    throw error(fmt::format("--recompute is for training steps; --train adds the backward pass to a forward model, as "
                            "in zoo:gpt2_small:inference --train adam --recompute blocks. No op of '{}' is called a "
                            "gradient, such as gradients/…", in.spec));
  }
}

/// Makes what the backward pass of a training step reads again.
void recompute(const model_options& o, input& in) {
  auto& m = in.model;
  const auto& w = m.ops;
  auto step = recomputed_step(w, recomputed(*o.recompute, o.recomputed_blocks, in));
  const auto again = step.graph.num_ops() - w.num_ops();
  const bool has_origin = in.origin.size() == w.num_ops();
  for (std::size_t v = w.num_ops(); v < step.origin.size(); ++v) {
    if (!m.seconds.empty()) {
      m.seconds.push_back(m.seconds[step.origin[v]]);
    }
    if (has_origin) {
      in.origin.push_back(in.origin[step.origin[v]]);
    }
  }
  m.ops = std::move(step.graph);
  note_recomputed(o, again, in);
}

/// The format of numbers, and the cache of keys and values.
void set_memory(const model_options& o, input& in) {
  auto& w = in.model.ops;
  const auto in_file = number_bits(in.model);
  const double bits = o.numbers ? 8.0 * bytes_of(*o.numbers) : in_file != 0 ? in_file : 32;
  if (o.numbers && in_file != 32) {
    if (in_file != bits || o.weight_bits) {
      throw error(
        fmt::format("--dtype is for models in single precision, and the numbers of '{}' have {}; leave it out", in.spec,
                    in_file != 0 ? fmt::format("{} bits", in_file) : "several widths"));
    }
    in.model.notes.push_back(
      fmt::format("numbers are taken to be {}, as wide as the file has them", to_string(*o.numbers)));
  } else if (o.numbers) {
    const storage_format format{.tensor_bits = bits, .weight_bits = o.weight_bits.value_or(bits)};
    const bool trains = is_training_step(w);
    if (trains && format.weight_bits < 16) {
      throw error("--dtype: a training step with weights of fewer than 16 bits is not known here; use bf16 or fp16");
    }
    w = stored_as(w, format, in.frozen);
    in.model.notes.push_back(fmt::format(
      "numbers are taken to be {}{}{}", to_string(*o.numbers),
      o.weight_bits ? fmt::format(", weights of {:.3g} bits with their scales", *o.weight_bits) : "",
      trains && bits < 32 ? fmt::format(", with {}parameters and the optimiser's state in single precision besides",
                                        in.frozen.empty() ? "" : "trained ") : ""));
  }
  if (o.cache) {
    auto cache = *o.cache;
    if (cache.batch != 0 && in.batch != 0 && cache.batch != in.batch) {
      throw error(fmt::format("--kv-cache: batch={}, but the model has a batch of {}; leave batch= out", cache.batch,
                              in.batch));
    }
    cache.batch = std::max({cache.batch, in.batch, std::uint64_t{1}});
    cache.bits = bits;
    w = with_kv_cache(w, cache);
    in.model.notes.push_back(fmt::format("keys and values of {} tokens of {} sequence{}: {} in each attention",
                                         cache.context, cache.batch, cache.batch == 1 ? "" : "s",
                                         readable_bytes(static_cast<byte_count>(cache.bytes_per_layer()))));
  }
}

/// The same with one op for each chain that compilers run as one kernel.
input fused(const model_options& o, input in) {
  if (!in.model.seconds.empty() || !o.profile.empty()) {
    throw error(fmt::format("--fuse is for estimated times, and {} has times that ops took by themselves; leave one of "
                            "them out", o.profile.empty() ? "'" + in.spec + "'" : "--profile"));
  }
  const auto whole = std::make_shared<const input>(std::move(in));
  const auto& m = whole->model;
  auto made = weft::fused(m.ops, m.returned);
  input joined{.spec = whole->spec,
               .name = whole->name,
               .model = {.ops = std::move(made.graph),
                         .format = m.format,
                         .unit = m.unit,
                         .assumed = m.assumed,
                         .notes = m.notes,
                         .float_bytes = m.float_bytes},
               .from = whole->from,
               .batch = whole->batch,
               .ccr = whole->ccr,
               .summed_by = whole->summed_by,
               .changes_parameters = whole->changes_parameters,
               .takes_any_unit = whole->takes_any_unit,
               .unfused = whole,
               .into = std::move(made.into)};
  for (const op_id v : m.returned) {
    joined.model.returned.push_back(joined.into[v]);
  }
  sort_unique(joined.model.returned);
  for (const op_id v : ids(whole->num_own_ops)) { // the first ops of chains are in the order of the others
    joined.num_own_ops = std::max<std::size_t>(joined.num_own_ops, joined.into[v] + 1);
  }
  joined.frozen.resize(whole->frozen.empty() ? 0 : joined.model.ops.num_ops(), 0);
  for (const op_id v : ids(whole->frozen.size())) {
    joined.frozen[joined.into[v]] += whole->frozen[v];
  }
  const auto before = m.ops.num_ops(), after = joined.model.ops.num_ops();
  if (before == after) {
    throw error(fmt::format("--fuse has no effect on '{}': no op goes on element by element with what another one made "
                            "for it alone; leave it out", whole->spec));
  }
  joined.model.notes.push_back(fmt::format(
    "{} ops run as {}: what goes on element by element with the result of an op is part of it", before, after));
  return joined;
}

/// Files whose format says what work counts, but which other programs write otherwise: SimGrid takes the times of
/// WfFormat as FLOP.
bool leaves_unit_open(const model& m) {
  return m.unit == work_unit::own || m.format == io::json_workload_reader::format() ||
         m.format == io::wfformat_reader::format();
}

} // namespace

void state_unit(work_unit unit, input& in) {
  auto& m = in.model;
  if (m.unit != unit && !leaves_unit_open(m)) {
    throw error(fmt::format("--work: the work of '{}' ({}) is in {}; leave the option out", in.spec, m.format,
                            m.unit == work_unit::flop ? "FLOP" : "seconds"));
  }
  if (m.unit != unit && unit == work_unit::seconds) {
    for (const op_id v : ids(m.ops.num_ops())) {
      m.seconds.push_back(m.ops.work(v));
    }
    m.measured_on = device_kind::gpu;
  } else if (m.unit != unit) {
    m.seconds.clear();
    m.measured_on = {};
  }
  m.unit = unit;
}

std::shared_ptr<const model_source> open(const std::string& spec) {
  auto from = std::make_shared<model_source>(model_source{.spec = spec, .name = spec});
  if (!spec.starts_with(zoo_prefix) && !spec.starts_with(random_prefix)) {
    const auto path = std::filesystem::path{spec};
    from->name = (path.has_filename() ? path : path.parent_path()).filename().string(); // a folder may end in a slash
    from->spec = file_of(spec);
    from->bytes = io::read_file(from->spec);
    from->file = std::make_shared<const loaded_model>(parsed(from->bytes, from->spec));
  } else if (const auto at = spec.find('@'); spec.starts_with(zoo_prefix) && at != spec.npos) {
    const auto end = std::min(spec.find_first_not_of("0123456789", at + 1), spec.size());
    from->of_any_batch = std::make_shared<const model_source>(
      model_source{.spec = spec.substr(0, at) + spec.substr(end), .name = spec, .batch_at = at});
  }
  return from;
}

/// Finds the batch of a file's graph, and takes it for that of the step if no option gives one. One example cannot be
/// shared, so that then the batch is not known.
static void take_batch(std::uint64_t given, input& in) {
  in.batch = given;
  if (!in.model.graph) {
    return;
  }
  const auto found = batch_of(*in.model.graph);
  in.changes_parameters = changes_parameters(*in.model.graph);
  in.summed_by = found.summed_by != none ? (*in.model.graph)[found.summed_by].name : std::string{};
  if (given == 0 && found.size > 1) {
    in.batch = found.size;
    in.model.notes.push_back(fmt::format("the batch is taken to be {}, the outermost extent of what the model is "
                                         "given; --batch gives another one", found.size));
  }
}

/// Makes the model of the file, or the bundled network or generated graph.
static void take_model(const model_source& from, const model_options& o, input& in) {
  const auto& spec = in.spec;
  if (spec.starts_with(zoo_prefix)) {
    if (o.cache && spec.ends_with(":decode")) {
      throw error("--kv-cache: '" + spec + "' has a cache already, of as many tokens as its sequences");
    }
    if (o.train && spec.ends_with(":decode")) {
      throw error("--train: '" + spec + "' makes one token with a cache; a forward pass to train is " +
                  spec.substr(0, spec.find(':', zoo_prefix.size())) + ":inference");
    }
    auto made = make_network_with_origins(zoo_spec(from, o), o);
    in.net = std::move(made.net);
    in.model = {.ops = std::move(made.ops), .format = "bundled network"};
    in.origin = std::move(made.origin);
    in.batch = made.batch;
    take_frozen(made.frozen, in);
  } else if (spec.starts_with(random_prefix)) {
    auto made = make_random_graph(spec);
    in.name = std::move(made.name);
    in.model = std::move(made.model);
    in.ccr = made.ccr;
  } else {
    in.model = from.file->read(o);
    take_batch(o.batch, in);
    if (const auto assumed = list_assumed(in.model); !assumed.empty()) {
      in.model.notes.insert(in.model.notes.begin(), "sizes that neither the file nor an option gives: " + assumed);
    }
  }
}

/// The model with what its step is and how its numbers are stored; `from` is not kept.
static input make_input(const model_source& from, const model_options& o) {
  input in;
  in.spec = from.spec;
  in.name = from.name;
  take_model(from, o, in);
  refuse_options_of_others(o, in);
  if (!o.times.empty() && in.model.seconds.empty()) {
    throw error(
      fmt::format("--times: '{}' has no time for any op of '{}'; its nodes must be called like those of the graph",
                  o.times, in.spec));
  }
  in.num_own_ops = in.model.ops.num_ops();
  if (in.num_own_ops == 0) {
    throw error("'" + in.spec + "' has no op; there is nothing to place");
  }
  in.takes_any_unit = leaves_unit_open(in.model);
  if (o.work) {
    state_unit(*o.work, in);
  }
  if (o.freeze && !o.train && in.frozen.empty()) {
    throw error(fmt::format("--freeze is for training steps that --train makes of a forward model, and for those of "
                            "bundled networks, which '{}' is not; give --train, or leave --freeze out", in.spec));
  }
  if (o.train) {
    expand(o, in);
  } else if (o.recompute || o.recompute_least) {
    require_gradients(in);
    if (o.recompute) {
      recompute(o, in);
    }
  }
  set_memory(o, in);
  return in;
}

input made_models::of(model_options o, const std::function<input(const model_options&)>& make) const {
  constexpr std::size_t most = 12; // ways to share work ask for few batches, and for each of them often
  o.in_place = {};
  o.fuse = false;
  o.offloaded = {};
  auto found = std::ranges::find(all_, o, [](const auto& x) -> const model_options& { return x.first; });
  if (found == all_.end()) {
    auto made = std::make_shared<const input>(make(o));
    if (all_.size() == most) {
      all_.erase(all_.begin());
    }
    found = all_.insert(all_.end(), {std::move(o), std::move(made)});
  }
  std::rotate(found, found + 1, all_.end());
  return *all_.back().second;
}

input load(std::shared_ptr<const model_source> from, const model_options& o) {
  auto in = from->made.of(o, [&](const model_options& of) { return make_input(*from, of); });
  in.from = std::move(from);
  if (o.fuse) {
    in = fused(o, std::move(in));
  }
  share_memory(o, in);
  if (!o.offloaded.empty()) {
    offload(o.offloaded, in);
    in.model.notes.push_back(fmt::format("{} tensor{} on the host while nothing reads {}", o.offloaded.size(),
                                         o.offloaded.size() == 1 ? " waits" : "s wait",
                                         o.offloaded.size() == 1 ? "it" : "them"));
  }
  return in;
}

std::string list_assumed(const model& m) {
  constexpr std::size_t max_listed = 8, max_name = 200, max_alike = 4;
  using option = assumed_size::option;
  std::map<std::string_view, std::size_t> alike; // extents that ops of a type decide: more than a few are told at once
  for (const auto& x : m.assumed) {
    alike[x.type] += x.given_by == option::dimension && !x.type.empty() ? 1u : 0u;
  }
  const bool names_loops = contains(kind_of(m).takes, "--trips NAME=N");
  std::vector<std::string> texts;
  std::size_t left = m.assumed.size();
  for (const auto& x : m.assumed) {
    auto& count = alike[x.type];
    const bool is_one_of_many = x.given_by == option::dimension && !x.type.empty() && count != 1;
    if (is_one_of_many && count == 0) { // told with the first of them
      continue;
    }
    if (texts.size() == max_listed) {
      texts.push_back(fmt::format("and {} more", left));
      break;
    }
    const auto name = io::on_one_line(x.name.substr(0, max_name));
    const auto type = io::on_one_line(x.type);
    if (is_one_of_many && count > max_alike) {
      texts.push_back(fmt::format("{} extents such as {} = {} (of {}; --dim {}=N for all of them)", count, name,
                                  x.value, type, shell_word(type)));
      left -= std::exchange(count, 0);
      continue;
    }
    --left;
    const auto word = shell_word(name);
    const auto [what, how] =
      x.given_by == option::batch       ? std::pair{std::string{"batch"}, std::string{"--batch N"}}
      : x.given_by == option::dimension ? std::pair{name, fmt::format("--dim {}=N", word)}
      : x.given_by == option::shape     ? std::pair{"extents of " + name, fmt::format("--shape {}=NxN…", word)}
      : x.given_by == option::trips     ? std::pair{"rounds of " + name,
                                                    names_loops ? fmt::format("--trips {}=N", word) : "--trips N"}
                                        : std::pair{name, std::string{"no option gives it"}};
    const auto maker = type.empty() ? std::string{} : fmt::format("of {}; ", type);
    texts.push_back(fmt::format("{} = {} ({}{})", what, x.value, maker, how));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

void share_memory(const model_options& o, input& in) {
  auto& w = in.model.ops;
  if (o.in_place ? *o.in_place : in.model.format != io::json_workload_reader::format()) {
    const bool trains = is_training_step(w);
    w = with_shared_memory(w, o.in_place || !trains, in.model.returned);
  } else if (o.in_place) {
    w = w.with_output_memory(std::vector<output_memory>(w.num_ops(), output_memory::own));
  }
}

void offload(const std::vector<round_trip>& trips, input& in) {
  in.model.ops = offloaded(in.model.ops, trips);
  if (!in.model.seconds.empty()) {
    in.model.seconds.resize(in.model.ops.num_ops(), std::numeric_limits<double>::quiet_NaN());
  }
}

static const input& with_own_ops(const input& in) { return in.unfused ? *in.unfused : in; }

bool has_attentions(const input& in) {
  const auto& whole = with_own_ops(in);
  return !attentions(whole.model.ops, backward_ops(whole.model.ops)).empty();
}

std::uint32_t num_blocks(const input& in) {
  const auto& own = with_own_ops(in);
  return count_blocks(blocks_of_ops(own.model.ops, own.num_own_ops));
}

input load_with_batch(std::shared_ptr<const model_source> from, model_options o, std::uint64_t batch) {
  if (o.cache && o.cache->batch != 0) {
    o.cache->batch = batch;
  }
  o.batch = batch;
  return load(from->of_any_batch ? from->of_any_batch : std::move(from), o);
}

void check_output(const std::string& file, const input& in) {
  const auto kind = kind_of(in.model);
  if (kind.written_as.empty()) {
    throw error(fmt::format("-o writes {}, which '{}' ({}) is not; use --plan for the plan as JSON",
                            models_that([](const model_kind& k) { return !k.written_as.empty(); }), in.spec,
                            in.model.format));
  }
  if (!contains(kind.written_as, std::filesystem::path{file}.extension().string())) {
    auto endings = kind.written_as;
    std::erase(endings, std::string_view{});
    throw error(fmt::format("-o: {} are written as {}, not as '{}'; use --plan for the plan as JSON", kind.models,
                            listed(endings, "or"), file));
  }
  if (in.net && in.net->kernels() != nn::kernel_set::separate && !file.ends_with(".onnx")) {
    throw error("-o: TensorFlow has no op for what runs as one kernel in '" + in.spec + "'; give --kernels separate");
  }
}

std::vector<std::string> write_placed(const std::string& file, const input& in, const model_options& o,
                                      const placement& where, const platform<>& devices) {
  if (in.unfused) {
    placement of_each;
    for (const op_id v : in.into) {
      of_each.push_back(where[v]);
    }
    return write_placed(file, *in.unfused, o, of_each, devices);
  }
  std::vector<std::string> notes;
  io::write_file(file, [&](std::ostream& out) {
    const placed_input p{in, o, where, devices};
    if (!in.net) {
      notes = in.from->file->write_placed(out, p);
      return;
    }
    const auto extension = std::filesystem::path{file}.extension().string();
    for (const auto& f : file_formats()) {
      if (contains(f.networks_as, extension)) {
        f.write_network(out, extension, p);
      }
    }
  });
  return notes;
}

void check_split(const std::string& folder, const input& in) {
  if (in.unfused) {
    throw error("--split cuts between the ops of the file, and --fuse joins them; leave one of them out");
  }
  if (!in.from->file || !in.from->file->write_split) {
    throw error(fmt::format("--split cuts ONNX models, which '{}' ({}) is not; -o writes other models with devices",
                            in.spec, in.model.format));
  }
  in.from->file->check_split(folder);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!std::filesystem::is_directory(folder)) {
    throw error(fmt::format("--split {}: the folder cannot be made{}{}", folder, failed ? ": " : "",
                            failed ? failed.message() : std::string{}));
  }
  io::require_writable(std::filesystem::path{folder} / "manifest.json");
}

std::vector<std::string> write_split(const std::string& folder, const input& in, const model_options& o,
                                     const placement& where, const platform<>& devices, const trace& run) {
  return in.from->file->write_split(folder, {in, o, where, devices}, run);
}

} // namespace tool
