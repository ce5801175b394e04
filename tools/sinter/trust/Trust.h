/// Trust: what of `.sinter` files commands use, as flags say it.
#pragma once

#include "runtime/trust/TrustHook.h"
#include "sinter/runtime/Result.h"
#include "tools/sinter/Arguments.h"

#include <span>
#include <string>

namespace sinter::cli {

inline constexpr Flag trustFlag = {
    "--trust", "MODE",
    "of a .sinter file use its code, code that is signed by a trusted key, or "
    "its graph alone, which is compiled here; default SINTER_TRUST or code",
    "code signed graph"};
inline constexpr Flag trustedKeysFlag = {
    "--trusted-keys", "DIR",
    "the public keys that are trusted, or one; default SINTER_TRUSTED_KEYS or "
    "~/.config/sinter/trusted"};

/// What the user trusts.
struct TrustChoice {
  runtime::ModelTrust trust = runtime::ModelTrust::code;
  std::string keys; ///< empty: the default folder
};
/// What `--trust` and `--trusted-keys` say, or the environment.
Result<TrustChoice> trustOf(const Arguments &arguments);

/// Whether the bytes of the file at `path` may be used so.
Status checkFile(std::span<const std::byte> bytes, const std::string &path,
                 const TrustChoice &choice);

} // namespace sinter::cli
