/// Error: the one exception of the user interface.
#pragma once

#include <sinter/runtime/Error.h>

#include <exception>
#include <string>
#include <vector>

namespace sinter {

/// Thrown at the line that recorded or asked for something wrong. Nothing is
/// lost: the next operation works.
class Error : public std::exception {
public:
  explicit Error(ErrorInfo info);

  ErrorKind kind() const { return info.kind; }
  const std::string &op() const { return info.op; }
  /// Operand types as printed, in order.
  const std::vector<std::string> &shapes() const { return info.shapes; }
  SiteId site_id() const { return info.site; }
  /// `file:line` of the user's innermost line, or empty.
  std::string site() const;
  /// That line and those that led to it, each as `file:line`, the innermost
  /// first. Lines inside this library are left out.
  std::vector<std::string> call_path() const;
  /// Without the line.
  const std::string &message() const { return info.message; }
  /// `message (file:line)`, or with the path to the line
  /// `message (Net::forward at model.h:9, from main.cpp:15)`
  const char *what() const noexcept override { return text.c_str(); }

private:
  ErrorInfo info;
  std::string text;
};

} // namespace sinter
