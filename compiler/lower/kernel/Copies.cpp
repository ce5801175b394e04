/// Equal parts of a kernel.
#include "compiler/lower/kernel/Copies.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace sinter::compiler {

bool isCopy(Value original, Value copy, Places &places) {
  if (original.getType() != copy.getType())
    return false;
  auto [place, isNew] = places.try_emplace(original, copy);
  if (!isNew)
    return place->second == copy;
  Operation *from = original.getDefiningOp(), *to = copy.getDefiningOp();
  if (!from || !to)
    return !from && !to;
  if (from->getName() != to->getName() ||
      from->getAttrDictionary() != to->getAttrDictionary() ||
      from->getNumOperands() != to->getNumOperands())
    return false;
  for (auto [a, b] : llvm::zip(from->getOperands(), to->getOperands()))
    if (!isCopy(a, b, places))
      return false;
  return true;
}

// A constant in the code's own memory, read at [row * columns + column].
static Value makeTable(Emission &emission, ArrayRef<int32_t> numbers) {
  OpBuilder &builder = emission.builder;
  auto module = emission.entry.function->getParentOfType<ModuleOp>();
  Type i32 = builder.getI32Type();
  auto type = MemRefType::get({int64_t(numbers.size())}, i32);
  auto values = DenseElementsAttr::get(
      RankedTensorType::get({int64_t(numbers.size())}, i32), numbers);
  std::string name;
  for (unsigned number = 0; name.empty() || module.lookupSymbol(name); ++number)
    name = "buffers" + std::to_string(number);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    memref::GlobalOp::create(builder, emission.loc, name,
                             builder.getStringAttr("private"), type, values,
                             /*constant=*/true, /*alignment=*/IntegerAttr());
  }
  return memref::GetGlobalOp::create(builder, emission.loc, type, name);
}

void BufferTable::emit(Emission &emission, Value copy,
                       llvm::function_ref<void()> body) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  // Only what differs is looked up.
  SmallVector<unsigned> columns;
  for (unsigned column = 0; column < copies.front().size(); ++column)
    if (llvm::any_of(copies, [&](const Pairs &pairs) {
          return pairs[column].second != pairs[column].first;
        }))
      columns.push_back(column);
  SmallVector<int32_t> numbers;
  for (const Pairs &pairs : copies)
    for (unsigned column : columns)
      numbers.push_back(pairs[column].second);
  if (numbers.empty())
    return body();
  Value table = makeTable(emission, numbers);
  Value row = emission.mul(copy, emission.constant(columns.size()));
  SmallVector<Value> buffers = emission.buffers;
  for (auto [position, column] : llvm::enumerate(columns)) {
    Value place = emission.add(row, emission.constant(position));
    Value number = memref::LoadOp::create(builder, loc, table, place);
    number = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        number);
    unsigned original = copies.front()[column].first;
    auto type = cast<MemRefType>(buffers[original].getType());
    buffers[original] = emission.target.bufferAt(builder, loc, emission.entry,
                                                 number, type.getElementType());
  }
  std::swap(emission.buffers, buffers);
  body();
  std::swap(emission.buffers, buffers);
}

} // namespace sinter::compiler
