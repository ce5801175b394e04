/// Finds libsinter-trust, and holds files to what is trusted.
#include "runtime/trust/TrustHook.h"

#include "runtime/device/cpu/CheckImage.h"
#include "runtime/files/OwnFolder.h"
#include "runtime/program/VerifyProgram.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Fork.h"

#include <sinter/version.h>

#include <atomic>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>

#include <dlfcn.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

std::atomic<const TrustHook *> registered{nullptr};

ErrorInfo noTrust(const std::string &why) {
  return makeError(ErrorKind::unsupported, "no signatures: " + why);
}

Result<const TrustHook *> openTrust() {
  std::string path = ownFolder() + "/libsinter-trust.so." +
                     std::to_string(SINTER_VERSION_MAJOR) + "." +
                     std::to_string(SINTER_VERSION_MINOR);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return noTrust(dlerror());
  auto *entry =
      reinterpret_cast<const TrustHook *(*)()>(dlsym(library, trustHookSymbol));
  const TrustHook *hook = entry ? entry() : nullptr;
  if (!hook)
    return noTrust(path + " offers none");
  registered.store(hook, std::memory_order_release);
  return hook;
}

/// The images for this processor, which the dynamic loader would run code of.
Status checkImages(const ModelFile &model) {
  for (uint32_t i = 0; i < model.count(SectionKind::program); ++i) {
    SINTER_TRY_ASSIGN(
        Requirements needs,
        readRequirements(model.find(SectionKind::program, i)->bytes));
    const Section *image = model.find(SectionKind::image, i);
    if (needs.target == "cpu" && !image->bytes.empty())
      SINTER_TRY(checkCpuImage(image->bytes));
  }
  return {};
}

} // namespace

Result<ModelTrust> sinter::runtime::parseTrust(std::string_view where,
                                               std::string_view name) {
  if (name == "code")
    return ModelTrust::code;
  if (name == "graph")
    return ModelTrust::graph;
  if (name == "signed")
    return ModelTrust::signature;
  return makeError(
      ErrorKind::invalid_argument,
      fmt::format("{} is code, signed or graph, not '{}'", where, name));
}

Result<ModelTrust> sinter::runtime::defaultTrust() {
  const std::string &name = flags().trust;
  return name.empty() ? Result<ModelTrust>(ModelTrust::code)
                      : parseTrust("SINTER_TRUST", name);
}

std::string sinter::runtime::defaultTrustedKeys() {
  if (!flags().trustedKeys.empty())
    return flags().trustedKeys;
  if (const char *folder = std::getenv("XDG_CONFIG_HOME"); folder && *folder)
    return std::string(folder) + "/sinter/trusted";
  const char *home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.config/sinter/trusted" : "";
}

void sinter::runtime::registerTrust(const TrustHook *hook) {
  registered.store(hook, std::memory_order_release);
}

Result<const TrustHook *> sinter::runtime::trustHook() {
  if (const TrustHook *hook = registered.load(std::memory_order_acquire))
    return hook;
  static auto &opening = *new ForkMutex;
  std::lock_guard lock(opening);
  if (const TrustHook *hook = registered.load(std::memory_order_acquire))
    return hook;
  return openTrust();
}

Status sinter::runtime::checkTrust(const TrustedFile &file, ModelTrust trust,
                                   const std::string &keys) {
  SINTER_TRY(checkImages(file.model));
  if (trust != ModelTrust::signature)
    return {};
  SINTER_TRY_ASSIGN(const TrustHook *hook, trustHook());
  return hook->verify(file, keys.empty() ? defaultTrustedKeys() : keys);
}
