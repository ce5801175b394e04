#!/bin/sh
# Validates the SPIR-V modules that a text of `sinter inspect --stage asm` has.
#
# usage: spirv-val.sh LLVM-BIN TEXT
set -eu
parts=$2.parts
rm -rf "$parts"
mkdir "$parts"
csplit -z -s -f "$parts/kernel" "$2" '/^\/\/ ---- kernel/' '{*}'
for part in "$parts"/kernel*; do
  "$1/mlir-translate" --no-implicit-module --serialize-spirv "$part" \
    -o "$part.spv"
  spirv-val --target-env vulkan1.3 "$part.spv"
done
