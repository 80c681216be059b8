// SPDX-License-Identifier: Apache-2.0
#include "bmc/hmc_power.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "bmc/answer_object.h"

#define CPCS     "/api/cpcs"
#define CONTEXTS "/api/services/metrics/context"

static const char *partition_group(const struct hmc_power *power)
{
	return power->is_dpm ? HMC_GROUP_DPM : HMC_GROUP_CLASSIC;
}

/* ---- lists ---- */

static int read_list(struct hmc_client *client, const char *path, const char *key,
		     struct hmc_list *ret, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *answer = NULL;
	int r = hmc_client_get(client, path, &answer, diag);

	if (r < 0)
		return r;
	hmc_list_read(answer, key, ret);
	return ret->is_cut ? diag_set(diag, -EBADMSG,
				      "the HMC's list of %s is missing or has more than %d entries",
				      key, HMC_OBJECTS_MAX)
			   : 0;
}

static int read_partitions(struct hmc_client *client, const struct hmc_object *cpc, bool is_dpm,
			   struct hmc_list *ret, struct diag *diag)
{
	const char *key = is_dpm ? "partitions" : "logical-partitions";
	char path[HMC_PATH_MAX + 32];

	(void)snprintf(path, sizeof(path), "%s/%s", cpc->path.text, key);
	return read_list(client, path, key, ret, diag);
}

/* ---- where the partition is ---- */

/*
 * The name that the machine itself knows of: in DPM mode a partition has a longer one as well,
 * which is the only one in lists. 1 where it is @name, 0, or -errno.
 */
static int has_short_name(struct hmc_client *client, const struct hmc_object *partition,
			  const char *name, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *properties = NULL;
	int r = hmc_client_get(client, partition->path.text, &properties, diag);

	return r < 0 ? r : strcmp(answer_text(properties, "short-name"), name) == 0;
}

/* The same for a list; *ret_index: its entry. */
static int find_in_list(struct hmc_client *client, const struct hmc_list *list, const char *name,
			bool is_dpm, size_t *ret_index, struct diag *diag)
{
	for (size_t i = 0; i < list->count; i++) {
		*ret_index = i;
		if (strcmp(list->objects[i].name, name) == 0)
			return 1;
	}
	for (size_t i = 0; i < list->count && is_dpm; i++) {
		int r = list->objects[i].is_active
				? has_short_name(client, &list->objects[i], name, diag)
				: 0;

		*ret_index = i;
		if (r)
			return r;
	}
	return 0;
}

/* 1 with the partition @name of @cpc, 0 where it has none, or -errno. */
static int find_in_cpc(struct hmc_client *client, const struct hmc_object *cpc, const char *name,
		       struct hmc_power *ret, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *properties = NULL;
	CLEANUP_FREE struct hmc_list *list = calloc(1, sizeof(*list));
	struct hmc_cpc facts;
	size_t index = 0;
	int r;

	if (!list)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = hmc_client_get(client, cpc->path.text, &properties, diag);
	if (r < 0)
		return r;
	hmc_cpc_read(properties, &facts);
	r = read_partitions(client, cpc, facts.is_dpm, list, diag);
	if (r == 0)
		r = find_in_list(client, list, name, facts.is_dpm, &index, diag);
	if (r > 0)
		*ret = (struct hmc_power){ .cpc = *cpc,
					   .partition = list->objects[index],
					   .is_dpm = facts.is_dpm };
	return r;
}

static void add_names(const struct hmc_list *list, struct strbuf *out)
{
	for (size_t i = 0; i < list->count && i < 8; i++) {
		strbuf_add_str(out, i ? ", \"" : "\"");
		strbuf_add_json(out, list->objects[i].name);
		strbuf_add_char(out, '"');
	}
	strbuf_add_str(out, list->count > 8 ? ", …" : list->count ? "" : "none");
}

static int not_one(const struct hmc_list *cpcs, const char *cpc, const char *partition,
		   unsigned found, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;
	const char *text;

	add_names(cpcs, &names);
	text = names.data ? names.data : "";
	if (found)
		return diag_set(
			diag, -EXDEV,
			"several CPCs of the HMC have a partition \"%s\" (%.160s); name this "
			"machine's CPC with meter.hmc.cpc",
			partition, text);
	return diag_set(diag, -EXDEV,
			"the HMC shows no partition \"%s\"%s%s%s; it shows the CPCs %.160s. Check "
			"meter.hmc.cpc and meter.hmc.partition, and that the user may see both",
			partition, *cpc ? " in the CPC \"" : "", cpc, *cpc ? "\"" : "", text);
}

int hmc_power_find(struct hmc_client *client, const char *cpc, const char *partition,
		   struct hmc_power *ret, struct diag *diag)
{
	CLEANUP_FREE struct hmc_list *cpcs = calloc(1, sizeof(*cpcs));
	struct hmc_power power = { 0 };
	unsigned found = 0;
	int r;

	if (!cpcs)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = read_list(client, CPCS, "cpcs", cpcs, diag);
	for (size_t i = 0; r == 0 && i < cpcs->count; i++) {
		if (*cpc && strcmp(cpcs->objects[i].name, cpc) != 0)
			continue;
		r = find_in_cpc(client, &cpcs->objects[i], partition, &power, diag);
		found += r > 0;
		r = r > 0 ? 0 : r;
	}
	if (r < 0)
		return r;
	if (found != 1)
		return not_one(cpcs, cpc, partition, found, diag);
	*ret = power;
	return 0;
}

/* ---- the share ---- */

