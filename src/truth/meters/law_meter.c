// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/law_meter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "truth/cpu_account.h"
#include "truth/meter_list.h"

#define WATTS_MAX 1e6
#define UNIT      1e-6 /* J of 1 in a reading */

struct law_state {
	struct truth_law law;
	char procfs[TRUTH_PATH_MAX];
	double start_s; /* of the first reading */
	bool is_started;
};

static bool take_term(const char *name, const char *value, struct truth_law *law)
{
	double *watts = strcmp(name, "idle") == 0  ? &law->idle_w
			: strcmp(name, "cpu") == 0 ? &law->cpu_w
						   : NULL;

	if (strcmp(name, "zone") == 0) {
		size_t len = strspn(value, "abcdefghijklmnopqrstuvwxyz_0123456789");

		if (len == 0 || value[len] || len >= sizeof(law->zone))
			return false;
		memcpy(law->zone, value, len + 1);
		return true;
	}
	return watts && parse_double(value, watts) == 0 && *watts >= 0 && *watts <= WATTS_MAX;
}

int truth_law_parse(const char *text, struct truth_law *ret, struct diag *diag)
{
	struct truth_law law = { .zone = "package" };
	char term[64];

	for (const char *at = text; *at;) {
		size_t len = strcspn(at, ",");
		char *value;

		(void)snprintf(term, sizeof(term), "%.*s", (int)(len < 64 ? len : 64), at);
		value = strchr(term, '=');
		if (value)
			*value++ = '\0';
		if (!value || len >= sizeof(term) || !take_term(term, value, &law))
			return diag_set(
				diag, -EINVAL,
				"truth.law: must be like idle=20,cpu=10 or "
				"zone=platform,idle=50, with watts from 0 to %g, not \"%s\"",
				WATTS_MAX, text);
		at += len + (at[len] == ',');
	}
	if (!(law.idle_w + law.cpu_w > 0))
		return diag_set(diag, -EINVAL,
				"truth.law: must have watts, such as idle=20,cpu=10");
	*ret = law;
	return 0;
}

static int read_law(struct truth_meter *meter, double now_s, struct truth_value *ret,
		    struct diag *diag)
{
	struct law_state *state = meter->state;
	double busy_s = cpu_account_busy_s(state->procfs);

	if (busy_s < 0)
		return diag_set(diag, -EIO, "%s/stat cannot be read", state->procfs);
	if (!state->is_started)
		state->start_s = now_s;
	state->is_started = true;
	ret->raw = (uint64_t)((state->law.idle_w * (now_s - state->start_s) +
			       state->law.cpu_w * busy_s) /
			      UNIT);
	return 0;
}

int truth_search_law(const struct truth_options *options, struct truth *truth, struct diag *diag)
{
	struct truth_law law = { 0 };
	char path[TRUTH_PATH_MAX];
	int r = truth_law_parse(options->law, &law, diag);

	if (r < 0)
		return r;
	struct law_state *state = calloc(1, sizeof(*state));
	if (!state)
		return diag_set(diag, -ENOMEM, "out of memory");
	state->law = law;
	(void)snprintf(state->procfs, sizeof(state->procfs), "%s", options->procfs);
	const struct truth_meter like = { .read = read_law,
					  .unit = UNIT,
					  .watts_max = INFINITY,
					  .state = state,
					  .release = free };
	(void)snprintf(path, sizeof(path),
		       "a law, and not a meter: %g W, and %g W for each busy CPU", law.idle_w,
		       law.cpu_w);
	truth_add_meter(truth, law.zone, path, &like);
	return 0;
}
