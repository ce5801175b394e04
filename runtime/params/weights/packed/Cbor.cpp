/// CBOR's items.
#include "runtime/params/weights/packed/Items.h"

#include <cstdint>

namespace sinter::runtime::packed {

static constexpr uint8_t openLength = 31;

/// The number after the first byte, or in it.
Result<uint64_t> CborReader::argument(uint8_t info) {
  if (info < 24)
    return uint64_t(info);
  if (info > 27)
    return fail("a length that cannot be read");
  return takeNumber(size_t(1) << (info - 24));
}

Result<Item> CborReader::next() {
  SINTER_TRY_ASSIGN(uint64_t first, takeNumber(1));
  auto major = static_cast<uint8_t>(first >> 5);
  auto info = static_cast<uint8_t>(first & 31);
  if (major == 7) { // simple values and floats
    if (info == 20 || info == 21)
      return booleanItem(info == 21);
    if (info == 22 || info == 23)
      return Item{};
    if (info >= 25 && info <= 27)
      return floatItem(size_t(1) << (info - 24));
    Item end;
    end.kind = Kind::end;
    if (info == openLength)
      return end;
    return fail("an unknown value");
  }
  if ((major == 4 || major == 5) && info == openLength)
    return countItem(major == 4 ? Kind::list : Kind::map, unknownCount);
  SINTER_TRY_ASSIGN(uint64_t number, argument(info));
  switch (major) {
  case 0:
  case 1:
    if (number > INT64_MAX)
      return fail("an integer beyond 63 bits");
    return integerItem(major == 0 ? int64_t(number) : -1 - int64_t(number));
  case 2:
    return textItem(Kind::bytes, number);
  case 3:
    return textItem(Kind::text, number);
  case 4:
    return countItem(Kind::list, number);
  case 5:
    return countItem(Kind::map, number);
  default:
    return fail("a tag");
  }
}

} // namespace sinter::runtime::packed
