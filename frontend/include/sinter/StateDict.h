/// StateDict: the tensors of a weight file by name.
#pragma once

#include <sinter/Creation.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter {

namespace runtime {
class WeightFile;
struct WeightTensor;
} // namespace runtime

/// What is known of a stored tensor without reading it.
struct WeightInfo {
  std::string name;
  std::string type;         ///< as the file calls it: `F32`, `Q4_1`
  DType dtype = DType::f32; ///< of the tensor that it becomes
  std::vector<int64_t> dims;
  uint64_t bytes = 0; ///< that its elements take where they are stored
  bool quantized = false;
  std::string tied_to; ///< an earlier name of the same tensor, or empty
};

/// Blocks of numbers of a few bits, as GGUF files hold them: kept as they are
/// until somebody wants floats. Refers to the file, which stays open.
class QuantizedTensor {
public:
  using Where = std::source_location;

  const std::string &type() const { return format; } ///< `Q4_K`
  const std::vector<int64_t> &dims() const { return extents; }
  int64_t numel() const;
  /// Of one block: how many numbers it stands for, and how many bytes it takes.
  int64_t block_elements() const { return elementsOfBlock; }
  int64_t block_bytes() const { return bytesOfBlock; }
  /// Block after block, as the format lays them out; as long as this or a copy
  /// of it lives.
  std::span<const std::byte> bytes() const { return blocks; }
  /// The numbers of the blocks, as f32: those of the `gguf` package, bit for
  /// bit. Another dtype is rounded from there.
  Tensor dequantize(Options options = {}, Where where = Where::current()) const;

private:
  friend class StateDict;
  QuantizedTensor(std::shared_ptr<const runtime::WeightFile> file,
                  const runtime::WeightTensor &stored);

  std::shared_ptr<const runtime::WeightFile> file;
  const runtime::WeightTensor *stored;
  std::string format;
  std::vector<int64_t> extents;
  std::span<const std::byte> blocks;
  int64_t elementsOfBlock = 0, bytesOfBlock = 0;
};

struct ReadStateOptions {
  /// Where the weights stand in a checkpoint that holds more: `state_dict`.
  /// Others are left out, and names are without it. An Error where the file has
  /// nothing below it.
  std::string top_level_key = {};
  /// Tensors stay where they are in the file, as for LoadStateOptions.
  bool mmap = false;
};

/// Tensors by name, in an order. Those of a file are read when they are asked
/// for, and the file stays open as long as a copy of this lives. A value: a
/// copy changes by itself.
class StateDict {
public:
  using Where = std::source_location;

  StateDict() = default;
  /// Of an open file; read_state is what opens one.
  explicit StateDict(std::shared_ptr<const runtime::WeightFile> file);

  size_t size() const { return entries.size(); }
  bool empty() const { return entries.empty(); }
  bool contains(std::string_view name) const { return find(name); }
  /// In order: those of the file as it has them, then those that were set.
  std::vector<std::string> names() const;

  /// What is known of a tensor; an Error where there is none of that name.
  WeightInfo info(std::string_view name, Where where = Where::current()) const;
  /// The tensor, quantized ones as floats. Read anew by each call.
  Tensor at(std::string_view name, Options options = {},
            Where where = Where::current()) const;
  /// The blocks of a quantized tensor; an Error of another one.
  QuantizedTensor quantized(std::string_view name,
                            Where where = Where::current()) const;

  /// Adds a tensor, or replaces the one of that name in its place.
  void set(std::string name, Tensor tensor, Where where = Where::current());
  /// Gives a tensor another name, which is free.
  void rename(std::string_view name, std::string to,
              Where where = Where::current());
  /// Whether there was one of that name.
  bool erase(std::string_view name);

  /// `safetensors`, `torch zip`, `GGUF v3`; empty without a file.
  std::string format() const;
  std::string path() const;
  /// Strings and numbers that the file holds beside tensors.
  std::span<const std::pair<std::string, std::string>> metadata() const;
  /// What of the file was left out, for people.
  std::span<const std::string> notes() const;

  /// One tensor: of the file, or set.
  struct Entry {
    std::string name;
    const runtime::WeightTensor *stored = nullptr;
    Tensor value;
  };
  /// For readers on top: all of them, in order.
  std::span<const Entry> all() const { return entries; }
  const std::shared_ptr<const runtime::WeightFile> &source() const {
    return file;
  }

private:
  friend StateDict read_state(const std::string &path,
                              const ReadStateOptions &options, Where where);
  const Entry *find(std::string_view name) const;
  const Entry &existing(const char *call, std::string_view name,
                        Where where) const;
  void noteName(const Entry &entry);
  void keepBelow(const std::string &key, Where where);

  std::shared_ptr<const runtime::WeightFile> file;
  bool mmap = false;
  std::vector<Entry> entries;
  std::map<std::string, size_t, std::less<>> places;
  /// Names here of tensors that the file calls otherwise, by those of the file.
  std::map<std::string, std::string, std::less<>> renamed;
};

/// Opens a weight file of any format; its structure is checked in full, and no
/// tensor is read. Errors are those of load_state.
StateDict
read_state(const std::string &path, const ReadStateOptions &options = {},
           std::source_location where = std::source_location::current());

} // namespace sinter
