/// EventRecords: TensorFlow's record files, and the few messages that they hold
/// here.
#pragma once

#include <sinter/train/Events.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::train {

/// CRC-32C (Castagnoli; RFC 3720, B.4).
uint32_t crc32c(std::string_view bytes);
/// As records hold it: rotated and moved, so that a checksum of data with a
/// checksum in it is none (tensorflow/core/lib/hash/crc32c.h).
uint32_t maskedCrc(std::string_view bytes);

/// Appends a record: length, its checksum, data, its checksum, little-endian
/// (tensorflow/core/lib/io/record_writer.h).
void addRecord(std::string &file, std::string_view data);

/// Protocol buffers' wire format.
class WireMessage {
public:
  WireMessage &number(int field, uint64_t value);
  WireMessage &real(int field, double value);
  WireMessage &single(int field, float value);
  WireMessage &text(int field, std::string_view bytes);
  WireMessage &text(int field, const WireMessage &message) {
    return text(field, message.bytes);
  }
  WireMessage &packed(int field, const std::vector<double> &values);
  void clear() { bytes.clear(); }
  std::string_view view() const { return bytes; }

private:
  void varint(uint64_t value);

  std::string bytes;
};

} // namespace sinter::train
