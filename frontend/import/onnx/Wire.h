/// Wire: protobuf's wire format, read with every length checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter::onnx {

/// Throws an Error of kind io: what a file says cannot be.
[[noreturn]] void throwMalformed(const std::string &what);

/// What reading one file may take, whatever the file says.
class ReadBudget {
public:
  /// Messages in messages; graphs in attributes of nodes are the deepest.
  static constexpr unsigned maxDepth = 100;

  /// Of a file of so many bytes.
  explicit ReadBudget(size_t fileBytes);
  /// Throws when what was read so far and these bytes are too much memory.
  void take(size_t bytes);

  unsigned depth = 0;

private:
  size_t left;
};

enum class WireType : uint8_t {
  varint = 0,
  fixed64 = 1,
  bytes = 2,
  fixed32 = 5
};

/// The fields of one message, in the order in which they stand. Throws where
/// the bytes are not a message, or an accessor is not of the field's type.
class WireReader {
public:
  WireReader(std::span<const std::byte> message, ReadBudget &budget);
  WireReader(const WireReader &) = delete;
  ~WireReader() { --memory.depth; }

  /// The next field; false at the end.
  bool next();
  uint32_t field() const { return number; }
  WireType type() const { return wireType; }
  ReadBudget &budget() const { return memory; }

  /// Of the field that `next` came to.
  uint64_t varint() const;
  int64_t integer() const { return int64_t(varint()); }
  float real() const;
  /// The bytes of a string or a message.
  std::span<const std::byte> bytes() const;
  std::string text() const;
  /// As many numbers as the field holds, packed or one alone:
  /// `function(bits)`, with the encoding of `scalar`.
  template <typename F> void numbers(WireType scalar, F &&function) const {
    if (wireType == scalar)
      return function(value);
    NumberReader reader(bytes(), scalar);
    for (uint64_t bits; reader.next(bits);)
      function(bits);
  }
  /// The bytes that hold the numbers of such a field.
  std::span<const std::byte> numberBytes(WireType scalar) const;

  /// Numbers that stand one after the other.
  class NumberReader {
  public:
    NumberReader(std::span<const std::byte> bytes, WireType scalar)
        : rest(bytes), scalar(scalar) {}
    bool next(uint64_t &bits);

  private:
    std::span<const std::byte> rest;
    WireType scalar;
  };

private:
  std::span<const std::byte> rest;
  ReadBudget &memory;
  uint32_t number = 0;
  WireType wireType = WireType::varint;
  uint64_t value = 0;                 ///< of a number
  std::span<const std::byte> payload; ///< of what is no message: its own bytes
};

} // namespace sinter::onnx
