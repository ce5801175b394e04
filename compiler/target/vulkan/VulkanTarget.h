/// The vulkan target: subgroups of a device, SPIR-V made by MLIR.
#pragma once

#include "compiler/target/AttentionUnit.h"
#include "compiler/target/BlockThreads.h"
#include "compiler/target/vulkan/VulkanProfile.h"

#include "mlir/Pass/Pass.h"

namespace sinter::compiler {

/// A device of a profile. The lanes of a vector are the threads of a subgroup,
/// each of which has two neighbours, or four where an element costs little.
class VulkanTarget final : public Target {
public:
  VulkanTarget(std::string name, VulkanProfile profile);

  std::string_view name() const override { return targetName; }
  std::string_view requirements() const override { return profile.list; }
  unsigned lanes() const override {
    return std::min(64u, 2 * profile.subgroup);
  }
  const LaneTraits &traits() const override { return lanesOfThreads; }
  int64_t frameBytes() const override;
  int64_t chunkElements() const override { return 1024; }
  unsigned vectorRegisters() const override { return 32; }
  bool hasFma() const override { return profile.hasFma; }
  const MatrixUnit *matrixUnit() const override { return nullptr; }
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
  llvm::LogicalResult check(mlir::Operation *op) const override;
  int64_t mostElements() const override;
  bool hasWideIndices() const override;
  bool storesBytes() const override { return profile.hasInt8; }
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

  const VulkanProfile &deviceProfile() const { return profile; }

private:
  std::string targetName;
  VulkanProfile profile;
  std::unique_ptr<const BlockThreads> threads;
  std::vector<std::unique_ptr<const BlockUnit>> blocks;
  std::vector<std::unique_ptr<const AttentionUnit>> attention;
};

/// The profile of a target; null where it is none of Vulkan.
const VulkanProfile *profileOf(const Target &target);

/// The passes `split-vectors` and `fit-types`, which other targets do not have.
std::unique_ptr<mlir::Pass> createSplitVectors(const Target &target);
std::unique_ptr<mlir::Pass> createFitTypes(const Target &target);

/// Puts a module's functions, which work on scalars, into a module of SPIR-V;
/// those that are not private are kernels. `run` runs passes on the module.
llvm::LogicalResult convertToSpirv(mlir::ModuleOp module,
                                   const VulkanProfile &profile,
                                   Target::RunPasses run);

/// The words of a module that `convertToSpirv` has made.
llvm::FailureOr<TargetCode>
emitSpirv(mlir::ModuleOp module, const VulkanProfile &profile, bool keepText);

} // namespace sinter::compiler
