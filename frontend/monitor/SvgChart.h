/// SvgChart: curves as a picture in a page.
#pragma once

#include "frontend/monitor/History.h"

#include <string>
#include <string_view>

namespace sinter::train {

/// Text as it stands in HTML, in elements and attributes: no markup, and
/// nothing that turns the direction of text.
std::string escapedHtml(std::string_view text);

/// A chart over the steps of training. Curves may be null. A point that stands
/// for several readings has a band from the least to the most of them.
std::string svgChart(const Curve *train, const Curve *valid);

} // namespace sinter::train
