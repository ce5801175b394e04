/// What users call: encoding, decoding, batches, tensors.
#include "tests/unit/tokenizers/Small.h"

#include <sinter/Error.h>

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::text;
using Ids = std::vector<int32_t>;

TEST(Tokenizer, wordPieceFindsTheLongestPieces) {
  Tokenizer tokenizer = Tokenizer::from_json(wordPieceJson());
  Encoding encoding = tokenizer.encode("Playing the Café.");
  EXPECT_EQ(encoding.ids, (Ids{1, 3, 4, 6, 7, 8, 2}));
  EXPECT_EQ(encoding.tokens[2], "##ing");
  EXPECT_EQ(encoding.offsets[4], (Offset{12, 16}));
  EXPECT_EQ(encoding.special_tokens_mask,
            (std::vector<uint8_t>{1, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(encoding.word_ids, (Ids{-1, 0, 0, 1, 2, 3, -1}));
  EXPECT_EQ(tokenizer.decode(encoding.ids), "playing the cafe.");
}

TEST(Tokenizer, offsetsCountCharactersOrBytes) {
  Tokenizer tokenizer = Tokenizer::from_json(wordPieceJson());
  Encoding bytes = tokenizer.encode(
      "é the", {.special_tokens = false, .offsets = OffsetUnit::bytes});
  EXPECT_EQ(bytes.offsets[1], (Offset{3, 6}));
  Encoding none = tokenizer.encode("é the", {.offsets = OffsetUnit::none});
  EXPECT_TRUE(none.offsets.empty() && none.tokens.empty());
  EXPECT_EQ(none.ids, (Ids{1, 0, 6, 2}));
}

TEST(Tokenizer, pairsHaveTypes) {
  Tokenizer tokenizer = Tokenizer::from_json(wordPieceJson());
  Encoding encoding = tokenizer.encode("the", "plays");
  EXPECT_EQ(encoding.ids, (Ids{1, 6, 2, 3, 5, 2}));
  EXPECT_EQ(encoding.type_ids, (Ids{0, 0, 0, 1, 1, 1}));
}

TEST(Tokenizer, byteLevelTakesEveryText) {
  Tokenizer tokenizer = Tokenizer::from_json(byteLevelJson());
  EXPECT_EQ(tokenizer.encode("ab abc").tokens,
            (std::vector<std::string>{"ab", "Ġab", "c"}));
  for (const std::string &text :
       {std::string("日本\n\t é\xF0\x9F\x98\x80"), std::string("a\0b", 3),
        std::string(300, 'a')})
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text).ids), text);
  // A token that is a part of a character stands for all of it.
  EXPECT_EQ(tokenizer.encode("é").offsets,
            (std::vector<Offset>{{0, 1}, {0, 1}}));
}

TEST(Tokenizer, unigramTakesTheLikeliest) {
  Tokenizer tokenizer = Tokenizer::from_json(unigramJson());
  EXPECT_EQ(tokenizer.encode("ab ababzz").ids, (Ids{5, 1, 6, 0}));
  EXPECT_EQ(tokenizer.encode("ab ababzz").tokens.back(), "zz");
  EXPECT_EQ(tokenizer.decode(Ids{5, 1, 6}), "ab abab");
}

/// The package reads -7.2285807914839175 as -7.228580791483917, and then both
/// ways are as likely.
TEST(Tokenizer, unigramScoresAreThoseThatThePackageReads) {
  auto idsWith = [](const std::string &score) {
    return Tokenizer::from_json(R"({"version": "1.0", "added_tokens": [],
"model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false, "vocab": [
 ["<unk>", -20], ["a", 0.0], ["b", -7.228580791483917], ["ab", )" +
                                score + "]]}}")
        .encode("ab")
        .ids;
  };
  EXPECT_EQ(idsWith("-7.2285807914839175"), (Ids{3}));
  EXPECT_EQ(idsWith("-7.228580791483919"), (Ids{1, 2}));
  EXPECT_EQ(idsWith("-5e-324"), (Ids{3}));
  EXPECT_EQ(idsWith("-1.7976931348623157e+308"), (Ids{1, 2}));
}

TEST(Tokenizer, batchesDoNotDependOnWorkers) {
  Tokenizer tokenizer = Tokenizer::from_json(byteLevelJson());
  std::vector<std::string> texts;
  for (int i = 0; i < 500; ++i)
    texts.push_back("abc ab " + std::to_string(i * 7919));
  auto one = tokenizer.encode_batch(texts),
       many = tokenizer.encode_batch(texts, 4);
  ASSERT_EQ(one.size(), many.size());
  for (size_t i = 0; i < one.size(); ++i)
    EXPECT_EQ(one[i].ids, many[i].ids);
}

