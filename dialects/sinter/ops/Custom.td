/// Code of users.
#ifndef SINTER_OPS_CUSTOM_TD
#define SINTER_OPS_CUSTOM_TD

include "dialects/sinter/OpBase.td"

def Sinter_CustomOp : Sinter_Op<"custom_op", "opaque",
                              [OpaqueOpInterface]> {
  let summary = "A kernel of the user's, in CUDA C++, GLSL or SPIR-V.";
  let description = [{
    A kernel by itself, which runs on the devices that it has code for; a text
    may be empty. On CUDA devices `function`, that `source` declares `extern "C"
    __global__ void`, is called with the address of each operand and then of the
    result, which it writes whole. On Vulkan devices `glsl`, or `spirv`, an
    assembly, does the same with the addresses that its push constant leads to.
    `extents` are the operands' dims, one operand's after the other: the kernel
    is made for them. `grid` and `block` are what it is launched with, x, y, z.
  }];
  let arguments = (ins Variadic<Sinter_Tensor>:$inputs, Sinter_Text:$source,
                       Sinter_Text:$glsl, Sinter_Text:$spirv,
                       Sinter_Text:$function, Sinter_Ints:$extents,
                       Sinter_Ints:$grid, Sinter_Ints:$block,
                       Sinter_Integer:$shared_bytes, Sinter_DType:$dtype,
                       Sinter_Ints:$shape);
  let results = (outs Sinter_Tensor:$result);
  let shapeRule = "customOp";
  let handWritten = 1;
  let example = [{custom_op({
      .source = R"(
        extern "C" __global__ void twice(const IN0_TYPE *x, OUT_TYPE *y) {
          y[threadIdx.x] = 2 * x[threadIdx.x];
        })",
      .function = "twice",
      .launch = [](std::span<const Tensor> inputs) {
        return KernelLaunch{.dtype = inputs[0].dtype(), .shape = {3, 4},
                            .block = {12}};
      }})({inputs[0]})}];
}

#endif // SINTER_OPS_CUSTOM_TD
