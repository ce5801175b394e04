/// WarpgroupProduct: wgmma, one piece of assembly for a stage.
#include "compiler/target/cuda/WarpgroupProduct.h"

using namespace mlir;

namespace sinter::compiler {

static constexpr int64_t unitBytes = 16; ///< that addresses count
static constexpr int64_t depthOfStep = 16;

// A matrix in shared memory, as wgmma reads it (PTX ISA, matrix descriptor):
// rows of 128 bytes, swizzled, eight of them after eight. Where neighbours do
// not lie along k, 64 of them follow after a box.
static Value descriptor(const Ptx &ptx, Value address, bool alongDepth) {
  using Layout = WarpgroupLayout;
  constexpr int64_t swizzle128 = int64_t(1) << 62;
  int64_t lead =
      alongDepth ? unitBytes : Layout::depth * Layout::boxColumns * 2;
  return ptx.orWide(ptx.shiftRight(address, 4),
                    swizzle128 | (Layout::swizzledBytes / unitBytes) << 32 |
                        (lead / unitBytes) << 16);
}

// All products of a stage; those of the stage before have ended after it.
std::string WarpgroupProduct::text() const {
  int64_t count = columns / 2;
  std::string sums, element = product.element.isBF16() ? "bf16" : "f16";
  for (int64_t sum = 0; sum < count; ++sum)
    sums += (sum ? ", $" : "$") + std::to_string(sum);
  auto operand = [&](int64_t number) {
    return "$" + std::to_string(2 * count + number);
  };
  // k lies along a row, or down the rows.
  auto place = [&](const BlockUnit::Matrix &matrix, int64_t step) {
    int64_t rows = matrix.alongDepth ? 1 : WarpgroupLayout::boxColumns;
    return std::to_string(step * depthOfStep * 2 * rows / unitBytes);
  };
  std::string text = "{ .reg .pred p; .reg .b64 a, b; setp.ne.b32 p, " +
                     operand(2) + ", 0; wgmma.fence.sync.aligned; ";
  for (int64_t step = 0; step < WarpgroupLayout::depth / depthOfStep; ++step)
    text += "add.s64 a, " + operand(0) + ", " + place(product.left, step) +
            "; add.s64 b, " + operand(1) + ", " + place(product.right, step) +
            "; wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) +
            "k16.f32." + element + "." + element + " {" + sums + "}, a, b, " +
            (step ? "1" : "p") + ", 1, 1, " +
            (product.left.alongDepth ? "0" : "1") + ", " +
            (product.right.alongDepth ? "0" : "1") + "; ";
  return text + "wgmma.commit_group.sync.aligned; "
                "wgmma.wait_group.sync.aligned 1; }";
}

// Sums that are read and written.
static std::string constraintsOf(size_t sums) {
  std::string text;
  for (size_t sum = 0; sum < sums; ++sum)
    text += sum ? ",=f" : "=f";
  for (size_t sum = 0; sum < sums; ++sum)
    text += "," + std::to_string(sum);
  return text;
}

WarpgroupProduct::Values WarpgroupProduct::multiply(Value left, Value right,
                                                    Value k,
                                                    ValueRange sums) const {
  Values operands(sums);
  operands.push_back(descriptor(ptx, left, product.left.alongDepth));
  operands.push_back(descriptor(ptx, right, product.right.alongDepth));
  operands.push_back(k);
  return ptx.run(text(), constraintsOf(sums.size()) + ",l,l,r", operands,
                 sums.getTypes());
}

// The sums pass through the wait, so that nothing reads them before.
WarpgroupProduct::Values WarpgroupProduct::wait(ValueRange sums) const {
  return ptx.run("wgmma.wait_group.sync.aligned 0;", constraintsOf(sums.size()),
                 sums, sums.getTypes());
}

} // namespace sinter::compiler
