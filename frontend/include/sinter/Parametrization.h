/// Parametrization: what is read in the place of a Param's value.
#pragma once

#include <sinter/Param.h>

#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace sinter {

/// Whether a module trains or predicts, for layers where that differs. A field
/// of a module; `train()` and `eval()` set every one below a module.
struct Mode {
  bool training = true;
};

/// Makes of a Param's own value what everybody reads of it, by Params of its
/// own: an adapter of low rank, a weight with its length apart. As
/// torch.nn.utils.parametrize: the module's class need not know of it, and
/// `param.parametrize(form)` is all that is called.
///
/// The parts stand in the module below the Param (`fc.weight.lora_A`), so
/// optimizers, files, devices and copies find them as any other Param.
class Parametrization {
public:
  using Where = std::source_location;

  Parametrization() = default;
  Parametrization(const Parametrization &) = default;
  Parametrization &operator=(const Parametrization &) = delete;
  virtual ~Parametrization();

  /// Its name, for messages.
  virtual std::string kind() const = 0;
  /// One of the same class, whose parts are copies.
  virtual std::shared_ptr<Parametrization> copy() const = 0;
  /// Records what is read: of the type of `own`, the Param's own value.
  virtual Tensor value(const Tensor &own, Where where) const = 0;
  /// The numbers that `value` computes with, as text: they tell traces of
  /// jitted functions apart.
  virtual std::string constants() const { return {}; }

  std::vector<std::pair<std::string, Param>> parts; ///< of any names
  Mode mode;
};

} // namespace sinter
