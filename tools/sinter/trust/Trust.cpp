/// Reads the flags of trust.
#include "tools/sinter/trust/Trust.h"

#include <filesystem>

namespace sinter::cli {

using namespace runtime;

Result<TrustChoice> trustOf(const Arguments &arguments) {
  TrustChoice choice;
  choice.keys = arguments.get("--trusted-keys");
  if (arguments.has("--trust")) {
    SINTER_TRY_ASSIGN(choice.trust,
                      parseTrust("--trust", arguments.get("--trust")));
  } else {
    SINTER_TRY_ASSIGN(choice.trust, defaultTrust());
  }
  return choice;
}

Status checkFile(std::span<const std::byte> bytes, const std::string &path,
                 const TrustChoice &choice) {
  auto check = [&]() -> Status {
    SINTER_TRY_ASSIGN(ModelFile model, readModel(bytes, ModelCheck::untilUse));
    SINTER_TRY_ASSIGN(ModelInfo info, readModelInfo(model));
    std::string folder = std::filesystem::path(path).parent_path();
    if (folder.empty())
      folder = ".";
    return checkTrust({model, info, folder}, choice.trust, choice.keys);
  };
  Status checked = check();
  if (checked)
    return checked;
  ErrorInfo error = checked.takeError();
  error.message = path + ": " + error.message;
  return error;
}

} // namespace sinter::cli
