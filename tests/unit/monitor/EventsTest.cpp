/// The stream of events, and listeners that fail.
#include <sinter/train/Events.h>

#include <sinter/Error.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace sinter::train {

namespace {

/// Remembers messages; throws at the event of that number, from 0.
class Witness : public Listener {
public:
  explicit Witness(int fault = -1) : fault(fault) {}

  void on(const Event &event) override {
    if (count++ == fault)
      throw std::runtime_error("no space left");
    if (const auto *message = std::get_if<Message>(&event))
      messages.push_back(message->text);
  }

  int fault, count = 0;
  std::vector<std::string> messages;
};

} // namespace

TEST(Events, FailingListenerEndsNothingAndIsReportedOnce) {
  Listeners listeners;
  auto first = std::make_shared<Witness>(), bad = std::make_shared<Witness>(1),
       last = std::make_shared<Witness>();
  for (auto &each : {first, bad, last})
    listeners.add(each);
  for (int step = 0; step < 5; ++step)
    listeners.on(StepEnd{});
  EXPECT_EQ(bad->count, 2); // not called again
  for (auto &each : {first, last}) {
    EXPECT_EQ(each->count, 6);
    ASSERT_EQ(each->messages.size(), 1u);
    EXPECT_NE(each->messages[0].find("no space left"), std::string::npos);
  }
  EXPECT_EQ(listeners.failures().size(), 1u);
}

TEST(Events, TellingOfAFailureMayBeTheNextFailure) {
  Listeners listeners;
  listeners.add(std::make_shared<Witness>(0));
  listeners.add(std::make_shared<Witness>(1)); // at the message
  auto last = std::make_shared<Witness>();
  listeners.add(last);
  listeners.on(StepEnd{});
  EXPECT_EQ(listeners.failures().size(), 2u);
  EXPECT_EQ(last->messages.size(), 2u);
  EXPECT_FALSE(listeners.empty());
}

TEST(Events, NothingListens) {
  Listeners listeners;
  EXPECT_TRUE(listeners.empty());
  listeners.on(RunBegin{});
  listeners.flush();
  EXPECT_THROW(listeners.add(nullptr), Error);
}

TEST(Events, HistogramCountsFiniteNumbers) {
  float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  std::vector<float> numbers = {0, 1, 2, 3, 4, nan, infinity, -infinity};
  Histogram made = histogram_of("w", 7, numbers, 4);
  EXPECT_EQ(made.count, 5u);
  EXPECT_EQ(made.minimum, 0);
  EXPECT_EQ(made.maximum, 4);
  EXPECT_EQ(made.sum, 10);
  EXPECT_EQ(made.sum_of_squares, 30);
  EXPECT_EQ(made.limits, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(made.counts, (std::vector<double>{2, 1, 1, 1}));
}

TEST(Events, HistogramsOfOneNumberAndOfNone) {
  std::vector<float> same(3, 2.5f);
  Histogram one = histogram_of("w", 0, same);
  EXPECT_EQ(one.limits, std::vector<double>{2.5});
  EXPECT_EQ(one.counts, std::vector<double>{3});
  EXPECT_TRUE(histogram_of("w", 0, {}).counts.empty());
  EXPECT_THROW(histogram_of("w", 0, same, 0), Error);
}

TEST(Events, Names) {
  EXPECT_EQ(to_string(Split::valid), "valid");
  EXPECT_EQ(to_string(Level::warning), "warning");
  EXPECT_EQ(to_string(Status::interrupted), "interrupted");
  EXPECT_EQ(to_string(Role::learning_rate), "learning_rate");
  EXPECT_EQ(to_string(Better::higher), "higher");
}

} // namespace sinter::train
