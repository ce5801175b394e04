/// Users' kernels: GLSL or SPIR-V with the shapes and dtypes of a call.
#include "compiler/target/GivenCall.h"
#include "compiler/target/vulkan/ShaderTools.h"
#include "compiler/target/vulkan/SpirvWords.h"
#include "compiler/target/vulkan/VulkanTarget.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVEnums.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace mlir;

namespace sinter::compiler {
namespace {

/// A dtype in both languages, and what GLSL has to be asked for it.
struct ShaderType {
  const char *glsl, *spirv;
  const char *extensions = ""; ///< a space after each
};

ShaderType shaderType(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return {"double", "OpTypeFloat 64"};
  case DType::f32:
    return {"float", "OpTypeFloat 32"};
  case DType::f16:
    return {"float16_t", "OpTypeFloat 16", "GL_EXT_shader_16bit_storage "};
  case DType::bf16:
    return {"uint16_t", "OpTypeInt 16 0",
            "GL_EXT_shader_16bit_storage "
            "GL_EXT_shader_explicit_arithmetic_types_int16 "};
  case DType::i8:
    return {"int8_t", "OpTypeInt 8 1",
            "GL_EXT_shader_8bit_storage "
            "GL_EXT_shader_explicit_arithmetic_types_int8 "};
  case DType::i16:
    return {"int16_t", "OpTypeInt 16 1",
            "GL_EXT_shader_16bit_storage "
            "GL_EXT_shader_explicit_arithmetic_types_int16 "};
  case DType::i32:
    return {"int", "OpTypeInt 32 1"};
  case DType::i64:
    return {"int64_t", "OpTypeInt 64 1",
            "GL_EXT_shader_explicit_arithmetic_types_int64 "};
  case DType::u16:
    return {"uint16_t", "OpTypeInt 16 0",
            "GL_EXT_shader_16bit_storage "
            "GL_EXT_shader_explicit_arithmetic_types_int16 "};
  case DType::u32:
    return {"uint", "OpTypeInt 32 0"};
  case DType::u64:
    return {"uint64_t", "OpTypeInt 64 0",
            "GL_EXT_shader_explicit_arithmetic_types_int64 "};
  case DType::u8:
  case DType::boolean:
    return {"uint8_t", "OpTypeInt 8 0",
            "GL_EXT_shader_8bit_storage "
            "GL_EXT_shader_explicit_arithmetic_types_int8 "};
  default:
    llvm_unreachable("nothing computes with it");
  }
}

/// A tensor of the kernel.
struct Parameter {
  std::string name; ///< IN0, ..., OUT
  ShaderType type;
  int64_t bytes = 0; ///< of an element
};

/// A call: its tensors and what is known of it.
struct Call {
  SmallVector<Parameter> parameters;
  SmallVector<std::pair<std::string, std::string>> macros;

