// SPDX-License-Identifier: BSL-1.0
/// One function per file format that takes any bytes: it returns if they are read or refused as they should be, and
/// throws anything but a `weft::error` if not. The build makes a fuzzer of each.
#pragma once

#include "fuzz/expect.hpp"
#include "io/support.hpp"
#include "weft/io/buffers.hpp"
#include "weft/io/hwloc_xml.hpp"
#include "weft/io/iopddl.hpp"
#include "weft/io/json.hpp"
#include "weft/io/lscpu.hpp"
#include "weft/io/nvidia_smi.hpp"
#include "weft/io/read.hpp"
#include "weft/io/slurm.hpp"
#include "weft/platform/described_machine.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::test::fuzz {

/// Reads the bytes; if that works, writes what came out, which must read back as the same.
template <class Read, class Write, class Same>
void read_and_write(std::string_view bytes, const Read& read, const Write& write, const Same& same) {
  bool written = false; // from then on nothing may be refused
  try {
    std::istringstream in{std::string{bytes}};
    const auto value = read(in);
    const auto text = weft_test::text_of([&](std::ostream& out) { write(out, value); });
    written = true;
    std::istringstream again{text};
    const auto copy = read(again);
    expect(same(value, copy), "what was written does not read back as the same");
    expect(text == weft_test::text_of([&](std::ostream& out) { write(out, copy); }),
           "a second copy is written differently");
  } catch (const error& e) {
    expect_one_line(e);
    expect(!written, "what was written is refused");
  }
}

inline void workload_csv(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_workload_csv(in); },
    [](std::ostream& out, const workload& w) { io::write_workload_csv(out, w); },
    [&](const workload& a, const workload& b) { // carriage returns in names are not kept
      return bytes.find('\r') != bytes.npos || weft_test::same(a, b);
    });
}

inline void platform_csv(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_platform_csv(in); },
    [](std::ostream& out, const platform<>& p) { io::write_platform_csv(out, p); },
    [](platform<> a, platform<> b) { // names are not kept
      a.set_names(std::vector<std::string>(a.num_devices()));
      b.set_names(std::vector<std::string>(b.num_devices()));
      return weft_test::same_platform(a, b);
    });
}

inline void workload_json(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_workload_json(in); },
    [](std::ostream& out, const workload& w) { io::write_workload_json(out, w); }, weft_test::same);
}

inline void platform_json(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_platform_json(in); },
    [](std::ostream& out, const platform<>& p) { io::write_platform_json(out, p); },
    weft_test::same_platform<platform<>, platform<>>);
}

inline void plan_json(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_plan_record_json(in); },
    [](std::ostream& out, const io::plan_record& r) { io::write_plan_json(out, r); }, std::equal_to<io::plan_record>{});
}

inline void trace_json(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_trace_json(in); },
    [](std::ostream& out, const trace& t) { io::write_trace_json(out, t); }, std::equal_to<trace>{});
}

inline void profile_json(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_profile_json(in); },
    [](std::ostream& out, const concurrency::profile& p) { io::write_profile_json(out, p); },
    std::equal_to<concurrency::profile>{});
}

/// Reads the bytes as a model, whether or not the reader recognises them.
template <io::model_reader Reader>
model model_of(std::istream& in, const Reader& reader = {}) {
  const std::string bytes = io::read_all(in, "input");
  static_cast<void>(reader.recognises(bytes));
  auto m = checked(reader.read(bytes, "input"));
  expect(m.seconds.empty() == m.measured_on.empty(), "times are measured nowhere");
  return m;
}

inline void workload_stg(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return model_of<io::stg_reader>(in).ops; },
    [](std::ostream& out, const workload& w) { io::write_workload_stg(out, w); },
    [](const workload& a, const workload& b) { // dummies are added, and sizes are not kept
      const auto tensors = ids(a.num_tensors());
      return a.num_ops() != b.num_ops() || weft_test::same(a, b) ||
             std::ranges::any_of(tensors, [&](tensor_id t) { return a.bytes(t) > 0; });
    });
}

