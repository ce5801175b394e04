/// Records of every form, with their checksum and without: what is read is
/// written, in every form, and read again.
#include "tests/fuzz/Fuzzer.h"

#include <sinter/Error.h>
#include <sinter/record/RecordTree.h>

using namespace sinter;
using fuzz::require;

static void rewrite(const Record &record, RecordFormat format) {
  Record::Bytes bytes;
  try {
    bytes = record.to_bytes(SaveRecordOptions{.format = format});
  } catch (const Error &error) {
    // Safetensors have fewer dtypes; pretty JSON takes more levels.
    require(error.kind() == ErrorKind::unsupported);
    return;
  }
  // Bits are compared, as NaN is no equal of itself.
  Record again = Record::from_bytes(bytes);
  require(again.to_bytes() == record.to_bytes());
}

static void check(std::span<const std::byte> bytes,
                  const LoadRecordOptions &options) {
  Record record;
  try {
    record = Record::from_bytes(bytes, options);
  } catch (const Error &error) {
    require(error.kind() == ErrorKind::io ||
            error.kind() == ErrorKind::unsupported);
    require(error.message().starts_with("record in memory: "));
    return;
  }
  for (RecordFormat format :
       {RecordFormat::safetensors, RecordFormat::named_mpk, RecordFormat::bin,
        RecordFormat::pretty_json, RecordFormat::json_gz})
    rewrite(record, format);
}

SINTER_FUZZER(Record) {
  constexpr uint64_t most = uint64_t(1) << 24;
  auto bytes = fuzz::bytesOf(data, size);
  check(bytes, {.most_bytes = most});
  check(bytes, {.most_bytes = most, .check = false});
}
