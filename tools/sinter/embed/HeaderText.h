/// HeaderText: the C header of an embedded model.
#pragma once

#include "tools/sinter/embed/EmbedModel.h"

#include <string>
#include <string_view>

namespace sinter::cli {

/// A name that C takes, out of any: letters, digits and `_`.
std::string identifier(std::string_view name);

/// Declares `symbol`, the memory that a session takes, and a function for each
/// entry, with its inputs and outputs by name and type. `origin` is the file
/// that it was made of.
std::string headerText(const EmbeddedModel &model, const std::string &symbol,
                       const std::string &origin);

} // namespace sinter::cli
