/// VerifyModel: turns an untrusted model section into a ModelInfo.
#pragma once

#include "runtime/program/ModelError.h"
#include "runtime/program/ModelInfo.h"
#include "runtime/program/ProgramData.h"
#include "runtime/support/Printable.h"

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>

namespace sinter::runtime {

/// Checks everything that the section alone and the size of the weights section
/// tell; what programs have to say is not looked at.
Result<ModelInfo> verifyModel(std::span<const std::byte> section,
                              uint64_t weightBytes);

/// Whether a program has the inputs and outputs of its entry.
Status checkFits(const ModelInfo &info, const EntryPoint &entry,
                 const ProgramData &program);

/// Names of one kind of thing, each once.
class Names {
public:
  explicit Names(const char *what) : what(what) {}
  Status add(const std::string &name) {
    if (name.empty())
      return brokenModel("{} has no name", what);
    if (!taken.insert(name).second)
      return brokenModel("two of {} are named '{}'", what, printableName(name));
    return {};
  }

private:
  const char *what;
  std::set<std::string, std::less<>> taken;
};

} // namespace sinter::runtime
