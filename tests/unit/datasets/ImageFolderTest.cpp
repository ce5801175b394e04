/// Folders of pictures: classes, several labels, masks.
#include "tests/unit/datasets/Folder.h"

#include <sinter/data/Dataset.h>
#include <sinter/data/ImageFolder.h>

#include <vector>

using namespace sinter;
using data::Image;

static_assert(data::Dataset<data::ImageFolder> &&
              data::Dataset<data::MultiLabelImages> &&
              data::Dataset<data::SegmentationImages>);

namespace {

using Names = std::vector<std::string>;

class Images : public FolderTest {
protected:
  /// A picture of one sample, which says which it is.
  std::string picture(const std::string &name, uint8_t sample,
                      int64_t side = 1) const {
    std::filesystem::create_directories((folder / name).parent_path());
    data::write_png(
        folder / name,
        {side, side, 1, std::vector<uint8_t>(size_t(side * side), sample)});
    return folder / name;
  }
  std::vector<int> samples(const data::ImageFolder &images) {
    std::vector<int> found;
    for (int64_t i = 0; i < images.size(); ++i)
      found.push_back(images.get(i).image.pixels[0]);
    return found;
  }
};

} // namespace

TEST_F(Images, FoldersAreClassesInTheOrderOfTheirNames) {
  picture("dog/b.png", 3);
  picture("dog/a/z.PNG", 2);
  picture("cat/2.png", 1);
  picture("cat/10.png", 0);
  picture("Zebra/1.png", 9);
  picture(".cache/1.png", 8);
  picture("dog/.hidden.png", 8);
  write("dog/notes.txt", "left");
  write("labels.csv", "left");
  data::ImageFolder images(folder);
  EXPECT_EQ(images.classes(), (Names{"Zebra", "cat", "dog"}));
  EXPECT_EQ(samples(images), (std::vector<int>{9, 0, 1, 2, 3}));
  EXPECT_EQ(images.label(4), 2);
  EXPECT_EQ(images.get(4).label, 2);
  EXPECT_EQ(images.get(4).image.channels, 3);
  EXPECT_TRUE(images.file(3).ends_with("dog/a/z.PNG"));
  errorOf([&] { images.get(5); }, ErrorKind::invalid_argument);

  data::ImageFolder given(folder, {.classes = {"dog", "cat", "fox", "Zebra"}});
  EXPECT_EQ(given.classes()[2], "fox");
  EXPECT_EQ(given.label(0), 3);
  expectPart(
      errorOf([&] { data::ImageFolder(folder, {.classes = {"dog", "cat"}}); }),
      "Zebra: a folder of none of the given classes");
  errorOf([&] { data::ImageFolder(folder, {.classes = {"dog", "dog"}}); },
          ErrorKind::invalid_argument);
}

TEST_F(Images, AreDecodedWhenTheyAreAskedFor) {
  picture("a/1.png", 7);
  write("a/2.png", "no picture");
  data::ImageFolder images(folder);
  EXPECT_EQ(images.size(), 2);
  EXPECT_EQ(images.get(0).image.pixels[0], 7);
  expectPart(errorOf([&] { images.get(1); }), "a/2.png: it begins as neither");
  picture("a/2.png", 5);
  EXPECT_EQ(images.get(1).image.pixels[0], 5);
}

TEST_F(Images, FoldersWithoutPicturesAreErrors) {
  expectPart(errorOf([&] { data::ImageFolder{folder}; }), "no file of any");
  errorOf([&] { data::ImageFolder(folder / "none"); });
  write("a/b.txt", "");
  errorOf([&] { data::ImageFolder{folder}; });
  errorOf([&] { data::ImageFolder(folder / "a" / "b.txt"); });
}

