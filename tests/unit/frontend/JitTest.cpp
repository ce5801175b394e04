/// jit: what is recorded once and repeated, and what cannot be.
#include "tests/unit/frontend/Counting.h"

#include <sinter/generated/functions/Elementwise.h>

#include <thread>

namespace sn = sinter;
using sn::nn::Linear;
using Values = std::vector<float>;

namespace {

struct Net {
  Linear fc1{4, 8}, fc2{8, 2};
  sn::nn::BatchNorm1d norm{8};
  sn::nn::Dropout dropout{0.25};
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(dropout(norm(sn::relu(fc1(x)))));
  }
  SINTER_MODULE(Net, fc1, fc2, norm, dropout)
};

struct Weight {
  sn::Param w{sn::tensor({1.f, 2.f}), "w"};
  double rate = 0.5;
  SINTER_MODULE(Weight, w, rate)
};

struct Batch {
  sn::Tensor x, y;
  SINTER_MODULE(Batch, x, y)
};

struct Memory {
  sn::Tensor state = sn::zeros({2});
  SINTER_MODULE(Memory, state)
};

Values valuesOf(const sn::Param &param) {
  return param.tensor().to_vector<float>();
}

sn::Tensor batchOf(int step) {
  return sn::arange(0, 24).to(sn::DType::f32).reshape({6, 4}) * 0.1 -
         sn::scalar(0.3 * step);
}

/// Ones, with a symbolic number of rows.
sn::Tensor rowsOf(int64_t rows, int64_t columns) {
  Values values(rows * columns, 1);
  return sn::tensor(values, {rows, columns}).dynamic(0);
}

} // namespace

TEST(Jit, CallsTheFunctionOnce) {
  int calls = 0;
  auto f = sn::jit([&](const sn::Tensor &x, const sn::Tensor &y) {
    ++calls;
    return sn::exp(x) * y + 1;
  });
  for (int i = 0; i < 4; ++i) {
    sn::Tensor x = sn::tensor({0.f, float(i)}), y = sn::tensor({2.f, 3.f});
    EXPECT_EQ(f(x, y).to_vector<float>(),
              (sn::exp(x) * y + 1).to_vector<float>());
  }
  EXPECT_EQ(calls, 1);
}

TEST(Jit, RepeatsCompileNothing) {
  auto f = sn::jit([](const sn::Tensor &x) { return sn::sum(sn::sin(x) * 3); });
  f(sn::tensor({1.f, 2.f, 3.f})).eval();
  uint64_t before = programsMade();
  for (int i = 0; i < 3; ++i)
    f(sn::tensor({1.f, 2.f, float(i)})).eval();
  EXPECT_EQ(programsMade(), before);
}

TEST(Jit, OtherShapesAreRecordedAnew) {
  int calls = 0;
  auto f = sn::jit([&](const sn::Tensor &x) {
    ++calls;
    return sn::sum(x);
  });
  EXPECT_EQ(f(sn::ones({2})).item<float>(), 2);
  EXPECT_EQ(f(sn::ones({3})).item<float>(), 3);
  EXPECT_EQ(f(sn::ones({2})).item<float>(), 2);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(f(sn::ones({2}, {.dtype = sn::DType::f64})).dtype(),
            sn::DType::f64);
  EXPECT_EQ(calls, 3);
}

TEST(Jit, OneProgramServesEverySizeOfASymbolicAxis) {
  auto f = sn::jit([](const sn::Tensor &x) { return sn::sum(x * x, 1); });
  auto call = [&](int64_t rows) {
    return f(rowsOf(rows, 3)).to_vector<float>();
  };
  EXPECT_EQ(call(2), Values(2, 3));
  uint64_t before = programsMade();
  EXPECT_EQ(call(5), Values(5, 3));
  EXPECT_EQ(call(7), Values(7, 3));
  EXPECT_EQ(programsMade(), before);
}

TEST(Jit, NumbersAndStringsAreArguments) {
  int calls = 0;
  auto f = sn::jit([&](const sn::Tensor &x, double factor, std::string how) {
    ++calls;
    return how == "double" ? x * factor * 2 : x * factor;
  });
  sn::Tensor x = sn::tensor({1.f, 2.f});
  EXPECT_EQ(f(x, 3.0, std::string("plain")).to_vector<float>()[1], 6);
  EXPECT_EQ(f(x, 5.0, std::string("plain")).to_vector<float>()[1], 10);
  EXPECT_EQ(f(x, 5.0, std::string("double")).to_vector<float>()[1], 20);
  EXPECT_EQ(f(x, 3.0, std::string("plain")).to_vector<float>()[1], 6);
  EXPECT_EQ(calls, 3);
}

