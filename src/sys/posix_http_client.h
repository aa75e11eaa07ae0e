#pragma once

#include <memory>

#include "sys/http.h"

namespace outlast::sys {

// libcurl. Nothing is set up before the first send(). Proxies come from the usual environment
// variables (http_proxy, https_proxy, no_proxy, …) unless a request is direct; certificates from
// the system, or the file that CURL_CA_BUNDLE or SSL_CERT_FILE names.
std::unique_ptr<HttpClient> make_posix_http_client();

}  // namespace outlast::sys