inline void dnn_partitioning(std::string_view bytes) {
  read_and_write(
    bytes,
    [](std::istream& in) {
      const std::string text = io::read_all(in, "input");
      std::istringstream again{text};
      auto problem = io::read_dnn_partitioning(again);
      expect(checked(io::dnn_partitioning_reader::read(text, "input")).ops.num_ops() == problem.ops.num_ops(),
             "the model is another one than the problem");
      return problem;
    },
    [](std::ostream& out, const io::dnn_partitioning& x) { io::write_dnn_partitioning(out, x); },
    [](const io::dnn_partitioning& a, const io::dnn_partitioning& b) {
      return weft_test::same(a.ops, b.ops) && weft_test::same_platform(a.devices, b.devices) && a.ids == b.ids &&
             a.cost.times().host == b.cost.times().host && a.cost.times().accelerator == b.cost.times().accelerator &&
             a.cost.times().transfer == b.cost.times().transfer;
    });
}

/// The same ops, tensors and times.
inline bool same_model(const model& a, const model& b) {
  return weft_test::same(a.ops, b.ops) &&
         std::equal(a.seconds.begin(), a.seconds.end(), b.seconds.begin(), b.seconds.end(),
                    [](double x, double y) { return x == y || (x != x && y != y); });
}

inline void wfformat(std::string_view bytes) {
  read_and_write(
    bytes,
    [](std::istream& in) {
      auto m = model_of<io::wfformat_reader>(in);
      m.seconds.resize(m.ops.num_ops(), std::numeric_limits<double>::quiet_NaN()); // as the writer takes them
      return m;
    },
    [](std::ostream& out, const model& m) { io::write_wfformat(out, m.ops, m.seconds); }, same_model);
}

inline void hyperdag(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return model_of<io::hyperdag_reader>(in); },
    [](std::ostream& out, const model& m) { io::write_hyperdag(out, m.ops); }, same_model);
}

inline void bsp_machine(std::string_view bytes) {
  read_and_write(
    bytes,
    [](std::istream& in) {
      const std::string text = io::read_all(in, "input");
      static_cast<void>(io::bsp_machine_reader::recognises(text));
      return text.starts_with('{') ? io::json_platform_reader::read(text, "input") // as it was written
                                   : io::bsp_machine_reader::read(text, "input");
    },
    [](std::ostream& out, const platform<>& p) { io::write_platform_json(out, p); },
    weft_test::same_platform<platform<>, platform<>>);
}

inline void dot(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return model_of<io::dot_reader>(in); },
    [](std::ostream& out, const model& m) { io::write_dot(out, m.ops); }, same_model);
}

/// Reads what must not be written, since no writer is there.
template <class Read>
void read_only(std::string_view bytes, const Read& read) {
  refused_in_one_line([&] { read(std::string{bytes}); });
}

inline void dax(std::string_view bytes) {
  read_only(bytes, [](const std::string& text) {
    std::istringstream in{text};
    static_cast<void>(model_of<io::dax_reader>(in));
  });
}

inline void pipedream(std::string_view bytes) {
  for (const bool backward : {false, true}) {
    read_only(bytes, [&](const std::string& text) {
      std::istringstream in{text};
      static_cast<void>(model_of(in, io::pipedream_reader{.backward_ops = backward}));
    });
  }
}

inline void job_shop(std::string_view bytes) {
  read_only(bytes, [](const std::string& text) {
    std::istringstream in{text};
    const auto m = model_of<io::job_shop_reader>(in);
    const auto shop = io::read_job_shop(text, "input");
    expect(weft_test::same(m.ops, shop.ops), "the model is another one than the problem");
    for (const op_id v : ids(shop.ops.num_ops())) {
      const auto can = shop.cost.of(v);
      expect(!can.empty() &&
               std::ranges::all_of(can, [&](const auto& e) { return e.device < shop.devices.num_devices(); }),
             "an operation has no machine, or one that is not there");
    }
  });
}

inline void iopddl(std::string_view bytes) {
  read_only(bytes, [](const std::string& text) {
    std::istringstream in{text};
    const auto p = io::read_iopddl(in, "input");
    for (const auto e : ids(p.num_edges())) {
      const auto& edge = p.edge(e);
      expect(p.edge_costs(e).size() == p.num_variants(edge.from) * p.num_variants(edge.to), "an edge lacks costs");
    }
  });
}

