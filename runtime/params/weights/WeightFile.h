/// WeightFile: the tensors of a file, in any format that weights come in.
#pragma once

#include "runtime/params/Safetensors.h"
#include "sinter/runtime/DType.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sinter::runtime {

/// One tensor of a weight file.
struct WeightTensor {
  std::string name;
  std::string
      type; ///< as the format calls it: `F32`, `Q4_1`, `BFloat16Storage`
  DType dtype = DType::f32; ///< of what `read` gives
  std::vector<int64_t> dims;
  /// In elements; empty for dense, row-major ones.
  std::vector<int64_t> strides;
  /// Where its bytes stand in the mapped file: elements of `dtype` from the
  /// first on, or blocks. Empty where they are packed.
  std::span<const std::byte> data;
  /// Quantized blocks, which `read` makes numbers of.
  bool isBlocks = false;
  /// An earlier tensor that is the same: one storage, shape and strides.
  std::string tiedTo;
};

class WeightFile;
using WeightFileRef = std::shared_ptr<const WeightFile>;

/// A file, or the files of a sharded model, whose structure was checked in full
/// when it was opened. Nothing in it is executed, elements are not read before
/// they are asked for, and memory is taken for what is there, not for what the
/// file says.
class WeightFile {
public:
  /// Tells the format by the contents, not by the name: safetensors, the
  /// `index.json` of safetensors or torch shards, torch's zip and legacy
  /// archives, `.npz`, `.npy`, GGUF, Burn's burnpack and Flax's msgpack. An
  /// `io` error says what is wrong with the file, an `unsupported` one what is
  /// not read.
  static Result<WeightFileRef> open(const std::string &path);
  virtual ~WeightFile() = default;

  const std::string &path() const { return name; }
  /// As it is called in messages: `safetensors`, `torch zip`, `GGUF v3`.
  const std::string &format() const { return kind; }
  /// In the order of the file.
  std::span<const WeightTensor> tensors() const { return entries; }
  /// The tensor of that name, or null.
  const WeightTensor *find(std::string_view tensor) const;
  /// What the file says beside its tensors, as text: GGUF's keys, the strings
  /// of safetensors, numbers of a checkpoint (`epoch`).
  const Metadata &metadata() const { return strings; }
  /// What was left out, for people: classes of a pickled module, objects that
  /// are no tensors.
  std::span<const std::string> notes() const { return remarks; }

  /// The dense, row-major, little-endian elements of `tensor`, which is one of
  /// `tensors()`, without a copy. Empty where they have to be made: `read`.
  std::span<const std::byte> view(const WeightTensor &tensor) const;
  /// The same as a copy: strided, packed and quantized ones, too.
  virtual Result<std::vector<std::byte>>
  read(const WeightTensor &tensor) const = 0;
  /// Compares the bytes of `tensor` with their checksum where the format has
  /// one. `read` does that, too; `view` does not.
  virtual Status check(const WeightTensor &tensor) const;
  /// Memory that holds `part` of the file may be had by others until it is read
  /// again.
  virtual void leave(std::span<const std::byte> part) const { (void)part; }

protected:
  WeightFile(std::string path, std::string format)
      : name(std::move(path)), kind(std::move(format)) {}
  /// To be called when all tensors are there: an `io` error where two of them
  /// have one name, or a name is no UTF-8.
  Status finish();
  size_t numberOf(const WeightTensor &tensor) const;

  std::string name, kind;
  std::vector<WeightTensor> entries;
  Metadata strings;
  std::vector<std::string> remarks;

private:
  std::unordered_map<std::string_view, size_t> numbers;
};

} // namespace sinter::runtime
