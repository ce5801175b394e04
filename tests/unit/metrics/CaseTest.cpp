/// Metrics against what scikit-learn, torchmetrics and others say: files that
/// tests/e2e/metrics/cases.py made.
#include "frontend/ElementwiseFunctions.h"
#include <sinter/Metrics.h>
#include <sinter/data/Npy.h>

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace sn = sinter;
namespace sm = sinter::metrics;
using Json = nlohmann::json;

namespace {

/// The tensors of one data set, cut into batches on the host.
class Batches {
public:
  Batches(const std::map<std::string, sn::Tensor> &arrays,
          const std::string &name, const std::string &dtype)
      : dtype(dtype) {
    sizes = arrays.at(name + ".sizes").to_vector<int64_t>();
    for (const char *part : {"scores", "targets", "mask"})
      if (auto found = arrays.find(name + "." + part); found != arrays.end())
        parts[part] = read(found->second);
  }
  size_t size() const { return sizes.size(); }
  int64_t items(size_t index) const { return sizes[index]; }

  /// Rows of batch `index`; empty where there is no such part.
  sn::Tensor batch(const std::string &part, size_t index) const {
    auto found = parts.find(part);
    if (found == parts.end())
      return {};
    const Part &from = found->second;
    int64_t first = 0;
    for (size_t i = 0; i < index; ++i)
      first += sizes[i];
    sn::Dims shape = from.shape;
    shape[0] = sizes[index];
    size_t row = from.bytes.size() / static_cast<size_t>(from.shape[0].value);
    std::span<const std::byte> bytes(from.bytes);
    sn::Tensor made =
        sn::from_bytes(bytes.subspan(static_cast<size_t>(first) * row,
                                     static_cast<size_t>(sizes[index]) * row),
                       from.dtype, shape);
    if (part == "scores" && dtype == "bf16")
      return made.to(sn::DType::bf16);
    return part == "scores" && dtype == "f16" ? made.to(sn::DType::f16) : made;
  }

private:
  struct Part {
    sn::DType dtype;
    sn::Dims shape;
    std::vector<std::byte> bytes;
  };
  template <typename T>
  static std::vector<std::byte> bytesOf(const auto &from) {
    std::vector<T> values(from.begin(), from.end());
    auto bytes = std::as_bytes(std::span<const T>(values));
    return {bytes.begin(), bytes.end()};
  }
  static Part read(const sn::Tensor &tensor) {
    Part part{tensor.dtype(), tensor.shape(), {}};
    if (part.dtype == sn::DType::f32)
      part.bytes = bytesOf<float>(tensor.to_vector<float>());
    else if (part.dtype == sn::DType::boolean)
      part.bytes = bytesOf<uint8_t>(tensor.to_vector<uint8_t>());
    else
      part.bytes = bytesOf<int64_t>(tensor.to_vector<int64_t>());
    return part;
  }
  std::string dtype;
  std::vector<int64_t> sizes;
  std::map<std::string, Part> parts;
};

struct Cases {
  Json json;
  std::map<std::string, sn::Tensor> arrays;
};

std::string folder() {
  const char *named = std::getenv("SINTER_METRIC_CASES");
  return named ? named : SINTER_TEST_INPUTS;
}

const Cases &cases() {
  static Cases *read = [] {
    auto *made = new Cases;
    std::ifstream(folder() + "/cases.json") >> made->json;
    made->arrays = sn::data::read_npz(folder() + "/data.npz",
                                      {.device = sn::device("cpu")});
    return made;
  }();
  return *read;
}

sm::ClassOptions classOptions(const Json &from, sm::Task task) {
  sm::ClassOptions options{.task = task};
  std::string named = from.value("task", "");
  if (named == "binary")
    options.task = sm::Task::binary;
  if (named == "multilabel")
    options.task = sm::Task::multilabel;
  if (named == "multiclass")
    options.task = sm::Task::multiclass;
  options.classes = from.value("classes", int64_t(0));
  options.threshold = from.value("threshold", 0.5);
  options.from_logits = from.value("from_logits", true);
  options.class_axis = from.value("class_axis", int64_t(1));
  if (from.contains("ignore_index"))
    options.ignore_index = from["ignore_index"].get<int64_t>();
  std::map<std::string, sm::Average> averages{
      {"micro", sm::Average::micro},
      {"macro", sm::Average::macro},
      {"weighted", sm::Average::weighted},
      {"none", sm::Average::none}};
  if (from.contains("average"))
    options.average = averages.at(from["average"].get<std::string>());
  return options;
}

sm::CurveOptions curveOptions(const Json &from) {
  sm::ClassOptions same = classOptions(from, sm::Task::binary);
  return {.task = same.task,
          .classes = same.classes,
          .average = same.average.value_or(sm::Average::macro),
          .bins = from.value("bins", int64_t(0)),
          .from_logits = same.from_logits,
          .ignore_index = same.ignore_index};
}

/// What a metric says of all batches; `bound` is how far off it may be.
struct Said {
  std::map<std::string, double> values;
  double bound = 0;
};

template <typename M> Said saidBy(const M &metric) {
  Said said;
  std::string name = metric.info().name;
  if constexpr (requires { metric.values(); }) {
    for (const sm::Value &value : metric.values())
      said.values[value.name == name ? ""
                                     : value.name.substr(name.size() + 1)] =
          value.value;
  } else {
    said.values[""] = metric.value();
  }
  if constexpr (requires { metric.bound(); })
    said.bound = metric.bound();
  return said;
}

template <typename Input, typename M>
Said feed(M metric, const Batches &batches) {
  for (size_t i = 0; i < batches.size(); ++i)
    metric.update(Input{batches.batch("scores", i), batches.batch("targets", i),
                        batches.batch("mask", i)});
  return saidBy(metric);
}

/// As an epoch of a training gives it: the mean of each batch, or each item's.
Said feedLoss(const Batches &batches, bool ofItems) {
  sm::MeanLoss metric;
  for (size_t i = 0; i < batches.size(); ++i) {
    sn::Tensor x = batches.batch("scores", i), t = batches.batch("targets", i);
    sn::Tensor terms = sn::square(x - t);
    sm::RegressionOutput output{ofItems ? terms : sn::mean(terms), x, t};
    metric.update(output);
  }
  return saidBy(metric);
}

/// Classes that the model names in place of scores.
Said feedClasses(const Batches &batches, const sm::ClassOptions &options) {
  sm::Accuracy metric(options);
  for (size_t i = 0; i < batches.size(); ++i)
    metric.update({sn::argmax(batches.batch("scores", i), 1).to(sn::DType::i32),
                   batches.batch("targets", i)});
  return saidBy(metric);
}

Said runTensors(const Json &each, const Batches &batches) {
  const Json &from = each["options"];
  std::string name = each["metric"];
  sm::ClassOptions options = classOptions(from, sm::Task::multiclass);
  using Class = sm::ClassInput;
  using Number = sm::NumberInput;
  if (name == "accuracy")
    return feed<Class>(sm::Accuracy(options), batches);
  if (name == "accuracy_of_classes")
    return feedClasses(batches, options);
  if (name == "precision")
    return feed<Class>(sm::Precision(options), batches);
  if (name == "recall")
    return feed<Class>(sm::Recall(options), batches);
  if (name == "f1")
    return feed<Class>(sm::F1(options), batches);
  if (name == "fbeta")
    return feed<Class>(sm::FBeta(from["beta"], options), batches);
  if (name == "iou")
    return feed<Class>(sm::Iou(options), batches);
  if (name == "dice")
    return feed<Class>(sm::Dice(options), batches);
  if (name == "hamming")
    return feed<Class>(sm::HammingDistance(options), batches);
  if (name == "topk")
    return feed<Class>(
        sm::TopKAccuracy(from["k"], {.classes = options.classes,
                                     .ignore_index = options.ignore_index}),
        batches);
  if (name == "confusion")
    return feed<Class>(sm::ConfusionMatrix(options), batches);
  if (name == "auroc")
    return feed<Class>(sm::Auroc(curveOptions(from)), batches);
  if (name == "pr_auc")
    return feed<Class>(sm::AveragePrecision(curveOptions(from)), batches);
  if (name == "perplexity")
    return feed<Class>(sm::Perplexity({.ignore_index = options.ignore_index}),
                       batches);
  if (name == "mse")
    return feed<Number>(sm::MeanSquaredError(), batches);
  if (name == "rmse")
    return feed<Number>(sm::RootMeanSquaredError(), batches);
  if (name == "mae")
    return feed<Number>(sm::MeanAbsoluteError(), batches);
  if (name == "r2")
    return feed<Number>(sm::R2Score(from.value("outputs", int64_t(1))),
                        batches);
  if (name == "psnr")
    return feed<Number>(sm::Psnr(from["range"]), batches);
  if (name == "ssim")
    return feed<Number>(sm::Ssim({.range = from["range"]}), batches);
  if (name == "loss" || name == "loss_of_items")
    return feedLoss(batches, name != "loss");
  ADD_FAILURE() << "no metric is the one of " << name;
  return {};
}

Said runTexts(const Json &each, const Json &texts) {
  using List = std::vector<std::string>;
  List predictions = texts["predictions"], references = texts["references"],
       others = texts["others"];
  std::string name = each["metric"];
  sm::WordErrorRate wer;
  sm::CharErrorRate cer;
  sm::RougeL rouge;
  bool isPlain = each["options"].value("smoothing", "exp") == "none";
  sm::Bleu bleu({.smoothing = isPlain ? sm::BleuSmoothing::none
                                      : sm::BleuSmoothing::exp});
  size_t at = 0;
  for (size_t size : texts["sizes"].get<std::vector<size_t>>()) {
    sm::TextInput input;
    sm::TranslationInput both;
    for (size_t i = at; i < at + size; ++i) {
      input.predictions.push_back(predictions[i]);
      input.references.push_back(name == "bleu_others" ? others[i]
                                                       : references[i]);
      both.references.push_back({references[i], others[i]});
    }
    both.predictions = input.predictions;
    at += size;
    wer.update(input);
    cer.update(input);
    rouge.update(input);
    name == "bleu2" ? bleu.update(both) : bleu.update(input);
  }
  return name == "wer"       ? saidBy(wer)
         : name == "cer"     ? saidBy(cer)
         : name == "rouge_l" ? saidBy(rouge)
                             : saidBy(bleu);
}

/// Counts are exact; what is divided of them on the host, too, nearly.
double toleranceOf(const std::string &metric) {
  if (metric == "confusion")
    return 0;
  return metric == "ssim" ? 2e-5 : 1e-5;
}

} // namespace