TEST(Tokenizer, aBatchNamesTheTextThatFails) {
  Tokenizer tokenizer = Tokenizer::from_json(byteLevelJson());
  std::vector<std::string> texts(100, "ab");
  texts[41] = "a\xFF";
  texts[80] = "\xC0\x80";
  for (int64_t workers : {1, 4})
    try {
      tokenizer.encode_batch(texts, workers);
      FAIL();
    } catch (const Error &error) {
      EXPECT_EQ(error.message(), "text 41: the text is not UTF-8 at byte 1");
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    }
}

TEST(Tokenizer, truncationKeepsWhatItCutsOff) {
  Tokenizer tokenizer = Tokenizer::from_json(wordPieceJson());
  tokenizer.truncation = Truncation{.max_length = 4, .stride = 1};
  Encoding encoding = tokenizer.encode("the the play the");
  EXPECT_EQ(encoding.ids, (Ids{1, 6, 6, 2}));
  // The template knows the text alone.
  ASSERT_EQ(encoding.overflowing.size(), 2u);
  EXPECT_EQ(encoding.overflowing[0].ids, (Ids{1, 6, 3, 2}));
  tokenizer.truncation = Truncation{.max_length = 1};
  EXPECT_THROW(tokenizer.encode("the"), Error);
}

TEST(Tokenizer, paddingMakesTextsEquallyLong) {
  Tokenizer tokenizer = Tokenizer::from_json(wordPieceJson());
  tokenizer.padding = Padding{.multiple_of = 4, .side = Side::left};
  std::vector<std::string> texts = {"the", "the play the"};
  auto all = tokenizer.encode_batch(texts);
  EXPECT_EQ(all[0].ids, (Ids{0, 0, 0, 0, 0, 1, 6, 2}));
  EXPECT_EQ(all[1].attention_mask,
            (std::vector<uint8_t>{0, 0, 0, 1, 1, 1, 1, 1}));
}

TEST(Tokenizer, tensorsAreWhatModelsTake) {
  Tokenizer tokenizer = Tokenizer::from_json(wordPieceJson());
  std::vector<std::string> texts = {"the", "the play"};
  BatchTensors batch = tokenizer.tensors(texts);
  EXPECT_EQ(batch.ids.to_vector<int64_t>(),
            (std::vector<int64_t>{1, 6, 2, 0, 1, 6, 3, 2}));
  EXPECT_EQ(batch.attention_mask.to_vector<int64_t>(),
            (std::vector<int64_t>{1, 1, 1, 0, 1, 1, 1, 1}));
  EXPECT_EQ(tokenizer.decode(batch.ids),
            (std::vector<std::string>{"the", "the play"}));
}

TEST(Tokenizer, aStreamGivesWholeCharacters) {
  Tokenizer tokenizer = Tokenizer::from_json(byteLevelJson());
  std::string text = "ab é日 c";
  DecodeStream stream(tokenizer);
  std::string all;
  size_t empty = 0;
  for (int32_t id : tokenizer.encode(text).ids) {
    std::string step = stream.step(id);
    empty += step.empty();
    all += step;
  }
  EXPECT_EQ(all + stream.finish(), text);
  EXPECT_EQ(empty, 3u);
  DecodeStream broken(tokenizer);
  Ids ids = tokenizer.encode("é").ids;
  EXPECT_EQ(broken.step(ids[0]), "");
  EXPECT_EQ(broken.finish(), "\xEF\xBF\xBD");
}

TEST(Tokenizer, tokensAndIds) {
  Tokenizer tokenizer = Tokenizer::from_json(wordPieceJson());
  EXPECT_EQ(tokenizer.token_to_id("play"), 3);
  EXPECT_EQ(tokenizer.token_to_id("nothing"), std::nullopt);
  EXPECT_EQ(tokenizer.id_to_token(4), "##ing");
  EXPECT_EQ(tokenizer.id_to_token(-1), std::nullopt);
  EXPECT_EQ(tokenizer.id_to_token(INT32_MAX), std::nullopt);
  EXPECT_EQ(tokenizer.vocab_size(), 9);
}

TEST(Tokenizer, anEmptyOneSaysSo) {
  EXPECT_THROW(Tokenizer().encode("a"), Error);
  EXPECT_THROW(Tokenizer().decode(Ids{1}), Error);
}
