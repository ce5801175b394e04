/// The vulkan target: subgroups of a device, SPIR-V made by MLIR.
#pragma once

#include "compiler/target/AttentionUnit.h"
#include "compiler/target/BlockThreads.h"
#include "compiler/target/vulkan/VulkanProfile.h"

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
  llvm::FailureOr<TargetCode> compile(mlir::ModuleOp module, bool verify,
                                      bool keepText) const override;
  Result<std::vector<std::byte>>
  link(std::span<const std::string> objects) const override;

private:
  std::string targetName;
  VulkanProfile profile;
  std::unique_ptr<const BlockThreads> threads;
  std::vector<std::unique_ptr<const BlockUnit>> blocks;
  std::vector<std::unique_ptr<const AttentionUnit>> attention;
};

/// SPIR-V of a module whose functions, which work on scalars, are kernels. Uses
/// the contents up.
llvm::FailureOr<TargetCode> emitSpirv(mlir::ModuleOp module,
                                      const VulkanProfile &profile, bool verify,
                                      bool keepText);

} // namespace sinter::compiler
