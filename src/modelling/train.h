/* SPDX-License-Identifier: Apache-2.0 */
/* The commands train-from-data (one model) and train (a model of each group of features). */
#pragma once

#include "options/option_set.h"

extern const struct option_set training_options;

int train_from_data_main(int argc, char *const *argv, char *const *environ_);
int train_main(int argc, char *const *argv, char *const *environ_);