TEST_F(Images, LinksAreFollowedUnlessTheyLeadBack) {
  picture("a/1.png", 1);
  picture("other/2.png", 2);
  std::filesystem::create_directory_symlink(folder / "other", folder / "b");
  EXPECT_EQ(data::ImageFolder(folder).size(), 3);
  std::filesystem::create_directory_symlink("..", folder / "a" / "up");
  expectPart(errorOf([&] { data::ImageFolder{folder}; }),
             "a link to a folder that it is in");
  std::filesystem::remove(folder / "a" / "up");
  std::filesystem::create_symlink("self", folder / "a" / "self");
  expectPart(errorOf([&] { data::ImageFolder{folder}; }), "self: ");
  std::filesystem::remove(folder / "a" / "self");
  std::filesystem::create_symlink("nothing", folder / "a" / "gone.png");
  expectPart(errorOf([&] { data::ImageFolder{folder}; }),
             "a link that leads nowhere");
}

TEST_F(Images, NamesAreBytes) {
  picture("\xff\xfe/\xc3\x28.png", 4);
  picture("z/1.png", 5);
  data::ImageFolder images(folder);
  EXPECT_EQ(images.classes(), (Names{"z", "\xff\xfe"}));
  EXPECT_EQ(samples(images), (std::vector<int>{5, 4}));
  write("z/\x1b[31m.png", "");
  data::ImageFolder more(folder);
  expectPart(errorOf([&] { more.get(0); }), R"(\x1b[31m.png: )");
}

TEST_F(Images, MayShowSeveralClassesEach) {
  std::string one = picture("1.png", 1), two = picture("2.png", 2);
  data::MultiLabelImages images({{one, {"sea", "sun"}}, {two, {}}},
                                {"sun", "tree", "sea"});
  ASSERT_EQ(images.size(), 2);
  EXPECT_EQ(images.get(0).labels, (std::vector<float>{1, 0, 1}));
  EXPECT_EQ(images.get(1).labels, (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(images.get(1).image.pixels[0], 2);
  EXPECT_EQ(images.file(0), one);
  expectPart(errorOf([&] { data::MultiLabelImages({{one, {"fog"}}}, {"sun"}); },
                     ErrorKind::invalid_argument),
             "'fog' is none of the 1 classes");
}

TEST_F(Images, MayHaveMasksOfClasses) {
  picture("images/a.png", 10, 2);
  picture("images/deep/b.png", 11, 2);
  picture("masks/a.png", 1, 2);
  picture("masks/deep/b.png", 255, 2);
  auto files = data::segmentation_files(folder / "images", folder / "masks");
  data::SegmentationImages images(files, {"ground", "sky"});
  ASSERT_EQ(images.size(), 2);
  EXPECT_EQ(images.get(0).mask, (Image{2, 2, 1, {1, 1, 1, 1}}));
  EXPECT_EQ(images.get(0).image.channels, 3);
  EXPECT_EQ(images.get(1).mask.pixels[0], 255);
  EXPECT_TRUE(images.file(1).mask.ends_with("masks/deep/b.png"));
  data::SegmentationImages strict(files, {"ground", "sky"}, {.ignored = 0});
  expectPart(errorOf([&] { strict.get(1); }),
             "pixel 0 of the mask is 255, of 2 classes");
  picture("masks/a.png", 1, 3);
  expectPart(errorOf([&] { images.get(0); }),
             "a mask of 3 x 3 pixels for an image of 2 x 2");
  picture("masks/c.png", 1, 2);
  expectPart(errorOf([&] {
               data::segmentation_files(folder / "images", folder / "masks");
             }),
             "masks/c.png: a mask without an image");
  std::filesystem::remove(folder / "masks/c.png");
  std::filesystem::remove(folder / "masks/a.png");
  expectPart(errorOf([&] {
               data::segmentation_files(folder / "images", folder / "masks");
             }),
             "images/a.png: an image without a mask");
}

TEST_F(Images, MasksWithAPaletteAreItsNumbers) {
  Names classes;
  for (int i = 0; i < 16; ++i)
    classes.push_back(std::to_string(i));
  data::SegmentationImages images(
      {{filesOfTests() / "rgb8.png", filesOfTests() / "palette4.png"}},
      classes);
  EXPECT_EQ(images.get(0).mask,
            data::read_image(filesOfTests() / "palette4.png",
                             {.class_indices = true}));
}
