/// The precompiled header of tests that include no MLIR: see the runtime's.
#pragma once

#include "runtime/support/pch.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
