#include "trainers/images/image_folder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "trainers/data/testing/data_folder.h"

namespace outlast::trainers {
namespace {

using testing::DataFolder;
using testing::with_data_folder;

std::string image_folder_error(const DataFolder& folder) {
  const Result<ImageFolder> read = read_image_folder(folder.world.files, folder.path);
  return read ? std::string("none") : read.error().to_string();
}

TEST(ImageFolder, IsClassesFilesAndLabelsInOrder) {
  for (const std::string half : {"val", "validation", "test"}) {
    with_data_folder([&](const DataFolder& folder) {
      folder.write("train/zebra/2.JPG", "");
      folder.write("train/zebra/10.png", "");
      folder.write("train/ant/deeper/1.jpeg", "");
      folder.write("train/ant/notes.txt", "");
      folder.write("train/README", "");
      folder.write("else/3.jpg", "");
      folder.write(half + "/zebra/1.jpg", "");
      ASSERT_TRUE(folder.world.files.make_symlink("../../else", folder.at("train/ant/linked")));
      const Result<ImageFolder> read = read_image_folder(folder.world.files, folder.path);
      ASSERT_TRUE(read) << read.error().to_string();
      EXPECT_EQ(read->class_names, (std::vector<std::string>{"ant", "zebra"}));
      std::string train;
      for (const ImageFile& file : read->train) train += file.path + " ";
      EXPECT_EQ(train,
                "train/ant/deeper/1.jpeg train/ant/linked/3.jpg train/zebra/10.png "
                "train/zebra/2.JPG ");
      EXPECT_EQ(read->train[1].label, 0);
      EXPECT_EQ(read->train[2].label, 1);
      ASSERT_EQ(read->test.size(), 1U);
      EXPECT_EQ(read->test[0].path, half + "/zebra/1.jpg");
      EXPECT_EQ(read->test[0].label, 1);
      EXPECT_EQ(read->ignored, 2U);
    });
  }
}

TEST(ImageFolder, SaysWhatIsMissing) {
  with_data_folder([](const DataFolder& folder) {
    EXPECT_EQ(image_folder_error(folder),
              "there is no folder train in " + folder.path +
                  ": pictures belong into train/<class>/ and val/<class>/ there, as .jpg or .png");
    folder.write("train/1.jpg", "");
    EXPECT_TRUE(image_folder_error(folder).starts_with("there is no folder of a class in train"));
    folder.write("train/ant/1.txt", "");
    EXPECT_TRUE(image_folder_error(folder).starts_with("there is no picture in train"));
    folder.write("train/ant/1.jpg", "");
    EXPECT_TRUE(image_folder_error(folder).starts_with("there is no folder val, validation or"));
    folder.write("val/bee/1.jpg", "");
    EXPECT_NE(image_folder_error(folder).find("/val has the class 'bee', which "),
              std::string::npos);
  });
}

}  // namespace
}  // namespace outlast::trainers
