/// Every kind of model, of folders that transformers wrote, and its outputs.
#include "tests/unit/huggingface/GoldenFolder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::hf_test;
using testing::Contains;
using testing::HasSubstr;

constexpr double near = 1e-4;

TEST(HuggingFaceModels, bert) {
  StateDict golden = goldenOf("bert");
  hf::FolderReport report;
  hf::Bert model = hf::Bert::from_folder(folderOf("bert"), {}, &report);
  EXPECT_EQ(report.architecture, "BertModel");
  EXPECT_TRUE(report.tensors.complete());
  EXPECT_THAT(report.ignored_keys, Contains("transformers_version"));
  hf::BertOutput output =
      model(golden.at("input_ids"),
            hf::EncoderInputs{.attention_mask = golden.at("attention_mask"),
                              .token_type_ids = golden.at("token_type_ids")});
  EXPECT_LT(
      differenceOf(output.last_hidden_state, golden.at("last_hidden_state")),
      near);
  EXPECT_LT(differenceOf(output.pooler_output, golden.at("pooler_output")),
            near);
}

TEST(HuggingFaceModels, bertOfOlderNames) {
  StateDict golden = goldenOf("bert-classifier");
  hf::FolderReport report;
  hf::BertClassifier model =
      hf::BertClassifier::from_folder(folderOf("bert-classifier"), {}, &report);
  EXPECT_THAT(report.renamed, Contains("bert.embeddings.LayerNorm.gamma -> "
                                       "bert.embeddings.LayerNorm.weight"));
  EXPECT_THAT(report.tensors.unused, Contains("bert.embeddings.position_ids"));
  Tensor scores =
      model(golden.at("input_ids"),
            hf::EncoderInputs{.attention_mask = golden.at("attention_mask")});
  EXPECT_LT(differenceOf(scores, golden.at("logits")), near);
}

TEST(HuggingFaceModels, bertWithoutItsHead) {
  hf::FolderReport report;
  hf::Bert model =
      hf::Bert::from_folder(folderOf("bert-classifier"), {}, &report);
  EXPECT_THAT(report.tensors.unused, Contains("classifier.weight"));
  EXPECT_THAT(report.text(), HasSubstr("classifier.weight"));
  EXPECT_TRUE(model.pooler);
  hf::Bert without = hf::Bert::from_folder(folderOf("bert-masked-lm"));
  EXPECT_FALSE(without.pooler);
}

TEST(HuggingFaceModels, bertMaskedLm) {
  StateDict golden = goldenOf("bert-masked-lm");
  hf::BertMaskedLM model =
      hf::BertMaskedLM::from_folder(folderOf("bert-masked-lm"));
  Tensor scores =
      model(golden.at("input_ids"),
            hf::EncoderInputs{.attention_mask = golden.at("attention_mask")});
  EXPECT_LT(differenceOf(scores, golden.at("logits")), near);
}

TEST(HuggingFaceModels, roberta) {
  StateDict golden = goldenOf("roberta");
  hf::Bert model = hf::Bert::from_folder(folderOf("roberta"));
  Tensor x =
      model(golden.at("input_ids"),
            hf::EncoderInputs{.attention_mask = golden.at("attention_mask")})
          .last_hidden_state;
  EXPECT_LT(differenceOf(x, golden.at("last_hidden_state")), near);
}

TEST(HuggingFaceModels, distilBert) {
  StateDict golden = goldenOf("distilbert-classifier");
  hf::DistilBertClassifier model =
      hf::DistilBertClassifier::from_folder(folderOf("distilbert-classifier"));
  Tensor scores =
      model(golden.at("input_ids"),
            hf::EncoderInputs{.attention_mask = golden.at("attention_mask")});
  EXPECT_LT(differenceOf(scores, golden.at("logits")), near);
}

/// The losses of steps of gradient descent.
template <typename M>
static std::vector<float> lossesOf(M &model, const Tensor &ids, size_t count) {
  optim::Sgd optimizer({.lr = 0.05});
  std::vector<float> losses;
  for (size_t step = 0; step < count; ++step) {
    Tensor scores = model(narrow(ids, 1, 0, 5));
    Tensor loss =
        cross_entropy(flatten(scores, 0, 1), flatten(narrow(ids, 1, 1, 5)));
    optimizer.step(model, loss.backward());
    losses.push_back(loss.item<float>());
  }
  return losses;
}

