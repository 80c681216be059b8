/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a stress run, as JSON: when it began and ended, and the same of each step, so that
 * "collect --input" asks for its time. It is rewritten after each step. Pure except for the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "workbench/stress_plan.h"

struct stress_entry {
	char load[STRESS_NAME_MAX];
	uint32_t instances, failed;
	uint64_t frequency_khz;
	int64_t start_us, end_us;
};

struct stress_log {
	struct stress_entry *entries;
	size_t count, size;
	int64_t start_us, end_us;
	uint32_t cpus;
	bool is_complete; /* all steps of the plan */
};

int stress_log_add(struct stress_log *log, const struct stress_entry *entry);
int stress_log_format(const struct stress_log *log, struct strbuf *out);
int stress_log_write(const struct stress_log *log, const char *path, struct diag *diag);
void stress_log_release(struct stress_log *log);
