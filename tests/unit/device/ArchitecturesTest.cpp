/// The target that a driver's answers name.
#include "runtime/device/cuda/Architectures.h"

#include <gtest/gtest.h>

using namespace sinter::runtime;

// The numbers of an H200, an H100 with fewer multiprocessors, an A100 and a
// card of 8.6.
TEST(Architectures, ATargetSaysWhatIsUnusual) {
  EXPECT_EQ(cudaTargetOf({90, 132, 65536, 2048, 232448}), "cuda:sm_90");
  EXPECT_EQ(cudaTargetOf({90, 114, 65536, 2048, 232448}),
            "cuda:sm_90{multiprocessors=114}");
  EXPECT_EQ(cudaTargetOf({80, 108, 65536, 2048, 166912}),
            "cuda:sm_80{shared_bytes=166912}");
  EXPECT_EQ(cudaTargetOf({86, 84, 65536, 1536, 101376}),
            "cuda:sm_80{multiprocessors=84+threads=1536}");
  EXPECT_EQ(cudaTargetOf({90, 132, 32768, 2048, 1000}),
            "cuda:sm_90{registers=32768}");
}
