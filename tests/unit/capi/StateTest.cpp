/// State, weights, random numbers and several entry points.
#include "tests/unit/capi/Models.h"
#include "tests/unit/program/ModelBuilder.h"

#include <sinter/model.h>

using namespace sinter::capi::test;
using sinter::runtime::test::copyModel;
using sinter::runtime::test::ModelBuilder;
using sinter::runtime::test::smallModel;

namespace {

enum Entry : uint32_t { predict, train, draw };

/// What an entry of `smallModel` makes of eight numbers.
std::vector<float> runOn(sinter_session *session, Entry entry,
                         const std::vector<float> &values) {
  Host x(values);
  sinter_tensor input = x.tensor(), output = sized<sinter_tensor>();
  EXPECT_OK(sinter_session_run(session, entry, &input, 1, nullptr, 0, nullptr));
  EXPECT_OK(sinter_session_output(session, entry, 0, &output));
  return valuesOf(output);
}

std::vector<float> weightOf(sinter_session *session, uint32_t number = 0) {
  auto view = sized<sinter_tensor>();
  EXPECT_OK(sinter_session_weight(session, number, &view));
  return valuesOf(view);
}

std::vector<float> totalOf(sinter_session *session) {
  auto view = sized<sinter_tensor>();
  EXPECT_OK(sinter_session_state(session, 0, &view));
  return valuesOf(view);
}

std::vector<float> sum(std::vector<float> some,
                       const std::vector<float> &others) {
  for (size_t i = 0; i < some.size(); ++i)
    some[i] += others[i];
  return some;
}

const std::vector<float> ones(8, 1), zeros(8, 0);

} // namespace

TEST(CapiState, tellsWhatAFileHolds) {
  Opened opened(smallModel().file());
  auto info = sized<sinter_model_info>();
  ASSERT_OK(sinter_model_get_info(opened.model, &info));
  EXPECT_EQ(info.num_entries, 3u);
  EXPECT_EQ(info.num_weights, 3u);
  EXPECT_EQ(info.num_states, 1u);
  EXPECT_EQ(info.num_metadata, 2u);

  auto entry = sized<sinter_entry_info>();
  ASSERT_OK(sinter_model_entry(opened.model, predict, &entry));
  EXPECT_STREQ(entry.name, "predict");
  EXPECT_STREQ(entry.description, "what the model says");
  EXPECT_EQ(entry.num_inputs, 1u);
  EXPECT_EQ(entry.num_outputs, 1u);
  ASSERT_OK(sinter_model_entry(opened.model, train, &entry));
  EXPECT_EQ(entry.num_inputs, 1u);
  EXPECT_EQ(entry.num_outputs, 1u);
  uint32_t number = 0;
  ASSERT_OK(sinter_model_find_entry(opened.model, "draw", &number));
  EXPECT_EQ(number, draw);
  EXPECT_FAILS(sinter_model_find_entry(opened.model, "main", &number),
               SINTER_INVALID_ARGUMENT, "only predict, train, draw");

  auto port = sized<sinter_port_info>();
  ASSERT_OK(sinter_model_output(opened.model, train, 0, &port));
  EXPECT_STREQ(port.name, "sum");
  ASSERT_OK(sinter_model_input(opened.model, draw, 0, &port));
  EXPECT_STREQ(port.dim_names[0], "n");
  ASSERT_OK(sinter_model_input(opened.model, draw, 1, &port));
  EXPECT_EQ(port.is_scalar, 1);
  const char *key = nullptr, *value = nullptr;
  ASSERT_OK(sinter_model_metadata(opened.model, 1, &key, &value));
  EXPECT_STREQ(key, "license");
  EXPECT_STREQ(value, "MIT");

  auto stored = sized<sinter_stored_info>();
  ASSERT_OK(sinter_model_weight(opened.model, 1, &stored));
  EXPECT_STREQ(stored.name, "copy");
  EXPECT_EQ(stored.dtype, SINTER_F32);
  ASSERT_EQ(stored.ndim, 2);
  EXPECT_EQ(stored.dims[1], 4);
  ASSERT_OK(sinter_model_state(opened.model, 0, &stored));
  EXPECT_STREQ(stored.name, "total");
  EXPECT_STREQ(stored.description, "all that was seen");
  EXPECT_FAILS(sinter_model_weight(opened.model, 3, &stored),
               SINTER_INVALID_ARGUMENT, "there is no weight 3");
  EXPECT_FAILS(sinter_model_state(opened.model, 1, &stored),
               SINTER_INVALID_ARGUMENT, "there is no state 1");
}

