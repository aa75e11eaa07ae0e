#include "store/gcs/testing/gcs_stand_in.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/numbers.h"
#include "base/time.h"
#include "cloud/http_date.h"
#include "cloud/url_encoding.h"
#include "store/gcs/testing/stand_in_answers.h"
#include "store/gcs/testing/stand_in_bucket.h"
#include "store/gcs/testing/stand_in_request.h"
#include "store/gcs/testing/stand_in_uploads.h"
#include "sys/http.h"
#include "sys/http_server.h"

namespace outlast::store::gcs::testing {
namespace {

sys::HttpResponse no_such_method(const StandInRequest& request) {
  return refuse({.status = 404,
                 .reason = "notFound",
                 .message = fmt::format("No method answers {} here.", request.method)});
}

sys::HttpResponse lost() {
  return refuse({.status = 412,
                 .reason = "conditionNotMet",
                 .message = "At least one of the pre-conditions you specified did not hold."});
}

sys::HttpResponse no_such_bucket() {
  return refuse(
      {.status = 404, .reason = "notFound", .message = "The specified bucket does not exist."});
}

Json bucket_json(const std::string& name) {
  return {{"kind", "storage#bucket"},   {"id", name},           {"name", name}, {"location", "US"},
          {"storageClass", "STANDARD"}, {"metageneration", "1"}};
}

bool is_bucket_name(std::string_view name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return name.size() >= 3 && name.size() <= 222 && std::ranges::all_of(name, is_good);
}

// nullopt if one is not a number.
std::optional<StandInConditions> conditions_of(const StandInRequest& request) {
  StandInConditions conditions;
  const auto read = [&](const char* name, std::optional<std::uint64_t>& into) {
    if (!request.has(name)) return true;
    into = parse_number<std::uint64_t>(request.parameter(name));
    return into && *into <= 0x7fff'ffff'ffff'ffffU;
  };
  const bool good = read("ifGenerationMatch", conditions.generation_is) &&
                    read("ifGenerationNotMatch", conditions.generation_is_not) &&
                    read("ifMetagenerationMatch", conditions.metageneration_is) &&
                    read("ifMetagenerationNotMatch", conditions.metageneration_is_not);
  return good ? std::optional(conditions) : std::nullopt;
}

}  // namespace

GcsStandIn::GcsStandIn(Options options) : options_(std::move(options)) {
  for (const std::string& name : options_.buckets) buckets_.emplace(name, StandInBucket(name));
}

sys::HttpHandler GcsStandIn::handler() {
  return [this](const sys::HttpServerRequest& request) { return handle(request); };
}

std::size_t GcsStandIn::object_count(const std::string& bucket) const {
  const MutexLock lock(mutex_);
  const auto found = buckets_.find(bucket);
  return found == buckets_.end() ? 0 : found->second.size();
}

std::size_t GcsStandIn::open_session_count() const {
  const MutexLock lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(
      sessions_, [](const auto& session) { return session.second.is_open(); }));
}

bool GcsStandIn::is_authorized(const StandInRequest& request) const {
  if (options_.token.empty()) return true;
  const std::string header = request.header("Authorization");
  // The URI of a session is a permission of its own; but a wrong token is wrong there, too.
  if (header.empty()) return request.has("upload_id");
  return header == "Bearer " + options_.token;
}

sys::HttpResponse GcsStandIn::handle(const sys::HttpServerRequest& request) {
  const WallTime now = options_.wall_now();
  const auto taken = take_apart(request);
  sys::HttpResponse answer;
  if (!taken) {
    answer = refuse({.message = "Malformed request."});
  } else if (!is_authorized(*taken)) {
    answer = refuse({.status = 401, .reason = "authError", .message = "Invalid Credentials"});
    answer.headers.emplace_back("WWW-Authenticate",
                                "Bearer realm=\"https://accounts.google.com/\"");
  } else {
    const MutexLock lock(mutex_);
    answer = dispatch({.request = *taken, .now = now});
  }
  answer.headers.emplace_back("Date", cloud::format_http_date(now));
  return answer;
}

StandInBucket* GcsStandIn::find_bucket(const std::string& name) {
  const auto found = buckets_.find(name);
  return found == buckets_.end() ? nullptr : &found->second;
}

