/// Programs of `n` alike parts, of which compiling is what counts.
#include "tools/benchmarks/native/Growth.h"

#include "tools/benchmarks/native/Step.h"

#include <sinter/Basic.h>

namespace sn = sinter;
using namespace bench;
using sn::Tensor;

template <typename Record> static std::unique_ptr<Work> callOf(Record record) {
  return std::make_unique<Calls>(record);
}

std::unique_ptr<Work> bench::makeGrowingChain(const Case &c) {
  int64_t n = c.number("n");
  Tensor x = inputOf({64}, 1);
  return callOf([=] {
    Tensor y = x;
    for (int64_t i = 0; i < n; ++i)
      y = sn::relu(y) + x;
    return std::vector<Tensor>{y};
  });
}

// Numbers cost nothing to repeat: kernels inline them, up to the caps.
std::unique_ptr<Work> bench::makeGrowingNumbers(const Case &c) {
  int64_t n = c.number("n");
  Tensor x = inputOf({}, 1);
  return callOf([=] {
    Tensor y = x;
    for (int64_t i = 0; i < n; ++i)
      y = sn::sin(y) + x;
    return std::vector<Tensor>{y};
  });
}

std::unique_ptr<Work> bench::makeGrowingStencil(const Case &c) {
  int64_t n = c.number("n"), cells = 64;
  Tensor x = inputOf({cells}, 1);
  return callOf([=] {
    Tensor y = x;
    for (int64_t i = 0; i < n; ++i) {
      Tensor left = sn::slice(y, {0}, {cells - 2}, {1});
      Tensor middle = sn::slice(y, {1}, {cells - 1}, {1});
      Tensor right = sn::slice(y, {2}, {cells}, {1});
      y = sn::pad((left + right) * 0.5 - middle, {{0, 1, 1}});
    }
    return std::vector<Tensor>{y};
  });
}

std::unique_ptr<Work> bench::makeGrowingSines(const Case &c) {
  int64_t n = c.number("n");
  Tensor x = inputOf({1000}, 1);
  return callOf([=] {
    Tensor sum = x;
    for (int64_t i = 0; i < n; ++i)
      sum = sum + sn::sin(sum);
    return std::vector<Tensor>{sum};
  });
}

std::unique_ptr<Work> bench::makeGrowingRnn(const Case &c) {
  int64_t n = c.number("n"), batch = 4, size = 32;
  Tensor xs = inputOf({batch, n, size}, 1);
  Tensor w = inputOf({size, size}, 2, 0.2f), u = inputOf({size, size}, 3, 0.2f);
  w.require_grad();
  u.require_grad();
  return callOf([=] {
    Tensor h = sn::zeros({batch, size});
    for (int64_t i = 0; i < n; ++i) {
      Tensor x =
          sn::reshape(sn::slice(xs, {0, i, 0}, {batch, i + 1, size}, {1, 1, 1}),
                      {batch, size});
      h = sn::tanh(sn::matmul(x, w) + sn::matmul(h, u));
    }
    std::vector<Tensor> results = sn::grad(sn::sum(h), {w, u});
    results.push_back(h);
    return results;
  });
}
