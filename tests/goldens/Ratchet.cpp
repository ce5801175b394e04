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
  std::string id, rest;
  while (stream >> id) {
    bool isReason = id == "!" && stream >> id;
    std::getline(stream >> std::ws, rest);
    (isReason ? ratchet.reasons : ratchet.ops).insert_or_assign(id, rest);
  }
  return ratchet;
}

std::string Ratchet::reasonOf(const std::string &id) const {
  auto found = reasons.find(id);
  return found == reasons.end() ? "" : found->second;
}

void Ratchet::add(const std::string &id, const std::string &op) {
  ops.insert_or_assign(id, op);
}

Result<void> Ratchet::write() const {
  std::ofstream stream(path);
  for (const auto &[id, reason] : reasons)
    stream << "! " << id << ' ' << reason << '\n';
  for (const auto &[id, op] : ops)
    stream << id << ' ' << op << '\n';
  stream.close();
  if (!stream)
    return makeError(ErrorKind::io, path + " cannot be written");
  return {};
}

} // namespace sinter::goldens
