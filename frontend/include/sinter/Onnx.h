/// ONNX models, loaded at run time and recorded as any other computation.
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
#include <variant>
#include <vector>

namespace sinter::onnx {

/// One axis of an input or output as the file describes it.
struct Axis {
  std::string name;            ///< of a size that is left open, or empty
  std::optional<int64_t> size; ///< one that is not
};

/// An input or output as the file describes it.
struct ValueInfo {
  std::string name;
  std::string type;           ///< as printed: `f32[batch,3,224,224]`
  std::optional<DType> dtype; ///< empty for what cannot be computed with
  /// Empty when the file does not say how many axes there are.
  std::optional<std::vector<Axis>> shape;
};

struct LoadedModel;

/// How a model is loaded.
struct LoadOptions {
  /// Of the parameters; default: the thread's default device.
  std::optional<DeviceId> device = {};
  /// Parameters stay where they are in the file, as torch.load's `mmap`: they
  /// are read when they are first used, and no copy is made. The file must stay
  /// as it is while the model lives: one that is cut ends the process. Training
  /// leaves it as it is. Only where the device computes in the process's memory
  /// (cpu); others copy, and so does a model in memory.
  bool mmap = false;
};

/// Tensors by the names of a model's inputs or outputs.
using NamedTensors = std::map<std::string, Tensor>;

/// What a model is given or gives under one name: a tensor, a sequence of
/// tensors, or nothing, which is an optional without an element.
using Content = std::variant<std::monostate, Tensor, std::vector<Tensor>>;
using NamedContents = std::map<std::string, Content>;

/// A model: a module whose parameters are the float initializers of the file
/// that have axes, by their names. They can be trained, but for the running
/// statistics of BatchNormalization. What shapes and loops depend on is taken
/// as it stands in the file. Copies share the file and have parameters of their
/// own.
///
///     sn::onnx::Model model = sn::onnx::load("net.onnx");
///     sn::Tensor y = model.run({{"x", image}}).at("y");
///
/// Operators, versions and attributes that are understood: docs/
/// onnx-operators.md. Every other one is an Error of kind `unsupported` that
/// names the operator, its opset, the node and the file.
class Model {
public:
  using Where = std::source_location;

  /// Those that have to be given; initializers are none of them.
  const std::vector<ValueInfo> &inputs() const;
  const std::vector<ValueInfo> &outputs() const;
  /// The file's path, or what it was called.
  const std::string &name() const;

  /// Records the model on these inputs and gives its outputs; nothing runs
  /// until they are read. Sizes that the file leaves open are those of the
  /// inputs. Small inputs of integers that shapes depend on are read, if they
  /// have values. An Error of kind `invalid_argument` names an input that is
  /// missing, unknown or of another type than the file says.
  NamedTensors run(const NamedTensors &inputs,
                   Where where = Where::current()) const;
  /// The same of a model whose inputs or outputs are sequences or optionals.
  NamedContents run_contents(const NamedContents &inputs,
                             Where where = Where::current()) const;
  /// The output of a model of one input and one output.
  Tensor forward(const Tensor &x) const;

private:
  friend Model loadModel(std::shared_ptr<const LoadedModel> loaded,
                         const LoadOptions &options);
  std::shared_ptr<const LoadedModel> loaded;
  NamedParams parameters;
  std::map<std::string, Tensor> constants;

  SINTER_MODULE(Model, parameters, constants)
};

/// Loads a model. Tensors may stand in other files of the model's folder; none
/// outside of it is read. An Error of kind `io` says what is wrong with a file,
/// and of kind `unsupported` that it is of a version that is not read.
Model load(const std::string &path, const LoadOptions &options = {},
           std::source_location where = std::source_location::current());
/// The same of a model in memory, which is copied; `name` stands in errors.
Model load(std::span<const std::byte> bytes, const LoadOptions &options = {},
           const std::string &name = "model in memory",
           std::source_location where = std::source_location::current());

} // namespace sinter::onnx
