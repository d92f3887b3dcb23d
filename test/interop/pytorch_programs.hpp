// SPDX-License-Identifier: BSL-1.0
/// Exported programs for tests, in torch.export's schema and archives.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zip.h>

namespace weft_test {

/// Builds the JSON that torch.export.save writes, in schema version 8.
class exported_program {
public:
  using json = nlohmann::json;
  enum element : int { i64 = 5, f16 = 6, f32 = 7, boolean = 12, bf16 = 13 };

  static json tensor(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }
  static json tensors(const std::vector<std::string>& names) {
    json list = json::array();
    for (const auto& name : names) {
      list.push_back({{"name", name}});
    }
    return {{"as_tensors", list}};
  }
  static json ints(const std::vector<std::int64_t>& list) { return {{"as_ints", list}}; }
  static json none() { return {{"as_none", true}}; }
  /// `8`, or a symbol: `s0`, or with a hint `s0:8`.
  static json size(const std::string& text) {
    if (text.find_first_not_of("0123456789") == text.npos) {
      return {{"as_int", std::stoll(text)}};
    }
    const auto colon = text.rfind(':');
    json hint;
    if (colon != text.npos) {
      hint = {{"as_int", std::stoll(text.substr(colon + 1))}};
    }
    return {{"as_expr", {{"expr_str", text.substr(0, colon)}, {"hint", hint}}}};
  }

  /// The shape of a tensor, which nodes and inputs need.
  exported_program& shape(const std::string& name, const std::vector<std::string>& dims, int type = f32) {
    json sizes = json::array();
    json strides = json::array();
    for (const auto& d : dims) {
      sizes.push_back(size(d));
      strides.push_back({{"as_int", 1}});
    }
    values_[name] = {{"dtype", type},
                     {"sizes", sizes},
                     {"requires_grad", false},
                     {"device", {{"type", "cpu"}, {"index", nullptr}}},
                     {"strides", strides},
                     {"storage_offset", {{"as_int", 0}}},
                     {"layout", 7}};
    return *this;
  }
  exported_program& input(const std::string& name, const std::vector<std::string>& dims, int type = f32) {
    inputs_.push_back(tensor(name));
    specs_.push_back({{"user_input", {{"arg", tensor(name)}}}});
    return shape(name, dims, type);
  }
  exported_program& parameter(const std::string& name, const std::vector<std::string>& dims, int type = f32) {
    inputs_.push_back(tensor(name));
    specs_.push_back({{"parameter", {{"arg", {{"name", name}}}, {"parameter_name", name.substr(2)}}}});
    return shape(name, dims, type);
  }
  exported_program& buffer(const std::string& name, const std::vector<std::string>& dims, int type = f32) {
    inputs_.push_back(tensor(name));
    specs_.push_back({{"buffer", {{"arg", {{"name", name}}}, {"buffer_name", name.substr(2)}, {"persistent", true}}}});
    return shape(name, dims, type);
  }
  /// A node with its arguments by name; a bare text is a tensor.
  exported_program& node(const std::string& target, const std::vector<std::pair<std::string, json>>& arguments,
                         const json& outputs) {
    json list = json::array();
    for (const auto& [name, value] : arguments) {
      list.push_back(
        {{"name", name}, {"arg", value.is_string() ? tensor(value.get<std::string>()) : value}, {"kind", 1}});
    }
    nodes_.push_back({{"target", target},
                      {"inputs", list},
                      {"outputs", outputs},
                      {"metadata", {{"stack_trace", "  File \"net.py\", line 3, in forward\n"}}}});
    return *this;
  }
  /// One with a single result of that shape.
  exported_program& node(const std::string& target, const std::vector<std::pair<std::string, json>>& arguments,
                         const std::string& result, const std::vector<std::string>& dims, int type = f32) {
    shape(result, dims, type);
    return node(target, arguments, json::array({tensor(result)}));
  }
  /// The same of PyTorch's own operators: `relu`, or with an overload `add.Tensor`.
  exported_program& aten(const std::string& type, const std::vector<std::pair<std::string, json>>& arguments,
                         const json& outputs) {
    return node("torch.ops.aten." + type + (type.find('.') == type.npos ? ".default" : ""), arguments, outputs);
  }
  exported_program& aten(const std::string& type, const std::vector<std::pair<std::string, json>>& arguments,
                         const std::string& result, const std::vector<std::string>& dims) {
    return shape(result, dims).aten(type, arguments, json::array({tensor(result)}));
  }
  exported_program& output_spec(json spec) {
    output_specs_.push_back(std::move(spec));
    return *this;
  }

  json graph() const {
    return {{"inputs", inputs_},        {"outputs", outputs_},         {"nodes", nodes_},
            {"tensor_values", values_}, {"sym_int_values", symbols_},  {"sym_bool_values", json::object()},
            {"is_single_tensor_return", false}, {"custom_obj_values", json::object()}};
  }
  exported_program& returns(const std::vector<std::string>& names) {
    for (const auto& name : names) {
      outputs_.push_back(tensor(name));
    }
    return *this;
  }
  exported_program& scalar(const std::string& name, const std::string& text) {
    symbols_[name] = size(text);
    return *this;
  }
  json document() const {
    return {{"graph_module",
             {{"graph", graph()},
              {"signature", {{"input_specs", specs_}, {"output_specs", output_specs_}}},
              {"module_call_graph", json::array()},
              {"metadata", json::object()}}},
            {"opset_version", {{"aten", 10}}},
            {"range_constraints", json::object()},
            {"schema_version", {{"major", 8}, {"minor", 5}}},
            {"verifiers", {"TRAINING"}},
            {"torch_version", "2.7.0"}};
  }
  std::string text() const { return document().dump(); }

private:
  json inputs_ = json::array(), outputs_ = json::array(), nodes_ = json::array();
  json values_ = json::object(), symbols_ = json::object();
  json specs_ = json::array(), output_specs_ = json::array();
};

/// A zip archive with these entries, compressed or not.
inline std::string zip_of(const std::vector<std::pair<std::string, std::string>>& entries, bool compressed = false) {
  zip_error_t problem;
  zip_error_init(&problem);
  zip_source_t* target = zip_source_buffer_create(nullptr, 0, 0, &problem);
  zip_source_keep(target);
  zip_t* archive = zip_open_from_source(target, ZIP_TRUNCATE, &problem);
  for (const auto& [name, content] : entries) {
    zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const auto at = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(at), compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0) {
    throw std::runtime_error{"zip_close"};
  }
  std::string bytes;
  zip_source_open(target);
  char part[4096];
  for (zip_int64_t n = 1; n > 0;) {
    n = zip_source_read(target, part, sizeof part);
    bytes.append(part, static_cast<std::size_t>(n > 0 ? n : 0));
  }
  zip_source_close(target);
  zip_source_free(target);
  return bytes;
}

} // namespace weft_test