TEST(Jit, StructsAndContainersInAndOut) {
  auto f = sn::jit([](const Batch &batch, const std::vector<sn::Tensor> &more) {
    Batch swapped{batch.y, batch.x};
    return std::pair(swapped, std::vector{more[1], more[0] + batch.x});
  });
  for (float value : {1.f, 2.f}) {
    Batch batch{sn::tensor({value}), sn::tensor({10.f})};
    auto [swapped, more] =
        f(batch, std::vector{sn::tensor({100.f}), sn::tensor({1000.f})});
    EXPECT_EQ(swapped.y.item<float>(), value);
    EXPECT_EQ(more[0].item<float>(), 1000);
    EXPECT_EQ(more[1].item<float>(), 100 + value);
  }
}

TEST(Jit, OneTensorPassedTwiceIsOne) {
  auto f = sn::jit(
      [](const sn::Tensor &a, const sn::Tensor &b) { return sn::sum(a * b); });
  sn::Tensor x = sn::tensor({3.f}).require_grad();
  sn::Tensor y = sn::tensor({5.f}).require_grad();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(f(x, x).backward()(x).item<float>(), 6);
    EXPECT_EQ(f(x, y).backward()(x).item<float>(), 5);
  }
}

TEST(Jit, HiddenParametersAreInputs) {
  Weight model;
  auto f = sn::jit([&](const sn::Tensor &x) { return model.w * x; });
  sn::Tensor x = sn::tensor({10.f, 10.f});
  EXPECT_EQ(f(x).to_vector<float>(), (Values{10, 20}));
  model.w.set(model.w.tensor() + 1); // pending
  EXPECT_EQ(f(x).to_vector<float>(), (Values{20, 30}));
  model.w.set(sn::tensor({5.f, 5.f}));
  EXPECT_EQ(f(x).to_vector<float>(), (Values{50, 50}));
}

TEST(Jit, HiddenTensorsAreInputs) {
  sn::Tensor outer = sn::tensor({1.f, 2.f});
  sn::Tensor pending = outer * 10;
  auto f = sn::jit([&](const sn::Tensor &x) { return x + outer + pending; });
  for (float value : {1.f, 2.f})
    EXPECT_EQ(f(sn::tensor({value, value})).to_vector<float>(),
              (Values{11 + value, 22 + value}));
}

TEST(Jit, AHiddenOldValueOfAParameterIsKept) {
  sn::Param w(sn::tensor({1.f, 2.f}), "w");
  sn::Tensor old = w.tensor();
  auto f = sn::jit([old](const sn::Tensor &x) { return x + old; });
  old = sn::Tensor();
  sn::Tensor zero = sn::zeros({2});
  EXPECT_EQ(f(zero).to_vector<float>(), (Values{1, 2}));
  w.set(w.tensor() * 7);
  EXPECT_EQ(valuesOf(w), (Values{7, 14}));
  EXPECT_EQ(f(zero).to_vector<float>(), (Values{1, 2}));
}

TEST(Jit, AssignmentsToParametersAreOutputs) {
  sn::Param hidden(sn::tensor({1.f}), "hidden");
  auto f = sn::jit([&](Weight &model, const sn::Tensor &x) {
    model.w.set(model.w.tensor() * model.rate);
    hidden.set(hidden.tensor() + 1);
    hidden.set(hidden.tensor() * 2); // of the value just assigned
    return model.w.tensor() + x;
  });
  Weight a, b;
  sn::Tensor zero = sn::zeros({2});
  EXPECT_EQ(f(a, zero).to_vector<float>(), (Values{.5f, 1}));
  EXPECT_EQ(valuesOf(a.w), (Values{.5f, 1}));
  EXPECT_EQ(valuesOf(hidden), (Values{4}));
  EXPECT_EQ(f(b, zero).to_vector<float>(), (Values{.5f, 1}));
  EXPECT_EQ(f(b, zero).to_vector<float>(), (Values{.25f, .5f}));
  EXPECT_EQ(valuesOf(a.w), (Values{.5f, 1})) << "the other one's";
  EXPECT_EQ(valuesOf(b.w), (Values{.25f, .5f}));
  EXPECT_EQ(valuesOf(hidden), (Values{22}));
}

