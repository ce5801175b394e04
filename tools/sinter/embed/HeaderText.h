/// HeaderText: the C header of an embedded model.
#pragma once

#include "tools/sinter/embed/EmbedModel.h"

#include <string>
#include <string_view>

namespace sinter::cli {

/// What may begin a name in C, out of any: letters, digits and `_`.
std::string identifier(std::string_view name);
/// What C calls the model of that name: nothing that a library has.
inline std::string symbolOf(const std::string &name) { return name + "_model"; }

/// Declares the model, the memory that a session takes, and a function for each
/// entry, with its inputs and outputs by name and type; all names begin with
/// `name`. `origin` is the file that it was made of.
std::string headerText(const EmbeddedModel &model, const std::string &name,
                       const std::string &origin);

} // namespace sinter::cli
