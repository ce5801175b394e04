/// What the frontend's tests count: programs and flushes.
#pragma once

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

/// Programs that were compiled or came from disk so far.
inline uint64_t programsMade() {
  sinter::Stats stats = sinter::stats();
  return stats.compiles + stats.disk_hits;
}

/// Why programs were made, the last few.
inline std::string reasonsText() {
  std::string text;
  for (const sinter::Stats::Miss &miss : sinter::stats().misses)
    text += miss.flush + ": " + miss.reason + " (" + miss.site + ")\n";
  return text;
}

/// Flushes of a reason so far.
inline uint64_t flushesOf(std::string_view reason) {
  uint64_t count = 0;
  for (const sinter::Stats::Flush &flush : sinter::stats().flushes)
    if (flush.reason == reason)
      count += flush.count;
  return count;
}

/// Expects a sinter::Error of that kind whose text has `part` and a line of
/// this file.
template <typename F>
void expectError(sinter::ErrorKind kind, std::string_view part, F body,
                 std::source_location here = std::source_location::current()) {
  std::string file(here.file_name());
  file = file.substr(file.rfind('/') + 1);
  try {
    body();
    FAIL() << "no error where one was expected: " << part;
  } catch (const sinter::Error &error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos)
        << error.what();
    EXPECT_NE(error.site().find(file), std::string::npos) << error.what();
  }
}
