/// Files of records: extensions, what a file is, reading and writing.
#include "frontend/Raise.h"
#include "frontend/record/RecordForms.h"

#include "runtime/files/FileDescriptor.h"
#include "runtime/files/FileKind.h"
#include "runtime/files/ReplaceFile.h"
#include "runtime/files/SystemError.h"
#include "runtime/support/Printable.h"

#include <sinter/record/RecordValues.h>

#include <fmt/format.h>

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>

namespace sinter::record {

std::span<const FormatInfo> formats() {
  static constexpr FormatInfo all[] = {
      {RecordFormat::safetensors, ".safetensors", "safetensors"},
      {RecordFormat::named_mpk, ".mpk", "MessagePack"},
      {RecordFormat::named_mpk_gz, ".mpk.gz", "gzipped MessagePack"},
      {RecordFormat::bin, ".bin", "the binary form"},
      {RecordFormat::bin_gz, ".bin.gz", "the gzipped binary form"},
      {RecordFormat::json_gz, ".json.gz", "gzipped JSON"},
      {RecordFormat::pretty_json, ".json", "JSON"},
  };
  return all;
}

const FormatInfo &infoOf(RecordFormat format) {
  return *std::ranges::find(formats(), format, &FormatInfo::format);
}

std::optional<RecordFormat> formatOfName(std::string_view path) {
  for (const FormatInfo &info : formats())
    if (path.ends_with(info.extension))
      return info.format;
  return std::nullopt;
}

std::optional<RecordFormat> formatOfBytes(ByteSpan bytes) {
  if (isBinary(bytes))
    return RecordFormat::bin;
  if (isMessagePack(bytes))
    return RecordFormat::named_mpk;
  if (isSafetensors(bytes))
    return RecordFormat::safetensors;
  if (isJson(bytes))
    return RecordFormat::pretty_json;
  return gzippedFormat(bytes);
}

static bool isGzipped(RecordFormat format) {
  return infoOf(format).extension.ends_with(".gz");
}

static Result<Pieces> encodePlain(const Record &record, RecordFormat format) {
  switch (format) {
  case RecordFormat::safetensors:
    return writeSafetensors(record);
  case RecordFormat::named_mpk:
  case RecordFormat::named_mpk_gz:
    return writeMessagePack(record);
  case RecordFormat::json_gz:
    return writeJson(record, JsonStyle::compact);
  case RecordFormat::pretty_json:
    return writeJson(record, JsonStyle::pretty);
  default:
    return writeBinary(record);
  }
}

static uint64_t countValues(const Record &record) {
  uint64_t count = 1;
  if (const auto *list = std::get_if<Record::List>(&record.held()))
    for (const Record &element : *list)
      count += countValues(element);
  if (const auto *map = std::get_if<Record::Map>(&record.held()))
    for (const auto &[name, entry] : *map)
      count += countValues(entry);
  return count;
}

Result<Pieces> encode(const Record &record, RecordFormat format) {
  if (!record.is(Record::Kind::map))
    return makeError(ErrorKind::invalid_argument,
                     "record: only a map can be a file", "record");
  SINTER_TRY_ASSIGN(Pieces plain, encodePlain(record, format));
  // What cannot be read is not written.
  ValueBudget budget(plain.size());
  uint64_t values = countValues(record);
  for (uint64_t i = 0; i < values; ++i)
    if (!budget.take())
      return makeError(ErrorKind::unsupported,
                       fmt::format("record: {} values are too many for a file; "
                                   "long lists are tensors",
                                   values),
                       "record");
  if (!isGzipped(format))
    return plain;
  SINTER_TRY_ASSIGN(std::vector<std::byte> packed, gzip(format, plain));
  Pieces pieces;
  pieces.own(std::move(packed));
  return pieces;
}

static Result<Record> decodePlain(const Source &source, RecordFormat format) {
  switch (format) {
  case RecordFormat::safetensors:
    return readSafetensors(source);
  case RecordFormat::named_mpk:
  case RecordFormat::named_mpk_gz:
    return readMessagePack(source);
  case RecordFormat::json_gz:
  case RecordFormat::pretty_json:
    return readJson(source);
  default:
    return readBinary(source);
  }
}

Result<Record> decode(const Source &source, RecordFormat format,
                      const LoadRecordOptions &options) {
  auto checked = [](Result<Record> record) -> Result<Record> {
    if (record && !record->is(Record::Kind::map))
      return makeError(ErrorKind::io, "its record is no map");
    return record;
  };
  Source plain = source;
  plain.check = options.check;
  if (!isGzipped(format))
    return checked(decodePlain(plain, format));
  constexpr uint64_t leastLimit = uint64_t(1) << 30, ratio = 64;
  uint64_t most = options.most_bytes.value_or(
      std::max(leastLimit, ratio * source.bytes.size()));
  SINTER_TRY_ASSIGN(std::vector<std::byte> unpacked,
                    gunzip(source.bytes, most, options.check));
  auto own = std::make_shared<std::vector<std::byte>>(std::move(unpacked));
  plain.bytes = *own;
  plain.owner = std::move(own);
  using enum RecordFormat;
  bool isInside = format == named_mpk_gz ? isMessagePack(plain.bytes)
                  : format == json_gz    ? isJson(plain.bytes)
                                         : isBinary(plain.bytes);
  if (!isInside)
    return makeError(ErrorKind::io,
                     fmt::format("it does not unpack to what its head says, {}",
                                 infoOf(format).name));
  return checked(decodePlain(plain, format));
}

/// `PATH: WHAT`, of the file's own kind of error.
static ErrorInfo fileError(const std::string &path, ErrorInfo error) {
  error.message = fmt::format("{}: {}", printable(path), error.message);
  return error;
}

static Result<std::vector<std::byte>> readFile(const std::string &path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file)
    return runtime::systemError(printable(path), "cannot open");
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0)
    return runtime::systemError(printable(path), "cannot read");
  if (!S_ISREG(info.st_mode))
    return makeError(ErrorKind::io, printable(path) + ": not a regular file");
  std::vector<std::byte> bytes(size_t(info.st_size));
  if (!file.readAll(bytes))
    return runtime::systemError(printable(path), "cannot read");
  return bytes;
}

