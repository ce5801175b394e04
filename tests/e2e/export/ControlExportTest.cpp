/// Loops and branches that values decide about, from files.
#include "tests/e2e/export/ExportFixture.h"
#include "tests/e2e/export/FileRunner.h"

#include <sinter/Basic.h>
#include <sinter/Export.h>

#include <gtest/gtest.h>

namespace sn = sinter;
using sn::test::FileRunner;
using sn::test::valueOf;
using List = std::vector<sn::Tensor>;
using Tensors = std::span<const sn::Tensor>;

namespace {

/// Halves x until it is small, then takes one of two layers.
struct Chooser {
  sn::nn::Linear large{8, 8};
  sn::nn::Linear small{8, 8};
  sn::Tensor forward(const sn::Tensor &x) const {
    List halved =
        sn::while_loop([](Tensors c) { return sn::sum(sn::abs(c[0])) > 4.0; },
                       [](Tensors c) { return List{c[0] * 0.5}; }, {x});
    return sn::cond(
        sn::sum(x) > 0.0, [&](Tensors a) { return List{large(a[0])}; },
        [&](Tensors a) { return List{sn::tanh(small(a[0]))}; }, halved)[0];
  }
  SINTER_MODULE(Chooser, large, small)
};

class ControlExportTest : public sn::test::ExportFixture {};

} // namespace

TEST_F(ControlExportTest, TheFileDecidesAnewInEachRun) {
  Chooser model;
  std::string path = folder / "chooser.sinter";
  sn::export_model(path, model, sn::ones({3, 8}).eval(),
                   {.inputs = {"x"},
                    .outputs = {"y"},
                    .dynamic = {"x:0=batch"},
                    .targets = {target}});
  FileRunner file(path);
  for (int64_t batch : {1, 3, 7})
    for (double scale : {0.01, 1.0, 1000.0, -1.0, -1e6}) {
      sn::Tensor x = (sn::uniform({batch, 8}) * scale).eval();
      EXPECT_EQ(file.run("main", {{"x", valueOf(x)}}).at("y"),
                valueOf(model(x)))
          << batch << " " << scale;
    }
}
