/// Folder: config.json and the weights of a Hugging Face folder, opened.
#pragma once

#include "frontend/DeviceScope.h"
#include "frontend/Raise.h"
#include "frontend/huggingface/ConfigReader.h"

#include <sinter/hf/Folder.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::hf {

/// An Error that lists what is missing and what does not fit, of a file of
/// weights and of what said what they are.
void requireAll(const LoadReport &loaded, const std::string &weights,
                const std::string &config, const SourceLine &where);

class Folder {
public:
  /// Reads config.json and opens the weights.
  Folder(const std::string &path, const LoadOptions &options,
         FolderReport *report, const SourceLine &where);
  Folder(const Folder &) = delete;

  /// `bert`; an Error where config.json names none.
  const std::string &modelType() const { return type; }
  /// The first of `architectures`, or empty.
  const std::string &architecture() const { return result.architecture; }
  /// An `unsupported` Error unless the model is of one of these types.
  void requireType(std::initializer_list<std::string_view> types) const;

  /// What is read of config.json next.
  ConfigReader &config() { return *reader; }
  /// The end of reading config.json: keys that nobody took are looked at.
  void finishConfig();

  DType dtype() const { return element; }
  DeviceId device() const { return options.device.value_or(default_device()); }
  /// Whether the weights have a tensor of that name of a module, which may
  /// stand without `prefix` there, or with it.
  bool has(std::string_view name, std::string_view prefix) const {
    return find(name, prefix).has_value();
  }
  /// Whether two parameters that config.json says are one are so: where the
  /// weights have both, they must be equal. A table that they lack is read from
  /// the head.
  bool areTied(std::string_view table, std::string_view head,
               std::string_view prefix);
  /// An Error unless there are as many tensors as so many layers need, each of
  /// `tensorsOfLayer` at least.
  void checkLayers(std::string_view key, int64_t layers,
                   int64_t tensorsOfLayer) const;

  /// Gives the module its values. Names are those of the module, but may lack
  /// `prefix`, or have it where the module does not.
  template <detail::Module M> void give(M &module, std::string_view prefix) {
    LoadStateOptions rules = rulesFor(detail::allFieldsOf(module), prefix);
    finish(load_state(module, state, rules, where));
    module.eval();
  }

private:
  std::optional<std::string> find(std::string_view name,
                                  std::string_view prefix) const;
  void findWeights(const std::string &path);
  void readDType();
  LoadStateOptions rulesFor(const detail::Fields &fields,
                            std::string_view prefix);
  void finish(LoadReport loaded);

  runtime::json::Value object;
  LoadOptions options;
  FolderReport *report;
  SourceLine where;
  FolderReport result;
  std::optional<ConfigReader> reader;
  std::string type;
  StateDict state;
  DType element = DType::f32;
  std::string headName, headPath; ///< a name in the file, and what it becomes
};

/// Makes a module of a folder: reads the config, makes the module without
/// values, and gives it those of the folder.
template <typename M, typename Config, typename Make>
M fromFolder(Folder &folder, const Config &config, std::string_view prefix,
             Make make) {
  detail::DeviceScope scope(folder.device());
  M module = make(config, folder.dtype());
  folder.give(module, prefix);
  return module;
}

} // namespace sinter::hf
