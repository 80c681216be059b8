// SPDX-License-Identifier: Apache-2.0
#include "config/host_override.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

static int set_number(const char *key, double value, struct host_info *host)
{
	const struct {
		const char *key;
		unsigned *field;
		double max;
	} whole[] = {
		{ "cores", &host->cores, 65536 },
		{ "threads", &host->cpus, 65536 },
		{ "sockets", &host->sockets, 1024 },
		{ "year", &host->cpu_year, 2100 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		if (strcmp(key, whole[i].key) != 0)
			continue;
		if (value < 1 || value > whole[i].max || floor(value) < value)
			return -ERANGE;
		*whole[i].field = (unsigned)value;
		return 0;
	}
	if (value <= 0 || value > 1e6)
		return -ERANGE;
	if (strcmp(key, "frequency-ghz") == 0)
		host->frequency_ghz = value;
	else if (strcmp(key, "memory-gib") == 0)
		host->memory_gib = value;
	else
		return -EINVAL;
	return 0;
}

static int set_one(const char *key, const char *value, struct host_info *host)
{
	double number;
	int r;

	if (strcmp(key, "vm") == 0) {
		if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
			return -ERANGE;
		host->is_vm = strcmp(value, "true") == 0;
		return 0;
	}
	if (strcmp(key, "processor") == 0) {
		if (!*value || strlen(value) >= sizeof(host->cpu_model))
			return -ERANGE;
		(void)snprintf(host->cpu_model, sizeof(host->cpu_model), "%s", value);
		return 0;
	}
	r = parse_double(value, &number);
	return r < 0 ? -ERANGE : set_number(key, number, host);
}

int host_override(const char *text, struct host_info *host, struct diag *diag)
{
	char copy[256], *rest = copy, *item;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
		return diag_set(diag, -EINVAL, "--model.machine: longer than %zu bytes",
				sizeof(copy) - 1);
	while ((item = strsep(&rest, ","))) {
		char *value = strchr(item, '=');
		int r;

		if (!*item)
			continue;
		if (!value)
			return diag_set(diag, -EINVAL, "--model.machine: \"%s\": want KEY=VALUE",
					item);
		*value++ = '\0';
		r = set_one(item, value, host);
		if (r == -EINVAL)
			return diag_set(
				diag, r,
				"--model.machine: \"%s\": unknown; one of cores, threads, sockets, "
				"year, frequency-ghz, memory-gib, processor, vm",
				item);
		if (r < 0)
			return diag_set(diag, r, "--model.machine: %s=%s: not a possible value",
					item, value);
	}
	return 0;
}
