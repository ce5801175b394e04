/// WarpgroupProduct: wgmma, one piece of assembly for all steps.
#include "compiler/target/cuda/WarpgroupProduct.h"

#include "compiler/target/cuda/WarpgroupLayout.h"

using namespace mlir;

namespace sinter::compiler {

using Layout = WarpgroupLayout;

static constexpr int64_t unitBytes = 16; ///< that addresses count
static constexpr int64_t lineBytes = 128;
static constexpr int64_t wordsOfStep = 4; ///< of a thread, of the left operand

// A matrix in shared memory, as wgmma reads it (PTX ISA, matrix descriptor):
// lines of 128 bytes, swizzled, eight of them after eight. Where neighbours do
// not lie along k, 64 of them follow after a box.
static Value descriptor(const Ptx &ptx, Value address,
                        const SharedOperand &matrix) {
  constexpr int64_t swizzle128 = int64_t(1) << 62;
  int64_t lead = matrix.alongDepth ? unitBytes : matrix.boxBytes;
  return ptx.orWide(ptx.shiftRight(address, 4),
                    swizzle128 | (Layout::swizzledBytes / unitBytes) << 32 |
                        (lead / unitBytes) << 16);
}

// How far behind the operand's start a step's part is: k lies along lines, from
// box to box, or down the lines.
static std::string placeOf(const SharedOperand &matrix, int64_t start,
                           int64_t step) {
  constexpr int64_t bytes = WarpgroupProduct::depthOfStep * 2;
  constexpr int64_t stepsOfLine = lineBytes / bytes;
  int64_t place =
      matrix.alongDepth
          ? step / stepsOfLine * matrix.boxBytes + step % stepsOfLine * bytes
          : step * WarpgroupProduct::depthOfStep * lineBytes;
  return std::to_string((start + place) / unitBytes);
}

// `{$first, ...}` of so many operands.
static std::string listOf(int64_t first, int64_t count) {
  std::string list = "{";
  for (int64_t number = 0; number < count; ++number)
    list += (number ? ", $" : "$") + std::to_string(first + number);
  return list + "}";
}

std::string WarpgroupProduct::text(bool adds) const {
  int64_t first = adds ? 2 * sums() : sums();
  int64_t words = left ? 1 : steps * wordsOfStep;
  auto operand = [&](int64_t number) {
    return "$" + std::to_string(first + number);
  };
  std::string type = element.isBF16() ? "bf16" : "f16";
  std::string text = "{ .reg .pred p; .reg .b64 a, b; setp.ne.b32 p, " +
                     (adds ? operand(words + 1) : "0") +
                     ", 0; wgmma.fence.sync.aligned; ";
  std::string before = "p"; // whether there are sums
  for (const OperandParts &pair : pairs)
    for (int64_t step = 0; step < steps; ++step) {
      if (left)
        text += "add.s64 a, " + operand(0) + ", " +
                placeOf(*left, pair.left, step) + "; ";
      text += "add.s64 b, " + operand(words) + ", " +
              placeOf(right, pair.right, step) +
              "; wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) +
              "k16.f32." + type + "." + type + " " + listOf(0, sums()) + ", " +
              (left ? "a" : listOf(first + step * wordsOfStep, wordsOfStep)) +
              ", b, " + before + ", 1, 1, ";
      if (left)
        text += left->alongDepth ? "0, " : "1, ";
      text += right.alongDepth ? "0; " : "1; ";
      before = "1";
    }
  return text + "wgmma.commit_group.sync.aligned; }";
}

// Sums that are written, and read before where they are `read`.
static std::string constraintsOf(size_t sums, bool read) {
  std::string text;
  for (size_t sum = 0; sum < sums; ++sum)
    text += sum ? ",=f" : "=f";
  for (size_t sum = 0; read && sum < sums; ++sum)
    text += "," + std::to_string(sum);
  return text;
}

WarpgroupProduct::Values WarpgroupProduct::run(ValueRange leftOperand,
                                               Value rightOperand, Value k,
                                               ValueRange before) const {
  Values operands(before);
  std::string constraints = constraintsOf(size_t(sums()), bool(k));
  if (left) {
    operands.push_back(descriptor(ptx, leftOperand.front(), *left));
    constraints += ",l";
  } else {
    llvm::append_range(operands, leftOperand);
    for (size_t word = 0; word < leftOperand.size(); ++word)
      constraints += ",r";
  }
  operands.push_back(descriptor(ptx, rightOperand, right));
  constraints += ",l";
  if (k) {
    operands.push_back(k);
    constraints += ",r";
  }
  SmallVector<Type> types(size_t(sums()),
                          Float32Type::get(element.getContext()));
  return ptx.run(text(bool(k)), constraints, operands, types);
}

WarpgroupProduct::Values WarpgroupProduct::multiply(ValueRange leftOperand,
                                                    Value rightOperand) const {
  return run(leftOperand, rightOperand, {}, {});
}

WarpgroupProduct::Values WarpgroupProduct::multiply(ValueRange leftOperand,
                                                    Value rightOperand, Value k,
                                                    ValueRange sums) const {
  return run(leftOperand, rightOperand, k, sums);
}

void WarpgroupProduct::wait(unsigned pending) const {
  ptx.run("wgmma.wait_group.sync.aligned " + Twine(pending) + ";", "", {});
}

// The sums pass through the wait, so that nothing reads them before.
WarpgroupProduct::Values WarpgroupProduct::wait(unsigned pending,
                                                ValueRange sums) const {
  return ptx.run("wgmma.wait_group.sync.aligned " + Twine(pending) + ";",
                 constraintsOf(sums.size(), /*read=*/true), sums,
                 sums.getTypes());
}

} // namespace sinter::compiler
