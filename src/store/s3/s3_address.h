#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/s3/s3_store.h"

namespace outlast::store::s3 {

// Where the requests for one bucket go. A value.
struct Address {
  std::string scheme = {};
  std::string host = {};  // as the Host header says it: lower case, with the port if it is unusual
  std::string base = {};  // what stands before "/key" in the path, percent-encoded: "", "/bucket"
  std::string region = {};  // that requests are signed for
  bool amazon = false;      // it is Amazon's own
  // Nobody between us and the server can change a request unseen: https, or this machine itself.
  bool safe_wire = false;

  // The path of an object, percent-encoded; of the bucket itself for "".
  std::string path_of(std::string_view key) const;
  std::string origin() const { return scheme + "://" + host; }
};

// kInvalidArgument if the bucket's name or the endpoint is malformed.
Result<Address> address_of(const S3Options& options);
// The same bucket, said to be in `region`: another host where Amazon's hosts are named after
// regions, otherwise only other signatures. `region` may be hostile: kInvalidArgument if it is no
// name.
Result<Address> address_in(const S3Options& options, std::string_view region);

}  // namespace outlast::store::s3
