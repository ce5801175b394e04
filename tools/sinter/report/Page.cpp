/// Puts style, data and script into the page.
#include "tools/sinter/report/Page.h"

#include "sinter/generated/reportPage.h"
#include "sinter/generated/reportScript.h"
#include "sinter/generated/reportStyle.h"

namespace sinter::cli {

template <size_t N> static std::string_view textOf(const char (&bytes)[N]) {
  return {bytes, N};
}

// In JSON these stand in strings only, where an escape says the same. Without
// them nothing that a model is called ends the element around it.
static std::string inScript(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (size_t at = 0; at < json.size(); ++at) {
    std::string_view rest = json.substr(at);
    if (rest.starts_with("<"))
      text += "\\u003c";
    else if (rest.starts_with("\xE2\x80\xA8"))
      text += "\\u2028", at += 2;
    else if (rest.starts_with("\xE2\x80\xA9"))
      text += "\\u2029", at += 2;
    else
      text += json[at];
  }
  return text;
}

std::string pageOf(std::string_view json) {
  std::string page;
  std::string_view rest = textOf(reportPage);
  // Marks are looked for in the page alone, not in what was put into it.
  auto put = [&](std::string_view mark, std::string_view content) {
    size_t at = rest.find(mark);
    page.append(rest.substr(0, at)).append(content);
    rest.remove_prefix(at + mark.size());
  };
  put("/* style */\n", textOf(reportStyle));
  put("/* data */", inScript(json));
  put("/* script */\n", textOf(reportScript));
  page.append(rest);
  return page;
}

} // namespace sinter::cli
