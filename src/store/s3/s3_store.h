#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cloud/credentials.h"
#include "store/object_store.h"
#include "sys/clock.h"
#include "sys/http.h"

namespace outlast::store {

// How a request names the bucket: in the host ("bucket.s3.…/key") or in the path
// ("s3.…/bucket/key"). kAuto: in the path if the endpoint was given and is not Amazon's own, or if
// the bucket's name cannot be part of a host name under a certificate (dots, upper case, '_'); in
// the host otherwise.
enum class S3Addressing { kAuto, kHost, kPath };

struct S3Options {
  std::string bucket = {};
  // Empty: what the endpoint's name says, or else us-east-1. A server that says that it is another
  // one is believed.
  std::string region = {};
  // "https://host[:port][/path]"; empty: Amazon's, in the region.
  std::string endpoint = {};
  S3Addressing addressing = S3Addressing::kAuto;
  // Whether the server judges conditions also when it removes an object or completes an upload.
  // nullopt: Amazon does; of others it is not assumed, because several ignore such a condition
  // without a word.
  std::optional<bool> judges_all_conditions = {};
};

// A bucket of Amazon S3, or of anything that speaks its protocol (MinIO, Ceph, R2, versitygw).
// Everything borrowed must outlive it. kInvalidArgument if the bucket's name or the endpoint is
// malformed. Nothing is sent before the first call.
//
// Versions are ETags, without their quotes. An ETag is made of the content: writing the same bytes
// again may give the same version.
//
// What is sent is protected by its SHA-256 in the signature and, unless the server refuses it, by a
// CRC-32C that the server checks and keeps. Once an answer has shown that it does, and if nobody
// can listen in (https, or this machine), the SHA-256 is left out.
//
// Learnt from answers, once per store, and then kept: the bucket's region, the difference between
// our clock and the server's, whether it takes checksums, and how it wants ETags quoted. Refused
// credentials are fetched anew once per call.
//
// Where the server is not known to judge the condition of remove_if() or of an upload (see
// S3Options), we look first and send the condition too: right as long as nobody writes in between.
// Properties::conditional_remove and conditional_upload are then false.
Result<std::unique_ptr<ObjectStore>> make_s3_store(
    const S3Options& options, sys::HttpClient& http, sys::Clock& clock,
    cloud::CredentialSource<cloud::AwsKeys>& credentials);

}  // namespace outlast::store
