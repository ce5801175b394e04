/// Replaying and shrinking of repros.
#include "tools/sinter/Replay.h"

#include "tools/sinter/Command.h"
#include "tools/sinter/EditGraph.h"
#include "tools/sinter/Shrink.h"
#include "tools/sinter/help/Terminal.h"

#include <filesystem>
#include <fmt/format.h>

namespace sinter::cli {

using reference::Repro;

/// What the command line says goes before what the repro says: the same graph
/// may be right without fusion.
static Status override(Repro &repro, const Arguments &arguments) {
  SINTER_TRY_ASSIGN(runtime::CompileRequest asked, compileRequest(arguments));
  if (arguments.has("--device")) {
    SINTER_TRY_ASSIGN(runtime::Device * device,
                      openDevice(arguments, repro.request));
    repro.device = device->id();
  }
  if (arguments.has("--target"))
    repro.request.target = asked.target;
  if (arguments.has("--numerics"))
    repro.request.numerics = asked.numerics;
  if (arguments.has("--fusion"))
    repro.request.fusion = asked.fusion;
  return {};
}

static bool differs(const Repro &repro) {
  auto difference = reference::replay(repro);
  return difference && !difference->empty();
}

static Status shrinkTo(const std::string &path, const Repro &repro) {
  Shrunk shrunk = shrink(repro, differs);
  SINTER_TRY_ASSIGN(shrunk.repro.difference, reference::replay(shrunk.repro));
  SINTER_TRY(reference::writeRepro(path, shrunk.repro));
  SINTER_TRY_ASSIGN(std::vector<std::byte> bytes, readBytes(path));
  fmt::print("{}: from {} ops to {}, {} trials\n", path,
             computedValues(repro.graph).size(),
             computedValues(shrunk.repro.graph).size(), shrunk.trials);
  fmt::print("{}",
             std::string_view(reinterpret_cast<const char *>(bytes.data()),
                              bytes.size()));
  return {};
}

static Result<std::string> replayModel(const Model &model,
                                       const Arguments &arguments) {
  SINTER_TRY_ASSIGN(Repro repro, reference::readRepro(model.path, model.text));
  SINTER_TRY(override(repro, arguments));
  SINTER_TRY_ASSIGN(std::string difference, reference::replay(repro));
  if (!difference.empty() && arguments.has("--shrink")) {
    std::filesystem::path path = model.path;
    path.replace_extension(".min.mlir");
    SINTER_TRY(shrinkTo(path.string(), repro));
  }
  return difference;
}

int replayRepro(const Model &model, const Arguments &arguments) {
  Result<std::string> difference = replayModel(model, arguments);
  if (!difference)
    return report(difference.error());
  if (difference->empty()) {
    fmt::print("{}: no difference from the reference\n", model.path);
    return exitOk;
  }
  fmt::print(stderr, "{}{}: differs from the reference: {}\n", errorPrefix(),
             model.path, *difference);
  return exitFailed;
}

} // namespace sinter::cli
