/// Running out of memory says what takes it, by the user's lines, and loses
/// nothing. The process has a limit of 8 MiB.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <string>

namespace sn = sinter;

namespace {

/// What an error must name of a line of this file.
std::string at(const std::string &what, int line) {
  return what +
         " at tests/e2e/errors/OutOfMemoryTest.cpp:" + std::to_string(line);
}

/// The error of evaluating `x`, which must not fit.
std::string failure(const sn::Tensor &x) {
  try {
    x.eval();
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::out_of_memory);
    return error.what();
  }
  ADD_FAILURE() << "it fits";
  return {};
}

void expectHas(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
}

} // namespace

TEST(OutOfMemory, ListsTheLargestTensorsWithTheirLines) {
  if (sn::default_device() == sn::device("null"))
    GTEST_SKIP() << "the reference computes in memory of its own";
  int first = __LINE__ + 1;
  sn::Tensor a = sn::uniform({1024, 768}).eval(); // 3 MiB
  int second = __LINE__ + 1;
  sn::Tensor b = sn::tensor(std::vector<float>(1 << 19, 1.f), {1 << 19});
  sn::Tensor column = sn::slice(a, {0, 0}, {1024, 1}, {1, 1});
  int third = __LINE__ + 1;
  sn::Tensor c = sn::matmul(column, sn::transpose(column, {1, 0})); // 4 MiB
  std::string message = failure(c);
  expectHas(message, "cannot allocate 4194304 bytes, 5242880 are in use");
  expectHas(message, at("; the largest: 3145728 bytes of f32 made", first));
  expectHas(message, at(", 2097152 bytes of f32 made", second));
  expectHas(message, at("; the program's largest: 4194304 bytes of matmul "
                        "f32[1024,1024]",
                        third));

  // Nothing is lost, and with room the same value can be had.
  EXPECT_EQ(sn::sum(b).item<float>(), float(1 << 19));
  b = sn::zeros({1});
  c.eval();
  EXPECT_EQ(c.numel(), int64_t(1) << 20);
}

TEST(OutOfMemory, AStepThatDoesNotFitLaunchesNothing) {
  if (sn::default_device() == sn::device("null"))
    GTEST_SKIP() << "the reference computes in memory of its own";
  sn::nn::Linear model{256, 256};
  sn::optim::Adam adam;
  auto step = [&](int64_t rows) {
    sn::Tensor x = sn::ones({rows, 256});
    sn::Tensor hidden = sn::tanh(model(x));
    sn::Tensor loss = sn::mean(
        sn::exp(sn::matmul(hidden, sn::transpose(hidden, {1, 0})) * 0.01));
    adam.step(model, loss.backward());
    return loss.item<float>();
  };
  step(8);
  std::vector<float> before = model.weight.tensor().to_vector<float>();
  uint64_t launches = sn::stats().launches;
  try {
    step(4096); // its products alone are 64 MiB
    ADD_FAILURE() << "it fits";
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::out_of_memory) << error.what();
    expectHas(error.what(), "; the program's largest: ");
    expectHas(error.what(), "OutOfMemoryTest.cpp:");
  }
  EXPECT_EQ(sn::stats().launches, launches);
  EXPECT_EQ(model.weight.tensor().to_vector<float>(), before);
  step(8); // and it goes on
  EXPECT_NE(model.weight.tensor().to_vector<float>(), before);
}
