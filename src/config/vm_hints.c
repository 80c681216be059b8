// SPDX-License-Identifier: Apache-2.0
#include "config/vm_hints.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/num.h"
#include "model/processor/instance_type.h"

/* Loads on both sides of a single number: no load stays where it is. */
#define AROUND 0.1

static double within_one(double value)
{
	if (value < 0)
		return 0;
	return value < 1 ? value : 1;
}

static int read_load(const char *text, double *ret_low, double *ret_high)
{
	const char *dash = strchr(text, '-');
	double low, high = 0;
	char first[32];
	int r;

	if ((size_t)snprintf(first, sizeof(first), "%.*s",
			     (int)(dash ? dash - text : (ptrdiff_t)strlen(text)),
			     text) >= sizeof(first))
		return -EINVAL;
	r = parse_double(first, &low);
	if (r == 0 && dash)
		r = parse_double(dash + 1, &high);
	else if (r == 0)
		high = low;
	if (r < 0 || low < 0 || high > 1 || high < low)
		return -EINVAL;
	*ret_low = dash ? low : within_one(low - AROUND);
	*ret_high = dash ? high : within_one(high + AROUND);
	return 0;
}

int vm_hints_check_load(const char *text, struct diag *diag)
{
	double low, high;

	if (read_load(text, &low, &high) < 0 || !(high > 0))
		return diag_set(diag, -EINVAL,
				"must be the lowest and the highest load, as in 0.2-0.6, or one "
				"number from 0 to 1, not \"%.60s\"",
				text);
	return 0;
}

/* Vendors as /proc/cpuinfo names them. */
static void set_processor(const char *name, struct host_info *host)
{
	static const struct {
		const char *word, *vendor;
	} vendors[] = { { "intel", "GenuineIntel" }, { "xeon", "GenuineIntel" },
			{ "amd", "AuthenticAMD" },   { "epyc", "AuthenticAMD" },
			{ "hygon", "HygonGenuine" }, { "ampere", "ARM" } };

	(void)snprintf(host->cpu_model, sizeof(host->cpu_model), "%s", name);
	host->cpu_year = 0; /* the name determines it */
	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++) {
		if (!strcasestr(name, vendors[i].word))
			continue;
		(void)snprintf(host->cpu_vendor, sizeof(host->cpu_vendor), "%s", vendors[i].vendor);
		return;
	}
}

/* Facts about the host by the firmware's instance type, unless an option sets them. */
static void apply_type(const struct vm_options *options, struct host_info *host)
{
	const struct instance_host *type = instance_host_find(host->dmi_vendor, host->dmi_product,
							      host->cpu_model, host->cpus);

	if (!type)
		return;
	if (!options->host_processor[0] && instance_name_is_hidden(host->cpu_model)) {
		host->vm_cpu_by_type = true;
		(void)snprintf(host->cpu_model, sizeof(host->cpu_model), "%s", type->processor);
	}
	if (options->host_cpus)
		return;
	host->vm_cpus_by_type = true;
	host->vm_host_cpus = type->cpus;
	host->vm_host_cores = type->cores;
	host->vm_host_sockets = type->sockets;
}

void vm_hints_apply(const struct vm_options *options, struct host_info *host)
{
	if (!host->is_vm)
		return;
	if (options->host_processor[0])
		set_processor(options->host_processor, host);
	host->vm_host_cpus = options->host_cpus;
	apply_type(options, host);
	(void)read_load(options->neighbour_load, &host->vm_load_low, &host->vm_load_high);
}
