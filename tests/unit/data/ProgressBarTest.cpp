/// The progress bar: what it draws on a terminal, and nothing elsewhere.
#include <sinter/data/ProgressBar.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <unistd.h>

using sinter::data::ProgressBar;

namespace {

/// A terminal of the test's own.
class Terminal {
public:
  Terminal() : master(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (master >= 0 && ::grantpt(master) == 0 && ::unlockpt(master) == 0)
      stream = std::fopen(::ptsname(master), "r+");
  }
  ~Terminal() {
    if (stream)
      std::fclose(stream);
    ::close(master);
  }

  /// What was written since the last call.
  std::string text() const {
    std::string all;
    char buffer[4096];
    pollfd waiting{master, POLLIN, 0};
    while (::poll(&waiting, 1, 100) == 1) {
      ssize_t count = ::read(master, buffer, sizeof(buffer));
      if (count <= 0)
        break;
      all.append(buffer, static_cast<size_t>(count));
    }
    return all;
  }

  int master;
  std::FILE *stream = nullptr;
};

} // namespace

TEST(ProgressBar, DrawsOnATerminalAndWipesTheLine) {
  Terminal terminal;
  if (!terminal.stream)
    GTEST_SKIP() << "there are no terminals here";
  {
    ProgressBar bar("seed 1", 3, terminal.stream);
    bar.show(1, "loss 0.5");
    EXPECT_EQ(terminal.text(),
              "\rseed 1 [==========>                   ] loss 0.5\033[K");
    bar.show(3, "done");
    EXPECT_EQ(terminal.text(),
              "\rseed 1 [" + std::string(30, '=') + "] done\033[K");
  }
  EXPECT_EQ(terminal.text(), "\r\033[K");
}

TEST(ProgressBar, DrawsSeldomButTheEndAlways) {
  Terminal terminal;
  if (!terminal.stream)
    GTEST_SKIP() << "there are no terminals here";
  ProgressBar bar("", 100000, terminal.stream);
  for (int step = 1; step <= 100000; ++step)
    bar.show(step);
  std::string text = terminal.text();
  EXPECT_LT(text.size(), 50000u);
  EXPECT_NE(text.find(std::string(30, '=')), std::string::npos);
}

TEST(ProgressBar, WritesNothingToAFile) {
  std::FILE *file = std::tmpfile();
  ASSERT_TRUE(file);
  {
    ProgressBar bar("x", 2, file);
    bar.show(1);
    bar.show(2);
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

TEST(ProgressBar, TakesNumbersOutOfRange) {
  Terminal terminal;
  if (!terminal.stream)
    GTEST_SKIP() << "there are no terminals here";
  ProgressBar bar("x", 0, terminal.stream);
  bar.show(-5);
  bar.show(12);
  EXPECT_NE(terminal.text().find(std::string(30, '=')), std::string::npos);
}
