/// What the two readers of items share.
#include "runtime/params/weights/packed/Items.h"

#include "runtime/support/HalfFloat.h"

#include <fmt/format.h>

#include <bit>

namespace sinter::runtime::packed {

static constexpr int mostNested = 64;

ErrorInfo ItemReader::fail(std::string_view what) const {
  return makeError(ErrorKind::io, fmt::format("{} at byte {}", what, at));
}

Result<std::string_view> ItemReader::take(uint64_t count) {
  if (count > text.size() - at)
    return fail("it is cut off");
  std::string_view taken = text.substr(at, count);
  at += count;
  return taken;
}

Result<uint64_t> ItemReader::takeNumber(size_t bytes) {
  SINTER_TRY_ASSIGN(std::string_view taken, take(bytes));
  uint64_t number = 0;
  for (char byte : taken)
    number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

Result<Item> ItemReader::textItem(Kind kind, uint64_t length) {
  Item item;
  item.kind = kind;
  SINTER_TRY_ASSIGN(item.text, take(length));
  return item;
}

Result<Item> ItemReader::countItem(Kind kind, uint64_t count) {
  uint64_t perItem = kind == Kind::map ? 2 : 1;
  if (count != unknownCount && count > (text.size() - at) / perItem)
    return fail(fmt::format("{} items do not fit", count));
  Item item;
  item.kind = kind;
  item.count = count;
  return item;
}

Item ItemReader::integerItem(int64_t value) {
  Item item;
  item.kind = Kind::integer;
  item.integer = value;
  return item;
}

Item ItemReader::realItem(double value) {
  Item item;
  item.kind = Kind::real;
  item.real = value;
  return item;
}

Item ItemReader::booleanItem(bool value) {
  Item item;
  item.kind = Kind::boolean;
  item.boolean = value;
  return item;
}

Result<Item> ItemReader::floatItem(size_t bytes) {
  SINTER_TRY_ASSIGN(uint64_t bits, takeNumber(bytes));
  if (bytes == 8)
    return realItem(std::bit_cast<double>(bits));
  if (bytes == 4)
    return realItem(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return realItem(fromHalf(static_cast<uint16_t>(bits)));
}

Status ItemReader::skip(const Item &item) { return skipSome(item, 0); }

Status ItemReader::skipSome(const Item &item, int depth) {
  if (!item.is(Kind::list) && !item.is(Kind::map))
    return {};
  if (depth == mostNested)
    return fail("lists are nested too deep");
  bool isOpen = item.count == unknownCount;
  uint64_t left = isOpen ? 1 : item.count * (item.is(Kind::map) ? 2 : 1);
  while (left > 0) {
    SINTER_TRY_ASSIGN(Item inner, next());
    if (inner.is(Kind::end))
      return isOpen ? Status() : fail("an end of nothing");
    SINTER_TRY(skipSome(inner, depth + 1));
    left -= !isOpen;
  }
  return {};
}

Result<Item> ItemReader::expect(Kind kind, std::string_view what) {
  SINTER_TRY_ASSIGN(Item item, next());
  if (!item.is(kind))
    return fail(fmt::format("expected {}", what));
  return item;
}

} // namespace sinter::runtime::packed
