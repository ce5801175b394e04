/// The safetensors file format: writing.
#include "runtime/files/ReplaceFile.h"
#include "runtime/params/Json.h"
#include "runtime/params/Safetensors.h"
#include "runtime/params/SafetensorsFormat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace sinter::runtime {

namespace {

Result<std::string_view> dtypeName(const std::string &path,
                                   const MadeTensor &tensor) {
  for (auto [text, type] : safetensors::dtypeNames)
    if (type == tensor.dtype)
      return text;
  return makeError(ErrorKind::unsupported,
                   fmt::format("{}: tensor '{}': safetensors has no dtype {}",
                               path, tensor.name, name(tensor.dtype)));
}

/// Widest elements first, so that every tensor is aligned, then by name.
Result<std::vector<const MadeTensor *>>
orderTensors(const std::string &path, std::span<const MadeTensor> tensors) {
  std::vector<const MadeTensor *> order;
  for (const MadeTensor &tensor : tensors)
    order.push_back(&tensor);
  std::ranges::sort(order, {}, [](const MadeTensor *tensor) {
    return std::string_view(tensor->name);
  });
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i]->name == safetensors::metadataKey ||
        (i > 0 && order[i]->name == order[i - 1]->name))
      return makeError(ErrorKind::invalid_argument,
                       fmt::format("{}: tensor '{}': name is already taken",
                                   path, order[i]->name));
  std::ranges::stable_sort(
      order, std::ranges::greater(),
      [](const MadeTensor *tensor) { return byteWidth(tensor->dtype); });
  return order;
}

uint64_t bytesOf(const MadeTensor &tensor) {
  uint64_t bytes = byteWidth(tensor.dtype);
  for (int64_t dim : tensor.shape)
    bytes *= uint64_t(dim);
  return bytes;
}

std::string metadataText(Metadata metadata) {
  std::ranges::sort(metadata);
  std::string text;
  for (const auto &[key, value] : metadata)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json::quote(key),
                        json::quote(value));
  return fmt::format("\"{}\":{{{}}}", safetensors::metadataKey, text);
}

Result<std::string> headerText(const std::string &path,
                               std::span<const MadeTensor *const> order,
                               const Metadata &metadata) {
  std::vector<std::string> entries;
  if (!metadata.empty())
    entries.push_back(metadataText(metadata));
  uint64_t at = 0;
  for (const MadeTensor *tensor : order) {
    SINTER_TRY_ASSIGN(std::string_view dtype, dtypeName(path, *tensor));
    uint64_t end = at + bytesOf(*tensor);
    entries.push_back(fmt::format(
        R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
        json::quote(tensor->name), dtype, fmt::join(tensor->shape, ","), at,
        end));
    at = end;
  }
  std::string text = fmt::format("{{{}}}", fmt::join(entries, ","));
  constexpr size_t alignment = 8; // of the data behind the header
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  if (text.size() > safetensors::maxHeaderBytes)
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("{}: header of {} bytes exceeds {}", path,
                                 text.size(), safetensors::maxHeaderBytes));
  return text;
}

} // namespace

bool isSafetensorsDType(DType dtype) {
  return std::ranges::count(safetensors::dtypeNames, dtype,
                            &std::pair<std::string_view, DType>::second) > 0;
}

Result<SafetensorsLayout> layoutSafetensors(const std::string &path,
                                            std::span<const MadeTensor> tensors,
                                            const Metadata &metadata) {
  SINTER_TRY_ASSIGN(auto order, orderTensors(path, tensors));
  SINTER_TRY_ASSIGN(std::string header, headerText(path, order, metadata));
  uint64_t length = header.size();
  SafetensorsLayout layout;
  layout.head.assign(reinterpret_cast<const char *>(&length), sizeof(length));
  layout.head += header;
  for (const MadeTensor *tensor : order)
    layout.order.push_back(size_t(tensor - tensors.data()));
  return layout;
}

Status writeSafetensors(const std::string &path,
                        std::span<const MadeTensor> tensors,
                        const Metadata &metadata) {
  SINTER_TRY_ASSIGN(SafetensorsLayout layout,
                    layoutSafetensors(path, tensors, metadata));
  FileContents contents;
  contents.size = layout.head.size();
  for (const MadeTensor &tensor : tensors)
    contents.size += bytesOf(tensor);
  contents.count = 1 + tensors.size();
  contents.part = [&](size_t index) -> Result<std::span<const std::byte>> {
    if (index == 0)
      return std::as_bytes(std::span(layout.head));
    const MadeTensor &tensor = tensors[layout.order[index - 1]];
    SINTER_TRY_ASSIGN(std::span<const std::byte> elements, tensor.elements());
    if (elements.size() != bytesOf(tensor))
      return makeError(ErrorKind::internal,
                       fmt::format("{}: tensor '{}' has {} bytes, not {}", path,
                                   tensor.name, elements.size(),
                                   bytesOf(tensor)));
    return elements;
  };
  return replaceFile(path, contents);
}

Status writeSafetensors(const std::string &path,
                        std::span<const NamedTensor> tensors,
                        const Metadata &metadata) {
  std::vector<MadeTensor> made;
  made.reserve(tensors.size());
  for (const NamedTensor &tensor : tensors)
    made.push_back({tensor.name, tensor.dtype, tensor.shape,
                    [&tensor] { return tensor.data; }});
  return writeSafetensors(path, std::span<const MadeTensor>(made), metadata);
}

} // namespace sinter::runtime
