/// The cuda target: a warp works on a chunk, its threads have the lanes.
#pragma once

#include "compiler/target/AttentionUnit.h"
#include "compiler/target/BlockThreads.h"
#include "compiler/target/cuda/WarpUnit.h"
#include "runtime/device/cuda/Architectures.h"

namespace sinter::compiler {

/// Whose code runs on all that there are.
inline constexpr const char *oldestArchitecture = "sm_80";

/// Hopper with its own instructions, which no later architecture has.
inline constexpr const char *hopperArchitecture = "sm_90a";

class CudaTarget final : public Target {
public:
  CudaTarget(std::string name, const runtime::CudaArchitecture &architecture,
             const Machines &machines);

  std::string_view name() const override { return targetName; }
  std::string_view requirements() const override {
    return isHopper ? std::string_view(hopperArchitecture) : architecture;
  }
  unsigned lanes() const override { return 64; }
  const LaneTraits &traits() const override { return lanesOfThreads; }
  int64_t frameBytes() const override { return machines().usual.sharedBytes; }
  int64_t chunkElements() const override { return 1024; }
  unsigned vectorRegisters() const override { return 32; }
  bool hasFma() const override { return true; }
  const MatrixUnit *matrixUnit() const override { return unit.get(); }
  llvm::ArrayRef<std::unique_ptr<const BlockUnit>> blockUnits() const override {
    return blocks;
  }
  llvm::ArrayRef<std::unique_ptr<const AttentionUnit>>
  attentionUnits() const override {
    return attention;
  }
  const BlockThreads *blockThreads() const override { return threads.get(); }
  bool multipliesWords(mlir::Type, mlir::Type) const override { return false; }
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
  void endStreaming(mlir::OpBuilder &, mlir::Location) const override {}
  llvm::FailureOr<TargetCode> compileGiven(mlir::Operation *op,
                                           llvm::StringRef symbol,
                                           llvm::ArrayRef<unsigned> buffers,
                                           bool keepText) const override;
  void buildLowering(mlir::OpPassManager &passes) const override;
  MathFeatures mathFeatures(mlir::ModuleOp module) const override;
  FarOptions farTrig() const override;
  void clusterLoads(mlir::func::FuncOp function) const override;
  llvm::LogicalResult
  distributeLanes(mlir::func::FuncOp function) const override;
  llvm::LogicalResult lowerAbi(mlir::ModuleOp module,
                               RunPasses run) const override;
  llvm::FailureOr<TargetCode> translate(mlir::ModuleOp module,
                                        bool keepText) const override;
  Result<std::vector<std::byte>>
  link(std::span<const std::string> objects) const override;

private:
  std::string targetName, architecture; ///< the latter of the code
  std::unique_ptr<const MatrixUnit> unit;
  bool isHopper;
  std::vector<std::unique_ptr<const BlockUnit>> blocks;
  std::vector<std::unique_ptr<const AttentionUnit>> attention;
  std::unique_ptr<const BlockThreads> threads;
};

/// PTX of a module in the LLVM dialect, whose functions with a body are
/// kernels. Uses the contents up.
llvm::FailureOr<TargetCode>
emitPtx(mlir::ModuleOp module, llvm::StringRef architecture, bool keepText);

/// Attributes of a function: the warps of a block, and, where all of them work
/// together, how many blocks share a multiprocessor.
inline constexpr const char *warpsAttr = "sinter.warps";
inline constexpr const char *blocksAttr = "sinter.blocks";
/// Marks a function whose warps read lines of the device's memory in pieces.
inline constexpr const char *gathersAttr = "sinter.gathers";
/// The lines that its text ends with: tensor maps, which are Hopper's own.
inline constexpr const char *linesAttr = "sinter.lines";

} // namespace sinter::compiler
