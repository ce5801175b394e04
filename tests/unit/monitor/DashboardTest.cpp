/// Pictures of all sizes, and lines where none can be drawn.
#include "frontend/monitor/terminal/DashboardPicture.h"
#include "frontend/monitor/terminal/Plot.h"
#include "tests/unit/monitor/TrainingFolder.h"

#include <sinter/train/Dashboard.h>

#include <cmath>
#include <cstdio>
#include <limits>

namespace sinter::train {

namespace {

/// Has the progress listen.
class Follower : public Listener {
public:
  void on(const Event &event) override { progress.on(event); }
  Progress progress;
};

constexpr const char *hostile = "\033[2J\033]0;owned\007\n\xFF\xE6\xBC\xA2";

/// A run in its third epoch, with devices and messages.
void play(Follower &follower) {
  SmallTraining training(follower);
  training.run.devices = "cuda:0 (a device)\ncuda:1 (another)";
  training.begin();
  follower.on(EpochBegin{.epoch = 1, .train_steps = 3, .time = 1000});
  training.epochs(1, 2);
  training.train(3, 1, 2);
  follower.on(DeviceReport{.devices = {{.device = "cuda:0",
                                        .in_use = 20'000'000'000,
                                        .peak = 40'000'000'000,
                                        .total = 80'000'000'000,
                                        .load = 0.5,
                                        .temperature = 64}},
                           .time = 1008});
  follower.on(Message{.text = "said this", .time = 1008});
}

Look look(int columns, int rows, bool isUnicode = true) {
  Look made;
  made.columns = columns;
  made.rows = rows;
  made.isTerminal = true;
  made.isUnicode = isUnicode;
  return made;
}

std::string joined(const std::vector<std::string> &lines) {
  std::string all;
  for (const std::string &line : lines)
    all += line + "\n";
  return all;
}

} // namespace

TEST(Dashboard, FitsEverySize) {
  Follower follower;
  play(follower);
  for (bool isUnicode : {true, false})
    for (int columns : {1, 2, 10, 39, 40, 79, 80, 81, 120, 300})
      for (int rows : {1, 2, 3, 5, 10, 23, 24, 25, 60, 200}) {
        Look size = look(columns, rows, isUnicode);
        std::vector<std::string> lines = pictureOf(follower.progress, size);
        EXPECT_LE(lines.size(), size_t(std::max(rows - 1, 1)));
        for (const std::string &line : lines)
          EXPECT_LT(columnsOf(line), std::max(columns, 1)) << line;
      }
}

TEST(Dashboard, ShowsEverythingInEightyByTwentyFour) {
  Follower follower;
  play(follower);
  std::string all = joined(pictureOf(follower.progress, look(80, 24)));
  for (const char *text : {"small",
                           "cuda:0 (a device)",
                           "0:08",
                           "train",
                           "67 %",
                           "2/3",
                           "epoch 3/4",
                           "ETA",
                           "Loss",
                           "Accuracy",
                           "train now",
                           "0.1111",
                           "30 %",
                           "21 %",
                           "@2",
                           "cuda:0",
                           "20.0 GB of 80.0 GB",
                           "peak 40.0 GB",
                           "load 50 %",
                           "64 °C",
                           "said this",
                           "●",
                           "▕",
                           "│"})
    EXPECT_NE(all.find(text), std::string::npos) << text << "\n" << all;
  EXPECT_EQ(all.find('\033'), std::string::npos); // no colours were asked for
  Look colored = look(80, 24);
  colored.hasColor = true;
  EXPECT_NE(joined(pictureOf(follower.progress, colored)).find("\033[36m"),
            std::string::npos);
}

TEST(Dashboard, AsciiWhereTheLocaleHasNoMore) {
  Follower follower;
  play(follower);
  for (char letter : joined(pictureOf(follower.progress, look(80, 24, false))))
    EXPECT_TRUE(letter == '\n' || (letter >= ' ' && letter <= '~'));
}

TEST(Dashboard, NamesSteerNoTerminal) {
  Follower follower;
  SmallTraining training(follower);
  training.run.name = training.run.devices = hostile;
  training.values[0].name = training.values[0].unit = hostile;
  training.begin();
  training.epochs(1, 1);
  follower.on(Message{.text = hostile});
  RunEnd end;
  end.why = hostile;
  follower.on(end);
  for (const std::string &line : pictureOf(follower.progress, look(80, 24)))
    for (char letter : line)
      EXPECT_GE(uint8_t(letter), ' ');
  for (const std::string &line :
       {beginLine(follower.progress), endLine(follower.progress)})
    EXPECT_EQ(line.find('\033'), std::string::npos);
}

TEST(Dashboard, NothingToShowYet) {
  Follower follower;
  SmallTraining training(follower);
  training.run.epochs = training.run.train_steps = 0;
  training.begin();
  std::string all = joined(pictureOf(follower.progress, look(80, 24)));
  EXPECT_NE(all.find("nothing yet"), std::string::npos);
  EXPECT_EQ(all.find("ETA"), std::string::npos);
}

static std::vector<std::string> rowsOf(const Plot &plot, int count) {
  Look size = look(200, 50);
  std::vector<std::string> rows;
  for (int row = 0; row < count; ++row) {
    ScreenLine line(size);
    plot.addRow(row, line);
    rows.push_back(line.take());
  }
  return rows;
}

TEST(Plot, LineAndMarksWhereTheyBelong) {
  Curve train, valid;
  for (int64_t at = 0; at <= 10; ++at)
    train.add(at, 1, double(at));
  valid.add(10, 1, 0);
  Plot plot(9 + 11, 12, false);
  plot.draw(&train, &valid);
  std::vector<std::string> rows = rowsOf(plot, 12);
  EXPECT_EQ(rows[0], "      10|          *");
  EXPECT_EQ(rows[5], "        |     *     ");
  EXPECT_EQ(rows[10], "       0|*         o");
  EXPECT_EQ(rows[11], "         0        10");
}

TEST(Plot, BrailleHasEightDotsACell) {
  Curve train;
  for (int64_t at = 0; at < 16; ++at)
    train.add(at, 1, at < 8 ? 0 : 1);
  Plot plot(9 + 8, 3, true);
  plot.draw(&train, nullptr);
  std::vector<std::string> rows = rowsOf(plot, 2);
  EXPECT_EQ(rows[0], "       1│   ⢰⠉⠉⠉⠉");
  EXPECT_EQ(rows[1], "       0│⣀⣀⣀⣸    ");
}

TEST(Plot, NumbersThatAreNoneAreGaps) {
  double infinity = std::numeric_limits<double>::infinity();
  Curve curve, none;
  for (double value : {0.0, std::nan(""), infinity, -infinity, 0.0})
    curve.add(int64_t(curve.readings) * 5, 1, value);
  Plot plot(9 + 21, 3, false);
  plot.draw(&curve, nullptr);
  EXPECT_EQ(rowsOf(plot, 3)[1], "      -1|*                   *");
  none.add(1, 1, std::nan(""));
  Plot empty(30, 6, false);
  empty.draw(&none, nullptr);
  EXPECT_NE(rowsOf(empty, 6)[2].find("nothing yet"), std::string::npos);
  Curve huge; // the range is no f64
  huge.add(1, 1, std::numeric_limits<double>::max());
  huge.add(2, 1, std::numeric_limits<double>::lowest());
  Plot all(9 + 8, 4, false);
  all.draw(&huge, nullptr);
  EXPECT_NE(rowsOf(all, 1)[0].find('*'), std::string::npos);
}

TEST(Screen, WidthsOfLetters) {
  EXPECT_EQ(columnsOf("abc"), 3);
  EXPECT_EQ(columnsOf("\xE6\xBC\xA2"), 2); // a Han letter
  EXPECT_EQ(columnsOf("e\xCC\x81"), 1);    // an accent
  EXPECT_EQ(columnsOf("\xF0\x9F\x98\x80"), 2);
  EXPECT_EQ(cutToColumns("a\xE6\xBC\xA2", 2), "a");
  EXPECT_EQ(cutToColumns("abc", -1), "");
}

//===- Lines --------------------------------------------------------------===//

static std::vector<std::string> linesOf(double seconds) {
  TrainingFolder folder;
  std::FILE *stream = std::fopen((folder / "out").c_str(), "w");
  {
    Dashboard board({.stream = stream, .line_seconds = seconds});
    SmallTraining training(board);
    training.begin();
    training.epochs(1, 2);
    board.on(Message{.level = Level::warning, .text = "hot"});
    training.finish();
  }
  std::fclose(stream);
  return folder.lines("out");
}

TEST(Dashboard, LinesWithoutATerminal) {
  std::vector<std::string> lines = linesOf(1000);
  ASSERT_EQ(lines.size(), 1 + 4 + 1 + 1u);
  EXPECT_EQ(lines[0], "small: 4 epochs of 3 steps");
  EXPECT_EQ(lines[1],
            "epoch 1/4 train done in 0:03  Loss 0.2500  Accuracy 10 %");
  EXPECT_EQ(lines[4],
            "epoch 2/4 valid done in 0:01  Loss 0.3333  Accuracy 21 %");
  EXPECT_EQ(lines[5], "warning: hot");
  EXPECT_EQ(lines[6], "finished after 16:40");
}

TEST(Dashboard, LinesOfReadingsInTheirInterval) {
  std::vector<std::string> lines = linesOf(2);
  EXPECT_EQ(lines[1], "epoch 1/4 train 2/3 (67 %)  Loss 0.3333  Accuracy 10 % "
                      " 1 it/s  ETA 0:14");
  EXPECT_EQ(lines.size(), 7 + 3u); // at 1002, 1004, 1006
}

TEST(Dashboard, ClosedPipeIsAnErrorAndNoSignal) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  std::FILE *stream = ::fdopen(ends[1], "w");
  Listeners listeners;
  listeners.add(
      std::make_shared<Dashboard>(Dashboard::Options{.stream = stream}));
  SmallTraining training(listeners);
  training.begin();
  training.epochs(1, 1);
  EXPECT_EQ(listeners.failures().size(), 1u);
  std::fclose(stream);
}

} // namespace sinter::train
