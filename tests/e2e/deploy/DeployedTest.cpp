/// What was trained here and exported computes the same bits through the C
/// interface, goes on with the training, and keeps its state.
#include "tests/e2e/export/SmallNet.h"

#include <sinter/Basic.h>
#include <sinter/Export.h>
#include <sinter/model.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace sn = sinter;
namespace fs = std::filesystem;
namespace deploy = sinter::deploy;
using sn::test::SmallNet;

namespace {

/// Attends to all tokens that it was given: their keys are kept.
struct Decoder {
  sn::nn::Linear project{8, 8};
  sn::Param keys{sn::zeros({128, 8}), "keys", false};
  sn::Param length{sn::zeros({}, {.dtype = sn::DType::i64}), "length", false};

  /// One token [8]; what it attends to [8].
  sn::Tensor decode(const sn::Tensor &token) {
    sn::Tensor key = project(token.reshape({1, 8})), place = length.tensor();
    sn::Tensor places = sn::arange(0, 128);
    sn::Tensor here = places.reshape({128, 1}) == place.reshape({1, 1});
    sn::Tensor all = sn::where(here, key, keys.tensor());
    keys.set(all);
    length.set(place + 1);
    sn::Tensor seen = places.reshape({1, 128}) <= place.reshape({1, 1});
    sn::Tensor scores = sn::matmul(key, sn::swapaxes(all, 0, 1));
    sn::Tensor weights = sn::softmax(sn::where(seen, scores, -1e9f), -1);
    return sn::matmul(weights, all).reshape({8});
  }
  SINTER_MODULE(Decoder, project, keys, length)
};

class Deployed : public testing::Test {
protected:
  void SetUp() override {
    if (sn::default_device() != sn::device("cpu"))
      GTEST_SKIP() << "files of these tests are for cpu";
    char name[] = "/tmp/sinter-deploy-XXXXXX";
    folder = ::mkdtemp(name);
    sn::manual_seed(3);
  }
  void TearDown() override {
    if (!folder.empty())
      fs::remove_all(folder);
  }
  fs::path folder;
};

std::vector<float> floatsOf(const deploy::Tensor &tensor) {
  std::span<const float> values = tensor.values<float>();
  return {values.begin(), values.end()};
}

/// The weight of that name as the session has it.
std::vector<float> weightOf(const deploy::Session &session,
                            const std::string &name) {
  auto info = sinter_model_info{.struct_size = sizeof(sinter_model_info),
                                .device = nullptr,
                                .num_entries = 0,
                                .num_weights = 0,
                                .num_states = 0,
                                .num_metadata = 0};
  EXPECT_EQ(sinter_model_get_info(session.model().get(), &info), SINTER_OK);
  for (uint32_t i = 0; i < info.num_weights; ++i) {
    sinter_stored_info weight{};
    weight.struct_size = sizeof(weight);
    EXPECT_EQ(sinter_model_weight(session.model().get(), i, &weight),
              SINTER_OK);
    if (weight.name == name)
      return floatsOf(session.weight(i));
  }
  ADD_FAILURE() << "there is no weight " << name;
  return {};
}

void setRandom(deploy::Session &session, const sn::Generator &generator) {
  sinter_random position{};
  position.struct_size = sizeof(position);
  position.key_low = generator.key_low();
  position.key_high = generator.key_high();
  position.counter = generator.counter();
  EXPECT_EQ(sinter_session_set_random(session.get(), &position), SINTER_OK);
}

} // namespace

TEST_F(Deployed, AnExportedTrainingGoesOnBitByBit) {
  SmallNet model;
  sn::optim::Sgd sgd({.lr = 0.1, .momentum = 0.9});
  auto step = [&](const sn::Tensor &x, const sn::Tensor &y) {
    sn::Tensor loss = sn::cross_entropy(model(x), y);
    sgd.step(model, loss.backward());
    return loss;
  };
  auto images = [] { return sn::uniform({12, 16}).eval(); };
  auto digits = [] { return sn::randint(0, 10, {12}).eval(); };
  for (int i = 0; i < 3; ++i)
    step(images(), digits()).eval();
  std::string path = folder / "train.sinter";
  sn::ModelExport file;
  file.name(model);
  file.add("train", step, std::tuple{images(), digits()},
           {.inputs = {"x", "y"}, .outputs = {"loss"}});
  model.eval();
  file.add("predict", model, images(),
           {.inputs = {"x"}, .dynamic = {"x:0=batch"}});
  model.train();
  file.write(path);

  deploy::Session session{deploy::Model(path, {.device = "cpu"})};
  uint32_t train = session.model().find("train");
  uint32_t predict = session.model().find("predict");
  EXPECT_EQ(session.model().inputs(predict)[0].dim_names[0], "batch");
  for (int i = 0; i < 4; ++i) {
    sn::Tensor x = images(), y = digits();
    auto xs = x.to_vector<float>();
    auto ys = y.to_vector<int64_t>();
    setRandom(session, sn::default_generator());
    float loss = step(x, y).item<float>();
    auto outputs = session.run({{xs, {12, 16}}, {ys, {12}}}, train);
    EXPECT_EQ(outputs[0].values<float>()[0], loss) << i;
    model.visit([&](const std::string &name, const sn::Param &param) {
      if (param.requires_grad()) {
        EXPECT_EQ(weightOf(session, name), param.tensor().to_vector<float>())
            << i << name;
      }
    });
  }
  model.eval();
  for (int64_t batch : {29, 64}) {
    sn::Tensor x = sn::uniform({batch, 16}).eval();
    auto xs = x.to_vector<float>();
    EXPECT_EQ(floatsOf(session.run({{xs, {batch, 16}}}, predict)[0]),
              model(x).to_vector<float>());
  }
}

