/// Binding of inputs.
#include "tools/sinter/Inputs.h"

#include "runtime/graph/Elements.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Printable.h"
#include "tools/sinter/Model.h"
#include "tools/sinter/ModelEntry.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace sinter::cli {

using namespace runtime;

std::string defaultDeviceName() { return flags().device; }

std::string firstElements(const HostArray &array, size_t count) {
  std::string text;
  size_t width = byteWidth(array.dtype);
  size_t total = array.bytes.size() / width;
  for (size_t index = 0; index < std::min(total, count); ++index)
    text += fmt::format(
        "{}{}", index ? " " : "",
        loadNumber(array.bytes.data() + index * width, array.dtype));
  return total > count ? text + " ..." : text;
}

static std::optional<double> parseNumber(const std::string &text) {
  double value = 0;
  const char *end = text.data() + text.size();
  auto [next, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && next == end ? std::optional(value)
                                             : std::nullopt;
}

static ErrorInfo badInput(const std::string &what) {
  return makeError(ErrorKind::invalid_argument, "run: " + what);
}

// `NAME=VALUE` pairs of a flag.
static Result<std::map<std::string, std::string>>
pairsOf(const Arguments &arguments, const char *flag) {
  std::map<std::string, std::string> pairs;
  for (const std::string &text : arguments.all(flag)) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return badInput(fmt::format("{} needs NAME=VALUE, got '{}'", flag, text));
    pairs[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return pairs;
}

static Result<HostArray> readInput(const Port &port, const std::string &value) {
  if (port.kind == graph::InputKind::scalar)
    if (std::optional<double> number = parseNumber(value)) {
      HostArray array{
          port.dtype, {}, std::vector<std::byte>(byteWidth(port.dtype))};
      storeNumber(array.bytes.data(), port.dtype, *number);
      return array;
    }
  Result<HostArray> array = readNpy(value);
  if (!array)
    return array;
  if (array->dtype != port.dtype)
    return badInput(fmt::format("{}: expected {}, the file has {}", value,
                                name(port.dtype), name(array->dtype)));
  return array;
}

Result<std::vector<int64_t>> symbolValues(uint32_t count,
                                          const Arguments &arguments) {
  SINTER_TRY_ASSIGN(auto given, pairsOf(arguments, "--dim"));
  std::vector<int64_t> values(count, 4);
  for (uint32_t symbol = 0; symbol < values.size(); ++symbol) {
    auto found = given.find(fmt::format("s{}", symbol));
    if (found == given.end())
      continue;
    std::optional<double> value = parseNumber(found->second);
    if (!value || !(*value >= 0 && *value < 0x1p31))
      return badInput(fmt::format("--dim s{} needs a size", symbol));
    values[symbol] = int64_t(*value);
  }
  return values;
}

static Result<Binding> toBinding(const HostArray &array, const Port &port,
                                 Device &device) {
  Binding binding;
  binding.dims = array.dims;
  if (port.kind == graph::InputKind::scalar) {
    std::memcpy(&binding.scalarBits, array.bytes.data(),
                std::min(sizeof(uint64_t), array.bytes.size()));
    return binding;
  }
  SINTER_TRY_ASSIGN(binding.buffer, device.allocate(array.bytes.size()));
  if (!array.bytes.empty())
    SINTER_TRY(device.copyIn(*binding.buffer, 0, array.bytes));
  return binding;
}

// Piece by piece, as the input may be large; what a file asks for may be more
// than there is.
static Result<Binding> randomBinding(const Program &program, size_t index,
                                     std::vector<int64_t> dims,
                                     SplitMix &random) {
  constexpr size_t piece = size_t(1) << 18; // elements
  const Port &port = program.inputs()[index];
  std::optional<size_t> count = elementsOf(dims);
  if (!count)
    return badInput(
        fmt::format("{}: {}[{}] has no size or 2^31 elements and more",
                    portName("input", port, index), name(port.dtype),
                    fmt::join(dims, ",")));
  if (port.kind == graph::InputKind::scalar)
    return toBinding({port.dtype, dims, randomElements(port.dtype, 1, random)},
                     port, program.device());
  Binding binding;
  size_t width = byteWidth(port.dtype);
  Result<BufferRef> buffer = program.device().allocate(*count * width);
  if (!buffer) {
    ErrorInfo error = buffer.takeError();
    error.message =
        "run: " + portName("input", port, index) + ": " + error.message;
    return error;
  }
  for (size_t at = 0; at < *count; at += piece) {
    std::vector<std::byte> some =
        randomElements(port.dtype, std::min(piece, *count - at), random);
    SINTER_TRY(program.device().copyIn(**buffer, at * width, some));
  }
  binding.buffer = std::move(*buffer);
  binding.dims = std::move(dims);
  return binding;
}

static std::vector<int64_t> dimsOf(const Port &port,
                                   std::span<const int64_t> values) {
  std::vector<int64_t> dims;
  for (uint32_t dim : port.dims)
    dims.push_back(values[dim]);
  return dims;
}

Result<std::vector<Binding>> bindInputs(const RunnableModel &model,
                                        const Arguments &arguments) {
  const Program &program = *model.program;
  SINTER_TRY_ASSIGN(auto given, pairsOf(arguments, "--input"));
  SINTER_TRY_ASSIGN(std::vector<int64_t> symbols,
                    symbolValues(program.numSymbols(), arguments));
  std::optional<double> seed = parseNumber(arguments.get("--random-inputs"));
  bool isSeed = seed && std::abs(*seed) < 0x1p63;
  if (arguments.has("--random-inputs") && !isSeed)
    return badInput("--random-inputs needs a number");
  uint64_t randomSeed = uint64_t(isSeed ? int64_t(*seed) : 0);
  SplitMix random(randomSeed);
  std::vector<int64_t> values;
  evaluateAll(program.exprs(), symbols, values);
  std::vector<Binding> bindings;
  for (size_t index = 0; index < program.inputs().size(); ++index) {
    const Port &port = program.inputs()[index];
    if (model.entry && !model.entry->isGiven(index)) {
      SINTER_TRY_ASSIGN(Binding binding,
                        model.entry->bindingOf(index, randomSeed));
      bindings.push_back(std::move(binding));
      continue;
    }
    const std::string &name =
        model.entry ? model.entry->point().inputs[index].name : port.name;
    auto found = given.find(name);
    if (name.empty() || found == given.end())
      found = given.find(std::to_string(index));
    if (found != given.end()) {
      SINTER_TRY_ASSIGN(HostArray array, readInput(port, found->second));
      given.erase(found);
      SINTER_TRY_ASSIGN(Binding binding,
                        toBinding(array, port, program.device()));
      bindings.push_back(std::move(binding));
    } else if (isSeed) {
      SINTER_TRY_ASSIGN(
          Binding binding,
          randomBinding(program, index, dimsOf(port, values), random));
      bindings.push_back(std::move(binding));
    } else {
      std::string label = printableName(name);
      return badInput(fmt::format(
          "input {} '{}' has no value; give --input "
          "{}=FILE.npy or --random-inputs SEED",
          index, label, label.empty() ? std::to_string(index) : label));
    }
  }
  if (!given.empty())
    return badInput("no input is named '" + given.begin()->first + "'");
  if (model.entry)
    SINTER_TRY(model.entry->placeDraws(bindings));
  return bindings;
}

} // namespace sinter::cli
