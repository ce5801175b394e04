/// Keys: ed25519 keys as files have them, one line each.
///
///   sinter-secret-key 1 HEX   64 bytes: the seed and the public key
///   sinter-public-key 1 HEX   32 bytes
#pragma once

#include "runtime/trust/TrustHook.h"

#include <string>
#include <string_view>
#include <vector>

namespace sinter::trust {

using Bytes = std::vector<unsigned char>;

/// A new pair.
Result<runtime::KeyTexts> makeKeys();
/// The bytes of a key's text; an error of kind `io` begins with `what`.
Result<Bytes> secretKey(std::string_view text, const std::string &what);
Result<Bytes> publicKey(std::string_view text, const std::string &what);

/// A public key that the user trusts.
struct TrustedKey {
  std::string name; ///< of its file
  Bytes key;
};
/// The keys in the files *.pub of a folder, by name, or of one file. Folder and
/// files have to be the user's or root's, and writable for nobody else: an
/// error of kind `io` otherwise, and where a file holds no key.
Result<std::vector<TrustedKey>> trustedKeys(const std::string &folder);

} // namespace sinter::trust