sys::HttpResponse GcsStandIn::dispatch(const Call& call) {
  const StandInRequest& request = call.request;
  if (request.path_is({"storage", "v1", "b"})) return on_buckets(call);
  if (request.path_is({"storage", "v1", "b", "*"})) return on_bucket(call);
  const bool is_list = request.path_is({"storage", "v1", "b", "*", "o"});
  const bool is_object = request.path_is({"storage", "v1", "b", "*", "o", "*"});
  const bool is_upload = request.path_is({"upload", "storage", "v1", "b", "*", "o"});
  const bool is_download = request.path_is({"download", "storage", "v1", "b", "*", "o", "*"});
  if (!is_list && !is_object && !is_upload && !is_download) return no_such_method(request);
  StandInBucket* const bucket = find_bucket(request.path[is_upload || is_download ? 4 : 3]);
  if (bucket == nullptr) return no_such_bucket();
  if (is_upload)
    return request.has("upload_id") ? on_session(call, *bucket) : on_upload(call, *bucket);
  if (!is_list) return on_object(call, *bucket);
  return request.method == "GET" ? listing(request, *bucket) : no_such_method(request);
}

sys::HttpResponse GcsStandIn::on_buckets(const Call& call) {
  const StandInRequest& request = call.request;
  if (const auto parameter =
          request.unknown_parameter({"project", "maxResults", "pageToken", "prefix"})) {
    return refuse_parameter(*parameter);
  }
  if (request.method == "GET") {
    Json items = Json::array();
    for (const auto& [name, bucket] : buckets_) items.push_back(bucket_json(name));
    return answer_json(200, canonical_json({{"kind", "storage#buckets"}, {"items", items}}));
  }
  if (request.method != "POST") return no_such_method(request);
  const auto json = parse_json(request.body);
  const std::string name = json ? json_string(*json, "name").value_or("") : "";
  if (!is_bucket_name(name)) return refuse({.message = "Invalid bucket name."});
  if (!buckets_.emplace(name, StandInBucket(name)).second) {
    return refuse({.status = 409, .reason = "conflict", .message = "You already own this bucket."});
  }
  return answer_json(200, canonical_json(bucket_json(name)));
}

sys::HttpResponse GcsStandIn::on_bucket(const Call& call) {
  const StandInRequest& request = call.request;
  if (const auto parameter = request.unknown_parameter({})) return refuse_parameter(*parameter);
  const StandInBucket* const bucket = find_bucket(request.path[3]);
  if (bucket == nullptr) return no_such_bucket();
  if (request.method == "GET") return answer_json(200, canonical_json(bucket_json(bucket->name())));
  if (request.method != "DELETE") return no_such_method(request);
  if (!bucket->empty()) {
    return refuse({.status = 409, .reason = "conflict", .message = "The bucket is not empty."});
  }
  buckets_.erase(request.path[3]);
  return {.status = 204};
}

sys::HttpResponse GcsStandIn::on_object(const Call& call, StandInBucket& bucket) {
  const StandInRequest& request = call.request;
  if (const auto parameter =
          request.unknown_parameter({"generation", "ifGenerationMatch", "ifGenerationNotMatch",
                                     "ifMetagenerationMatch", "ifMetagenerationNotMatch"})) {
    return refuse_parameter(*parameter);
  }
  const auto conditions = conditions_of(request);
  if (!conditions) return refuse({.message = "Invalid value for a precondition."});
  if (request.method != "GET" && request.method != "DELETE") return no_such_method(request);
  const std::string& name = request.path.back();
  const bool wants_media = request.method == "GET" && request.parameter("alt") == "media";
  const StandInObject* const object = bucket.find(name);
  const bool is_other_generation =
      request.has("generation") && object != nullptr &&
      request.parameter("generation") != std::to_string(object->generation);
  if (object == nullptr || is_other_generation) {
    const std::string message = fmt::format("No such object: {}/{}", bucket.name(), name);
    if (!wants_media) return refuse({.status = 404, .reason = "notFound", .message = message});
    // Google's media answers are not JSON, not even these.
    return {.status = 404, .headers = {{"Content-Type", "text/html"}}, .body = message};
  }
  if (!bucket.holds(name, *conditions)) {
    const bool is_unchanged =
        request.method == "GET" &&
        (conditions->generation_is_not || conditions->metageneration_is_not) &&
        bucket.holds(name, {.generation_is = conditions->generation_is,
                            .metageneration_is = conditions->metageneration_is});
    return is_unchanged ? sys::HttpResponse{.status = 304} : lost();
  }
  if (wants_media) return media(*object, request);
  if (request.method == "GET") return answer_json(200, object->to_json());
  bucket.remove(name);
  return {.status = 204};
}

