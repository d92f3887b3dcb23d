// SPDX-License-Identifier: BSL-1.0
/// The messages of TensorFlow's graph files: names, numbers and types of their fields.
///
/// Source: tensorflow/core/framework/{graph, node_def, attr_value, tensor, tensor_shape, resource_handle, types,
/// versions, function, op_def, full_type, cost_graph, step_stats, tensor_description, allocation_description}.proto and
/// tensorflow/core/protobuf/{config (RunMetadata), saved_model, meta_graph}.proto.
#pragma once

#include "weft/core/config.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace weft::tensorflow::schema {

/// The type of a field. A field that is `unread` may hold anything: it is accepted and not kept, since nothing depends
/// on it.
enum class type : std::uint8_t {
  int32, int64, uint32, uint64, boolean, float32, float64, text, data_type, unread, message
};

enum class message_id : std::uint8_t {
  none, graph_def, node_def, debug_info, attr_value, list_value, name_attr_list, tensor_proto, tensor_shape, dim,
  resource_handle, dtype_and_shape, variant_data, version_def, library, function_def, gradient_def,
  registered_gradient, op_def, arg_def, attr_def, op_deprecation, full_type, attr_entry, arg_attr_entry, arg_attrs,
  number_entry, text_entry, cost_graph_def, cost_node, input_info, output_info, aggregated_cost, step_stats, dev_stats,
  thread_entry, node_stats, memory_used, allocation_record, node_output, memory_stats, tensor_description,
  allocation_description, run_metadata, function_graphs, session_metadata, saved_model, meta_graph, meta_info,
  signature_entry, signature, tensor_entry, tensor_info, coo_sparse, composite_tensor,
  count
};

/// The fields that a message may hold.
struct field {
  std::string_view name;
  std::uint32_t number = 0;
  schema::type type = type::message;
  bool repeated = false;
  message_id of = message_id::none; ///< what a message field holds

  constexpr field(std::string_view called, std::uint32_t n, schema::type t, bool many = false)
      : name{called}, number{n}, type{t}, repeated{many} {}
  constexpr field(std::string_view called, std::uint32_t n, message_id held, bool many = false)
      : name{called}, number{n}, repeated{many}, of{held} {}
  /// The head of a message in the table of all fields.
  constexpr field(std::string_view message, bool one_of = false) : name{message}, repeated{one_of} {}
};

struct message {
  std::string_view name;
  std::span<const field> fields;
  bool one_of = false; ///< at most one of its fields may be given
};

