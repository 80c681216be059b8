/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command train-request: a request to the offline trainer (train_body.h) from a file becomes a
 * zipped pipeline, in the layout of upstream's model-db. The offline trainer runs it as a worker.
 *
 * Each trainer that is named makes a model for each group of features that the series have. Models
 * that cannot be used are left out, and named with the reason in PIPELINE/left_out.txt.
 */
#pragma once

#include "options/option_set.h"

extern const struct option_set train_request_options;

int train_request_main(int argc, char *const *argv, char *const *environ_);