TEST_F(Deployed, ADecoderKeepsItsCacheOverAHundredRuns) {
  Decoder model;
  std::string path = folder / "decoder.sinter";
  sn::ModelExport file;
  file.name(model);
  file.add("decode",
           [&](const sn::Tensor &token) { return model.decode(token); },
           sn::zeros({8}), {.inputs = {"token"}, .outputs = {"context"}});
  file.write(path);
  deploy::Session session{deploy::Model(path, {.device = "cpu"})};
  std::vector<std::vector<float>> first;
  sn::no_grad guard;
  for (int i = 0; i < 100; ++i) {
    sn::Tensor token = sn::uniform({8}).eval();
    auto values = token.to_vector<float>();
    auto context = floatsOf(session.run({{values, {8}}})[0]);
    EXPECT_EQ(context, model.decode(token).to_vector<float>()) << i;
    if (i == 0)
      first = {values, context};
  }
  session.reset();
  EXPECT_EQ(floatsOf(session.run({{first[0], {8}}})[0]), first[1]);
}

/// What runs was compiled here, whatever machine code the file has.
TEST_F(Deployed, OfAFileTheGraphAloneIsTrusted) {
  SmallNet model;
  model.eval();
  std::string path = folder / "graph.sinter";
  sn::export_model(path, model, sn::uniform({12, 16}),
                   {.inputs = {"x"}, .dynamic = {"x:0=batch"}});
  std::string messages;
  auto keep = [](void *user, int32_t, const char *message) {
    *static_cast<std::string *>(user) += message;
  };
  sn::Tensor x = sn::uniform({29, 16}).eval();
  auto xs = x.to_vector<float>(), expected = model(x).to_vector<float>();
  ASSERT_EQ(sinter_set_log(keep, &messages), SINTER_OK);
  for (int32_t trust : {SINTER_TRUST_CODE, SINTER_TRUST_GRAPH}) {
    deploy::Session session{
        deploy::Model(path, {.device = "cpu", .trust = trust})};
    EXPECT_EQ(floatsOf(session.run({{xs, {29, 16}}})[0]), expected);
    bool isCompiled =
        messages.find("only its graph is trusted") != std::string::npos;
    EXPECT_EQ(isCompiled, trust == SINTER_TRUST_GRAPH) << messages;
  }
  EXPECT_EQ(sinter_set_log(nullptr, nullptr), SINTER_OK);
}

/// Where no target is named, the file runs without a compiler on the device
/// that was the default one.
TEST_F(Deployed, HasAProgramForTheDefaultDevice) {
  struct Restore {
    sn::DeviceId before = sn::default_device();
    ~Restore() { sn::set_default_device(before); }
  } restore;
  size_t count = 0;
  ASSERT_EQ(sinter_device_count(&count), SINTER_OK);
  for (size_t i = 0; i < count; ++i) {
    sinter_device_info device{};
    device.struct_size = sizeof(device);
    ASSERT_EQ(sinter_device(i, &device), SINTER_OK);
    if (device.kind == SINTER_DEVICE_NULL)
      continue;
    std::string name = device.name, path = folder / "default.sinter";
    sn::set_default_device(name);
    SmallNet model;
    model.eval();
    sn::Tensor x = sn::uniform({12, 16}).eval();
    sn::export_model(path, model, x, {.inputs = {"x"}});
    deploy::Model file(path, {.device = name, .never_compile = true});
    EXPECT_EQ(file.inputs()[0].name, "x") << name;
  }
}
