/// What of a model file may be used, and the one registered pointer through
/// which the runtime reaches libsinter-trust, which knows signatures.
#pragma once

#include "runtime/program/ModelInfo.h"
#include "runtime/program/ModelReader.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter::runtime {

/// What of a model file is used.
enum class ModelTrust : uint8_t {
  code,      ///< its machine code, too
  graph,     ///< its graph and weights alone: nothing native is loaded
  signature, ///< as `code`, where a trusted key signed every byte of it
};
/// `code`, `graph` or `signed`; an error of kind `invalid_argument` that begins
/// with `where` for another name.
Result<ModelTrust> parseTrust(std::string_view where, std::string_view name);
/// What SINTER_TRUST says.
Result<ModelTrust> defaultTrust();
/// The folder of trusted keys: what SINTER_TRUSTED_KEYS says, or the user's.
std::string defaultTrustedKeys();

/// A model file whose outer layout was checked.
struct TrustedFile {
  const ModelFile &model;
  const ModelInfo &info;
  /// Where the files lie that it names; empty: nowhere.
  const std::string &folder;
};

/// A pair of keys, as the texts of their files.
struct KeyTexts {
  std::string secret;
  std::string open;
};

/// What libsinter-trust offers. Functions never throw.
struct TrustHook {
  /// An error of kind `io` says why the file is not to be trusted: not signed,
  /// by no key of the folder, or changed since, and what of it.
  Status (*verify)(const TrustedFile &file, const std::string &keys);
  /// A new pair.
  Result<KeyTexts> (*makeKeys)();
  /// The text of a signature section, by the text of a secret key.
  Result<std::string> (*sign)(const TrustedFile &file, std::string_view secret);
  /// SHA-256 as 64 hexadecimal digits.
  std::string (*digest)(std::span<const std::byte> bytes);
};

/// The hook: the one registered (static builds), else libsinter-trust.so of
/// this version, found beside the runtime library. An error of kind
/// `unsupported` when there is none.
Result<const TrustHook *> trustHook();
void registerTrust(const TrustHook *hook);

/// The symbol that libsinter-trust.so exports:
/// `extern "C" const TrustHook *sinter_trust_hook();`
inline constexpr const char *trustHookSymbol = "sinter_trust_hook";

/// Whether a file may be used so. Native code for this processor that could run
/// before it is asked for, or that needs more than itself, is an error whatever
/// is trusted. `keys` is the folder of trusted keys; empty: the default one.
Status checkTrust(const TrustedFile &file, ModelTrust trust,
                  const std::string &keys = {});

} // namespace sinter::runtime