TEST(MetricCases, AllBatchesTogetherGiveWhatOtherLibrariesSayOfAllItems) {
  const Json &json = cases().json;
  ASSERT_GT(json["cases"].size(), 0U);
  for (const Json &each : json["cases"]) {
    std::string name = each["metric"], data = each["data"];
    SCOPED_TRACE(name + " of " + data + " " + each["options"].dump());
    sn::reset_stats();
    Said said;
    if (json["texts"].contains(data))
      said = runTexts(each, json["texts"][data]);
    else
      said = runTensors(each, Batches(cases().arrays, data,
                                      each["options"].value("dtype", "")));
    // One program for the first size, one for all others, and those of a part.
    EXPECT_LE(sn::stats().compiles + sn::stats().disk_hits, 8U);
    if (sn::stats().compiles > 4)
      for (const sn::Stats::Miss &miss : sn::stats().misses)
        std::cout << name << ": " << miss.reason << " " << miss.site << " "
                  << miss.flush << "\n";
    std::map<std::string, double> expected = each["expected"];
    double tolerance = toleranceOf(name);
    for (const auto &[key, value] : expected) {
      ASSERT_TRUE(said.values.contains(key)) << key;
      EXPECT_LE(std::abs(said.values[key] - value),
                std::abs(value) * tolerance + said.bound)
          << key << " is " << said.values[key] << ", not " << value;
    }
  }
}

TEST(MetricCases, TheBoundOfABinnedCurveIsSmall) {
  double most = 0;
  for (const Json &each : cases().json["cases"]) {
    if (each["options"].value("bins", 0) == 0)
      continue;
    Batches batches(cases().arrays, each["data"], "");
    Said said = runTensors(each, batches);
    EXPECT_LT(said.bound, 0.06);
    most = std::max(most, said.bound);
  }
  EXPECT_GT(most, 0);
}
