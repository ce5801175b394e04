/// Protobuf's wire format.
#include "frontend/import/onnx/Wire.h"

#include "sinter/runtime/Result.h"

#include <sinter/Error.h>

#include <bit>
#include <cstring>

namespace sinter::onnx {

void throwMalformed(const std::string &what) {
  throw Error(makeError(ErrorKind::io, "onnx: " + what));
}

// A file that is made of bytes of weights takes little besides; one that is
// made of empty messages would take a hundred times its size.
ReadBudget::ReadBudget(size_t fileBytes)
    : left((size_t(128) << 20) + 4 * fileBytes) {}

void ReadBudget::take(size_t bytes) {
  if (bytes > left)
    throwMalformed("the file would take too much memory for its size");
  left -= bytes;
}

static uint64_t littleEndian(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

static uint64_t takeVarint(std::span<const std::byte> &rest) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (rest.empty())
      throwMalformed("the file ends inside a number");
    auto byte = uint64_t(rest.front());
    rest = rest.subspan(1);
    if (shift == 63 && byte > 1)
      break;
    value |= (byte & 127) << shift;
    if (byte < 128)
      return value;
  }
  throwMalformed("a number has more than 64 bits");
}

static std::span<const std::byte> takeBytes(std::span<const std::byte> &rest,
                                            uint64_t count) {
  if (count > rest.size())
    throwMalformed("a field is longer than what it stands in");
  auto taken = rest.first(size_t(count));
  rest = rest.subspan(size_t(count));
  return taken;
}

WireReader::WireReader(std::span<const std::byte> message, ReadBudget &budget)
    : rest(message), memory(budget) {
  if (memory.depth >= ReadBudget::maxDepth)
    throwMalformed("messages stand in each other more than " +
                   std::to_string(ReadBudget::maxDepth) + " deep");
  ++memory.depth;
}

bool WireReader::next() {
  if (rest.empty())
    return false;
  uint64_t tag = takeVarint(rest);
  if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
    throwMalformed("a field has the number " + std::to_string(tag >> 3));
  number = uint32_t(tag >> 3);
  auto begin = rest;
  switch (tag & 7) {
  case 0:
    wireType = WireType::varint;
    value = takeVarint(rest);
    break;
  case 1:
    wireType = WireType::fixed64;
    value = littleEndian(takeBytes(rest, 8));
    break;
  case 2: {
    wireType = WireType::bytes;
    uint64_t length = takeVarint(rest);
    payload = takeBytes(rest, length);
    return true;
  }
  case 5:
    wireType = WireType::fixed32;
    value = littleEndian(takeBytes(rest, 4));
    break;
  default:
    throwMalformed("a field has the wire type " + std::to_string(tag & 7));
  }
  payload = begin.first(begin.size() - rest.size());
  return true;
}

static void expect(bool is, uint32_t field, const char *what) {
  if (!is)
    throwMalformed("field " + std::to_string(field) + " is not " + what);
}

uint64_t WireReader::varint() const {
  expect(wireType == WireType::varint, number, "an integer");
  return value;
}

float WireReader::real() const {
  expect(wireType == WireType::fixed32, number, "a float");
  return std::bit_cast<float>(uint32_t(value));
}

std::span<const std::byte> WireReader::bytes() const {
  expect(wireType == WireType::bytes, number, "a string or a message");
  return payload;
}

std::string WireReader::text() const {
  std::span<const std::byte> own = bytes();
  memory.take(sizeof(std::string) + own.size());
  return {reinterpret_cast<const char *>(own.data()), own.size()};
}

std::span<const std::byte> WireReader::numberBytes(WireType scalar) const {
  expect(wireType == scalar || wireType == WireType::bytes, number,
         "a list of numbers");
  return payload;
}

bool WireReader::NumberReader::next(uint64_t &bits) {
  if (rest.empty())
    return false;
  if (scalar == WireType::varint)
    bits = takeVarint(rest);
  else
    bits = littleEndian(takeBytes(rest, scalar == WireType::fixed64 ? 8 : 4));
  return true;
}

} // namespace sinter::onnx
