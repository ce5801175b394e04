/// Sizes that values decide, from files: each run counts anew.
#include "tests/e2e/export/ExportFixture.h"
#include "tests/e2e/export/FileRunner.h"

#include <sinter/Basic.h>
#include <sinter/Export.h>
#include <sinter/Vision.h>

#include <gtest/gtest.h>

namespace sn = sinter;
using sn::test::FileRunner;
using sn::test::valueOf;
using List = std::vector<sn::Tensor>;

namespace {

class CountedExportTest : public sn::test::ExportFixture {
protected:
  /// What the file gives is, to the bit, what the function gives here.
  template <typename F>
  void expectSame(F &&function, const List &inputs,
                  sn::EntryOptions options = {}) {
    std::string path = folder / "counted.sinter";
    options.inputs = {"x"};
    sn::ModelExport file;
    file.add("main", function, inputs[0], options);
    file.write(path, {.targets = {target}});
    FileRunner runner(path);
    for (const sn::Tensor &x : inputs) {
      auto given = runner.run("main", {{"x", valueOf(x)}});
      List expected = function(x);
      ASSERT_EQ(given.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(given.at("output" + std::to_string(i)), valueOf(expected[i]))
            << "output " << i;
    }
  }
};

sn::Tensor some(int64_t rows) {
  return sn::uniform({rows, 5}, sn::default_generator(), -1, 1).eval();
}

} // namespace

TEST_F(CountedExportTest, PositionsAndWhatIsThere) {
  auto positive = [](const sn::Tensor &x) {
    sn::Tensor places = sn::nonzero(x > 0.0);
    sn::Tensor kept = sn::masked_select(x, x > 0.5);
    return List{places, kept, sn::sum(kept), sn::cumsum(kept, 0)};
  };
  expectSame(positive, {some(4), sn::full({4, 5}, 1.0).eval(),
                        sn::full({4, 5}, -1.0).eval(), some(4)});
}

TEST_F(CountedExportTest, OneCountFollowsTheOther) {
  sn::nn::Linear layer(5, 3);
  auto chosen = [&](const sn::Tensor &x) {
    sn::Tensor rows = sn::reshape(sn::nonzero(sn::sum(x, 1) > 0.0), {-1});
    sn::Tensor y = sn::relu(layer(sn::index_select(x, rows, 0)));
    sn::Tensor again = sn::masked_select(y, y > 0.1);
    return List{y, again * sn::mean(x), rows};
  };
  expectSame(chosen, {some(9), sn::full({9, 5}, -1.0).eval(), some(9)});
}

TEST_F(CountedExportTest, TheCallersSizesStayOpen) {
  auto positions = [](const sn::Tensor &x) {
    return List{sn::nonzero(x > 0.0), sn::softmax(x, 1)};
  };
  expectSame(positions, {some(3), some(8), some(1)}, {.dynamic = {"x:0=n"}});
}

TEST_F(CountedExportTest, DifferentElements) {
  auto different = [](const sn::Tensor &x) {
    sn::UniqueElements found = sn::unique((x * 3.0).to(sn::DType::i32));
    return List{found.values, found.inverse, found.counts};
  };
  expectSame(different, {some(6), sn::full({6, 5}, 3.0).eval(), some(6)});
}

TEST_F(CountedExportTest, BoxesThatAreKept) {
  auto kept = [](const sn::Tensor &x) {
    sn::Tensor corner = sn::narrow(x, 1, 0, 2) * 4.0;
    sn::Tensor boxes = sn::concat({corner, corner + 2.0}, 1);
    sn::Tensor scores = sn::select(x, 1, 4);
    sn::Tensor best = sn::nms(boxes, scores, 0.3);
    return List{best, sn::index_select(boxes, best, 0)};
  };
  expectSame(kept, {some(60), sn::full({60, 5}, 0.25).eval(), some(60)});
}

TEST_F(CountedExportTest, WhatCannotBe) {
  auto problem = [&](auto function) {
    try {
      sn::ModelExport().add("main", function, some(2));
    } catch (const sn::Error &error) {
      return std::string(error.message());
    }
    return std::string();
  };
  EXPECT_NE(problem([](const sn::Tensor &x) {
              sn::Tensor dropped = sn::uniform({2, 5});
              return sn::masked_select(x + dropped, x > 0.0);
            }).find("draws random numbers"),
            std::string::npos);
}
