/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler doctor --report`: one file about this machine that can be attached to a public issue. A
 * maintainer can lay out the machine's sysfs from it and replay what was measured. docs/meters.md
 * says what it has, docs/security.md what it has not.
 */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "doctor/findings.h"
#include "doctor/redaction.h"

#define DOCTOR_REPORT_FILE "kepler-report.tar.gz"

struct doctor_report {
	const char *path; /* borrowed */
	const struct config *config;
	int fd;
	int recording_fd; /* memory that takes the recording */
	struct redaction *redaction;
	struct strbuf shape, values; /* of sysfs: before, and after the recording */
	struct strbuf archive;
};

/*
 * Makes the file, which must not exist, and reads sysfs a first time. 0, or -errno with a
 * diagnosis; what was opened is to be closed in either case.
 */
int doctor_report_open(struct doctor_report *report, const char *path, const struct config *config,
		       struct diag *diag);
/*
 * Writes it, with what doctor found and what was recorded meanwhile at report->recording_fd, and
 * prints what it has. 0, or -errno with a diagnosis, after which there is no file.
 */
int doctor_report_write(struct doctor_report *report, const struct findings *findings,
			struct diag *diag);
/* Removes a file that was not written. */
void doctor_report_close(struct doctor_report *report);
