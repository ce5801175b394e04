/// FmaAttentionUnit: which attention, and in what tiles.
#include "compiler/target/simt/attention/FmaAttentionUnit.h"

#include "compiler/target/simt/attention/FmaAttention.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

class FmaAttentionUnit final : public AttentionUnit {
public:
  explicit FmaAttentionUnit(const FmaAttentionDevice &device)
      : device(device) {}

  std::optional<Tile> tileFor(const Attention &attention) const override {
    const FmaAttentionLayout *layout = layoutFor(attention);
    if (!layout)
      return std::nullopt;
    return Tile{layout->rows, layout->threads() / device.threads.warpThreads()};
  }

  void emit(OpBuilder &builder, Location loc, const KernelEntry &entry,
            const Attention &attention, Client &client) const override {
    FmaAttention(builder, loc, entry, attention, *layoutFor(attention), device,
                 client)
        .run();
  }

private:
  // The largest of which a block has the memory, and a thread the registers.
  const FmaAttentionLayout *layoutFor(const Attention &attention) const {
    const Type element = attention.element;
    if (!element.isF32() && !element.isF16() && !element.isBF16())
      return nullptr;
    if (attention.isPart)
      return layoutOfPart(attention);
    for (const FmaAttentionLayout &layout : fmaAttentionLayouts())
      if (fits(attention, layout))
        return &layout;
    return nullptr;
  }

  // In the order of most rows, whether it is known that there are fewer.
  const FmaAttentionLayout *layoutOfPart(const Attention &attention) const {
    auto rows = dyn_cast<AffineConstantExpr>(attention.rows);
    ArrayRef<FmaAttentionLayout> all = fmaAttentionPartLayouts();
    auto *last = llvm::find_if(all, [&](const FmaAttentionLayout &layout) {
      return layout.rows == all.back().rows && fits(attention, layout);
    });
    if (last == all.end())
      return nullptr;
    return llvm::find_if(all, [&](const FmaAttentionLayout &layout) {
      return layout.steps == last->steps &&
             (&layout == last || (rows && rows.getValue() <= layout.rows &&
                                  fits(attention, layout)));
    });
  }

  bool fits(const Attention &attention,
            const FmaAttentionLayout &layout) const {
    return layout.threads() % device.threads.warpThreads() == 0 &&
           layout.threads() <= device.mostThreads &&
           FmaAttentionMemory(attention, layout).numbers <=
               device.mostNumbers &&
           FmaAttention::sumsOf(attention, layout) <= mostSums;
  }

  static constexpr int64_t mostSums = 128;

  const FmaAttentionDevice device;
};

} // namespace

std::unique_ptr<const AttentionUnit>
makeFmaAttentionUnit(const FmaAttentionDevice &device) {
  return std::make_unique<FmaAttentionUnit>(device);
}

} // namespace sinter::compiler