namespace detail {

using enum type;
using enum message_id;
inline constexpr bool many = true;
inline constexpr bool one_of = true;

/// The messages in the order of `message_id`: the name of each, then its fields.
inline constexpr schema::field table[] = {
  {"GraphDef"}, {"node", 1, node_def, many}, {"library", 2, library}, {"version", 3, int32},
    {"versions", 4, version_def},
  {"NodeDef"}, {"name", 1, text}, {"op", 2, text}, {"input", 3, text, many}, {"device", 4, text},
    {"attr", 5, attr_entry, many}, {"experimental_debug_info", 6, debug_info}, {"experimental_type", 7, full_type},
  {"ExperimentalDebugInfo"}, {"original_node_names", 1, text, many}, {"original_func_names", 2, text, many},
  {"AttrValue", one_of}, {"list", 1, list_value}, {"s", 2, text}, {"i", 3, int64}, {"f", 4, float32}, {"b", 5, boolean},
    {"type", 6, data_type}, {"shape", 7, tensor_shape}, {"tensor", 8, tensor_proto}, {"placeholder", 9, text},
    {"func", 10, name_attr_list},
  {"ListValue"}, {"s", 2, text, many}, {"i", 3, int64, many}, {"f", 4, float32, many}, {"b", 5, boolean, many},
    {"type", 6, data_type, many}, {"shape", 7, tensor_shape, many}, {"tensor", 8, tensor_proto, many},
    {"func", 9, name_attr_list, many},
  {"NameAttrList"}, {"name", 1, text}, {"attr", 2, attr_entry, many},
  {"TensorProto"}, {"dtype", 1, data_type}, {"tensor_shape", 2, tensor_shape}, {"version_number", 3, int32},
    {"tensor_content", 4, text}, {"float_val", 5, float32, many}, {"double_val", 6, float64, many},
    {"int_val", 7, int32, many}, {"string_val", 8, text, many}, {"scomplex_val", 9, float32, many},
    {"int64_val", 10, int64, many}, {"bool_val", 11, boolean, many}, {"dcomplex_val", 12, float64, many},
    {"half_val", 13, int32, many}, {"resource_handle_val", 14, resource_handle, many},
    {"variant_val", 15, variant_data, many}, {"uint32_val", 16, uint32, many}, {"uint64_val", 17, uint64, many},
    {"float8_val", 18, text},
  {"TensorShapeProto"}, {"dim", 2, dim, many}, {"unknown_rank", 3, boolean},
  {"Dim"}, {"size", 1, int64}, {"name", 2, text},
  {"ResourceHandleProto"}, {"device", 1, text}, {"container", 2, text}, {"name", 3, text}, {"hash_code", 4, uint64},
    {"maybe_type_name", 5, text}, {"dtypes_and_shapes", 6, dtype_and_shape, many},
  {"DtypeAndShape"}, {"dtype", 1, data_type}, {"shape", 2, tensor_shape},
  {"VariantTensorDataProto"}, {"type_name", 1, text}, {"metadata", 2, text}, {"tensors", 3, tensor_proto, many},
  {"VersionDef"}, {"producer", 1, int32}, {"min_consumer", 2, int32}, {"bad_consumers", 3, int32, many},
  {"FunctionDefLibrary"}, {"function", 1, function_def, many}, {"gradient", 2, gradient_def, many},
    {"registered_gradients", 3, registered_gradient, many},
  {"FunctionDef"}, {"signature", 1, op_def}, {"node_def", 3, node_def, many}, {"ret", 4, text_entry, many},
    {"attr", 5, attr_entry, many}, {"control_ret", 6, text_entry, many}, {"arg_attr", 7, arg_attr_entry, many},
    {"resource_arg_unique_id", 8, number_entry, many},
  {"GradientDef"}, {"function_name", 1, text}, {"gradient_func", 2, text},
  {"RegisteredGradient"}, {"gradient_func", 1, text}, {"registered_op_type", 2, text},
  {"OpDef"}, {"name", 1, text}, {"input_arg", 2, arg_def, many}, {"output_arg", 3, arg_def, many},
    {"attr", 4, attr_def, many}, {"summary", 5, text}, {"description", 6, text}, {"deprecation", 8, op_deprecation},
    {"is_aggregate", 16, boolean}, {"is_stateful", 17, boolean}, {"is_commutative", 18, boolean},
    {"allows_uninitialized_input", 19, boolean}, {"control_output", 20, text, many},
    {"is_distributed_communication", 21, boolean},
  {"ArgDef"}, {"name", 1, text}, {"description", 2, text}, {"type", 3, data_type}, {"type_attr", 4, text},
    {"number_attr", 5, text}, {"type_list_attr", 6, text}, {"handle_data", 7, dtype_and_shape, many},
    {"is_ref", 16, boolean}, {"experimental_full_type", 17, full_type},
  {"AttrDef"}, {"name", 1, text}, {"type", 2, text}, {"default_value", 3, attr_value}, {"description", 4, text},
    {"has_minimum", 5, boolean}, {"minimum", 6, int64}, {"allowed_values", 7, attr_value},
  {"OpDeprecation"}, {"version", 1, int32}, {"explanation", 2, text},
  {"FullTypeDef"}, {"type_id", 1, unread}, {"args", 2, full_type, many}, {"s", 3, text}, {"i", 4, int64},
  {"AttrEntry"}, {"key", 1, text}, {"value", 2, attr_value},
  {"ArgAttrEntry"}, {"key", 1, uint32}, {"value", 2, arg_attrs}, {"ArgAttrs"}, {"attr", 1, attr_entry, many},
  {"NumberEntry"}, {"key", 1, uint32}, {"value", 2, uint32}, {"TextEntry"}, {"key", 1, text}, {"value", 2, text},
  {"CostGraphDef"}, {"node", 1, cost_node, many}, {"cost", 2, aggregated_cost, many},
  {"CostNode"}, {"name", 1, text}, {"device", 2, text}, {"id", 3, int32}, {"input_info", 4, input_info, many},
    {"output_info", 5, output_info, many}, {"temporary_memory_size", 6, int64}, {"is_final", 7, boolean},
    {"control_input", 8, int32, many}, {"compute_cost", 9, int64}, {"host_temp_memory_size", 10, int64},
    {"device_temp_memory_size", 11, int64}, {"persistent_memory_size", 12, int64}, {"compute_time", 14, int64},
    {"memory_time", 15, int64}, {"device_persistent_memory_size", 16, int64}, {"inaccurate", 17, boolean},
  {"InputInfo"}, {"preceding_node", 1, int32}, {"preceding_port", 2, int32},
  {"OutputInfo"}, {"size", 1, int64}, {"alias_input_port", 2, int64}, {"shape", 3, tensor_shape},
    {"dtype", 4, data_type},
  {"AggregatedCost"}, {"cost", 1, float32}, {"dimension", 2, text}, {"StepStats"}, {"dev_stats", 1, dev_stats, many},
  {"DeviceStepStats"}, {"device", 1, text}, {"node_stats", 2, node_stats, many},
    {"thread_names", 3, thread_entry, many},
  {"ThreadEntry"}, {"key", 1, uint32}, {"value", 2, text},
  {"NodeExecStats"}, {"node_name", 1, text}, {"all_start_micros", 2, int64}, {"op_start_rel_micros", 3, int64},
    {"op_end_rel_micros", 4, int64}, {"all_end_rel_micros", 5, int64}, {"memory", 6, memory_used, many},
    {"output", 7, node_output, many}, {"timeline_label", 8, text}, {"scheduled_micros", 9, int64},
    {"thread_id", 10, uint32}, {"referenced_tensor", 11, allocation_description, many},
    {"memory_stats", 12, memory_stats}, {"all_start_nanos", 13, int64}, {"op_start_rel_nanos", 14, int64},
    {"op_end_rel_nanos", 15, int64}, {"all_end_rel_nanos", 16, int64}, {"scheduled_nanos", 17, int64},
  {"AllocatorMemoryUsed"}, {"allocator_name", 1, text}, {"total_bytes", 2, int64}, {"peak_bytes", 3, int64},
    {"live_bytes", 4, int64}, {"allocator_bytes_in_use", 5, int64}, {"allocation_records", 6, allocation_record, many},
  {"AllocationRecord"}, {"alloc_micros", 1, int64}, {"alloc_bytes", 2, int64},
  {"NodeOutput"}, {"slot", 1, int32}, {"tensor_description", 3, tensor_description},
  {"MemoryStats"}, {"temp_memory_size", 1, int64}, {"device_temp_memory_size", 2, int64},
    {"persistent_memory_size", 3, int64}, {"device_persistent_memory_size", 4, int64},
    {"persistent_tensor_alloc_ids", 5, int64, many}, {"device_persistent_tensor_alloc_ids", 6, int64, many},
  {"TensorDescription"}, {"dtype", 1, data_type}, {"shape", 2, tensor_shape},
    {"allocation_description", 4, allocation_description},
  {"AllocationDescription"}, {"requested_bytes", 1, int64}, {"allocated_bytes", 2, int64}, {"allocator_name", 3, text},
    {"allocation_id", 4, int64}, {"has_single_reference", 5, boolean}, {"ptr", 6, uint64},
  {"RunMetadata"}, {"step_stats", 1, step_stats}, {"cost_graph", 2, cost_graph_def},
    {"partition_graphs", 3, graph_def, many}, {"function_graphs", 4, function_graphs, many},
    {"session_metadata", 5, session_metadata},
  {"FunctionGraphs"}, {"partition_graphs", 1, graph_def, many}, {"pre_optimization_graph", 2, graph_def},
    {"post_optimization_graph", 3, graph_def},
  {"SessionMetadata"}, {"name", 1, text}, {"version", 2, int64},
  {"SavedModel"}, {"saved_model_schema_version", 1, int64}, {"meta_graphs", 2, meta_graph, many},
  {"MetaGraphDef"}, {"meta_info_def", 1, meta_info}, {"graph_def", 2, graph_def}, {"saver_def", 3, unread},
    {"collection_def", 4, unread, many}, {"signature_def", 5, signature_entry, many},
    {"asset_file_def", 6, unread, many}, {"object_graph_def", 7, unread},
  {"MetaInfoDef"}, {"meta_graph_version", 1, text}, {"stripped_op_list", 2, unread}, {"any_info", 3, unread},
    {"tags", 4, text, many}, {"tensorflow_version", 5, text}, {"tensorflow_git_version", 6, text},
    {"stripped_default_attrs", 7, boolean}, {"function_aliases", 8, unread, many},
  {"SignatureDefEntry"}, {"key", 1, text}, {"value", 2, signature},
  {"SignatureDef"}, {"inputs", 1, tensor_entry, many}, {"outputs", 2, tensor_entry, many}, {"method_name", 3, text},
    {"defaults", 4, unread, many},
  {"TensorInfoEntry"}, {"key", 1, text}, {"value", 2, tensor_info},
  {"TensorInfo"}, {"name", 1, text}, {"dtype", 2, data_type}, {"tensor_shape", 3, tensor_shape},
    {"coo_sparse", 4, coo_sparse}, {"composite_tensor", 5, composite_tensor},
  {"CooSparse"}, {"values_tensor_name", 1, text}, {"indices_tensor_name", 2, text},
    {"dense_shape_tensor_name", 3, text},
  {"CompositeTensor"}, {"type_spec", 1, unread}, {"components", 2, tensor_info, many}};

constexpr auto messages_of_table() {
  std::array<schema::message, static_cast<std::size_t>(count)> all{};
  std::size_t m = 0;
  for (std::size_t at = 0, end = 0; at < std::size(table); at = end) {
    for (end = at + 1; end < std::size(table) && table[end].number != 0; ++end) {
    }
    all[++m] = {table[at].name, std::span{table}.subspan(at + 1, end - at - 1), table[at].repeated};
  }
  return all;
}

} // namespace detail

inline constexpr auto messages = detail::messages_of_table();
static_assert(messages.back().name == "CompositeTensor");

constexpr const message& of(message_id id) { return messages[static_cast<std::size_t>(id)]; }

/// The field of a message whose `member`, its name or its number, has this value; null if there is none.
template <class Value>
constexpr const field* find(const message& m, Value field::* member, const Value& value) {
  for (const auto& f : m.fields) {
    if (f.*member == value) {
      return &f;
    }
  }
  return nullptr;
}

} // namespace weft::tensorflow::schema
