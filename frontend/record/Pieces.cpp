/// What the forms of records share.
#include "frontend/record/RecordForms.h"

#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <xxhash.h>

namespace sinter::record {

//===- Pieces -------------------------------------------------------------===//

static std::string_view textOf(ByteSpan bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

void Pieces::add(std::string_view text) {
  open += text;
  length += text.size();
}

void Pieces::add(ByteSpan bytes) { add(textOf(bytes)); }

void Pieces::close() {
  if (open.empty())
    return;
  texts.push_back(std::move(open));
  open.clear();
  list.push_back(std::as_bytes(std::span(texts.back())));
}

void Pieces::own(std::vector<std::byte> bytes) {
  close();
  buffers.push_back(std::move(bytes));
  list.push_back(buffers.back());
  length += buffers.back().size();
}

void Pieces::refer(ByteSpan bytes) {
  constexpr size_t small = 256; // less than what a part takes
  if (bytes.size() < small)
    return add(bytes);
  close();
  list.push_back(bytes);
  length += bytes.size();
}

std::span<const ByteSpan> Pieces::parts() {
  close();
  return list;
}

std::vector<std::byte> Pieces::joined() {
  std::vector<std::byte> all;
  all.reserve(length);
  for (ByteSpan part : parts())
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

//===- Checksums ----------------------------------------------------------===//

static XXH3_state_t *stateOf(void *state) {
  return static_cast<XXH3_state_t *>(state);
}

Checksum::Checksum() : state(XXH3_createState()) {
  if (!state)
    throw std::bad_alloc();
  XXH3_64bits_reset(stateOf(state));
}
Checksum::~Checksum() { XXH3_freeState(stateOf(state)); }

void Checksum::add(ByteSpan bytes) {
  if (!bytes.empty())
    XXH3_64bits_update(stateOf(state), bytes.data(), bytes.size());
}
void Checksum::add(std::span<const ByteSpan> parts) {
  for (ByteSpan part : parts)
    add(part);
}
uint64_t Checksum::value() const { return XXH3_64bits_digest(stateOf(state)); }

uint64_t Checksum::of(ByteSpan bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string hexText(uint64_t number) { return fmt::format("{:016x}", number); }

bool readHex(std::string_view text, uint64_t &number) {
  auto end =
      std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return end.ec == std::errc() && hexText(number) == text;
}

//===- What readers check -------------------------------------------------===//

Status ValueBudget::take() {
  if (left == 0)
    return makeError(ErrorKind::io, "it holds more values than its size lets "
                                    "expect; long lists are tensors");
  --left;
  return {};
}

Status checkVersion(uint64_t version) {
  if (version == uint64_t(layoutVersion))
    return {};
  return makeError(
      ErrorKind::unsupported,
      fmt::format("it is a record of layout {}, and this version of Sinter "
                  "reads layout {}",
                  version, layoutVersion));
}

Result<DType> dtypeNamed(std::string_view text) {
  if (auto dtype = parseDType(text); dtype && isStorable(*dtype))
    return *dtype;
  return makeError(ErrorKind::io,
                   fmt::format("there is no dtype '{}'", printableName(text)));
}

Status checkTensor(const RecordTensor &tensor) {
  constexpr size_t mostAxes = 64;
  auto fail = [](std::string what) {
    return makeError(ErrorKind::io, "a tensor " + std::move(what));
  };
  if (tensor.dims.size() > mostAxes)
    return fail(fmt::format("has {} axes", tensor.dims.size()));
  uint64_t bytes = byteWidth(tensor.dtype);
  bool isEmpty = std::ranges::count(tensor.dims, 0) > 0;
  for (int64_t dim : tensor.dims)
    if (dim < 0 ||
        (!isEmpty && __builtin_mul_overflow(bytes, uint64_t(dim), &bytes)))
      return fail(fmt::format("has an axis of {} elements", dim));
  if (isEmpty)
    bytes = 0;
  if (tensor.data.size() != bytes)
    return fail(fmt::format("has {} bytes, not {}", tensor.data.size(), bytes));
  unsigned bits = valueBits(tensor.dtype);
  if (bits < 8)
    for (std::byte element : tensor.data)
      if (std::to_integer<unsigned>(element) >> bits)
        return fail(fmt::format("of {} has an element {}", name(tensor.dtype),
                                std::to_integer<unsigned>(element)));
  return {};
}

} // namespace sinter::record