/// Scores of whole texts, of texts that are filled up on the left, and of the
/// words one after the other.
template <typename M> static void checkDecoder(const std::string &name) {
  StateDict golden = goldenOf(name);
  M model = M::from_folder(folderOf(name));
  Tensor ids = golden.at("input_ids"), wanted = golden.at("logits");
  EXPECT_LT(differenceOf(model(ids), wanted), near);

  Tensor mask = golden.at("attention_mask");
  Tensor padded =
      model(ids, hf::DecoderInputs{.attention_mask = mask,
                                   .position_ids = golden.at("position_ids")});
  EXPECT_LT(differenceOf(padded, golden.at("padded"), mask), near);

  hf::KeyValueCache cache(8);
  Tensor first =
      model(narrow(ids, 1, 0, 3), hf::DecoderInputs{.cache = &cache});
  EXPECT_LT(differenceOf(first, narrow(wanted, 1, 0, 3)), near);
  for (int64_t i = 3; i < 6; ++i) {
    Tensor next =
        model(narrow(ids, 1, i, 1), hf::DecoderInputs{.cache = &cache});
    EXPECT_LT(differenceOf(next, narrow(wanted, 1, i, 1)), near) << i;
  }
  EXPECT_EQ(cache.length(), 6);
  EXPECT_THAT(problemOf([&] {
                model(narrow(ids, 1, 0, 3), hf::DecoderInputs{.cache = &cache});
              }),
              HasSubstr("3 words do not fit a cache of 8 that has 6"));

  Tensor text = model.generate(ids, {.max_new_tokens = 6});
  EXPECT_EQ(text.to_vector<int64_t>(),
            golden.at("generated").to_vector<int64_t>());
  text = model.generate(ids, {.max_new_tokens = 6, .attention_mask = mask});
  EXPECT_EQ(text.to_vector<int64_t>(),
            golden.at("generated.padded").to_vector<int64_t>());

  std::vector<float> losses = golden.at("losses").to_vector<float>();
  EXPECT_THAT(lossesOf(model, ids, losses.size()),
              testing::Pointwise(testing::FloatNear(1e-4F), losses));
}

TEST(HuggingFaceModels, gpt2) { checkDecoder<hf::Gpt2>("gpt2"); }
TEST(HuggingFaceModels, llama) { checkDecoder<hf::Llama>("llama"); }
TEST(HuggingFaceModels, mistral) { checkDecoder<hf::Llama>("mistral"); }
TEST(HuggingFaceModels, qwen2) { checkDecoder<hf::Llama>("qwen2"); }
TEST(HuggingFaceModels, qwen3) { checkDecoder<hf::Llama>("qwen3"); }

TEST(HuggingFaceModels, generationEnds) {
  hf::Gpt2 model = hf::Gpt2::from_folder(folderOf("gpt2"));
  StateDict golden = goldenOf("gpt2");
  std::vector<int64_t> all = golden.at("generated").to_vector<int64_t>();
  Tensor ids = narrow(golden.at("input_ids"), 0, 0, 1);
  Tensor text = model.generate(ids, {.max_new_tokens = 6, .eos = {all[7]}});
  std::vector<int64_t> words = text.to_vector<int64_t>();
  EXPECT_LE(words.size(), 8u);
  EXPECT_EQ(words.back(), all[7]);
  EXPECT_EQ(model.generate(ids, {.max_new_tokens = 0}).numel(), 6);
}

TEST(HuggingFaceModels, rotaryAngles) {
  StateDict golden = goldenOf("llama");
  hf::LlamaConfig plain = hf::Llama::from_folder(folderOf("llama")).config;
  plain.rope.theta = 100;
  auto difference = [&](const char *name, const hf::LlamaConfig &config) {
    hf::Llama model(config);
    model.load(folderOf("llama") + "/model.safetensors");
    return differenceOf(model(golden.at("input_ids")),
                        golden.at(std::string("logits.") + name));
  };
  hf::LlamaConfig config = plain;
  config.rope.type = hf::RopeType::linear;
  config.rope.factor = 2;
  EXPECT_LT(difference("linear", config), near);
  config.rope.type = hf::RopeType::dynamic;
  config.max_position_embeddings = 4;
  EXPECT_LT(difference("dynamic", config), near);
  config.rope.type = hf::RopeType::llama3;
  config.rope.original_max_position_embeddings = 8;
  config.rope.factor = 4;
  EXPECT_LT(difference("llama3", config), near);
  config.rope.type = hf::RopeType::yarn;
  EXPECT_LT(difference("yarn", config), near);
  EXPECT_GT(difference("llama3", config), near);
}

/// The same model, as llama.cpp has it.
static void checkGguf(const std::string &name) {
  StateDict golden = goldenOf(name);
  hf::FolderReport report;
  hf::Llama model =
      hf::Llama::from_gguf(folderOf(name) + "/model.gguf", {}, &report);
  EXPECT_EQ(report.architecture, name);
  EXPECT_TRUE(report.tensors.complete());
  EXPECT_LT(differenceOf(model(golden.at("input_ids")), golden.at("logits")),
            near);
}

TEST(HuggingFaceModels, llamaOfGguf) { checkGguf("llama"); }
TEST(HuggingFaceModels, qwenOfGguf) { checkGguf("qwen3"); }

TEST(HuggingFaceModels, divisorsOfFrequencies) {
  hf::RopeParameters plain, stretched;
  stretched.type = hf::RopeType::llama3;
  stretched.original_max_position_embeddings = 64;
  stretched.factor = 8;
  std::vector<float> wanted = hf::Rotary(stretched, 16, 512).frequencies(1);
  std::vector<float> before = hf::Rotary(plain, 16, 512).frequencies(1);
  for (size_t i = 0; i < wanted.size(); ++i)
    plain.divisors.push_back(before[i] / wanted[i]);
  std::vector<float> got = hf::Rotary(plain, 16, 512).frequencies(1);
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_FLOAT_EQ(got[i], wanted[i]);
  EXPECT_NE(got.back(), before.back());
}

