/// OpenBLAS: the bare product, without bias or activation.
#include "tools/benchmarks/native/Worker.h"

#include <cblas.h>

using namespace bench;

namespace {
class Gemm : public Work {
public:
  explicit Gemm(const Case &c)
      : m(int(c.number("m"))), n(int(c.number("n"))), k(int(c.number("k"))),
        isWhole(!c.number("bias", 0) && !c.number("relu", 0)),
        turned(c.number("turned", 0)), x(filled(size_t(m) * k, 1)),
        w(filled(size_t(k) * n, 2, 0.1f)), y(size_t(m) * n) {}
  void run() override {
    if (m == 1)
      cblas_sgemv(CblasRowMajor, turned ? CblasNoTrans : CblasTrans,
                  turned ? n : k, turned ? k : n, 1, w.data(), turned ? k : n,
                  x.data(), 1, 0, y.data(), 1);
    else
      cblas_sgemm(CblasRowMajor, CblasNoTrans,
                  turned ? CblasTrans : CblasNoTrans, m, n, k, 1, x.data(), k,
                  w.data(), turned ? k : n, 0, y.data(), n);
  }
  std::vector<double> sample(size_t count) override {
    return isWhole ? sampleOf<float>(y, count) : std::vector<double>();
  }

private:
  int m, n, k;
  bool isWhole, turned;
  std::vector<float> x, w, y;
};
} // namespace

static std::unique_ptr<Work> make(const Case &c) {
  if (c.kind() != "matmul" || c.text("dtype", "f32") != "f32")
    throw Unsupported("only f32 products");
  return std::make_unique<Gemm>(c);
}

static std::string facts() {
  std::string config = openblas_get_config();
  for (char &letter : config)
    letter = letter == ' ' ? '_' : letter;
  return "version=" + config + " core=" + openblas_get_corename();
}

int main() { return serve({make, facts}); }
