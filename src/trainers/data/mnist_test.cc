#include "trainers/data/mnist.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "trainers/data/image_set.h"
#include "trainers/data/testing/data_folder.h"

namespace outlast::trainers {
namespace {

using testing::DataFolder;
using testing::with_data_folder;

std::string big_endian_text(std::uint32_t number) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(number >> shift);
  return text;
}

std::string idx_images(std::uint32_t count) {
  std::string text =
      big_endian_text(0x803) + big_endian_text(count) + big_endian_text(2) + big_endian_text(3);
  for (std::uint32_t i = 0; i < count * 6; ++i) text += static_cast<char>(i);
  return text;
}

std::string idx_labels(const std::string& labels) {
  return big_endian_text(0x801) + big_endian_text(static_cast<std::uint32_t>(labels.size())) +
         labels;
}

void write_mnist(const DataFolder& folder, const std::string& below, const std::string& between) {
  folder.write(below + "train-images" + between + "idx3-ubyte", idx_images(3));
  folder.write(below + "train-labels" + between + "idx1-ubyte", idx_labels("\x05\x01\x09"));
  folder.write(below + "t10k-images" + between + "idx3-ubyte", idx_images(1));
  folder.write(below + "t10k-labels" + between + "idx1-ubyte", idx_labels("\x07"));
}

std::string mnist_error(const DataFolder& folder) {
  const Result<ImageData> data = read_mnist(folder.world.files, folder.path);
  return data ? std::string("none") : data.error().to_string();
}

TEST(Mnist, IsReadWithDashesAndDotsAndWhereTorchvisionPutsIt) {
  for (const std::string below : {"", "MNIST/raw/"}) {
    for (const std::string between : {"-", "."}) {
      with_data_folder([&](const DataFolder& folder) {
        write_mnist(folder, below, between);
        const Result<ImageData> data = read_mnist(folder.world.files, folder.path);
        ASSERT_TRUE(data) << data.error().to_string();
        EXPECT_EQ(data->train.labels, (std::vector<std::uint16_t>{5, 1, 9}));
        EXPECT_EQ(data->train.width, 3U);
        EXPECT_EQ(data->train.height, 2U);
        EXPECT_EQ(data->train.channels, 1U);
        EXPECT_EQ(data->train.image(2)[5], 17);
        EXPECT_EQ(data->test.class_names[data->test.labels[0]], "7");
      });
    }
  }
}

TEST(Mnist, SaysHowToUnpackItAndWhereItComesFrom) {
  with_data_folder([&](const DataFolder& folder) {
    EXPECT_NE(mnist_error(folder).find("https://ossci-datasets"), std::string::npos);
    folder.write("train-images-idx3-ubyte.gz", "\x1f\x8b");
    EXPECT_EQ(mnist_error(folder),
              folder.at("train-images-idx3-ubyte.gz") + " is compressed: unpack it with gunzip");
  });
}

TEST(Mnist, SaysWhatIsWrongWithAFile) {
  with_data_folder([&](const DataFolder& folder) {
    const auto after = [&](const std::string& name, const std::string& bytes) {
      write_mnist(folder, "", "-");
      folder.write(name, bytes);
      return mnist_error(folder);
    };
    EXPECT_NE(after("train-images-idx3-ubyte", idx_images(3) + "x")
                  .find("has 35 bytes, and 3 pictures of 3x2 pixels are 34"),
              std::string::npos);
    EXPECT_NE(after("train-images-idx3-ubyte", "abc").find("its header alone has 16"),
              std::string::npos);
    EXPECT_NE(after("train-labels-idx1-ubyte", idx_images(3))
                  .find("begins with 00000803 instead of 00000801"),
              std::string::npos);
    EXPECT_NE(after("train-labels-idx1-ubyte", idx_labels("\x01\x02"))
                  .find("has 2 labels for the 3 pictures"),
              std::string::npos);
    EXPECT_NE(after("train-labels-idx1-ubyte", idx_labels("\x01\x02\x0a"))
                  .find("has the label 10 in record 2"),
              std::string::npos);
  });
}

}  // namespace
}  // namespace outlast::trainers
