/// Log: who gets messages, when, and what a callback may do.
#include "sinter/runtime/Log.h"

#include "runtime/support/Flags.h"
#include "runtime/support/Sites.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace sinter;

namespace {
class LogTest : public testing::Test {
protected:
  void SetUp() override {
    setLog([this](LogLevel level, std::string_view text) {
      texts.push_back((level == LogLevel::warning ? "W " : "I ") +
                      std::string(text));
    });
  }
  void TearDown() override {
    setLog({});
    unsetenv("SINTER_LOG");
    reloadFlags();
  }
  std::vector<std::string> texts;
};
} // namespace

TEST_F(LogTest, WarningsAreCountedAndToldOnce) {
  uint64_t before = warningCount();
  logWarning("a disk is full");
  logWarning("a disk is full");
  log(LogLevel::info, "that took long");
  EXPECT_EQ(warningCount(), before + 2);
  EXPECT_EQ(texts,
            (std::vector<std::string>{"W a disk is full", "I that took long"}));
}

TEST_F(LogTest, WhatACallbackThrowsIsDropped) {
  setLog([](LogLevel, std::string_view) {
    throw std::runtime_error("no more room");
  });
  testing::internal::CaptureStderr();
  EXPECT_NO_THROW(log(LogLevel::warning, "one"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "sinter: warning: one\n");
  EXPECT_FALSE(isLogging());
}

TEST_F(LogTest, ACallbackMayLogAndInstallAnother) {
  testing::internal::CaptureStderr();
  setLog([this](LogLevel, std::string_view text) {
    EXPECT_TRUE(isLogging());
    logWarning("from within a callback");
    setLog(
        [this](LogLevel, std::string_view last) { texts.emplace_back(last); });
    texts.emplace_back(text);
  });
  log(LogLevel::info, "first");
  log(LogLevel::info, "second");
  EXPECT_EQ(texts, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "sinter: warning: from within a callback\n");
}

TEST_F(LogTest, MessagesWaitForTheEndOfAHold) {
  std::mutex mutex;
  setLog([&](LogLevel, std::string_view text) {
    std::lock_guard lock(mutex);
    texts.emplace_back(text);
  });
  {
    LogHold hold;
    LogHold another;
    std::lock_guard lock(mutex);
    log(LogLevel::info, "one");
    log(LogLevel::info, "two");
    EXPECT_TRUE(texts.empty());
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"one", "two"}));
}

TEST_F(LogTest, TheDefaultPrintsWhatTheVariableSays) {
  setLog({});
  auto printed = [](const char *least) {
    setenv("SINTER_LOG", least, 1);
    reloadFlags();
    testing::internal::CaptureStderr();
    log(LogLevel::info, "slow");
    log(LogLevel::warning, "odd");
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(printed("off"), "");
  EXPECT_EQ(printed("warning"), "sinter: warning: odd\n");
  EXPECT_EQ(printed("info"), "sinter: slow\nsinter: warning: odd\n");
  // No terminal.
  EXPECT_EQ(printed(""), "sinter: warning: odd\n");
}

TEST_F(LogTest, AWrongVariableIsAWarningOfTheCallback) {
  setenv("SINTER_LOG", "loud", 1);
  reloadFlags();
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0], "W SINTER_LOG: none of info, warning, off: loud");
}

TEST_F(LogTest, TellsWhatTookOverASecond) {
  LogLine line(internSite("train.cpp", 12));
  SlowNotice quick;
  quick.done([] { return std::string("nothing"); });
  EXPECT_TRUE(texts.empty());
  SlowNotice slow;
  std::this_thread::sleep_for(std::chrono::milliseconds(1050));
  slow.done([] { return std::string("thinking"); });
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_TRUE(texts[0].starts_with("I thinking took 1.")) << texts[0];
  EXPECT_TRUE(texts[0].ends_with(" s, for train.cpp:12")) << texts[0];
}

TEST_F(LogTest, ThreadsLogAndInstallAtOnce) {
  std::atomic<int> got{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        setLog([&](LogLevel, std::string_view) { ++got; });
        log(LogLevel::info, "x");
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GE(got, 800 - 4);
}
