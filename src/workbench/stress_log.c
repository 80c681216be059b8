// SPDX-License-Identifier: Apache-2.0
#include "workbench/stress_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "modelling/times.h"

#define USEC_PER_SEC 1000000

int stress_log_add(struct stress_log *log, const struct stress_entry *entry)
{
	int r = ARRAY_RESERVE(log->entries, log->size, log->count + 1);

	if (r < 0)
		return r;
	log->entries[log->count++] = *entry;
	log->end_us = entry->end_us;
	return 0;
}

static void add_times(struct strbuf *out, int64_t start_us, int64_t end_us)
{
	char start[32], end[32];

	time_format(start_us, start, sizeof(start));
	/* The second that holds the end is part of it. */
	time_format(end_us + USEC_PER_SEC - 1, end, sizeof(end));
	strbuf_addf(out, "\"startTimeUTC\": \"%s\", \"endTimeUTC\": \"%s\"", start, end);
}

int stress_log_format(const struct stress_log *log, struct strbuf *out)
{
	strbuf_add_str(out, "{\n");
	add_times(out, log->start_us, log->end_us);
	strbuf_addf(out, ",\n\"cpus\": %u, \"complete\": %s,\n\"steps\": [", log->cpus,
		    log->is_complete ? "true" : "false");
	for (size_t i = 0; i < log->count; i++) {
		const struct stress_entry *entry = &log->entries[i];

		strbuf_addf(out, "%s\n{\"load\": \"", i ? "," : "");
		strbuf_add_json(out, entry->load);
		strbuf_addf(out, "\", \"instances\": %u, \"failed\": %u, \"max_khz\": %llu, ",
			    entry->instances, entry->failed,
			    (unsigned long long)entry->frequency_khz);
		strbuf_addf(out, "\"start\": %lld.%03d, \"end\": %lld.%03d}",
			    (long long)(entry->start_us / USEC_PER_SEC),
			    (int)(entry->start_us % USEC_PER_SEC / 1000),
			    (long long)(entry->end_us / USEC_PER_SEC),
			    (int)(entry->end_us % USEC_PER_SEC / 1000));
	}
	strbuf_add_str(out, "\n]\n}\n");
	return strbuf_error(out);
}

int stress_log_write(const struct stress_log *log, const char *path, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = stress_log_format(log, &text);

	if (r == 0)
		r = write_file_atomic(path, text.data, text.len, 0644);
	return r < 0 ? diag_set(diag, r, "%s: cannot be written: %s", path, strerrordesc_np(-r))
		     : 0;
}

void stress_log_release(struct stress_log *log)
{
	free(log->entries);
	*log = (struct stress_log){ 0 };
}