  explicit Call(ir::OpaqueOpInterface given) {
    for (const GivenTensor &tensor : tensorsOf(given)) {
      parameters.push_back({tensor.name, shaderType(tensor.dtype),
                            int64_t(byteWidth(tensor.dtype))});
      for (const auto &[name, value] : tensor.sizes())
        define(name, value);
    }
    for (auto [axis, count] : llvm::enumerate(given.getBlock()))
      define(std::string("BLOCK_") + "XYZ"[axis], count);
    define("SHARED_BYTES", int64_t(given.getSharedBytes()));
  }

private:
  void define(const std::string &name, int64_t value) {
    macros.emplace_back(name, std::to_string(value));
  }
};

/// The source behind what declares the tensors. A number above 2^31 - 1 is one
/// of 64 bits, which GLSL says is an error unless it is asked for.
std::string glslOf(StringRef source, const Call &call) {
  std::string text = "#version 460\n"
                     "#extension GL_EXT_buffer_reference : require\n";
  llvm::raw_string_ostream out(text);
  llvm::SmallSetVector<StringRef, 8> extensions;
  for (const Parameter &each : call.parameters)
    for (StringRef name : llvm::split(each.type.extensions, ' '))
      if (!name.empty())
        extensions.insert(name);
  for (StringRef name : extensions)
    out << "#extension " << name << " : require\n";
  for (const auto &[name, value] : call.macros)
    out << "#define " << name << " " << value << "\n";
  std::string members;
  for (const Parameter &each : call.parameters) {
    bool isResult = each.name == "OUT";
    out << "#define " << each.name << "_TYPE " << each.type.glsl << "\n"
        << "layout(buffer_reference, std430, buffer_reference_align = "
        << each.bytes << ") " << (isResult ? "" : "readonly ")
        << "buffer Sinter_" << each.name << " { " << each.type.glsl
        << " at[]; };\n"
        << "#define " << each.name << " sinter_pushed.tensors.of_" << each.name
        << ".at\n";
    members += "Sinter_" + each.name + " of_" + each.name + "; ";
  }
  out << "layout(buffer_reference, std430, buffer_reference_align = 8) "
      << "readonly buffer Sinter_Tensors { " << members << "};\n"
      << "layout(push_constant, std430) uniform Sinter_Pushed "
      << "{ Sinter_Tensors tensors; } sinter_pushed;\n#line 1\n"
      << source;
  return text;
}

/// The source with the macros' values in the place of their names.
std::string assemblyOf(StringRef source, const Call &call) {
  llvm::StringMap<std::string> values;
  for (const auto &[name, value] : call.macros)
    values[name] = value;
  for (const Parameter &each : call.parameters)
    values[each.name + "_TYPE"] = each.type.spirv;
  auto isNamePart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  std::string text;
  while (!source.empty()) {
    StringRef word = source.take_while(isNamePart);
    // `%IN0_SIZE` is a name of the assembly's own.
    bool isWord = !word.empty() && !StringRef(text).ends_with("%");
    auto known = isWord ? values.find(word) : values.end();
    if (known != values.end())
      text += known->second;
    else
      text += word;
    source = source.drop_front(word.size());
    StringRef between = source.take_until(isNamePart);
    text += between;
    source = source.drop_front(between.size());
  }
  return text;
}

//===- Modules ------------------------------------------------------------===//

// SPIR-V specification 1.6, section 3.
enum Opcode : uint32_t {
  opEntryPoint = 15,
  opExecutionMode = 16,
  opCapability = 17,
  opVariable = 59,
};
constexpr uint32_t localSize = 17;

size_t wordsOfText(ArrayRef<uint32_t> words) {
  StringRef bytes(reinterpret_cast<const char *>(words.data()),
                  words.size() * 4);
  return std::min(words.size(), bytes.find('\0') / 4 + 1);
}

/// Reads a user's module and writes it as a kernel of the compiler's: with the
/// kernel's name.
class GivenModule {
public:
  GivenModule(const VulkanProfile &profile, StringRef entry, StringRef symbol,
              ArrayRef<int64_t> block)
      : profile(profile), entry(entry), symbol(symbol), block(block) {}

  /// An error of kind `invalid_argument` says what is wrong with the module.
  Result<SmallVector<uint32_t>> rewrite(ArrayRef<uint32_t> words);

private:
  Status read(uint32_t opcode, ArrayRef<uint32_t> operands,
              SmallVectorImpl<uint32_t> &out);
  Status checkCapability(uint32_t number) const;

