// SPDX-License-Identifier: Apache-2.0
#include "modelling/option_checks.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "model/feature.h"
#include "modelling/times.h"
#include "training/trainer.h"

int check_address(const char *text, struct diag *diag)
{
	if (!*text || strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0)
		return 0;
	return diag_set(diag, -EINVAL, "must begin with http:// or https://, not \"%.80s\"", text);
}

int check_time(const char *text, struct diag *diag)
{
	int64_t us;

	if (!*text || time_parse(text, &us) == 0)
		return 0;
	return diag_set(diag, -EINVAL,
			"must be a time such as 2026-11-24T13:00:00Z, or seconds since 1970, not "
			"\"%.80s\"",
			text);
}

int check_seconds(const char *text, struct diag *diag)
{
	int64_t us;

	if (seconds_parse(text, &us) == 0)
		return 0;
	return diag_set(diag, -EINVAL,
			"must be seconds, or a duration such as 3s or 5m, not \"%.80s\"", text);
}

int check_step(const char *text, struct diag *diag)
{
	int64_t us = 0;
	int r = check_seconds(text, diag);

	if (r == 0 && seconds_parse(text, &us) == 0 && us < 1000)
		return diag_set(diag, -EINVAL, "must be at least 1ms, not \"%.80s\"", text);
	return r;
}

int check_trainers(const char *text, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf unknown = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf known = STRBUF_INIT;
	char name[64];

	while (*text) {
		size_t len = strcspn(text, ",");

		(void)snprintf(name, sizeof(name), "%.*s", (int)len, text);
		if (len && !trainer_find(name))
			strbuf_addf(&unknown, "%s\"%s\"", unknown.len ? ", " : "", name);
		text += len + (text[len] == ',');
	}
	if (!unknown.len)
		return 0;
	for (const struct trainer *trainer = trainers; trainer->name; trainer++)
		strbuf_addf(&known, "%s%s", known.len ? ", " : "", trainer->name);
	return diag_set(diag, -EINVAL, "there is no trainer %.120s; the trainers are %s",
			unknown.data, known.data ? known.data : "");
}

int check_feature_group(const char *text, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf known = STRBUF_INIT;

	if (!*text || feature_group_find(text))
		return 0;
	for (const struct feature_group *group = feature_groups; group->name; group++)
		strbuf_addf(&known, "%s%s", known.len ? ", " : "", group->name);
	return diag_set(diag, -EINVAL, "there is no group \"%.80s\"; the groups are %s", text,
			known.data ? known.data : "");
}
