/// Records and messages as bytes.
#include "frontend/monitor/EventRecords.h"

#include <array>
#include <bit>

namespace sinter::train {

static constexpr std::array<uint32_t, 256> crcTable = [] {
  std::array<uint32_t, 256> table = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = value & 1 ? (value >> 1) ^ 0x82F63B78 : value >> 1;
    table[byte] = value;
  }
  return table;
}();

uint32_t crc32c(std::string_view bytes) {
  uint32_t value = ~uint32_t{0};
  for (char byte : bytes)
    value = crcTable[(value ^ uint8_t(byte)) & 0xFF] ^ (value >> 8);
  return ~value;
}

uint32_t maskedCrc(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xA282EAD8;
}

static void addFixed(std::string &to, uint64_t value, int count) {
  for (int byte = 0; byte < count; ++byte)
    to += char(value >> (8 * byte) & 0xFF);
}

void addRecord(std::string &file, std::string_view data) {
  std::string length;
  addFixed(length, data.size(), 8);
  file += length;
  addFixed(file, maskedCrc(length), 4);
  file += data;
  addFixed(file, maskedCrc(data), 4);
}

void WireMessage::varint(uint64_t value) {
  for (; value >= 128; value >>= 7)
    bytes += char((value & 127) | 128);
  bytes += char(value);
}

// The low bits of a field's key say how what follows is written.
enum : uint8_t {
  wireVarint = 0,
  wireFixed64 = 1,
  wireBytes = 2,
  wireFixed32 = 5
};

WireMessage &WireMessage::number(int field, uint64_t value) {
  varint(uint64_t(field) << 3 | wireVarint);
  varint(value);
  return *this;
}

WireMessage &WireMessage::real(int field, double value) {
  varint(uint64_t(field) << 3 | wireFixed64);
  addFixed(bytes, std::bit_cast<uint64_t>(value), 8);
  return *this;
}

WireMessage &WireMessage::single(int field, float value) {
  varint(uint64_t(field) << 3 | wireFixed32);
  addFixed(bytes, std::bit_cast<uint32_t>(value), 4);
  return *this;
}

WireMessage &WireMessage::text(int field, std::string_view content) {
  varint(uint64_t(field) << 3 | wireBytes);
  varint(content.size());
  bytes += content;
  return *this;
}

WireMessage &WireMessage::packed(int field, const std::vector<double> &values) {
  varint(uint64_t(field) << 3 | wireBytes);
  varint(values.size() * 8);
  for (double value : values)
    addFixed(bytes, std::bit_cast<uint64_t>(value), 8);
  return *this;
}

} // namespace sinter::train
