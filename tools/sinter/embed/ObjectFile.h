/// ObjectFile: an embedded model as a relocatable ELF object, or an archive of
/// one.
#pragma once

#include "tools/sinter/embed/EmbedModel.h"

#include <string>

namespace sinter::cli {

/// Writes an object that defines the model of that name (symbolOf). The same
/// model gives the same bytes. As replaceFile.
Status writeObject(const EmbeddedModel &model, const std::string &name,
                   const std::string &path);
/// Writes an archive of that object, with its table of symbols.
Status writeArchive(const EmbeddedModel &model, const std::string &name,
                    const std::string &path);

} // namespace sinter::cli
