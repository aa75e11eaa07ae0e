#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/testing/store_maker.h"

namespace outlast::store::testing {

// What is known of a server that tests/servers can start: where it does not keep the protocol that
// it speaks. Each line was seen; a test that passes all the same is worth another look.
struct KnownServer {
  std::string name = {};
  std::optional<bool> judges_all_conditions = {};  // see S3Options
  std::size_t key_bytes_max = 1024;
  bool keeps_checksums = true;  // so that a read of a whole object notices a changed byte
  std::vector<Deviation> deviations = {};
};

// One of that name that deviates nowhere, if it is not known.
KnownServer known_server(std::string_view name);

}  // namespace outlast::store::testing
