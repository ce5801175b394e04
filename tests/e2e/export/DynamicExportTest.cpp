/// Functions of an axis whose size stays open: the file takes every size, or
/// the function is refused. It never computes with the example's size.
#include "tests/e2e/export/ExportFixture.h"
#include "tests/e2e/export/FileRunner.h"

#include <sinter/Basic.h>
#include <sinter/Error.h>
#include <sinter/Export.h>
#include <sinter/Resample.h>
#include <sinter/Vision.h>

#include <functional>
#include <gtest/gtest.h>

namespace sn = sinter;
using sn::test::FileRunner;
using sn::test::floatsOf;
using sn::test::valueOf;

namespace {

using Function = std::function<sn::Tensor(const sn::Tensor &)>;

struct Case {
  const char *name;
  Function function;
  bool isOpen = true; ///< else it is refused
};

class DynamicExportTest : public sn::test::ExportFixture {
protected:
  void expectOpen(const Case &each, const std::vector<sn::Tensor> &inputs,
                  const std::vector<std::string> &dynamic) {
    SCOPED_TRACE(each.name);
    std::string path = folder / "open.sinter", refusal;
    try {
      sn::export_model(path, each.function, inputs[0],
                       {.inputs = {"x"},
                        .outputs = {"y"},
                        .dynamic = dynamic,
                        .targets = {target}});
    } catch (const sn::Error &error) {
      refusal = error.message();
    }
    if (!each.isOpen) {
      EXPECT_NE(refusal.find("the function takes"), std::string::npos)
          << refusal;
      return;
    }
    ASSERT_EQ(refusal, "");
    FileRunner file(path);
    for (const sn::Tensor &x : inputs) {
      auto given = file.run("main", {{"x", valueOf(x)}}).at("y");
      auto expected = valueOf(each.function(x));
      ASSERT_EQ(given.dims, expected.dims);
      if (given.dtype != sn::DType::f32) {
        EXPECT_EQ(given, expected);
        continue;
      }
      std::vector<float> a = floatsOf(given), b = floatsOf(expected);
      for (size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], b[i], 1e-4) << "element " << i;
    }
  }
};

sn::Tensor draw(sn::Dims shape) {
  return sn::uniform(shape, sn::default_generator(), -1, 1).eval();
}

} // namespace

TEST_F(DynamicExportTest, Rows) {
  using T = const sn::Tensor &;
  const Case cases[] = {
      {"searchsorted",
       [](T x) {
         return sn::searchsorted(sn::sort(x, 1).values, sn::full({3, 2}, 0.1));
       },
       false},
      {"median", [](T x) { return sn::median(x, 1).values; }, false},
      {"histc", [](T x) { return sn::histc(x, 4, -1, 1); }},
      {"cumsum", [](T x) { return sn::cumsum(x, 1); }},
      {"mean", [](T x) { return sn::mean(x, {1}); }},
      {"var", [](T x) { return sn::var(x, {1}); }},
      {"softmax", [](T x) { return sn::softmax(x, 1); }},
      {"roll", [](T x) { return sn::roll(x, {2}, {1}); }},
      {"flip", [](T x) { return sn::flip(x, {1}); }},
      {"tril", [](T x) { return sn::tril(x); }},
      {"last", [](T x) { return sn::select(x, 1, -1); }},
      {"argsort", [](T x) { return sn::argsort(x, 1); }},
      {"topk", [](T x) { return sn::topk(x, 2, 1).values; }},
      {"argmax", [](T x) { return sn::argmax(x, 1); }},
      {"zeros", [](T x) { return sn::pad(x, {{1, 1, 1}}); }},
      {"reflect",
       [](T x) { return sn::pad(x, {{1, 1, 1}}, sn::PadMode::reflect); },
       false},
      {"circular",
       [](T x) { return sn::pad(x, {{1, 1, 1}}, sn::PadMode::circular); },
       false},
      {"replicate",
       [](T x) { return sn::pad(x, {{1, 1, 1}}, sn::PadMode::replicate); },
       false},
      {"chunk", [](T x) { return sn::chunk(x, 2, 1)[0]; }, false},
      {"split", [](T x) { return sn::split(x, 2, 1)[0]; }, false},
      {"unbind", [](T x) { return sn::unbind(x, 1)[0]; }, false},
      {"diagonal", [](T x) { return sn::diagonal(x); }, false},
      {"repeat", [](T x) { return sn::repeat_interleave(x, 2, 1); }},
      {"unfold", [](T x) { return sn::unfold(x, 1, 2, 1); }},
      {"nonzero", [](T x) { return sn::nonzero(x > 0.0); }},
      {"unique",
       [](T x) { return sn::unique((x * 3.0).to(sn::DType::i32)).inverse; },
       false},
  };
  for (const Case &each : cases)
    expectOpen(each, {draw({3, 6}), draw({3, 11}), draw({3, 2}), draw({3, 40})},
               {"x:1=n"});
}

TEST_F(DynamicExportTest, Images) {
  using T = const sn::Tensor &;
  const Case cases[] = {
      {"interpolate", [](T x) { return sn::interpolate(x, {.size = {8, 8}}); },
       false},
      {"adaptive", [](T x) { return sn::adaptive_avg_pool(x, {3, 3}); }, false},
      {"largest", [](T x) { return sn::adaptive_max_pool(x, {4, 4}); }, false},
      {"average", [](T x) { return sn::avg_pool2d(x, {2, 2}); }},
      {"roi_align",
       [](T x) {
         return sn::roi_align(x, sn::full({1, 4}, 2.0),
                              sn::zeros({1}, {sn::DType::i64}),
                              {.sampling_ratio = 2});
       },
       false},
  };
  for (const Case &each : cases)
    expectOpen(each, {draw({1, 2, 6, 6}), draw({1, 2, 9, 9})},
               {"x:2=h", "x:3=w"});
}
