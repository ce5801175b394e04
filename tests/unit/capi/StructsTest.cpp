/// Structs of other versions: too small, with fields to come, not set.
#include "tests/unit/capi/Models.h"

#include <cstring>

using namespace sinter::capi::test;
using sinter::runtime::test::scaleProgram;

TEST(CapiStructs, aSizeThatNobodySetIsAnError) {
  Opened opened(scaleProgram());
  sinter_model_info info{};
  EXPECT_FAILS(sinter_model_get_info(opened.model, &info),
               SINTER_INVALID_ARGUMENT,
               "the struct_size of sinter_model_info is 0, it has to be at "
               "least 32");
  info.struct_size = size_t(-1);
  EXPECT_FAILS(sinter_model_get_info(opened.model, &info),
               SINTER_INVALID_ARGUMENT, "struct_size");
  sinter_model_options options{};
  sinter_model *model = nullptr;
  EXPECT_FAILS(sinter_model_open("x", &options, &model),
               SINTER_INVALID_ARGUMENT, "the struct_size");
  sinter_run_options run{};
  EXPECT_FAILS(
      sinter_session_run(opened.session, 0, nullptr, 0, nullptr, 0, &run),
      SINTER_INVALID_ARGUMENT, "the struct_size");
  EXPECT_FAILS(sinter_device(0, nullptr), SINTER_INVALID_ARGUMENT, "null");
}

/// Programs that were compiled with the first version's header go on.
TEST(CapiStructs, fieldsOfEarlierVersionsAreEnough) {
  std::vector<std::byte> file = scaleProgram().file();
  sinter_model_options first{};
  first.struct_size = 32;
  first.device = "cpu";
  first.trust = 99; // not of that version
  sinter_model *model = nullptr;
  ASSERT_OK(sinter_model_open_memory(file.data(), file.size(), &first, &model));
  EXPECT_OK(sinter_model_close(model));
}

namespace {
/// The options of a later version.
struct LaterOptions {
  sinter_model_options options;
  uint64_t more;
};
} // namespace

TEST(CapiStructs, fieldsOfLaterVersionsMayBeZero) {
  std::vector<std::byte> file = scaleProgram().file();
  LaterOptions later{};
  later.options.struct_size = sizeof(later);
  later.options.device = "cpu";
  sinter_model *model = nullptr;
  ASSERT_OK(sinter_model_open_memory(file.data(), file.size(), &later.options,
                                     &model));
  EXPECT_OK(sinter_model_close(model));
  later.more = 1;
  EXPECT_FAILS(sinter_model_open_memory(file.data(), file.size(),
                                        &later.options, &model),
               SINTER_UNSUPPORTED, "fields that this version");
}

TEST(CapiStructs, arraysHaveTheStrideOfTheirFirst) {
  Opened opened(scaleProgram());
  struct Later {
    sinter_tensor tensor;
    uint64_t more[2];
  };
  Host x(counting(4));
  float factor = 2;
  Later inputs[2] = {{x.tensor(), {}}, {number(factor), {}}};
  inputs[0].tensor.struct_size = inputs[1].tensor.struct_size = sizeof(Later);
  auto output = sized<sinter_tensor>();
  ASSERT_OK(runToViews(opened.session, &inputs[0].tensor, 2, &output, 1));
  EXPECT_EQ(valuesOf(output), (std::vector<float>{2, 4, 6, 8}));
  inputs[1].tensor.struct_size = sizeof(sinter_tensor);
  EXPECT_FAILS(runToViews(opened.session, &inputs[0].tensor, 2, &output, 1),
               SINTER_INVALID_ARGUMENT, "that of the first");
  inputs[0].tensor.struct_size = sizeof(Later) - 4;
  EXPECT_FAILS(runToViews(opened.session, &inputs[0].tensor, 2, &output, 1),
               SINTER_INVALID_ARGUMENT, "no multiple of");
}
