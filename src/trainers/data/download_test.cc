#include "trainers/data/download.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "sys/http.h"
#include "sys/http_server.h"
#include "sys/process.h"
#include "trainers/data/testing/data_folder.h"

namespace outlast::trainers {
namespace {

using testing::DataFolder;
using testing::with_data_folder;

// Serves the files below "www" of the folder; "/moved/x" leads to "/x".
class FileServer {
 public:
  explicit FileServer(const DataFolder& folder) : folder_(folder) {
    server_ =
        folder.world.http_servers
            .listen({},
                    [this](const sys::HttpServerRequest& request) -> sys::HttpResponse {
                      ++requests;
                      if (request.target.starts_with("/moved")) {
                        return {.status = 302, .headers = {{"Location", request.target.substr(6)}}};
                      }
                      const std::string body = folder_.read("www" + request.target);
                      if (body == "(no file)") return {.status = 404};
                      return {.status = 200, .body = body};
                    })
            .value();
  }

  DownloadFile file(const std::string& name, Packing packing, const std::string& makes) const {
    const std::string bytes = folder_.read("www/" + name);
    return {.url = fmt::format("http://127.0.0.1:{}/{}", server_->port(), name),
            .size = bytes.size(),
            .md5 = hex_encode(md5(as_bytes(bytes))),
            .packing = packing,
            .makes = makes};
  }

  int requests = 0;

 private:
  const DataFolder& folder_;
  std::unique_ptr<sys::HttpServer> server_;
};

void run_in(const DataFolder& folder, std::vector<std::string> argv) {
  const auto process =
      folder.world.processes.spawn({.argv = std::move(argv), .working_dir = folder.path}).value();
  ASSERT_EQ(process->wait({}).value(), sys::ExitStatus(sys::Exited{0}));
}

Dataset dataset_of(std::vector<DownloadFile> files) {
  return {.name = "toys", .belongs = "the toys", .files = std::move(files)};
}

std::string download_error(const DataFolder& folder, const Dataset& dataset) {
  const Result<void> done = download(dataset, folder.at("data"), folder.world, {}, {});
  return done ? std::string("none") : done.error().to_string();
}

TEST(Download, UnpacksWhatItBrings) {
  with_data_folder([](const DataFolder& folder) {
    folder.write("batches/one.bin", "1111");
    folder.write("www/plain.data", "rows");
    folder.write("www/labels", "labels");
    run_in(folder, {"tar", "-czf", "www/batches.tar.gz", "batches"});
    run_in(folder, {"gzip", "www/labels"});
    FileServer server(folder);
    const Dataset toys = dataset_of({server.file("batches.tar.gz", Packing::kTarGzip, "batches"),
                                     server.file("plain.data", Packing::kPlain, "plain.data"),
                                     server.file("labels.gz", Packing::kGzip, "labels")});
    std::uint64_t bytes = 0;
    const Result<void> done =
        download(toys, folder.at("data"), folder.world,
                 [&](const DownloadProgress& progress) { bytes = progress.bytes; }, {});
    ASSERT_TRUE(done) << done.error().to_string();
    EXPECT_EQ(bytes, toys.files[2].size);
    EXPECT_EQ(folder.read("data/batches/one.bin"), "1111");
    EXPECT_EQ(folder.read("data/plain.data"), "rows");
    EXPECT_EQ(folder.read("data/labels"), "labels");
    EXPECT_EQ(folder.world.files.list(folder.at("data")).value().size(), 3U);
    EXPECT_EQ(server.requests, 3);
    EXPECT_EQ(download_error(folder, toys), "none");
    EXPECT_EQ(server.requests, 3);
  });
}

TEST(Download, FollowsWhereTheServerSendsIt) {
  with_data_folder([](const DataFolder& folder) {
    folder.write("www/plain.data", "rows");
    FileServer server(folder);
    DownloadFile file = server.file("plain.data", Packing::kPlain, "plain.data");
    file.url.replace(file.url.find("/plain"), 1, "/moved/");
    EXPECT_EQ(download_error(folder, dataset_of({file})), "none");
    EXPECT_EQ(folder.read("data/plain.data"), "rows");
  });
}

TEST(Download, RefusesOtherBytesThanThePublishedOnes) {
  with_data_folder([](const DataFolder& folder) {
    folder.write("www/plain.data", "rows");
    FileServer server(folder);
    const DownloadFile right = server.file("plain.data", Packing::kPlain, "plain.data");
    const auto after = [&](const std::string& bytes) {
      folder.write("www/plain.data", bytes);
      return download_error(folder, dataset_of({right}));
    };
    EXPECT_NE(after("rowz").find("its MD5 is"), std::string::npos);
    EXPECT_NE(after("row").find("3 bytes came instead of the 4"), std::string::npos);
    EXPECT_NE(after("rowsrows").find("more bytes than the 4"), std::string::npos);
    EXPECT_EQ(folder.read("data/plain.data"), "(no file)");
    EXPECT_EQ(after("rows"), "none");
  });
}

TEST(Download, SaysWhatToPutWhereIfItCannot) {
  with_data_folder([](const DataFolder& folder) {
    folder.write("www/broken.tar.gz", "no archive");
    std::string url;
    {
      FileServer server(folder);
      const DownloadFile file = server.file("broken.tar.gz", Packing::kTarGzip, "broken");
      const std::string error = download_error(folder, dataset_of({file}));
      EXPECT_NE(error.find("'tar -xzf"), std::string::npos) << error;
      url = file.url;
      EXPECT_NE(download_error(folder, dataset_of({{.url = url + "x", .makes = "x"}}))
                    .find("the server answered 404"),
                std::string::npos);
    }
    const Result<void> nobody = download(dataset_of({{.url = url, .makes = "broken"}}),
                                         folder.at("data"), folder.world, {}, {});
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().code(), ErrorCode::kUnavailable);
    const std::string error = nobody.error().to_string();
    EXPECT_TRUE(error.starts_with("cannot download toys from " + url)) << error;
    EXPECT_TRUE(error.ends_with(": put the toys into " + folder.at("data") + " yourself")) << error;
  });
}

TEST(KnownDatasets, AreCompleteAndFoundByName) {
  std::set<std::string> sums;
  for (const Dataset& dataset : known_datasets()) {
    EXPECT_EQ(find_dataset(dataset.name).value(), &dataset);
    for (const DownloadFile& file : dataset.files) {
      EXPECT_TRUE(sys::parse_http_url(file.url)) << file.url;
      EXPECT_EQ(hex_decode(file.md5).value().size(), 16U);
      EXPECT_TRUE(sums.insert(file.md5).second);
      EXPECT_GT(file.size, 0U);
      EXPECT_FALSE(file.makes.empty());
    }
  }
  EXPECT_EQ(
      find_dataset("cifar11").error().to_string(),
      "there is no data set 'cifar11' to download: there are cifar10, cifar100, mnist, adult");
}

}  // namespace
}  // namespace outlast::trainers
