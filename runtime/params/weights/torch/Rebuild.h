/// Rebuild: which tensor a call in a pickle would give. The functions are
/// those of torch/_utils.py and NumPy; nothing of them is called.
#pragma once

#include "runtime/params/weights/torch/Pickle.h"
#include "sinter/runtime/DType.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::runtime::torch {

/// As NumPy's arrays.
inline constexpr size_t maxRank = 64;

/// A storage, as a pickle refers to it.
struct StorageId {
  std::string_view key;
  std::string_view className; ///< `FloatStorage`
  DType dtype = DType::f32;
  int64_t numel = 0;
  int64_t viewOffset = 0; ///< of archives from before views were tensors
};

/// A tensor before its bytes are looked for.
struct RebuiltTensor {
  std::string type; ///< of its storage or, with bytes of its own, of NumPy
  DType dtype = DType::f32;
  int64_t offset = 0; ///< in elements
  std::vector<int64_t> dims, strides;
  std::optional<StorageId> storage;
  /// In the place of a storage: an array within the pickle.
  std::span<const std::byte> bytes;
  bool swapped = false; ///< the array is big-endian
};

/// What a persistent id refers to; an error where that is no storage that is
/// known. Null for the classes that old archives refer to so.
Result<std::optional<StorageId>> storageOf(const pickle::Pickle &pickle,
                                           const pickle::Value &persistent);

/// `module.name` of what an object is a call of.
std::string calleeName(const pickle::Pickle &pickle,
                       const pickle::Value &object);

class Rebuilder {
public:
  /// Bytes that are not in the pickle as they are go to `made`.
  Rebuilder(const pickle::Pickle &pickle,
            std::deque<std::vector<std::byte>> &made)
      : pickle(pickle), made(made) {}

  /// Null where the value is no tensor. One of a kind that is not read
  /// (sparse, quantized) is an `unsupported` error.
  Result<std::optional<RebuiltTensor>> tensorOf(pickle::Value value);

  /// As Pickle::find, which goes through all keys: a large dictionary that many
  /// objects share is gone through once.
  const pickle::Value *find(const pickle::Value &dict, std::string_view key);

  /// A scalar of NumPy as text; null for everything else.
  std::optional<std::string> numberText(const pickle::Value &value);

private:
  using Values = std::span<const pickle::Value>;
  const pickle::Pickle &pickle;
  std::deque<std::vector<std::byte>> &made;
  std::map<std::pair<size_t, std::string_view>, const pickle::Value *> found;
  /// What texts were made, by where they stand: many arrays may share one.
  std::map<const char *, std::span<const std::byte>> madeOf;

  Result<RebuiltTensor> tensor(Values args, bool hasType);
  Result<std::optional<RebuiltTensor>> array(const pickle::Value &value);
  Result<RebuiltTensor> bufferArray(Values args);
  Result<std::vector<int64_t>> integers(const pickle::Value &list);
  Result<std::span<const std::byte>> bytesOf(const pickle::Value &value);
  Status readNumpyType(const pickle::Value &type, RebuiltTensor &tensor);
};

} // namespace sinter::runtime::torch
