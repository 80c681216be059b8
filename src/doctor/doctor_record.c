// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_record.h"

#include <stdio.h>
#include <sys/statvfs.h>

#include "base/num.h"
#include "record/record_ring.h"

#define SILENT_MS 30000 /* beyond the interval: blocks are written after 10 s at the latest */
#define MIB       1048576.0

static double free_mib(const char *dir)
{
	struct statvfs info;

	return statvfs(dir, &info) < 0 ? 0 : (double)info.f_bavail * (double)info.f_frsize / MIB;
}

/* "the newest was written to 3 s ago: a recording is running" */
static void describe_newest(const struct record_ring_content *content, uint64_t interval_ns,
			    int64_t now_ms, char *text, size_t size)
{
	int64_t ago_ms = now_ms - content->changed_ms;
	bool is_running = ago_ms <= SILENT_MS + (int64_t)(interval_ns / NSEC_PER_MSEC);

	if (!content->files)
		(void)snprintf(text, size, "no recording is running");
	else
		(void)snprintf(text, size, "the newest was last written %.0f s ago: %s",
			       (double)ago_ms / 1000,
			       is_running ? "a recording is running" : "no recording is running");
}

void doctor_examine_record(struct findings *findings, const struct config_record *record,
			   uint64_t interval_ns, int64_t now_ms)
{
	struct record_ring_content content;
	struct diag diag = { 0 };
	char newest[128];

	if (!record->dir[0]) {
		findings_add(findings, FINDING_NOTE, "recordings",
			     "--record.dir=DIRECTORY keeps them", "intervals are not recorded");
		return;
	}
	if (record_ring_look(record->dir, &content, &diag) < 0) {
		findings_add(findings, FINDING_FIX, "recordings",
			     "create the directory with mode 0700, owned by the user that Kepler "
			     "runs as",
			     "no recording is running: %s", diag.text);
		return;
	}
	describe_newest(&content, interval_ns, now_ms, newest, sizeof(newest));
	findings_add(findings, FINDING_OK, "recordings", NULL,
		     "%s has %zu recordings, %.1f MiB of at most %.1f MiB, with %.0f MiB free on "
		     "that disk; %s",
		     record->dir, content.files, (double)content.bytes / MIB,
		     record->max_bytes / MIB, free_mib(record->dir), newest);
}
