/// Items: CBOR and MessagePack, item by item. Both are JSON's values in binary.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sinter::runtime::packed {

enum class Kind : uint8_t {
  null,
  boolean,
  integer,
  real,
  text,
  bytes,
  list,      ///< `count` items follow
  map,       ///< `count` keys and values follow
  extension, ///< bytes of a type of the application's
  end,       ///< of a list or map without a count
};

/// The count of a list or map that ends with `Kind::end`.
inline constexpr uint64_t unknownCount = UINT64_MAX;

struct Item {
  Kind kind = Kind::null;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string_view text; ///< also of bytes and extensions
  uint64_t count = 0;
  int8_t type = 0; ///< of an extension

  bool is(Kind wanted) const { return kind == wanted; }
  std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(text));
  }
};

/// Reads items one after the other. An `io` error says at which byte the text
/// is damaged. Lengths are checked against what is there; lists and maps hold
/// at most one item a byte.
class ItemReader {
public:
  explicit ItemReader(std::span<const std::byte> bytes)
      : text(reinterpret_cast<const char *>(bytes.data()), bytes.size()) {}
  virtual ~ItemReader() = default;

  virtual Result<Item> next() = 0;
  /// Passes what belongs to `item`, which was read.
  Status skip(const Item &item);
  /// An item that has to be of that kind.
  Result<Item> expect(Kind kind, std::string_view what);
  size_t position() const { return at; }
  bool atEnd() const { return at == text.size(); }
  ErrorInfo fail(std::string_view what) const;

protected:
  std::string_view text;
  size_t at = 0;

  Result<std::string_view> take(uint64_t count);
  /// A number in as many bytes, the highest first.
  Result<uint64_t> takeNumber(size_t bytes);
  Result<Item> textItem(Kind kind, uint64_t length);
  Result<Item> countItem(Kind kind, uint64_t count);
  static Item integerItem(int64_t value);
  static Item realItem(double value);
  static Item booleanItem(bool value);
  Result<Item> floatItem(size_t bytes);

private:
  Status skipSome(const Item &item, int depth);
};

/// RFC 8949 without tags and texts in pieces, which no weight file has.
class CborReader final : public ItemReader {
public:
  using ItemReader::ItemReader;
  Result<Item> next() override;

private:
  Result<uint64_t> argument(uint8_t info);
};

/// MessagePack.
class MsgpackReader final : public ItemReader {
public:
  using ItemReader::ItemReader;
  Result<Item> next() override;

private:
  Result<Item> sized(uint8_t code);
};

} // namespace sinter::runtime::packed
