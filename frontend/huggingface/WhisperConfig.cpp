/// WhisperConfig of config.json, and Whisper of a folder.
#include "frontend/huggingface/Configs.h"

#include <fmt/format.h>

namespace sinter::hf {

/// Heads of the encoder or the decoder.
static int64_t headsOf(ConfigReader &config, std::string_view key,
                       int64_t size) {
  int64_t heads = config.size(key, 6, mostHeads);
  if (size % heads != 0)
    config.refuse(key, fmt::format("is {}, which does not divide the d_model "
                                   "{}",
                                   heads, size));
  return heads;
}

/// Seven of each attention, as keys have no bias, four of the MLP, and norms.
static constexpr int64_t tensorsOfEncoderLayer = 15, tensorsOfDecoderLayer = 24;

WhisperConfig readWhisperConfig(Folder &folder) {
  folder.requireType({"whisper"});
  ConfigReader &config = folder.config();
  WhisperConfig c;
  c.vocab_size = config.size("vocab_size", 51865, mostRows);
  c.num_mel_bins = config.size("num_mel_bins", 80, mostElements);
  c.d_model = config.size("d_model", 384, mostElements);
  c.encoder_layers = config.size("encoder_layers", 4, mostLayers);
  c.decoder_layers = config.size("decoder_layers", 4, mostLayers);
  c.encoder_attention_heads =
      headsOf(config, "encoder_attention_heads", c.d_model);
  c.decoder_attention_heads =
      headsOf(config, "decoder_attention_heads", c.d_model);
  c.encoder_ffn_dim = config.size("encoder_ffn_dim", 1536, mostElements);
  c.decoder_ffn_dim = config.size("decoder_ffn_dim", 1536, mostElements);
  c.max_source_positions = config.size("max_source_positions", 1500, mostRows);
  c.max_target_positions = config.size("max_target_positions", 448, mostRows);
  c.activation_function =
      config.activation("activation_function", Activation::gelu);
  c.dropout = config.probability("dropout", 0);
  c.activation_dropout = config.probability("activation_dropout", 0);
  c.tie_word_embeddings = config.flag("tie_word_embeddings", true);
  config.expectFlag("is_encoder_decoder", true);
  // Of training, of other heads, of what a text is generated with, and another
  // name for a number of layers. transformers reads scale_embedding, too, and
  // scales nothing.
  config.ignore({"attention_dropout", "encoder_layerdrop", "decoder_layerdrop",
                 "num_hidden_layers", "init_std", "scale_embedding",
                 "classifier_proj_size", "use_weighted_layer_sum",
                 "apply_spec_augment", "mask_feature_length",
                 "mask_feature_min_masks", "mask_feature_prob",
                 "mask_time_length", "mask_time_min_masks", "mask_time_prob",
                 "median_filter_width", "alignment_heads", "lang_ids"});
  folder.finishConfig();
  folder.checkLayers("encoder_layers", c.encoder_layers, tensorsOfEncoderLayer);
  folder.checkLayers("decoder_layers", c.decoder_layers, tensorsOfDecoderLayer);
  return c;
}

Whisper makeWhisper(Folder &folder) {
  WhisperConfig config = readWhisperConfig(folder);
  if (config.tie_word_embeddings)
    config.tie_word_embeddings = folder.areTied(
        "model.decoder.embed_tokens.weight", "proj_out.weight", "model.");
  return fromFolder<Whisper>(
      folder, config, "model.",
      [](const WhisperConfig &c, DType dtype) { return Whisper(c, dtype); });
}

Whisper Whisper::from_folder(const std::string &path,
                             const LoadOptions &options, FolderReport *report,
                             Where where) try {
  Folder folder(path, options, report, where);
  return makeWhisper(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::hf
