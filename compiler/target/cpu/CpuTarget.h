/// The cpu target: x86-64 vectors, objects made by LLVM.
#pragma once

#include "compiler/target/Target.h"
#include "compiler/target/cpu/Features.h"

#include <limits>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace sinter::compiler {

class CpuTarget final : public Target {
public:
  CpuTarget(std::string name, CpuFeatures features);

  std::string_view name() const override { return targetName; }
  std::string_view requirements() const override { return features.list; }
  unsigned lanes() const override { return vectorLanes; }
  const LaneTraits &traits() const override { return lanesOfVectors; }
  int64_t frameBytes() const override {
    return std::numeric_limits<int64_t>::max();
  }
  int64_t chunkElements() const override { return 16384; }
  unsigned vectorRegisters() const override { return registers; }
  bool hasFma() const override { return fma; }
  const MatrixUnit *matrixUnit() const override { return unit.get(); }
  llvm::ArrayRef<std::unique_ptr<const AttentionUnit>>
  attentionUnits() const override {
    return {};
  }
  const BlockThreads *blockThreads() const override { return nullptr; }
  llvm::ArrayRef<std::unique_ptr<const BlockUnit>> blockUnits() const override {
    return {};
  }
  bool multipliesWords(mlir::Type left, mlir::Type right) const override;
  mlir::Value addWords(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value a, mlir::Value b, mlir::Value sum,
                       mlir::Type leftPart,
                       mlir::Type rightPart) const override;

  KernelEntry beginKernel(mlir::OpBuilder &builder, mlir::ModuleOp module,
                          llvm::StringRef symbol, mlir::TypeRange elements,
                          unsigned numDims) const override;
  mlir::Value bufferAt(mlir::OpBuilder &builder, mlir::Location loc,
                       const KernelEntry &entry, mlir::Value number,
                       mlir::Type element) const override;
  void reportIndexError(mlir::OpBuilder &builder, mlir::Location loc,
                        const KernelEntry &entry,
                        mlir::Value index) const override;
  void endStreaming(mlir::OpBuilder &builder,
                    mlir::Location loc) const override;
  void buildLowering(mlir::OpPassManager &passes) const override;
  MathFeatures mathFeatures(mlir::ModuleOp module) const override;
  FarOptions farTrig() const override;
  llvm::LogicalResult lowerAbi(mlir::ModuleOp module,
                               RunPasses run) const override;
  llvm::FailureOr<TargetCode> translate(mlir::ModuleOp module,
                                        bool keepText) const override;
  Result<std::vector<std::byte>>
  link(std::span<const std::string> objects) const override;

private:
  std::string targetName;
  CpuFeatures features;
  unsigned vectorLanes = 4; ///< of f32
  unsigned registers;
  bool fma = false;
  std::unique_ptr<const MatrixUnit> unit;
};

/// Makes an object of a module in the LLVM dialect.
llvm::FailureOr<TargetCode>
emitObject(mlir::ModuleOp module, const CpuFeatures &features, bool keepText);

} // namespace sinter::compiler
