/// TensorBoard's files, byte for byte.
#include "frontend/monitor/EventRecords.h"
#include "tests/unit/monitor/TrainingFolder.h"

#include <sinter/train/TensorBoard.h>

#include <cmath>

namespace sinter::train {

// RFC 3720, B.4, and the check value of the CRC catalogue.
TEST(EventRecords, ChecksumsOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(maskedCrc("123456789"), 0xC78AB0E5u);
}

static std::string hexOf(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (char byte : bytes)
    text += {digits[uint8_t(byte) >> 4], digits[byte & 15]};
  return text;
}

static std::string contentOf(const std::string &path) {
  std::ifstream input(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(input), {}};
}

// As TensorBoard's own classes write them.
TEST(EventFile, GoldenBytesOfAScalar) {
  TrainingFolder folder;
  EventFile file(folder.path());
  file.add_scalar("loss", 0.5, 3, 1.5);
  file.flush();
  std::string bytes = contentOf(file.path());
  ASSERT_EQ(bytes.size(), 16 + 24 + 16 + 26u);
  EXPECT_EQ(bytes.substr(12 + 9, 15), "\x1A\x0D"
                                      "brain.Event:2");
  std::string record;
  record += "1a00000000000000";   // length
  record += "129bd82d";           // its checksum, masked
  record += "09000000000000f83f"; // wall_time = 1.5
  record += "1003";               // step = 3
  record += "2a0d";               // summary
  record += "0a0b";               // value
  record += "0a046c6f7373";       // tag = "loss"
  record += "150000003f";         // simple_value = 0.5
  record += "80655ee3";           // checksum of it all
  EXPECT_EQ(hexOf(std::string_view(bytes).substr(40)), record);
}

TEST(EventFile, LargeStepsAndNumbersThatAreNone) {
  TrainingFolder folder;
  EventFile file(folder.path());
  file.add_scalar("x", std::nan(""), INT64_MAX, 0);
  file.add_scalar("x", 1e300, -5, 0); // infinite as f32, at step 0
  file.flush();
  std::string text = hexOf(contentOf(file.path()));
  EXPECT_NE(text.find("10ffffffffffffffff7f"), std::string::npos);
  EXPECT_NE(text.find("150000c07f"), std::string::npos);
  EXPECT_NE(text.find("1000"), std::string::npos);
  EXPECT_NE(text.find("150000807f"), std::string::npos);
}

TEST(EventFile, TwoOfOneSecondAreTwo) {
  TrainingFolder folder;
  EventFile first(folder.path()), second(folder.path());
  EXPECT_NE(first.path(), second.path());
}

static std::string onlyFile(const std::string &folder) {
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path().string());
  EXPECT_EQ(files.size(), 1u);
  return files.empty() ? "" : files.front();
}

TEST(TensorBoard, RunThatGoesOnHasTheBytesOfOneThatDidNotEnd) {
  TrainingFolder whole, parts;
  TensorBoard once;
  SmallTraining training(once, whole.path());
  training.begin();
  training.epochs(1, 4);
  once.flush();
  {
    TensorBoard before;
    SmallTraining first(before, parts.path());
    first.begin();
    first.epochs(1, 3);
    first.train(4, 1, 2);
    before.flush();
  }
  for (Split split : {Split::train, Split::valid}) {
    // As a process leaves it that is killed while it writes.
    std::string folder = std::string("tensorboard/") +=
        std::string(to_string(split));
    std::ofstream(onlyFile(parts / folder), std::ios::app) << "half a record";
  }
  TensorBoard again;
  SmallTraining second(again, parts.path());
  second.resume(2, 1);
  second.train(3, 2);
  second.valid(3);
  second.epochs(4, 4);
  again.flush();
  for (const char *folder : {"tensorboard/train", "tensorboard/valid"}) {
    std::string expected = contentOf(onlyFile(whole / folder));
    std::string found = contentOf(onlyFile(parts / folder));
    // The first record has the time of the machine.
    EXPECT_GT(expected.size(), 200u);
    EXPECT_EQ(expected.substr(40), found.substr(40)) << folder;
  }
}

TEST(TensorBoard, RunThatBeginsAnewRemovesOldEventFilesAlone) {
  TrainingFolder folder;
  TensorBoard board;
  SmallTraining training(board, folder.path());
  training.begin();
  training.epochs(1, 1);
  board.flush();
  std::ofstream(folder / "tensorboard/train/mine.txt") << "mine";
  size_t size =
      std::filesystem::file_size(onlyFile(folder / "tensorboard/valid"));
  training.begin();
  board.flush();
  EXPECT_LT(std::filesystem::file_size(onlyFile(folder / "tensorboard/valid")),
            size);
  EXPECT_EQ(folder.read("tensorboard/train/mine.txt"), "mine");
}

TEST(TensorBoard, DamagedFilesAreCut) {
  TrainingFolder folder;
  std::filesystem::create_directories(folder / "tensorboard/train");
  std::string path = folder / "tensorboard/train/events.out.tfevents.1.a.1.0";
  std::string good, bad;
  addRecord(good, "\x10\x01");
  addRecord(bad, "\x10\x02");
  for (const std::string &broken :
       {std::string("x"), std::string(12, '\xFF'), bad.substr(0, 15),
        bad.substr(0, 12) + "\x10\x03" + bad.substr(14)}) {
    std::ofstream(path, std::ios::binary) << good << broken;
    TensorBoard board;
    RunBegin run;
    run.folder = folder.path();
    run.resume = Resume{5, 5, 5};
    board.on(run);
    board.flush();
    EXPECT_EQ(contentOf(path), good);
  }
}

} // namespace sinter::train
