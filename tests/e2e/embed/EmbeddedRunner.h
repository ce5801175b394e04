/// EmbeddedRunner: a model file as an object in this process, beside a session
/// of the file itself.
#pragma once

#include "sinter/embedded.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sinter/Tensor.h>
#include <string>
#include <vector>

namespace sinter::test {

/// The object is linked to a library, which is loaded. Everything that goes
/// wrong fails the test.
class EmbeddedRunner {
public:
  /// `flags` are those of `sinter embed`.
  explicit EmbeddedRunner(const std::filesystem::path &file,
                          const std::string &flags = "");
  ~EmbeddedRunner();
  EmbeddedRunner(const EmbeddedRunner &) = delete;

  const sinter_embedded *model() const { return embedded; }
  sinter_embedded_session *session() const { return opened; }

  /// Runs an entry on both. The status, outputs, state and weights that runs
  /// replace have to be the same, bit by bit.
  void runBoth(const std::string &entry, const std::vector<Tensor> &inputs);

private:
  void compareOutputs(uint32_t entry);
  void compareStates();

  std::filesystem::path folder;
  void *library = nullptr;
  const sinter_embedded *embedded = nullptr;
  std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
  sinter_embedded_session *opened = nullptr;
  sinter_model *file = nullptr;
  sinter_session *session_of_file = nullptr;
};

} // namespace sinter::test
