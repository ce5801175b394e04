/// `sinter convert`: weights in another format, under other names.
#include "runtime/params/Json.h"
#include "runtime/support/Printable.h"
#include "tools/sinter/Arguments.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Model.h"
#include "tools/sinter/weights/ConvertWeights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>

namespace sinter::cli {

static constexpr Flag flags[] = {
    {"--rename", "REGEX=REPL",
     "change every match in names, $1 being the first group; may stand often"},
    {"--prefix", "P", "cut it from names; tensors without it are left out"},
    {"--top-level-key", "K",
     "where a checkpoint has the weights: state_dict, say"},
    {"--only", "REGEX", "write those alone whose new names match"},
    {"--dtype", "DTYPE", "make all floats these",
     "f64 f32 f16 bf16 f8e4m3fn f8e5m2"},
    {"--shard", "SIZE",
     "split into files of at most that size, as 5GB or 500MiB, and an index"},
    {"--drop-ties", nullptr,
     "write a tensor of several names once, and the others as metadata"},
    {"--json", nullptr, "print JSON"},
};
const Interface convertInterface = {
    "convert IN OUT [--rename REGEX=REPL]... [--dtype DTYPE] [--shard SIZE]",
    "Writes the tensors of a weight file (safetensors and the index.json of\n"
    "shards, PyTorch's, .npz, .npy, GGUF, ONNX and others) as OUT, a\n"
    ".safetensors or .npz file. Names go through --top-level-key, --prefix "
    "and\n"
    "--rename, in this order. Quantized tensors become f32. A tensor of "
    "several\n"
    "names is written under each of them. Nothing in IN is executed.",
    "sinter convert resnet.pth resnet.safetensors --prefix module.\n"
    "sinter convert model.gguf model.safetensors --dtype bf16 --shard 2GB\n"
    "sinter convert net.onnx net.npz --rename '^encoder\\.(\\d+)=layers.$1'",
    flags,
    2,
    2,
};

/// Exits where something is wrong with a flag.
static ErrorInfo wrongFlag(std::string_view flag, const std::string &text,
                           std::string_view wanted) {
  return makeError(ErrorKind::invalid_argument,
                   fmt::format("convert: {} needs {}, not '{}'", flag, wanted,
                               printable(text)));
}

/// Behind the last `=`: patterns have some, too.
static Result<Rename> renameOf(const std::string &text) {
  size_t equals = text.rfind('=');
  if (equals == text.npos || equals == 0)
    return wrongFlag("--rename", text, "REGEX=REPL");
  return Rename{text.substr(0, equals), text.substr(equals + 1)};
}

static Result<uint64_t> sizeOf(const std::string &text) {
  constexpr std::pair<std::string_view, uint64_t> units[] = {
      {"", 1},
      {"KB", 1'000},
      {"MB", 1'000'000},
      {"GB", 1'000'000'000},
      {"KiB", uint64_t(1) << 10},
      {"MiB", uint64_t(1) << 20},
      {"GiB", uint64_t(1) << 30},
  };
  uint64_t number = 0;
  const char *end = text.data() + text.size();
  auto [next, error] = std::from_chars(text.data(), end, number);
  std::string_view rest(next, size_t(end - next));
  for (auto [unit, bytes] : units)
    if (error == std::errc() && number > 0 && rest == unit &&
        number < UINT64_MAX / bytes)
      return number * bytes;
  return wrongFlag("--shard", text, "a size as 500MB or 2GiB");
}

static Result<ConvertOptions> optionsOf(const Arguments &arguments) {
  ConvertOptions options;
  options.names.top_level_key = arguments.get("--top-level-key");
  options.names.prefix = arguments.get("--prefix");
  options.names.only = arguments.get("--only");
  options.dropTies = arguments.has("--drop-ties");
  for (const std::string &text : arguments.all("--rename")) {
    SINTER_TRY_ASSIGN(Rename rename, renameOf(text));
    options.names.rename.push_back(std::move(rename));
  }
  if (arguments.has("--shard")) {
    SINTER_TRY_ASSIGN(options.shardBytes, sizeOf(arguments.get("--shard")));
  }
  if (arguments.has("--dtype")) {
    options.dtype = parseDType(arguments.get("--dtype"));
    if (!options.dtype || !isFloat(*options.dtype))
      return wrongFlag("--dtype", arguments.get("--dtype"), "a float's name");
  }
  return options;
}

static std::string quoted(const std::string &text) {
  return runtime::json::quote(printable(text));
}

static std::string listJson(const std::vector<std::string> &texts) {
  std::vector<std::string> all;
  for (const std::string &text : texts)
    all.push_back(quoted(text));
  return fmt::format("[{}]", fmt::join(all, ","));
}

static std::string jsonOf(const Converted &done) {
  std::vector<std::string> ties;
  for (const auto &[name, first] : done.ties)
    ties.push_back(fmt::format("[{},{}]", quoted(name), quoted(first)));
  return fmt::format("{{\"format\":{},\"files\":{},\"tensors\":{},\"bytes\":{},"
                     "\"cast\":{},\"dequantized\":{},\"ties\":[{}],"
                     "\"unused\":{},\"notes\":{}}}\n",
                     quoted(done.format), listJson(done.files), done.numTensors,
                     done.bytes, done.numCast, done.numDequantized,
                     fmt::join(ties, ","), listJson(done.unused),
                     listJson(done.notes));
}

/// At most ten of them.
static std::string listText(const std::vector<std::string> &lines,
                            const std::string &head) {
  constexpr size_t most = 10;
  std::string text = lines.empty() ? "" : head + ":\n";
  for (size_t i = 0; i < std::min(most, lines.size()); ++i)
    text += fmt::format("  {}\n", printableName(lines[i]));
  if (lines.size() > most)
    text += fmt::format("  and {} more\n", lines.size() - most);
  return text;
}

static std::string textOf(const Converted &done, bool dropsTies) {
  std::string text;
  for (const std::string &file : done.files)
    text += file + '\n';
  text += fmt::format("{} tensors, {} bytes, of {}\n", done.numTensors,
                      done.bytes, done.format);
  if (done.numDequantized > 0)
    text += fmt::format("{} quantized tensors became floats\n",
                        done.numDequantized);
  if (done.numCast > 0)
    text += fmt::format("{} tensors were cast\n", done.numCast);
  std::vector<std::string> ties;
  for (const auto &[name, first] : done.ties)
    ties.push_back(fmt::format("{} is {}", name, first));
  text += listText(ties, dropsTies ? "tied, written once"
                                   : "tied, written under each name");
  text += listText(done.unused, fmt::format("{} left out, without the prefix",
                                            done.unused.size()));
  return text + listText(done.notes, "notes");
}

int runConvert(int argc, char **argv) {
  Arguments arguments(argc, argv, convertInterface);
  if (arguments.exit)
    return *arguments.exit;
  Result<ConvertOptions> options = optionsOf(arguments);
  if (!options)
    return report(options.error()), exitUsage;
  const std::vector<std::string> &paths = arguments.positional();
  try {
    Converted done = convertWeights(paths[0], paths[1], *options);
    Status written = writeText("-", arguments.has("--json")
                                        ? jsonOf(done)
                                        : textOf(done, options->dropTies));
    return written ? exitOk : report(written.error());
  } catch (const Error &error) {
    return report(makeError(error.kind(), error.message()));
  }
}

} // namespace sinter::cli
