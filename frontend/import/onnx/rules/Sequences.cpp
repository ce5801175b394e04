/// Sequences and optionals: lists whose lengths are known.
#include "frontend/import/onnx/rules/Rules.h"

#include "frontend/import/onnx/ModelRecorder.h"

namespace sinter::onnx {

static const std::vector<Value> &listOf(Call &call, size_t input) {
  const Value &value = call.value(input);
  if (!value.isList())
    call.invalid("input " + std::to_string(input) + " is no sequence");
  return value.list();
}

static size_t placeIn(Call &call, size_t input, size_t size, size_t most) {
  int64_t place = call.integer(input, "the position");
  place += place < 0 ? int64_t(size) : 0;
  if (place < 0 || place >= int64_t(most))
    call.invalid("position " + std::to_string(place) + " in a sequence of " +
                 std::to_string(size));
  return size_t(place);
}

/// Lists in lists would be destroyed one inside the other, however deep.
static const Value &elementOf(Call &call, size_t input) {
  const Value &value = call.value(input);
  if (value.isList())
    call.unsupported("a sequence of sequences");
  return value;
}

static void constructRule(Call &call) {
  std::vector<Value> list;
  for (size_t i = 0; i < call.numInputs(); ++i)
    list.push_back(elementOf(call, i));
  call.give(Value::ofList(std::move(list)));
}
static void emptyRule(Call &call) { call.give(Value::ofList({})); }
static void atRule(Call &call) {
  const std::vector<Value> &list = listOf(call, 0);
  call.give(list[placeIn(call, 1, list.size(), list.size())]);
}
static void lengthRule(Call &call) {
  auto size = int64_t(listOf(call, 0).size());
  call.give(knownNumber(DType::i64, size));
}
static void insertRule(Call &call) {
  std::vector<Value> list = listOf(call, 0);
  size_t place = call.has(2) ? placeIn(call, 2, list.size(), list.size() + 1)
                             : list.size();
  list.insert(list.begin() + int64_t(place), elementOf(call, 1));
  call.give(Value::ofList(std::move(list)));
}
static void eraseRule(Call &call) {
  std::vector<Value> list = listOf(call, 0);
  if (list.empty())
    call.invalid("the sequence is empty");
  size_t place = call.has(1) ? placeIn(call, 1, list.size(), list.size())
                             : list.size() - 1;
  list.erase(list.begin() + int64_t(place));
  call.give(Value::ofList(std::move(list)));
}

static void concatRule(Call &call) {
  std::vector<Tensor> parts;
  for (const Value &each : listOf(call, 0))
    parts.push_back(each.tensor(call.device()));
  if (parts.empty())
    call.invalid("the sequence is empty");
  bool isNew = call.flag("new_axis");
  int64_t axis = call.axis("axis", parts[0].rank() + (isNew ? 1 : 0));
  call.give(isNew ? stack(parts, axis)
                  : concat(std::span<const Tensor>(parts), axis));
}

/// Most parts, which are recorded one by one.
static constexpr int64_t mostParts = int64_t(1) << 20;

static void splitRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t axis = call.axis("axis", x.rank()), length = fixed(x.dim(axis));
  std::vector<int64_t> sizes;
  bool isEach = !call.has(1);
  if (isEach || call.value(1).rank() == 0) {
    int64_t size = isEach ? 1 : call.integer(1, "split");
    if (size < 1)
      call.invalid("parts of " + std::to_string(size));
    if (length / size >= mostParts)
      call.unsupported("so many parts");
    for (int64_t at = 0; at < length; at += size)
      sizes.push_back(std::min(size, length - at));
  } else {
    sizes = call.integers(1, "split");
  }
  std::vector<Value> list;
  int64_t start = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > length - start)
      call.invalid("the parts are longer than the axis");
    Tensor part = sliceAxis(x, axis, start, start + size);
    list.emplace_back(isEach && !call.flag("keepdims") ? squeeze(part, axis)
                                                       : part);
    start += size;
  }
  if (start != length)
    call.invalid("the parts are shorter than the axis");
  call.give(Value::ofList(std::move(list)));
}

/// A graph for each element of the first sequence, with the elements at its
/// place of others, and tensors as they are.
static void mapRule(Call &call) {
  const GraphRecord &body = *call.graph("body");
  size_t length = listOf(call, 0).size();
  std::vector<std::vector<Value>> kept(call.numOutputs());
  for (size_t i = 0; i < length; ++i) {
    std::vector<Value> inputs;
    for (size_t k = 0; k < call.numInputs(); ++k) {
      const Value &own = call.value(k);
      if (own.isList() && own.list().size() != length)
        call.invalid("the sequences have different lengths");
      inputs.push_back(own.isList() ? own.list()[i] : own);
    }
    std::vector<Value> results = call.recorder().call(body, std::move(inputs));
    if (results.size() < kept.size())
      call.invalid("the body does not fit the node");
    for (size_t k = 0; k < kept.size(); ++k) {
      if (results[k].isList() || results[k].isNothing())
        call.unsupported("a sequence of something other than tensors");
      kept[k].push_back(std::move(results[k]));
    }
  }
  for (size_t k = 0; k < kept.size(); ++k)
    call.give(k, Value::ofList(std::move(kept[k])));
}

//===- Optionals ----------------------------------------------------------===//

/// What is there stands for itself.
static void optionalRule(Call &call) {
  if (!call.has(0))
    call.unsupported("an optional of nothing");
  call.give(call.value(0));
}
static void hasElementRule(Call &call) {
  call.give(knownNumber(DType::boolean, call.has(0) ? 1 : 0));
}

static constexpr Operator rows[] = {
    {"SequenceConstruct", 11, 0, "", constructRule},
    {"SequenceEmpty", 11, 0, "dtype:int=1", emptyRule},
    {"SequenceAt", 11, 0, "", atRule},
    {"SequenceLength", 11, 0, "", lengthRule},
    {"SequenceInsert", 11, 0, "", insertRule},
    {"SequenceErase", 11, 0, "", eraseRule},
    {"ConcatFromSequence", 11, 0, "axis:int! new_axis:int=0", concatRule},
    {"SequenceMap", 17, 0, "body:graph!", mapRule},
    {"Optional", 15, 0, "type:type", optionalRule},
    {"OptionalGetElement", 15, 0, "", optionalRule},
    {"OptionalHasElement", 15, 0, "", hasElementRule},
    {"SplitToSequence", 11, 0, "axis:int=0 keepdims:int=1", splitRule},
};

std::span<const Operator> sequenceRows() { return rows; }

} // namespace sinter::onnx
