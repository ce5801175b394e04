/// The machine that a pickle is a program for: a stack and a table of values.
/// The instructions are those of CPython's pickletools, protocol 0 to 5.
#include "runtime/params/weights/torch/Pickle.h"
#include "runtime/params/weights/torch/PickleTexts.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

namespace sinter::runtime::pickle {

/// What values take in memory is at most this much, and these times the bytes
/// of the pickle.
static constexpr size_t freeBytes = size_t(32) << 20, bytesOfByte = 12;

class Machine {
public:
  explicit Machine(std::span<const std::byte> bytes)
      : text(reinterpret_cast<const char *>(bytes.data()), bytes.size()),
        budget(freeBytes + bytesOfByte * bytes.size()) {}

  Result<Pickle> run() {
    while (!stopped) {
      start = at;
      SINTER_TRY_ASSIGN(std::string_view code, take(1));
      SINTER_TRY(step(static_cast<uint8_t>(code[0])));
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
  Result<std::string_view> takeLine() {
    size_t end = text.find('\n', at);
    if (end == text.npos)
      return fail("it is cut off");
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    return line;
  }
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
    SINTER_TRY(charge(sizeof(Value)));
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
  Result<std::vector<Value>> popMark() {
    if (marks.empty())
      return fail("no mark is on the stack");
    auto first = stack.begin() + std::ptrdiff_t(marks.back());
    std::vector<Value> values(first, stack.end());
    stack.erase(first, stack.end());
    marks.pop_back();
    return values;
  }
  Result<std::vector<Value>> popMany(size_t count) {
    std::vector<Value> values(count);
    for (size_t i = count; i-- > 0;) {
      SINTER_TRY_ASSIGN(values[i], pop());
    }
    return values;
  }

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
    SINTER_TRY(charge(of.size() + sizeof(of)));
    return textOf(pickle.owned.emplace_back(std::move(of)));
  }
  Result<Value> make(Kind kind, std::vector<Value> items = {}) {
    SINTER_TRY(charge(sizeof(Pickle::Node) + items.size() * sizeof(Value)));
    Value value;
    value.kind = kind;
    value.node = pickle.nodes.size();
    pickle.nodes.emplace_back().items = std::move(items);
    return value;
  }
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
    return pushMade(Kind::global, {textOf(module), textOf(name)});
  }
  /// Records that `callee` would be called.
  Status pushCall(Value callee, Value args) {
    if (callee.is(Kind::global)) {
      std::span<const Value> parts = pickle.items(callee);
      if (isDangerous(parts[0].text(), parts[1].text()))
        return fail(fmt::format("it calls {}, which is refused",
                                printableName(pickle.globalName(callee))));
    }
    if (!callee.is(Kind::global) && !callee.is(Kind::persistent) &&
        !callee.is(Kind::object))
      return fail("it calls what is no function");
    if (!args.is(Kind::tuple))
      return fail("it calls a function with no tuple");
    SINTER_TRY_ASSIGN(Value object, make(Kind::object));
    pickle.nodes[object.node].call = {callee, args, {}};
    return push(object);
  }

  //===- What is done to containers -----------------------------------------//

  Status append(std::span<const Value> values) {
    SINTER_TRY_ASSIGN(Value * list, peek());
    if (!list->is(Kind::list) && !list->is(Kind::object) &&
        !list->is(Kind::set))
      return fail("it appends to no list");
    return extend(pickle.nodes[list->node].items, values);
  }
  Status setItems(std::span<const Value> values) {
    SINTER_TRY_ASSIGN(Value * dict, peek());
    if (!dict->is(Kind::dict) && !dict->is(Kind::object))
      return fail("it sets an item of no dictionary");
    if (values.size() % 2)
      return fail("a key without a value");
    Pickle::Node &node = pickle.nodes[dict->node];
    return extend(dict->is(Kind::dict) ? node.items : node.pairs, values);
  }
  Status extend(std::vector<Value> &list, std::span<const Value> values) {
    SINTER_TRY(charge(values.size() * sizeof(Value)));
    list.insert(list.end(), values.begin(), values.end());
    return {};
  }
  Status build() {
    SINTER_TRY_ASSIGN(Value state, pop());
    SINTER_TRY_ASSIGN(Value * object, peek());
    if (!object->is(Kind::object))
      return fail("it gives a state to no object");
    pickle.nodes[object->node].call.state = state;
    return {};
  }

