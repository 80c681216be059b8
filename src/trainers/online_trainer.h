/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command online-trainer: regularly queries a Prometheus, learns from new points, trains models
 * again, and publishes one if it is better than the one in use (online_models.h).
 *
 * Collecting, extracting and training are commands of this program as processes with limits
 * (worker.h), one at a time: no answer of a Prometheus and no library can end or fill the trainer.
 * What fails is logged, counted and tried again later.
 */
#pragma once

#include "trainers/online_options.h"

int online_trainer_main(int argc, char *const *argv, char *const *environ_);
