/// Record: what a run keeps, as an ordered tree of values and tensors, and its
/// files.
#pragma once

#include <sinter/runtime/DType.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sinter {

struct LoadReport;
struct LoadStateOptions;

/// The forms of files, each with its extension (docs/records.md).
enum class RecordFormat : uint8_t {
  safetensors,  ///< .safetensors: tensors by name, the rest as JSON within
  named_mpk,    ///< .mpk: MessagePack with names
  named_mpk_gz, ///< .mpk.gz
  bin,          ///< .bin: the form of `to_bytes`
  bin_gz,       ///< .bin.gz
  json_gz,      ///< .json.gz
  pretty_json,  ///< .json: for people
};

/// What floats and signed integers of tensors are stored as. Values that are no
/// tensors, unsigned integers, bool, complex numbers and floats of 8 and fewer
/// bits stay as they are.
enum class RecordPrecision : uint8_t {
  as_is,            ///< as they are
  double_precision, ///< f64 and i64
  full_precision,   ///< f32 and i32
  half_precision,   ///< f16 and i16
};

struct SaveRecordOptions {
  /// Default: what the extension says, or else named_mpk.
  std::optional<RecordFormat> format = {};
  RecordPrecision precision = RecordPrecision::as_is;
};
/// MessagePack with every number in full.
constexpr SaveRecordOptions default_record() {
  return {RecordFormat::named_mpk, RecordPrecision::full_precision};
}
/// The smallest: gzipped MessagePack of 16-bit numbers.
constexpr SaveRecordOptions compact_record() {
  return {RecordFormat::named_mpk_gz, RecordPrecision::half_precision};
}

struct LoadRecordOptions {
  /// What the file has to be. Default: what its contents say.
  std::optional<RecordFormat> format = {};
  /// Bytes that a gzipped file may unpack to. Default: 64 times its own, at
  /// least 1 GiB.
  std::optional<uint64_t> most_bytes = {};
  /// Whether the checksum is compared: off for pretty JSON that was edited.
  bool check = true;
};

/// A tensor of a record: elements in memory of the process, whatever device
/// they came from.
struct RecordTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  uint64_t id = 0; ///< `record_id` of the Param that it is of, or 0
  /// Dense and row-major, at any address.
  std::span<const std::byte> data;
  std::shared_ptr<const void> owner; ///< of what `data` refers to

  /// Same type, id and bytes.
  bool operator==(const RecordTensor &other) const;
};

/// A value: a copy changes by itself (elements of tensors, which nothing
/// changes, are shared). Reading what is not there, or of another kind, is an
/// `invalid_argument` Error that names the path to it.
class Record {
public:
  using Where = std::source_location;
  using Bytes = std::vector<std::byte>;
  struct Entry;
  using List = std::vector<Record>;
  /// In the order in which entries were put; no key is there twice.
  using Map = std::vector<Entry>;
  using Value = std::variant<std::monostate, bool, int64_t, double, std::string,
                             Bytes, RecordTensor, List, Map>;
  /// In the order of Value.
  enum class Kind : uint8_t {
    none,
    boolean,
    integer,
    real,
    text, ///< UTF-8
    bytes,
    tensor,
    list,
    map,
  };

  Record(); ///< an empty map
  explicit Record(Value value);
  Record(const Record &);
  Record(Record &&) noexcept;
  Record &operator=(const Record &);
  Record &operator=(Record &&) noexcept;
  ~Record();

  Kind kind() const { return Kind(value.index()); }
  bool is(Kind wanted) const { return kind() == wanted; }
  /// Entries of a map, elements of a list; else 0.
  size_t size() const;
  bool operator==(const Record &other) const;

