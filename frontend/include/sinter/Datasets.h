/// Files and folders of other people's data as data sets; programs link
/// `sinter::data`.
#pragma once

#include <sinter/data/Cifar.h>
#include <sinter/data/Csv.h>
#include <sinter/data/HubFolder.h>
#include <sinter/data/Idx.h>
#include <sinter/data/Image.h>
#include <sinter/data/ImageFolder.h>
#include <sinter/data/JsonLines.h>
#include <sinter/data/Row.h>
#include <sinter/data/Sqlite.h>
#include <sinter/data/TextFolder.h>
