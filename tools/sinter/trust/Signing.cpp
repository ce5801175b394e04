/// `sinter keygen`, `sinter sign` and `sinter verify`.
#include "runtime/files/FileDescriptor.h"
#include "runtime/files/MappedFile.h"
#include "runtime/program/ModelWriter.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Model.h"
#include "tools/sinter/help/Terminal.h"
#include "tools/sinter/trust/Trust.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>

#include <fcntl.h>
#include <sys/stat.h>

namespace sinter::cli {

using namespace runtime;

//===- Keys ---------------------------------------------------------------===//

const Interface keygenInterface = {
    "keygen NAME",
    "Makes a pair of keys: NAME.key, which signs and is for you alone, and\n"
    "NAME.pub, which others put among the keys that they trust.",
    "sinter keygen release",
    {},
    1,
    1,
};

/// A file that did not exist, with these permissions.
static Status writeNew(const std::string &path, std::string_view text,
                       mode_t mode) {
  FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file)
    return makeError(ErrorKind::io, path + ": " + std::strerror(errno));
  if (file.writeAll(std::as_bytes(std::span(text))) && ::fsync(file.get()) == 0)
    return {};
  ErrorInfo error =
      makeError(ErrorKind::io, path + ": " + std::strerror(errno));
  ::unlink(path.c_str());
  return error;
}

static Status keygen(const std::string &name) {
  SINTER_TRY_ASSIGN(const TrustHook *hook, trustHook());
  SINTER_TRY_ASSIGN(KeyTexts keys, hook->makeKeys());
  constexpr mode_t ownerAlone = 0600, everybodyReads = 0644;
  SINTER_TRY(writeNew(name + ".key", keys.secret, ownerAlone));
  if (Status written = writeNew(name + ".pub", keys.open, everybodyReads);
      !written) {
    ::unlink((name + ".key").c_str());
    return written;
  }
  fmt::print("{}.key: signs; keep it secret\n{}.pub: for those who trust you\n",
             name, name);
  return {};
}

int runKeygen(int argc, char **argv) {
  Arguments arguments(argc, argv, keygenInterface);
  if (arguments.exit)
    return *arguments.exit;
  Status made = keygen(arguments.positional()[0]);
  return made ? exitOk : report(made.error());
}

//===- Signing ------------------------------------------------------------===//

static constexpr Flag signFlags[] = {
    {"--key", "NAME.key", "the key that signs"},
    {"-o", "FILE", "the file to write; default: the model itself"},
};
const Interface signInterface = {
    "sign MODEL.sinter --key NAME.key [-o OUT.sinter]",
    "Signs a model file: every section of it, and the files of weights that "
    "it\n"
    "names. Another signature is replaced.",
    "sinter sign net.sinter --key release.key",
    signFlags,
    1,
    1,
};

static std::string folderOf(const std::string &path) {
  std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

/// A key that others read is no secret.
static Status checkSecret(const std::string &path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0)
    return makeError(ErrorKind::io, path + ": " + std::strerror(errno));
  if ((status.st_mode & 077) && S_ISREG(status.st_mode))
    return makeError(ErrorKind::io,
                     path + ": others may read the secret key; chmod 600 it");
  return {};
}

static Status sign(const std::string &path, const std::string &keyPath,
                   const std::string &output) {
  SINTER_TRY_ASSIGN(const TrustHook *hook, trustHook());
  SINTER_TRY(checkSecret(keyPath));
  SINTER_TRY_ASSIGN(std::vector<std::byte> key, readBytes(keyPath));
  SINTER_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  auto make = [&]() -> Result<std::string> {
    SINTER_TRY_ASSIGN(ModelFile model, readModel(file.bytes()));
    SINTER_TRY_ASSIGN(ModelInfo info, readModelInfo(model));
    std::string folder = folderOf(path);
    return hook->sign({model, info, folder},
                      {reinterpret_cast<const char *>(key.data()), key.size()});
  };
  Result<std::string> signature = make();
  if (signature)
    return writeSigned(output, file.bytes(), *signature);
  ErrorInfo error = signature.takeError();
  error.message = path + ": " + error.message;
  return error;
}

int runSign(int argc, char **argv) {
  Arguments arguments(argc, argv, signInterface);
  if (arguments.exit)
    return *arguments.exit;
  if (!arguments.has("--key")) {
    fmt::print(stderr, "{}sign: --key NAME.key is missing\n", errorPrefix());
    return exitUsage;
  }
  const std::string &path = arguments.positional()[0];
  Status done = sign(path, arguments.get("--key"), arguments.get("-o", path));
  return done ? exitOk : report(done.error());
}

//===- Verifying ----------------------------------------------------------===//

static constexpr Flag verifyFlags[] = {
    trustedKeysFlag,
};
const Interface verifyInterface = {
    "verify MODEL.sinter [--trusted-keys DIR]",
    "Says whether a trusted key signed a model file, and whether the file, "
    "and\n"
    "the files of weights that it names, are what was signed.",
    "sinter verify net.sinter --trusted-keys release.pub",
    verifyFlags,
    1,
    1,
};

static Status verify(const std::string &path, const std::string &keys) {
  SINTER_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  SINTER_TRY(checkFile(file.bytes(), path, {ModelTrust::signature, keys}));
  fmt::print("{}: signed by a trusted key, and unchanged\n", path);
  return {};
}

int runVerify(int argc, char **argv) {
  Arguments arguments(argc, argv, verifyInterface);
  if (arguments.exit)
    return *arguments.exit;
  Status verified =
      verify(arguments.positional()[0], arguments.get("--trusted-keys"));
  return verified ? exitOk : report(verified.error());
}

} // namespace sinter::cli
