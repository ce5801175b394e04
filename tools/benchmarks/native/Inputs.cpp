/// The inputs of our side's cases.
#include "tools/benchmarks/native/Step.h"
#include "tools/benchmarks/native/Worker.h"

#include <sinter/Basic.h>

#include <algorithm>

namespace sn = sinter;
using namespace bench;
using sn::Tensor;
using Where = std::source_location;

static size_t countOf(const sn::Dims &shape) {
  size_t count = 1;
  for (sn::Dim dim : shape)
    count *= dim.value;
  return count;
}

Tensor bench::inputOf(const sn::Dims &shape, uint32_t seed, float scale,
                      Where where) {
  return sn::tensor(filled(countOf(shape), seed, scale), shape, {}, where);
}

Tensor bench::labelsOf(const sn::Dims &shape, uint32_t seed, int64_t limit,
                       Where where) {
  std::vector<int64_t> values;
  for (float value : filled(countOf(shape), seed, 0.5f))
    values.push_back(
        std::min(int64_t((value + 0.5f) * float(limit)), limit - 1));
  return sn::tensor(values, shape, {}, where);
}

sn::DType bench::dtypeOf(const Case &c) {
  std::string name = c.text("dtype", "f32");
  if (name == "bf16")
    return sn::DType::bf16;
  return name == "f16" ? sn::DType::f16 : sn::DType::f32;
}

Tensor bench::inputFor(const Case &c, const sn::Dims &shape, uint32_t seed,
                       float scale, Where where) {
  Tensor x = inputOf(shape, seed, scale, where);
  if (dtypeOf(c) == x.dtype())
    return x;
  return x.to(dtypeOf(c), where).eval(where).detach(where);
}

Tensor bench::firstValue(std::string_view path, const sn::Param &param,
                         uint32_t seed, double scale) {
  bool isWeight = path.find("weight") != path.npos;
  // The last norm of a residual block. With ones ResNet-50's gradients in f32
  // are 2 % from those in f64, whoever computes them.
  bool endsBlock = path.ends_with("bn3.weight");
  std::vector<float> values(param.numel(), endsBlock ? .25f : isWeight);
  if (param.rank() > 1)
    fill(values, seed, float(scale));
  return sn::tensor(values, param.shape());
}
