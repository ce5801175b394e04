/// Graph values become ops by the op table: names, operands and attributes of
/// the records, nothing per op.
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

#include <bit>

using namespace mlir;

namespace sinter::compiler {

std::string_view toString(graph::InputKind kind) {
  switch (kind) {
  case graph::InputKind::data:
    return "data";
  case graph::InputKind::parameter:
    return "parameter";
  case graph::InputKind::scalar:
    return "scalar";
  }
  llvm_unreachable("all kinds are named");
}

namespace {

/// Turns one graph into one function.
class Importer {
public:
  Importer(const graph::Graph &graph, MLIRContext *context)
      : graph(graph), builder(context), dims(context, graph) {}

  OwningOpRef<ModuleOp> run();

private:
  FailureOr<RankedTensorType> typeOf(uint32_t number);
  FailureOr<Attribute> readAttr(const graph::AttrSpec &spec,
                                ArrayRef<uint64_t> &words, Location loc);
  AffineMapAttr dimsAttr(ArrayRef<AffineExpr> exprs);
  FailureOr<func::FuncOp> makeFunction(ModuleOp module);
  LogicalResult importValue(uint32_t number);
  void finish(func::FuncOp function);

  const graph::Graph &graph;
  OpBuilder builder;
  GraphDims dims;
  SmallVector<Value> values;
};

} // namespace

FailureOr<RankedTensorType> Importer::typeOf(uint32_t number) {
  const graph::Value &value = graph.values[number];
  Type element = elementType(builder.getContext(), value.dtype);
  if (!element) {
    std::string_view op =
        value.op == graph::leafOp ? "input" : graph::info(value.op).name;
    return emitError(nodeLocation(builder.getContext(), number))
           << op << ": cannot compute with dtype " << name(value.dtype);
  }
  SmallVector<AffineExpr> shape;
  for (uint32_t index : value.dims)
    shape.push_back(dims[index]);
  return tensorType(element, shape, dims.numSymbols());
}

AffineMapAttr Importer::dimsAttr(ArrayRef<AffineExpr> exprs) {
  return AffineMapAttr::get(
      AffineMap::get(0, dims.numSymbols(), exprs, builder.getContext()));
}

// Consumes the words of one attribute, encoded as AttrKind says.
FailureOr<Attribute> Importer::readAttr(const graph::AttrSpec &spec,
                                        ArrayRef<uint64_t> &words,
                                        Location loc) {
  auto next = [&] {
    uint64_t word = words.front();
    words = words.drop_front();
    return word;
  };
  auto nextDim = [&] {
    next(); // the value of this recording
    return dims[next()];
  };
  switch (spec.kind) {
  case graph::AttrKind::boolean:
    return Attribute(builder.getBoolAttr(next()));
  case graph::AttrKind::integer:
    return Attribute(builder.getI64IntegerAttr(next()));
  case graph::AttrKind::real:
    return Attribute(builder.getF64FloatAttr(std::bit_cast<double>(next())));
  case graph::AttrKind::number: {
    bool isReal = next();
    uint64_t bits = next();
    if (isReal)
      return Attribute(builder.getF64FloatAttr(std::bit_cast<double>(bits)));
    return Attribute(builder.getI64IntegerAttr(bits));
  }
  case graph::AttrKind::dtype: {
    DType dtype = DType(next());
    if (Type element = elementType(builder.getContext(), dtype))
      return Attribute(TypeAttr::get(element));
    return emitError(loc) << "cannot compute with dtype " << name(dtype);
  }
  case graph::AttrKind::choice: {
    SmallVector<StringRef> names;
    StringRef(spec.choices).split(names, ',');
    return Attribute(builder.getStringAttr(names[next()].trim()));
  }
  case graph::AttrKind::ints: {
    SmallVector<int64_t> ints;
    for (uint64_t count = next(); count > 0; --count)
      ints.push_back(next());
    return Attribute(builder.getDenseI64ArrayAttr(ints));
  }
  case graph::AttrKind::dim:
    return Attribute(dimsAttr(nextDim()));
  case graph::AttrKind::dims: {
    SmallVector<AffineExpr> exprs;
    for (uint64_t count = next(); count > 0; --count)
      exprs.push_back(nextDim());
    return Attribute(dimsAttr(exprs));
  }
  case graph::AttrKind::text: {
    std::string text;
    for (uint64_t count = next(); count > 0; --count) {
      uint64_t word = next();
      text.append(reinterpret_cast<const char *>(&word), sizeof(word));
    }
    return Attribute(builder.getStringAttr(text.c_str()));
  }
  }
  llvm_unreachable("all attribute kinds are read");
}

// The function with its arguments: the graph's inputs in order.
FailureOr<func::FuncOp> Importer::makeFunction(ModuleOp module) {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> types;
  SmallVector<Location> locations;
  SmallVector<DictionaryAttr> attrs;
  for (const graph::Input &input : graph.inputs) {
    FailureOr<RankedTensorType> type = typeOf(input.value);
    if (failed(type))
      return failure();
    types.push_back(*type);
    locations.push_back(nodeLocation(context, input.value));
    NamedAttrList list;
    list.set(port_attrs::kind, builder.getStringAttr(toString(input.kind)));
    if (!input.name.empty())
      list.set(port_attrs::name, builder.getStringAttr(input.name));
    list.set(port_attrs::node, builder.getI64IntegerAttr(input.value));
    attrs.push_back(list.getDictionary(context));
  }
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), "main",
                                       builder.getFunctionType(types, {}));
  function.setAllArgAttrs(attrs);
  Block *body = builder.createBlock(&function.getBody(), {}, types, locations);
  for (auto [input, argument] : llvm::zip(graph.inputs, body->getArguments()))
    values[input.value] = argument;
  return function;
}

