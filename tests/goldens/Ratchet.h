/// Ratchet: the cases of a suite that have passed once, and so must pass.
#pragma once

#include "sinter/runtime/Result.h"
#include "tests/goldens/Suite.h"

#include <map>
#include <string>
#include <vector>

namespace sinter::goldens {

/// A file of lines `ID OP`: cases that have passed. Lines may be added, never
/// taken away. A line `= ID NAME NUMBER VALUE REASON` says that the case's file
/// has element NUMBER of tensor NAME wrong, that NumPy gives VALUE there, and
/// why: the case is compared with that.
class Ratchet {
public:
  /// A file that does not exist holds none.
  static Result<Ratchet> read(const std::string &path);

  bool contains(const std::string &id) const { return ops.contains(id); }
  /// Corrects what the case's file has wrong.
  void correct(Case &golden) const;
  void add(const std::string &id, const std::string &op);
  /// Replaces the file.
  Result<void> write() const;
  size_t size() const { return ops.size(); }

private:
  /// One line of a correction.
  struct Correction {
    std::string id, name;
    size_t number = 0;
    std::string value, reason;
  };

  std::string path;
  std::map<std::string, std::string> ops; ///< by id
  std::vector<Correction> corrections;
};

} // namespace sinter::goldens
