/// Users' kernels: CUDA C++ with the shapes and dtypes of a call as macros.
#include "compiler/target/GivenCall.h"
#include "compiler/target/cuda/CudaTarget.h"
#include "compiler/target/cuda/Nvrtc.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

static const char *cudaType(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return "double";
  case DType::f32:
    return "float";
  case DType::f16:
    return "__half";
  case DType::bf16:
    return "__nv_bfloat16";
  case DType::i8:
    return "signed char";
  case DType::i16:
    return "short";
  case DType::i32:
    return "int";
  case DType::i64:
    return "long long";
  case DType::u8:
    return "unsigned char";
  case DType::u16:
    return "unsigned short";
  case DType::u32:
    return "unsigned int";
  case DType::u64:
    return "unsigned long long";
  case DType::boolean:
    return "bool";
  default:
    llvm_unreachable("nothing computes with it");
  }
}

namespace {

/// What the source is compiled with.
class Options {
public:
  void define(const llvm::Twine &name, const llvm::Twine &value) {
    list.push_back(("--define-macro=" + name + "=" + value).str());
  }

  /// The tensor's type and sizes, as macros.
  void describe(const GivenTensor &tensor) {
    const char *header = tensor.dtype == DType::f16    ? "cuda_fp16.h"
                         : tensor.dtype == DType::bf16 ? "cuda_bf16.h"
                                                       : nullptr;
    if (header)
      add(llvm::Twine("--pre-include=") + header);
    define(tensor.name + "_TYPE", cudaType(tensor.dtype));
    for (const auto &[name, value] : tensor.sizes()) {
      bool isRank = StringRef(name).ends_with("_RANK");
      define(name, llvm::Twine(value) + (isRank ? "" : "LL"));
    }
  }

  void add(const llvm::Twine &option) {
    std::string text = option.str();
    if (!llvm::is_contained(list, text))
      list.push_back(std::move(text));
  }

  std::span<const std::string> view() const { return list; }

private:
  std::vector<std::string> list;
};

} // namespace

static Options optionsOf(ir::OpaqueOpInterface given, StringRef symbol,
                         StringRef architecture) {
  Options options;
  options.add("--std=c++17");
  options.add("--gpu-architecture=compute_" + architecture.drop_front(3));
  options.define(given.getFunction(), symbol);
  for (const GivenTensor &tensor : tensorsOf(given))
    options.describe(tensor);
  return options;
}

FailureOr<TargetCode> CudaTarget::compileGiven(Operation *op, StringRef symbol,
                                               ArrayRef<unsigned> buffers,
                                               bool keepText) const {
  auto given = cast<ir::OpaqueOpInterface>(op);
  Options options = optionsOf(given, symbol, requirements());
  Result<std::string> ptx = compileCuda(
      given.getSource().str(), given.getFunction().str(), options.view());
  if (!ptx)
    return op->emitOpError("'")
           << given.getFunction() << "': " << ptx.error().message;
  if (!StringRef(*ptx).contains((".entry " + symbol + "(").str()))
    return op->emitOpError("the source has no function 'extern \"C\" "
                           "__global__ void ")
           << given.getFunction() << "'";
  TargetCode code;
  code.object = *ptx + "\n" +
                runtime::givenLaunchLine(std::string_view(symbol),
                                         launchOf(given, buffers));
  if (keepText)
    code.asmText = code.object;
  return code;
}

} // namespace sinter::compiler