sys::HttpResponse GcsStandIn::on_upload(const Call& call, StandInBucket& bucket) {
  const StandInRequest& request = call.request;
  if (const auto parameter = request.unknown_parameter(
          {"contentEncoding", "ifGenerationMatch", "ifGenerationNotMatch", "ifMetagenerationMatch",
           "ifMetagenerationNotMatch", "name", "uploadType"})) {
    return refuse_parameter(*parameter);
  }
  const auto conditions = conditions_of(request);
  if (!conditions) return refuse({.message = "Invalid value for a precondition."});
  if (request.method != "POST") return no_such_method(request);
  const std::string type = request.parameter("uploadType");
  if (type == "resumable") return start_session(call, bucket, *conditions);
  std::string json;
  std::string content = request.body;
  std::string content_type = request.header("Content-Type");
  if (type == "multipart") {
    auto parts = split_multipart(content_type, request.body);
    if (!parts) return refuse({.reason = "badContent", .message = "Malformed multipart body."});
    json = std::move(parts->json);
    content = std::move(parts->content);
    content_type = std::move(parts->content_type);
  } else if (type != "media") {
    return refuse({.message = "Invalid value for uploadType."});
  }
  auto read = read_declaration(json, request.parameter("name"));
  if (const auto* const refusal = std::get_if<StandInRefusal>(&read)) return refuse(*refusal);
  StandInDeclaration declaration = std::get<StandInDeclaration>(std::move(read));
  if (declaration.content_type.empty()) declaration.content_type = content_type;
  return insert_object(bucket, declaration, *conditions, std::move(content), call.now);
}

sys::HttpResponse GcsStandIn::start_session(const Call& call, StandInBucket& bucket,
                                            const StandInConditions& conditions) {
  const StandInRequest& request = call.request;
  auto read = read_declaration(request.body, request.parameter("name"));
  if (const auto* const refusal = std::get_if<StandInRefusal>(&read)) return refuse(*refusal);
  StandInSession::Start start{.bucket = bucket.name(),
                              .declaration = std::get<StandInDeclaration>(std::move(read)),
                              .conditions = conditions,
                              .kept_per_request_max = options_.kept_per_request_max};
  if (start.declaration.content_type.empty()) {
    start.declaration.content_type = request.header("X-Upload-Content-Type");
  }
  const std::string total = request.header("X-Upload-Content-Length");
  if (!total.empty()) {
    start.total = parse_number<std::uint64_t>(total);
    if (!start.total) return refuse({.message = "Invalid X-Upload-Content-Length."});
  }
  const std::string id = sha256(as_bytes(fmt::format("session {}", ++last_session_))).hex();
  sessions_.emplace(id, StandInSession(std::move(start)));
  sys::HttpResponse answer{.status = 200};
  answer.headers.emplace_back(
      "Location",
      fmt::format("http://{}/upload/storage/v1/b/{}/o?uploadType=resumable&upload_id={}",
                  request.header("Host"), cloud::percent_encode(bucket.name()), id));
  answer.headers.emplace_back("X-GUploader-UploadID", id);
  return answer;
}

sys::HttpResponse GcsStandIn::on_session(const Call& call, StandInBucket& bucket) {
  const StandInRequest& request = call.request;
  const auto found = sessions_.find(request.parameter("upload_id"));
  if (found == sessions_.end() || found->second.bucket() != bucket.name()) {
    return refuse({.status = 404, .reason = "notFound", .message = "No such upload."});
  }
  if (request.method == "DELETE") return found->second.cancel();
  if (request.method == "PUT" || request.method == "POST") {
    return found->second.put(request, bucket, call.now);
  }
  return no_such_method(request);
}

}  // namespace outlast::store::gcs::testing
