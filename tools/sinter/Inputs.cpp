/// Binding of inputs.
#include "tools/sinter/Inputs.h"

#include "runtime/support/Flags.h"
#include "runtime/support/HalfFloat.h"
#include "tools/sinter/Model.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace sinter::cli {

using namespace runtime;

std::string defaultDeviceName() { return flags().device; }

namespace {

/// A generator whose numbers are the same everywhere (splitmix64).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [-1, 1).
  double real() { return double(next() >> 11) * 0x1p-52 - 1; }

private:
  uint64_t state;
};

template <typename T> void store(std::byte *to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

template <typename T> T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

} // namespace

// Writes a number as one element of a dtype.
static void storeNumber(std::byte *to, DType dtype, double number) {
  switch (dtype) {
  case DType::f64:
    return store(to, number);
  case DType::f32:
    return store(to, float(number));
  case DType::f16:
    return store(to, toHalf(float(number)));
  case DType::bf16:
    return store(to, toBfloat16(float(number)));
  case DType::i8:
    return store(to, int8_t(number));
  case DType::i16:
    return store(to, int16_t(number));
  case DType::i32:
    return store(to, int32_t(number));
  case DType::i64:
    return store(to, int64_t(number));
  default:
    return store(to, uint8_t(number));
  }
}

static double loadNumber(const std::byte *from, DType dtype) {
  switch (dtype) {
  case DType::f64:
    return load<double>(from);
  case DType::f32:
    return load<float>(from);
  case DType::f16:
    return fromHalf(load<uint16_t>(from));
  case DType::bf16:
    return fromBfloat16(load<uint16_t>(from));
  case DType::i8:
    return load<int8_t>(from);
  case DType::i16:
    return load<int16_t>(from);
  case DType::i32:
    return load<int32_t>(from);
  case DType::i64:
    return double(load<int64_t>(from));
  default:
    return load<uint8_t>(from);
  }
}

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

// Floats in [-1, 1), integers and bools 0 or 1: valid as indices, too.
static HostArray randomArray(DType dtype, std::vector<int64_t> dims,
                             Random &random) {
  HostArray array{dtype, std::move(dims), {}};
  size_t count = 1, width = byteWidth(dtype);
  for (int64_t dim : array.dims)
    count *= size_t(dim);
  array.bytes.resize(count * width);
  for (size_t index = 0; index < count; ++index) {
    double number = isFloat(dtype) ? random.real() : double(random.next() & 1);
    storeNumber(array.bytes.data() + index * width, dtype, number);
  }
  return array;
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
  Random random(uint64_t(seed.value_or(0)));
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
