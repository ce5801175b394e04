/// Hugging Face folders: config.json and weights become a module.
#pragma once

#include <sinter/hf/Bert.h>
#include <sinter/hf/DistilBert.h>
#include <sinter/hf/Gpt2.h>
#include <sinter/hf/Llama.h>
#include <sinter/hf/Roberta.h>
#include <sinter/hf/Vit.h>
#include <sinter/hf/Whisper.h>

#include <source_location>
#include <string>
#include <variant>

namespace sinter::hf {

/// A model of one of the kinds that are known.
using AnyModel =
    std::variant<Bert, BertClassifier, BertMaskedLM, RobertaClassifier,
                 RobertaMaskedLM, DistilBert, DistilBertClassifier, Gpt2, Llama,
                 Vit, VitClassifier, Whisper>;

/// Makes a module of a folder that transformers wrote: config.json and
/// model.safetensors, pytorch_model.bin, or the shards that an index.json
/// names. The kind is what `architectures` says. The module's parameters have
/// the names of transformers, can be trained, and its modes are those of
/// `eval()`. Nothing that the folder holds is executed.
///
///     sn::hf::Llama model = sn::hf::Llama::from_folder("SmolLM2-135M");
///     sn::Tensor text = model.generate(ids, {.max_new_tokens = 50});
///
/// An Error is of kind `io` where a file is damaged or says what cannot be,
/// `unsupported` where the model is none of these or wants what they lack, and
/// `invalid_argument` where weights are missing or do not fit: it lists them.
AnyModel load(const std::string &path, const LoadOptions &options = {},
              FolderReport *report = nullptr,
              std::source_location where = std::source_location::current());

} // namespace sinter::hf
