/// The page of a training.
#include "frontend/monitor/ReportPage.h"
#include "frontend/monitor/SvgChart.h"
#include "tests/unit/monitor/TrainingFolder.h"

#include <sinter/train/HtmlReport.h>

#include <cmath>
#include <limits>

namespace sinter::train {

TEST(HtmlReport, ReplacedAfterEpochsAndAtTheEnd) {
  TrainingFolder folder;
  HtmlReport report;
  SmallTraining training(report, folder.path());
  training.begin();
  EXPECT_FALSE(folder.has("report.html"));
  training.epochs(1, 1);
  std::string first = folder.read("report.html");
  EXPECT_NE(first.find("running"), std::string::npos);
  training.epochs(2, 2);
  training.finish();
  std::string last = folder.read("report.html");
  EXPECT_NE(last.find("<dd>finished</dd>"), std::string::npos);
  EXPECT_NE(last.find("<dd>2 of 4</dd>"), std::string::npos);
  EXPECT_TRUE(last.ends_with("</html>\n"));
}

TEST(HtmlReport, AtMostOncePerSecond) {
  TrainingFolder folder;
  HtmlReport report;
  RunBegin run;
  run.folder = folder.path();
  run.time = 1000;
  report.on(run);
  std::vector<Value> values(1);
  values[0].name = "first";
  report.on(EpochEnd{.values = values, .time = 1001});
  values[0].name = "second";
  report.on(EpochEnd{.values = values, .time = 1001.5});
  EXPECT_EQ(folder.read("report.html").find("second"), std::string::npos);
  report.on(RunEnd{.time = 1001.6});
  EXPECT_NE(folder.read("report.html").find("second"), std::string::npos);
}

static Progress hostileProgress(const std::string &name) {
  Progress progress;
  RunBegin run;
  run.name = run.model = run.devices = run.hardware = name;
  run.config = "{\"" + std::string("<b>") + "\": [\"<i>\"]}";
  run.time = 0;
  progress.on(run);
  std::vector<Value> values(1);
  values[0] = {.name = name, .unit = name};
  progress.on(EpochEnd{.values = values, .time = 1});
  progress.on(Message{.text = name, .time = 1});
  progress.on(DeviceReport{.devices = {{.device = name}}, .time = 1});
  RunEnd end;
  end.why = end.fusion = name;
  progress.on(end);
  return progress;
}

static size_t countOf(const std::string &text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; ++at)
    ++count;
  return count;
}

TEST(HtmlReport, NamesStayText) {
  std::string name = "</script><script>x</script><img src=x onerror='y'>\"&"
                     "\xE2\x80\xAE\xFF</pre></title>";
  std::vector<CheckpointWritten> checkpoints = {{.path = name, .why = name}};
  std::string page = reportPage(hostileProgress(name), checkpoints);
  std::string plain = reportPage(hostileProgress("plain"), checkpoints);
  EXPECT_EQ(countOf(page, "<"), countOf(plain, "<"));
  for (std::string_view part :
       {"<script", "<img", "<b>", "<i>", "\xE2\x80\xAE", "\xFF"})
    EXPECT_EQ(countOf(page, part), 0u) << part;
  EXPECT_NE(page.find("&lt;img src=x onerror=&#39;y&#39;&gt;&quot;&amp;"),
            std::string::npos);
}

TEST(HtmlReport, LoadsNothing) {
  std::string page = reportPage(hostileProgress("x"), {});
  for (std::string_view part :
       {"http:", "https:", "src=", "href=", "url(", "@import", "<script"})
    EXPECT_EQ(countOf(page, part), 0u) << part;
  EXPECT_EQ(countOf(page, "default-src 'none'"), 1u);
}

TEST(HtmlReport, ConfigsOfEveryKind) {
  for (const char *config : {"", "{}", "[1, 2]", "no json",
                             "{\"a\": {\"b\": [null, 1e999]}}", "{\"a\": "}) {
    Progress progress;
    RunBegin run;
    run.config = config;
    progress.on(run);
    EXPECT_TRUE(reportPage(progress, {}).ends_with("</html>\n")) << config;
  }
  Progress deep;
  RunBegin run;
  for (int level = 0; level < 1000; ++level)
    run.config += "{\"a\":";
  run.config += "1" + std::string(1000, '}');
  deep.on(run);
  EXPECT_LT(reportPage(deep, {}).size(), 20'000u);
}

TEST(SvgChart, GapsBandsAndMarks) {
  Curve train, valid;
  for (int64_t at = 0; at < 5; ++at)
    train.add(at, 1, at == 2 ? std::nan("") : double(at));
  valid.isEpoch = true;
  valid.split = Split::valid;
  valid.add(4, 1, 2);
  std::string chart = svgChart(&train, &valid);
  EXPECT_NE(chart.find("d=\"M66.0,214.0L206.5,163.0M487.5,61.0L628.0,10.0\""),
            std::string::npos)
      << chart;
  EXPECT_EQ(countOf(chart, "<circle"), 1u);
  EXPECT_NE(chart.find("<title>valid at step 4: 2</title>"), std::string::npos);
  EXPECT_EQ(countOf(chart, "band"), 0u);
  for (int64_t at = 5; at < 5000; ++at)
    train.add(at, 1, double(at % 7));
  EXPECT_EQ(countOf(svgChart(&train, nullptr), "class=\"band train\""), 1u);
}

TEST(SvgChart, NothingThatIsFinite) {
  Curve curve;
  curve.add(1, 1, std::numeric_limits<double>::infinity());
  EXPECT_NE(svgChart(&curve, nullptr).find("no finite"), std::string::npos);
  EXPECT_NE(svgChart(nullptr, nullptr).find("no finite"), std::string::npos);
}

} // namespace sinter::train