TEST(Jit, AssignmentsToTensorsOfArgumentsAreOutputs) {
  auto f = sn::jit([](Memory &memory, const sn::Tensor &x) {
    memory.state = memory.state * 0.5 + x;
    return sn::sum(memory.state);
  });
  Memory memory;
  sn::Tensor x = sn::tensor({1.f, 2.f});
  EXPECT_EQ(f(memory, x).item<float>(), 3);
  EXPECT_EQ(f(memory, x).item<float>(), 4.5f);
  EXPECT_EQ(memory.state.to_vector<float>(), (Values{1.5f, 3}));
}

TEST(Jit, TrainingStepsAreTheSameBits) {
  auto train = [](bool jitted) {
    sn::manual_seed(5);
    Net model;
    sn::optim::Adam adam({.lr = 0.01});
    auto step = [&](Net &net, const sn::Tensor &x) {
      sn::Tensor loss = sn::mean(net(x) * net.fc2.bias);
      adam.step(net, loss.backward());
      return loss;
    };
    auto fast = sn::jit(step);
    Values losses;
    for (int i = 0; i < 5; ++i) {
      adam.set_lr(0.01 / (i + 1)); // the rate is this call's
      sn::Tensor x = batchOf(i);
      losses.push_back(
          (jitted ? fast(model, x) : step(model, x)).item<float>());
    }
    Values weights = valuesOf(model.fc1.weight);
    losses.insert(losses.end(), weights.begin(), weights.end());
    Values statistics = valuesOf(model.norm.running_var);
    losses.insert(losses.end(), statistics.begin(), statistics.end());
    return losses;
  };
  EXPECT_EQ(train(true), train(false));
}

TEST(Jit, StepsRunTheProgramsThatTheyRunWithoutIt) {
  auto programsOf = [](bool jitted) {
    sn::manual_seed(5);
    Net model;
    sn::optim::Sgd sgd({.lr = 0.25});
    auto step = [&](Net &net, const sn::Tensor &x) {
      sn::Tensor loss = sn::sum(net(x) * net(x));
      sgd.step(net, loss.backward());
      return loss;
    };
    auto fast = sn::jit(step);
    auto run = [&](int i) {
      sn::Tensor x = batchOf(i);
      (jitted ? fast(model, x) : step(model, x)).eval();
    };
    run(0);
    sn::Stats before = sn::stats();
    for (int i = 1; i < 4; ++i)
      run(i);
    sn::Stats after = sn::stats();
    return std::array{after.programs_run - before.programs_run,
                      after.donations_refused - before.donations_refused};
  };
  EXPECT_EQ(programsOf(true), programsOf(false));
  EXPECT_EQ(programsOf(true)[0], 3u);
}

TEST(Jit, RunningStatisticsRunNoProgramOfTheirOwn) {
  auto programsOf = [](bool jitted) {
    sn::nn::BatchNorm1d model(4);
    auto twice = [](const sn::nn::BatchNorm1d &norm, const sn::Tensor &x) {
      return sn::sum(norm(x) * norm(x));
    };
    auto fast = sn::jit(twice);
    uint64_t before = 0;
    for (int i = 0; i < 3; ++i) {
      sn::Tensor x = batchOf(i);
      (jitted ? fast(model, x) : twice(model, x)).eval();
      if (i == 0)
        before = sn::stats().programs_run;
    }
    uint64_t programs = sn::stats().programs_run - before;
    EXPECT_EQ(model.num_batches_tracked.tensor().item<int64_t>(), 6);
    return programs;
  };
  EXPECT_EQ(programsOf(true), programsOf(false));
}

TEST(Jit, ReadingAStepsResultInTheFunction) {
  Weight model;
  sn::optim::Sgd sgd({.lr = 0.25});
  auto step = sn::jit([&](Weight &net) {
    sgd.step(net, sn::sum(net.w * net.w).backward());
    return net.w.tensor() * 10;
  });
  EXPECT_EQ(step(model).to_vector<float>(), (Values{5, 10}));
  EXPECT_EQ(step(model).to_vector<float>(), (Values{2.5f, 5}));
}

TEST(Jit, GradientsComeOut) {
  auto f = sn::jit([](const Weight &model, const sn::Tensor &x) {
    return sn::sum(model.w * x).backward();
  });
  Weight a, b;
  sn::Tensor x = sn::tensor({3.f, 4.f}).require_grad();
  EXPECT_EQ(f(a, x)(a.w).to_vector<float>(), (Values{3, 4}));
  sn::Gradients grads = f(b, x);
  EXPECT_EQ(grads.size(), 2u);
  EXPECT_EQ(grads(b.w).to_vector<float>(), (Values{3, 4}));
  EXPECT_EQ(grads(x).to_vector<float>(), (Values{1, 2}));
  EXPECT_FALSE(grads.contains(a.w));
  sn::Tensor z = sn::tensor({30.f, 40.f}).require_grad();
  EXPECT_EQ(f(b, z)(b.w).to_vector<float>(), (Values{30, 40}));
}

