/// Lora: adapters of low rank beside the weights of a model that stays as it
/// is.
#pragma once

#include <sinter/Module.h>
#include <sinter/Patterns.h>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <source_location>
#include <string>

namespace sinter::train {

struct LoraOptions {
  int64_t rank = 8;
  double alpha = 8; ///< the product counts alpha / rank times
  /// Of what is multiplied by the adapter, while the model trains.
  double dropout = 0;
  /// alpha / sqrt(rank) instead (Kalajdzievski, 2023).
  bool rank_stabilized = false;
  /// Whether the selected weights are [in, out], as GPT-2's, and not [out, in].
  bool fan_in_fan_out = false;
  /// Whether all other parameters are frozen as well.
  bool freeze_rest = true;
  std::optional<DType> dtype = {}; ///< of the adapters; the weight's by default
};

/// What add_lora made.
struct LoraReport {
  Selection adapted;     ///< the weights
  int64_t trainable = 0; ///< elements of the model that are trained now
  int64_t total = 0;     ///< elements of all its parameters, adapters too
};
/// `2 weights adapted, 64 of 1344 elements are trained (4.76 %): ...`.
std::ostream &operator<<(std::ostream &stream, const LoraReport &report);

} // namespace sinter::train

namespace sinter::detail {

train::LoraReport addLora(const Fields &fields, const Patterns &patterns,
                          const train::LoraOptions &options,
                          std::source_location where);
void mergeLora(const Fields &fields, std::source_location where);
void removeLora(const Fields &fields, std::source_location where);
void saveLora(const Fields &fields, const std::string &file,
              std::source_location where);
void loadLora(const Fields &fields, const std::string &file,
              std::source_location where);

} // namespace sinter::detail

namespace sinter::train {

/// Gives weights of a model adapters (Hu et al., 2021): where the model reads
/// such a weight W, it finds W + alpha / rank * B A, of which A [rank, in] and
/// B [out, rank] are trained and W is frozen. B is 0 at first, so nothing
/// changes at once. Patterns select the weights among the Params of rank 2 that
/// are made to be trained; the model's class need not know.
///
///     sn::train::add_lora(model, "layers.*.attention.{q,v}",
///                         {.rank = 8, .alpha = 16, .dropout = 0.1});
///
/// A and B are Params of the model: `layers.0.attention.q.weight.lora_A`.
/// Optimizers, files, devices and copies of the model take them along.
///
/// Where the weight is the right operand of `matmul`, as it is or transposed,
/// which is how layers use it, x W and (x A) B are computed apart, and no
/// gradient of W's size. Read in another way (a slice of it, rows of an
/// embedding), it is the sum, without dropout.
///
/// An Error, with nothing changed: a pattern that selects no weight, a weight
/// that has an adapter, a rank below 1, a dropout outside of [0, 1).
template <typename T>
LoraReport
add_lora(T &model, const Patterns &patterns, const LoraOptions &options = {},
         std::source_location where = std::source_location::current()) {
  return sinter::detail::addLora(sinter::detail::allFieldsOf(model), patterns,
                                 options, where);
}

/// Adds all adapters to their weights and takes them away. The weights stay
/// frozen: `unfreeze` ends that. A model without an adapter is an Error, here
/// and below.
template <typename T>
void merge_lora(T &model,
                std::source_location where = std::source_location::current()) {
  sinter::detail::mergeLora(sinter::detail::allFieldsOf(model), where);
}
/// Takes all adapters away: the model is what it was before them.
template <typename T>
void remove_lora(T &model,
                 std::source_location where = std::source_location::current()) {
  sinter::detail::removeLora(sinter::detail::allFieldsOf(model), where);
}

/// Writes the adapters alone, as safetensors with the names of PEFT's
/// adapter_model.safetensors: `base_model.model.fc.lora_A.weight`.
template <typename T>
void save_lora(const T &model, const std::string &file,
               std::source_location where = std::source_location::current()) {
  sinter::detail::saveLora(sinter::detail::allFieldsOf(model), file, where);
}
/// Reads such a file, PEFT's too, into the adapters that the model has: all of
/// them or none. Scale and dropout are the model's.
template <typename T>
void load_lora(T &model, const std::string &file,
               std::source_location where = std::source_location::current()) {
  sinter::detail::loadLora(sinter::detail::allFieldsOf(model), file, where);
}

} // namespace sinter::train
