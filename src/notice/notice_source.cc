#include "notice/notice_source.h"

#include <fmt/core.h>

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "notice/notice_board.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::notice {

NoticeWatch::NoticeWatch(sys::Threads& threads, NoticeBoard& board,
                         std::vector<std::unique_ptr<NoticeSource>> sources)
    : sources_(std::move(sources)) {
  threads_.reserve(sources_.size());
  for (const auto& source : sources_) {
    threads_.push_back(
        threads.spawn(fmt::format("notice-{}", source->name()),
                      [&board, listener = source.get()](const std::stop_token& stop) {
                        listener->watch(board, {.stop = stop});
                      }));
  }
}

std::vector<Result<std::string>> NoticeWatch::release(const Departure& departure,
                                                      const sys::CallContext& ctx) {
  std::vector<Result<std::string>> done;
  done.reserve(sources_.size());
  for (const auto& source : sources_) done.push_back(source->release(departure, ctx));
  return done;
}

}  // namespace outlast::notice
