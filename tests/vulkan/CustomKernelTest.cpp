/// Users' kernels in GLSL and SPIR-V.
#include <sinter/Basic.h>

#include <cstdlib>
#include <gtest/gtest.h>

namespace sn = sinter;

namespace {

constexpr sn::DeviceId onVulkan{sn::DeviceKind::vulkan, 0};

/// y = 2 * x, element by element, in blocks of 32.
sn::CustomKernel twice(sn::DType result) {
  sn::CustomKernel kernel;
  kernel.function = "twice";
  kernel.launch = [result](std::span<const sn::Tensor> inputs) {
    int64_t size = 1;
    std::vector<int64_t> shape;
    for (int64_t axis = 0; axis < inputs[0].rank(); ++axis)
      size *= shape.emplace_back(inputs[0].dim(axis).value);
    return sn::KernelLaunch{.dtype = result,
                            .shape = shape,
                            .grid = {(size + 31) / 32},
                            .block = {32}};
  };
  return kernel;
}

constexpr const char *doubling = R"(
layout(local_size_x = BLOCK_X) in;
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < OUT_SIZE)
    OUT[i] = OUT_TYPE(2 * float(IN0[i]));
}
)";

sn::Tensor count(int64_t size, sn::DType dtype = sn::DType::f32) {
  std::vector<float> values;
  for (int64_t i = 0; i < size; ++i)
    values.push_back(float(i % 50));
  return sn::tensor(values, {size}, {.dtype = dtype, .device = onVulkan});
}

/// What evaluating a kernel over `count(70)` fails with, without its place in
/// the program.
std::string failureOf(const sn::CustomKernel &kernel) {
  try {
    sn::custom_op(kernel)({count(70)}).to_vector<float>();
  } catch (const sn::Error &error) {
    return error.message().substr(0, error.message().find(" (line "));
  }
  return "nothing";
}

std::string failureOfGlsl(const char *source) {
  sn::CustomKernel kernel = twice(sn::DType::f32);
  kernel.glsl = source;
  return failureOf(kernel);
}

} // namespace

TEST(CustomKernel, isGlslOfAnyDtype) {
  for (sn::DType dtype :
       {sn::DType::f32, sn::DType::f16, sn::DType::i8, sn::DType::i16,
        sn::DType::i32, sn::DType::i64, sn::DType::u8, sn::DType::f64}) {
    sn::CustomKernel kernel = twice(dtype);
    kernel.glsl = doubling;
    sn::Tensor x = count(70, dtype);
    sn::Tensor y = sn::custom_op(kernel)({x});
    sn::Tensor difference = y.to(sn::DType::f32) - 2.f * x.to(sn::DType::f32);
    EXPECT_EQ(sn::amax(sn::abs(difference)).item<float>(), 0)
        << sn::name(dtype);
  }
}

TEST(CustomKernel, knowsShapesAndLaunch) {
  sn::CustomKernel kernel;
  kernel.function = "rows";
  kernel.glsl = R"(
    layout(local_size_x = BLOCK_X, local_size_y = BLOCK_Y, local_size_z = BLOCK_Z) in;
    shared float part[SHARED_BYTES / 4];
    void main() {
      uint at = gl_LocalInvocationID.y * BLOCK_X + gl_LocalInvocationID.x;
      part[at] = IN0[gl_WorkGroupID.z * IN0_DIM1 + at] + IN1[0];
      barrier();
      if (at == 0) {
        OUT_TYPE sum = 0;
        for (int i = 0; i < IN0_DIM1; ++i)
          sum += part[i];
        OUT[gl_WorkGroupID.z] = sum + IN0_RANK + IN1_SIZE;
      }
    })";
  kernel.launch = [](std::span<const sn::Tensor> inputs) {
    return sn::KernelLaunch{.dtype = sn::DType::f32,
                            .shape = {inputs[0].dim(0).value},
                            .grid = {1, 1, inputs[0].dim(0).value},
                            .block = {4, 2},
                            .shared_bytes = 32};
  };
  sn::Tensor x = sn::ones({5, 8}, {.device = onVulkan});
  sn::Tensor one = sn::tensor({0.5f}, {.device = onVulkan});
  auto rows = sn::custom_op(kernel);
  for (int i = 0; i < 4; ++i) // replayed, too
    EXPECT_EQ(rows({sn::exp(x) * 0.f + float(i), one}).to_vector<float>(),
              std::vector<float>(5, 8 * (float(i) + 0.5f) + 2 + 1));
}

