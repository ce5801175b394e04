/// Files that are damaged, or want what is not there.
#include "tests/unit/tokenizers/Small.h"

#include <sinter/Error.h>

#include <chrono>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace sinter;
using namespace sinter::text;
using nlohmann::json;

namespace {

/// The message of the Error, which is expected.
std::string messageOf(const std::string &text, ErrorKind kind = ErrorKind::io) {
  try {
    Tokenizer::from_json(text);
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.message();
  }
  return "no error";
}

std::string changed(const std::string &text, const char *pointer, json value) {
  json file = json::parse(text);
  file[json::json_pointer(pointer)] = std::move(value);
  return file.dump();
}

} // namespace

TEST(MalformedTokenizer, messagesBeginWithThePath) {
  std::string words = wordPieceJson(), bytes = byteLevelJson();
  struct Case {
    std::string text, message;
  } cases[] = {
      {changed(words, "/model/vocab", "x"),
       "model.vocab: expected an object, not string"},
      {changed(words, "/model/vocab/play", -1),
       "model.vocab['play']: -1 is out of range, it may be 0 to 2147483647"},
      {changed(words, "/model/vocab/play", 4294967296),
       "model.vocab['play']: 4294967296 is out of range, it may be 0 to "
       "2147483647"},
      {changed(words, "/model/vocab/play", 4),
       "model.vocab: tokens '##ing' and 'play' both have id 4"},
      {changed(words, "/added_tokens/1/id", 7),
       "added_tokens[1].id: '[CLS]' has id 1 by its place, not 7"},
      {changed(words, "/added_tokens/0/special", 1),
       "added_tokens[0].special: expected true or false, not number"},
      {changed(words, "/post_processor/special_tokens/[CLS]/ids/0", 99),
       "post_processor.special_tokens['[CLS]'].ids[0]: no token has id 99"},
      {changed(words, "/post_processor/single/0/SpecialToken/id", "[X]"),
       "post_processor.single[0].SpecialToken.id: '[X]' is none of "
       "special_tokens"},
      {changed(words, "/post_processor/single/1/Sequence/id", "B"),
       "post_processor.single[1].Sequence.id: there is no text B"},
      {changed(bytes, "/model/merges/0", "a q1"),
       "model.merges[0]: 'q1' is no token of the vocabulary"},
      {changed(bytes, "/model/merges/0", "a b c"),
       "model.merges[0]: 'a b c' is no pair of tokens"},
      {changed(bytes, "/model/merges/1", 5),
       "model.merges[1]: expected a string, not number"},
      {changed(bytes, "/pre_tokenizer",
               {{"type", "Split"},
                {"pattern", {{"Regex", "(a"}}},
                {"behavior", "Isolated"},
                {"invert", false}}),
       "pre_tokenizer.pattern.Regex: '(a' is no regular expression: end "
       "pattern with unmatched parenthesis"},
      {changed(bytes, "/normalizer",
               {{"type", "Precompiled"}, {"precompiled_charsmap", "a*=="}}),
       "normalizer.precompiled_charsmap: character 1 is no base64"},
      {changed(unigramJson(), "/model/vocab/2", {"a"}),
       "model.vocab[2]: expected a token and its score"},
      {changed(unigramJson(), "/model/unk_id", 7),
       "model.unk_id: 7 is out of range, it may be 0 to 6"},
      {"{", "not JSON: "},
      {"[1]", "expected an object"},
      {"{\"model\": \"\xFF\"}", "not UTF-8 at byte 11"},
      {std::string(100000, '['), "brackets are deeper than 64 at byte 64"},
  };
  for (const Case &each : cases)
    EXPECT_EQ(messageOf(each.text).substr(0, each.message.size()),
              each.message);
}

TEST(MalformedTokenizer, unknownTypesAreListed) {
  std::string text = changed(wordPieceJson(), "/normalizer/type", "Magic");
  text = changed(text, "/decoder",
                 {{"type", "Sequence"},
                  {"decoders", {{{"type", "Fuse"}}, {{"type", "Wand"}}}}});
  EXPECT_EQ(messageOf(text, ErrorKind::unsupported),
            "types that are not supported: normalizer 'Magic', "
            "decoder.decoders[1] 'Wand'");
  EXPECT_EQ(messageOf(changed(byteLevelJson(), "/model/dropout", 0.1),
                      ErrorKind::unsupported),
            "model.dropout: merges are not left out at random, it may be null");
  EXPECT_EQ(messageOf(changed(byteLevelJson(), "/model/newer", 1),
                      ErrorKind::unsupported),
            "model: unknown fields: newer");
}

