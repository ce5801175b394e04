/// PyTorch programs: what torch.export saved, loaded at run time and recorded
/// as any other computation.
#pragma once

#include <sinter/Creation.h>
#include <sinter/Module.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace sinter::torch {

/// One axis of an input or output as the file describes it.
struct Axis {
  std::string name;            ///< `s0`, `2*s0 + 1`, or empty
  std::optional<int64_t> size; ///< of one that is not open
  /// Of an open one that is a symbol: sizes that the program was made for.
  std::optional<int64_t> least, most;
};

/// An input or output as the file describes it.
struct ValueInfo {
  std::string name;
  std::string type; ///< as printed: `f32[s0,3,224,224]`
  std::optional<DType> dtype;
  std::vector<Axis> shape;
};

struct LoadedProgram;
class ModelMaker;

/// How a program is loaded.
struct LoadOptions {
  /// Of the parameters; default: the thread's default device.
  std::optional<DeviceId> device = {};
  /// Parameters stay where they are in the file: they are read when they are
  /// first used. The file must stay as it is while the model lives. Only where
  /// the device computes in the process's memory (cpu); others copy.
  bool mmap = false;
};

/// Tensors by the names of a program's inputs or outputs.
using NamedTensors = std::map<std::string, Tensor>;

/// A program of torch.export: a module whose parameters and persistent buffers
/// have the names of the state dict (`layers.0.weight`), so that it can be
/// trained, frozen in part, saved and exported. Copies share the file and have
/// parameters of their own.
///
///     sn::torch::Model model = sn::torch::load("net.pt2");
///     sn::Tensor y = model(x);
///     auto outputs = model.run({{"ids", ids}, {"mask", mask}});
///
/// It computes what was exported: dropout and batch statistics are there, or
/// not, as the module was in `train()` or `eval()` then. Buffers that it
/// changes change with every run. Inputs have the names of `forward`'s
/// arguments, outputs the keys of the dict that it returns, `output` of one
/// tensor, `output_0` of a tuple. An input that the program changes in place
/// stays as it is: what it would become is among the outputs, by its name.
///
/// Operators that are understood: docs/torch-operators.md. Every other one is
/// an Error of kind `unsupported` that names it and the line of Python.
class Model {
public:
  using Where = std::source_location;

  const std::vector<ValueInfo> &inputs() const;
  const std::vector<ValueInfo> &outputs() const;
  /// The file's path, or what it was called.
  const std::string &name() const;
  /// What is odd about the file, for people: a newer version of its schema.
  const std::vector<std::string> &notes() const;

  /// Records the program on these inputs and gives its outputs; nothing runs
  /// until they are read. Sizes that the file leaves open are those of the
  /// inputs. An Error of kind `invalid_argument` names an input that is
  /// missing, unknown, or of another type or size than the file allows.
  NamedTensors run(const NamedTensors &inputs,
                   Where where = Where::current()) const;
  /// The output of a program of one input and one output.
  Tensor forward(const Tensor &x) const;

private:
  friend class ModelMaker;
  std::shared_ptr<const LoadedProgram> loaded;
  NamedParams parameters; ///< and buffers
  std::map<std::string, Tensor> constants;

  SINTER_MODULE(Model, parameters, constants)
};

/// Loads a program. An Error of kind `io` says what is wrong with a file, and
/// of kind `unsupported` what is not read.
Model load(const std::string &path, const LoadOptions &options = {},
           std::source_location where = std::source_location::current());
/// The same of a file in memory, which is copied; `name` stands in errors.
Model load(std::span<const std::byte> bytes, const LoadOptions &options = {},
           const std::string &name = "program in memory",
           std::source_location where = std::source_location::current());

} // namespace sinter::torch
