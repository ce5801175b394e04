/// Emission: scopes, memoized elements and structured control flow.
#include "compiler/lower/element/Emission.h"

#include "compiler/lower/element/CanonicalNan.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/target/LoweringPasses.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

Emission::Emission(OpBuilder &builder, const Target &target, KernelEntry given,
                   Block &body)
    : builder(builder), target(target), entry(std::move(given)),
      buffers(entry.buffers), body(body), loc(builder.getUnknownLoc()) {
  scopes.push_back(std::make_unique<Scope>());
  scopes.back()->block = &entry.function->getRegion(0).front();
}

Emission::~Emission() = default;

ElementSource &Emission::source(Value tensor) {
  auto &slot = sources[tensor];
  if (!slot)
    slot = makeSource(*this, tensor);
  return *slot;
}

void Emission::setSource(Value tensor, std::unique_ptr<ElementSource> source) {
  sources[tensor] = std::move(source);
}

static uint64_t word(Value value) {
  return reinterpret_cast<uint64_t>(value.getAsOpaquePointer());
}

static std::vector<uint64_t> keyOf(Value tensor, const Index &index,
                                   const Lanes &lanes) {
  std::vector<uint64_t> key{word(tensor), lanes.count, word(lanes.mask),
                            index.tailRank};
  auto append = [&](const Coord &coord) {
    key.push_back(word(coord.base));
    key.push_back(uint64_t(coord.step));
    key.push_back(word(coord.each));
  };
  for (const Coord &coord : index.lead)
    append(coord);
  if (index.tailRank)
    append(index.tail);
  return key;
}

static SmallVector<Value> operandsOf(const Index &index, const Lanes &lanes) {
  SmallVector<Value> operands;
  auto append = [&](Value value) {
    if (value)
      operands.push_back(value);
  };
  for (const Coord &coord : index.lead) {
    append(coord.base);
    append(coord.each);
  }
  append(index.tail.base);
  append(index.tail.each);
  append(lanes.mask);
  return operands;
}

std::optional<Element> Emission::find(const std::vector<uint64_t> &key) {
  for (auto &scope : llvm::reverse(scopes))
    if (auto known = scope->elements.find(key); known != scope->elements.end())
      return known->second;
  return std::nullopt;
}

Element Emission::at(Value tensor, const Index &index, const Lanes &lanes) {
  if (!index.isUniform())
    return evaluate(tensor, index, lanes);
  if (auto known = find(keyOf(tensor, index, Lanes{})))
    return *known;
  if (lanes.mask && (lanes.narrowed || lanes.count == 1))
    return underMask(tensor, index, lanes);
  return evaluate(tensor, index, Lanes{});
}

// One element more, for those who look at the lowered form.
static void countElement(Operation *function) {
  auto known = function->getAttrOfType<IntegerAttr>(elementsAttr);
  function->setAttr(elementsAttr,
                    Builder(function->getContext())
                        .getI64IntegerAttr(known ? known.getInt() + 1 : 1));
}

Element Emission::evaluate(Value tensor, const Index &index,
                           const Lanes &lanes) {
  std::vector<uint64_t> key = keyOf(tensor, index, lanes);
  if (auto known = find(key))
    return *known;
  countElement(entry.function);
  Element element;
  hoisted(operandsOf(index, lanes), /*readsMemory=*/true, [&] {
    element =
        canonicalNan(*this, tensor, source(tensor).at(*this, index, lanes));
    scopes.back()->elements[key] = element;
  });
  return element;
}

// One element that all lanes share, read only if a lane is left.
Element Emission::underMask(Value tensor, const Index &index,
                            const Lanes &lanes) {
  Value any = lanes.mask;
  if (isa<VectorType>(any.getType()))
    any = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR,
                                      any);
  Type type = valueType(elementOf(tensor));
  auto read = [&]() -> Values { return {at(tensor, index, Lanes{}).value}; };
  auto skip = [&]() -> Values { return {number(type, 0)}; };
  return Element{branch(any, type, read, skip).front()};
}

Value Emission::vectorAt(Value tensor, const Index &index, const Lanes &lanes) {
  return spread(at(tensor, index, lanes), lanes.count);
}

void Emission::provide(Value tensor, const Index &index, const Lanes &lanes,
                       Element element) {
  scopes.back()->elements[keyOf(tensor, index, lanes)] =
      canonicalNan(*this, tensor, element);
  scopes.back()->guarded = true;
}

Value Emission::spread(Element element, unsigned count) {
  if (count == 1 || !element.isUniform())
    return element.value;
  std::vector<uint64_t> key{~uint64_t(2), count, word(element.value)};
  for (auto &scope : llvm::reverse(scopes))
    if (auto known = scope->values.find(key); known != scope->values.end())
      return known->second;
  Value result;
  hoisted({element.value}, /*readsMemory=*/false, [&] {
    auto type = vectorType(element.value.getType(), count);
    result = vector::BroadcastOp::create(builder, loc, type, element.value);
    scopes.back()->values[key] = result;
  });
  return result;
}

Element Emission::select(Value mask, Element a, Element b, unsigned count) {
  bool isVector =
      isa<VectorType>(mask.getType()) || !a.isUniform() || !b.isUniform();
  unsigned lanes = isVector ? count : 1;
  Value left = spread(a, lanes), right = spread(b, lanes);
  Value condition = spread(Element{mask}, lanes);
  Type type = left.getType();
  Type element = getElementTypeOrSelf(type);
  bool isNarrow = element.isF16() || element.isBF16();
  if (isNarrow) {
    Type bits = isVector ? Type(vectorType(builder.getI16Type(), lanes))
                         : Type(builder.getI16Type());
    left = arith::BitcastOp::create(builder, loc, bits, left);
    right = arith::BitcastOp::create(builder, loc, bits, right);
  }
  Value result = arith::SelectOp::create(builder, loc, condition, left, right);
  if (isNarrow)
    result = arith::BitcastOp::create(builder, loc, type, result);
  return Element{result};
}

