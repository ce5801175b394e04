/// Metrics: what a training and its model are measured by.
#pragma once

#include <sinter/metrics/Classification.h>
#include <sinter/metrics/Curves.h>
#include <sinter/metrics/MetricInfo.h>
#include <sinter/metrics/MetricSet.h>
#include <sinter/metrics/Outputs.h>
#include <sinter/metrics/Regression.h>
#include <sinter/metrics/State.h>
#include <sinter/metrics/Text.h>
#include <sinter/metrics/Training.h>
