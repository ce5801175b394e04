/// Entries of several programs, between which values decide sizes.
#include "tests/unit/capi/Models.h"
#include "tests/unit/program/ModelBuilder.h"

#include <sinter/model.h>

namespace deploy = sinter::deploy;
using namespace sinter::capi::test;
using sinter::runtime::test::ModelBuilder;
using sinter::runtime::test::partsModel;

namespace {

deploy::Tensor counter(int64_t &count) {
  return {std::span(&count, 1), std::vector<int64_t>()};
}

/// A session of the model, and its inputs: eight numbers, and how many of them.
struct Counted {
  Opened opened{partsModel().file(), "null"};
  Host x{counting(8)};
  int64_t count = 2;
  sinter_tensor inputs[2] = {x.tensor(), sized<sinter_tensor>()};

  Counted() {
    inputs[1].data = &count;
    inputs[1].dtype = SINTER_I64;
  }
};

} // namespace

TEST(CapiParts, areOneEntryToCallers) {
  deploy::Model model(partsModel().file(), {.device = "null"});
  EXPECT_EQ(model.entries(), std::vector<std::string>{"main"});
  EXPECT_THROW(model.find("main.part0"), deploy::Error);
  EXPECT_EQ(model.inputs().size(), 2u);
  deploy::Port y = model.outputs().at(0);
  EXPECT_EQ(y.dims, std::vector<int64_t>{-1});
  EXPECT_EQ(y.dim_names, std::vector<std::string>{"rows"});
  auto info = sized<sinter_entry_info>();
  EXPECT_FAILS(sinter_model_entry(model.get(), 1, &info),
               SINTER_INVALID_ARGUMENT, "there is no entry point 1");
}

TEST(CapiParts, takeAsManyRowsAsAreCounted) {
  deploy::Session session(
      deploy::Model(partsModel().file(), {.device = "null"}));
  const std::vector<float> x = counting(8);
  for (int64_t k : {3, 0, 8, 1}) {
    auto outputs = session.run({{x, {8}}, counter(k)});
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(outputs[0].dims()[0], k);
    const auto *values = static_cast<const float *>(outputs[0].data());
    EXPECT_EQ(std::vector<float>(values, values + k),
              std::vector<float>(x.begin(), x.begin() + k));
  }
}

/// A run that fails leaves the last results.
TEST(CapiParts, countNoMoreRowsThanThereAre) {
  Counted of;
  sinter_tensor output = sized<sinter_tensor>();
  ASSERT_OK(runToViews(of.opened.session, of.inputs, 2, &output, 1));
  for (int64_t wrong : {int64_t(9), int64_t(-1), INT64_MIN, INT64_MAX}) {
    of.count = wrong;
    EXPECT_FAILS(sinter_session_run(of.opened.session, 0, of.inputs, 2, nullptr,
                                    0, nullptr),
                 SINTER_IO, "model file: a program counts");
  }
  ASSERT_OK(sinter_session_output(of.opened.session, 0, 0, &output));
  EXPECT_EQ(valuesOf(output), (std::vector<float>{1, 2}));
}

/// The most that there can be.
TEST(CapiParts, memoryIsThatOfAllRows) {
  Counted of;
  sinter_tensor output = sized<sinter_tensor>();
  auto info = sized<sinter_memory_info>();
  ASSERT_OK(sinter_session_memory(of.opened.session, 0, of.inputs, 2, &output,
                                  1, &info));
  ASSERT_EQ(output.ndim, 1);
  EXPECT_EQ(output.dims[0], 8);
  EXPECT_EQ(info.output_bytes, 32u);
  EXPECT_EQ(info.temporary_bytes, 40u); // what is passed on
}

TEST(CapiParts, passWhatTheNextOneTakes) {
  ModelBuilder builder = partsModel();
  builder.programs[0].program.inputs[2]->dtype = uint8_t(sinter::DType::i32);
  Opened opened(builder.file(), "null");
  Host x(counting(8));
  sinter_tensor inputs[] = {x.tensor(), x.tensor()};
  EXPECT_FAILS(
      sinter_session_run(opened.session, 0, inputs, 2, nullptr, 0, nullptr),
      SINTER_IO, "input 2 of entry 'main' is i32");
}
