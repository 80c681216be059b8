/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of texts that several commands have as options. They run when options are read, so all
 * wrong values are reported at once, and before any work: a typo in the name of a trainer does not
 * end a bench after hours of loads. Each is the check of an option's row: 0, or -EINVAL with a
 * diagnosis that completes "OPTION: ". Pure.
 */
#pragma once

#include "base/diag.h"

/* "http://…" or "https://…", or "". */
int check_address(const char *text, struct diag *diag);
/* A time that time_parse() accepts, or "". */
int check_time(const char *text, struct diag *diag);
/* Seconds or a duration, as for seconds_parse(); a step is at least 1 ms. */
int check_seconds(const char *text, struct diag *diag);
int check_step(const char *text, struct diag *diag);
/* Names of trainers, separated by commas, or "". */
int check_trainers(const char *text, struct diag *diag);
/* A group of features, or "". */
int check_feature_group(const char *text, struct diag *diag);
