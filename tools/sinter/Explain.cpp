/// `sinter explain`: kernels, and every decision of fusion.
#include "runtime/params/Json.h"
#include "runtime/support/Printable.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Model.h"
#include "tools/sinter/help/Terminal.h"

#include <fmt/format.h>
#include <iterator>

namespace sinter::cli {

using namespace runtime;

static constexpr Flag flags[] = {
    {"--json", nullptr, "print JSON"},
    {"--assert", "FILE", "fail when the report differs from this file"},
    targetFlag,
    numericsFlag,
    fusionFlag,
    memoryLimitFlag,
    dynamicFlag,
    sizeFlag,
    constantFlag,
};
const Interface explainInterface = {
    "explain MODEL [--json] [--assert FILE]",
    "Lists the kernels of a program with the ops and source lines in them,\n"
    "what was fused, what was not and why, and the bytes of memory traffic\n"
    "that each decision saves or costs.",
    "sinter explain net.onnx\n"
    "sinter explain net.sinter --json",
    flags,
    1,
    1,
};

namespace {

/// Writes the report of one program.
class Report {
public:
  explicit Report(const FileParts &parts) : parts(parts) {}
  std::string asText();
  std::string asJson();

private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(text), format,
                   std::forward<Args>(args)...);
    text += '\n';
  }
  std::string sites(const std::vector<uint32_t> &nodes) const;

  const FileParts &parts;
  std::string text;
};

} // namespace

// ` at a.cpp:3, a.cpp:4`, or nothing without a debug section.
std::string Report::sites(const std::vector<uint32_t> &nodes) const {
  std::string list;
  for (uint32_t node : nodes) {
    std::string site(parts.siteOf(node));
    if (!site.empty() && list.find(site) == std::string::npos)
      list += (list.empty() ? " at " : ", ") + site;
  }
  return list;
}

std::string Report::asText() {
  std::vector<LaunchInfo> launches = launchesOf(parts.program);
  line("{} launches", launches.size());
  for (size_t number = 0; number < launches.size(); ++number) {
    const LaunchInfo &launch = launches[number];
    line("  {}: {} ({}), nodes {}{}", number, launch.kernel, launch.kind,
         fmt::join(launch.nodes, " "), sites(launch.nodes));
  }
  int64_t saved = 0, lost = 0;
  for (const Decision &decision : parts.program.decisions)
    (decision.accepted ? saved : lost) += decision.bytes;
  line("\nfused, {} bytes of traffic saved", saved);
  for (bool accepted : {true, false}) {
    if (!accepted)
      line("\nnot fused, {} bytes of traffic", lost);
    for (const Decision &decision : parts.program.decisions)
      if (decision.accepted == accepted)
        line("  {}: {}, {} bytes, {:.1f} us{}", decision.rule, decision.detail,
             decision.bytes, decision.estUs, sites(decision.nodes));
  }
  return std::move(text);
}

std::string Report::asJson() {
  line("{{\"launches\": [");
  const char *comma = "";
  for (const LaunchInfo &launch : launchesOf(parts.program)) {
    line(" {}{{\"kernel\": {}, \"kind\": {}, \"nodes\": [{}]}}", comma,
         json::quote(launch.kernel), json::quote(launch.kind),
         fmt::join(launch.nodes, ", "));
    comma = ",";
  }
  line("], \"decisions\": [");
  comma = "";
  for (const Decision &decision : parts.program.decisions) {
    line(" {}{{\"accepted\": {}, \"rule\": {}, \"bytes\": {}, \"est_us\": {}, "
         "\"nodes\": [{}], \"detail\": {}}}",
         comma, decision.accepted, json::quote(decision.rule), decision.bytes,
         decision.estUs, fmt::join(decision.nodes, ", "),
         json::quote(decision.detail));
    comma = ",";
  }
  line("]}}");
  return std::move(text);
}

static Result<std::string> explain(const Model &model,
                                   const Arguments &arguments) {
  SINTER_TRY_ASSIGN(CompileRequest request, compileRequest(arguments));
  request.debug = true;
  SINTER_TRY_ASSIGN(std::vector<FileParts> all,
                    selectParts(model, arguments, request));
  Report report(all.front());
  return arguments.has("--json") ? report.asJson() : report.asText();
}

int runExplain(int argc, char **argv) {
  Arguments arguments(argc, argv, explainInterface);
  if (arguments.exit)
    return *arguments.exit;
  Result<Model> model = readModelFile(arguments.positional()[0], arguments);
  if (!model)
    return report(model.error());
  Result<std::string> text = explain(*model, arguments);
  if (!text)
    return report(text.error());
  if (!arguments.has("--assert")) {
    fmt::print("{}", printable(*text));
    return exitOk;
  }
  Result<std::vector<std::byte>> expected =
      readBytes(arguments.get("--assert"));
  if (!expected)
    return report(expected.error());
  std::string_view wanted(reinterpret_cast<const char *>(expected->data()),
                          expected->size());
  if (wanted == *text)
    return exitOk;
  fmt::print(stderr, "{}explain: the report differs from {}\n", errorPrefix(),
             arguments.get("--assert"));
  fmt::print("{}", printable(*text));
  return exitFailed;
}

} // namespace sinter::cli