TEST(CapiState, isKeptBetweenRuns) {
  Opened opened(smallModel().file());
  std::vector<float> total = zeros;
  for (int i = 0; i < 100; ++i) {
    total = sum(total, ones);
    EXPECT_EQ(runOn(opened.session, train, ones), total);
  }
  EXPECT_EQ(totalOf(opened.session), total);
  // Training changed the weight of this session.
  EXPECT_EQ(weightOf(opened.session), sum(counting(8), total));
  EXPECT_EQ(runOn(opened.session, predict, zeros), sum(counting(8), total));

  ASSERT_OK(sinter_session_reset(opened.session));
  EXPECT_EQ(totalOf(opened.session), zeros);
  EXPECT_EQ(weightOf(opened.session), sum(counting(8), total));
}

TEST(CapiState, isEachSessionsOwn) {
  Opened opened(smallModel().file());
  sinter_session *other = nullptr;
  ASSERT_OK(sinter_session_open(opened.model, &other));
  runOn(opened.session, train, ones);
  EXPECT_EQ(runOn(other, predict, zeros), counting(8));
  EXPECT_EQ(totalOf(other), zeros);
  auto shared = sized<sinter_tensor>(), again = sized<sinter_tensor>();
  sinter_session *third = nullptr;
  ASSERT_OK(sinter_session_open(opened.model, &third));
  ASSERT_OK(sinter_session_weight(other, 0, &shared));
  ASSERT_OK(sinter_session_weight(third, 0, &again));
  EXPECT_EQ(shared.data, again.data); // one for all
  EXPECT_OK(sinter_session_close(other));
  EXPECT_OK(sinter_session_close(third));
}

TEST(CapiState, isOverwrittenWhereNobodyElseHasIt) {
  ModelBuilder builder = smallModel();
  builder.programs[train].mayAlias(1, 0);
  builder.programs[train].mayAlias(2, 1);
  Opened opened(builder.file());
  runOn(opened.session, predict, zeros); // holds no weight afterwards
  runOn(opened.session, train, ones);
  auto state = sized<sinter_tensor>(), weight = sized<sinter_tensor>();
  ASSERT_OK(sinter_session_state(opened.session, 0, &state));
  ASSERT_OK(sinter_session_weight(opened.session, 0, &weight));
  const void *first = state.data, *firstWeight = weight.data;
  for (int i = 0; i < 5; ++i) {
    runOn(opened.session, train, ones);
    runOn(opened.session, predict, zeros);
    ASSERT_OK(sinter_session_state(opened.session, 0, &state));
    ASSERT_OK(sinter_session_weight(opened.session, 0, &weight));
    EXPECT_EQ(state.data, first);
    EXPECT_EQ(weight.data, firstWeight);
  }
  EXPECT_EQ(valuesOf(state), std::vector<float>(8, 6));
}

/// State that is an input, too, is not overwritten while it is read.
TEST(CapiState, isReadAsAnInput) {
  ModelBuilder builder = smallModel();
  builder.programs[train].mayAlias(1, 0);
  builder.programs[train].mayAlias(2, 1);
  Opened opened(builder.file());
  std::vector<float> total = ones;
  runOn(opened.session, train, ones);
  for (int i = 0; i < 4; ++i) {
    auto view = sized<sinter_tensor>();
    ASSERT_OK(sinter_session_state(opened.session, 0, &view));
    ASSERT_OK(sinter_session_run(opened.session, train, &view, 1, nullptr, 0,
                                 nullptr));
    total = sum(total, total);
    EXPECT_EQ(totalOf(opened.session), total);
  }
}

