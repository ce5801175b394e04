/// `sinter embed`: a compiled model to an object that a program links.
#include "tools/sinter/embed/Embed.h"

#include "tools/sinter/Command.h"
#include "tools/sinter/embed/EmbedModel.h"
#include "tools/sinter/embed/HeaderText.h"
#include "tools/sinter/embed/ObjectFile.h"
#include "tools/sinter/help/Terminal.h"
#include "tools/sinter/trust/Trust.h"

#include <charconv>
#include <filesystem>
#include <fmt/core.h>

namespace sinter::cli {

static constexpr Flag flags[] = {
    {"-o", "FILE", "the file to write: .o, .a or .h"},
    {"--size", "NAME=N", "an open axis of the model has this size"},
    nameFlag,
    trustFlag,
    trustedKeysFlag,
};
const Interface embedInterface = {
    "embed MODEL.sinter -o OUT.o [--size NAME=N]... [--name NAME]",
    "Makes an object file (.o) or an archive (.a) of a compiled model, and a "
    "header\n"
    "beside it: a program that links it and libsinter-runtime.a needs no other "
    "file.\n"
    "Sizes are fixed; sinter/embedded.h says what such a program calls.",
    "sinter embed digits.sinter -o digits.o --size batch=1",
    flags,
    1,
    1,
};

std::string_view extensionOf(EmbedForm form) {
  switch (form) {
  case EmbedForm::object:
    return ".o";
  case EmbedForm::library:
    return ".a";
  case EmbedForm::header:
    return ".h";
  }
  return {};
}

Result<std::map<std::string, int64_t>> sizesOf(const Arguments &arguments) {
  std::map<std::string, int64_t> sizes;
  for (const std::string &text : arguments.all("--size")) {
    size_t equals = text.rfind('=');
    int64_t size = 0;
    const char *end = text.data() + text.size();
    bool isWhole = equals != text.npos && equals > 0;
    if (isWhole) {
      auto [next, error] = std::from_chars(text.data() + equals + 1, end, size);
      isWhole = error == std::errc() && next == end && size >= 0;
    }
    if (!isWhole)
      return makeError(ErrorKind::invalid_argument,
                       "--size needs NAME=N, not '" + text + "'");
    sizes[text.substr(0, equals)] = size;
  }
  return sizes;
}

Status embedFile(std::shared_ptr<const ModelBytes> file,
                 const std::string &origin,
                 const std::map<std::string, int64_t> &sizes, EmbedForm form,
                 const std::string &output, const Arguments &arguments) {
  std::filesystem::path path = origin;
  SINTER_TRY_ASSIGN(EmbeddedModel model,
                    embedModel(std::move(file), path.parent_path(), sizes));
  std::string symbol = arguments.get(
      "--name", identifier(std::filesystem::path(output).stem().string()));
  if (symbol != identifier(symbol))
    return makeError(
        ErrorKind::invalid_argument,
        "--name needs letters, digits and _, and no digit first, not '" +
            symbol + "'");
  // The header last: it is of an object that is there.
  if (form == EmbedForm::object)
    SINTER_TRY(writeObject(model, symbol, output));
  if (form == EmbedForm::library)
    SINTER_TRY(writeArchive(model, symbol, output));
  std::string header =
      std::filesystem::path(output).replace_extension(".h").string();
  return writeText(header, headerText(model, symbol, path.filename().string()));
}

static Status embed(const Arguments &arguments, EmbedForm form,
                    const std::string &output) {
  const std::string &path = arguments.positional()[0];
  if (!path.ends_with(".sinter"))
    return makeError(ErrorKind::invalid_argument,
                     path + ": embed takes a .sinter file; of other models "
                            "make one with sinter compile");
  SINTER_TRY_ASSIGN(runtime::MappedFile file, runtime::MappedFile::open(path));
  SINTER_TRY_ASSIGN(TrustChoice trust, trustOf(arguments));
  if (trust.trust == runtime::ModelTrust::graph)
    return makeError(ErrorKind::invalid_argument,
                     path + ": embed takes the code of a file; of one whose "
                            "graph alone is trusted compile an object: sinter "
                            "compile --emit object --target cpu");
  SINTER_TRY(checkFile(file.bytes(), path, trust));
  SINTER_TRY_ASSIGN(auto sizes, sizesOf(arguments));
  return embedFile(std::make_shared<ModelBytes>(std::move(file)), path, sizes,
                   form, output, arguments);
}

int runEmbed(int argc, char **argv) {
  Arguments arguments(argc, argv, embedInterface);
  if (arguments.exit)
    return *arguments.exit;
  std::string output = arguments.get("-o");
  std::string extension = std::filesystem::path(output).extension();
  EmbedForm form = EmbedForm::object;
  if (extension == ".a") {
    form = EmbedForm::library;
  } else if (extension == ".h") {
    form = EmbedForm::header;
  } else if (extension != ".o") {
    fmt::print(stderr, "{}embed: -o needs a file that ends with .o, .a or .h\n",
               errorPrefix());
    return exitUsage;
  }
  Status written = embed(arguments, form, output);
  return written ? exitOk : report(written.error());
}

} // namespace sinter::cli
