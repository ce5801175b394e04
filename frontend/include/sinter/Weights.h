/// Weights of other programs: load_state gives a module those of a file,
/// read_state tensors by name.
#pragma once

#include <sinter/Module.h>
#include <sinter/StateDict.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// A change of names: every match of `pattern` becomes `replacement`.
struct Rename {
  /// As std::regex reads ECMAScript, without references back to groups. It may
  /// match anywhere: `^` and `$` stand for the ends of a name.
  std::string pattern;
  std::string replacement; ///< `$1` is the first group, `$&` the whole match
};

/// Gives a parameter's path for a name of the file, or nothing for a tensor
/// that is not wanted.
using KeyFunction =
    std::function<std::optional<std::string>(const std::string &name)>;

/// Which axis of the file's tensor each axis of the parameter is, as `permute`
/// takes them; empty where they are the same.
using AxesFunction = std::function<std::vector<int64_t>(
    const std::string &path, const WeightInfo &tensor)>;

/// How the program that wrote a file orders the axes of weights.
enum class WeightLayout : uint8_t {
  /// As modules have them: Linear [out, in], convolutions [out, in, kernel...].
  torch,
  /// As Flax and Keras have them. A tensor whose name in the file ends in
  /// `kernel` is [in, out] of a Linear, or [kernel..., in, out] of a
  /// convolution; others are as in torch. Kernels of transposed convolutions
  /// and of recurrent layers differ in more than axes: they need code.
  flax,
};

/// How a file's tensors become those of a module. The name of a tensor goes
/// through `top_level_key`, `prefix`, `rename` and `map_key`, in this order;
/// what comes out is the path of a parameter, or the tensor is unused.
struct LoadStateOptions {
  /// Where the weights stand in a checkpoint that holds more: `state_dict`.
  /// Others are left out. An Error where the file has nothing below it.
  std::string top_level_key = {};
  /// What names begin with and paths do not: `model.`. Tensors without it are
  /// unused.
  std::string prefix = {};
  std::vector<Rename> rename = {}; ///< one after the other
  KeyFunction map_key = {};
  /// A pattern, as of Rename: other paths are neither read nor missed.
  std::string only = {};
  WeightLayout layout = WeightLayout::torch;
  AxesFunction axes = {}; ///< asked in place of `layout`
  /// Whether anything missing, unused or mismatched is an Error that lists all
  /// of it, and nothing is changed. Else it stands in the report, and what fits
  /// is loaded.
  bool strict = true;
  /// Whether floats become the parameter's: f32 from f16, bf16 from f32, and
  /// from quantized blocks. Else they are mismatched, as all that differ in
  /// other ways.
  bool convert = true;
  /// Whether integers become the parameter's, too; one that it has no room for
  /// is an Error. Else those of another dtype are mismatched.
  bool integers = false;
  /// Parameters stay where they are in the file, as torch.load's `mmap`: they
  /// are read when they are first used, and no copy is made. The file must stay
  /// as it is while they live: one that is cut ends the process. Training
  /// leaves it as it is. Checksums of archives are not compared. Only of
  /// tensors that need no change, and where the device computes in the
  /// process's memory (cpu); others are copied.
  bool mmap = false;
};

/// What load_state did.
struct LoadReport {
  struct Mismatch {
    std::string path;   ///< of the parameter
    std::string file;   ///< what the file has: `f32[4,8]`
    std::string module; ///< what the module has
    std::string why;    ///< `shapes differ`
  };
  struct Conversion {
    std::string path;
    std::string from; ///< as the file calls it: `F16`, `Q4_1`
    DType to = DType::f32;
  };
  std::vector<std::string> loaded;  ///< paths, in the order of the module
  std::vector<std::string> missing; ///< paths that the file has nothing for
  std::vector<std::string> unused;  ///< names in the file
  std::vector<Mismatch> mismatched;
  std::vector<Conversion> converted;
  std::vector<std::string> notes; ///< what the file holds beside tensors

  /// Whether nothing is missing, unused or mismatched.
  bool complete() const {
    return missing.empty() && unused.empty() && mismatched.empty();
  }
  /// A few lines; of each kind at most `most` names, and how many more.
  std::string text(size_t most = 10) const;
};

namespace detail {
LoadReport loadState(const Fields &fields, const StateDict &state,
                     const LoadStateOptions &options,
                     std::source_location where);
LoadReport loadState(const Fields &fields, const std::string &path,
                     const LoadStateOptions &options,
                     std::source_location where);
} // namespace detail

/// Gives the parameters below `module` the values of a file: safetensors and
/// the index of its shards, PyTorch's checkpoints, `.npz`, GGUF, ONNX and the
/// others of docs/weights.md. Nothing that a file holds is executed. Tied
/// parameters are one: the file needs one of their names, and where it has more
/// their values must be equal. A Tensor is read where the file has one of its
/// path. Parameters without a value get no first value before.
///
///     sn::load_state(net, "resnet.pth", {.prefix = "module."});
///
/// An Error is of kind `io` where the file is damaged, `unsupported` where it
/// is of a kind that is not read, and `invalid_argument` where it does not fit.
/// Then nothing was changed.
template <detail::Module ModuleType>
LoadReport
load_state(ModuleType &module, const std::string &path,
           const LoadStateOptions &options = {},
           std::source_location where = std::source_location::current()) {
  return detail::loadState(detail::allFieldsOf(module), path, options, where);
}
/// The same of tensors that were read before, perhaps changed.
template <detail::Module ModuleType>
LoadReport
load_state(ModuleType &module, const StateDict &state,
           const LoadStateOptions &options = {},
           std::source_location where = std::source_location::current()) {
  return detail::loadState(detail::allFieldsOf(module), state, options, where);
}

} // namespace sinter
