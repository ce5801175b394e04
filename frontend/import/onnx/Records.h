/// What an ONNX file says, as it says it: nothing is computed here.
#pragma once

#include "sinter/runtime/DType.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::onnx {

/// Element types by their codes in files.
enum class ElementType : int32_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
};
inline constexpr int32_t lastElementType = 26;

/// ONNX's name, as `FLOAT` or `INT4`; `type 99` for one that does not exist.
std::string elementName(ElementType type);
/// Bits of one element in a file; 0 for strings and for what does not exist.
unsigned elementBits(ElementType type);
/// The dtype that computes with it, if there is one.
std::optional<DType> computedAs(ElementType type);
ElementType elementTypeOf(DType dtype);

/// Which repeated field of a tensor holds its numbers.
enum class NumberField : uint8_t { none, f32, i32, i64, f64, u64 };

/// Where a tensor's bytes are that stand in another file.
struct ExternalData {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

struct TensorRecord {
  std::string name;
  ElementType type = ElementType::undefined;
  std::vector<int64_t> dims;
  /// Dense bytes, in the file's memory or `own`.
  std::optional<std::span<const std::byte>> raw;
  std::vector<std::byte> own;
  /// Parts of a field of numbers, as they stand in the file.
  NumberField field = NumberField::none;
  std::vector<std::span<const std::byte>> numbers;
  size_t numStrings = 0;
  std::optional<ExternalData> external;
};

struct AxisRecord {
  std::string name; ///< of a symbol; empty when there is none
  std::optional<int64_t> size;
};

struct TypeRecord {
  enum class Kind : uint8_t { none, tensor, sequence, optional, other };
  Kind kind = Kind::none;
  ElementType element = ElementType::undefined;
  std::optional<std::vector<AxisRecord>> shape;
  std::shared_ptr<const TypeRecord> inner; ///< of sequences and optionals
};

struct ValueRecord {
  std::string name;
  TypeRecord type;
};

struct GraphRecord;

/// The codes of attributes in files.
enum class AttributeType : int32_t {
  undefined = 0,
  real = 1,
  integer = 2,
  text = 3,
  tensor = 4,
  graph = 5,
  reals = 6,
  integers = 7,
  texts = 8,
  tensors = 9,
  graphs = 10,
  sparse = 11,
  sparses = 12,
  type = 13,
  types = 14,
};

struct AttributeRecord {
  std::string name;
  AttributeType type = AttributeType::undefined;
  float real = 0;
  int64_t integer = 0;
  std::string text;
  std::vector<float> reals;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  std::shared_ptr<const TensorRecord> tensor;
  std::shared_ptr<const GraphRecord> graph;
  std::shared_ptr<const TypeRecord> typeProto;
  /// In a function: the attribute of the function that this one is.
  std::string reference;
};

struct NodeRecord {
  std::string name, op, domain, overload;
  std::vector<std::string> inputs, outputs; ///< an empty name is none
  std::vector<AttributeRecord> attributes;
};

struct GraphRecord {
  std::string name;
  std::vector<NodeRecord> nodes;
  std::vector<std::shared_ptr<const TensorRecord>> initializers;
  std::vector<ValueRecord> inputs, outputs;
  bool hasSparse = false; ///< sparse initializers, which are not read
};

/// Versions by domain; `ai.onnx` is the empty domain.
using Opsets = std::map<std::string, int64_t, std::less<>>;

struct FunctionRecord {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<AttributeRecord> defaults;
  std::vector<NodeRecord> nodes;
  Opsets opsets;
};

struct ModelRecord {
  int64_t irVersion = 0;
  std::string producer;
  Opsets opsets;
  GraphRecord graph;
  std::vector<FunctionRecord> functions;
};

} // namespace sinter::onnx