TEST(Jit, ModulesComeOut) {
  auto f = sn::jit([](const Weight &model) {
    return model.map([](const std::string &, const sn::Param &param) {
      return param.map([](const sn::Tensor &x) { return x * 2; });
    });
  });
  Weight a, b;
  b.w.set(sn::tensor({7.f, 8.f}));
  EXPECT_EQ(valuesOf(f(a).w), (Values{2, 4}));
  Weight doubled = f(b);
  EXPECT_EQ(valuesOf(doubled.w), (Values{14, 16}));
  EXPECT_EQ(valuesOf(b.w), (Values{7, 8}));
  EXPECT_TRUE(doubled.w.requires_grad());
  doubled.w.set(doubled.w.tensor() + 1);
  EXPECT_EQ(valuesOf(doubled.w), (Values{15, 17}));
  EXPECT_EQ(valuesOf(f(b).w), (Values{14, 16}));
}

TEST(Jit, ACopyThatTheFunctionChangesIsItsOwn) {
  auto f = sn::jit([](const Weight &model) {
    Weight copy = model;
    copy.w.set(copy.w.tensor() + 1);
    return copy;
  });
  Weight model;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(valuesOf(f(model).w), (Values{2, 3}));
  EXPECT_EQ(valuesOf(model.w), (Values{1, 2}));
}

TEST(Jit, ModulesThatComeOutKeepTheirTies) {
  auto f = sn::jit([](const std::pair<Weight, Weight> &models) {
    std::pair<Weight, Weight> copy = models;
    copy.second.w.tie(copy.first.w);
    copy.first.w.set(copy.second.w.tensor() * 3);
    return copy;
  });
  for (int i = 0; i < 2; ++i) {
    auto [a, b] = f(std::pair<Weight, Weight>());
    EXPECT_EQ(a.w.cell(), b.w.cell());
    EXPECT_EQ(valuesOf(b.w), (Values{3, 6}));
  }
}

TEST(Jit, GradientsFlowThroughIt) {
  Weight model;
  auto f = sn::jit(
      [](const Weight &net, const sn::Tensor &x) { return net.w * x * x; });
  for (int i = 0; i < 2; ++i) {
    sn::Tensor x = sn::tensor({3.f, 4.f}).require_grad();
    sn::Gradients grads = sn::sum(f(model, x) * 2).backward();
    EXPECT_EQ(grads(model.w).to_vector<float>(), (Values{18, 32}));
    EXPECT_EQ(grads(x).to_vector<float>(), (Values{12, 32}));
    sn::no_grad guard;
    EXPECT_FALSE(f(model, x).requires_grad());
  }
}

TEST(Jit, RandomNumbersGoOn) {
  auto draw = [] { return sn::uniform({5}); };
  auto f = sn::jit(draw);
  sn::manual_seed(11);
  Values plain = draw().to_vector<float>(), next = draw().to_vector<float>();
  sn::manual_seed(11);
  EXPECT_EQ(f().to_vector<float>(), plain);
  EXPECT_EQ(f().to_vector<float>(), next);
  sn::manual_seed(11);
  EXPECT_EQ(f().to_vector<float>(), plain);
}