TEST(HuggingFaceModels, vit) {
  StateDict golden = goldenOf("vit");
  hf::Vit model = hf::Vit::from_folder(folderOf("vit"));
  hf::VitOutput output = model(golden.at("pixel_values"));
  EXPECT_LT(
      differenceOf(output.last_hidden_state, golden.at("last_hidden_state")),
      near);
  EXPECT_LT(differenceOf(output.pooler_output, golden.at("pooler_output")),
            near);
  EXPECT_THAT(problemOf([&] { model(zeros({1, 3, 8, 8})); }),
              HasSubstr("images are [batch,3,8,12], not f32[1,3,8,8]"));
}

TEST(HuggingFaceModels, vitClassifier) {
  StateDict golden = goldenOf("vit-classifier");
  hf::VitClassifier model =
      hf::VitClassifier::from_folder(folderOf("vit-classifier"));
  EXPECT_LT(differenceOf(model(golden.at("pixel_values")), golden.at("logits")),
            near);
}

TEST(HuggingFaceModels, whisper) {
  StateDict golden = goldenOf("whisper");
  hf::Whisper model = hf::Whisper::from_folder(folderOf("whisper"));
  Tensor encoded = model.encode(golden.at("input_features"));
  EXPECT_LT(differenceOf(encoded, golden.at("encoder_last_hidden_state")),
            near);
  Tensor scores = model.decode(golden.at("decoder_input_ids"), encoded);
  EXPECT_LT(differenceOf(scores, golden.at("logits")), near);
  Tensor begin = narrow(golden.at("decoder_input_ids"), 1, 0, 2);
  Tensor text =
      model.generate(golden.at("input_features"), begin, {.max_new_tokens = 5});
  EXPECT_EQ(text.to_vector<int64_t>(),
            golden.at("generated").to_vector<int64_t>());
  EXPECT_THAT(problemOf([&] { model.encode(zeros({1, 5, 11})); }),
              HasSubstr("features are [batch,5,12], not f32[1,5,11]"));
}

template <typename M> static bool isKind(const char *name) {
  return std::holds_alternative<M>(hf::load(folderOf(name)));
}

TEST(HuggingFaceModels, anyKind) {
  EXPECT_TRUE(isKind<hf::Bert>("bert"));
  EXPECT_TRUE(isKind<hf::Bert>("roberta"));
  EXPECT_TRUE(isKind<hf::BertClassifier>("bert-classifier"));
  EXPECT_TRUE(isKind<hf::BertMaskedLM>("bert-masked-lm"));
  EXPECT_TRUE(isKind<hf::DistilBertClassifier>("distilbert-classifier"));
  EXPECT_TRUE(isKind<hf::Gpt2>("gpt2"));
  EXPECT_TRUE(isKind<hf::Llama>("llama"));
  EXPECT_TRUE(isKind<hf::Vit>("vit"));
  EXPECT_TRUE(isKind<hf::VitClassifier>("vit-classifier"));
  EXPECT_TRUE(isKind<hf::Whisper>("whisper"));
}

TEST(HuggingFaceModels, halfPrecision) {
  hf::Llama model =
      hf::Llama::from_folder(folderOf("llama"), {.dtype = DType::bf16});
  model.visit([](const std::string &path, const Param &param) {
    EXPECT_EQ(param.dtype(), DType::bf16) << path;
  });
  StateDict golden = goldenOf("llama");
  Tensor scores = model(golden.at("input_ids"));
  EXPECT_EQ(scores.dtype(), DType::bf16);
  EXPECT_LT(differenceOf(scores, golden.at("logits")), 0.05);
}

TEST(HuggingFaceModels, areRecorded) {
  StateDict golden = goldenOf("llama");
  hf::Llama model = hf::Llama::from_folder(folderOf("llama"));
  auto scores = jit([&](const Tensor &ids) { return model(ids); });
  Tensor ids = golden.at("input_ids");
  EXPECT_LT(differenceOf(scores(ids), golden.at("logits")), near);
  hf::KeyValueCache cache(8);
  auto next = jit([&](const Tensor &words) {
    return model(words, hf::DecoderInputs{.cache = &cache});
  });
  EXPECT_THAT(problemOf([&] { next(ids); }),
              HasSubstr("a cache in a function that is recorded"));
}

TEST(HuggingFaceModels, openLengths) {
  StateDict golden = goldenOf("mistral");
  hf::Llama model = hf::Llama::from_folder(folderOf("mistral"));
  Tensor ids = golden.at("input_ids"), wanted = golden.at("logits");
  for (int64_t length : {2, 3, 5, 6}) {
    Tensor words =
        tensor(narrow(ids, 1, 0, length).to_vector<int64_t>(), {2, length});
    words.dynamic(1);
    EXPECT_LT(differenceOf(model(words), narrow(wanted, 1, 0, length)), near)
        << length;
  }
}