  const VulkanProfile &profile;
  const StringRef entry, symbol;
  const ArrayRef<int64_t> block;
  bool hasEntry = false, hasBlock = false;
};

ErrorInfo wrong(const llvm::Twine &why) {
  return makeError(ErrorKind::invalid_argument, why.str());
}

Status GivenModule::checkCapability(uint32_t number) const {
  using spirv::Capability;
  auto capability = spirv::symbolizeCapability(number);
  bool isThere = false;
  switch (capability.value_or(Capability::Kernel)) {
  case Capability::Shader:
  case Capability::Matrix:
  case Capability::PhysicalStorageBufferAddresses:
  case Capability::GroupNonUniform:
    isThere = true;
    break;
  case Capability::GroupNonUniformVote:
  case Capability::GroupNonUniformShuffle:
    isThere = profile.knowsSubgroup;
    break;
  case Capability::Int64:
    isThere = profile.hasInt64;
    break;
  case Capability::Int64Atomics:
    isThere = profile.hasAtomic64;
    break;
  case Capability::Float64:
    isThere = profile.hasFloat64;
    break;
  case Capability::Int16:
  case Capability::StorageBuffer16BitAccess:
    isThere = profile.hasInt16;
    break;
  case Capability::Int8:
  case Capability::StorageBuffer8BitAccess:
    isThere = profile.hasInt8;
    break;
  default:
    break;
  }
  if (isThere)
    return {};
  return wrong("it needs " +
               (capability ? spirv::stringifyCapability(*capability)
                           : "capability " + llvm::Twine(number))
                   .str() +
               ", which the device's profile lacks");
}

Status GivenModule::read(uint32_t opcode, ArrayRef<uint32_t> operands,
                         SmallVectorImpl<uint32_t> &out) {
  if (opcode == opCapability && !operands.empty())
    SINTER_TRY(checkCapability(operands[0]));
  if (opcode == opVariable && operands.size() > 2) {
    constexpr uint32_t constants = 0, uniform = 2, storage = 12;
    uint32_t kind = operands[2];
    if (kind == constants || kind == uniform || kind == storage)
      return wrong("it has a variable with a binding; tensors come by address");
  }
  if (opcode == opExecutionMode && operands.size() == 5 &&
      operands[1] == localSize) {
    hasBlock = true;
    for (auto [axis, count] : llvm::enumerate(block))
      if (operands[2 + axis] != count)
        return wrong("its local size is not the block of the launch");
  }
  if (opcode != opEntryPoint || operands.size() < 3) {
    appendInstruction(out, opcode, operands);
    return {};
  }
  size_t length = wordsOfText(operands.drop_front(2));
  StringRef name(reinterpret_cast<const char *>(operands.data() + 2));
  if (hasEntry || name != entry)
    return wrong("it has the entry point '" + name + "', not '" + entry +
                 "' alone");
  hasEntry = true;
  SmallVector<uint32_t> renamed(operands.take_front(2));
  appendText(renamed, symbol);
  llvm::append_range(renamed, operands.drop_front(2 + length));
  appendInstruction(out, opcode, renamed);
  return {};
}

Result<SmallVector<uint32_t>> GivenModule::rewrite(ArrayRef<uint32_t> words) {
  if (words.size() < spirvHeaderWords)
    return wrong("it is no module");
  SmallVector<uint32_t> out(words.take_front(spirvHeaderWords));
  words = words.drop_front(spirvHeaderWords);
  while (!words.empty()) {
    uint32_t opcode = words[0] & 0xffff, length = words[0] >> 16;
    if (length == 0 || length > words.size())
      return wrong("an instruction has no end");
    SINTER_TRY(read(opcode, words.slice(1, length - 1), out));
    words = words.drop_front(length);
  }
  if (!hasEntry || !hasBlock)
    return wrong("it has no kernel with a local size");
  return out;
}

} // namespace

FailureOr<TargetCode> VulkanTarget::compileGiven(Operation *op,
                                                 StringRef symbol,
                                                 ArrayRef<unsigned> buffers,
                                                 bool keepText) const {
  auto given = cast<ir::OpaqueOpInterface>(op);
  std::string name = given.getFunction().str();
  bool isGlsl = !given.getGlsl().empty();
  if (!isGlsl && given.getSpirv().empty())
    return op->emitOpError("'") << name << "' has no GLSL or SPIR-V";
  if (given.getSharedBytes() > profile.sharedBytes)
    return op->emitOpError("'")
           << name << "' asks for " << given.getSharedBytes()
           << " bytes of shared memory, the device's profile has "
           << profile.sharedBytes;
  Call call(given);
  std::string source = isGlsl ? glslOf(given.getGlsl(), call)
                              : assemblyOf(given.getSpirv(), call);
  Result<std::vector<uint32_t>> words =
      isGlsl ? compileGlsl(source, name) : assembleSpirv(source, name);
  if (!words)
    return op->emitOpError("'") << name << "': " << words.error().message;
  std::string line = "\n" + runtime::givenLaunchLine(std::string_view(symbol),
                                                     launchOf(given, buffers));
  GivenModule module(profile, isGlsl ? "main" : StringRef(name), symbol,
                     given.getBlock());
  Result<SmallVector<uint32_t>> made = module.rewrite(*words);
  if (!made)
    return op->emitOpError("'") << name << "': " << made.error().message;
  SmallVector<uint32_t, 0> noted = withText(*made, line);
  TargetCode code;
  code.object.assign(reinterpret_cast<const char *>(noted.data()),
                     noted.size() * sizeof(uint32_t));
  if (keepText)
    code.asmText = source + "\n" + line;
  return code;
}

} // namespace sinter::compiler
