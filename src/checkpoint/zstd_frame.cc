#include "checkpoint/zstd_frame.h"

#include <fmt/core.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"

namespace outlast::checkpoint {
namespace {

// The library may know older formats, too, which have another beginning.
constexpr std::array kFrameMagic = {std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f},
                                    std::byte{0xfd}};

// By functions of the library, which have linkage: types of this namespace would have none.
using Packer = std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>;
using Unpacker = std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)>;

void set(const Packer& packer, ZSTD_cParameter parameter, int value) {
  const std::size_t status = ZSTD_CCtx_setParameter(packer.get(), parameter, value);
  OUTLAST_CHECK(ZSTD_isError(status) == 0, "{}", ZSTD_getErrorName(status));
}

Packer make_packer(ZstdFrames::Effort effort) {
  Packer packer(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  OUTLAST_CHECK(packer != nullptr, "no memory for zstd");
  // Levels above 1 make floats no smaller, and those below 0 leave out the entropy coder, which is
  // all that helps there.
  set(packer, ZSTD_c_compressionLevel, 1);
  if (effort == ZstdFrames::Effort::kEntropy) {
    // So few and so long matches that only real runs are found; chance ones cost more than they
    // save.
    set(packer, ZSTD_c_minMatch, 7);
    set(packer, ZSTD_c_hashLog, 6);
  }
  return packer;
}

Error bad_frame(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("not a zstd frame of a chunk: {}", what)};
}

}  // namespace

struct ZstdFrames::State {
  Packer matches = make_packer(Effort::kMatches);
  Packer entropy = make_packer(Effort::kEntropy);
  Unpacker unpacker = {ZSTD_createDCtx(), &ZSTD_freeDCtx};
  Bytes frame = {};
};

ZstdFrames::ZstdFrames() : state_(std::make_unique<State>()) {
  OUTLAST_CHECK(state_->unpacker != nullptr, "no memory for zstd");
}
ZstdFrames::~ZstdFrames() = default;
ZstdFrames::ZstdFrames(ZstdFrames&&) noexcept = default;
ZstdFrames& ZstdFrames::operator=(ZstdFrames&&) noexcept = default;

BytesView ZstdFrames::pack(BytesView content, Effort effort) {
  OUTLAST_CHECK(!content.empty(), "an empty frame");
  const std::size_t bytes_max = ZSTD_compressBound(content.size());
  if (state_->frame.size() < bytes_max) state_->frame.resize(bytes_max);
  const Packer& packer = effort == Effort::kEntropy ? state_->entropy : state_->matches;
  const std::size_t bytes = ZSTD_compress2(packer.get(), state_->frame.data(), state_->frame.size(),
                                           content.data(), content.size());
  OUTLAST_CHECK(ZSTD_isError(bytes) == 0, "{}", ZSTD_getErrorName(bytes));
  return BytesView(state_->frame).first(bytes);
}

Result<void> ZstdFrames::unpack(BytesView frame, std::span<std::byte> content) {
  OUTLAST_CHECK(!content.empty(), "an empty frame");
  if (!std::ranges::equal(frame.first(std::min(frame.size(), kFrameMagic.size())), kFrameMagic)) {
    return bad_frame("it begins otherwise");
  }
  const unsigned long long promised = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (promised != content.size()) return bad_frame("it does not promise the size of the chunk");
  const std::size_t whole = ZSTD_findFrameCompressedSize(frame.data(), frame.size());
  if (ZSTD_isError(whole) != 0) return bad_frame(ZSTD_getErrorName(whole));
  if (whole != frame.size()) return bad_frame("more follows");
  const std::size_t bytes = ZSTD_decompressDCtx(state_->unpacker.get(), content.data(),
                                                content.size(), frame.data(), frame.size());
  if (ZSTD_isError(bytes) != 0) return bad_frame(ZSTD_getErrorName(bytes));
  if (bytes != content.size()) return bad_frame("it is too short");
  return {};
}

}  // namespace outlast::checkpoint
