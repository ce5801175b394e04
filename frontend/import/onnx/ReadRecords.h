/// Reads ONNX messages into records.
#pragma once

#include "frontend/import/onnx/Records.h"

#include <cstddef>
#include <span>

namespace sinter::onnx {

/// The records of a model. They point into `file`, which must live as long as
/// they do. Throws an Error of kind io where the bytes are no model, and of
/// kind unsupported where what they hold is of another version: IR 3 to 14 and
/// opsets 1 to 28 are read.
ModelRecord readModel(std::span<const std::byte> file);

/// A TensorProto, as a file of its own.
TensorRecord readTensor(std::span<const std::byte> file);
/// The tensors of a SequenceProto of tensors.
std::vector<TensorRecord> readSequence(std::span<const std::byte> file);
/// What an OptionalProto of a tensor holds, if anything.
std::optional<TensorRecord> readOptional(std::span<const std::byte> file);
/// The same of a sequence of tensors.
std::optional<std::vector<TensorRecord>>
readOptionalSequence(std::span<const std::byte> file);

} // namespace sinter::onnx
