/// sinter/model.h: owners, spans and exceptions.
#include "tests/unit/capi/Models.h"
#include "tests/unit/program/ModelBuilder.h"

#include <sinter/model.h>

#include <atomic>

namespace deploy = sinter::deploy;
using namespace sinter::capi::test;
using sinter::runtime::test::scaleProgram;
using sinter::runtime::test::smallModel;

namespace {

deploy::Model scaleModel() {
  return deploy::Model(scaleProgram().file(), {.device = "cpu"});
}

} // namespace

TEST(Wrapper, runsAndReads) {
  deploy::Session session(scaleModel());
  const std::vector<float> x = counting(4);
  float factor = 3;
  auto outputs = session.run({{x, {4}}, {std::span(&factor, 1), {}}});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].dims()[0], 4);
  EXPECT_EQ(outputs[0].values<float>()[3], 12);
  EXPECT_THROW(outputs[0].values<double>(), deploy::Error);
  std::vector<float> place(4);
  deploy::Tensor inputs[] = {{x, {4}}, {std::span(&factor, 1), {}}};
  deploy::Tensor places[] = {{std::span(place), {4}}};
  session.run_into(inputs, places);
  EXPECT_EQ(place, (std::vector<float>{3, 6, 9, 12}));
  EXPECT_EQ(session.memory(inputs).output_bytes, 16u);
}

TEST(Wrapper, tellsTheSignature) {
  deploy::Model model = scaleModel();
  EXPECT_EQ(model.entries(), std::vector<std::string>{"main"});
  EXPECT_EQ(model.find("main"), 0u);
  std::vector<deploy::Port> inputs = model.inputs();
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].dtype, SINTER_F32);
  EXPECT_EQ(inputs[0].dims, std::vector<int64_t>{-1});
  EXPECT_EQ(inputs[0].dim_names, std::vector<std::string>{"s0"});
  EXPECT_EQ(model.outputs().size(), 1u);
}

TEST(Wrapper, throwsWhatTheCallSays) {
  try {
    deploy::Model model("nowhere.sinter");
    FAIL() << "opened what is not there";
  } catch (const deploy::Error &error) {
    EXPECT_EQ(error.status(), SINTER_IO);
    EXPECT_NE(std::string(error.what()).find("nowhere.sinter"),
              std::string::npos);
  }
  deploy::Session session(scaleModel());
  EXPECT_THROW(session.run({}), deploy::Error);
  EXPECT_THROW(session.outputs(), deploy::Error);
  EXPECT_THROW(session.model().find("x"), deploy::Error);
  EXPECT_THROW(deploy::Tensor(std::vector<float>(3), {4}), deploy::Error);
}

TEST(Wrapper, runsInTheBackground) {
  deploy::Session session(scaleModel());
  const std::vector<float> x = counting(4);
  float factor = 3;
  deploy::Tensor inputs[] = {{x, {4}}, {std::span(&factor, 1), {}}};
  std::atomic<sinter_status> ended{-1};
  deploy::Event event =
      session.run_async(inputs, 0, [&](sinter_status status, std::string_view) {
        ended = status;
      });
  event.wait();
  EXPECT_TRUE(event.done());
  EXPECT_EQ(ended, SINTER_OK);
  EXPECT_EQ(session.outputs()[0].values<float>()[0], 3);
  deploy::Event failing = session.run_async({});
  EXPECT_THROW(failing.wait(), deploy::Error);
  session.cancel();
  deploy::Session moved = std::move(session);
  EXPECT_EQ(moved.outputs().size(), 1u);
}

TEST(Wrapper, keepsState) {
  deploy::Model model(smallModel().file(), {.device = "cpu"});
  deploy::Session session(model);
  std::vector<float> ones(8, 1), total(8);
  uint32_t train = model.find("train");
  for (int i = 0; i < 3; ++i)
    session.run({{ones, {8}}}, train);
  EXPECT_EQ(session.state(0).values<float>()[0], 3);
  EXPECT_EQ(session.weight(0).values<float>()[0], 4);
  deploy::copy(session.state(0), {std::span(total), {8}});
  EXPECT_EQ(total, std::vector<float>(8, 3));
  session.set_state(0, {ones, {8}});
  session.set_weight(0, {ones, {8}});
  session.run({{ones, {8}}}, train);
  EXPECT_EQ(session.state(0).values<float>()[0], 2);
  session.reset();
  EXPECT_EQ(session.state(0).values<float>()[0], 0);
  EXPECT_EQ(session.weight(0).values<float>()[7], 2);
  session.seed(7);
  EXPECT_THROW(session.state(1), deploy::Error);
}

TEST(Wrapper, modelsAreShared) {
  std::vector<deploy::Session> sessions;
  {
    deploy::Model model = scaleModel(), copy = model;
    EXPECT_EQ(copy.get(), model.get());
    sessions.emplace_back(model);
    sessions.emplace_back(copy);
  }
  std::vector<float> x(1, 2);
  for (deploy::Session &session : sessions)
    EXPECT_EQ(session.run({{x, {1}}, {x, {}}})[0].values<float>()[0], 4);
}
