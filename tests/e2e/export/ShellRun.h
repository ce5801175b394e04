/// ShellRun: programs that a test starts.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace sinter::test {

/// What a program prints on both streams, run in a folder that has its cache;
/// `rc` must be its exit status.
inline std::string runIn(const std::filesystem::path &folder,
                         const std::string &command, int rc = 0) {
  std::string line = "cd '" + folder.string() +
                     "' && env SINTER_CACHE_DIR=cache " + command + " 2>&1";
  FILE *pipe = ::popen(line.c_str(), "r");
  std::string output;
  char buffer[512];
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), pipe))
    output.append(buffer, count);
  int status = ::pclose(pipe);
  EXPECT_EQ(WEXITSTATUS(status), rc) << command << "\n" << output;
  return output;
}

} // namespace sinter::test
