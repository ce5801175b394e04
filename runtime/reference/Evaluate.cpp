/// The reference's driver: binds inputs, walks values, expands composites.
#include "runtime/graph/Builders.h"
#include "runtime/graph/Encoding.h"
#include "runtime/graph/Loops.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Slice.h"
#include "runtime/program/ProgramData.h"
#include "runtime/reference/Disturbance.h"
#include "runtime/reference/Primitives.h"
#include "runtime/support/Cancel.h"
#include "runtime/support/FloatingPoint.h"
#include "sinter/runtime/Complex.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sinter::reference {

std::vector<int64_t> stridesOf(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = strides[d] * dims[d];
  return strides;
}

bool nextIndex(std::vector<int64_t> &index, std::span<const int64_t> dims) {
  for (size_t d = dims.size(); d-- > 0;) {
    if (++index[d] < dims[d])
      return true;
    index[d] = 0;
  }
  return false;
}

const PrimitiveRow *findPrimitive(graph::OpId op) {
  static const auto &table = *[] {
    auto *result = new std::vector<const PrimitiveRow *>(graph::opCount());
    for (auto rows :
         {pointwisePrimitives(), mathPrimitives(), specialPrimitives(),
          viewPrimitives(), reductionPrimitives(), indexedPrimitives(),
          randomPrimitives()})
      for (const PrimitiveRow &row : rows)
        if (graph::OpId id = graph::findOp(row.name); id != graph::noOp)
          (*result)[size_t(id)] = &row;
    return result;
  }();
  return table[size_t(op)];
}

namespace {
/// How values are computed: as the graph says, or in f64 and disturbed.
struct Manner {
  Decided *records = nullptr;       ///< of a plain evaluation, where wanted
  const Decided *decided = nullptr; ///< of a disturbed one: read in order
  size_t next = 0;
  uint64_t state = 0;
  Accuracy accuracy;       ///< of a disturbed one
  bool flushesAll = false; ///< of what it may flush

  bool disturbs() const { return decided != nullptr; }
  /// What a device may make of an input or a result.
  void flush(HostValue &value, DType dtype) {
    if (disturbs() && accuracy.flushesDenormals && isFloat(dtype) &&
        dtype != DType::f64)
      flushDenormals(value, flushesAll, state);
  }
};

class Evaluation {
public:
  Evaluation(const graph::Graph &graph, Manner &manner)
      : graph(graph), manner(manner) {}

  Status bind(std::span<const HostTensor> inputs);
  Status run();
  const HostValue &value(uint32_t number) const { return values[number]; }
  /// For inputs that are values already, in the order of the graph.
  Status bindValues(std::vector<HostValue> inputs);

private:
  int64_t dim(uint32_t expr) const {
    return evaluate(graph.exprs, expr, symbols);
  }
  std::vector<int64_t> dims(const graph::Value &value) const;
  std::vector<uint64_t> attrs(const graph::Value &value) const;
  Status bindSymbols(const graph::Value &leaf, const HostTensor &tensor);
  Status checkBinding(std::span<const HostTensor> inputs) const;
  Result<HostValue> apply(const graph::Value &value);
  Status compute(uint32_t number);
  Status computeIn(const graph::Loops &loops, uint32_t number);
  Status runLoop(const graph::Loops &loops, const graph::Loop &loop);
  Status runStep(const graph::Loops &loops, const graph::Loop &loop,
                 int64_t step);
  bool goesOn(const graph::Loop &loop) const;
  Result<HostValue> applyComposite(const graph::Value &value, const Call &call);
  Result<HostValue> applyPrimitive(const graph::Value &value, const Call &call,
                                   const PrimitiveRow &row);
  Result<HostValue> applyReal(const graph::Value &value, const Call &call);
  Result<HostValue> applyComplex(const graph::Value &value, const Call &call);
  Result<HostValue> applyToPart(const graph::Value &value, const Call &call,
                                bool isImaginary);

  const graph::Graph &graph;
  Manner &manner;
  std::vector<int64_t> symbols;
  std::vector<HostValue> values;
};
} // namespace

static constexpr int64_t unbound = std::numeric_limits<int64_t>::min();

static ErrorInfo bindingError(std::string message) {
  return makeError(ErrorKind::invalid_argument, "reference: " + message);
}

