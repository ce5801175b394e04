/// Tensors to NumPy's files and back.
#include <sinter/data/Npy.h>

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

using namespace sinter;
namespace fs = std::filesystem;

namespace {

/// The extents of a tensor.
std::vector<int64_t> sizesOf(const Tensor &tensor) {
  std::vector<int64_t> sizes;
  for (Dim dim : tensor.shape())
    sizes.push_back(dim.value);
  return sizes;
}

class NumpyFiles : public testing::Test {
protected:
  void SetUp() override { fs::create_directory(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::string path(const std::string &name) const { return folder / name; }

  fs::path folder = fs::temp_directory_path() /
                    ("sinter-numpy-" + std::to_string(::getpid()));
};

} // namespace

TEST_F(NumpyFiles, EveryDTypeComesBack) {
  for (DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16,
        DType::i32, DType::i64, DType::u8, DType::boolean}) {
    Tensor values = tensor({{0.f, 1.f, 2.f}, {3.f, 0.f, 5.f}}).to(dtype);
    data::write_npy(path("a.npy"), values);
    Tensor read = data::read_npy(path("a.npy"));
    EXPECT_EQ(read.dtype(), dtype);
    EXPECT_EQ(sizesOf(read), (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(read.to_vector<double>(), values.to_vector<double>())
        << name(dtype);
  }
}

TEST_F(NumpyFiles, WhatIsComputedIsWritten) {
  Tensor x = tensor({1.f, 2.f});
  data::write_npy(path("a.npy"), x * 2.0 + 1.0);
  EXPECT_EQ(data::read_npy(path("a.npy")).to_vector<float>(),
            (std::vector<float>{3, 5}));
}

TEST_F(NumpyFiles, ReadsAsAnotherDType) {
  data::write_npy(path("a.npy"), tensor({1.5, 2.5}));
  Tensor read = data::read_npy(path("a.npy"), {.dtype = DType::f32});
  EXPECT_EQ(read.dtype(), DType::f32);
  EXPECT_EQ(read.to_vector<float>(), (std::vector<float>{1.5f, 2.5f}));
}

/// Unlike those of values that a program makes at one line.
TEST_F(NumpyFiles, ShapesOfFilesStayConstant) {
  for (int64_t size : {2, 3, 4}) {
    data::write_npy(path("a.npy"), ones({size, 2}));
    EXPECT_TRUE(data::read_npy(path("a.npy")).dim(0).isConstant());
  }
}

TEST_F(NumpyFiles, SeveralTensorsByName) {
  for (bool compressed : {false, true}) {
    Tensor x = iota({100, 10}, 1);
    data::write_npz(path("a.npz"), {{"x", x}, {"total", sum(x)}},
                    {.compressed = compressed});
    auto read = data::read_npz(path("a.npz"));
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read.at("total").item<int>(), 4500);
    EXPECT_EQ(read.at("x").to_vector<int>(), x.to_vector<int>());
    if (compressed) {
      EXPECT_LT(fs::file_size(path("a.npz")), 1000u);
    }
  }
}

TEST_F(NumpyFiles, ErrorsNameTheFileAndTheLine) {
  auto expectError = [&](auto function, const std::string &message) {
    try {
      function();
      ADD_FAILURE() << "accepted";
    } catch (const Error &error) {
      EXPECT_EQ(error.message(), message);
      EXPECT_NE(error.site().find("NumpyFilesTest.cpp"), std::string::npos);
    }
  };
  std::string missing = path("none.npy");
  expectError([&] { data::read_npy(missing); },
              missing + ": cannot open: No such file or directory");
  expectError([&] { data::read_npz(missing); },
              missing + ": cannot open: No such file or directory");
  std::string other = path("a.npz");
  data::write_npz(other, {{"x", tensor({1.f})}});
  expectError([&] { data::read_npy(other); },
              other + ": npy: not a .npy file; this is an archive of NumPy "
                      "arrays (.npz)");
  std::string nowhere = path("no/such/folder/a.npy");
  expectError([&] { data::write_npy(nowhere, tensor({1.f})); },
              nowhere + ": cannot create: No such file or directory");
}
