/// What config.json says, as the structs of the kinds of models.
#pragma once

#include "frontend/huggingface/Folder.h"

#include <sinter/HuggingFace.h>

namespace sinter::hf {

/// Without biases: two norms, four projections and three of the MLP.
constexpr int64_t tensorsOfLlamaLayer = 9;

/// Each reads all of config.json, and looks at the keys that nobody took.
BertConfig readBertConfig(Folder &folder);
DistilBertConfig readDistilBertConfig(Folder &folder);
Gpt2Config readGpt2Config(Folder &folder);
LlamaConfig readLlamaConfig(Folder &folder);
VitConfig readVitConfig(Folder &folder);
WhisperConfig readWhisperConfig(Folder &folder);

/// The models of a folder that is open.
Bert makeBert(Folder &folder);
BertClassifier makeBertClassifier(Folder &folder);
BertMaskedLM makeBertMaskedLM(Folder &folder);
RobertaClassifier makeRobertaClassifier(Folder &folder);
RobertaMaskedLM makeRobertaMaskedLM(Folder &folder);
DistilBert makeDistilBert(Folder &folder);
DistilBertClassifier makeDistilBertClassifier(Folder &folder);
Gpt2 makeGpt2(Folder &folder);
Llama makeLlama(Folder &folder);
Vit makeVit(Folder &folder);
VitClassifier makeVitClassifier(Folder &folder);
Whisper makeWhisper(Folder &folder);

} // namespace sinter::hf