Status Evaluation::bindSymbols(const graph::Value &leaf,
                               const HostTensor &tensor) {
  if (leaf.dtype != tensor.dtype || leaf.dims.size() != tensor.dims.size())
    return bindingError("an input has another dtype or rank");
  if (tensor.data.size() !=
      static_cast<size_t>(tensor.elements()) * byteWidth(tensor.dtype))
    return bindingError("an input's bytes do not fit its dims");
  for (size_t i = 0; i < leaf.dims.size(); ++i) {
    const Expr &expr = graph.exprs[leaf.dims[i]];
    if (expr.op == ExprOp::symbol && symbols[expr.value] == unbound)
      symbols[expr.value] = tensor.dims[i];
  }
  return {};
}

Status Evaluation::checkBinding(std::span<const HostTensor> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (dims(graph.values[graph.inputs[i].value]) != inputs[i].dims)
      return bindingError("input " + std::to_string(i) + " has other dims");
  for (const graph::Guard &guard : graph.guards)
    if (dim(guard.lhs) != dim(guard.rhs))
      return bindingError("dims do not fit together: " +
                          runtime::exprText(graph.exprs, guard.lhs) +
                          " has to equal " +
                          runtime::exprText(graph.exprs, guard.rhs));
  return {};
}

Status Evaluation::bind(std::span<const HostTensor> inputs) {
  if (inputs.size() != graph.inputs.size())
    return bindingError(std::to_string(graph.inputs.size()) + " inputs, not " +
                        std::to_string(inputs.size()));
  symbols.assign(graph.numSymbols, unbound);
  values.resize(graph.values.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    SINTER_TRY(bindSymbols(graph.values[graph.inputs[i].value], inputs[i]));
  for (size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i] == unbound && i < graph.symbolValues.size())
      symbols[i] = graph.symbolValues[i];
  SINTER_TRY(checkBinding(inputs));
  for (size_t i = 0; i < inputs.size(); ++i) {
    HostValue &value = values[graph.inputs[i].value] = decode(inputs[i]);
    manner.flush(value, value.dtype);
    if (manner.disturbs() && value.isReal())
      value.dtype = DType::f64;
    if (manner.disturbs() && isComplex(value.dtype))
      value.dtype = DType::c128;
  }
  return {};
}

Status Evaluation::bindValues(std::vector<HostValue> inputs) {
  values.resize(graph.values.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    values[graph.inputs[i].value] = std::move(inputs[i]);
  return {};
}

std::vector<int64_t> Evaluation::dims(const graph::Value &value) const {
  std::vector<int64_t> result;
  for (uint32_t expr : value.dims)
    result.push_back(dim(expr));
  return result;
}

/// The attributes as a node holds them, with constant dims.
std::vector<uint64_t> Evaluation::attrs(const graph::Value &value) const {
  std::vector<uint64_t> words = value.attrs;
  size_t at = 0;
  for (const graph::AttrSpec &spec : graph::info(value.op).attrs) {
    bool isDims = spec.kind == graph::AttrKind::dims;
    size_t count = 1;
    if (graph::isList(spec.kind))
      count = words[at++];
    if (spec.kind == graph::AttrKind::number)
      count = 2;
    if (!isDims && spec.kind != graph::AttrKind::dim) {
      at += count;
      continue;
    }
    for (size_t i = 0; i < count; ++i, at += 2) {
      words[at] =
          static_cast<uint64_t>(dim(static_cast<uint32_t>(words[at + 1])));
      words[at + 1] = 0;
    }
  }
  return words;
}

/// A composite's value, by its decomposition over leaves of the graph's types.
Result<HostValue> Evaluation::applyComposite(const graph::Value &value,
                                             const Call &call) {
  std::vector<graph::NodeRef> leaves;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    std::vector<Dim> dims(call[i].dims.begin(), call[i].dims.end());
    leaves.push_back(graph::NodeFactory::lazyLeaf(
        graph.values[value.operands[i]].dtype, dims, DeviceId(), false));
  }
  SINTER_TRY_ASSIGN(graph::NodeRef expansion,
                    graph::decompose(call.op, leaves, attrs(value)));
  SINTER_TRY_ASSIGN(graph::Slice slice, graph::slice({&expansion, 1}));
  std::vector<HostValue> inputs;
  for (const graph::NodeRef &input : slice.inputs) {
    auto leaf = std::find(leaves.begin(), leaves.end(), input);
    inputs.push_back(call[leaf - leaves.begin()]);
  }
  Evaluation inner(slice.graph, manner);
  SINTER_TRY(inner.bindValues(std::move(inputs)));
  SINTER_TRY(inner.run());
  return inner.value(slice.graph.outputs[0]);
}

