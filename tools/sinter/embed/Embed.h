/// Embed: model files as objects, archives and headers.
#pragma once

#include "tools/sinter/Arguments.h"
#include "tools/sinter/Model.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace sinter::cli {

inline constexpr Flag nameFlag = {
    "--name", "NAME",
    "what C calls an embedded model; default: its file's name"};

/// What is written.
enum class EmbedForm {
  object,  ///< a .o, and a .h beside it
  library, ///< a .a, and a .h beside it
  header,  ///< a .h alone
};

/// How the names of its files end.
std::string_view extensionOf(EmbedForm form);

/// The sizes of open axes that `--size` gives, by name.
Result<std::map<std::string, int64_t>> sizesOf(const Arguments &arguments);

/// Writes `output` out of a compiled file's bytes, under the name that `--name`
/// says; `origin` is the model that the user named.
Status embedFile(std::shared_ptr<const ModelBytes> file,
                 const std::string &origin,
                 const std::map<std::string, int64_t> &sizes, EmbedForm form,
                 const std::string &output, const Arguments &arguments);

} // namespace sinter::cli
