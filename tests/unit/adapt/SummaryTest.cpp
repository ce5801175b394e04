/// The modules of a model as a table.
#include "tests/unit/adapt/AdaptCase.h"

#include <sinter/train/Freeze.h>
#include <sinter/train/Lora.h>
#include <sinter/train/Summary.h>

#include <sstream>

namespace sn = sinter;

TEST(Summary, ListsModulesAndTheirParameters) {
  Normed model;
  sn::train::freeze(model, "fc.bias");
  sn::train::ModelSummary summary = sn::train::summary(model);
  ASSERT_EQ(summary.rows.size(), 3u);
  EXPECT_EQ(summary.rows[0].path, "");
  EXPECT_EQ(summary.rows[0].type, "Normed");
  EXPECT_EQ(summary.rows[0].parameters, 9 + 6);
  EXPECT_EQ(summary.rows[0].trainable, 12);
  EXPECT_EQ(summary.rows[1].path, "fc");
  EXPECT_EQ(summary.rows[1].type, "nn::Linear");
  EXPECT_EQ(summary.rows[1].parameters, 9);
  EXPECT_EQ(summary.rows[1].trainable, 6);
  EXPECT_EQ(summary.rows[1].bytes, 36);
  EXPECT_EQ(summary.rows[1].dtypes, "f32");
  EXPECT_EQ(summary.rows[2].type, "nn::BatchNorm1d");
  EXPECT_EQ(summary.rows[2].dtypes, "f32, i64");
  EXPECT_EQ(summary.rows[2].bytes, 4 * 12 + 8);
  EXPECT_EQ(summary.buffers, 7);
}

TEST(Summary, ShapesOfOutputsRunNothing) {
  Normed model;
  sn::Tensor x = sn::ones({8, 2});
  valuesOf(model); // what the constructor set
  Counts counts = countsOf([&] {
    sn::train::ModelSummary summary = sn::train::summary(model, x);
    for (const auto &row : summary.rows)
      EXPECT_EQ(row.outputs, std::vector<std::string>{"[8,3]"}) << row.path;
  });
  EXPECT_EQ(counts.runs, 0u);
  EXPECT_EQ(model.norm.num_batches_tracked.tensor().item<int64_t>(), 0);
}

TEST(Summary, IsATable) {
  Mlp model;
  std::ostringstream text, plain;
  text << sn::train::summary(model, sn::ones({8, 4}));
  EXPECT_EQ(text.str(),
            "module   class       output  parameters  trainable  dtype  bytes\n"
            "(model)  Mlp         [8,3]           67         67  f32      268\n"
            "fc1      nn::Linear  [8,8]           40         40  f32      160\n"
            "fc2      nn::Linear  [8,3]           27         27  f32      108\n"
            "67 parameters, 67 trained, 0 elements of statistics, 268 bytes\n");
  plain << sn::train::summary(model);
  EXPECT_EQ(plain.str().find("output"), std::string::npos);
}

TEST(Summary, CountsAdaptersAndTiedParametersOnce) {
  Mlp model;
  sn::train::add_lora(model, "fc1", {.rank = 2});
  EXPECT_EQ(sn::train::summary(model).rows[0].trainable, 24);
  std::vector<sn::nn::Linear> tied{sn::nn::Linear(4, 4), sn::nn::Linear(4, 4)};
  tied[1].weight.tie(tied[0].weight);
  EXPECT_EQ(tied[0].num_params(), 20);
}
