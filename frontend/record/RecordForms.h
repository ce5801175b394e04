/// RecordForms: the forms in which records are bytes, and what they share.
#pragma once

#include "sinter/runtime/Result.h"

#include <sinter/record/RecordTree.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::record {

using ByteSpan = std::span<const std::byte>;

/// The layout of all forms: what is in a file, and under which names. A reader
/// refuses higher ones.
inline constexpr int64_t layoutVersion = 1;

/// Maps and lists within each other.
inline constexpr int mostLevels = 32;

/// What a file is made of, in order: own bytes, and those of tensors.
class Pieces {
public:
  /// Appends a copy, or what stays until the pieces are written.
  void add(std::string_view text);
  void add(ByteSpan bytes);
  void refer(ByteSpan bytes);
  /// Takes them over.
  void own(std::vector<std::byte> bytes);
  uint64_t size() const { return length; }
  /// All of them, until the next one is added.
  std::span<const ByteSpan> parts();
  std::vector<std::byte> joined();

private:
  void close();

  std::deque<std::string> texts;
  std::deque<std::vector<std::byte>> buffers;
  std::string open; ///< what was copied last
  std::vector<ByteSpan> list;
  uint64_t length = 0;
};

/// XXH3 of 64 bits, of parts one after the other.
class Checksum {
public:
  Checksum();
  Checksum(const Checksum &) = delete;
  ~Checksum();
  void add(ByteSpan bytes);
  void add(std::span<const ByteSpan> parts);
  uint64_t value() const;
  static uint64_t of(ByteSpan bytes);

private:
  void *state;
};
/// Sixteen digits.
std::string hexText(uint64_t number);
/// What hexText wrote; false for anything else.
bool readHex(std::string_view text, uint64_t &number);

/// How many values a file of so many bytes may hold: a value takes some hundred
/// bytes of memory, and one byte of a hostile file.
class ValueBudget {
public:
  explicit ValueBudget(uint64_t bytes)
      : left((uint64_t(1) << 20) + bytes / 16) {}
  Status take();

private:
  uint64_t left;
};

/// What a wrong checksum means.
inline constexpr std::string_view damagedText =
    "it is damaged: its bytes do not have its checksum";
Status checkVersion(uint64_t version);
/// Whether the parts of a tensor that was read fit each other.
Status checkTensor(const RecordTensor &tensor);
/// A tensor's dtype by its name.
Result<DType> dtypeNamed(std::string_view text);

/// What a reader knows beside the bytes.
struct Source {
  ByteSpan bytes;
  std::shared_ptr<const void> owner; ///< of the bytes; tensors share it
  bool check = true;                 ///< whether the checksum is compared
};

// Writers refer to the record, which stays as it is until they are written.
// Readers trust nothing; their errors, of kind `io`, say what is wrong.

bool isBinary(ByteSpan bytes);
Result<Pieces> writeBinary(const Record &record);
Result<Record> readBinary(const Source &source);

bool isMessagePack(ByteSpan bytes);
Result<Pieces> writeMessagePack(const Record &record);
Result<Record> readMessagePack(const Source &source);

bool isJson(ByteSpan bytes);
/// Pretty: lines, and elements of tensors as numbers where these are exact.
enum class JsonStyle : uint8_t { compact, pretty };
Result<Pieces> writeJson(const Record &record, JsonStyle style);
Result<Record> readJson(const Source &source);

bool isSafetensors(ByteSpan bytes);
Result<Pieces> writeSafetensors(const Record &record);
Result<Record> readSafetensors(const Source &source);

//===- JSON in other forms ------------------------------------------------===//

/// Names of tensors that stand elsewhere.
using TensorNames = std::vector<std::pair<std::string, const RecordTensor *>>;
/// The values of a record as JSON; tensors are names, which are appended.
std::string fieldsText(const Record &record, TensorNames &names);
/// Reads that; `find` gives the tensor of a name.
using TensorFinder = std::function<Result<RecordTensor>(const std::string &)>;
Result<Record> readFields(std::string_view text, const TensorFinder &find);

//===- Files --------------------------------------------------------------===//

struct FormatInfo {
  RecordFormat format;
  std::string_view extension;
  std::string_view name; ///< for people
};
std::span<const FormatInfo> formats();
const FormatInfo &infoOf(RecordFormat format);
/// By the extension of a path, the longest that fits.
std::optional<RecordFormat> formatOfName(std::string_view path);
/// By the first bytes.
std::optional<RecordFormat> formatOfBytes(ByteSpan bytes);

/// The bytes of a gzip file, whose head names the format and has the checksum
/// of everything else in it.
Result<std::vector<std::byte>> gzip(RecordFormat format, Pieces &pieces);
/// At most `most` bytes are made.
Result<std::vector<std::byte>> gunzip(ByteSpan file, uint64_t most, bool check);
std::optional<RecordFormat> gzippedFormat(ByteSpan file);

Result<Pieces> encode(const Record &record, RecordFormat format);
Result<Record> decode(const Source &source, RecordFormat format,
                      const LoadRecordOptions &options);

/// The record as it is written: its tensors in a precision. An
/// `invalid_argument` error names the path of what cannot be stored.
Result<Record> prepared(const Record &record, RecordPrecision precision);

} // namespace sinter::record