/// Every value of a file is left out, and becomes others. What is refused says
/// a path; what is taken can be used.
static void mutateAll(const std::string &text, size_t &refused) {
  json file = json::parse(text);
  json flat = file.flatten();
  const json values[] = {nullptr,
                         true,
                         -1,
                         1e300,
                         4294967296,
                         "",
                         "\n",
                         "(",
                         json::array(),
                         json::object(),
                         json::array({1}),
                         0.5};
  auto attempt = [&](const json &mutant) {
    try {
      Tokenizer tokenizer = Tokenizer::from_json(mutant.dump());
      for (const char *line : {"the playing ab", "a\n é", ""})
        tokenizer.decode(tokenizer.encode(line, line).ids);
    } catch (const Error &error) {
      EXPECT_NE(error.kind(), ErrorKind::internal);
      EXPECT_FALSE(error.message().empty());
      ++refused;
    }
  };
  size_t step = std::max<size_t>(flat.size() / 60, 1), number = 0;
  for (const auto &[path, value] : flat.items()) {
    if (number++ % step)
      continue;
    for (json::json_pointer at(path); !at.empty(); at = at.parent_pointer()) {
      for (const json &other : values) {
        json mutant = file;
        mutant[at] = other;
        attempt(mutant);
      }
      json mutant = file;
      json &parent = mutant[at.parent_pointer()];
      if (parent.is_object())
        parent.erase(at.back());
      else
        parent.erase(size_t(std::stoul(at.back())));
      attempt(mutant);
    }
  }
}

TEST(MalformedTokenizer, everyFieldMutated) {
  size_t refused = 0;
  for (const std::string &text :
       {wordPieceJson(), byteLevelJson(), unigramJson()})
    mutateAll(text, refused);
  EXPECT_GT(refused, 500u);
}

TEST(MalformedTokenizer, cutOffAnywhere) {
  std::string text = wordPieceJson();
  for (size_t size = 0; size < text.size(); size += 7)
    EXPECT_THROW(Tokenizer::from_json(text.substr(0, size)), Error);
}

TEST(MalformedTokenizer, aRegexThatBacktracksForeverGivesUp) {
  std::string text = changed(byteLevelJson(), "/pre_tokenizer",
                             {{"type", "Split"},
                              {"pattern", {{"Regex", "^(?:a|aa)+$"}}},
                              {"behavior", "Isolated"},
                              {"invert", false}});
  Tokenizer tokenizer = Tokenizer::from_json(text);
  try {
    tokenizer.encode(std::string(60, 'a') + "!");
    FAIL();
  } catch (const Error &error) {
    EXPECT_NE(error.message().find("gave up"), std::string::npos)
        << error.message();
  }
  EXPECT_EQ(tokenizer.encode("b").ids.size(), 1u);
}

TEST(MalformedTokenizer, hugeNumbersTakeNoMemory) {
  EXPECT_EQ(
      messageOf(changed(wordPieceJson(), "/model/vocab", {{"a", 2147483647}})),
      "added_tokens[0].id: '[UNK]' has id 1 by its place, not 0");
  std::string padded = changed(wordPieceJson(), "/padding",
                               {{"strategy", {{"Fixed", 1000000000000}}},
                                {"direction", "Right"},
                                {"pad_id", 0},
                                {"pad_type_id", 0},
                                {"pad_token", "x"}});
  EXPECT_EQ(messageOf(padded), "padding.strategy.Fixed: 1000000000000 is out "
                               "of range, it may be 0 to 16777216");
}

TEST(MalformedTokenizer, aFileThatIsNotThereIsNamed) {
  try {
    Tokenizer::from_folder("no/such/folder");
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(error.message().find("no/such/folder/tokenizer.json"),
              std::string::npos);
  }
}