/* The processors of all active partitions; *ret_own: our own one. */
static int read_shares(struct hmc_client *client, const struct hmc_power *power,
		       const struct hmc_list *list, struct hmc_partition *ret, size_t *ret_count,
		       size_t *ret_own, struct diag *diag)
{
	size_t count = 0;

	*ret_own = SIZE_MAX;
	for (size_t i = 0; i < list->count; i++) {
		const struct hmc_object *object = &list->objects[i];
		CLEANUP(answer_object_release) json_t *properties = NULL;
		int r;

		if (!object->is_active)
			continue;
		r = hmc_client_get(client, object->path.text, &properties, diag);
		if (r < 0)
			return r;
		if (!hmc_partition_read(properties, power->is_dpm, &ret[count]))
			return diag_set(
				diag, -ENODATA,
				"the HMC does not report the processors or the weight of "
				"partition \"%s\", so its share of the CPC's power is unknown",
				object->name);
		if (strcmp(object->path.text, power->partition.path.text) == 0)
			*ret_own = count;
		count++;
	}
	*ret_count = count;
	return 0;
}

int hmc_power_update_share(struct hmc_client *client, struct hmc_power *power, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *properties = NULL;
	CLEANUP_FREE struct hmc_list *list = calloc(1, sizeof(*list));
	CLEANUP_FREE struct hmc_partition *partitions =
		calloc(HMC_OBJECTS_MAX, sizeof(*partitions));
	size_t count = 0, own = 0;
	struct hmc_cpc facts;
	double share;
	int r;

	if (!list || !partitions)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = hmc_client_get(client, power->cpc.path.text, &properties, diag);
	if (r < 0)
		return r;
	hmc_cpc_read(properties, &facts);
	r = read_partitions(client, &power->cpc, power->is_dpm, list, diag);
	if (r == 0)
		r = read_shares(client, power, list, partitions, &count, &own, diag);
	if (r < 0)
		return r;
	if (own == SIZE_MAX)
		return diag_set(diag, -ENODATA,
				"the HMC reports that partition \"%s\" is not active",
				power->partition.name);
	share = hmc_share(&facts, partitions, count, own);
	if (share < 0)
		return diag_set(
			diag, -ENODATA,
			"the HMC shows more processors in partitions than CPC \"%s\" has, so "
			"the share of its power is unknown",
			power->cpc.name);
	power->share = share;
	power->active_count = count;
	return 0;
}

/* ---- power ---- */

static int open_context(struct hmc_client *client, struct hmc_power *power, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *answer = NULL;
	char content[192];
	int r;

	(void)snprintf(content, sizeof(content),
		       "{\"anticipated-frequency-seconds\":15,\"metric-groups\":[\"%s\",\"%s\"]}",
		       HMC_GROUP_POWER, partition_group(power));
	r = hmc_client_post(client, CONTEXTS, content, &answer, diag);
	if (r < 0)
		return r;
	return hmc_context_read(answer, partition_group(power), &power->context)
		       ? 0
		       : diag_set(diag, -EBADMSG, "the HMC made a metrics context without a path");
}

/* The values, in a context of this session: an earlier session's has ended with it. */
static int read_values(struct hmc_client *client, struct hmc_power *power, struct strbuf *ret,
		       struct diag *diag)
{
	int r = power->context.path.text[0]
			? hmc_client_get_text(client, power->context.path.text, ret, diag)
			: -ENOENT;

	if (r != -ENOENT)
		return r;
	power->context.path.text[0] = '\0';
	r = open_context(client, power, diag);
	return r < 0 ? r : hmc_client_get_text(client, power->context.path.text, ret, diag);
}

static bool find_own(const struct hmc_power *power, const struct strbuf *values,
		     struct hmc_sample *ret)
{
	return hmc_metrics_find(values->data, values->len, partition_group(power),
				power->partition.path.text, power->context.partition_column, ret);
}

static bool find_cpc(const struct hmc_power *power, const struct strbuf *values,
		     struct hmc_sample *ret)
{
	return hmc_metrics_find(values->data, values->len, HMC_GROUP_POWER, power->cpc.path.text,
				power->context.cpc_column, ret);
}

static int no_power(const struct hmc_power *power, struct diag *diag)
{
	bool is_own = power->method == HMC_OWN_POWER;

	return diag_set(diag, -ENODATA, "the HMC currently reports no power of %s \"%s\"",
			is_own ? "partition" : "CPC",
			is_own ? power->partition.name : power->cpc.name);
}

int hmc_power_decide(struct hmc_client *client, struct hmc_power *power, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf values = STRBUF_INIT;
	struct hmc_sample sample;
	int r = read_values(client, power, &values, diag);

	if (r < 0)
		return r;
	if (find_own(power, &values, &sample))
		power->method = HMC_OWN_POWER;
	else if (find_cpc(power, &values, &sample))
		power->method = HMC_SHARE;
	else
		return no_power(power, diag);
	return 0;
}

int hmc_power_read(struct hmc_client *client, struct hmc_power *power, struct hmc_sample *ret,
		   struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf values = STRBUF_INIT;
	struct hmc_sample sample;
	int r = read_values(client, power, &values, diag);

	if (r < 0)
		return r;
	if (power->method == HMC_OWN_POWER ? !find_own(power, &values, &sample)
					   : !find_cpc(power, &values, &sample))
		return no_power(power, diag);
	if (power->method == HMC_SHARE)
		sample.power_uw = (uint64_t)llround((double)sample.power_uw * power->share);
	*ret = sample;
	return 0;
}
