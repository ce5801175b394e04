/// Stages as JSON.
#include "tools/sinter/report/Stages.h"

#include "runtime/params/Json.h"
#include "runtime/params/Zip.h"
#include "runtime/support/Base64.h"
#include "tools/sinter/Inspect.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace sinter::cli {

using namespace runtime;

/// What was asked for when a program was made, as far as it can be told: the
/// generation of a GPU, else the kind of device. The page says where that is
/// another one.
static std::string targetOf(const ProgramData &program) {
  std::string_view variant = program.variant;
  if (program.target == "cuda" && variant.starts_with("sm_"))
    return variant == "sm_90a"  ? "cuda:sm_90"
           : variant == "sm_90" ? "cuda:sm_100"
                                : "cuda:" + std::string(variant);
  return program.target;
}

// A text is compiled again, as the program was. Of a file each stage is made
// from its graph, for the target of this program unless one is asked for.
static Result<std::string> stageOf(const std::string &stage, const Model &model,
                                   const FileParts &parts,
                                   const Arguments &arguments,
                                   const CompileRequest &request) {
  if (!model.compiled) {
    SINTER_TRY_ASSIGN(const CompilerHook *hook, compilerHook());
    return hook->inspectText(model.text, stage, request);
  }
  CompileRequest own = request;
  if (!arguments.has("--target"))
    own.target = targetOf(parts.program);
  if (!arguments.has("--numerics"))
    own.numerics = parts.program.numerics;
  return remakeStage(parts, stage, own);
}

Result<std::string> stagesJson(const Model &model, const FileParts &parts,
                               const Arguments &arguments,
                               const CompileRequest &request) {
  std::string json = "[";
  for (const char *stage :
       {"import", "simplify", "fuse", "plan", "lower", "target"}) {
    json += fmt::format("{}\n{{\"name\": {}, ", json.size() > 1 ? "," : "",
                        json::quote(stage));
    Result<std::string> text = stageOf(stage, model, parts, arguments, request);
    if (!text) {
      json +=
          fmt::format("\"problem\": {}}}", json::quote(text.error().message));
      continue;
    }
    SINTER_TRY_ASSIGN(std::vector<std::byte> packed,
                      deflateBytes(std::as_bytes(std::span(*text))));
    json += fmt::format("\"bytes\": {}, \"packed\": \"{}\"}}", text->size(),
                        toBase64(packed));
  }
  return json + "]";
}

} // namespace sinter::cli
