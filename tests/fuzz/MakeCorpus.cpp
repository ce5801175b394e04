/// usage: fuzz-corpus FOLDER      makes a folder for each fuzzer in FOLDER
#include "tests/fuzz/Corpus.h"

#include <cstdio>
#include <system_error>

namespace fs = std::filesystem;

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz-corpus FOLDER\n");
    return 2;
  }
  if (!sinter::fuzz::writeCorpus(argv[1]))
    return 1;
  // What failed once, and files that nothing here makes.
  std::error_code error;
  fs::copy(SINTER_FUZZ_CORPUS, argv[1],
           fs::copy_options::recursive | fs::copy_options::overwrite_existing,
           error);
  if (error)
    std::fprintf(stderr, "%s: %s\n", argv[1], error.message().c_str());
  return error ? 1 : 0;
}
