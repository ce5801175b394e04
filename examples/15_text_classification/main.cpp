/// Text classification: a transformer encoder learns which language a sentence
/// is in. Sentences and a tokenizer come from files.
#include <sinter/Config.h>
#include <sinter/Datasets.h>
#include <sinter/Tokenizers.h>
#include <sinter/Train.h>
#include <sinter/sinter.h>

#include <algorithm>
#include <cstdio>

namespace sn = sinter;

struct Config {
  std::string data = TEXT_FOLDER "/sentences.tsv";
  std::string tokenizer = TEXT_FOLDER "/tokenizer.json";
  std::string folder = "text_classification", device;
  int64_t epochs = 40, batch = 16, length = 48, seed = 1;
  int64_t width = 64, heads = 4, layers = 2;
  double lr = 2e-3, dropout = 0.2, unknown = 0.4, required_accuracy = 0;
  SINTER_DOC(data, "tab separated, with a header: label, text")
  SINTER_DOC(tokenizer, "a tokenizer.json of Hugging Face")
  SINTER_DOC(folder, "for checkpoints, logs and the report")
  SINTER_DOC(device, "cpu, cuda:0, vulkan:0; without it the default one")
  SINTER_DOC(length, "tokens of a sentence; longer ones are cut off")
  SINTER_DOC(unknown, "the share of tokens that are hidden in training")
  SINTER_CONFIG(Config, data, tokenizer, folder, device, epochs, batch, length,
                seed, width, heads, layers, lr, dropout, unknown,
                required_accuracy)
};

/// A line of the file.
struct Sentence {
  std::string label, text;
  SINTER_ROW(label, text)
};

struct Batch {
  sn::Tensor ids;    ///< i64[n,length]
  sn::Tensor mask;   ///< i64[n,length]: 0 where padding stands
  sn::Tensor labels; ///< i64[n]
};

struct Classifier {
  sn::nn::Dropout known;
  sn::nn::Embedding tokens;
  sn::nn::PositionalEncoding positions;
  sn::nn::TransformerEncoder encoder;
  sn::nn::Linear head;

  Classifier(const Config &config, int64_t vocabulary, int64_t classes)
      : known(config.unknown), tokens(vocabulary, config.width),
        positions(config.dropout),
        encoder(config.width, config.heads, config.layers,
                {.dim_feedforward = 2 * config.width,
                 .norm_first = true,
                 .dropout = config.dropout},
                true),
        head(config.width, classes) {}

  /// Scores f32[n,classes]: of the mean of what the encoder makes of tokens.
  sn::Tensor forward(const Batch &batch) const {
    sn::Tensor mask = batch.mask.to(sn::DType::f32);
    // In training some tokens are hidden: there are few sentences.
    sn::Tensor ids = sn::where(known(mask) == 0, 1, batch.ids);
    sn::Tensor x = encoder.forward(positions(tokens(ids)), {}, mask == 0);
    mask = sn::unsqueeze(mask, -1);
    return head(sn::sum(x * mask, 1) / sn::sum(mask, 1));
  }
  SINTER_MODULE(Classifier, known, tokens, positions, encoder, head)
};

/// The different labels in order.
static std::vector<std::string> labelsOf(const auto &sentences) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < sentences.size(); ++i)
    labels.push_back(sentences.get(i).label);
  std::ranges::sort(labels);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

static sn::metrics::ClassificationOutput step(const Classifier &model,
                                              const Batch &batch) {
  sn::Tensor logits = model.forward(batch);
  return {sn::cross_entropy(logits, batch.labels), logits, batch.labels};
}

static int run(const Config &config) {
  if (!config.device.empty())
    sn::set_default_device(config.device);
  sn::manual_seed(config.seed);
  auto sentences = sn::data::rows_as<Sentence>(
      sn::data::CsvRows(config.data, {.delimiter = '\t', .quote = 0}));
  auto [learned, held] = sn::data::split(sentences, 0.2, config.seed);
  std::vector<std::string> labels = labelsOf(sentences);

  // Every batch has the same length, and so one program.
  auto tokenizer = sn::text::Tokenizer::from_file(config.tokenizer);
  tokenizer.truncation = sn::text::Truncation{.max_length = config.length};
  tokenizer.padding = sn::text::Padding{.length = config.length};
  auto batchOf = [&](const std::vector<Sentence> &items) {
    std::vector<std::string> texts;
    std::vector<int64_t> numbers;
    for (const Sentence &item : items) {
      texts.push_back(item.text);
      numbers.push_back(std::ranges::find(labels, item.label) - labels.begin());
    }
    auto [ids, mask, types] = tokenizer.tensors(texts);
    return Batch{ids, mask, sn::tensor(numbers)};
  };
  sn::data::DataLoader train(learned,
                             {.batch_size = config.batch,
                              .workers = 1,
                              .sampler = sn::data::random_sampler(config.seed)},
                             batchOf);
  sn::data::DataLoader valid(held, {.batch_size = 64}, batchOf);

  Classifier model(config, tokenizer.vocab_size(),
                   static_cast<int64_t>(labels.size()));
  sn::optim::AdamW adamw({.lr = config.lr, .weight_decay = 0.01});
  int64_t steps = config.epochs * train.size();
  sn::train::Learner learner(model, adamw, step,
                             {.name = "text_classification",
                              .folder = config.folder,
                              .epochs = config.epochs,
                              .clip_norm = 1,
                              .log_every = 5,
                              .config = config.to_json()});
  auto classes = static_cast<int64_t>(labels.size());
  learner.metric(sn::metrics::MeanLoss())
      .metric(sn::metrics::Accuracy({.classes = classes}))
      .valid_metric(sn::metrics::F1(
          {.classes = classes, .average = sn::metrics::Average::macro}))
      .schedule(sn::optim::warmup_lr(
          steps / 10, sn::optim::cosine_annealing_lr({.T_max = steps})))
      .monitors();
  auto outcome = learner.fit(train, valid);
  sn::save_model(model, config.folder + "/model");

  sn::Tensor best = sn::argmax(
      model.valid().forward(batchOf({{labels[0], "Guten Morgen zusammen!"}})),
      1);
  std::printf("'Guten Morgen zusammen!' is %s\n",
              labels[best.item<int64_t>()].c_str());
  std::printf("accuracy %.2f %%\n", 100 * outcome("accuracy"));
  return outcome("accuracy") >= config.required_accuracy ? 0 : 1;
}

int main(int argc, char **argv) try {
  return run(sn::parse_config<Config>(argc, argv));
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
