/// Tensors in other precisions, and what cannot be stored at all.
#include "frontend/record/RecordForms.h"

#include "runtime/params/FloatCasts.h"
#include "runtime/params/IntegerCasts.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_set>

namespace sinter::record {

namespace {

class Preparer {
public:
  explicit Preparer(RecordPrecision precision) : precision(precision) {}

  Result<Record> run(const Record &record);

private:
  Result<Record::Map> map(const Record::Map &from);
  Result<Record::List> list(const Record::List &from);
  Result<RecordTensor> tensor(const RecordTensor &from);
  Status checkText(std::string_view text) const {
    if (isUtf8(text))
      return {};
    return fail("is no UTF-8; a vector of std::byte may be anything");
  }
  ErrorInfo fail(std::string_view what) const {
    std::string all;
    for (std::string_view name : path)
      all += fmt::format("{}{}", all.empty() ? "" : ".", name);
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("record: '{}' {}", printableName(all), what),
                     "record");
  }

  RecordPrecision precision;
  std::vector<std::string> path;
};

} // namespace

static DType storedType(DType dtype, RecordPrecision precision) {
  using enum RecordPrecision;
  if (dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 ||
      dtype == DType::bf16)
    return precision == double_precision ? DType::f64
           : precision == full_precision ? DType::f32
           : precision == half_precision ? DType::f16
                                         : dtype;
  if (dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32 ||
      dtype == DType::i64)
    return precision == double_precision ? DType::i64
           : precision == full_precision ? DType::i32
           : precision == half_precision ? DType::i16
                                         : dtype;
  return dtype;
}

/// The element of a float dtype as a double.
static double floatAt(ByteSpan data, DType dtype, size_t index) {
  size_t width = byteWidth(dtype);
  double value = 0;
  if (dtype == DType::f64)
    std::memcpy(&value, data.data() + index * width, width);
  else {
    float single = 0;
    runtime::castFloats(data.subspan(index * width, width), dtype,
                        std::as_writable_bytes(std::span(&single, 1)),
                        DType::f32);
    value = single;
  }
  return value;
}

/// The first finite number that became an infinity; none: the count.
static size_t firstTooLarge(ByteSpan from, DType fromType, ByteSpan to,
                            DType toType) {
  size_t width = byteWidth(toType), count = to.size() / width;
  for (size_t i = 0; i < count; ++i) {
    bool isSpecial = false; // an exponent of ones
    if (toType == DType::f16) {
      uint16_t bits = 0;
      std::memcpy(&bits, to.data() + i * width, width);
      isSpecial = (bits & 0x7fff) == 0x7c00;
    } else if (toType == DType::f32) {
      uint32_t bits = 0;
      std::memcpy(&bits, to.data() + i * width, width);
      isSpecial = (bits & 0x7fffffff) == 0x7f800000;
    }
    if (isSpecial && std::isfinite(floatAt(from, fromType, i)))
      return i;
  }
  return count;
}

Result<RecordTensor> Preparer::tensor(const RecordTensor &from) {
  DType wanted = storedType(from.dtype, precision);
  if (wanted == from.dtype)
    return from;
  RecordTensor to = from;
  to.dtype = wanted;
  size_t count = from.data.size() / byteWidth(from.dtype);
  auto bytes =
      std::make_shared<std::vector<std::byte>>(count * byteWidth(wanted));
  if (isFloat(wanted)) {
    runtime::castFloats(from.data, from.dtype, *bytes, wanted);
    size_t at = firstTooLarge(from.data, from.dtype, *bytes, wanted);
    if (at < count)
      return fail(fmt::format("has the number {}, for which {} has no room",
                              floatAt(from.data, from.dtype, at),
                              name(wanted)));
  } else if (auto odd =
                 runtime::castIntegers(from.data, from.dtype, *bytes, wanted)) {
    return fail(fmt::format("has the number {}, for which {} has no room", *odd,
                            name(wanted)));
  }
  to.data = *bytes;
  to.owner = std::move(bytes);
  return to;
}

Result<Record::Map> Preparer::map(const Record::Map &from) {
  Record::Map to;
  to.reserve(from.size());
  std::unordered_set<std::string_view> names;
  for (const auto &[name, value] : from) {
    path.push_back(name);
    SINTER_TRY(checkText(name));
    if (!names.insert(name).second)
      return fail("is there twice");
    SINTER_TRY_ASSIGN(Record made, run(value));
    to.push_back({name, std::move(made)});
    path.pop_back();
  }
  return to;
}

Result<Record::List> Preparer::list(const Record::List &from) {
  Record::List to;
  to.reserve(from.size());
  for (const Record &value : from) {
    path.push_back(std::to_string(to.size()));
    SINTER_TRY_ASSIGN(Record made, run(value));
    to.push_back(std::move(made));
    path.pop_back();
  }
  return to;
}

Result<Record> Preparer::run(const Record &record) {
  if (path.size() > size_t(mostLevels))
    return fail(fmt::format("is more than {} levels deep", mostLevels));
  const Record::Value &value = record.held();
  if (const auto *text = std::get_if<std::string>(&value)) {
    SINTER_TRY(checkText(*text));
  } else if (const auto *from = std::get_if<RecordTensor>(&value)) {
    if (Status fits = checkTensor(*from); !fits)
      return fail("is " + fits.error().message);
    SINTER_TRY_ASSIGN(RecordTensor to, tensor(*from));
    return Record(Record::Value(std::move(to)));
  } else if (const auto *elements = std::get_if<Record::List>(&value)) {
    SINTER_TRY_ASSIGN(Record::List to, list(*elements));
    return Record(Record::Value(std::move(to)));
  } else if (const auto *entries = std::get_if<Record::Map>(&value)) {
    SINTER_TRY_ASSIGN(Record::Map to, map(*entries));
    return Record(Record::Value(std::move(to)));
  }
  return record;
}

Result<Record> prepared(const Record &record, RecordPrecision precision) {
  return Preparer(precision).run(record);
}

} // namespace sinter::record