  //===- The table of values ------------------------------------------------//

  Status put(uint64_t number) {
    SINTER_TRY_ASSIGN(Value * value, peek());
    // Writers count from 0 on, so a number never exceeds the bytes.
    if (number >= text.size())
      return fail(fmt::format("memo {} is out of range", number));
    if (number >= memo.size()) {
      SINTER_TRY(charge((number + 1 - memo.size()) * sizeof(memo[0])));
      memo.resize(number + 1);
    }
    memoized += !memo[number];
    memo[number] = *value;
    return {};
  }
  Status get(uint64_t number) {
    if (number >= memo.size() || !memo[number])
      return fail(fmt::format("memo {} was not set", number));
    return push(*memo[number]);
  }
  Result<uint64_t> takeMemoLine() {
    SINTER_TRY_ASSIGN(std::string_view line, takeLine());
    uint64_t number = 0;
    auto [end, error] =
        std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc() || end != line.data() + line.size())
      return fail("a memo that is no number");
    return number;
  }

  Status persistent(Value id) {
    SINTER_TRY_ASSIGN(Value value, make(Kind::persistent, {id}));
    SINTER_TRY(charge(sizeof(Value)));
    pickle.outside.push_back(value);
    return push(value);
  }

  Status step(uint8_t code);
  Status stepLine(uint8_t code);
  Status stepText(uint8_t code);
  Status stepNumber(uint8_t code);
  Status stepContainer(uint8_t code);
  Status stepCall(uint8_t code);
  Status stepMemo(uint8_t code);
  Status stepStack(uint8_t code);
  Status stop();
};

Status Machine::stop() {
  if (!marks.empty() || stack.size() != 1)
    return fail(stack.empty() ? "it ends without a value"
                              : "it ends with values to spare");
  pickle.top = stack.back();
  stopped = true;
  return {};
}

Status Machine::stepStack(uint8_t code) {
  switch (code) {
  case '(':
    SINTER_TRY(charge(sizeof(size_t)));
    marks.push_back(stack.size());
    return {};
  case '0': { // POP, which also takes a mark
    if (!marks.empty() && stack.size() == marks.back()) {
      marks.pop_back();
      return {};
    }
    auto gone = pop();
    return gone ? Status() : Status(gone.takeError());
  }
  case '1': {
    auto gone = popMark();
    return gone ? Status() : Status(gone.takeError());
  }
  case '2': {
    SINTER_TRY_ASSIGN(Value * value, peek());
    return push(*value);
  }
  case 0x80: {
    SINTER_TRY_ASSIGN(uint8_t protocol, takeNumber<uint8_t>());
    if (protocol > 5)
      return fail(fmt::format("protocol {} is unknown", protocol));
    return {};
  }
  case 0x95: {
    SINTER_TRY_ASSIGN(uint64_t length, takeNumber<uint64_t>());
    return length > text.size() - at ? fail("a frame is cut off") : Status();
  }
  default:
    return fail(fmt::format("unknown instruction 0x{:02x}", code));
  }
}

Status Machine::stepNumber(uint8_t code) {
  switch (code) {
  case 'N':
    return push(plain(Kind::none));
  case 0x88:
  case 0x89:
    return push(plain(Kind::boolean, code == 0x88));
  case 'J': {
    SINTER_TRY_ASSIGN(int32_t number, takeNumber<int32_t>());
    return push(plain(Kind::integer, number));
  }
  case 'K': {
    SINTER_TRY_ASSIGN(uint8_t number, takeNumber<uint8_t>());
    return push(plain(Kind::integer, number));
  }
  case 'M': {
    SINTER_TRY_ASSIGN(uint16_t number, takeNumber<uint16_t>());
    return push(plain(Kind::integer, number));
  }
  case 'G': {
    SINTER_TRY_ASSIGN(uint64_t bits, takeNumber<uint64_t>());
    return push(realOf(std::bit_cast<double>(__builtin_bswap64(bits))));
  }
  case 0x8a: {
    SINTER_TRY_ASSIGN(std::string_view bytes, takeCounted<uint8_t>());
    return push(longOf(bytes));
  }
  case 0x8b: {
    SINTER_TRY_ASSIGN(std::string_view bytes, takeCounted<int32_t>());
    return push(longOf(bytes));
  }
  default:
    return stepLine(code);
  }
}

