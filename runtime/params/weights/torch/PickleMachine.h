/// The machine that a pickle is a program for: a stack and a table of values.
/// The instructions are those of CPython's pickletools, protocol 0 to 5.
#pragma once

#include "runtime/params/weights/torch/Pickle.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace sinter::runtime::pickle {

/// What values take in memory is at most this much, and these times the bytes
/// of the pickle.
inline constexpr size_t freeBytes = size_t(32) << 20, bytesOfByte = 16;

class Machine {
public:
  explicit Machine(std::span<const std::byte> bytes)
      : text(reinterpret_cast<const char *>(bytes.data()), bytes.size()),
        budget(freeBytes + bytesOfByte * bytes.size()) {}

  Result<Pickle> run() {
    while (!stopped) {
      start = at;
      SINTER_TRY_ASSIGN(std::string_view code, take(1));
      auto number = static_cast<uint8_t>(code[0]);
      SINTER_TRY((this->*steps[number])(number));
    }
    pickle.consumed = at;
    return std::move(pickle);
  }

private:
  std::string_view text;
  size_t budget;
  size_t at = 0, start = 0;
  bool stopped = false;
  Pickle pickle;
  std::vector<Value> stack;
  size_t highest = 0;        ///< that the stack ever was
  std::vector<size_t> marks; ///< heights of the stack
  std::vector<std::optional<Value>> memo;
  size_t memoized = 0;

  ErrorInfo fail(std::string_view what) const {
    return makeError(ErrorKind::io,
                     fmt::format("pickle: {} at byte {}", what, start));
  }
  Status charge(size_t bytes) {
    if (bytes > budget)
      return fail("more values than its bytes can need");
    budget -= bytes;
    return {};
  }

  //===- The bytes of the program -----------------------------------------===//

  Result<std::string_view> take(uint64_t count) {
    if (count > text.size() - at)
      return fail("it is cut off");
    std::string_view taken = text.substr(at, count);
    at += count;
    return taken;
  }
  Result<std::string_view> takeLine();
  template <typename T> Result<T> takeNumber() {
    SINTER_TRY_ASSIGN(std::string_view bytes, take(sizeof(T)));
    T number;
    std::memcpy(&number, bytes.data(), sizeof(T));
    return number;
  }
  /// Bytes after a length of type T.
  template <typename T> Result<std::string_view> takeCounted() {
    SINTER_TRY_ASSIGN(T count, takeNumber<T>());
    if (std::cmp_less(count, 0))
      return fail("a negative length");
    if (std::cmp_greater(count, std::numeric_limits<uint32_t>::max()))
      return fail("a text of 4 GiB or more");
    return take(static_cast<uint64_t>(count));
  }

  //===- The stack ----------------------------------------------------------//

  Status push(Value value) {
    if (stack.size() == highest) {
      SINTER_TRY(charge(sizeof(Value)));
      ++highest;
    }
    stack.push_back(value);
    return {};
  }
  /// Nothing below the last mark is taken.
  Result<Value> pop() {
    size_t floor = marks.empty() ? 0 : marks.back();
    if (stack.size() <= floor)
      return fail("nothing is on the stack");
    Value value = stack.back();
    stack.pop_back();
    return value;
  }
  Result<Value *> peek() {
    size_t floor = marks.empty() ? 0 : marks.back();
    if (stack.size() <= floor)
      return fail("nothing is on the stack");
    return &stack.back();
  }
  /// All above the last mark, which goes.
  Result<std::vector<Value>> popMark();
  Result<std::vector<Value>> popMany(size_t count);

  //===- Values -------------------------------------------------------------//

  static Value plain(Kind kind, int64_t number = 0) {
    Value value;
    value.kind = kind;
    value.integerValue = number;
    return value;
  }
  static Value realOf(double number) {
    Value value;
    value.kind = Kind::real;
    value.realValue = number;
    return value;
  }
  static Value textOf(std::string_view of, Kind kind = Kind::text) {
    Value value;
    value.kind = kind;
    value.length = static_cast<uint32_t>(of.size());
    value.textValue = of.data();
    return value;
  }
  /// One whose text is not in the file.
  Result<Value> ownedText(std::string of) {
    SINTER_TRY(charge(of.size() + sizeof(std::string)));
    return textOf(pickle.owned.emplace_back(std::move(of)));
  }
  Result<Value> make(Kind kind, std::vector<Value> items = {});
  Status pushMade(Kind kind, std::vector<Value> items = {}) {
    SINTER_TRY_ASSIGN(Value value, make(kind, std::move(items)));
    return push(value);
  }
  /// Two's complement, little-endian.
  static Value longOf(std::string_view bytes) {
    if (bytes.size() > sizeof(int64_t))
      return textOf(bytes, Kind::big);
    bool isNegative = !bytes.empty() && (bytes.back() & 0x80);
    int64_t number = isNegative ? -1 : 0;
    std::memcpy(&number, bytes.data(), bytes.size());
    return plain(Kind::integer, number);
  }

  template <typename T> Status pushText(Kind kind) {
    SINTER_TRY_ASSIGN(std::string_view bytes, takeCounted<T>());
    return push(textOf(bytes, kind));
  }
  Status pushGlobal(std::string_view module, std::string_view name) {
    // Each object of a class has its name looked at.
    constexpr size_t longest = 4096;
    if (module.size() + name.size() > longest)
      return fail("the name of a class is too long");
    return pushMade(Kind::global, {textOf(module), textOf(name)});
  }
  /// Records that `callee` would be called.
  Status pushCall(Value callee, Value args);

  //===- What is done to containers -----------------------------------------//

  Status append(std::span<const Value> values);
  Status setItems(std::span<const Value> values);
  Status extend(std::vector<Value> &list, std::span<const Value> values);
  Status build();

  //===- The table of values ------------------------------------------------//

  Status put(uint64_t number);
  Status get(uint64_t number);
  Result<uint64_t> takeMemoLine();

  Status persistent(Value id);

  using Step = Status (Machine::*)(uint8_t code);
  static const std::array<Step, 256> steps; ///< by their codes
  Status stepLine(uint8_t code);
  Status stepText(uint8_t code);
  Status stepNumber(uint8_t code);
  Status stepContainer(uint8_t code);
  Status stepCall(uint8_t code);
  Status stepMemo(uint8_t code);
  Status stepStack(uint8_t code);
  Status stepRegistry(uint8_t code);
  Status stepBuffer(uint8_t code);
  Status stop(uint8_t code);
};

} // namespace sinter::runtime::pickle