/// The weight that a step overwrites is read by the rest of the step.
TEST(CapiState, weightsAreReadAsInputs) {
  ModelBuilder builder = smallModel();
  builder.programs[train].mayAlias(1, 0);
  builder.programs[train].mayAlias(2, 1);
  Opened opened(builder.file());
  runOn(opened.session, train, ones);
  std::vector<float> total = totalOf(opened.session);
  for (int i = 0; i < 4; ++i) {
    std::vector<float> weight = weightOf(opened.session);
    auto view = sized<sinter_tensor>();
    ASSERT_OK(sinter_session_weight(opened.session, 0, &view));
    ASSERT_OK(sinter_session_run(opened.session, train, &view, 1, nullptr, 0,
                                 nullptr));
    total = sum(total, weight);
    EXPECT_EQ(totalOf(opened.session), total);
    EXPECT_EQ(weightOf(opened.session), sum(weight, weight));
  }
}

TEST(CapiState, isSetAndRead) {
  Opened opened(smallModel().file());
  Host values({8, 7, 6, 5, 4, 3, 2, 1});
  sinter_tensor tensor = values.tensor();
  ASSERT_OK(sinter_session_set_state(opened.session, 0, &tensor));
  ASSERT_OK(sinter_session_set_weight(opened.session, 0, &tensor));
  std::vector<float> before = values.values;
  values.values.assign(8, 0); // it was copied
  EXPECT_EQ(runOn(opened.session, predict, zeros), before);
  EXPECT_EQ(runOn(opened.session, train, ones), sum(before, ones));

  int64_t strides[] = {-1};
  values.values = before;
  tensor.data = values.values.data() + 7;
  tensor.strides = strides;
  ASSERT_OK(sinter_session_set_state(opened.session, 0, &tensor));
  EXPECT_EQ(totalOf(opened.session), counting(8));

  Host few({1, 2, 3}), flat(before, {2, 4});
  sinter_tensor wrong = few.tensor();
  EXPECT_FAILS(sinter_session_set_weight(opened.session, 0, &wrong),
               SINTER_INVALID_ARGUMENT,
               "weight 'weight': expected f32[8], got f32[3]");
  EXPECT_FAILS(sinter_session_set_state(opened.session, 0, &wrong),
               SINTER_INVALID_ARGUMENT,
               "state 'total': expected f32[8], got f32[3]");
  EXPECT_EQ(runOn(opened.session, train, ones), sum(counting(8), ones));
  wrong = flat.tensor();
  EXPECT_FAILS(sinter_session_set_state(opened.session, 0, &wrong),
               SINTER_INVALID_ARGUMENT, "state 'total'");
  wrong = values.tensor();
  wrong.dtype = SINTER_I32;
  EXPECT_FAILS(sinter_session_set_state(opened.session, 0, &wrong),
               SINTER_INVALID_ARGUMENT, "got i32[8]");
  wrong.dtype = SINTER_F32;
  wrong.data = nullptr;
  EXPECT_FAILS(sinter_session_set_weight(opened.session, 0, &wrong),
               SINTER_INVALID_ARGUMENT, "data is null");
  EXPECT_FAILS(sinter_session_set_weight(opened.session, 3, &tensor),
               SINTER_INVALID_ARGUMENT, "no weight 3");
  EXPECT_FAILS(sinter_session_state(opened.session, 1, &tensor),
               SINTER_INVALID_ARGUMENT, "no state 1");
  EXPECT_FAILS(sinter_session_set_state(opened.session, 0, nullptr),
               SINTER_INVALID_ARGUMENT, "null");
}

TEST(CapiState, viewsOfOneStateStay) {
  Opened opened(smallModel().file());
  sinter_tensor first{}, second{};
  first.struct_size = second.struct_size = sizeof first;
  ASSERT_OK(sinter_session_state(opened.session, 0, &first));
  ASSERT_OK(sinter_session_state(opened.session, 0, &second));
  EXPECT_EQ(first.dims[0], 8);
  EXPECT_EQ(first.dims, second.dims);
}

/// A run that fails leaves state, weights and random numbers alone.
TEST(CapiState, anErrorChangesNothing) {
  Opened opened(smallModel().file());
  runOn(opened.session, train, ones);
  Host wrong({1, 2, 3});
  sinter_tensor input = wrong.tensor();
  EXPECT_FAILS(
      sinter_session_run(opened.session, train, &input, 1, nullptr, 0, nullptr),
      SINTER_INVALID_ARGUMENT, "input 'x': expected f32[8]");
  EXPECT_EQ(totalOf(opened.session), ones);
  EXPECT_EQ(weightOf(opened.session), sum(counting(8), ones));
  EXPECT_EQ(runOn(opened.session, train, ones), sum(ones, ones));
}

