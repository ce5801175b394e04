/// A batch spread over devices, each with a copy of the model and a thread.
/// SINTER_TEST_DEVICES names others: `cuda:0,cuda:1`.
#include "tests/unit/adapt/AdaptCase.h"

#include <sinter/optim/Adam.h>
#include <sinter/train/Accumulate.h>

#include <cstdlib>
#include <thread>

namespace sn = sinter;

namespace {

std::vector<std::string> devices() {
  const char *given = std::getenv("SINTER_TEST_DEVICES");
  std::string names = given ? given : "cpu:0,vulkan:0";
  std::vector<std::string> all;
  for (size_t from = 0; from <= names.size();) {
    size_t end = std::min(names.find(',', from), names.size());
    all.push_back(names.substr(from, end - from));
    from = end + 1;
  }
  return all;
}

sn::Tensor lossOf(const Mlp &model, const sn::Tensor &x) {
  sn::Tensor y = model(x);
  return sn::mean(y * y);
}

struct Share {
  Mlp copy;
  sn::Tensor rows;
  sn::Gradients gradients;
};

/// The gradients of each device's part of `rows`, by a thread each.
std::vector<Share> spread(const Mlp &model, const sn::Tensor &rows) {
  std::vector<Share> shares;
  std::vector<std::string> names = devices();
  auto count = rows.dim(0).value, from = int64_t{0};
  for (size_t i = 0; i < names.size(); ++i) {
    // Of uneven size, where there are two rows or more for each.
    int64_t size = i + 1 == names.size() ? count - from
                                         : count / int64_t(names.size()) - 1;
    sn::Tensor part = sn::narrow(rows, 0, from, size).eval();
    shares.push_back({model.fork(names[i]), part.to(sn::device(names[i])), {}});
    from += size;
  }
  std::vector<std::jthread> threads;
  for (Share &share : shares)
    threads.emplace_back([&share] {
      share.gradients = lossOf(share.copy, share.rows).backward();
      for (const auto &entry : share.gradients)
        entry.gradient.eval();
    });
  threads.clear(); // joins them
  return shares;
}

} // namespace

TEST(SeveralDevices, TrainAsOneDoes) {
  Mlp model = Mlp().fork(devices().front());
  Mlp alone = model;
  sn::optim::Adam adam({.lr = 0.01}), second({.lr = 0.01});
  sn::train::GradientsAccumulator sums;
  for (int step = 0; step < 4; ++step) {
    sn::Tensor rows = waves({12, 4}, 0.37 + 0.1 * step);
    sn::Tensor whole = rows.to(sn::device(devices().front()));
    adam.step(alone, lossOf(alone, whole).backward());
    for (const Share &share : spread(model, rows))
      sums.accumulate(share.copy, share.gradients,
                      double(share.rows.dim(0).value));
    EXPECT_EQ(sums.count(), int64_t(devices().size()));
    second.step(model, sums.take_mean(model));
  }
  expectValues(valuesOf(model), valuesOf(alone), 1e-5);
  model.visit([&](const std::string &path, const sn::Param &param) {
    EXPECT_EQ(param.device(), sn::device(devices().front())) << path;
  });
}

TEST(SeveralDevices, GradientsGoToADevice) {
  Mlp model;
  sn::Gradients here = lossOf(model, waves({5, 4}, 0.37)).backward();
  sn::DeviceId other = sn::device(devices().back());
  sn::Gradients there = here.to(other);
  EXPECT_EQ(there.size(), here.size());
  model.visit([&](const std::string &path, const sn::Param &param) {
    EXPECT_EQ(there(param).device(), other) << path;
    EXPECT_EQ(there(param).to_vector<float>(), here(param).to_vector<float>());
  });
}

TEST(SeveralDevices, SumsAreOfTheModelThatIsAskedFor) {
  Mlp model;
  Mlp copy = model.fork(devices().back());
  sn::train::GradientsAccumulator sums;
  sums.accumulate(
      copy, lossOf(copy, waves({5, 4}, 0.37).to(sn::device(devices().back())))
                .backward());
  sn::nn::Linear other(4, 8);
  try {
    sums.take(other);
    ADD_FAILURE() << "no error";
  } catch (const sn::Error &error) {
    EXPECT_NE(std::string(error.what()).find("gradients were given for 'fc1."),
              std::string::npos)
        << error.what();
  }
  Mlp wide;
  wide.fc1 = sn::nn::Linear(4, 9);
  EXPECT_THROW(sums.take_mean(wide), sn::Error);
  EXPECT_EQ(sums.count(), 1); // nothing is lost
  sn::Gradients taken = sums.take(model);
  EXPECT_EQ(taken.size(), 4u);
  EXPECT_EQ(taken(model.fc1.weight).device(), model.fc1.weight.device());
}
