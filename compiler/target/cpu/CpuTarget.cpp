/// The cpu target: kernel functions over the argument block.
#include "compiler/target/cpu/CpuTarget.h"

#include "compiler/target/cpu/ExpandMath.h"
#include "compiler/target/cpu/TileUnit.h"
#include "compiler/target/cpu/WholeVectors.h"
#include "runtime/program/KernelAbi.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace sinter::compiler {

CpuTarget::CpuTarget(std::string name, CpuFeatures given)
    : targetName(std::move(name)), features(std::move(given)) {
  if (features.has("avx512f") && features.has("avx512bw") &&
      features.has("avx512dq") && features.has("avx512vl")) {
    vectorLanes = 16;
    registers = 32;
  } else if (features.has("avx2")) {
    vectorLanes = 8;
  }
  fma = features.has("fma");
  unit = makeTileUnit(features);
}

bool CpuTarget::multipliesPairs(Type part) const {
  return part.isBF16() && vectorLanes == 16 && features.has("avx512bf16");
}

Value CpuTarget::addPairs(OpBuilder &builder, Location loc, Value a, Value b,
                          Value sum) const {
  int64_t lanes = cast<VectorType>(sum.getType()).getNumElements();
  auto pairs = VectorType::get({2 * lanes}, builder.getBF16Type());
  auto halves = [&](Value words) -> Value {
    return LLVM::BitcastOp::create(builder, loc, pairs, words);
  };
  std::string name =
      "llvm.x86.avx512bf16.dpbf16ps." + std::to_string(32 * lanes);
  return callIntrinsic(builder, loc, sum.getType(), name,
                       {sum, halves(a), halves(b)});
}

// The value of `type` at byte `offset` from `base`.
static Value loadField(OpBuilder &builder, Location loc, Value base,
                       int64_t offset, Type type) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value address =
      LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                          ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  return LLVM::LoadOp::create(builder, loc, type, address);
}

// A rank-1 memref over the memory at `pointer`. Its size is never read.
static Value viewAsMemRef(OpBuilder &builder, Location loc, Value pointer,
                          Type element) {
  auto i64 = builder.getI64Type();
  auto array = LLVM::LLVMArrayType::get(i64, 1);
  auto descriptor = LLVM::LLVMStructType::getLiteral(
      builder.getContext(),
      {pointer.getType(), pointer.getType(), i64, array, array});
  Value zero = LLVM::ConstantOp::create(builder, loc, i64, 0);
  Value one = LLVM::ConstantOp::create(builder, loc, i64, 1);
  Value value = LLVM::PoisonOp::create(builder, loc, descriptor);
  auto insert = [&](Value field, ArrayRef<int64_t> position) {
    value = LLVM::InsertValueOp::create(builder, loc, value, field, position);
  };
  insert(pointer, {0});
  insert(pointer, {1});
  insert(zero, {2});
  insert(zero, {3, 0});
  insert(one, {4, 0});
  auto type = MemRefType::get({ShapedType::kDynamic}, element);
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

KernelEntry CpuTarget::beginKernel(OpBuilder &builder, ModuleOp module,
                                   StringRef symbol, TypeRange elements,
                                   unsigned numDims) const {
  loadCpuDialects(*module.getContext());
  Location loc = builder.getUnknownLoc();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto i64 = builder.getI64Type();
  auto index = builder.getIndexType();
  auto type = builder.getFunctionType({pointer, pointer, i64, i64}, {});
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, loc, symbol, type);
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  auto end = func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(end);

  using runtime::KernelBlock;
  KernelEntry entry;
  entry.function = function;
  Value block = body->getArgument(0);
  auto field = [&](size_t offset, Type fieldType) {
    return loadField(builder, loc, block, int64_t(offset), fieldType);
  };
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, index, value);
  };
  entry.addresses = field(offsetof(KernelBlock, buffers), pointer);
  for (auto [number, element] : llvm::enumerate(elements)) {
    Value address =
        loadField(builder, loc, entry.addresses, 8 * number, pointer);
    entry.buffers.push_back(viewAsMemRef(builder, loc, address, element));
  }
  if (numDims) {
    Value dims = field(offsetof(KernelBlock, dims), pointer);
    for (unsigned number = 0; number < numDims; ++number)
      entry.dims.push_back(
          toIndex(loadField(builder, loc, dims, 8 * number, i64)));
  }
  entry.errorWord = field(offsetof(KernelBlock, error), pointer);
  entry.launch = field(offsetof(KernelBlock, launch), builder.getI32Type());
  entry.firstChunk = toIndex(body->getArgument(2));
  entry.lastChunk = toIndex(body->getArgument(3));
  return entry;
}

Value CpuTarget::bufferAt(OpBuilder &builder, Location loc,
                          const KernelEntry &entry, Value number,
                          Type element) const {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value position =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number);
  Value place =
      LLVM::GEPOp::create(builder, loc, pointer, pointer, entry.addresses,
                          ArrayRef<LLVM::GEPArg>{position});
  Value address = LLVM::LoadOp::create(builder, loc, pointer, place);
  return viewAsMemRef(builder, loc, address, element);
}

void CpuTarget::reportIndexError(OpBuilder &builder, Location loc,
                                 const KernelEntry &entry, Value index) const {
  auto i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64, value);
  };
  Value launch = LLVM::ZExtOp::create(builder, loc, i64, entry.launch);
  Value high = LLVM::ShlOp::create(builder, loc, launch, constant(40));
  Value low = LLVM::UMinOp::create(builder, loc, index,
                                   constant((int64_t(1) << 40) - 1));
  Value word = LLVM::OrOp::create(builder, loc, high, low);
  LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::umin,
                            entry.errorWord, word,
                            LLVM::AtomicOrdering::monotonic);
}

void CpuTarget::endStreaming(OpBuilder &builder, Location loc) const {
  LLVM::CallIntrinsicOp::create(
      builder, loc, builder.getStringAttr("llvm.x86.sse.sfence"), ValueRange{});
}

FailureOr<TargetCode> CpuTarget::compile(ModuleOp module, bool verify,
                                         bool keepText) const {
  expandMath(module, {.fma = fma,
                      .rounds = features.has("sse4.1"),
                      .nativeF16 = features.has("f16c"),
                      .vectorBits = 32 * vectorLanes,
                      .alike = module->hasAttr(alikeAttr),
                      .approximates = module->hasAttr(approximatesAttr)});
  if (verify && failed(mlir::verify(module)))
    return failure();
  if (failed(convertToLlvm(module, verify)))
    return failure();
  return emitObject(module, features, keepText);
}

Result<std::shared_ptr<const Target>> makeTarget(std::string_view name) {
  std::string_view level = name;
  bool isCpu = level.substr(0, 3) == "cpu";
  level.remove_prefix(std::min<size_t>(level.size(), 3));
  if (isCpu && !level.empty()) {
    isCpu = level.front() == ':' && level.size() > 1;
    level.remove_prefix(1);
  }
  auto features = isCpu ? cpuFeatures(level) : std::nullopt;
  if (!features)
    return makeError(ErrorKind::unsupported,
                     "target " + std::string(name) +
                         " is unknown; choose one of cpu, cpu:x86-64-v3, "
                         "cpu:x86-64-v4, cpu:scalar, or one with features: "
                         "cpu:x86-64-v4+avx512bf16");
  return std::shared_ptr<const Target>(
      std::make_shared<CpuTarget>(std::string(name), std::move(*features)));
}

} // namespace sinter::compiler
