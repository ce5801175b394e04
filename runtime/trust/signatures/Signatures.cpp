/// Signs model files and verifies signatures: ed25519 (RFC 8032) over a
/// manifest of SHA-256, by libsodium.
///
/// A signature section is text:
///
///   sinter-signature 1
///   key HEX              the public key
///   ...                  the manifest
///   signature HEX        of all the lines before it
#include "runtime/support/Printable.h"
#include "runtime/trust/signatures/Keys.h"
#include "runtime/trust/signatures/Manifest.h"

#include <algorithm>
#include <fmt/format.h>
#include <sodium.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::trust;

namespace {

constexpr std::string_view firstLine = "sinter-signature 1\n";
constexpr std::string_view keyWord = "key ";
constexpr std::string_view signatureWord = "signature ";

ErrorInfo untrusted(const std::string &why) {
  return makeError(ErrorKind::io, "it is not trusted: " + why);
}

/// The parts of a signature section.
struct SignedText {
  std::string_view message; ///< what is signed
  std::string_view manifest;
  Bytes key;
  Bytes signature;
};

/// Cuts a word and the digits behind it, up to the end of the line.
std::string_view takeDigits(std::string_view &text, std::string_view word) {
  if (!text.starts_with(word))
    return {};
  size_t end = std::min(text.find('\n'), text.size());
  std::string_view digits = text.substr(word.size(), end - word.size());
  text.remove_prefix(std::min(end + 1, text.size()));
  return digits;
}

Result<SignedText> readText(std::string_view text) {
  SignedText parts;
  std::string_view rest = text;
  if (!rest.starts_with(firstLine))
    return untrusted("its signature is of another kind");
  rest.remove_prefix(firstLine.size());
  SINTER_TRY_ASSIGN(parts.key, bytesOfHex(takeDigits(rest, keyWord),
                                          crypto_sign_ed25519_PUBLICKEYBYTES,
                                          "the key of its signature"));
  // The manifest's lines are of other words.
  size_t last = text.rfind(std::string("\n") + std::string(signatureWord));
  size_t start = size_t(rest.data() - text.data());
  if (last == text.npos || last + 1 < start)
    return untrusted("its signature is cut off");
  parts.message = text.substr(0, last + 1);
  parts.manifest = text.substr(start, last + 1 - start);
  std::string_view tail = text.substr(last + 1);
  SINTER_TRY_ASSIGN(parts.signature,
                    bytesOfHex(takeDigits(tail, signatureWord),
                               crypto_sign_ed25519_BYTES, "its signature"));
  if (!tail.empty())
    return untrusted("there is more behind its signature");
  return parts;
}

Status checkKey(const Bytes &key, const std::string &folder) {
  SINTER_TRY_ASSIGN(std::vector<TrustedKey> keys, trustedKeys(folder));
  if (std::ranges::count(keys, key, &TrustedKey::key) > 0)
    return {};
  return untrusted(fmt::format("it is signed by key {}, which is none of the "
                               "{} in {}",
                               hexOf(key), keys.size(), printable(folder)));
}

Status verifyFile(const TrustedFile &file, const std::string &folder) {
  const Section *section = file.model.find(SectionKind::signature);
  if (!section)
    return untrusted("nobody signed it");
  SINTER_TRY_ASSIGN(
      SignedText parts,
      readText({reinterpret_cast<const char *>(section->bytes.data()),
                section->bytes.size()}));
  SINTER_TRY(checkKey(parts.key, folder));
  if (crypto_sign_ed25519_verify_detached(
          parts.signature.data(),
          reinterpret_cast<const unsigned char *>(parts.message.data()),
          parts.message.size(), parts.key.data()) != 0)
    return untrusted("its signature is not that key's");
  SINTER_TRY_ASSIGN(std::string manifest, manifestOf(file));
  if (manifest != parts.manifest)
    return untrusted(difference(parts.manifest, manifest));
  return {};
}

Result<std::string> signFile(const TrustedFile &file, std::string_view secret) {
  SINTER_TRY_ASSIGN(Bytes key, secretKey(secret, "the secret key"));
  // The public key is the second half, as libsodium has it.
  std::span<const unsigned char> open =
      std::span(key).last(crypto_sign_ed25519_PUBLICKEYBYTES);
  SINTER_TRY_ASSIGN(std::string manifest, manifestOf(file));
  std::string text = std::string(firstLine) + std::string(keyWord) +
                     hexOf(open) + "\n" + manifest;
  unsigned char signature[crypto_sign_ed25519_BYTES];
  int rc = crypto_sign_ed25519_detached(
      signature, nullptr, reinterpret_cast<const unsigned char *>(text.data()),
      text.size(), key.data());
  sodium_memzero(key.data(), key.size());
  if (rc != 0)
    return makeError(ErrorKind::internal, "the file could not be signed");
  return text + std::string(signatureWord) + hexOf(signature) + "\n";
}

constexpr TrustHook hook = {verifyFile, makeKeys, signFile, sha256Of};

} // namespace

extern "C" const TrustHook *sinter_trust_hook() {
  return sodium_init() < 0 ? nullptr : &hook;
}
