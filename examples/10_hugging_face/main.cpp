/// Hugging Face: a model of a folder goes on with a text, and learns another.
///
///     10_hugging_face FOLDER|FILE.gguf [ID...]
///
/// Words are the numbers that the model's tokenizer makes of them.
#include <sinter/HuggingFace.h>
#include <sinter/sinter.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace sn = sinter;

static sn::hf::Llama load(const std::string &path) {
  sn::hf::FolderReport report;
  sn::hf::Llama model = path.ends_with(".gguf")
                            ? sn::hf::Llama::from_gguf(path, {}, &report)
                            : sn::hf::Llama::from_folder(path, {}, &report);
  std::printf("%s", report.text().c_str());
  return model;
}

static void print(const char *what, const sn::Tensor &ids) {
  std::printf("%s:", what);
  for (int64_t id : ids.to_vector<int64_t>())
    std::printf(" %lld", static_cast<long long>(id));
  std::printf("\n");
}

/// How badly the model guesses each word of the text from those before it.
static sn::Tensor lossOf(const sn::hf::Llama &model, const sn::Tensor &text) {
  int64_t count = text.dim(1).value - 1;
  sn::Tensor scores = model(sn::narrow(text, 1, 0, count));
  sn::Tensor next = sn::narrow(text, 1, 1, count);
  return sn::cross_entropy(sn::flatten(scores, 0, 1), sn::flatten(next));
}

int main(int argc, char **argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: 10_hugging_face FOLDER|FILE.gguf [ID...]\n");
    return EXIT_FAILURE;
  }
  sn::hf::Llama model = load(argv[1]);
  std::vector<int64_t> words;
  for (int i = 2; i < argc; ++i)
    words.push_back(std::strtoll(argv[i], nullptr, 10));
  if (words.empty())
    words = {1, 2, 3, 4, 5, 6, 7};
  sn::Tensor text = sn::tensor(words, {1, int64_t(words.size())});
  sn::Tensor start = sn::narrow(text, 1, 0, 2);
  int64_t more = text.dim(1).value - 2;

  print("goes on", model.generate(start, {.max_new_tokens = more}));
  // It was loaded as for use: now it is to be trained.
  model.train();
  sn::optim::Adam optimizer({.lr = 0.01});
  float loss = 0;
  for (int step = 0; step < 30; ++step) {
    sn::Tensor now = lossOf(model, text);
    optimizer.step(model, now.backward());
    loss = now.item<float>();
  }
  std::printf("loss after 30 steps: %.4f\n", loss);
  model.eval();
  print("goes on", model.generate(start, {.max_new_tokens = more}));
  return EXIT_SUCCESS;
} catch (const sn::Error &error) {
  std::fprintf(stderr, "10_hugging_face: %s\n", error.what());
  return EXIT_FAILURE;
}