/// Numbers and texts of protocol 0, which end with their line.
Status Machine::stepLine(uint8_t code) {
  SINTER_TRY_ASSIGN(std::string_view line, takeLine());
  if (code == 'I' && (line == "00" || line == "01"))
    return push(plain(Kind::boolean, line == "01"));
  if (code == 'S') {
    std::optional<std::string> decoded = unquoted(line);
    if (!decoded)
      return fail("a string that cannot be read");
    SINTER_TRY_ASSIGN(Value value, ownedText(std::move(*decoded)));
    return push(value);
  }
  if (code == 'V') {
    std::optional<std::string> decoded = unescapedUnicode(line);
    if (!decoded)
      return fail("a string that cannot be read");
    SINTER_TRY_ASSIGN(Value value, ownedText(std::move(*decoded)));
    return push(value);
  }
  if (code == 'L' && line.ends_with('L'))
    line.remove_suffix(1);
  const char *first = line.data(), *last = first + line.size();
  if (code == 'F') {
    double number = 0;
    auto [end, error] = std::from_chars(first, last, number);
    if (error == std::errc() && end == last && !line.empty())
      return push(realOf(number));
    return fail("a number that cannot be read");
  }
  int64_t number = 0;
  auto [end, error] = std::from_chars(first, last, number);
  if (end != last || line.empty() || error == std::errc::invalid_argument)
    return fail("a number that cannot be read");
  if (error == std::errc::result_out_of_range)
    return push(textOf(line, Kind::big));
  return push(plain(Kind::integer, number));
}

Status Machine::stepText(uint8_t code) {
  switch (code) {
  case 'U':
  case 0x8c:
    return pushText<uint8_t>(Kind::text);
  case 'T':
    return pushText<int32_t>(Kind::text);
  case 'X':
    return pushText<uint32_t>(Kind::text);
  case 0x8d:
    return pushText<uint64_t>(Kind::text);
  case 'C':
    return pushText<uint8_t>(Kind::bytes);
  case 'B':
    return pushText<uint32_t>(Kind::bytes);
  default:
    return pushText<uint64_t>(Kind::bytes);
  }
}

Status Machine::stepContainer(uint8_t code) {
  switch (code) {
  case ')':
    return pushMade(Kind::tuple);
  case ']':
    return pushMade(Kind::list);
  case '}':
    return pushMade(Kind::dict);
  case 0x8f:
    return pushMade(Kind::set);
  case 0x85:
  case 0x86:
  case 0x87: {
    SINTER_TRY_ASSIGN(auto values, popMany(code - 0x84));
    return pushMade(Kind::tuple, std::move(values));
  }
  case 'a': {
    SINTER_TRY_ASSIGN(auto values, popMany(1));
    return append(values);
  }
  case 's': {
    SINTER_TRY_ASSIGN(auto values, popMany(2));
    return setItems(values);
  }
  default:
    break;
  }
  SINTER_TRY_ASSIGN(auto values, popMark());
  switch (code) {
  case 't':
    return pushMade(Kind::tuple, std::move(values));
  case 'l':
    return pushMade(Kind::list, std::move(values));
  case 'd':
    if (values.size() % 2)
      return fail("a key without a value");
    return pushMade(Kind::dict, std::move(values));
  case 0x91:
    return pushMade(Kind::set, std::move(values));
  case 'u':
    return setItems(values);
  default: // 'e' and 0x90
    return append(values);
  }
}