inline void buffers(std::string_view bytes) {
  read_and_write(
    bytes, [](std::istream& in) { return io::read_buffers(io::read_all(in, "input"), "input"); },
    [](std::ostream& out, const io::buffer_list& all) { io::write_buffers(out, all); },
    std::equal_to<io::buffer_list>{});
}

/// Finding out what bytes are, for models and platforms.
inline void recognition(std::string_view bytes) {
  read_only(bytes, [](const std::string& text) { static_cast<void>(checked(io::model_from(text, "input"))); });
  read_only(bytes, [](const std::string& text) { static_cast<void>(io::platform_from(text, "input")); });
}

/// Reads a list of a machine, and makes a platform of it alone if something is said of what it lacks.
template <class Reader, class Keep>
void machine_list(std::string_view bytes, const Keep& keep) {
  read_only(bytes, [&](const std::string& text) {
    static_cast<void>(Reader::recognises(text));
    inventory::listing all;
    keep(all, Reader::read(text, "input"));
    machine_assumptions assumed{.host_speed = all.host ? 0 : 1e12, .network_bandwidth = 1e9};
    if (!all.nodes.empty()) {
      assumed.types["gpu"] = "Tesla T4";
    }
    const auto made = describe_machine(all, assumed);
    std::stringstream copy;
    io::write_platform_json(copy, made.devices, made.notes.empty() ? "" : made.notes.front());
    expect(weft_test::same_platform(made.devices, io::read_platform_json(copy)), "a platform does not read back");
  });
}

inline void gpu_list(std::string_view bytes) {
  machine_list<io::gpu_list_reader>(bytes, [](auto& all, auto x) { all.gpus = std::move(x); });
}
inline void gpu_matrix(std::string_view bytes) {
  machine_list<io::gpu_matrix_reader>(bytes, [](auto& all, inventory::matrix x) {
    const auto gpus = std::count_if(x.parts.begin(), x.parts.end(), [](const auto& p) { return p.is_gpu; });
    all.gpus.assign(static_cast<std::size_t>(gpus), {.name = "NVIDIA A100-SXM4-80GB"});
    all.joined = std::move(x);
  });
}
inline void lscpu(std::string_view bytes) {
  machine_list<io::lscpu_reader>(bytes, [](auto& all, auto x) { all.host = std::move(x); });
}
inline void meminfo(std::string_view bytes) {
  machine_list<io::meminfo_reader>(bytes, [](auto& all, auto x) { all.memory = x; });
}
inline void hwloc_xml(std::string_view bytes) {
  machine_list<io::hwloc_xml_reader>(bytes, [](auto& all, auto x) { all = std::move(x); });
}
inline void slurm_nodes(std::string_view bytes) {
  machine_list<io::scontrol_reader>(bytes, [](auto& all, auto x) { all.nodes = std::move(x); });
  machine_list<io::sinfo_reader>(bytes, [](auto& all, auto x) { all.nodes = std::move(x); });
}

struct named_reader {
  const char* name; ///< of the function, and of the folder with its corpus
  void (*read)(std::string_view bytes);
};

inline constexpr named_reader readers[]{{"workload_csv", workload_csv},
                                        {"platform_csv", platform_csv},
                                        {"workload_json", workload_json},
                                        {"platform_json", platform_json},
                                        {"plan_json", plan_json},
                                        {"trace_json", trace_json},
                                        {"profile_json", profile_json},
                                        {"workload_stg", workload_stg},
                                        {"dnn_partitioning", dnn_partitioning},
                                        {"wfformat", wfformat},
                                        {"hyperdag", hyperdag},
                                        {"bsp_machine", bsp_machine},
                                        {"dax", dax},
                                        {"pipedream", pipedream},
                                        {"job_shop", job_shop},
                                        {"iopddl", iopddl},
                                        {"buffers", buffers},
                                        {"dot", dot},
                                        {"gpu_list", gpu_list},
                                        {"gpu_matrix", gpu_matrix},
                                        {"lscpu", lscpu},
                                        {"meminfo", meminfo},
                                        {"hwloc_xml", hwloc_xml},
                                        {"slurm_nodes", slurm_nodes},
                                        {"recognition", recognition}};

} // namespace weft::test::fuzz
