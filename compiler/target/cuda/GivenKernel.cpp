/// Users' kernels: CUDA C++ with the shapes and dtypes of a call as macros.
#include "compiler/import/Types.h"
#include "compiler/target/cuda/CudaTarget.h"
#include "compiler/target/cuda/Nvrtc.h"
#include "dialects/sinter/Dialect.h"
#include "runtime/device/cuda/GivenLaunch.h"

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

  /// PREFIX_TYPE, PREFIX_RANK, PREFIX_DIM0, ..., PREFIX_SIZE.
  void describe(const llvm::Twine &prefix, Type type,
                ArrayRef<int64_t> extents) {
    DType dtype = *dtypeOf(getElementTypeOrSelf(type));
    const char *header = dtype == DType::f16    ? "cuda_fp16.h"
                         : dtype == DType::bf16 ? "cuda_bf16.h"
                                                : nullptr;
    if (header)
      add(llvm::Twine("--pre-include=") + header);
    define(prefix + "_TYPE", cudaType(dtype));
    define(prefix + "_RANK", llvm::Twine(extents.size()));
    int64_t size = 1;
    for (auto [axis, extent] : llvm::enumerate(extents)) {
      define(prefix + "_DIM" + llvm::Twine(axis), llvm::Twine(extent) + "LL");
      size *= extent;
    }
    define(prefix + "_SIZE", llvm::Twine(size) + "LL");
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
  ArrayRef<int64_t> extents = given.getExtents();
  for (auto [number, operand] : llvm::enumerate(given->getOperands())) {
    size_t rank = cast<RankedTensorType>(operand.getType()).getRank();
    options.describe("IN" + llvm::Twine(number), operand.getType(),
                     extents.take_front(rank));
    extents = extents.drop_front(rank);
  }
  Type result = given->getResult(0).getType();
  options.describe("OUT", result, cast<RankedTensorType>(result).getShape());
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
  runtime::GivenLaunch launch;
  llvm::copy(given.getGrid(), launch.grid.begin());
  llvm::copy(given.getBlock(), launch.block.begin());
  launch.sharedBytes = uint32_t(given.getSharedBytes());
  launch.buffers.assign(buffers.begin(), buffers.end());
  TargetCode code;
  code.object =
      *ptx + "\n" + runtime::givenLaunchLine(std::string_view(symbol), launch);
  if (keepText)
    code.asmText = code.object;
  return code;
}

} // namespace sinter::compiler