TEST(CapiState, randomNumbersGoOn) {
  Opened opened(smallModel().file());
  auto position = sized<sinter_random>();
  auto drawOf = [&](size_t count) {
    Host x(counting(count));
    float factor = 1;
    sinter_tensor inputs[] = {x.tensor(), number(factor)};
    EXPECT_OK(sinter_session_run(opened.session, draw, inputs, 2, nullptr, 0,
                                 nullptr));
    EXPECT_OK(sinter_session_get_random(opened.session, &position));
    return position.counter;
  };
  EXPECT_EQ(drawOf(10), 3u);
  EXPECT_EQ(drawOf(4), 4u);
  EXPECT_EQ(drawOf(0), 4u);
  uint64_t key = position.key_low;
  ASSERT_OK(sinter_session_seed(opened.session, 5));
  ASSERT_OK(sinter_session_get_random(opened.session, &position));
  EXPECT_NE(position.key_low, key);
  EXPECT_EQ(position.counter, 0u);
  position.counter = 40;
  ASSERT_OK(sinter_session_set_random(opened.session, &position));
  EXPECT_EQ(drawOf(1), 41u);
  ASSERT_OK(sinter_session_reset(opened.session));
  EXPECT_EQ(drawOf(1), 1u);
  EXPECT_FAILS(sinter_session_get_random(opened.session, nullptr),
               SINTER_INVALID_ARGUMENT, "null");
  EXPECT_FAILS(sinter_session_set_random(opened.session, nullptr),
               SINTER_INVALID_ARGUMENT, "null");
}

TEST(CapiState, countsAsMemoryThatIsKept) {
  Opened opened(smallModel().file());
  Host x(ones);
  sinter_tensor input = x.tensor();
  auto info = sized<sinter_memory_info>();
  ASSERT_OK(sinter_session_memory(opened.session, train, &input, 1, nullptr, 0,
                                  &info));
  EXPECT_EQ(info.input_bytes, 32u);
  EXPECT_EQ(info.output_bytes, 32u);
  EXPECT_EQ(info.temporary_bytes, 64u); // the new weight and total
  EXPECT_EQ(info.kept_bytes, 64u);
}

TEST(CapiState, lives) {
  Opened opened(copyModel().file(), "null");
  Host x(counting(8));
  sinter_tensor input = x.tensor(), output = sized<sinter_tensor>();
  std::vector<float> last;
  for (int i = 0; i < 3; ++i) {
    last = x.values;
    ASSERT_OK(
        sinter_session_run(opened.session, 0, &input, 1, nullptr, 0, nullptr));
    ASSERT_OK(sinter_session_output(opened.session, 0, 0, &output));
    if (i > 0) {
      EXPECT_EQ(valuesOf(output), last);
    }
  }
}

TEST(CapiCopy, movesElementsBetweenPlaces) {
  Host from(counting(8)), to(zeros);
  sinter_tensor source = from.tensor(), target = to.tensor();
  ASSERT_OK(sinter_tensor_copy(&source, &target));
  EXPECT_EQ(to.values, from.values);
  std::vector<int64_t> dims = {2, 4};
  target.ndim = 2;
  target.dims = dims.data();
  EXPECT_FAILS(sinter_tensor_copy(&source, &target), SINTER_INVALID_ARGUMENT,
               "copy: f32[8] to f32[2,4]");
  int64_t strides[] = {2};
  target = to.tensor();
  target.strides = strides;
  EXPECT_FAILS(sinter_tensor_copy(&source, &target), SINTER_UNSUPPORTED,
               "to: it has to be dense");
  target = to.tensor();
  target.device_kind = SINTER_DEVICE_VULKAN;
  EXPECT_FAILS(sinter_tensor_copy(&source, &target), SINTER_UNSUPPORTED,
               "vulkan");
  EXPECT_FAILS(sinter_tensor_copy(nullptr, &target), SINTER_INVALID_ARGUMENT,
               "from is null");
  source.data = nullptr;
  target = to.tensor();
  EXPECT_FAILS(sinter_tensor_copy(&source, &target), SINTER_INVALID_ARGUMENT,
               "from: data is null");
}
