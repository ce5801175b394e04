/// Many threads record, compile, evaluate and train at once.
#include "frontend/LiveHandles.h"
#include "tests/unit/frontend/Counting.h"

#include <sinter/Param.h>

#include <functional>
#include <thread>

namespace sn = sinter;
using Values = std::vector<float>;

static void inThreads(int count, const std::function<void(int)> &body) {
  sn::DeviceId device = sn::default_device();
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      sn::set_default_device(device);
      body(i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Threads, RecordCompileAndEvaluate) {
  sn::Tensor shared = sn::tensor({1.f, 2.f, 3.f});
  inThreads(8, [&](int thread) {
    for (int i = 0; i < 20; ++i) {
      sn::Tensor y = shared;
      for (int depth = 0; depth < thread % 4; ++depth)
        y = y * 2.0 + shared * sn::scalar(i);
      float expected = 1;
      for (int depth = 0; depth < thread % 4; ++depth)
        expected = expected * 2 + static_cast<float>(i);
      EXPECT_EQ((y + 0.0).to_vector<float>()[0], expected);
    }
  });
}

static size_t countHandles() {
  size_t count = 0;
  sn::detail::LiveHandles::forEach(
      [&](const sn::graph::NodeRef &) { ++count; });
  return count;
}

TEST(Threads, ReleaseWhatAnotherThreadRecorded) {
  size_t before = countHandles();
  for (int round = 0; round < 4; ++round) {
    std::vector<sn::Tensor> made;
    sn::Tensor x = sn::tensor({1.f, 2.f});
    for (int i = 0; i < 2000; ++i)
      made.push_back(x + x);
    EXPECT_EQ(countHandles(), before + made.size() + 1);
    std::thread([taken = std::move(made)]() mutable { taken.clear(); }).join();
    EXPECT_EQ(countHandles(), before + 1);
  }
  EXPECT_EQ(countHandles(), before);
}

TEST(Threads, EvaluateTheSamePendingTensor) {
  for (int round = 0; round < 20; ++round) {
    sn::Tensor x = sn::tensor({1.f, 2.f});
    sn::Tensor y = sn::exp(x * 0.0) + x;
    sn::Tensor z = y * y;
    inThreads(8, [&](int thread) {
      EXPECT_EQ((thread % 2 ? y : z).to_vector<float>()[1],
                thread % 2 ? 3.f : 9.f);
    });
  }
}

TEST(Threads, TrainModelsOfTheirOwn) {
  inThreads(8, [](int thread) {
    sn::Param w(sn::tensor({static_cast<float>(thread), 1.f}), "w");
    for (int step = 0; step < 10; ++step) {
      sn::Tensor loss = sn::sum(w * w);
      sn::Gradients grads = loss.backward();
      sn::no_grad guard;
      w.set(w - grads(w) * sn::scalar(0.25));
      loss.item<float>();
    }
    EXPECT_EQ(w.tensor().to_vector<float>(),
              (Values{static_cast<float>(thread) / 1024, 1.f / 1024}));
  });
}

TEST(Threads, ReadWhileOneTrains) {
  sn::Param w(sn::tensor({1.f, 1.f}), "w");
  std::atomic<bool> done = false;
  inThreads(4, [&](int thread) {
    if (thread == 0) {
      for (int step = 0; step < 50; ++step) {
        sn::no_grad guard;
        w.set(w * sn::scalar(2.0) - w);
        w.tensor().eval();
      }
      done = true;
      return;
    }
    while (!done)
      EXPECT_EQ((w + w).to_vector<float>(), (Values{2, 2}));
  });
}

TEST(Threads, ShareOneLazyInitialization) {
  for (int round = 0; round < 10; ++round) {
    sn::Param w("w", {64}, sn::init::uniform(-1, 1));
    std::vector<sn::Param> copies(8, w);
    std::vector<Values> values(8);
    inThreads(8, [&](int thread) {
      values[thread] = copies[thread].tensor().to_vector<float>();
    });
    for (const Values &each : values)
      EXPECT_EQ(each, values[0]);
  }
}

TEST(Threads, BackwardOnSharedLeaves) {
  sn::Param w(sn::tensor({2.f}), "w");
  inThreads(8, [&](int) {
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(sn::sum(w * w).backward()(w).item<float>(), 4.f);
  });
}