LogicalResult Importer::importValue(uint32_t number) {
  const graph::Value &value = graph.values[number];
  Location loc = nodeLocation(builder.getContext(), number);
  if (value.op == graph::leafOp)
    return values[number]
               ? success()
               : emitError(loc) << "input: the leaf is not among the inputs";
  const graph::OpInfo &info = graph::info(value.op);
  FailureOr<RankedTensorType> type = typeOf(number);
  if (failed(type))
    return failure();
  OperationState state(loc, ("sinter." + StringRef(info.name)).str());
  state.addTypes(*type);
  for (uint32_t operand : value.operands)
    state.addOperands(values[operand]);
  ArrayRef<uint64_t> words = value.attrs;
  for (const graph::AttrSpec &spec : info.attrs) {
    FailureOr<Attribute> attr = readAttr(spec, words, loc);
    if (failed(attr))
      return failure();
    state.addAttribute(StringRef(spec.name), *attr);
  }
  values[number] = builder.create(state)->getResult(0);
  return success();
}

// Adds the return, the function's type and what the signature says of it.
void Importer::finish(func::FuncOp function) {
  SmallVector<Value> results;
  for (uint32_t number : graph.outputs)
    results.push_back(values[number]);
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), ValueRange(results).getTypes()));
  for (auto [index, label] : llvm::enumerate(graph.outputNames))
    if (!label.empty())
      function.setResultAttr(index, port_attrs::name,
                             builder.getStringAttr(label));
  if (dims.numSymbols() > 0)
    function->setAttr(port_attrs::numSymbols,
                      builder.getI64IntegerAttr(dims.numSymbols()));
  if (!dims.guards().empty())
    function->setAttr(port_attrs::guards,
                      builder.getAffineMapArrayAttr(dims.guards()));
}

OwningOpRef<ModuleOp> Importer::run() {
  OwningOpRef<ModuleOp> module(ModuleOp::create(builder.getUnknownLoc()));
  values.resize(graph.values.size());
  FailureOr<func::FuncOp> function = makeFunction(*module);
  if (failed(function))
    return nullptr;
  for (uint32_t number = 0; number < graph.values.size(); ++number)
    if (failed(importValue(number)))
      return nullptr;
  finish(*function);
  return module;
}

OwningOpRef<ModuleOp> importGraph(const graph::Graph &graph,
                                  MLIRContext *context) {
  return Importer(graph, context).run();
}

} // namespace sinter::compiler
