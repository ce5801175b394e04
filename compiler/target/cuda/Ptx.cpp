/// Ptx: instructions by inline assembly.
#include "compiler/target/cuda/Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace sinter::compiler {

SmallVector<Value> Ptx::run(const Twine &text, StringRef constraints,
                            ValueRange operands, TypeRange results) const {
  Type type;
  if (results.size() == 1)
    type = results.front();
  if (results.size() > 1)
    type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                            llvm::to_vector(results));
  std::string all = constraints.str();
  all += all.empty() ? "~{memory}" : ",~{memory}";
  auto dialect =
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  auto op = LLVM::InlineAsmOp::create(
      builder, loc, type ? TypeRange(type) : TypeRange(), operands, text.str(),
      all, /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, dialect, ArrayAttr());
  if (results.empty())
    return {};
  if (results.size() == 1)
    return {op.getResult(0)};
  SmallVector<Value> values;
  for (size_t number = 0; number < results.size(); ++number)
    values.push_back(LLVM::ExtractValueOp::create(builder, loc, op.getResult(0),
                                                  int64_t(number)));
  return values;
}

Value Ptx::compute(StringRef text, StringRef constraints, ValueRange operands,
                   Type result) const {
  auto dialect =
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  return LLVM::InlineAsmOp::create(
             builder, loc, result, operands, text, constraints,
             /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, dialect, ArrayAttr())
      .getResult(0);
}

Value Ptx::uniform(Value value) const {
  return LLVM::CallIntrinsicOp::create(
             builder, loc, builder.getI32Type(),
             builder.getStringAttr("llvm.nvvm.shfl.sync.idx.i32"),
             {number(-1), value, number(0), number(31)})
      .getResult(0);
}

// ---- floats ----------------------------------------------------------------

Value Ptx::exp2(Value x) const {
  return compute("ex2.approx.ftz.f32 $0, $1;", "=f,f", {x},
                 builder.getF32Type());
}

Value Ptx::log2(Value x) const {
  return compute("lg2.approx.ftz.f32 $0, $1;", "=f,f", {x},
                 builder.getF32Type());
}

Value Ptx::pack(Type element, Value low, Value high) const {
  return compute(element.isBF16() ? "cvt.rn.bf16x2.f32 $0, $2, $1;"
                                  : "cvt.rn.f16x2.f32 $0, $2, $1;",
                 "=r,f,f", {low, high}, builder.getI32Type());
}

Value Ptx::exchange(Value value, int32_t distance) const {
  return LLVM::CallIntrinsicOp::create(
             builder, loc, builder.getF32Type(),
             builder.getStringAttr("llvm.nvvm.shfl.sync.bfly.f32"),
             {number(-1), value, number(distance), number(31)})
      .getResult(0);
}

// ---- barriers --------------------------------------------------------------

void Ptx::initBarrier(Value barrier, int32_t arrivals) const {
  run("mbarrier.init.shared::cta.b64 [$0], $1;", "r,r",
      {barrier, number(arrivals)});
}

void Ptx::publishBarriers() const {
  run("fence.mbarrier_init.release.cluster;", "", {});
  publishToCopies();
}

void Ptx::expectBytes(Value barrier, int32_t bytes) const {
  run("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r",
      {barrier, number(bytes)});
}

void Ptx::arriveWhere(Value flag, Value barrier) const {
  Value word = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), flag);
  run("{ .reg .pred p; setp.ne.b32 p, $1, 0; "
      "@p mbarrier.arrive.shared::cta.b64 _, [$0]; }",
      "r,r", {barrier, word});
}

void Ptx::wait(Value barrier, Value parity) const {
  run("{ .reg .pred p; WAIT: "
      "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; "
      "@p bra DONE; bra WAIT; DONE: }",
      "r,r", {barrier, parity});
}

// ---- copies ----------------------------------------------------------------

// `{$first, ...}` of so many operands.
static std::string listOf(unsigned first, size_t count) {
  std::string list = "{";
  for (unsigned number = 0; number < count; ++number)
    list += (number ? ", $" : "$") + std::to_string(first + number);
  return list + "}";
}

static std::string times(StringRef constraint, size_t count) {
  std::string all;
  for (size_t number = 0; number < count; ++number)
    all += "," + constraint.str();
  return all;
}

void Ptx::prefetch(Value map) const {
  run("prefetch.tensormap [$0];", "l", {map});
}

void Ptx::copyIn(Value to, Value map, ValueRange coordinates,
                 Value barrier) const {
  SmallVector<Value> operands{to, map, barrier};
  llvm::append_range(operands, coordinates);
  run("cp.async.bulk.tensor." + Twine(coordinates.size()) +
          "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], "
          "[$1, " +
          listOf(3, coordinates.size()) + "], [$2];",
      "r,l,r" + times("r", coordinates.size()), operands);
}

void Ptx::copyIn(Value to, Value map, ValueRange coordinates,
                 ValueRange offsets, Value barrier) const {
  SmallVector<Value> operands{to, map, barrier};
  llvm::append_range(operands, coordinates);
  for (Value offset : offsets)
    operands.push_back(
        arith::TruncIOp::create(builder, loc, builder.getI16Type(), offset));
  run("cp.async.bulk.tensor." + Twine(coordinates.size()) +
          "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [$0], "
          "[$1, " +
          listOf(3, coordinates.size()) + "], [$2], " +
          listOf(3 + coordinates.size(), offsets.size()) + ";",
      "r,l,r" + times("r", coordinates.size()) + times("h", offsets.size()),
      operands);
}

void Ptx::copyOut(Value map, ValueRange coordinates, Value from) const {
  SmallVector<Value> operands{from, map};
  llvm::append_range(operands, coordinates);
  run("cp.async.bulk.tensor." + Twine(coordinates.size()) +
          "d.global.shared::cta.tile.bulk_group [$1, " +
          listOf(2, coordinates.size()) + "], [$0];",
      "r,l" + times("r", coordinates.size()), operands);
}

void Ptx::commitCopies() const { run("cp.async.bulk.commit_group;", "", {}); }

void Ptx::waitForCopies(unsigned pending, bool written) const {
  run(Twine("cp.async.bulk.wait_group") + (written ? " " : ".read ") +
          Twine(pending) + ";",
      "", {});
}

void Ptx::publishToCopies() const {
  run("fence.proxy.async.shared::cta;", "", {});
}

// ---- threads ---------------------------------------------------------------

void Ptx::waitForKernels() const { run(waitForKernelsText, "", {}); }

void Ptx::syncBlock() const { run("bar.sync 0;", "", {}); }

void Ptx::syncThreads(Value barrier, int32_t threads) const {
  run("bar.sync $0, $1;", "r,r", {barrier, number(threads)});
}

void Ptx::arriveThreads(Value barrier, int32_t threads) const {
  run("bar.arrive $0, $1;", "r,r", {barrier, number(threads)});
}

Value Ptx::electOne() const {
  Value word = run("{ .reg .pred p; elect.sync _|p, 0xffffffff; "
                   "selp.b32 $0, 1, 0, p; }",
                   "=r", {}, builder.getI32Type())
                   .front();
  return equals(word, 1);
}

void Ptx::setRegisters(bool more, unsigned count) const {
  run(Twine("setmaxnreg.") + (more ? "inc" : "dec") + ".sync.aligned.u32 " +
          Twine(count) + ";",
      "", {});
}

void Ptx::storeMatrices(Value address, ValueRange words) const {
  SmallVector<Value> operands{address};
  llvm::append_range(operands, words);
  run("stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {$1, $2, $3, $4};",
      "r,r,r,r,r", operands);
}

} // namespace sinter::compiler
