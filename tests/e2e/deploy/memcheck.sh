#!/usr/bin/env bash
# usage: memcheck.sh PROGRAM ARGUMENTS...
#
# Runs a program under valgrind: an error or a block that is lost for good is a
# failure, and so is a compiler among the libraries that it loads. Without
# valgrind it says so and checks the libraries alone.
set -euo pipefail
loaded=$(LD_DEBUG=files "$@" 2>&1)
if grep -qE 'LLVM|MLIR|sinter-compiler' <<<"$loaded"; then
  echo "error: it loads a compiler"
  exit 1
fi
if ! command -v valgrind >/dev/null; then
  echo "not run: there is no valgrind"
  exit 0
fi
valgrind --quiet --error-exitcode=9 --leak-check=full \
  --show-leak-kinds=definite --errors-for-leak-kinds=definite "$@"