/// What `bytes` are is said by themselves; `expected` by who asks.
static Result<Record> readAny(const Source &source, const std::string &path,
                              std::optional<RecordFormat> expected,
                              const LoadRecordOptions &options) {
  auto fail = [&](std::string what) {
    return fileError(path, makeError(ErrorKind::io, std::move(what)));
  };
  std::optional<RecordFormat> found = formatOfBytes(source.bytes);
  if (!found)
    return fail(otherFile(
        expected ? fmt::format("no record in {}", infoOf(*expected).name)
                 : std::string("no record"),
        source.bytes));
  if (expected && *expected != *found)
    return fail(fmt::format("no record in {}; this is a record in {} ({})",
                            infoOf(*expected).name, infoOf(*found).name,
                            infoOf(*found).extension));
  auto record = decode(source, *found, options);
  if (!record)
    return fileError(path, record.takeError());
  return record;
}

static bool exists(const std::string &path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0;
}

/// The file that `path` means: itself, or with an extension.
static Result<std::string> findFile(const std::string &path,
                                    std::optional<RecordFormat> format) {
  if (exists(path))
    return path;
  std::vector<std::string> found;
  for (const FormatInfo &info : formats())
    if (std::string full = path + std::string(info.extension);
        (!format || *format == info.format) && exists(full))
      found.push_back(std::move(full));
  if (found.size() > 1)
    return makeError(ErrorKind::io,
                     fmt::format("{}: there are {} and {}; name the one that "
                                 "is meant",
                                 printable(path), printable(found[0]),
                                 printable(found[1])));
  return found.empty() ? path : found[0];
}

} // namespace sinter::record

namespace sinter {

using namespace record;

std::string Record::save(const std::string &path,
                         const SaveRecordOptions &options, Where where) const
    try {
  std::optional<RecordFormat> named = formatOfName(path);
  RecordFormat format =
      options.format.value_or(named.value_or(RecordFormat::named_mpk));
  if (named && *named != format)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            fmt::format("record: {} has the extension of {}, "
                                        "and is to be in {}",
                                        printable(path), infoOf(*named).name,
                                        infoOf(format).name),
                            "record"),
                  where);
  std::string full =
      named ? path : path + std::string(infoOf(format).extension);
  Record ready = detail::unwrap(prepared(*this, options.precision), where);
  auto pieces = encode(ready, format);
  if (!pieces)
    detail::raise(fileError(full, pieces.takeError()), where);
  detail::unwrap(runtime::replaceFile(full, pieces->parts()), where);
  return full;
} catch (...) {
  detail::raiseExhausted(where);
}

Record Record::load(const std::string &path, const LoadRecordOptions &options,
                    Where where) try {
  std::string full = detail::unwrap(findFile(path, options.format), where);
  auto bytes = std::make_shared<std::vector<std::byte>>(
      detail::unwrap(readFile(full), where));
  std::optional<RecordFormat> expected =
      options.format ? options.format : formatOfName(full);
  return detail::unwrap(
      record::readAny({*bytes, bytes, true}, full, expected, options), where);
} catch (...) {
  detail::raiseExhausted(where);
}

Record::Bytes Record::to_bytes(const SaveRecordOptions &options,
                               Where where) const try {
  Record ready = detail::unwrap(prepared(*this, options.precision), where);
  return detail::unwrap(
             encode(ready, options.format.value_or(RecordFormat::bin)), where)
      .joined();
} catch (...) {
  detail::raiseExhausted(where);
}

Record::Bytes Record::to_bytes(RecordPrecision precision, Where where) const {
  return to_bytes({RecordFormat::bin, precision}, where);
}

static constexpr const char *memoryName = "record in memory";

Record Record::from_bytes(std::span<const std::byte> bytes,
                          const LoadRecordOptions &options, Where where) try {
  auto own =
      std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  return detail::unwrap(
      record::readAny({*own, own, true}, memoryName, options.format, options),
      where);
} catch (...) {
  detail::raiseExhausted(where);
}

Record detail::borrowedRecord(std::span<const std::byte> bytes,
                              std::source_location where) try {
  return unwrap(record::readAny({bytes, nullptr, true}, memoryName,
                                std::nullopt, LoadRecordOptions{}),
                where);
} catch (...) {
  raiseExhausted(where);
}

} // namespace sinter