TEST(Jit, ReadingAValueIsAnErrorWithItsLine) {
  unsigned line = __LINE__ + 1;
  auto f = sn::jit([](const sn::Tensor &x) { return x * x.item<float>(); });
  try {
    f(sn::tensor({2.f}));
    FAIL();
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument);
    EXPECT_NE(error.message().find("reads a value"), std::string::npos);
    EXPECT_NE(error.site().find("JitTest.cpp:" + std::to_string(line)),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ((sn::tensor({2.f}) * 2).item<float>(), 4) << "and it is over";
}

TEST(Jit, WhatCannotBeRepeatedIsAnError) {
  sn::Generator own(3);
  auto draws = sn::jit([&] { return sn::uniform({2}, own); });
  expectError(sn::ErrorKind::invalid_argument, "generator of its own",
              [&] { draws(); });
  auto makes = sn::jit([](const sn::Tensor &x) { return Linear(2, 2)(x); });
  expectError(sn::ErrorKind::invalid_argument, "makes the parameter 'weight'",
              [&] { makes(sn::ones({1, 2})); });
  auto changes = sn::jit([](Net &net) {
    net.eval();
    return net.fc1.bias.tensor();
  });
  Net net;
  expectError(sn::ErrorKind::invalid_argument, "more of its arguments",
              [&] { changes(net); });
  auto replaces = sn::jit(
      [](Weight &model) { model.w = sn::Param(model.w.tensor() * 2, "w"); });
  Weight model;
  auto takes = sn::jit([](const sn::Gradients &) {});
  expectError(sn::ErrorKind::invalid_argument, "can only be results",
              [&] { takes(sn::sum(model.w * 2).backward()); });
  expectError(sn::ErrorKind::invalid_argument, "which parameter '0.w' is",
              [&] { replaces(model); });
  auto assigns = sn::jit([](Weight &net) { net.w.set(sn::ones({3})); });
  expectError(sn::ErrorKind::invalid_argument, "assigns f32[3] to 'w'",
              [&] { assigns(model); });
}

TEST(Jit, StrictRefusesOtherArguments) {
  auto f = sn::jit([](const sn::Tensor &x, int times) { return x * times; },
                   {.strict = true});
  EXPECT_EQ(f(rowsOf(2, 3), 2).numel(), 6);
  EXPECT_EQ(f(rowsOf(4, 3), 2).numel(), 12) << "the axis is symbolic";
  expectError(sn::ErrorKind::invalid_argument, "a number differs",
              [&] { f(rowsOf(2, 3), 3); });
  expectError(sn::ErrorKind::invalid_argument, "f32[s,s]",
              [&] { f(rowsOf(2, 4), 2); });
}

TEST(Jit, OneInAnother) {
  Weight model;
  auto inner = sn::jit([&](const sn::Tensor &x) {
    model.w.set(model.w.tensor() + 1);
    return model.w * x + sn::uniform({2});
  });
  auto outer = sn::jit([&](const sn::Tensor &x) { return inner(x) * 2; });
  sn::Tensor zero = sn::zeros({2});
  sn::manual_seed(2);
  Values first = outer(zero).to_vector<float>();
  Values second = outer(zero).to_vector<float>();
  sn::manual_seed(2);
  EXPECT_EQ((sn::uniform({2}) * 2).to_vector<float>(), first);
  EXPECT_EQ((sn::uniform({2}) * 2).to_vector<float>(), second);
  EXPECT_EQ(valuesOf(model.w), (Values{3, 4}));
}

TEST(Jit, LoopsOverSteps) {
  auto f = sn::jit([](const sn::Tensor &xs) {
    sn::ScanResult result = sn::scan(
        [](std::span<const sn::Tensor> carries,
           std::span<const sn::Tensor> slices) -> sn::ScanStep {
          sn::Tensor next = carries[0] * 0.5 + slices[0];
          return {{next}, {next}};
        },
        {sn::zeros({2})}, {xs});
    return result.carries[0];
  });
  sn::Tensor a = f(sn::ones({3, 2})), b = f(sn::ones({3, 2}) * 2);
  EXPECT_EQ((a + b).to_vector<float>(), Values(2, 5.25f));
}

TEST(Jit, HooksAndGradientsOfTheUsersAreRepeated) {
  auto straight = sn::custom_gradient(
      [](std::span<const sn::Tensor> inputs) { return sn::round(inputs[0]); },
      [](const sn::CustomContext &context) {
        return std::vector{context.gradient * 3};
      });
  auto f = sn::jit([&](const sn::Tensor &x) { return sn::sum(straight({x})); });
  for (int i = 0; i < 2; ++i) {
    sn::Tensor x = sn::tensor({0.4f, 1.7f}).require_grad();
    EXPECT_EQ(f(x).backward()(x).to_vector<float>(), (Values{3, 3}));
  }
}

TEST(Jit, ManyThreadsCallIt) {
  Weight model;
  std::atomic<int> calls = 0;
  auto f = sn::jit([&](const sn::Tensor &x) {
    ++calls;
    return sn::sum(model.w * x);
  });
  sn::DeviceId device = sn::default_device();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      sn::set_default_device(device);
      for (int i = 0; i < 20; ++i) {
        float value = float(thread * 100 + i);
        EXPECT_EQ(f(sn::tensor({value, 1.f})).item<float>(), value + 2);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(calls, 1);
}
