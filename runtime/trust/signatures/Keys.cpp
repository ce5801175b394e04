/// Reads keys and makes new ones.
#include "runtime/trust/signatures/Keys.h"

#include "runtime/files/FileDescriptor.h"
#include "runtime/trust/signatures/Manifest.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sodium.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::trust;

static constexpr std::string_view secretWord = "sinter-secret-key 1 ";
static constexpr std::string_view publicWord = "sinter-public-key 1 ";
/// More than any file of a key has.
static constexpr size_t mostKeyBytes = 4096;

Result<KeyTexts> trust::makeKeys() {
  unsigned char open[crypto_sign_ed25519_PUBLICKEYBYTES];
  unsigned char secret[crypto_sign_ed25519_SECRETKEYBYTES];
  if (crypto_sign_ed25519_keypair(open, secret) != 0)
    return makeError(ErrorKind::internal, "no keys could be made");
  KeyTexts texts{std::string(secretWord) + hexOf(secret) + "\n",
                 std::string(publicWord) + hexOf(open) + "\n"};
  sodium_memzero(secret, sizeof secret);
  return texts;
}

static Result<Bytes> keyOf(std::string_view text, std::string_view word,
                           size_t size, const std::string &what) {
  if (!text.starts_with(word))
    return makeError(ErrorKind::io,
                     fmt::format("{} does not begin with '{}'", what,
                                 word.substr(0, word.size() - 1)));
  text.remove_prefix(word.size());
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  return bytesOfHex(text, size, what);
}

Result<Bytes> trust::secretKey(std::string_view text, const std::string &what) {
  return keyOf(text, secretWord, crypto_sign_ed25519_SECRETKEYBYTES, what);
}

Result<Bytes> trust::publicKey(std::string_view text, const std::string &what) {
  return keyOf(text, publicWord, crypto_sign_ed25519_PUBLICKEYBYTES, what);
}

static ErrorInfo failed(const std::string &path, const std::string &why) {
  return makeError(ErrorKind::io, path + ": " + why);
}

/// That nobody else says what is trusted.
static Status checkOwner(const std::string &path, const struct stat &status) {
  if (status.st_uid != geteuid() && status.st_uid != 0)
    return failed(
        path, fmt::format("trusted keys of another user ({})", status.st_uid));
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return failed(path, "others may write trusted keys there; chmod go-w it");
  return {};
}

static Result<TrustedKey> readKey(const std::filesystem::path &path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0)
    return failed(path, std::strerror(errno));
  SINTER_TRY(checkOwner(path, status));
  if (!S_ISREG(status.st_mode) || size_t(status.st_size) > mostKeyBytes)
    return failed(path, "it is no file of a key");
  std::string text(size_t(status.st_size), '\0');
  if (!file.readAll(std::as_writable_bytes(std::span(text))))
    return failed(path, "it cannot be read");
  TrustedKey key;
  key.name = path.filename();
  SINTER_TRY_ASSIGN(key.key, publicKey(text, path));
  return key;
}

Result<std::vector<TrustedKey>> trust::trustedKeys(const std::string &folder) {
  struct stat status = {};
  if (folder.empty() || ::stat(folder.c_str(), &status) != 0)
    return makeError(ErrorKind::io,
                     fmt::format("no key is trusted: there is no folder '{}'; "
                                 "put NAME.pub of sinter keygen there",
                                 folder));
  std::vector<TrustedKey> keys;
  if (S_ISREG(status.st_mode)) {
    SINTER_TRY_ASSIGN(TrustedKey key, readKey(folder));
    return std::vector{std::move(key)};
  }
  SINTER_TRY(checkOwner(folder, status));
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error), end;
  for (; !error && entries != end; entries.increment(error)) {
    if (entries->path().extension() != ".pub")
      continue;
    SINTER_TRY_ASSIGN(TrustedKey key, readKey(entries->path()));
    keys.push_back(std::move(key));
  }
  if (error)
    return failed(folder, error.message());
  std::ranges::sort(keys, {}, &TrustedKey::name);
  return keys;
}