/// Whether ops of the kind compute elements rather than move them.
static bool isArithmetic(graph::PatternKind kind) {
  using graph::PatternKind;
  return kind == PatternKind::pointwise || kind == PatternKind::reduction ||
         kind == PatternKind::contraction || kind == PatternKind::scatter ||
         kind == PatternKind::prefix;
}

/// Arithmetic gives one NaN, whichever the processor made.
static void unifyNans(HostValue &value) {
  for (double &real : value.reals)
    if (std::isnan(real))
      real = std::numeric_limits<double>::quiet_NaN();
}

/// How many terms make an element of the result, at most.
static double termsOf(graph::PatternKind kind, const Call &call) {
  using graph::PatternKind;
  const HostValue &x = call[0];
  if (kind == PatternKind::contraction)
    return static_cast<double>(x.dims.back());
  if (kind == PatternKind::reduction)
    return static_cast<double>(x.elements()) /
           static_cast<double>(std::max<int64_t>(1, elementCount(call.dims)));
  int64_t longest = 1;
  for (const HostValue *operand : call.operands)
    for (int64_t extent : operand->dims)
      longest = std::max(longest, extent);
  return static_cast<double>(longest);
}

static Result<HostValue> onOperands(const Call &call, Primitive primitive,
                                    const std::vector<HostValue> &values) {
  std::vector<const HostValue *> operands;
  for (const HostValue &value : values)
    operands.push_back(&value);
  Call other = call;
  other.operands = operands;
  return primitive(other);
}

/// A running sum, all of it off the same way: what one sum has gathered, the
/// next begins with.
static Result<HostValue> disturbedPrefix(const Call &call, Primitive primitive,
                                         double rounding, bool up) {
  SINTER_TRY_ASSIGN(HostValue result, primitive(call));
  HostValue squares = result;
  for (double &real : squares.reals)
    real = std::isfinite(real) ? rounding * real * rounding * real : 0;
  SINTER_TRY_ASSIGN(HostValue gathered, onOperands(call, primitive, {squares}));
  for (size_t i = 0; i < result.reals.size(); ++i)
    result.reals[i] += (up ? 1 : -1) * std::sqrt(gathered.reals[i]);
  return result;
}

/// What a product of long rows gathers, k ascending: a term is off by the
/// roundings of the additions that it goes through.
static Result<HostValue>
gatheredByProduct(const Call &call, Primitive primitive, double rounding) {
  HostValue left = *call.operands[0];
  int64_t length = left.dims.back();
  for (int64_t i = 0, count = left.elements(); i < count; ++i)
    left.reals[i] *= rounding * std::sqrt(double(length - i % length));
  return onOperands(call, primitive, {left, *call.operands[1]});
}

/// Runs the primitive on terms that are off by their share of a sum's error.
static Result<HostValue> onDisturbed(const Call &call, Primitive primitive,
                                     graph::PatternKind kind, DType dtype,
                                     uint64_t &state) {
  using graph::PatternKind;
  // f16 and bf16 are accumulated in f32, but by scatter_add.
  if (kind != PatternKind::scatter && dtype != DType::f64)
    dtype = DType::f32;
  double rounding = roundingOf(dtype).relative;
  if (kind == PatternKind::prefix)
    return disturbedPrefix(call, primitive, rounding, state % 2 == 0);
  double terms = termsOf(kind, call);
  std::vector<HostValue> operands;
  for (const HostValue *operand : call.operands) {
    operands.push_back(*operand);
    disturb(operands.back(), rounding * std::sqrt(terms), 0, state);
  }
  SINTER_TRY_ASSIGN(HostValue result, onOperands(call, primitive, operands));
  // Shorter ones stay within the roundings that every op may make.
  constexpr double longTerms = 128;
  if (kind == PatternKind::contraction && terms > longTerms) {
    SINTER_TRY_ASSIGN(HostValue gathered,
                      gatheredByProduct(call, primitive, rounding));
    moveBy(result, gathered, state);
  }
  return result;
}

