/// Ratchet: the cases of a suite that have passed once, and so must pass.
#pragma once

#include "runtime/support/Result.h"

#include <map>
#include <string>

namespace sinter::goldens {

/// The ids of a file, one a line with the case's op behind it. Lines may be
/// added, never taken away.
class Ratchet {
public:
  /// A file that does not exist holds none.
  static Result<Ratchet> read(const std::string &path);

  bool contains(const std::string &id) const { return ops.contains(id); }
  void add(const std::string &id, const std::string &op);
  /// Replaces the file.
  Result<void> write() const;
  size_t size() const { return ops.size(); }
  auto begin() const { return ops.begin(); }
  auto end() const { return ops.end(); }

private:
  std::string path;
  std::map<std::string, std::string> ops; ///< by id
};

} // namespace sinter::goldens
