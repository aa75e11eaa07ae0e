#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "trainers/data/download.h"

namespace outlast::trainers {
namespace {

std::vector<Dataset> make_datasets() {
  const std::string kriz = "https://www.cs.toronto.edu/~kriz/";
  const std::string mnist = "https://ossci-datasets.s3.amazonaws.com/mnist/";
  const std::string adult = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/";
  return {
      {.name = "cifar10",
       .belongs = "the folder cifar-10-batches-bin of cifar-10-binary.tar.gz",
       .files = {{.url = kriz + "cifar-10-binary.tar.gz",
                  .size = 170'052'171,
                  .md5 = "c32a1d4ab5d03f1284b67883e8d87530",
                  .packing = Packing::kTarGzip,
                  .makes = "cifar-10-batches-bin"}}},
      {.name = "cifar100",
       .belongs = "the folder cifar-100-binary of cifar-100-binary.tar.gz",
       .files = {{.url = kriz + "cifar-100-binary.tar.gz",
                  .size = 168'513'733,
                  .md5 = "03b5dce01913d631647c71ecec9e9cb8",
                  .packing = Packing::kTarGzip,
                  .makes = "cifar-100-binary"}}},
      {.name = "mnist",
       .belongs = "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
                  "t10k-labels-idx1-ubyte, unpacked with gunzip,",
       .files = {{.url = mnist + "train-images-idx3-ubyte.gz",
                  .size = 9'912'422,
                  .md5 = "f68b3c2dcbeaaa9fbdd348bbdeb94873",
                  .packing = Packing::kGzip,
                  .makes = "train-images-idx3-ubyte"},
                 {.url = mnist + "train-labels-idx1-ubyte.gz",
                  .size = 28'881,
                  .md5 = "d53e105ee54ea40749a09fcbcd1e9432",
                  .packing = Packing::kGzip,
                  .makes = "train-labels-idx1-ubyte"},
                 {.url = mnist + "t10k-images-idx3-ubyte.gz",
                  .size = 1'648'877,
                  .md5 = "9fb629c4189551a2d022fa330f9573f3",
                  .packing = Packing::kGzip,
                  .makes = "t10k-images-idx3-ubyte"},
                 {.url = mnist + "t10k-labels-idx1-ubyte.gz",
                  .size = 4'542,
                  .md5 = "ec29112dd5afa0611ce80d1b7f02629c",
                  .packing = Packing::kGzip,
                  .makes = "t10k-labels-idx1-ubyte"}}},
      {.name = "adult",
       .belongs = "adult.data and adult.test",
       .files = {{.url = adult + "adult.data",
                  .size = 3'974'305,
                  .md5 = "5d7c39d7b8804f071cdd1f2a7c460872",
                  .makes = "adult.data"},
                 {.url = adult + "adult.test",
                  .size = 2'003'153,
                  .md5 = "35238206dfdf7f1fe215bbb874adecdc",
                  .makes = "adult.test"}}},
  };
}

}  // namespace

const std::vector<Dataset>& known_datasets() {
  static const std::vector<Dataset> datasets = make_datasets();
  return datasets;
}

Result<const Dataset*> find_dataset(std::string_view name) {
  std::string names;
  for (const Dataset& dataset : known_datasets()) {
    if (dataset.name == name) return &dataset;
    names += (names.empty() ? "" : ", ") + dataset.name;
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("there is no data set '{}' to download: there are {}", name, names));
}

}  // namespace outlast::trainers
