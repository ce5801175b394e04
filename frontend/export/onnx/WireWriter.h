/// WireWriter: the bytes of ONNX's messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace sinter::onnx {

/// A protobuf message that grows field by field.
class WireWriter {
public:
  void integer(uint32_t field, int64_t value) {
    varint(field << 3);
    varint(uint64_t(value));
  }
  void real(uint32_t field, float value) {
    varint(field << 3 | 5);
    char bits[sizeof(value)];
    std::memcpy(bits, &value, sizeof(value));
    content.append(bits, sizeof(bits));
  }
  void text(uint32_t field, std::string_view value) {
    open(field, value.size());
    content.append(value);
  }
  void message(uint32_t field, const WireWriter &value) {
    text(field, value.content);
  }
  /// The start of a field whose `bytes` follow elsewhere.
  void open(uint32_t field, uint64_t bytes) {
    varint(field << 3 | 2);
    varint(bytes);
  }
  void append(const WireWriter &other) { content += other.content; }

  size_t size() const { return content.size(); }
  std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(content));
  }

private:
  void varint(uint64_t value) {
    for (; value > 127; value >>= 7)
      content += char(value | 128);
    content += char(value);
  }

  std::string content;
};

} // namespace sinter::onnx