/// Of results that are `ulp` off, f16 and bf16 computed in f32.
static HostValue errorOf(const HostValue &result, DType dtype, double ulp) {
  double rounding =
      std::min(roundingOf(dtype).relative, roundingOf(DType::f32).relative);
  HostValue error = result;
  for (double &real : error.reals)
    real = std::isfinite(real)
               ? 2 * ulp * rounding * std::max(std::abs(real), 1.0)
               : 0;
  return error;
}

Result<HostValue> Evaluation::applyPrimitive(const graph::Value &value,
                                             const Call &call,
                                             const PrimitiveRow &row) {
  Primitive primitive = row.function;
  graph::PatternKind kind = graph::info(value.op).kind;
  if (!manner.disturbs()) {
    SINTER_TRY_ASSIGN(HostValue result, primitive(call));
    if (isArithmetic(kind))
      unifyNans(result);
    if (manner.records && !result.isReal())
      manner.records->push_back(result);
    return result;
  }
  if (!isFloat(value.dtype))
    return (*manner.decided)[manner.next++];
  // What is stored is rounded, whatever its operands were disturbed by.
  if (!isComputable(value.dtype))
    return primitive(call);
  bool rounds = isArithmetic(kind) && !row.selects;
  bool sums = rounds && kind != graph::PatternKind::pointwise;
  SINTER_TRY_ASSIGN(
      HostValue result,
      sums ? onDisturbed(call, primitive, kind, value.dtype, manner.state)
           : primitive(call));
  Rounding rounding = roundingOf(value.dtype);
  if (rounds)
    disturb(result, manner.accuracy.roundings * rounding.relative,
            manner.accuracy.roundings * rounding.least, manner.state);
  if (row.ulp > 0)
    moveBy(result, errorOf(result, value.dtype, row.ulp), manner.state);
  manner.flush(result, value.dtype);
  // Nothing is rounded, but what the dtype cannot hold is an infinity.
  for (double &real : result.reals)
    if (double rounded = roundTo(value.dtype, real); std::isinf(rounded))
      real = rounded;
  return result;
}

/// How many words an attribute takes whose first one is given.
static size_t wordsOf(graph::AttrKind kind, uint64_t first) {
  if (kind == graph::AttrKind::dims)
    return 1 + 2 * first;
  if (graph::isList(kind))
    return 1 + first;
  return kind == graph::AttrKind::number || kind == graph::AttrKind::dim ? 2
                                                                         : 1;
}

/// The attributes with float dtypes brought to f64.
static void widenAttrs(graph::OpId op, std::vector<uint64_t> &words) {
  size_t at = 0;
  for (const graph::AttrSpec &spec : graph::info(op).attrs) {
    uint64_t &word = words[at];
    if (spec.kind == graph::AttrKind::dtype &&
        isFloat(static_cast<DType>(word)))
      word = static_cast<uint64_t>(DType::f64);
    at += wordsOf(spec.kind, word);
  }
}

/// The attributes for one part of complex numbers: its dtype, and numbers,
/// which are real.
static void takePart(graph::OpId op, std::vector<uint64_t> &words,
                     bool isImaginary) {
  size_t at = 0;
  for (const graph::AttrSpec &spec : graph::info(op).attrs) {
    uint64_t &word = words[at];
    if (spec.kind == graph::AttrKind::dtype)
      word = static_cast<uint64_t>(partOf(static_cast<DType>(word)));
    if (spec.kind == graph::AttrKind::number && isImaginary)
      word = words[at + 1] = 0; // the integer 0
    at += wordsOf(spec.kind, word);
  }
}

Result<HostValue> Evaluation::applyToPart(const graph::Value &value,
                                          const Call &call, bool isImaginary) {
  std::vector<HostValue> parts(call.operands.size());
  std::vector<const HostValue *> operands;
  for (size_t i = 0; i < parts.size(); ++i) {
    operands.push_back(call.operands[i]);
    if (!isComplex(call[i].dtype))
      continue;
    parts[i] = partOf(call[i], isImaginary);
    operands.back() = &parts[i];
  }
  graph::Value real = value;
  real.dtype = partOf(value.dtype);
  std::vector<uint64_t> words(call.attrs.begin(), call.attrs.end());
  takePart(call.op, words, isImaginary);
  return applyReal(real, {call.op, operands, words, real.dtype, call.dims});
}

