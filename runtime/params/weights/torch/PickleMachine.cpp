/// The instructions for the stack, containers, calls and the table of values.
#include "runtime/params/weights/torch/PickleMachine.h"
#include "runtime/support/Printable.h"

#include <charconv>

namespace sinter::runtime::pickle {

Result<std::vector<Value>> Machine::popMark() {
  if (marks.empty())
    return fail("no mark is on the stack");
  auto first = stack.begin() + std::ptrdiff_t(marks.back());
  std::vector<Value> values(first, stack.end());
  stack.erase(first, stack.end());
  marks.pop_back();
  return values;
}

Result<std::vector<Value>> Machine::popMany(size_t count) {
  std::vector<Value> values(count);
  for (size_t i = count; i-- > 0;) {
    SINTER_TRY_ASSIGN(values[i], pop());
  }
  return values;
}

Result<Value> Machine::make(Kind kind, std::vector<Value> items) {
  SINTER_TRY(charge(sizeof(Pickle::Node) + items.size() * sizeof(Value)));
  Value value;
  value.kind = kind;
  value.node = pickle.nodes.size();
  pickle.nodes.emplace_back().items = std::move(items);
  return value;
}

Status Machine::extend(std::vector<Value> &list,
                       std::span<const Value> values) {
  SINTER_TRY(charge(values.size() * sizeof(Value)));
  list.insert(list.end(), values.begin(), values.end());
  return {};
}

Status Machine::pushCall(Value callee, Value args) {
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
  SINTER_TRY(charge(sizeof(Pickle::Object)));
  pickle.nodes[object.node].object = pickle.objects.size();
  pickle.objects.push_back({{callee, args, {}}, {}});
  return push(object);
}

Status Machine::append(std::span<const Value> values) {
  SINTER_TRY_ASSIGN(Value * list, peek());
  if (!list->is(Kind::list) && !list->is(Kind::object) && !list->is(Kind::set))
    return fail("it appends to no list");
  return extend(pickle.nodes[list->node].items, values);
}

Status Machine::setItems(std::span<const Value> values) {
  SINTER_TRY_ASSIGN(Value * dict, peek());
  if (!dict->is(Kind::dict) && !dict->is(Kind::object))
    return fail("it sets an item of no dictionary");
  if (values.size() % 2)
    return fail("a key without a value");
  Pickle::Node &node = pickle.nodes[dict->node];
  return extend(dict->is(Kind::dict) ? node.items
                                     : pickle.objects[node.object].pairs,
                values);
}

Status Machine::build() {
  SINTER_TRY_ASSIGN(Value state, pop());
  SINTER_TRY_ASSIGN(Value * object, peek());
  if (!object->is(Kind::object))
    return fail("it gives a state to no object");
  pickle.objects[pickle.nodes[object->node].object].call.state = state;
  return {};
}

Status Machine::put(uint64_t number) {
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

Status Machine::get(uint64_t number) {
  if (number >= memo.size() || !memo[number])
    return fail(fmt::format("memo {} was not set", number));
  return push(*memo[number]);
}

Result<uint64_t> Machine::takeMemoLine() {
  SINTER_TRY_ASSIGN(std::string_view line, takeLine());
  uint64_t number = 0;
  auto [end, error] =
      std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size())
    return fail("a memo that is no number");
  return number;
}

Status Machine::persistent(Value id) {
  SINTER_TRY_ASSIGN(Value value, make(Kind::persistent, {id}));
  SINTER_TRY(charge(sizeof(Value)));
  pickle.outside.push_back(value);
  return push(value);
}

Status Machine::stop(uint8_t) {
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

Status Machine::stepRegistry(uint8_t) {
  return makeError(ErrorKind::unsupported,
                   "pickle: codes of Python's extension registry are not "
                   "supported");
}

Status Machine::stepBuffer(uint8_t) {
  return makeError(ErrorKind::unsupported,
                   "pickle: buffers outside of it are not supported");
}

constexpr std::array<Machine::Step, 256> Machine::steps = [] {
  std::array<Step, 256> table{};
  table.fill(&Machine::stepStack);
  auto set = [&](std::string_view codes, Step step) {
    for (char code : codes)
      table[static_cast<uint8_t>(code)] = step;
  };
  set(".", &Machine::stop);
  set("NIJKLMFGSV\x88\x89\x8a\x8b", &Machine::stepNumber);
  set("TUXBC\x8c\x8d\x8e\x96", &Machine::stepText);
  set(")]}adelstu\x85\x86\x87\x8f\x90\x91", &Machine::stepContainer);
  set("Rbcio\x81\x92\x93", &Machine::stepCall);
  set("ghjpqrPQ\x94", &Machine::stepMemo);
  set("\x82\x83\x84", &Machine::stepRegistry);
  set("\x97\x98", &Machine::stepBuffer);
  return table;
}();

Result<Pickle> Pickle::parse(std::span<const std::byte> bytes) {
  return Machine(bytes).run();
}

} // namespace sinter::runtime::pickle
