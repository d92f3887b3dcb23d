// SPDX-License-Identifier: BSL-1.0
/// The messages of TensorFlow's graph files: names, numbers and types of their fields.
///
/// Source: tensorflow/core/framework/{graph, node_def, attr_value, tensor, tensor_shape, resource_handle, types,
/// versions, function, op_def, full_type, cost_graph, step_stats, tensor_description, allocation_description}.proto and
/// tensorflow/core/protobuf/{config (RunMetadata), saved_model, meta_graph}.proto.
#pragma once

#include "weft/core/config.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weft::tensorflow::schema {

/// The type of a field. A field that is `unread` may hold anything: it is accepted and not kept, since nothing depends
/// on it.
enum class type : std::uint8_t {
  int32,
  int64,
  uint32,
  uint64,
  boolean,
  float32,
  float64,
  text,
  data_type,
  unread,
  message
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

struct field {
  std::string_view name;
  std::uint32_t number;
  schema::type type;
  bool repeated = false;
  message_id of = message_id::none; ///< what a message field holds
};

struct message {
  std::string_view name;
  std::span<const field> fields;
  bool one_of = false; ///< at most one of its fields may be given
};

namespace detail {

using enum type;
inline constexpr bool many = true;
using id = message_id;

inline constexpr std::array graph_def{field{"node", 1, message, many, id::node_def},
                                      field{"library", 2, message, false, id::library},
                                      field{"version", 3, int32},
                                      field{"versions", 4, message, false, id::version_def}};
inline constexpr std::array node_def{field{"name", 1, text},
                                     field{"op", 2, text},
                                     field{"input", 3, text, many},
                                     field{"device", 4, text},
                                     field{"attr", 5, message, many, id::attr_entry},
                                     field{"experimental_debug_info", 6, message, false, id::debug_info},
                                     field{"experimental_type", 7, message, false, id::full_type}};
inline constexpr std::array debug_info{field{"original_node_names", 1, text, many},
                                       field{"original_func_names", 2, text, many}};
inline constexpr std::array attr_value{field{"list", 1, message, false, id::list_value},
                                       field{"s", 2, text},
                                       field{"i", 3, int64},
                                       field{"f", 4, float32},
                                       field{"b", 5, boolean},
                                       field{"type", 6, data_type},
                                       field{"shape", 7, message, false, id::tensor_shape},
                                       field{"tensor", 8, message, false, id::tensor_proto},
                                       field{"placeholder", 9, text},
                                       field{"func", 10, message, false, id::name_attr_list}};
inline constexpr std::array list_value{field{"s", 2, text, many},
                                       field{"i", 3, int64, many},
                                       field{"f", 4, float32, many},
                                       field{"b", 5, boolean, many},
                                       field{"type", 6, data_type, many},
                                       field{"shape", 7, message, many, id::tensor_shape},
                                       field{"tensor", 8, message, many, id::tensor_proto},
                                       field{"func", 9, message, many, id::name_attr_list}};
inline constexpr std::array name_attr_list{field{"name", 1, text}, field{"attr", 2, message, many, id::attr_entry}};
inline constexpr std::array attr_entry{field{"key", 1, text}, field{"value", 2, message, false, id::attr_value}};
inline constexpr std::array tensor_proto{field{"dtype", 1, data_type},
                                         field{"tensor_shape", 2, message, false, id::tensor_shape},
                                         field{"version_number", 3, int32},
                                         field{"tensor_content", 4, text},
                                         field{"float_val", 5, float32, many},
                                         field{"double_val", 6, float64, many},
                                         field{"int_val", 7, int32, many},
                                         field{"string_val", 8, text, many},
                                         field{"scomplex_val", 9, float32, many},
                                         field{"int64_val", 10, int64, many},
                                         field{"bool_val", 11, boolean, many},
                                         field{"dcomplex_val", 12, float64, many},
                                         field{"half_val", 13, int32, many},
                                         field{"resource_handle_val", 14, message, many, id::resource_handle},
                                         field{"variant_val", 15, message, many, id::variant_data},
                                         field{"uint32_val", 16, uint32, many},
                                         field{"uint64_val", 17, uint64, many},
                                         field{"float8_val", 18, text}};
inline constexpr std::array tensor_shape{field{"dim", 2, message, many, id::dim}, field{"unknown_rank", 3, boolean}};
inline constexpr std::array dim{field{"size", 1, int64}, field{"name", 2, text}};
inline constexpr std::array resource_handle{field{"device", 1, text},
                                            field{"container", 2, text},
                                            field{"name", 3, text},
                                            field{"hash_code", 4, uint64},
                                            field{"maybe_type_name", 5, text},
                                            field{"dtypes_and_shapes", 6, message, many, id::dtype_and_shape}};
inline constexpr std::array dtype_and_shape{field{"dtype", 1, data_type},
                                            field{"shape", 2, message, false, id::tensor_shape}};
inline constexpr std::array variant_data{field{"type_name", 1, text},
                                         field{"metadata", 2, text},
                                         field{"tensors", 3, message, many, id::tensor_proto}};
inline constexpr std::array version_def{field{"producer", 1, int32},
                                        field{"min_consumer", 2, int32},
                                        field{"bad_consumers", 3, int32, many}};
inline constexpr std::array library{field{"function", 1, message, many, id::function_def},
                                    field{"gradient", 2, message, many, id::gradient_def},
                                    field{"registered_gradients", 3, message, many, id::registered_gradient}};
inline constexpr std::array function_def{field{"signature", 1, message, false, id::op_def},
                                         field{"node_def", 3, message, many, id::node_def},
                                         field{"ret", 4, message, many, id::text_entry},
                                         field{"attr", 5, message, many, id::attr_entry},
                                         field{"control_ret", 6, message, many, id::text_entry},
                                         field{"arg_attr", 7, message, many, id::arg_attr_entry},
                                         field{"resource_arg_unique_id", 8, message, many, id::number_entry}};
inline constexpr std::array text_entry{field{"key", 1, text}, field{"value", 2, text}};
inline constexpr std::array number_entry{field{"key", 1, uint32}, field{"value", 2, uint32}};
inline constexpr std::array arg_attr_entry{field{"key", 1, uint32}, field{"value", 2, message, false, id::arg_attrs}};
inline constexpr std::array arg_attrs{field{"attr", 1, message, many, id::attr_entry}};
inline constexpr std::array gradient_def{field{"function_name", 1, text}, field{"gradient_func", 2, text}};
inline constexpr std::array registered_gradient{field{"gradient_func", 1, text}, field{"registered_op_type", 2, text}};
inline constexpr std::array op_def{field{"name", 1, text},
                                   field{"input_arg", 2, message, many, id::arg_def},
                                   field{"output_arg", 3, message, many, id::arg_def},
                                   field{"attr", 4, message, many, id::attr_def},
                                   field{"summary", 5, text},
                                   field{"description", 6, text},
                                   field{"deprecation", 8, message, false, id::op_deprecation},
                                   field{"is_aggregate", 16, boolean},
                                   field{"is_stateful", 17, boolean},
                                   field{"is_commutative", 18, boolean},
                                   field{"allows_uninitialized_input", 19, boolean},
                                   field{"control_output", 20, text, many},
                                   field{"is_distributed_communication", 21, boolean}};
inline constexpr std::array arg_def{field{"name", 1, text},
                                    field{"description", 2, text},
                                    field{"type", 3, data_type},
                                    field{"type_attr", 4, text},
                                    field{"number_attr", 5, text},
                                    field{"type_list_attr", 6, text},
                                    field{"handle_data", 7, message, many, id::dtype_and_shape},
                                    field{"is_ref", 16, boolean},
                                    field{"experimental_full_type", 17, message, false, id::full_type}};
inline constexpr std::array attr_def{field{"name", 1, text},
                                     field{"type", 2, text},
                                     field{"default_value", 3, message, false, id::attr_value},
                                     field{"description", 4, text},
                                     field{"has_minimum", 5, boolean},
                                     field{"minimum", 6, int64},
                                     field{"allowed_values", 7, message, false, id::attr_value}};
inline constexpr std::array op_deprecation{field{"version", 1, int32}, field{"explanation", 2, text}};
inline constexpr std::array full_type{field{"type_id", 1, unread},
                                      field{"args", 2, message, many, id::full_type},
                                      field{"s", 3, text},
                                      field{"i", 4, int64}};

inline constexpr std::array cost_graph_def{field{"node", 1, message, many, id::cost_node},
                                           field{"cost", 2, message, many, id::aggregated_cost}};
inline constexpr std::array cost_node{field{"name", 1, text},
                                      field{"device", 2, text},
                                      field{"id", 3, int32},
                                      field{"input_info", 4, message, many, id::input_info},
                                      field{"output_info", 5, message, many, id::output_info},
                                      field{"temporary_memory_size", 6, int64},
                                      field{"is_final", 7, boolean},
                                      field{"control_input", 8, int32, many},
                                      field{"compute_cost", 9, int64},
                                      field{"host_temp_memory_size", 10, int64},
                                      field{"device_temp_memory_size", 11, int64},
                                      field{"persistent_memory_size", 12, int64},
                                      field{"compute_time", 14, int64},
                                      field{"memory_time", 15, int64},
                                      field{"device_persistent_memory_size", 16, int64},
                                      field{"inaccurate", 17, boolean}};
inline constexpr std::array input_info{field{"preceding_node", 1, int32}, field{"preceding_port", 2, int32}};
inline constexpr std::array output_info{field{"size", 1, int64},
                                        field{"alias_input_port", 2, int64},
                                        field{"shape", 3, message, false, id::tensor_shape},
                                        field{"dtype", 4, data_type}};
inline constexpr std::array aggregated_cost{field{"cost", 1, float32}, field{"dimension", 2, text}};

inline constexpr std::array step_stats{field{"dev_stats", 1, message, many, id::dev_stats}};
inline constexpr std::array dev_stats{field{"device", 1, text},
                                      field{"node_stats", 2, message, many, id::node_stats},
                                      field{"thread_names", 3, message, many, id::thread_entry}};
inline constexpr std::array thread_entry{field{"key", 1, uint32}, field{"value", 2, text}};
inline constexpr std::array node_stats{field{"node_name", 1, text},
                                       field{"all_start_micros", 2, int64},
                                       field{"op_start_rel_micros", 3, int64},
                                       field{"op_end_rel_micros", 4, int64},
                                       field{"all_end_rel_micros", 5, int64},
                                       field{"memory", 6, message, many, id::memory_used},
                                       field{"output", 7, message, many, id::node_output},
                                       field{"timeline_label", 8, text},
                                       field{"scheduled_micros", 9, int64},
                                       field{"thread_id", 10, uint32},
                                       field{"referenced_tensor", 11, message, many, id::allocation_description},
                                       field{"memory_stats", 12, message, false, id::memory_stats},
                                       field{"all_start_nanos", 13, int64},
                                       field{"op_start_rel_nanos", 14, int64},
                                       field{"op_end_rel_nanos", 15, int64},
                                       field{"all_end_rel_nanos", 16, int64},
                                       field{"scheduled_nanos", 17, int64}};
inline constexpr std::array memory_used{field{"allocator_name", 1, text},
                                        field{"total_bytes", 2, int64},
                                        field{"peak_bytes", 3, int64},
                                        field{"live_bytes", 4, int64},
                                        field{"allocator_bytes_in_use", 5, int64},
                                        field{"allocation_records", 6, message, many, id::allocation_record}};
inline constexpr std::array allocation_record{field{"alloc_micros", 1, int64}, field{"alloc_bytes", 2, int64}};
inline constexpr std::array node_output{field{"slot", 1, int32},
                                        field{"tensor_description", 3, message, false, id::tensor_description}};
inline constexpr std::array memory_stats{field{"temp_memory_size", 1, int64},
                                         field{"device_temp_memory_size", 2, int64},
                                         field{"persistent_memory_size", 3, int64},
                                         field{"device_persistent_memory_size", 4, int64},
                                         field{"persistent_tensor_alloc_ids", 5, int64, many},
                                         field{"device_persistent_tensor_alloc_ids", 6, int64, many}};
inline constexpr std::array tensor_description{field{"dtype", 1, data_type},
                                               field{"shape", 2, message, false, id::tensor_shape},
                                               field{"allocation_description", 4, message, false,
                                                     id::allocation_description}};
inline constexpr std::array allocation_description{field{"requested_bytes", 1, int64},
                                                   field{"allocated_bytes", 2, int64},
                                                   field{"allocator_name", 3, text},
                                                   field{"allocation_id", 4, int64},
                                                   field{"has_single_reference", 5, boolean},
                                                   field{"ptr", 6, uint64}};
inline constexpr std::array run_metadata{field{"step_stats", 1, message, false, id::step_stats},
                                         field{"cost_graph", 2, message, false, id::cost_graph_def},
                                         field{"partition_graphs", 3, message, many, id::graph_def},
                                         field{"function_graphs", 4, message, many, id::function_graphs},
                                         field{"session_metadata", 5, message, false, id::session_metadata}};
inline constexpr std::array function_graphs{field{"partition_graphs", 1, message, many, id::graph_def},
                                            field{"pre_optimization_graph", 2, message, false, id::graph_def},
                                            field{"post_optimization_graph", 3, message, false, id::graph_def}};
inline constexpr std::array session_metadata{field{"name", 1, text}, field{"version", 2, int64}};

inline constexpr std::array saved_model{field{"saved_model_schema_version", 1, int64},
                                        field{"meta_graphs", 2, message, many, id::meta_graph}};
inline constexpr std::array meta_graph{field{"meta_info_def", 1, message, false, id::meta_info},
                                       field{"graph_def", 2, message, false, id::graph_def},
                                       field{"saver_def", 3, unread},
                                       field{"collection_def", 4, unread, many},
                                       field{"signature_def", 5, message, many, id::signature_entry},
                                       field{"asset_file_def", 6, unread, many},
                                       field{"object_graph_def", 7, unread}};
inline constexpr std::array meta_info{field{"meta_graph_version", 1, text},
                                      field{"stripped_op_list", 2, unread},
                                      field{"any_info", 3, unread},
                                      field{"tags", 4, text, many},
                                      field{"tensorflow_version", 5, text},
                                      field{"tensorflow_git_version", 6, text},
                                      field{"stripped_default_attrs", 7, boolean},
                                      field{"function_aliases", 8, unread, many}};
inline constexpr std::array signature_entry{field{"key", 1, text}, field{"value", 2, message, false, id::signature}};
inline constexpr std::array signature{field{"inputs", 1, message, many, id::tensor_entry},
                                      field{"outputs", 2, message, many, id::tensor_entry},
                                      field{"method_name", 3, text},
                                      field{"defaults", 4, unread, many}};
inline constexpr std::array tensor_entry{field{"key", 1, text}, field{"value", 2, message, false, id::tensor_info}};
inline constexpr std::array tensor_info{field{"name", 1, text},
                                        field{"dtype", 2, data_type},
                                        field{"tensor_shape", 3, message, false, id::tensor_shape},
                                        field{"coo_sparse", 4, message, false, id::coo_sparse},
                                        field{"composite_tensor", 5, message, false, id::composite_tensor}};
inline constexpr std::array coo_sparse{field{"values_tensor_name", 1, text},
                                       field{"indices_tensor_name", 2, text},
                                       field{"dense_shape_tensor_name", 3, text}};
inline constexpr std::array composite_tensor{field{"type_spec", 1, unread},
                                             field{"components", 2, message, many, id::tensor_info}};

} // namespace detail

/// All messages, in the order of `message_id`.
inline constexpr std::array<message, static_cast<std::size_t>(message_id::count)> messages{
  {{"", {}},
   {"GraphDef", detail::graph_def},
   {"NodeDef", detail::node_def},
   {"ExperimentalDebugInfo", detail::debug_info},
   {"AttrValue", detail::attr_value, true},
   {"ListValue", detail::list_value},
   {"NameAttrList", detail::name_attr_list},
   {"TensorProto", detail::tensor_proto},
   {"TensorShapeProto", detail::tensor_shape},
   {"Dim", detail::dim},
   {"ResourceHandleProto", detail::resource_handle},
   {"DtypeAndShape", detail::dtype_and_shape},
   {"VariantTensorDataProto", detail::variant_data},
   {"VersionDef", detail::version_def},
   {"FunctionDefLibrary", detail::library},
   {"FunctionDef", detail::function_def},
   {"GradientDef", detail::gradient_def},
   {"RegisteredGradient", detail::registered_gradient},
   {"OpDef", detail::op_def},
   {"ArgDef", detail::arg_def},
   {"AttrDef", detail::attr_def},
   {"OpDeprecation", detail::op_deprecation},
   {"FullTypeDef", detail::full_type},
   {"AttrEntry", detail::attr_entry},
   {"ArgAttrEntry", detail::arg_attr_entry},
   {"ArgAttrs", detail::arg_attrs},
   {"NumberEntry", detail::number_entry},
   {"TextEntry", detail::text_entry},
   {"CostGraphDef", detail::cost_graph_def},
   {"CostNode", detail::cost_node},
   {"InputInfo", detail::input_info},
   {"OutputInfo", detail::output_info},
   {"AggregatedCost", detail::aggregated_cost},
   {"StepStats", detail::step_stats},
   {"DeviceStepStats", detail::dev_stats},
   {"ThreadEntry", detail::thread_entry},
   {"NodeExecStats", detail::node_stats},
   {"AllocatorMemoryUsed", detail::memory_used},
   {"AllocationRecord", detail::allocation_record},
   {"NodeOutput", detail::node_output},
   {"MemoryStats", detail::memory_stats},
   {"TensorDescription", detail::tensor_description},
   {"AllocationDescription", detail::allocation_description},
   {"RunMetadata", detail::run_metadata},
   {"FunctionGraphs", detail::function_graphs},
   {"SessionMetadata", detail::session_metadata},
   {"SavedModel", detail::saved_model},
   {"MetaGraphDef", detail::meta_graph},
   {"MetaInfoDef", detail::meta_info},
   {"SignatureDefEntry", detail::signature_entry},
   {"SignatureDef", detail::signature},
   {"TensorInfoEntry", detail::tensor_entry},
   {"TensorInfo", detail::tensor_info},
   {"CooSparse", detail::coo_sparse},
   {"CompositeTensor", detail::composite_tensor}}};

constexpr const message& of(message_id id) { return messages[static_cast<std::size_t>(id)]; }

/// The index of the field of that name among the message's, or nothing.
constexpr std::optional<std::size_t> find(const message& m, std::string_view name) {
  for (std::size_t i = 0; i < m.fields.size(); ++i) {
    if (m.fields[i].name == name) {
      return i;
    }
  }
  return std::nullopt;
}

} // namespace weft::tensorflow::schema
