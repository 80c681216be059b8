/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command offline-trainer: POST /train over HTTP, as upstream's offline trainer has it
 * (train_body.h). It is a process of its own, so that the model server serves what it has while
 * another model is being trained. A token is always needed.
 */
#pragma once

#include "options/option_set.h"

extern const struct option_set offline_trainer_options;

int offline_trainer_main(int argc, char *const *argv, char *const *environ_);