/// Ops with complex operands or results are linear in them.
Result<HostValue> Evaluation::applyComplex(const graph::Value &value,
                                           const Call &call) {
  if (call.op == graph::OpId::complex)
    return complexOf(call[0], call[1]);
  if (call.op == graph::OpId::real || call.op == graph::OpId::imag)
    return partOf(call[0], call.op == graph::OpId::imag);
  SINTER_TRY_ASSIGN(HostValue re, applyToPart(value, call, false));
  bool isCast = call.op == graph::OpId::cast;
  if (isCast && !isComplex(call[0].dtype))
    return complexOf(re, HostValue(re.dtype, re.dims));
  if (isCast && !isComplex(value.dtype) && value.dtype != DType::boolean)
    return re;
  SINTER_TRY_ASSIGN(HostValue im, applyToPart(value, call, true));
  if (isComplex(value.dtype))
    return complexOf(std::move(re), std::move(im));
  for (size_t i = 0; i < re.ints.size(); ++i)
    re.ints[i] |= im.ints[i]; // a cast to bool
  return re;
}

Result<HostValue> Evaluation::apply(const graph::Value &value) {
  const graph::OpInfo &op = graph::info(value.op);
  if (!isStorable(value.dtype))
    return makeError(ErrorKind::unsupported,
                     std::string(op.name) + ": the reference cannot compute " +
                         std::string(name(value.dtype)),
                     std::string(op.name));
  std::vector<const HostValue *> operands;
  for (uint32_t operand : value.operands)
    operands.push_back(&values[operand]);
  std::vector<uint64_t> words = attrs(value);
  Call call{value.op, operands, words, value.dtype, dims(value)};
  if (op.composite)
    return applyComposite(value, call);
  bool takesComplex = std::ranges::any_of(
      operands, [](const HostValue *each) { return isComplex(each->dtype); });
  if (takesComplex || isComplex(value.dtype))
    return applyComplex(value, call);
  return applyReal(value, call);
}

Result<HostValue> Evaluation::applyReal(const graph::Value &value,
                                        const Call &given) {
  const graph::OpInfo &op = graph::info(value.op);
  Call call = given;
  std::vector<uint64_t> words;
  // Random numbers are those of their dtype in any case.
  bool isWide = manner.disturbs() && isFloat(value.dtype) &&
                isComputable(value.dtype) &&
                op.kind != graph::PatternKind::random;
  if (isWide) {
    words.assign(call.attrs.begin(), call.attrs.end());
    widenAttrs(value.op, words);
    call.attrs = words;
    call.dtype = DType::f64;
  }
  if (const PrimitiveRow *row = findPrimitive(value.op)) {
    SINTER_TRY_ASSIGN(HostValue result, applyPrimitive(value, call, *row));
    if (manner.disturbs() && result.isReal() && isComputable(value.dtype))
      result.dtype = DType::f64;
    return result;
  }
  return makeError(ErrorKind::unsupported,
                   std::string(op.name) + ": the reference has no such op",
                   std::string(op.name));
}

Status Evaluation::compute(uint32_t number) {
  Result<HostValue> result = apply(graph.values[number]);
  if (!result) {
    ErrorInfo error = result.takeError();
    if (number < graph.sites.size() && error.site == 0)
      error.site = graph.sites[number];
    error.node = number;
    return error;
  }
  values[number] = std::move(*result);
  return {};
}

/// Copies elements between a stacked value and that of one step.
static void copySlice(const HostValue &from, int64_t fromIndex, HostValue &to,
                      int64_t toIndex, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to.copy(toIndex + i, from, fromIndex + i);
}

/// A value outside of the loops that name it.
Status Evaluation::computeIn(const graph::Loops &loops, uint32_t number) {
  const graph::Value &value = graph.values[number];
  if (value.op == graph::OpId::scan_last)
    values[number] = values[value.operands[1]];
  else if (value.op == graph::OpId::scan_end)
    return runLoop(loops, *std::ranges::lower_bound(loops.all, number, {},
                                                    &graph::Loop::end));
  else if (graph::info(value.op).kind != graph::PatternKind::loop)
    return compute(number);
  return {};
}

