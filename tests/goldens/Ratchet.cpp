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
    if (id == "=") {
      Correction correction;
      stream >> correction.id >> correction.name >> correction.number >>
          correction.value;
      std::getline(stream >> std::ws, correction.reason);
      ratchet.corrections.push_back(std::move(correction));
      continue;
    }
    std::getline(stream >> std::ws, rest);
    ratchet.ops.insert_or_assign(id, rest);
  }
  return ratchet;
}

void Ratchet::correct(Case &golden) const {
  for (const Correction &correction : corrections)
    if (correction.id == golden.id)
      golden.corrections[{correction.name, correction.number}] =
          std::stod(correction.value);
}

void Ratchet::add(const std::string &id, const std::string &op) {
  ops.insert_or_assign(id, op);
}

Result<void> Ratchet::write() const {
  std::ofstream stream(path);
  for (const Correction &each : corrections)
    stream << "= " << each.id << ' ' << each.name << ' ' << each.number << ' '
           << each.value << ' ' << each.reason << '\n';
  for (const auto &[id, op] : ops)
    stream << id << ' ' << op << '\n';
  stream.close();
  if (!stream)
    return makeError(ErrorKind::io, path + " cannot be written");
  return {};
}

} // namespace sinter::goldens
