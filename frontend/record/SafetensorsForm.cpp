/// Safetensors: each tensor under its path, as anybody reads it, and the rest
/// as JSON in the metadata. One file, as two could not be replaced at once.
///
/// The checksum stands at the front of the metadata. It is of the whole file
/// with zeros in place of its digits.
#include "frontend/record/RecordForms.h"

#include "runtime/params/Safetensors.h"
#include "runtime/params/SafetensorsFormat.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

namespace sinter::record {

constexpr std::string_view sumKey = "sinter.checksum",
                           layoutKey = "sinter.layout",
                           recordKey = "sinter.record";
/// After the length of the header; the metadata is in the order of its keys.
constexpr std::string_view beginning =
    R"({"__metadata__":{"sinter.checksum":")";
constexpr size_t hexDigits = 16;
constexpr size_t digitsAt = sizeof(uint64_t) + beginning.size();
constexpr std::string_view zeros = "0000000000000000";
static_assert(sumKey < layoutKey && layoutKey < recordKey);

bool isSafetensors(ByteSpan bytes) {
  return bytes.size() >= digitsAt + hexDigits &&
         std::memcmp(bytes.data() + sizeof(uint64_t), beginning.data(),
                     beginning.size()) == 0;
}

Result<Pieces> writeSafetensors(const Record &record) {
  TensorNames names;
  std::string fields = fieldsText(record, names);
  runtime::Metadata metadata = {
      {std::string(sumKey), std::string(zeros)},
      {std::string(layoutKey), std::to_string(layoutVersion)},
      {std::string(recordKey), std::move(fields)}};
  std::vector<runtime::MadeTensor> tensors;
  for (const auto &[name, tensor] : names) {
    if (!runtime::isSafetensorsDType(tensor->dtype))
      return makeError(ErrorKind::unsupported,
                       fmt::format("'{}' is of {}, which safetensors does not "
                                   "have",
                                   printableName(name),
                                   sinter::name(tensor->dtype)));
    tensors.push_back({name, tensor->dtype, tensor->dims, {}});
  }
  SINTER_TRY_ASSIGN(
      runtime::SafetensorsLayout layout,
      runtime::layoutSafetensors("safetensors", tensors, metadata));
  Checksum sum;
  sum.add(std::as_bytes(std::span(layout.head)));
  for (size_t number : layout.order)
    sum.add(names[number].second->data);
  layout.head.replace(digitsAt, hexDigits, hexText(sum.value()));
  Pieces pieces;
  pieces.add(layout.head);
  for (size_t number : layout.order)
    pieces.refer(names[number].second->data);
  return pieces;
}

static Status compareSum(ByteSpan file) {
  Checksum sum;
  sum.add(file.first(digitsAt));
  sum.add(std::as_bytes(std::span(zeros)));
  sum.add(file.subspan(digitsAt + hexDigits));
  std::string digits = hexText(sum.value());
  if (std::memcmp(file.data() + digitsAt, digits.data(), hexDigits) != 0)
    return makeError(ErrorKind::io, std::string(damagedText));
  return {};
}

/// The error without the name that the file has for its reader.
static ErrorInfo unnamed(ErrorInfo error, std::string_view name) {
  if (error.message.starts_with(name))
    error.message.erase(0, name.size());
  return error;
}

Result<Record> readSafetensors(const Source &source) {
  if (source.check)
    SINTER_TRY(compareSum(source.bytes));
  constexpr std::string_view inMemory = "the file";
  SINTER_TRY_ASSIGN(runtime::MappedFile copy,
                    runtime::MappedFile::copyOf(source.bytes));
  auto checked =
      runtime::SafetensorsFile::check(std::string(inMemory), std::move(copy));
  if (!checked)
    return unnamed(checked.takeError(), fmt::format("{}: ", inMemory));
  auto file = std::make_shared<runtime::SafetensorsFile>(std::move(*checked));
  std::string_view fields, layout;
  for (const auto &[key, text] : file->metadata()) {
    if (key == recordKey)
      fields = text;
    if (key == layoutKey)
      layout = text;
  }
  uint64_t version = 0;
  std::from_chars(layout.data(), layout.data() + layout.size(), version);
  SINTER_TRY(checkVersion(version));
  return readFields(
      fields, [&](const std::string &name) -> Result<RecordTensor> {
        const runtime::NamedTensor *found = file->find(name);
        if (!found)
          return makeError(ErrorKind::io, fmt::format("tensor '{}' is missing",
                                                      printableName(name)));
        return RecordTensor{found->dtype, found->shape, 0, found->data, file};
      });
}

} // namespace sinter::record
