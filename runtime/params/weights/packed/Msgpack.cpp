/// MessagePack's items.
#include "runtime/params/weights/packed/Items.h"

#include <cstdint>

namespace sinter::runtime::packed {

/// The codes from 0xc0 on, whose length or number follows.
Result<Item> MsgpackReader::sized(uint8_t code) {
  auto withLength = [&](Kind kind, uint8_t first) -> Result<Item> {
    SINTER_TRY_ASSIGN(uint64_t length, takeNumber(size_t(1) << (code - first)));
    return textItem(kind, length);
  };
  auto extension = [&](uint64_t length) -> Result<Item> {
    SINTER_TRY_ASSIGN(uint64_t type, takeNumber(1));
    SINTER_TRY_ASSIGN(Item item, textItem(Kind::extension, length));
    item.type = static_cast<int8_t>(type);
    return item;
  };
  if (code >= 0xc4 && code <= 0xc6)
    return withLength(Kind::bytes, 0xc4);
  if (code >= 0xd9 && code <= 0xdb)
    return withLength(Kind::text, 0xd9);
  if (code >= 0xc7 && code <= 0xc9) {
    SINTER_TRY_ASSIGN(uint64_t length, takeNumber(size_t(1) << (code - 0xc7)));
    return extension(length);
  }
  if (code >= 0xd4 && code <= 0xd8)
    return extension(uint64_t(1) << (code - 0xd4));
  if (code == 0xca || code == 0xcb)
    return floatItem(code == 0xca ? 4 : 8);
  if (code >= 0xcc && code <= 0xcf) {
    SINTER_TRY_ASSIGN(uint64_t number, takeNumber(size_t(1) << (code - 0xcc)));
    if (number > INT64_MAX)
      return fail("an integer beyond 63 bits");
    return integerItem(static_cast<int64_t>(number));
  }
  if (code >= 0xd0 && code <= 0xd3) {
    size_t bytes = size_t(1) << (code - 0xd0);
    SINTER_TRY_ASSIGN(uint64_t number, takeNumber(bytes));
    auto unused = static_cast<unsigned>(64 - 8 * bytes); // the sign is in front
    return integerItem(static_cast<int64_t>(number << unused) >> unused);
  }
  if (code >= 0xdc && code <= 0xdf) {
    SINTER_TRY_ASSIGN(uint64_t count, takeNumber(code % 2 ? 4 : 2));
    return countItem(code < 0xde ? Kind::list : Kind::map, count);
  }
  return fail("an unknown value");
}

Result<Item> MsgpackReader::next() {
  SINTER_TRY_ASSIGN(uint64_t first, takeNumber(1));
  auto code = static_cast<uint8_t>(first);
  if (code < 0x80)
    return integerItem(code);
  if (code < 0x90)
    return countItem(Kind::map, code & 15);
  if (code < 0xa0)
    return countItem(Kind::list, code & 15);
  if (code < 0xc0)
    return textItem(Kind::text, code & 31);
  if (code >= 0xe0)
    return integerItem(static_cast<int8_t>(code));
  if (code == 0xc0)
    return Item{};
  if (code == 0xc2 || code == 0xc3)
    return booleanItem(code == 0xc3);
  return sized(code);
}

} // namespace sinter::runtime::packed
