/// Reading and writing the list of passing cases.
#include "tests/goldens/Ratchet.h"

#include <filesystem>
#include <fstream>

namespace sinter::goldens {

Result<Ratchet> Ratchet::read(const std::string &path) {
  Ratchet ratchet;
  ratchet.path = path;
  if (!std::filesystem::exists(path))
    return ratchet;
  std::ifstream stream(path);
  if (!stream)
    return makeError(ErrorKind::io, path + " cannot be read");
  std::string id, op;
  while (stream >> id >> op)
    ratchet.add(id, op);
  return ratchet;
}

void Ratchet::add(const std::string &id, const std::string &op) {
  ops.insert_or_assign(id, op);
}

Result<void> Ratchet::write() const {
  std::ofstream stream(path);
  for (const auto &[id, op] : ops)
    stream << id << ' ' << op << '\n';
  stream.close();
  if (!stream)
    return makeError(ErrorKind::io, path + " cannot be written");
  return {};
}

} // namespace sinter::goldens