// ---- structure
// ---------------------------------------------------------------

size_t Emission::levelOf(Value value) const {
  Block *block = value.getParentBlock();
  for (size_t level = scopes.size(); level-- > 0;)
    if (scopes[level]->block == block)
      return level;
  return scopes.size() - 1;
}

void Emission::hoisted(ArrayRef<Value> operands, bool readsMemory,
                       llvm::function_ref<void()> emit) {
  size_t level = 0;
  for (Value operand : operands)
    level = std::max(level, levelOf(operand));
  if (readsMemory)
    for (size_t inner = scopes.size(); inner-- > level + 1;)
      if (scopes[inner]->guarded)
        level = inner;
  if (level + 1 == scopes.size())
    return emit();
  std::vector<std::unique_ptr<Scope>> inner(
      std::make_move_iterator(scopes.begin() + level + 1),
      std::make_move_iterator(scopes.end()));
  scopes.resize(level + 1);
  OpBuilder::InsertionGuard guard(builder);
  Block *outer = scopes[level]->block, *own = builder.getInsertionBlock();
  // Scopes inside may be of the same block.
  if (outer != own)
    builder.setInsertionPoint(
        outer->findAncestorOpInBlock(*own->getParentOp()));
  emit();
  for (auto &scope : inner)
    scopes.push_back(std::move(scope));
}

Emission::Values Emission::inScope(Block *block, bool guarded,
                                   llvm::function_ref<Values()> emit) {
  OpBuilder::InsertionGuard guard(builder);
  if (block->empty() || !block->back().hasTrait<OpTrait::IsTerminator>())
    builder.setInsertionPointToEnd(block);
  else
    builder.setInsertionPoint(&block->back());
  scopes.push_back(std::make_unique<Scope>());
  scopes.back()->block = block;
  scopes.back()->guarded = guarded;
  Values results = emit();
  if (!results.empty())
    scf::YieldOp::create(builder, loc, results);
  scopes.pop_back();
  return results;
}

Emission::Values Emission::loop(Value lower, Value upper, int64_t step,
                                ValueRange inits, LoopBody body) {
  auto op =
      scf::ForOp::create(builder, loc, lower, upper, constant(step), inits);
  if (multipleOf(lower) % step == 0)
    multiples[op.getInductionVar()] = step;
  inScope(op.getBody(), /*guarded=*/false,
          [&] { return body(op.getInductionVar(), op.getRegionIterArgs()); });
  return Values(op.getResults());
}

void Emission::loop(Value lower, Value upper, int64_t step,
                    llvm::function_ref<void(Value)> body) {
  loop(lower, upper, step, {}, [&](Value iv, ValueRange) {
    body(iv);
    return Values();
  });
}

Emission::Values Emission::branch(Value condition, TypeRange types,
                                  llvm::function_ref<Values()> then,
                                  llvm::function_ref<Values()> otherwise) {
  auto op = scf::IfOp::create(builder, loc, types, condition,
                              /*withElseRegion=*/!types.empty());
  inScope(op.thenBlock(), /*guarded=*/true, then);
  if (!types.empty())
    inScope(op.elseBlock(), /*guarded=*/true, otherwise);
  return Values(op.getResults());
}

void Emission::when(Value condition, llvm::function_ref<void()> then) {
  auto run = [&]() -> Values {
    then();
    return {};
  };
  branch(condition, {}, run, run);
}

void Emission::within(Block *block, llvm::function_ref<void()> emit) {
  inScope(block, /*guarded=*/false, [&]() -> Values {
    emit();
    return {};
  });
}

Value Emission::frameBuffer(const void *key, MemRefType type) {
  Value &buffer = frame[{key, type.getAsOpaquePointer()}];
  if (!buffer) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(scopes.front()->block);
    auto op = memref::AllocaOp::create(builder, loc, type);
    op.setAlignment(64);
    buffer = op;
  }
  return buffer;
}

VectorType Emission::vectorType(Type element, unsigned count) {
  return VectorType::get({int64_t(count)}, element);
}

Value Emission::tailMask(Value remaining, unsigned count) {
  auto type = vectorType(builder.getI1Type(), count);
  if (auto known = remaining.getDefiningOp<arith::ConstantIndexOp>()) {
    SmallVector<bool> bits;
    for (unsigned lane = 0; lane < count; ++lane)
      bits.push_back(lane < known.value());
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, bits));
  }
  return vector::CreateMaskOp::create(builder, loc, type, remaining);
}

Value Emission::fullMask(unsigned count) {
  return integer(vectorType(builder.getI1Type(), count), -1);
}

Value Emission::number(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attribute;
  if (isa<FloatType>(element))
    attribute = builder.getFloatAttr(element, value);
  else
    attribute = builder.getIntegerAttr(element, int64_t(value));
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(builder, loc, attribute);
}

Value Emission::integer(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  llvm::APInt bits(width, uint64_t(value), /*isSigned=*/false,
                   /*implicitTrunc=*/true);
  TypedAttr attribute = builder.getIntegerAttr(element, bits);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(builder, loc, attribute);
}

Element Emission::fail(Value tensor, const Twine &why) {
  if (!hasFailed) {
    Operation *op = tensor.getDefiningOp();
    if (!op)
      op = body.getParentOp();
    op->emitOpError(why);
  }
  hasFailed = true;
  return Element{number(valueType(elementOf(tensor)), 0)};
}

} // namespace sinter::compiler