TEST(CustomKernel, isSpirv) {
  sn::CustomKernel kernel = twice(sn::DType::f32);
  kernel.spirv = R"(
               OpCapability Shader
               OpCapability Int64
               OpCapability PhysicalStorageBufferAddresses
               OpMemoryModel PhysicalStorageBuffer64 GLSL450
               OpEntryPoint GLCompute %twice "twice" %pushed %thread
               OpExecutionMode %twice LocalSize BLOCK_X BLOCK_Y BLOCK_Z
               OpName %twice "twice"
               OpDecorate %Pushed Block
               OpMemberDecorate %Pushed 0 Offset 0
               OpDecorate %Tensors Block
               OpMemberDecorate %Tensors 0 Offset 0
               OpMemberDecorate %Tensors 1 Offset 8
               OpDecorate %elements ArrayStride 4
               OpDecorate %Elements Block
               OpMemberDecorate %Elements 0 Offset 0
               OpDecorate %thread BuiltIn GlobalInvocationId
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
       %bool = OpTypeBool
       %uint = OpTypeInt 32 0
      %ulong = OpTypeInt 64 0
      %uint3 = OpTypeVector %uint 3
    %element = IN0_TYPE
     %Pushed = OpTypeStruct %ulong
    %Tensors = OpTypeStruct %ulong %ulong
   %elements = OpTypeRuntimeArray %element
   %Elements = OpTypeStruct %elements
  %to_Pushed = OpTypePointer PushConstant %Pushed
 %to_address = OpTypePointer PushConstant %ulong
 %to_Tensors = OpTypePointer PhysicalStorageBuffer %Tensors
  %to_tensor = OpTypePointer PhysicalStorageBuffer %ulong
%to_Elements = OpTypePointer PhysicalStorageBuffer %Elements
 %to_element = OpTypePointer PhysicalStorageBuffer %element
      %input = OpTypePointer Input %uint3
     %pushed = OpVariable %to_Pushed PushConstant
     %thread = OpVariable %input Input
          %0 = OpConstant %uint 0
          %1 = OpConstant %uint 1
   %IN0_SIZE = OpConstant %uint IN0_SIZE
      %twice = OpFunction %void None %fn
      %entry = OpLabel
     %place  = OpAccessChain %to_address %pushed %0
    %address = OpLoad %ulong %place
    %tensors = OpConvertUToPtr %to_Tensors %address
       %at_x = OpAccessChain %to_tensor %tensors %0
     %long_x = OpLoad %ulong %at_x Aligned 8
          %x = OpConvertUToPtr %to_Elements %long_x
       %at_y = OpAccessChain %to_tensor %tensors %1
     %long_y = OpLoad %ulong %at_y Aligned 8
          %y = OpConvertUToPtr %to_Elements %long_y
    %threads = OpLoad %uint3 %thread
          %i = OpCompositeExtract %uint %threads 0
    %isThere = OpULessThan %bool %i %IN0_SIZE
               OpSelectionMerge %done None
               OpBranchConditional %isThere %body %done
       %body = OpLabel
       %from = OpAccessChain %to_element %x %0 %i
      %value = OpLoad %element %from Aligned 4
        %sum = OpFAdd %element %value %value
         %to = OpAccessChain %to_element %y %0 %i
               OpStore %to %sum Aligned 4
               OpBranch %done
       %done = OpLabel
               OpReturn
               OpFunctionEnd
)";
  sn::Tensor x = count(70);
  sn::Tensor y = sn::custom_op(kernel)({x + 1.f}) - 2.f * x;
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(70, 2));
  kernel.spirv.replace(kernel.spirv.find("OpLabel"), 7, "OpLable");
  EXPECT_EQ(failureOf(kernel).find("custom_op: 'twice': twice:"), 0u)
      << failureOf(kernel);
  kernel.function = "thrice";
  kernel.spirv.replace(kernel.spirv.find("OpLable"), 7, "OpLabel");
  EXPECT_EQ(failureOf(kernel),
            "custom_op: 'thrice': it has the entry point 'twice', not "
            "'thrice' alone");
}

TEST(CustomKernel, mayBeWrong) {
  EXPECT_EQ(failureOfGlsl("layout(local_size_x = BLOCK_X) in;\nvoid main() {\n"
                          "  OUT[0] = missing;\n}\n"),
            "custom_op: 'twice': twice:3: 'missing' : undeclared identifier");
  EXPECT_EQ(failureOfGlsl("layout(local_size_x = 16) in;\nvoid main() {}\n"),
            "custom_op: 'twice': its local size is not the block of the "
            "launch");
  EXPECT_EQ(
      failureOfGlsl("layout(local_size_x = BLOCK_X) in;\n"
                    "layout(binding = 0) buffer Bound { float values[]; };\n"
                    "void main() { values[0] = 1; }\n"),
      "custom_op: 'twice': it has a variable with a binding; tensors "
      "come by address");
  EXPECT_EQ(failureOfGlsl("#extension GL_KHR_shader_subgroup_arithmetic : "
                          "require\nlayout(local_size_x = BLOCK_X) in;\n"
                          "void main() { OUT[0] = subgroupAdd(1.0); }\n"),
            "custom_op: 'twice': it needs GroupNonUniformArithmetic, which "
            "the device's profile lacks");
}

TEST(CustomKernel, needsItsCompiler) {
  std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  std::string failure = failureOfGlsl("void main() {} // another");
  sn::CustomKernel kernel = twice(sn::DType::f32);
  kernel.spirv = "OpNop";
  std::string ofAssembly = failureOf(kernel);
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(failure, "custom_op: 'twice': GLSL is compiled by "
                     "glslangValidator, which is not found (Debian's package "
                     "glslang-tools)");
  EXPECT_EQ(ofAssembly, "custom_op: 'twice': an assembly of SPIR-V is compiled "
                        "by spirv-as, which is not found (Debian's package "
                        "spirv-tools)");
}

TEST(CustomKernel, hasCodeForSomeDevices) {
  sn::CustomKernel kernel = twice(sn::DType::f32);
  kernel.source = "CUDA C++";
  EXPECT_EQ(failureOf(kernel), "custom_op: 'twice' has no GLSL or SPIR-V, it "
                               "does not run on vulkan:0: f32[70]");
  kernel.glsl = kernel.spirv = "both";
  EXPECT_EQ(failureOf(kernel),
            "custom_op: both GLSL and SPIR-V are given: f32[70]");
}
