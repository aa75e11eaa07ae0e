#include "trainers/data/cifar.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "trainers/data/image_set.h"
#include "trainers/data/testing/data_folder.h"

namespace outlast::trainers {
namespace {

using testing::DataFolder;
using testing::with_data_folder;

// The bytes of one picture: each plane of its own colour.
std::string cifar_planes(char first) {
  std::string pixels;
  for (int plane = 0; plane < 3; ++plane) pixels.append(1024, static_cast<char>(first + plane));
  return pixels;
}

std::string cifar10_record(int label, char first = 1) {
  return std::string(1, static_cast<char>(label)) + cifar_planes(first);
}

void write_cifar10(const DataFolder& folder, const std::string& below) {
  for (int batch = 1; batch <= 5; ++batch) {
    folder.write(fmt::format("{}data_batch_{}.bin", below, batch),
                 cifar10_record(batch, static_cast<char>(10 * batch)) + cifar10_record(9));
  }
  folder.write(below + "test_batch.bin", cifar10_record(3, 70));
  folder.write(below + "batches.meta.txt",
               "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n");
}

TEST(Cifar10, IsReadFromAFolderOrFromItsArchivesFolderInIt) {
  for (const std::string below : {"", "cifar-10-batches-bin/"}) {
    with_data_folder([&](const DataFolder& folder) {
      write_cifar10(folder, below);
      const Result<ImageData> data = read_cifar10(folder.world.files, folder.path);
      ASSERT_TRUE(data) << data.error().to_string();
      EXPECT_EQ(data->train.count(), 10U);
      EXPECT_EQ(data->test.count(), 1U);
      EXPECT_EQ(data->train.class_names[9], "truck");
      EXPECT_EQ(data->train.labels[2], 2);
      EXPECT_EQ(data->test.labels[0], 3);
      EXPECT_EQ(data->train.image(2)[0], 20);
      EXPECT_EQ(data->train.image(2)[1024], 21);
      EXPECT_EQ(data->train.image(2)[3071], 22);
      EXPECT_FALSE(data->synthetic);
    });
  }
}

TEST(Cifar10, NeedsNoNames) {
  with_data_folder([&](const DataFolder& folder) {
    write_cifar10(folder, "");
    ASSERT_TRUE(folder.world.files.remove_file(folder.at("batches.meta.txt")));
    EXPECT_EQ(read_cifar10(folder.world.files, folder.path).value().test.class_names[3], "3");
  });
}

TEST(Cifar10, SaysWhatIsWrongWithAFile) {
  with_data_folder([&](const DataFolder& folder) {
    const auto error = [&] {
      const Result<ImageData> data = read_cifar10(folder.world.files, folder.path);
      return data ? std::string("none") : data.error().to_string();
    };
    EXPECT_EQ(error(), fmt::format("there is no CIFAR-10 in {}: put data_batch_1.bin to "
                                   "data_batch_5.bin, test_batch.bin and batches.meta.txt there, "
                                   "which come from "
                                   "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz, "
                                   "unpacked",
                                   folder.path));
    write_cifar10(folder, "");
    folder.write("data_batch_2.bin", cifar10_record(1).substr(1));
    EXPECT_NE(error().find("data_batch_2.bin has 3072 bytes, which is no multiple of the 3073"),
              std::string::npos)
        << error();
    folder.write("data_batch_2.bin", "");
    EXPECT_NE(error().find("has 0 bytes"), std::string::npos) << error();
    folder.write("data_batch_2.bin", cifar10_record(1) + cifar10_record(10));
    EXPECT_NE(error().find("data_batch_2.bin has the label 10, and CIFAR-10 has labels 0 to 9"),
              std::string::npos)
        << error();
    EXPECT_TRUE(error().starts_with("record 1 of")) << error();
    ASSERT_TRUE(folder.world.files.remove_file(folder.at("data_batch_2.bin")));
    EXPECT_NE(error().find("data_batch_2.bin is missing"), std::string::npos) << error();
  });
}

TEST(Cifar100, IsReadByItsFineLabels) {
  with_data_folder([&](const DataFolder& folder) {
    const auto record = [](int coarse, int fine) {
      return std::string(1, static_cast<char>(coarse)) + cifar10_record(fine, 5);
    };
    folder.write("cifar-100-binary/train.bin", record(1, 99) + record(2, 0));
    folder.write("cifar-100-binary/test.bin", record(19, 42));
    std::string names;
    for (int i = 0; i < 100; ++i) names += fmt::format("class{}\n", i);
    folder.write("cifar-100-binary/fine_label_names.txt", names);
    const Result<ImageData> data = read_cifar100(folder.world.files, folder.path);
    ASSERT_TRUE(data) << data.error().to_string();
    EXPECT_EQ(data->train.labels, (std::vector<std::uint16_t>{99, 0}));
    EXPECT_EQ(data->test.class_names[data->test.labels[0]], "class42");
    EXPECT_EQ(data->test.image(0)[0], 5);
    folder.write("cifar-100-binary/fine_label_names.txt", "one\ntwo\n");
    EXPECT_EQ(read_cifar100(folder.world.files, folder.path).error().code(), ErrorCode::kCorrupt);
  });
}

}  // namespace
}  // namespace outlast::trainers
