/// The power fails within a save: what a disk may hold then is the old record
/// or the new one, whatever it wrote in which order. SINTER_TEST_SEEDS sets how
/// many orders of each moment are tried.
#include "tests/unit/record/SmallModels.h"
#include "tests/unit/record/WriteLog.h"

#include "runtime/files/ReplaceFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include <fcntl.h>

using namespace record_test;
using Kind = FileChange::Kind;

namespace {

/// What a disk holds: files by number, and the folder's names.
struct Disk {
  std::map<int, std::string> files;
  std::map<std::string, int> names;
};

/// A part of a file that a disk writes at once.
constexpr size_t page = 4096;

/// One thing that reaches the disk by itself.
struct Piece {
  size_t change; ///< of the log
  bool isName = false;
  int file = 0;
  uint64_t offset = 0;
  std::string bytes;
  std::string name; ///< that gets `file`, or goes where `file` is 0
  std::string gone; ///< the name that a rename takes away
};

/// The changes as pieces; a rename knows the file that it moves.
std::vector<Piece> piecesOf(const std::vector<FileChange> &changes,
                            const Disk &before) {
  std::vector<Piece> pieces;
  std::map<std::string, int> names = before.names;
  for (size_t i = 0; i < changes.size(); ++i) {
    const FileChange &change = changes[i];
    if (change.kind == Kind::write) {
      for (size_t at = 0; at < change.bytes.size();) {
        size_t count = page - (change.offset + at) % page;
        pieces.push_back({i,
                          false,
                          change.file,
                          change.offset + at,
                          change.bytes.substr(at, count),
                          {},
                          {}});
        at += count;
      }
    } else if (change.kind == Kind::link ||
               (change.kind == Kind::create && !change.name.empty())) {
      names[change.name] = change.file;
      pieces.push_back({i, true, change.file, 0, {}, change.name, {}});
    } else if (change.kind == Kind::rename) {
      int file = names[change.name];
      names.erase(change.name);
      names[change.target] = file;
      pieces.push_back({i, true, file, 0, {}, change.target, change.name});
    } else if (change.kind == Kind::unlink) {
      names.erase(change.name);
      pieces.push_back({i, true, 0, 0, {}, change.name, {}});
    }
  }
  return pieces;
}

/// Whether a piece is on the disk for sure once `moment` changes were made: its
/// file, or the folder for a name, was synced after it.
bool isDurable(const Piece &piece, const std::vector<FileChange> &changes,
               size_t moment) {
  for (size_t i = piece.change + 1; i < moment; ++i)
    if (piece.isName
            ? changes[i].kind == Kind::syncFolder
            : changes[i].kind == Kind::sync && changes[i].file == piece.file)
      return true;
  return false;
}

void apply(Disk &disk, const Piece &piece) {
  if (!piece.isName) {
    std::string &file = disk.files[piece.file];
    file.resize(
        std::max<size_t>(file.size(), piece.offset + piece.bytes.size()));
    file.replace(piece.offset, piece.bytes.size(), piece.bytes);
  } else if (piece.file == 0) {
    disk.names.erase(piece.name);
  } else {
    disk.names[piece.name] = piece.file;
    disk.names.erase(piece.gone);
  }
}

std::string textOf(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int tries() {
  const char *text = std::getenv("SINTER_TEST_SEEDS");
  return text ? int(std::strtol(text, nullptr, 10)) : 40;
}

/// Counts of what disks held after the power failed.
struct Outcome {
  size_t disks = 0, old = 0, fresh = 0, broken = 0, lost = 0;
};

/// Replays the changes to every moment, and of what was not synced some pieces
/// or others: each by itself, all, none, names alone, contents alone.
Outcome replay(const std::vector<FileChange> &changes, const std::string &name,
               const std::string &oldText, const sn::Record &oldRecord,
               const sn::Record &newRecord) {
  constexpr int oldFile = -1;
  Folder folder;
  std::mt19937_64 random(1);
  Disk before{{{oldFile, oldText}}, {{name, oldFile}}};
  std::vector<Piece> pieces = piecesOf(changes, before);
  Outcome outcome;
  std::set<std::string> seen;
  for (size_t moment = 0; moment <= changes.size(); ++moment)
    for (int attempt = 0; attempt < tries() + 4; ++attempt) {
      Disk disk = before;
      for (const Piece &piece : pieces) {
        if (piece.change >= moment)
          continue;
        bool reached = attempt == 0   ? true
                       : attempt == 1 ? false
                       : attempt == 2 ? piece.isName
                       : attempt == 3 ? !piece.isName
                                      : random() % 2 == 0;
        if (reached || isDurable(piece, changes, moment))
          apply(disk, piece);
      }
      ++outcome.disks;
      std::string path = folder / name;
      std::ofstream(path, std::ios::binary) << disk.files[disk.names[name]];
      try {
        sn::Record found = sn::Record::load(path);
        outcome.old += found == oldRecord;
        outcome.fresh += found == newRecord;
        outcome.broken += !(found == oldRecord) && !(found == newRecord);
        // After the save it is the new one.
        outcome.lost += moment == changes.size() && !(found == newRecord);
      } catch (const sn::Error &) {
        ++outcome.broken;
      }
    }
  return outcome;
}

sn::Record someRecord(float value) {
  std::vector<float> values(5000, value); // several pages
  sn::Record model, record;
  model.set("w", hostTensor<float>(sn::DType::f32, {5000}, values));
  record.set("model", model);
  record.put("epoch", int64_t(value));
  return record;
}

} // namespace

TEST(PowerLoss, EveryMomentAndOrderLeavesTheOldRecordOrTheNew) {
  Folder folder;
  sn::Record first = someRecord(1), second = someRecord(2);
  for (sn::RecordFormat format : fileFormats) {
    std::string file = first.save(folder / "run", {.format = format});
    std::string old = textOf(file);
    WriteLog log;
    second.save(file);
    std::vector<FileChange> changes = std::move(log.changes);
    EXPECT_GE(std::ranges::count(changes, Kind::sync, &FileChange::kind), 1);
    EXPECT_EQ(std::ranges::count(changes, Kind::syncFolder, &FileChange::kind),
              1);
    Outcome outcome =
        replay(changes, fs::path(file).filename(), old, first, second);
    EXPECT_EQ(outcome.broken, 0u) << file;
    EXPECT_EQ(outcome.lost, 0u) << file;
    EXPECT_GT(outcome.old, 0u) << file;
    EXPECT_GT(outcome.fresh, 0u) << file;
    RecordProperty("disks", int(outcome.disks));
  }
}

/// The replay finds writers that do less: without a sync of the file, and over
/// the old file itself.
TEST(PowerLoss, TheReplayFindsWritersThatAreNotSafe) {
  Folder folder;
  sn::Record first = someRecord(1), second = someRecord(2);
  std::string file = first.save(folder / "run");
  std::string old = textOf(file);
  sn::Record::Bytes bytes = second.to_bytes(
      sn::SaveRecordOptions{.format = sn::RecordFormat::named_mpk});
  std::vector<FileChange> changes;
  {
    WriteLog log;
    int parent = ::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY);
    int out = ::openat(parent, "new", O_WRONLY | O_CREAT, 0600);
    ASSERT_EQ(::write(out, bytes.data(), bytes.size()), ssize_t(bytes.size()));
    ::renameat(parent, "new", parent, "run.mpk");
    ::fsync(parent);
    ::close(out);
    ::close(parent);
    changes = std::move(log.changes);
  }
  EXPECT_GT(replay(changes, "run.mpk", old, first, second).broken, 0u);
  // As replaceFile does, but that the folder is not synced.
  file = first.save(folder / "run");
  {
    WriteLog log;
    second.save(file);
    changes = std::move(log.changes);
  }
  std::erase_if(changes, [](const FileChange &change) {
    return change.kind == Kind::syncFolder;
  });
  Outcome outcome = replay(changes, "run.mpk", old, first, second);
  EXPECT_EQ(outcome.broken, 0u);
  EXPECT_GT(outcome.lost, 0u);
}
