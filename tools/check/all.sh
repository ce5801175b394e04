#!/usr/bin/env bash
# What to run before a commit: format, includes, sizes, words, lint of the
# changed files, the fast tests.
#
# usage: tools/check/all.sh [BUILD]      BUILD is build/dev unless given
set -uo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/dev}

failed=()
check() {
  local name=$1
  shift
  echo "== $name"
  "$@" || failed+=("$name")
}

check format tools/check/format.sh
check deps tools/check/deps.py
check size tools/check/size.py
check words tools/check/words.py
check labels tools/check/labels.py
check frozen tools/check/frozen.py
if [[ -f $build/build.ninja ]]; then
  check build ninja -C "$build"
  check lint tools/check/lint.py "$build" --changed
  check tests ctest --test-dir "$build" -L fast --output-on-failure -j "$(nproc)"
else
  echo "== $build is not configured: no lint, no tests"
fi

if ((${#failed[@]})); then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "all checks passed"