Status Machine::stepCall(uint8_t code) {
  switch (code) {
  case 'c': {
    SINTER_TRY_ASSIGN(std::string_view module, takeLine());
    SINTER_TRY_ASSIGN(std::string_view name, takeLine());
    return pushGlobal(module, name);
  }
  case 0x93: {
    SINTER_TRY_ASSIGN(auto parts, popMany(2));
    if (!parts[0].is(Kind::text) || !parts[1].is(Kind::text))
      return fail("a name that is no text");
    return pushGlobal(parts[0].text(), parts[1].text());
  }
  case 'i': {
    SINTER_TRY_ASSIGN(std::string_view module, takeLine());
    SINTER_TRY_ASSIGN(std::string_view name, takeLine());
    SINTER_TRY_ASSIGN(auto values, popMark());
    SINTER_TRY_ASSIGN(Value args, make(Kind::tuple, std::move(values)));
    SINTER_TRY_ASSIGN(Value callee,
                      make(Kind::global, {textOf(module), textOf(name)}));
    return pushCall(callee, args);
  }
  case 'o': {
    SINTER_TRY_ASSIGN(auto values, popMark());
    if (values.empty())
      return fail("it calls nothing");
    Value callee = values.front();
    values.erase(values.begin());
    SINTER_TRY_ASSIGN(Value args, make(Kind::tuple, std::move(values)));
    return pushCall(callee, args);
  }
  case 0x92: { // with named arguments, which nothing here needs
    SINTER_TRY_ASSIGN(auto parts, popMany(3));
    return pushCall(parts[0], parts[1]);
  }
  case 'b':
    return build();
  default: { // REDUCE and NEWOBJ
    SINTER_TRY_ASSIGN(auto parts, popMany(2));
    return pushCall(parts[0], parts[1]);
  }
  }
}

Status Machine::stepMemo(uint8_t code) {
  switch (code) {
  case 'g': {
    SINTER_TRY_ASSIGN(uint64_t number, takeMemoLine());
    return get(number);
  }
  case 'h': {
    SINTER_TRY_ASSIGN(uint8_t number, takeNumber<uint8_t>());
    return get(number);
  }
  case 'j': {
    SINTER_TRY_ASSIGN(uint32_t number, takeNumber<uint32_t>());
    return get(number);
  }
  case 'p': {
    SINTER_TRY_ASSIGN(uint64_t number, takeMemoLine());
    return put(number);
  }
  case 'q': {
    SINTER_TRY_ASSIGN(uint8_t number, takeNumber<uint8_t>());
    return put(number);
  }
  case 'r': {
    SINTER_TRY_ASSIGN(uint32_t number, takeNumber<uint32_t>());
    return put(number);
  }
  case 'P': {
    SINTER_TRY_ASSIGN(std::string_view id, takeLine());
    return persistent(textOf(id));
  }
  case 'Q': {
    SINTER_TRY_ASSIGN(Value id, pop());
    return persistent(id);
  }
  default: // MEMOIZE
    return put(memoized);
  }
}

Status Machine::step(uint8_t code) {
  switch (code) {
  case '.':
    return stop();
  case 'N':
  case 'I':
  case 'J':
  case 'K':
  case 'L':
  case 'M':
  case 'F':
  case 'G':
  case 'S':
  case 'V':
  case 0x88:
  case 0x89:
  case 0x8a:
  case 0x8b:
    return stepNumber(code);
  case 'T':
  case 'U':
  case 'X':
  case 'B':
  case 'C':
  case 0x8c:
  case 0x8d:
  case 0x8e:
  case 0x96:
    return stepText(code);
  case ')':
  case ']':
  case '}':
  case 'a':
  case 'd':
  case 'e':
  case 'l':
  case 's':
  case 't':
  case 'u':
  case 0x85:
  case 0x86:
  case 0x87:
  case 0x8f:
  case 0x90:
  case 0x91:
    return stepContainer(code);
  case 'R':
  case 'b':
  case 'c':
  case 'i':
  case 'o':
  case 0x81:
  case 0x92:
  case 0x93:
    return stepCall(code);
  case 'g':
  case 'h':
  case 'j':
  case 'p':
  case 'q':
  case 'r':
  case 'P':
  case 'Q':
  case 0x94:
    return stepMemo(code);
  case 0x82:
  case 0x83:
  case 0x84:
    return makeError(ErrorKind::unsupported,
                     "pickle: codes of Python's extension registry are not "
                     "supported");
  case 0x97:
  case 0x98:
    return makeError(ErrorKind::unsupported,
                     "pickle: buffers outside of it are not supported");
  default:
    return stepStack(code);
  }
}

Result<Pickle> Pickle::parse(std::span<const std::byte> bytes) {
  return Machine(bytes).run();
}

} // namespace sinter::runtime::pickle
