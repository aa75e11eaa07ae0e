#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sys/http.h"
#include "sys/http_server.h"

// Requests taken apart and answers put together, for the stand-in of Google Cloud Storage.
namespace outlast::store::gcs::testing {

struct StandInRequest {
  std::string method = {};
  std::vector<std::string> path = {};  // decoded segments
  std::map<std::string, std::string> query = {};
  sys::HttpHeaders headers = {};
  std::string body = {};

  std::string header(std::string_view name) const;
  std::string parameter(const std::string& name) const;
  bool has(const std::string& name) const { return query.contains(name); }
  // The first parameter that is none of these, nor of those that every method takes.
  std::optional<std::string> unknown_parameter(std::initializer_list<std::string_view> known) const;
  // Whether the path begins so; "*" stands for any segment.
  bool path_is(std::initializer_list<std::string_view> pattern) const;
};

// nullopt if the target is malformed or names a parameter twice.
std::optional<StandInRequest> take_apart(const sys::HttpServerRequest& request);

// What Google's error answers look like.
struct StandInRefusal {
  int status = 400;
  std::string reason = "invalid";
  std::string message = {};
};
sys::HttpResponse refuse(const StandInRefusal& refusal);
sys::HttpResponse answer_json(int status, std::string json);

}  // namespace outlast::store::gcs::testing
