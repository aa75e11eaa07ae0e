#include "store/check/checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "store/check/root_check.h"
#include "store/object_store.h"

namespace outlast::store::check {
namespace {

constexpr std::string_view kUnsafe = "do not use this store as a root";
// Of the 1,024 bytes that a name may have, with the prefix of the root before it.
constexpr std::size_t kLongName = 800;

bool failed_with(const Result<std::string>& outcome, ErrorCode code) {
  return !outcome && outcome.error().code() == code;
}

// What a listing of `options` shows, over all its pages.
Result<std::vector<std::string>> list_all(const Bench& bench, ListOptions options) {
  std::vector<std::string> keys;
  while (true) {
    OUTLAST_TRY_ASSIGN(const ListPage page, bench.store().list(options, bench.ctx));
    for (const ObjectInfo& object : page.objects) keys.push_back(object.key);
    if (page.next.empty() || keys.size() > 10'000) return keys;
    options.page_token = page.next;
  }
}

}  // namespace

Result<std::string> read_all(const Bench& bench, const std::string& key,
                             const GetOptions& options) {
  std::string text;
  OUTLAST_TRY(bench.store().get(
      key, options,
      [&text](const ObjectInfo&, BytesView piece) -> Result<void> {
        text += as_text(piece);
        return {};
      },
      bench.ctx));
  return text;
}

Result<CheckFinding> write_and_read(const Bench& bench) {
  const std::string key = bench.key("object");
  for (const std::string_view content : {"first", "second, longer", ""}) {
    OUTLAST_TRY_ASSIGN(const std::string version,
                       bench.store().put(key, as_bytes(content), WriteIf::always(), bench.ctx));
    OUTLAST_TRY_ASSIGN(const std::string back, read_all(bench, key));
    OUTLAST_TRY_ASSIGN(const ObjectInfo info, bench.store().head(key, bench.ctx));
    if (back != content || info.size != content.size() || info.version != version) {
      return broken(fmt::format("a read right after a write gave something else; {}", kUnsafe));
    }
  }
  OUTLAST_TRY(bench.store().remove(key, bench.ctx));
  const Result<ObjectInfo> gone = bench.store().head(key, bench.ctx);
  if (gone || gone.error().code() != ErrorCode::kNotFound) {
    return broken("an object that was removed is still there");
  }
  return good("what was written is read, at once");
}

Result<CheckFinding> create_if_absent(const Bench& bench) {
  const std::string key = bench.key("absent");
  OUTLAST_TRY(bench.store().put(key, as_bytes("first"), WriteIf::absent(), bench.ctx));
  const Result<std::string> second =
      bench.store().put(key, as_bytes("second"), WriteIf::absent(), bench.ctx);
  OUTLAST_TRY_ASSIGN(const std::string back, read_all(bench, key));
  if (second || back != "first") {
    return broken(
        fmt::format("the condition 'only if absent' is ignored: a second writer replaced the first "
                    "one's object. "
                    "Two machines could both believe that a job is theirs; {}",
                    kUnsafe));
  }
  if (!failed_with(second, ErrorCode::kAlreadyExists)) return second.error();
  return good("a second writer is refused");
}

Result<CheckFinding> replace_if_unchanged(const Bench& bench) {
  const std::string key = bench.key("replace");
  OUTLAST_TRY_ASSIGN(const std::string old,
                     bench.store().put(key, as_bytes("one"), WriteIf::always(), bench.ctx));
  OUTLAST_TRY(bench.store().put(key, as_bytes("two!"), WriteIf::version_is(old), bench.ctx));
  const Result<std::string> stale =
      bench.store().put(key, as_bytes("three"), WriteIf::version_is(old), bench.ctx);
  OUTLAST_TRY_ASSIGN(const std::string back, read_all(bench, key));
  if (stale || back != "two!") {
    return broken(
        fmt::format("the condition 'only if unchanged' is ignored: a writer that knew an old "
                    "version replaced a "
                    "newer one. Updates would be lost; {}",
                    kUnsafe));
  }
  if (!failed_with(stale, ErrorCode::kConditionFailed)) return stale.error();
  return good("a writer that knows an old version is refused");
}

Result<CheckFinding> remove_if_unchanged(const Bench& bench) {
  const std::string key = bench.key("remove");
  OUTLAST_TRY_ASSIGN(const std::string old,
                     bench.store().put(key, as_bytes("one"), WriteIf::always(), bench.ctx));
  OUTLAST_TRY(bench.store().put(key, as_bytes("two!"), WriteIf::always(), bench.ctx));
  const Result<void> stale = bench.store().remove_if(key, old, bench.ctx);
  if (stale || stale.error().code() != ErrorCode::kConditionFailed) {
    return note(
        "a newer version can be removed by who knows only an old one; outlast does without");
  }
  if (!bench.store().properties().conditional_remove) {
    return note(
        "checked by looking first: the store itself may ignore the condition; outlast does "
        "without it");
  }
  return good("who knows an old version is refused");
}

Result<CheckFinding> ranges(const Bench& bench) {
  const std::string key = bench.key("ranges");
  std::string content;
  for (int i = 0; i < 100'000; ++i) content += static_cast<char>('a' + i % 23);
  OUTLAST_TRY(bench.store().put(key, as_bytes(content), WriteIf::always(), bench.ctx));
  struct Asked {
    std::uint64_t offset;
    std::uint64_t length;
  };
  for (const auto& [offset, length] :
       {Asked{0, 1}, Asked{1, 65'536}, Asked{99'999, 1}, Asked{99'990, 1000}}) {
    OUTLAST_TRY_ASSIGN(
        const std::string part,
        read_all(bench, key, {.range = ByteRange{.offset = offset, .length = length}}));
    if (part != content.substr(offset, length)) {
      return broken(fmt::format("bytes {} to {} came back wrong; a restore reads by ranges; {}",
                                offset, offset + length - 1, kUnsafe));
    }
  }
  return good("parts of an object are read exactly");
}

Result<CheckFinding> listing(const Bench& bench) {
  const std::string prefix = bench.key("list/");
  std::vector<std::string> written;
  for (int i = 0; i < 12; ++i) {
    written.push_back(fmt::format("{}{:02}", prefix, i));
    OUTLAST_TRY(bench.store().put(written.back(), as_bytes("x"), WriteIf::always(), bench.ctx));
    OUTLAST_TRY_ASSIGN(const std::vector<std::string> seen, list_all(bench, {.prefix = prefix}));
    if (seen != written) {
      return broken(fmt::format(
          "a listing right after a write does not show it, or not in order; {}", kUnsafe));
    }
  }
  OUTLAST_TRY_ASSIGN(const std::vector<std::string> paged,
                     list_all(bench, {.prefix = prefix, .page_max = 5}));
  if (paged != written) return broken("a listing in pages of 5 differs from one in a single page");
  OUTLAST_TRY_ASSIGN(const std::vector<std::string> later,
                     list_all(bench, {.prefix = prefix, .start_after = written[6]}));
  if (later != std::vector<std::string>(written.begin() + 7, written.end())) {
    return broken("a listing that starts after a name shows the wrong objects");
  }
  OUTLAST_TRY(bench.store().remove(written.back(), bench.ctx));
  OUTLAST_TRY_ASSIGN(const std::vector<std::string> after, list_all(bench, {.prefix = prefix}));
  if (std::find(after.begin(), after.end(), written.back()) != after.end()) {
    return broken("a listing still shows an object that was removed");
  }
  return good("listings show every write and every removal at once, in order");
}

Result<CheckFinding> names(const Bench& bench) {
  const std::string long_part(200, 'n');
  std::set<std::string> written;
  for (const std::string_view name : {"with space", "plus+and&more", "percent%2Fliteral",
                                      "ünïcödé-日本", "q?uery#hash", "eq=ual;'\"", "long/"}) {
    std::string key = bench.key(fmt::format("names/{}", name));
    if (name == "long/") {
      while (key.size() + long_part.size() <= kLongName) key += long_part + '/';
      key += "end";
    }
    OUTLAST_TRY(bench.store().put(key, as_bytes(key), WriteIf::always(), bench.ctx));
    OUTLAST_TRY_ASSIGN(const std::string back, read_all(bench, key));
    if (back != key) return broken(fmt::format("the object '{}' came back as another one", key));
    written.insert(key);
  }
  OUTLAST_TRY_ASSIGN(const std::vector<std::string> seen,
                     list_all(bench, {.prefix = bench.key("names/")}));
  if (std::set<std::string>(seen.begin(), seen.end()) != written) {
    return broken("a listing shows other names than those that were written");
  }
  return good("spaces, signs, other scripts and long names are kept");
}

Result<CheckFinding> large_uploads(const Bench& bench) {
  const Properties& properties = bench.store().properties();
  const std::string key = bench.key("large");
  constexpr std::uint64_t kPartBytes = 256U << 10U;  // a multiple of every store's granule
  const std::uint64_t part = std::max(properties.part_bytes_min, kPartBytes);
  Bytes bytes(part + 1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 % 251);
  const auto upload = [&](const WriteIf& condition) -> Result<std::string> {
    const UploadPlan plan = {.size = bytes.size(), .part_bytes = part, .condition = condition};
    OUTLAST_TRY_ASSIGN(const std::unique_ptr<Upload> going,
                       bench.store().start_upload(key, plan, bench.ctx));
    OUTLAST_TRY(going->put_part(0, BytesView(bytes).first(part), bench.ctx));
    OUTLAST_TRY(going->put_part(1, BytesView(bytes).subspan(part), bench.ctx));
    Result<std::string> done = going->complete(bench.ctx);
    if (!done) static_cast<void>(going->abort(bench.ctx));
    return done;
  };
  OUTLAST_TRY(upload(WriteIf::always()));
  OUTLAST_TRY_ASSIGN(const std::string back, read_all(bench, key));
  if (as_bytes(back).size() != bytes.size() || crc32c(as_bytes(back)) != crc32c(bytes)) {
    return broken(fmt::format("an object that was uploaded in parts came back wrong; {}", kUnsafe));
  }
  if (upload(WriteIf::absent())) {
    return note(
        "an upload in parts ignores the condition 'only if absent'; outlast never relies on it");
  }
  return good("parts are put together right, and conditions hold for them, too");
}

Result<CheckFinding> checksums(const Bench& bench) {
  const std::string key = bench.key("sum");
  constexpr std::string_view kContent = "The sum of these bytes is known.";
  OUTLAST_TRY(bench.store().put(key, as_bytes(kContent), WriteIf::always(), bench.ctx));
  OUTLAST_TRY_ASSIGN(const ObjectInfo info, bench.store().head(key, bench.ctx));
  if (!info.crc32c) {
    return note(
        "the store keeps no CRC-32C with its objects; outlast checks its own data by SHA-256");
  }
  if (*info.crc32c != crc32c(as_bytes(kContent))) {
    return broken(
        fmt::format("the checksum that the store keeps is not that of the bytes; {}", kUnsafe));
  }
  return good("a CRC-32C is kept with every object, and is right");
}

Result<CheckFinding> clock(const Bench& bench) {
  const WallTime before = bench.tools.clock.wall_now();
  OUTLAST_TRY_ASSIGN(const WallTime theirs, bench.store().server_time(bench.ctx));
  const WallTime after = bench.tools.clock.wall_now();
  // A server tells whole seconds.
  const Duration early = before - theirs - std::chrono::seconds(1);
  const Duration late = theirs - after;
  const double off = std::chrono::duration<double>(std::max(early, late)).count();
  if (off <= 5) return good("this machine's clock and the store's agree");
  return note(
      fmt::format("this machine's clock is {:.0f} s {} the store's: set it right (NTP), or "
                  "signed requests will be refused from 15 minutes on",
                  off, early > late ? "ahead of" : "behind"));
}

}  // namespace outlast::store::check
