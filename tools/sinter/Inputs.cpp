/// Binding of inputs.
#include "tools/sinter/Inputs.h"

#include "runtime/graph/Elements.h"
#include "runtime/support/Flags.h"
#include "tools/sinter/Model.h"

#include <charconv>
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

static HostArray randomArray(DType dtype, std::vector<int64_t> dims,
                             SplitMix &random) {
  size_t count = 1;
  for (int64_t dim : dims)
    count *= size_t(dim);
  return {dtype, std::move(dims), randomElements(dtype, count, random)};
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
    if (!value || *value < 0)
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

static std::vector<int64_t> dimsOf(const Program &program, const Port &port,
                                   std::span<const int64_t> symbols) {
  std::vector<int64_t> dims;
  for (uint32_t dim : port.dims)
    dims.push_back(evaluate(program.exprs(), dim, symbols));
  return dims;
}

Result<std::vector<Binding>> bindInputs(const Program &program,
                                        const Arguments &arguments) {
  SINTER_TRY_ASSIGN(auto given, pairsOf(arguments, "--input"));
  SINTER_TRY_ASSIGN(std::vector<int64_t> symbols,
                    symbolValues(program.numSymbols(), arguments));
  std::optional<double> seed = parseNumber(arguments.get("--random-inputs"));
  if (arguments.has("--random-inputs") && !seed)
    return badInput("--random-inputs needs a number");
  SplitMix random(uint64_t(seed.value_or(0)));
  std::vector<Binding> bindings;
  for (size_t index = 0; index < program.inputs().size(); ++index) {
    const Port &port = program.inputs()[index];
    auto found = given.find(port.name);
    if (port.name.empty() || found == given.end())
      found = given.find(std::to_string(index));
    HostArray array;
    if (found != given.end()) {
      SINTER_TRY_ASSIGN(array, readInput(port, found->second));
      given.erase(found);
    } else if (seed) {
      array = randomArray(port.dtype, dimsOf(program, port, symbols), random);
    } else {
      return badInput(
          fmt::format("input {} '{}' has no value; give --input "
                      "{}=FILE.npy or --random-inputs SEED",
                      index, port.name,
                      port.name.empty() ? std::to_string(index) : port.name));
    }
    SINTER_TRY_ASSIGN(Binding binding,
                      toBinding(array, port, program.device()));
    bindings.push_back(std::move(binding));
  }
  if (!given.empty())
    return badInput("no input is named '" + given.begin()->first + "'");
  return bindings;
}

} // namespace sinter::cli
