/// The safetensors file format: writing.
#include "runtime/params/Json.h"
#include "runtime/params/ReplaceFile.h"
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
                                   const NamedTensor &tensor) {
  for (auto [text, type] : safetensors::dtypeNames)
    if (type == tensor.dtype)
      return text;
  return makeError(ErrorKind::unsupported,
                   fmt::format("{}: tensor '{}': safetensors has no dtype {}",
                               path, tensor.name, name(tensor.dtype)));
}

/// Widest elements first, so that every tensor is aligned, then by name.
Result<std::vector<const NamedTensor *>>
orderTensors(const std::string &path, std::span<const NamedTensor> tensors) {
  std::vector<const NamedTensor *> order;
  for (const NamedTensor &tensor : tensors)
    order.push_back(&tensor);
  std::ranges::sort(order, {}, [](const NamedTensor *tensor) {
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
      [](const NamedTensor *tensor) { return byteWidth(tensor->dtype); });
  return order;
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
                               std::span<const NamedTensor *const> order,
                               const Metadata &metadata) {
  std::vector<std::string> entries;
  if (!metadata.empty())
    entries.push_back(metadataText(metadata));
  uint64_t at = 0;
  for (const NamedTensor *tensor : order) {
    SINTER_TRY_ASSIGN(std::string_view dtype, dtypeName(path, *tensor));
    uint64_t end = at + tensor->data.size();
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

Status writeSafetensors(const std::string &path,
                        std::span<const NamedTensor> tensors,
                        const Metadata &metadata) {
  SINTER_TRY_ASSIGN(auto order, orderTensors(path, tensors));
  SINTER_TRY_ASSIGN(std::string header, headerText(path, order, metadata));
  uint64_t length = header.size();
  std::vector<std::span<const std::byte>> parts = {
      std::as_bytes(std::span(&length, 1)), std::as_bytes(std::span(header))};
  for (const NamedTensor *tensor : order)
    parts.push_back(tensor->data);
  return replaceFile(path, parts);
}

} // namespace sinter::runtime
