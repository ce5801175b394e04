/// Trainings: the learner, its metrics, and what shows them.
#pragma once

#include <sinter/Metrics.h>
#include <sinter/Record.h>
#include <sinter/train/Learner.h>
#include <sinter/train/Monitors.h>
