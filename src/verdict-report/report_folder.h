/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a report into a folder: report.json, junit.xml, report.md, report.html, and each series as
 * series/NNN-actual.csv.gz with the columns time and rate, which `kepler-validator judge` reads. A
 * file appears whole or not at all, and report.json is last: where it is, the others are.
 */
#pragma once

#include "base/diag.h"
#include "verdict-report/verdict_report.h"

/*
 * Makes the folder unless it exists; files of an earlier report are replaced, and its series
 * removed. 0 or a negative errno, with the file that could not be written.
 */
int report_folder_write(const char *folder, const struct verdict_report *report, struct diag *diag);
