#!/bin/sh
# Validates the SPIR-V modules that a text of `sinter inspect` has: of stage asm in
# MLIR's form, of stage spirv as assembly.
#
# usage: spirv-val.sh LLVM-BIN TEXT
set -eu
parts=$2.parts
rm -rf "$parts"
mkdir "$parts"
csplit -z -s -f "$parts/kernel" "$2" '/^\/\/ ---- kernel/' '{*}'
for part in "$parts"/kernel*; do
  if grep -q '^ *OpCapability' "$part"; then
    grep -v '^//' "$part" | spirv-as --target-env spv1.6 -o "$part.spv" -
  else
    "$1/mlir-translate" --no-implicit-module --serialize-spirv "$part" \
      -o "$part.spv"
  fi
  spirv-val --target-env vulkan1.3 "$part.spv"
done