  /// The entry of that name, or null.
  const Record *find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name); }
  const Record &at(std::string_view name, Where where = Where::current()) const;
  /// Adds an entry, or replaces the one of that name in its place.
  void set(std::string name, Record value, Where where = Where::current());
  bool erase(std::string_view name);

  /// Puts `x` under a name: a module (every Param, running statistics too, with
  /// its record id), an optimizer, a scheduler, a generator of random numbers,
  /// a data loader (its cursor), a Tensor, a Param, another record; a bool, a
  /// number, an enumerator, a string; a vector, array, map with string keys or
  /// optional of these; anything with SINTER_RECORD or functions into_record
  /// and load_record of its own (sinter/Record.h). Values are read now.
  template <typename T>
  void put(std::string name, const T &x, Where where = Where::current());
  /// The value of that name as a T, which put or a person wrote.
  template <typename T>
  T get(std::string_view name, Where where = Where::current()) const;
  /// Gives `x` what was put under that name. A module gets all of it or none.
  template <typename T>
  void get(std::string_view name, T &x, Where where = Where::current()) const;
  /// The same of a part of a module, or of one with other names, as
  /// `load_record` (sinter/Record.h).
  template <typename T>
  LoadReport get(std::string_view name, T &module,
                 const LoadStateOptions &options,
                 Where where = Where::current()) const;
  /// The same for an optimizer, which keeps state for the parameters of
  /// `model`: those were read before, with their record ids.
  template <typename Optimizer, typename T>
    requires requires(Optimizer &optimizer, T &model, const Record &record,
                      Where where) {
      optimizer.load_record(model, record, where);
    }
  void get(std::string_view name, Optimizer &optimizer, T &model,
           Where where = Where::current()) const;

  /// Writes a file and gives its path: `path` with the format's extension,
  /// unless it has that already. Whenever the process or the machine ends, the
  /// name has the old file or the whole new one. An Error is of kind `io` where
  /// the file cannot be written, and `invalid_argument` where the record cannot
  /// be stored so: a number that the precision has no room for, the extension
  /// of another format, more than 32 levels.
  std::string save(const std::string &path,
                   const SaveRecordOptions &options = {},
                   Where where = Where::current()) const;
  /// Reads a file: `path`, or else `path` with an extension. Nothing of it is
  /// believed before its checksum was compared. An Error of kind `io` says
  /// what is wrong with the file, or what it is in place of a record.
  static Record load(const std::string &path,
                     const LoadRecordOptions &options = {},
                     Where where = Where::current());

  /// The binary form, in memory.
  Bytes to_bytes(RecordPrecision precision = RecordPrecision::as_is,
                 Where where = Where::current()) const;
  /// The same of a file in any format.
  Bytes to_bytes(const SaveRecordOptions &options,
                 Where where = Where::current()) const;
  /// What any of these gave; the bytes are copied.
  static Record from_bytes(std::span<const std::byte> bytes,
                           const LoadRecordOptions &options = {},
                           Where where = Where::current());

  /// The value; an Error where it is of another kind.
  bool as_bool(Where where = Where::current()) const;
  int64_t as_integer(Where where = Where::current()) const;
  double as_real(Where where = Where::current()) const; ///< or an integer
  const std::string &as_text(Where where = Where::current()) const;
  const Bytes &as_bytes(Where where = Where::current()) const;
  const RecordTensor &as_tensor(Where where = Where::current()) const;
  const List &as_list(Where where = Where::current()) const;
  const Map &as_map(Where where = Where::current()) const;
  /// For writers and readers of forms.
  const Value &held() const { return value; }

private:
  template <typename T> const T &as(Kind wanted, Where where) const;
  Value value;
};

struct Record::Entry {
  std::string name;
  Record value;
  bool operator==(const Entry &) const = default;
};

namespace detail {

/// The entries that calls of `Record::get` are inside of, for errors.
class RecordPath {
public:
  explicit RecordPath(std::string_view name);
  RecordPath(const RecordPath &) = delete;
  ~RecordPath();
  /// `train.model`; empty outside of any.
  static std::string text();

private:
  const RecordPath *outer;
  std::string_view name;
};

/// An `invalid_argument` Error: `record: 'train.epoch' WHAT`.
[[noreturn]] void throwRecord(const std::string &what,
                              std::source_location where);

} // namespace detail
} // namespace sinter
