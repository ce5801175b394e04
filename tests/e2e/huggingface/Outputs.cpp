/// huggingface-outputs: what a model of a folder gives for inputs of a file.
///
///     huggingface-outputs FOLDER INPUTS.safetensors OUT.safetensors
///         [--dtype NAME] [--generate COUNT]
///
/// Inputs and outputs have the names of transformers. FOLDER may be a GGUF
/// file of Llama. Prints what was loaded, and how long it took.
#include "runtime/params/Safetensors.h"

#include <sinter/Basic.h>
#include <sinter/HuggingFace.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

using namespace sinter;

namespace {

using Named = std::map<std::string, Tensor>;

/// Inputs by name; those that are not there are empty.
class Inputs {
public:
  explicit Inputs(const std::string &file) : state(read_state(file)) {}
  Tensor operator[](const char *name) const {
    return state.contains(name) ? state.at(name) : Tensor();
  }

private:
  StateDict state;
};

hf::EncoderInputs encoderInputs(const Inputs &inputs) {
  return {.attention_mask = inputs["attention_mask"],
          .token_type_ids = inputs["token_type_ids"],
          .position_ids = inputs["position_ids"]};
}

Named outputsOf(const hf::Bert &model, const Inputs &inputs, int64_t) {
  hf::BertOutput y = model(inputs["input_ids"], encoderInputs(inputs));
  Named outputs{{"last_hidden_state", y.last_hidden_state}};
  if (y.pooler_output.defined())
    outputs["pooler_output"] = y.pooler_output;
  return outputs;
}

template <typename M>
  requires std::is_same_v<M, hf::BertClassifier> ||
           std::is_same_v<M, hf::BertMaskedLM> ||
           std::is_same_v<M, hf::RobertaClassifier> ||
           std::is_same_v<M, hf::RobertaMaskedLM> ||
           std::is_same_v<M, hf::DistilBertClassifier>
Named outputsOf(const M &model, const Inputs &inputs, int64_t) {
  return {{"logits", model(inputs["input_ids"], encoderInputs(inputs))}};
}

template <typename M>
  requires std::is_same_v<M, hf::Gpt2> || std::is_same_v<M, hf::Llama>
Named outputsOf(const M &model, const Inputs &inputs, int64_t words) {
  hf::DecoderInputs more{.attention_mask = inputs["attention_mask"],
                         .position_ids = inputs["position_ids"]};
  Tensor ids = inputs["input_ids"];
  Named outputs{{"logits", model(ids, more)}};
  if (words > 0) {
    outputs["logits"].eval();
    auto begin = std::chrono::steady_clock::now();
    uint64_t before = stats().compiles + stats().disk_hits;
    outputs["generated"] = model.generate(ids, {.max_new_tokens = words});
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    std::printf("%lld words in %.2f s, %llu programs\n",
                static_cast<long long>(words), took.count(),
                static_cast<unsigned long long>(stats().compiles +
                                                stats().disk_hits - before));
  }
  return outputs;
}

Named outputsOf(const hf::DistilBert &model, const Inputs &inputs, int64_t) {
  return {
      {"last_hidden_state", model(inputs["input_ids"], encoderInputs(inputs))}};
}

Named outputsOf(const hf::Vit &model, const Inputs &inputs, int64_t) {
  hf::VitOutput y = model(inputs["pixel_values"]);
  Named outputs{{"last_hidden_state", y.last_hidden_state}};
  if (y.pooler_output.defined())
    outputs["pooler_output"] = y.pooler_output;
  return outputs;
}

Named outputsOf(const hf::VitClassifier &model, const Inputs &inputs, int64_t) {
  return {{"logits", model(inputs["pixel_values"])}};
}

Named outputsOf(const hf::Whisper &model, const Inputs &inputs, int64_t) {
  Tensor encoded = model.encode(inputs["input_features"]);
  return {{"encoder_last_hidden_state", encoded},
          {"logits", model.decode(inputs["decoder_input_ids"], encoded)}};
}

void write(const Named &outputs, const std::string &file) {
  std::vector<std::vector<float>> values;
  std::vector<runtime::NamedTensor> tensors;
  for (const auto &[name, tensor] : outputs) {
    values.push_back(tensor.to_vector<float>());
    std::vector<int64_t> shape;
    for (Dim dim : tensor.shape())
      shape.push_back(dim.value);
    tensors.push_back({name, DType::f32, shape,
                       std::as_bytes(std::span<const float>(values.back()))});
  }
  if (Status status = runtime::writeSafetensors(file, tensors); !status)
    throw Error(status.takeError());
}

hf::AnyModel open(const std::string &path, const hf::LoadOptions &options) {
  hf::FolderReport report;
  hf::AnyModel model = path.ends_with(".gguf")
                           ? hf::Llama::from_gguf(path, options, &report)
                           : hf::load(path, options, &report);
  std::printf("%s", report.text().c_str());
  return model;
}

int run(const std::vector<std::string> &arguments) {
  hf::LoadOptions options;
  int64_t words = 0;
  for (size_t i = 3; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] == "--generate")
      words = std::stoll(arguments[i + 1]);
    if (arguments[i] == "--dtype")
      options.dtype = arguments[i + 1] == "bf16" ? DType::bf16 : DType::f32;
  }
  auto begin = std::chrono::steady_clock::now();
  hf::AnyModel model = open(arguments[0], options);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("loaded in %.3f s\n", took.count());
  Inputs inputs(arguments[1]);
  no_grad guard;
  Named outputs = std::visit(
      [&](const auto &own) { return outputsOf(own, inputs, words); }, model);
  write(outputs, arguments[2]);
  return 0;
}

} // namespace

int main(int count, char **arguments) try {
  if (count < 4) {
    std::fprintf(stderr, "usage: huggingface-outputs FOLDER INPUTS OUT "
                         "[--dtype NAME] [--generate COUNT]\n");
    return 2;
  }
  return run({arguments + 1, arguments + count});
} catch (const std::exception &error) {
  std::fprintf(stderr, "huggingface-outputs: %s\n", error.what());
  return 1;
}
