/// Listeners on a thread of their own hear what was said, in order.
#include <sinter/train/Events.h>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace sinter::train {

namespace {

struct Heard {
  size_t kind = 0;
  StepEnd step;
  std::vector<Value> values;
  std::string text;
};

/// Remembers everything, and where it was called.
class Recorder : public Listener {
public:
  void on(const Event &event) override {
    while (isHeld)
      std::this_thread::yield();
    Heard heard;
    heard.kind = event.index();
    if (const auto *step = std::get_if<StepEnd>(&event)) {
      heard.step = *step;
      heard.values.assign(step->values.begin(), step->values.end());
    } else if (const auto *epoch = std::get_if<EpochEnd>(&event)) {
      heard.values.assign(epoch->values.begin(), epoch->values.end());
    } else if (const auto *message = std::get_if<Message>(&event)) {
      heard.text = message->text;
    }
    all.push_back(std::move(heard));
    thread = std::this_thread::get_id();
  }
  void flush() override { ++flushes; }

  std::atomic<bool> isHeld = false;
  std::vector<Heard> all;
  std::thread::id thread;
  int flushes = 0;
};

class Broken : public Listener {
public:
  void on(const Event &) override { throw std::runtime_error("disk full"); }
};

} // namespace

TEST(Background, EverythingInOrderWithItsValues) {
  auto recorder = std::make_shared<Recorder>();
  Background background(recorder);
  std::vector<Value> two(2), one(1);
  two[0].name = "Loss";
  two[1].name = one[0].name = "Accuracy";
  constexpr int64_t count = 1000;
  for (int64_t step = 1; step <= count; ++step) {
    // Meanings, counts and places change now and then.
    std::vector<Value> &values = step % 100 < 50 ? two : one;
    values[0].value = double(step) / 3;
    values.back().items = uint64_t(step / 10);
    background.on(StepEnd{.split = step % 70 == 0 ? Split::valid : Split::train,
                          .epoch = 1 + step / 200,
                          .step = step,
                          .steps = count,
                          .total_step = step,
                          .items = uint64_t(step % 3),
                          .values = step % 9 == 0
                                        ? std::span<const Value>()
                                        : std::span<const Value>(values),
                          .time = double(step)});
    if (step % 250 == 0) {
      background.on(Message{.text = std::to_string(step)});
      background.on(EpochEnd{.values = values});
    }
  }
  background.on(RunEnd{});
  ASSERT_EQ(recorder->all.size(), size_t(count + 4 + 4 + 1));
  EXPECT_EQ(recorder->flushes, 1);
  EXPECT_NE(recorder->thread, std::this_thread::get_id());
  int64_t step = 0;
  for (const Heard &heard : recorder->all) {
    if (heard.kind != Event(StepEnd{}).index())
      continue;
    ++step;
    EXPECT_EQ(heard.step.step, step);
    EXPECT_EQ(heard.step.total_step, step);
    EXPECT_EQ(heard.step.epoch, 1 + step / 200);
    EXPECT_EQ(heard.step.split, step % 70 == 0 ? Split::valid : Split::train);
    EXPECT_EQ(heard.step.items, uint64_t(step % 3));
    EXPECT_EQ(heard.step.time, double(step));
    size_t values = step % 9 == 0 ? 0 : step % 100 < 50 ? 2 : 1;
    ASSERT_EQ(heard.values.size(), values) << step;
    if (values == 0)
      continue;
    EXPECT_EQ(heard.values[0].value, double(step) / 3);
    EXPECT_EQ(heard.values[0].name, values == 2 ? "Loss" : "Accuracy");
    EXPECT_EQ(heard.values.back().items, uint64_t(step / 10));
  }
  EXPECT_EQ(step, count);
}

TEST(Background, FlushWaitsUntilEverythingWasTold) {
  auto recorder = std::make_shared<Recorder>();
  Background background(recorder);
  background.flush(); // nothing was told: no thread, no wait
  for (int round = 1; round <= 5; ++round) {
    background.on(Message{.text = "a line"});
    background.flush();
    EXPECT_EQ(recorder->all.size(), size_t(round));
    EXPECT_EQ(recorder->flushes, round);
  }
}

TEST(Background, EndOfTheObjectTellsTheRest) {
  auto recorder = std::make_shared<Recorder>();
  {
    Background background(recorder);
    for (int step = 0; step < 100; ++step)
      background.on(StepEnd{});
  }
  EXPECT_EQ(recorder->all.size(), 100u);
}

TEST(Background, SkipsStepsWhereNobodyTakesThem) {
  auto recorder = std::make_shared<Recorder>();
  recorder->isHeld = true;
  Background background({.limit = 1000, .may_skip = true});
  background.add(recorder);
  for (int step = 0; step < 100'000; ++step)
    background.on(StepEnd{});
  background.on(Message{.text = "kept"});
  recorder->isHeld = false;
  background.on(RunEnd{});
  EXPECT_LT(recorder->all.size(), 10'000u);
  ASSERT_GE(recorder->all.size(), 2u);
  EXPECT_EQ(recorder->all[recorder->all.size() - 2].text, "kept");
}

TEST(Background, WaitsWhereNothingMayBeLeftOut) {
  auto recorder = std::make_shared<Recorder>();
  Background background({.limit = 1000, .may_skip = false});
  background.add(recorder);
  for (int step = 0; step < 20'000; ++step)
    background.on(StepEnd{});
  background.on(RunEnd{});
  EXPECT_EQ(recorder->all.size(), 20'001u);
}

TEST(Background, FailureThereIsToldToAllOnce) {
  auto recorder = std::make_shared<Recorder>();
  auto background = std::make_shared<Background>(std::make_shared<Broken>());
  background->add(recorder);
  Listeners listeners;
  listeners.add(background);
  listeners.on(RunBegin{});
  listeners.flush();
  listeners.on(StepEnd{});
  listeners.on(RunEnd{});
  ASSERT_EQ(listeners.failures().size(), 1u);
  EXPECT_NE(listeners.failures()[0].find("disk full"), std::string::npos);
  int told = 0;
  for (const Heard &heard : recorder->all)
    told += heard.text.find("disk full") != std::string::npos;
  EXPECT_EQ(told, 1);
}

} // namespace sinter::train
