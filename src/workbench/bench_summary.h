/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a bench: each model's errors on unseen rows. */
#pragma once

#include "base/diag.h"

#define BENCH_SUMMARY_FILE "summary.txt"

/*
 * Writes the file: a line for each component of AbsPower.json and DynPower.json in @folder. 0, or
 * -errno with a diagnosis.
 */
int bench_summary_write(const char *folder, struct diag *diag);
/* Prints it on standard output: 0, or -errno with a diagnosis. */
int bench_summary_print(const char *folder, struct diag *diag);
