/// A folder as a model of the kind that config.json names.
#include "frontend/huggingface/Configs.h"

#include <fmt/format.h>

#include <string_view>

namespace sinter::hf {

namespace {
struct Kind {
  std::string_view type; ///< `model_type`, for folders without `architectures`
  std::string_view architecture;
  AnyModel (*make)(Folder &folder);
};
} // namespace

template <auto make> static AnyModel any(Folder &folder) {
  return make(folder);
}

/// The first of a type is what it is without `architectures`.
static constexpr Kind kinds[] = {
    {"bert", "BertModel", any<makeBert>},
    {"bert", "BertForSequenceClassification", any<makeBertClassifier>},
    {"bert", "BertForMaskedLM", any<makeBertMaskedLM>},
    {"roberta", "RobertaModel", any<makeBert>},
    {"xlm-roberta", "XLMRobertaModel", any<makeBert>},
    {"camembert", "CamembertModel", any<makeBert>},
    {"roberta", "RobertaForSequenceClassification", any<makeRobertaClassifier>},
    {"roberta", "RobertaForMaskedLM", any<makeRobertaMaskedLM>},
    {"xlm-roberta", "XLMRobertaForSequenceClassification",
     any<makeRobertaClassifier>},
    {"xlm-roberta", "XLMRobertaForMaskedLM", any<makeRobertaMaskedLM>},
    {"camembert", "CamembertForSequenceClassification",
     any<makeRobertaClassifier>},
    {"camembert", "CamembertForMaskedLM", any<makeRobertaMaskedLM>},
    {"distilbert", "DistilBertModel", any<makeDistilBert>},
    {"distilbert", "DistilBertForSequenceClassification",
     any<makeDistilBertClassifier>},
    {"gpt2", "GPT2LMHeadModel", any<makeGpt2>},
    {"gpt2", "GPT2Model", any<makeGpt2>},
    {"llama", "LlamaForCausalLM", any<makeLlama>},
    {"mistral", "MistralForCausalLM", any<makeLlama>},
    {"qwen2", "Qwen2ForCausalLM", any<makeLlama>},
    {"qwen3", "Qwen3ForCausalLM", any<makeLlama>},
    {"vit", "ViTModel", any<makeVit>},
    {"vit", "ViTForImageClassification", any<makeVitClassifier>},
    {"whisper", "WhisperForConditionalGeneration", any<makeWhisper>},
};

AnyModel load(const std::string &path, const LoadOptions &options,
              FolderReport *report, std::source_location where) try {
  Folder folder(path, options, report, where);
  std::string known;
  for (const Kind &kind : kinds) {
    bool isIt = folder.architecture().empty()
                    ? kind.type == folder.modelType()
                    : kind.architecture == folder.architecture();
    if (isIt)
      return kind.make(folder);
    known += (known.empty() ? "" : ", ") + std::string(kind.architecture);
  }
  const std::string &name = folder.architecture();
  folder.config().lack(
      name.empty() ? "model_type" : "architectures",
      fmt::format(
          "is {}; known are {}",
          runtime::json::quote(name.empty() ? folder.modelType() : name),
          known));
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::hf