/// The body once; slices and stacks are at `step`.
Status Evaluation::runStep(const graph::Loops &loops, const graph::Loop &loop,
                           int64_t step) {
  for (uint32_t number : loop.body) {
    const graph::Value &value = graph.values[number];
    if (value.op == graph::OpId::scan_carry)
      continue;
    if (value.op != graph::OpId::scan_slice) {
      SINTER_TRY(computeIn(loops, number));
      continue;
    }
    const HostValue &all = values[value.operands[1]];
    values[number] = HostValue(all.dtype, dims(value));
    int64_t count = values[number].elements();
    copySlice(all, step * count, values[number], 0, count);
  }
  for (uint32_t number : loop.stacks) {
    const HostValue &y = values[graph.values[number].operands[1]];
    values[number].dtype = y.dtype;
    copySlice(y, 0, values[number], step * y.elements(), y.elements());
  }
  std::vector<HostValue> next;
  for (const graph::Loop::Carry &each : loop.carries)
    next.push_back(values[each.next]);
  for (size_t i = 0; i < next.size(); ++i)
    values[loop.carries[i].carry] = std::move(next[i]);
  return {};
}

/// Whether the flag that decides, if there is one, lets another step begin.
bool Evaluation::goesOn(const graph::Loop &loop) const {
  if (loop.condition == 0)
    return true;
  size_t carry = size_t(std::abs(loop.condition)) - 1;
  bool flag = values[loop.carries[carry].carry].ints[0] != 0;
  return flag == (loop.condition > 0);
}

/// Carries end as what the loop's results take.
Status Evaluation::runLoop(const graph::Loops &loops, const graph::Loop &loop) {
  for (const graph::Loop::Carry &each : loop.carries)
    values[each.carry] = values[graph.values[each.carry].operands[1]];
  for (uint32_t number : loop.stacks) {
    const graph::Value &stack = graph.values[number];
    bool isWide = manner.disturbs() && isFloat(stack.dtype);
    values[number] = HostValue(isWide ? DType::f64 : stack.dtype, dims(stack));
  }
  int64_t length = dims(graph.values[loop.index])[0];
  for (int64_t step = 0; step < length && goesOn(loop); ++step) {
    SINTER_TRY(checkCancelled());
    SINTER_TRY(runStep(loops, loop, loop.reverse ? length - 1 - step : step));
  }
  return {};
}

Status Evaluation::run() {
  SINTER_TRY_ASSIGN(graph::Loops loops, graph::loopsOf(graph));
  for (uint32_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].op == graph::leafOp ||
        loops.owner[i] != graph::Loops::none)
      continue;
    SINTER_TRY(computeIn(loops, i));
    SINTER_TRY(checkCancelled());
  }
  return {};
}

static Result<std::vector<HostValue>>
evaluateAs(const graph::Graph &graph, std::span<const HostTensor> inputs,
           Manner &manner) {
  DefaultLongFloats floats;
  Evaluation evaluation(graph, manner);
  SINTER_TRY(evaluation.bind(inputs));
  SINTER_TRY(evaluation.run());
  std::vector<HostValue> outputs;
  for (uint32_t output : graph.outputs)
    outputs.push_back(evaluation.value(output));
  return outputs;
}

Result<std::vector<HostTensor>> evaluate(const graph::Graph &graph,
                                         std::span<const HostTensor> inputs) {
  Manner manner;
  DefaultLongFloats floats;
  SINTER_TRY_ASSIGN(std::vector<HostValue> values,
                    evaluateAs(graph, inputs, manner));
  std::vector<HostTensor> outputs;
  for (const HostValue &value : values)
    outputs.push_back(encode(value));
  return outputs;
}

Result<std::vector<HostValue>> evaluatePlain(const graph::Graph &graph,
                                             std::span<const HostTensor> inputs,
                                             Decided &decided) {
  Manner manner;
  manner.records = &decided;
  return evaluateAs(graph, inputs, manner);
}

Result<std::vector<HostValue>>
evaluateDisturbed(const graph::Graph &graph, std::span<const HostTensor> inputs,
                  const Decided &decided, Accuracy accuracy, uint64_t sample) {
  Manner manner;
  manner.decided = &decided;
  manner.state = sample;
  manner.accuracy = accuracy;
  manner.flushesAll = sample % 2 == 0; // as most devices do
  return evaluateAs(graph, inputs, manner);
}

} // namespace sinter::reference
