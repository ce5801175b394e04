/// usage: fuzz-corpus FOLDER      makes a folder for each fuzzer in FOLDER
#include "tests/fuzz/Corpus.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz-corpus FOLDER\n");
    return 2;
  }
  return sinter::fuzz::writeCorpus(argv[1]) ? 0 : 1;
}
