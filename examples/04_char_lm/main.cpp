/// Letters: a recurrent network learns to tell the next letter of names, or of
/// a text that the user gives, and then writes some itself.
#include "examples/04_char_lm/Text.h"

#include <sinter/Config.h>
#include <sinter/sinter.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace sn = sinter;

struct CharLm {
  sn::nn::Embedding letters;
  sn::nn::GRU gru;
  sn::nn::Linear scores;
  CharLm(int64_t alphabet, int64_t hidden)
      : letters(alphabet, 32), gru(32, hidden, {.batch_first = true}),
        scores(hidden, alphabet) {}

  struct Output {
    sn::Tensor scores; ///< of the letter after each: [n,t,alphabet]
    sn::Tensor state;  ///< to go on with
  };
  Output forward(const sn::Tensor &x, const sn::Tensor &state = {}) const {
    auto [output, last] = gru(letters(x), state);
    return {scores(output), last};
  }
  SINTER_MODULE(CharLm, letters, gru, scores)
};

using Loader =
    sn::data::DataLoader<sn::data::InMemory<Sequence>, SequenceBatcher>;

struct Flags {
  int64_t epochs = 15, hidden = 64, samples = 5;
  std::string data = NAMES_TXT;
  SINTER_DOC(samples, "lines to write")
  SINTER_DOC(data, "a text, line by line or in pieces of 64 bytes")
  SINTER_CONFIG(Flags, epochs, hidden, samples, data)
};

/// The mean of what the letters of a batch cost, in nats.
static sn::Tensor lossOf(const CharLm &model, const Batch &batch) {
  // cross_entropy has the classes on axis 1.
  sn::Tensor scores =
      sn::transpose(model.forward(batch.letters).scores, {0, 2, 1});
  return sn::cross_entropy(scores, batch.next,
                           {.ignore_index = Batch::padding});
}

static double trainEpoch(CharLm &model, sn::optim::Adam &adam, Loader &loader) {
  double total = 0;
  for (Batch &batch : loader) {
    sn::Tensor loss = lossOf(model, batch);
    adam.step(model, loss.backward());
    total += loss.item<double>();
  }
  return total / static_cast<double>(loader.size());
}

/// What a letter costs that is told by how often it comes, in nats.
static double entropyOf(const std::vector<Sequence> &sequences,
                        const Alphabet &alphabet) {
  std::vector<double> counts(alphabet.size());
  double total = 0, entropy = 0;
  for (const Sequence &sequence : sequences)
    for (size_t i = 1; i < sequence.size(); ++i, ++total)
      ++counts[sequence[i]];
  for (double count : counts)
    if (count > 0)
      entropy -= count / total * std::log(count / total);
  return entropy;
}

/// One line, letter by letter: each is drawn as likely as the model holds it.
static std::string writeLine(const CharLm &model, const Alphabet &alphabet) {
  constexpr size_t longest = 64;
  sn::no_grad guard;
  std::string line;
  sn::Tensor state;
  int64_t letter = 0;
  while (line.size() < longest) {
    auto output = model.forward(sn::tensor({{letter}}), state);
    state = output.state;
    sn::Tensor chances = sn::softmax(output.scores, -1);
    sn::Tensor draw = sn::uniform({});
    // The first letter up to which the chances sum to more than the draw.
    sn::Tensor below = sn::cumsum(chances, -1) <= draw;
    letter = std::min(sn::sum(below.to(sn::DType::i64)).item<int64_t>(),
                      alphabet.size() - 1);
    if (letter == 0)
      break;
    line += alphabet.letter(letter);
  }
  return line;
}

static int run(const Flags &flags) {
  std::ifstream file(flags.data, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "error: %s: cannot open\n", flags.data.c_str());
    return 1;
  }
  std::string text(std::istreambuf_iterator<char>(file), {});
  Alphabet alphabet(text);
  std::vector<Sequence> sequences = sequencesOf(text, alphabet);
  if (sequences.empty()) {
    std::fprintf(stderr, "error: %s: no text\n", flags.data.c_str());
    return 1;
  }
  size_t longest =
      std::ranges::max_element(sequences, {}, &Sequence::size)->size();
  double entropy = entropyOf(sequences, alphabet);
  std::printf("%zu sequences of %lld letters; by frequency alone: %.3f nats a "
              "letter\n",
              sequences.size(), static_cast<long long>(alphabet.size()),
              entropy);

  sn::manual_seed(1);
  CharLm model(alphabet.size(), flags.hidden);
  sn::optim::Adam adam({.lr = 0.01});
  Loader loader(
      sn::data::InMemory(std::move(sequences)),
      {.batch_size = 32, .workers = 1, .sampler = sn::data::random_sampler(1)},
      {static_cast<int64_t>(longest) - 1});
  double loss = 0;
  for (int64_t epoch = 1; epoch <= flags.epochs; ++epoch) {
    loss = trainEpoch(model, adam, loader);
    std::printf("epoch %2lld  %.3f nats a letter\n",
                static_cast<long long>(epoch), loss);
  }
  for (int64_t i = 0; i < flags.samples; ++i)
    std::printf("  %s\n", writeLine(model, alphabet).c_str());
  return loss < entropy ? 0 : 1;
}

int main(int argc, char **argv) try {
  return run(sn::parse_config<Flags>(argc, argv));
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
