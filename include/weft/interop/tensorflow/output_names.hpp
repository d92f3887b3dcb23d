// SPDX-License-Identifier: BSL-1.0
/// Names of the outputs of ops that have several, which functions refer to as `node:name:index`.
///
/// Source: tensorflow/core/ops, the `Output` of each REGISTER_OP.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace weft::tensorflow::detail {

/// Types of ops, and what their outputs are called; `name*attr` are as many as that attribute says.
struct named_outputs {
  std::string_view ops;
  std::string_view names;
};

inline constexpr named_outputs op_output_names[] = {
  {"AllCandidateSampler FixedUnigramCandidateSampler LearnedUnigramCandidateSampler LogUniformCandidateSampler "
   "ThreadUnsafeUnigramCandidateSampler UniformCandidateSampler",
   "sampled_candidates true_expected_count sampled_expected_count"},
  {"Batch", "batched_tensors*T batch_index id"},
  {"BlockLSTM BlockLSTMV2 LSTMBlockCell", "i cs f o ci co h"},
  {"BlockLSTMGrad BlockLSTMGradV2", "x_grad cs_prev_grad h_prev_grad w_grad wci_grad wcf_grad wco_grad b_grad"},
  {"BroadcastGradientArgs", "r0 r1"},
  {"CTCBeamSearchDecoder",
   "decoded_indices*top_paths decoded_values*top_paths decoded_shape*top_paths log_probability"},
  {"CTCGreedyDecoder", "decoded_indices decoded_values decoded_shape log_probability"},
  {"CTCLoss CTCLossV2", "loss gradient"},
  {"CombinedNonMaxSuppression", "nmsed_boxes nmsed_scores nmsed_classes valid_detections"},
  {"ComputeAccidentalHits", "indices ids weights"},
  {"CudnnRNN", "output output_h output_c reserve_space"},
  {"CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3",
   "input_backprop input_h_backprop input_c_backprop params_backprop"},
  {"CudnnRNNV2 CudnnRNNV3", "output output_h output_c reserve_space host_reserved"},
  {"DenseToDenseSetOperation DenseToSparseSetOperation SparseToSparseSetOperation",
   "result_indices result_values result_shape"},
  {"Eig SelfAdjointEigV2 BatchSelfAdjointEigV2", "e v"},
  {"FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannelGradient",
   "backprops_wrt_input backprop_wrt_min backprop_wrt_max"},
  {"FractionalAvgPool FractionalMaxPool", "output row_pooling_sequence col_pooling_sequence"},
  {"FusedBatchNorm FusedBatchNormV2", "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
  {"FusedBatchNormGrad FusedBatchNormGradV2",
   "x_backprop scale_backprop offset_backprop reserve_space_3 reserve_space_4"},
  {"FusedBatchNormGradV3", "x_backprop scale_backprop offset_backprop reserve_space_4 reserve_space_5"},
  {"FusedBatchNormV3", "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"},
  {"GRUBlockCell", "r u c h"},
  {"GRUBlockCellGrad", "d_x d_h_prev d_c_bar d_r_bar_u_bar"},
  {"GenerateBoundingBoxProposals", "rois roi_probabilities"},
  {"LSTMBlockCellGrad", "cs_prev_grad dicfo wci_grad wcf_grad wco_grad"},
  {"ListDiff", "out idx"},
  {"LogMatrixDeterminant", "sign log_abs_determinant"},
  {"LookupTableExport LookupTableExportV2", "keys values"},
  {"Lu", "lu p"},
  {"MaxPoolWithArgmax", "output argmax"},
  {"Merge RefMerge", "output value_index"},
  {"NonMaxSuppressionV4", "selected_indices valid_outputs"},
  {"NonMaxSuppressionV5", "selected_indices selected_scores valid_outputs"},
  {"ParseExample", "sparse_indices*Nsparse sparse_values*sparse_types sparse_shapes*Nsparse dense_values*Tdense"},
  {"ParseExampleV2", "sparse_indices*num_sparse sparse_values*sparse_types sparse_shapes*num_sparse "
                     "dense_values*Tdense ragged_values*ragged_value_types ragged_row_splits*ragged_split_types"},
  {"ParseSingleExample",
   "sparse_indices*num_sparse sparse_values*sparse_types sparse_shapes*num_sparse dense_values*Tdense"},
  {"Qr", "q r"},
  {"QuantizeDownAndShrinkRange QuantizeV2 QuantizedConcat QuantizedConcatV2 QuantizedReshape Requantize "
   "RequantizePerChannel", "output output_min output_max"},
  {"QuantizedAdd QuantizedMul", "z min_z max_z"},
  {"QuantizedAvgPool QuantizedConv2D QuantizedConv2DAndRelu QuantizedConv2DAndReluAndRequantize "
   "QuantizedConv2DAndRequantize QuantizedConv2DPerChannel QuantizedConv2DWithBias QuantizedConv2DWithBiasAndRelu "
   "QuantizedConv2DWithBiasAndReluAndRequantize QuantizedConv2DWithBiasAndRequantize "
   "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize QuantizedConv2DWithBiasSumAndRelu "
   "QuantizedConv2DWithBiasSumAndReluAndRequantize QuantizedDepthwiseConv2D QuantizedDepthwiseConv2DWithBias "
   "QuantizedDepthwiseConv2DWithBiasAndRelu QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize QuantizedMaxPool",
   "output min_output max_output"},
  {"QuantizedBatchNormWithGlobalNormalization", "result result_min result_max"},
  {"QuantizedBiasAdd", "output min_out max_out"},
  {"QuantizedInstanceNorm", "y y_min y_max"},
  {"QuantizedMatMul QuantizedMatMulWithBias QuantizedMatMulWithBiasAndRelu "
   "QuantizedMatMulWithBiasAndReluAndRequantize QuantizedMatMulWithBiasAndRequantize", "out min_out max_out"},
  {"QuantizedRelu QuantizedRelu6 QuantizedReluX", "activations min_activations max_activations"},
  {"RaggedGather", "output_nested_splits*OUTPUT_RAGGED_RANK output_dense_values"},
  {"RaggedRange", "rt_nested_splits rt_dense_values"},
  {"RaggedTensorFromVariant", "output_nested_splits*output_ragged_rank output_dense_values"},
  {"RaggedTensorToSparse", "sparse_indices sparse_values sparse_dense_shape"},
  {"ReaderRead ReaderReadV2", "key value"},
  {"RefSwitch Switch", "output_false output_true"},
  {"RequantizationRange RequantizationRangePerChannel", "output_min output_max"},
  {"SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 StatelessSampleDistortedBoundingBox",
   "begin size bboxes"},
  {"SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits", "loss backprop"},
  {"SparseConcat SparseCross SparseCrossHashed SparseCrossV2 SparseReduceMaxSparse SparseReduceSumSparse SparseSlice "
   "TakeManySparseFromTensorsMap DeserializeManySparse",
   "output_indices output_values output_shape"},
  {"SparseFillEmptyRows", "output_indices output_values empty_row_indicator reverse_index_map"},
  {"SparseFillEmptyRowsGrad", "d_values d_default_value"},
  {"SparseReorder SparseSparseMaximum SparseSparseMinimum", "output_indices output_values"},
  {"SparseReshape", "output_indices output_shape"},
  {"SparseSplit", "output_indices*num_split output_values*num_split output_shape*num_split"},
  {"StatelessRandomGetKeyCounter", "key counter"},
  {"StringSplit StringSplitV2", "indices values shape"},
  {"Svd BatchSvd", "s u v"},
  {"TensorArrayConcatV2 TensorArrayConcatV3 TensorArrayConcat", "value lengths"},
  {"TensorArrayGrad TensorArrayGradV3 TensorArrayGradWithShape", "grad_handle flow_out"},
  {"TensorArrayV3", "handle flow"},
  {"TensorListConcat TensorListConcatV2", "tensor lengths"},
  {"TensorListPopBack", "output_handle tensor"},
  {"TopK TopKV2", "values indices"},
  {"Unique UniqueV2", "y idx"},
  {"UniqueWithCounts UniqueWithCountsV2", "y idx count"},
};

/// Whether a word stands in a list of words, which are separated by single blanks.
constexpr bool has_word(std::string_view list, std::string_view word) {
  for (auto at = word.empty() ? list.npos : list.find(word); at != list.npos; at = list.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) {
      return true;
    }
  }
  return false;
}

/// The names of an op's outputs, or nothing if all are one list, as of most ops.
constexpr std::string_view output_names(std::string_view op) {
  for (const auto& entry : op_output_names) {
    if (op.find(' ') == op.npos && has_word(entry.ops, op)) {
      return entry.names;
    }
  }
  return {};
}

/// The number of the first output of that name; `length(attribute)` tells how many a list has. 0 for an unknown name.
template <class Length>
std::uint32_t first_output(std::string_view names, std::string_view output, const Length& length) {
  std::uint32_t at = 0;
  while (!names.empty()) {
    const auto word = names.substr(0, names.find(' '));
    names.remove_prefix(std::min(names.size(), word.size() + 1));
    const auto star = word.find('*');
    if (word.substr(0, star) == output) {
      return at;
    }
    at += star == word.npos ? 1 : length(word.substr(star + 1));
  }
  return 0;
}

} // namespace weft::tensorflow::detail
