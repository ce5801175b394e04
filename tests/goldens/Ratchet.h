/// Ratchet: the cases of a suite that have passed once, and so must pass.
#pragma once

#include "runtime/support/Result.h"

#include <map>
#include <string>

namespace sinter::goldens {

/// A file of lines `ID OP`: cases that have passed. Lines may be added, never
/// taken away. A line `! ID REASON` says why a case fails and should: PyTorch
/// means something else there.
class Ratchet {
public:
  /// A file that does not exist holds none.
  static Result<Ratchet> read(const std::string &path);

  bool contains(const std::string &id) const { return ops.contains(id); }
  /// Why the case fails; empty when it has no reason to.
  std::string reasonOf(const std::string &id) const;
  void add(const std::string &id, const std::string &op);
  /// Replaces the file.
  Result<void> write() const;
  size_t size() const { return ops.size(); }

private:
  std::string path;
  std::map<std::string, std::string> ops;     ///< by id
  std::map<std::string, std::string> reasons; ///< by id
};

} // namespace sinter::goldens
