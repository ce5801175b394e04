#!/usr/bin/env bash
# Checks that C++ files look as clang-format 22 writes them.
#
# usage: tools/check/format.sh [--fix]
set -euo pipefail
cd "$(dirname "$0")/../.."
mode=(--dry-run -Werror)
if [[ ${1:-} == --fix ]]; then
  mode=(-i)
fi
program=${CLANG_FORMAT:-clang-format-22}
if ! command -v "$program" >/dev/null; then
  echo "error: $program is missing; tools/dev setup installs it" >&2
  exit 1
fi
git ls-files -z -co --exclude-standard -- '*.cpp' '*.h' '*.c' |
  xargs -0 -r -P "$(nproc)" -n 20 "$program" "${mode[@]}"
echo "format: ok"
