/// Runs a tokenizer on the lines of a file, for tests beside other tokenizers.
///
/// usage: tokenizer-run TOKENIZER.json LINES.json [plain|pair|none] [WORKERS]
///        tokenizer-run TOKENIZER.json LINES.json time
///
/// LINES.json is an array of texts. Prints one line of JSON of each: ids,
/// tokens, offsets, masks, what overflowed, the text that the ids are decoded
/// to, and the same token by token. `pair` encodes each text with the next,
/// `plain` without special tokens. `time` prints seconds: with offsets and
/// without.
#include <sinter/Error.h>
#include <sinter/Tokenizers.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

using nlohmann::json;
namespace text = sinter::text;

static json toJson(const text::Encoding &encoding) {
  json offsets = json::array(), parts = json::array();
  for (auto [begin, end] : encoding.offsets)
    offsets.push_back({begin, end});
  for (const text::Encoding &part : encoding.overflowing)
    parts.push_back(toJson(part));
  return {{"ids", encoding.ids},
          {"tokens", encoding.tokens},
          {"type_ids", encoding.type_ids},
          {"word_ids", encoding.word_ids},
          {"offsets", offsets},
          {"attention_mask", encoding.attention_mask},
          {"special_tokens_mask", encoding.special_tokens_mask},
          {"overflowing", parts}};
}

static void print(const text::Tokenizer &tokenizer,
                  const text::Encoding &encoding) {
  json line = toJson(encoding);
  line["decoded"] = tokenizer.decode(encoding.ids, false);
  line["skipped"] = tokenizer.decode(encoding.ids, true);
  json steps = json::array();
  try {
    text::DecodeStream stream(tokenizer, false);
    for (int32_t id : encoding.ids)
      steps.push_back(stream.step(id));
  } catch (const sinter::Error &error) {
    steps.push_back("error");
  }
  line["steps"] = steps;
  std::cout << line.dump() << '\n';
}

static double seconds(const text::Tokenizer &tokenizer,
                      const std::vector<std::string> &lines,
                      text::OffsetUnit unit) {
  auto begin = std::chrono::steady_clock::now();
  auto all = tokenizer.encode_batch(lines, 1, {.offsets = unit});
  auto end = std::chrono::steady_clock::now();
  size_t count = 0;
  for (const text::Encoding &encoding : all)
    count += encoding.size();
  std::fprintf(stderr, "%zu tokens\n", count);
  return std::chrono::duration<double>(end - begin).count();
}

static int run(int argc, char **argv) {
  auto begin = std::chrono::steady_clock::now();
  auto tokenizer = text::Tokenizer::from_file(argv[1]);
  auto end = std::chrono::steady_clock::now();
  std::ifstream file(argv[2], std::ios::binary);
  std::string all{std::istreambuf_iterator<char>(file), {}};
  auto lines = json::parse(all).get<std::vector<std::string>>();
  std::string mode = argc > 3 ? argv[3] : "";
  if (mode == "time") {
    double load = std::chrono::duration<double>(end - begin).count();
    std::printf("%f %f %f\n", load,
                seconds(tokenizer, lines, text::OffsetUnit::characters),
                seconds(tokenizer, lines, text::OffsetUnit::none));
    return 0;
  }
  text::EncodeOptions options{.special_tokens = mode != "plain"};
  if (mode == "pair") {
    for (size_t i = 0; i < lines.size(); ++i) {
      std::string_view next = lines[(i + 1) % lines.size()];
      print(tokenizer, tokenizer.encode(lines[i], next, options));
    }
    return 0;
  }
  int64_t workers = argc > 4 ? std::atoll(argv[4]) : 1;
  for (const text::Encoding &encoding :
       tokenizer.encode_batch(lines, workers, options))
    print(tokenizer, encoding);
  return 0;
}

int main(int argc, char **argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: tokenizer-run TOKENIZER.json LINES.json "
                         "[plain|pair|time] [WORKERS]\n");
    return 2;
  }
  return run(argc, argv);
} catch (const sinter::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
