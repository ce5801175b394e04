/// Training that is killed goes on from its last record and ends with the
/// very same weights: examples/03_iris, in processes of its own.
#include "runtime/params/Safetensors.h"

#include <sinter/Record.h>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sinter::runtime;
namespace fs = std::filesystem;

namespace {

/// The example as a process; its output goes to a file.
class Program {
public:
  Program(std::vector<std::string> arguments, const fs::path &output) {
    arguments.insert(arguments.begin(), IRIS_PROGRAM);
    std::vector<char *> argv;
    for (std::string &argument : arguments)
      argv.push_back(argument.data());
    argv.push_back(nullptr);
    id = ::fork();
    if (id == 0) {
      int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(file, STDOUT_FILENO);
      ::dup2(file, STDERR_FILENO);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
  }

  bool ended() {
    if (!gone)
      gone = ::waitpid(id, &status, WNOHANG) == id;
    return gone;
  }
  /// Waits for the end; the exit code, or -1 after a signal.
  int wait() {
    if (!gone)
      ::waitpid(id, &status, 0);
    gone = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// kill -9
  int kill() {
    ::kill(id, SIGKILL);
    return wait();
  }

private:
  pid_t id;
  int status = 0;
  bool gone = false;
};

class Resume : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/sinter-resume-XXXXXX";
    folder = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string textOf(const fs::path &file) const {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// Every tensor's bytes. Record ids are of each run's own.
  std::map<std::string, std::string> weightsOf(const fs::path &file) const {
    auto opened = SafetensorsFile::open(file);
    EXPECT_TRUE(opened) << opened.error().message;
    std::map<std::string, std::string> weights;
    for (const NamedTensor &tensor : opened->tensors())
      weights[tensor.name] = {
          reinterpret_cast<const char *>(tensor.data.data()),
          tensor.data.size()};
    return weights;
  }

  /// The epoch of the last record, or 0.
  int64_t lastRecord() const {
    if (!fs::exists(record()))
      return 0;
    return sinter::Record::load(record()).at("data").get<int64_t>("epoch");
  }
  std::string record() const { return folder / "run.mpk"; }

  std::vector<std::string> arguments(const std::string &weights) const {
    return {"--epochs", epochs,      "--record",
            record(),   "--weights", folder / weights};
  }

  static constexpr const char *epochs = "300";
  fs::path folder;
};

void sleepFor(int64_t microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

} // namespace

TEST_F(Resume, SavingAndLoadingChangesNothing) {
  Program program({}, folder / "output");
  EXPECT_EQ(program.wait(), 0) << textOf(folder / "output");
  EXPECT_NE(textOf(folder / "output")
                .find("difference after save and load: 0.00e0\n"),
            std::string::npos)
      << textOf(folder / "output");
}

TEST_F(Resume, KilledRunsEndWithTheSameWeights) {
  Program whole({"--epochs", epochs, "--weights", folder / "expected"},
                folder / "output");
  ASSERT_EQ(whole.wait(), 0) << textOf(folder / "output");

  // Each at another place in an epoch, some while a record is written.
  constexpr int64_t delays[] = {0, 1300, 3700, 7100, 11900};
  int killed = 0;
  for (int64_t delay : delays) {
    int64_t before = lastRecord();
    Program program(arguments("weights"), folder / "output");
    while (!program.ended() && lastRecord() < before + 15)
      sleepFor(200);
    sleepFor(delay);
    killed += program.kill() == -1;
    EXPECT_GT(lastRecord(), before) << textOf(folder / "output");
  }
  EXPECT_EQ(killed, std::ssize(delays)) << "a run ended before it was killed";
  EXPECT_LT(lastRecord(), 300);
  EXPECT_FALSE(fs::exists(folder / "weights"));

  Program rest(arguments("weights"), folder / "output");
  ASSERT_EQ(rest.wait(), 0) << textOf(folder / "output");
  EXPECT_NE(textOf(folder / "output").find("going on from"), std::string::npos);
  auto expected = weightsOf(folder / "expected");
  EXPECT_EQ(expected.size(), 4u);
  EXPECT_TRUE(weightsOf(folder / "weights") == expected)
      << "the weights differ";
}

/// A record holds all that a run consists of: without the random numbers'
/// counter, for one, the weights would be others.
TEST_F(Resume, EveryPartOfARecordCounts) {
  Program first(
      {"--epochs", "20", "--record", record(), "--weights", folder / "first"},
      folder / "output");
  ASSERT_EQ(first.wait(), 0) << textOf(folder / "output");
  auto whole = sinter::Record::load(record());
  ASSERT_EQ(whole.size(), 4u);
  for (const auto &[name, value] : whole.as_map()) {
    sinter::Record part = whole;
    part.erase(name);
    part.save(record());
    Program rest({"--epochs", "25", "--record", record()}, folder / "output");
    EXPECT_EQ(rest.wait(), 1) << "went on without " << name;
    EXPECT_NE(textOf(folder / "output").find("has no entry '" + name),
              std::string::npos);
  }
}
