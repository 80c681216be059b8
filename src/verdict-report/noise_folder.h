/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a report on noise into a folder: noise.html, noise.md, and last noise.json. */
#pragma once

#include "base/diag.h"
#include "verdict-report/noise_report.h"

/* @folder exists. 0 or a negative errno, with the file that could not be written. */
int noise_report_write(const char *folder, const struct noise_report *report, struct diag *diag);
