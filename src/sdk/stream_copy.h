#pragma once

#include <cstddef>

namespace outlast::sdk {

// As memcpy(), but what is large goes to memory past the caches: the state is not read again by
// whoever copies it, and would only push out what training needs. What was copied may be told to
// others only after finish_stream_copies() in the same thread. Thread-safe.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes);
void finish_stream_copies();

}  // namespace outlast::sdk
