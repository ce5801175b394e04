/// Tensors made of sizes and numbers.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Linalg.h>

#include <cmath>

namespace sinter::torch {

static Options optionsOf(Call &call) {
  call.ignore({"dtype", "layout", "device", "pin_memory", "memory_format",
               "requires_grad", "stride", "physical_layout"});
  return {call.outputDType(), call.device()};
}

/// The shape that is asked for, or that of a tensor.
static Dims shapeOf(Call &call) {
  return call.has("size") ? call.dims("size") : call.tensor("self").shape();
}

static Tensor filled(Call &call, const Dims &shape, const Value &value) {
  Options options = optionsOf(call);
  return expand(asTensor(call, value, *options.dtype), shape);
}

static void fullRule(Call &call) {
  call.ignore({"self"});
  call.give(filled(call, shapeOf(call), call.value("fill_value")));
}
static void zerosRule(Call &call) {
  call.ignore({"self"});
  call.give(zeros(shapeOf(call), optionsOf(call)));
}
static void onesRule(Call &call) {
  call.ignore({"self"});
  call.give(filled(call, shapeOf(call), Value::ofInteger(1)));
}

static void scalarRule(Call &call) {
  const char *name = call.has("s") ? "s" : "scalar";
  call.give(filled(call, {}, call.value(name)));
}

/// PyTorch's own tensor of numbers: `torch.tensor(size)`.
static void arangeRule(Call &call) {
  Options options = optionsOf(call);
  const Value &first = call.value("start"), &last = call.value("end"),
              &by = call.value("step");
  bool isWhole = last.isInteger() && (first.isNone() || first.isInteger()) &&
                 (by.isNone() || by.isInteger());
  Dim start = isWhole && !first.isNone() ? first.integer : Dim(0);
  int64_t step = isWhole && !by.isNone() ? fixed(by.integer) : 1;
  if (isWhole && step == 1) {
    // Sizes may be symbols; the numbers are computed in the dtype.
    DType made = isFloat(*options.dtype) ? DType::i64 : *options.dtype;
    Tensor numbers = arange(last.integer - start, {made, options.device});
    if (!start.isConstant() || start.value != 0)
      numbers = numbers + sizeTensor(start, call.device()).to(made);
    call.give(numbers.to(*options.dtype));
    return;
  }
  if (isWhole) {
    call.give(arange(fixed(start), fixed(last.integer), step,
                     {DType::i64, options.device})
                  .to(*options.dtype));
    return;
  }
  double from = call.real("start", 0), to = call.real("end"),
         width = call.real("step", 1);
  if (width == 0 || !std::isfinite((to - from) / width))
    call.invalid("such a range");
  auto count = int64_t(std::max(0.0, std::ceil((to - from) / width)));
  Tensor numbers = arange(count, {DType::f64, options.device}) * width + from;
  call.give(numbers.to(*options.dtype));
}

static void linspaceRule(Call &call) {
  Options options = optionsOf(call);
  DType made = options.dtype == DType::f64 ? DType::f64 : DType::f32;
  call.give(linspace(call.real("start"), call.real("end"),
                     call.integer("steps"), {made, options.device})
                .to(*options.dtype));
}

static void eyeRule(Call &call) {
  Options options = optionsOf(call);
  Dim rows = call.dim("n"), columns = call.has("m") ? call.dim("m") : rows;
  call.give(eye(rows, columns, options));
}

/// Rows and columns of the elements on and below a diagonal.
static void indicesRule(Call &call, bool isLower) {
  Options options = optionsOf(call);
  int64_t rows = call.integer("row"), columns = call.integer("col"),
          offset = call.integer("offset", 0);
  requireFew(call, rows, "rows");
  requireFew(call, columns, "columns");
  requireFew(call, rows * columns, "elements of a matrix");
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < columns; ++k)
      if (isLower ? k - i <= offset : k - i >= offset) {
        first.push_back(i);
        second.push_back(k);
      }
  auto count = int64_t(first.size());
  first.insert(first.end(), second.begin(), second.end());
  call.give(tensor(first, {2, count}, {DType::i64, options.device})
                .to(*options.dtype));
}
static void trilIndicesRule(Call &call) { indicesRule(call, true); }
static void triuIndicesRule(Call &call) { indicesRule(call, false); }

static constexpr Operator rows[] = {
    {"aten.full.default", fullRule},
    {"aten.full_like.default", fullRule},
    {"aten.new_full.default", fullRule},
    {"aten.zeros.default", zerosRule},
    {"aten.zeros_like.default", zerosRule},
    {"aten.new_zeros.default", zerosRule},
    {"aten.ones.default", onesRule},
    {"aten.ones_like.default", onesRule},
    {"aten.new_ones.default", onesRule},
    // What is in memory is not told: zeros are as good.
    {"aten.empty.memory_format", zerosRule},
    {"aten.empty_like.default", zerosRule},
    {"aten.new_empty.default", zerosRule},
    {"aten.empty_strided.default", zerosRule},
    {"aten.new_empty_strided.default", zerosRule},
    {"aten.empty_permuted.default", zerosRule},
    {"aten.scalar_tensor.default", scalarRule},
    {"aten.arange.default", arangeRule},
    {"aten.arange.start", arangeRule},
    {"aten.arange.start_step", arangeRule},
    {"aten.linspace.default", linspaceRule},
    {"aten.eye.default", eyeRule},
    {"aten.eye.m", eyeRule},
    {"aten.tril_indices.default", trilIndicesRule},
    {"aten.triu_indices.default", triuIndicesRule},
};

std::span<const Operator> creationRows() { return rows; }

} // namespace sinter::torch
