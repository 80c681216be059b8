// SPDX-License-Identifier: Apache-2.0
#include "bmc/hmc_answer.h"

#include <string.h>

#include "base/macro.h"
#include "bmc/answer_object.h"

#define SERVICE       "/api/"
#define COUNT_MAX     100000 /* of processors, and of weights: 999 at most */
#define SESSION_CHARS 1000

/* Names of properties, by the mode of the CPC; NULL: that mode has none. */
static const struct {
	const char *of_cpc;
	const char *classic_number, *classic_weight;
	const char *dpm_number, *dpm_weight;
} names[HMC_PROCESSORS] = {
	[HMC_CP] = { "processor-count-general-purpose", "number-general-purpose-processors",
		     "current-processing-weight", "cp-processors", "current-cp-processing-weight" },
	[HMC_IFL] = { "processor-count-ifl", "number-ifl-processors",
		      "current-ifl-processing-weight", "ifl-processors",
		      "current-ifl-processing-weight" },
	[HMC_ICF] = { "processor-count-icf", "number-icf-processors",
		      "current-cf-processing-weight", NULL, NULL },
	[HMC_ZIIP] = { "processor-count-iip", "number-ziip-processors",
		       "current-ziip-processing-weight", NULL, NULL },
};

void hmc_path_take(const char *text, struct hmc_path *ret)
{
	size_t len = text ? strlen(text) : 0;

	ret->text[0] = '\0';
	if (len >= HMC_PATH_MAX || len <= strlen(SERVICE) ||
	    strncmp(text, SERVICE, strlen(SERVICE)) != 0)
		return;
	for (size_t i = 0; i < len; i++) {
		if (text[i] <= ' ' || text[i] > '~' || text[i] == '#' || text[i] == '?')
			return;
	}
	memcpy(ret->text, text, len + 1);
}

const char *hmc_session(const json_t *answer)
{
	const char *token = answer_text(answer, "api-session");
	size_t len = strlen(token);

	if (!len || len > SESSION_CHARS)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (token[i] <= ' ' || token[i] > '~')
			return NULL;
	}
	return token;
}

int hmc_reason(const json_t *error)
{
	double reason;

	return answer_number(json_object_get(error, "reason"), COUNT_MAX, &reason) ? (int)reason
										   : -1;
}

const char *hmc_message(const json_t *error)
{
	return answer_text(error, "message");
}

/* ---- lists ---- */

/*
 * The service reports which partitions are not active, by different words in both modes. A
 * partition in an unknown state has its processors all the same.
 */
static bool is_active(const char *status)
{
	static const char *const inactive[] = { "not-activated", "stopped", "reservation-error" };

	for (size_t i = 0; i < ARRAY_SIZE(inactive); i++) {
		if (strcmp(status, inactive[i]) == 0)
			return false;
	}
	return true;
}

static bool read_object(const json_t *item, struct hmc_object *ret)
{
	const char *name = answer_text(item, "name");
	size_t len = strlen(name);

	hmc_path_take(answer_text(item, "object-uri"), &ret->path);
	if (!ret->path.text[0] || !len || len >= sizeof(ret->name))
		return false;
	memcpy(ret->name, name, len + 1);
	ret->is_active = is_active(answer_text(item, "status"));
	return true;
}

void hmc_list_read(const json_t *answer, const char *key, struct hmc_list *ret)
{
	const json_t *array = json_object_get(answer, key);
	size_t count = json_array_size(array);

	ret->count = 0;
	ret->is_cut = !json_is_array(array);
	for (size_t i = 0; i < count && !ret->is_cut; i++) {
		ret->is_cut = ret->count == HMC_OBJECTS_MAX ||
			      !read_object(json_array_get(array, i), &ret->objects[ret->count]);
		ret->count += !ret->is_cut;
	}
}

/* ---- processors ---- */

/* 0 without a value: null, or a property that this version of the service does not have. */
static unsigned read_count(const json_t *properties, const char *key)
{
	double count;

	if (!key || !answer_number(json_object_get(properties, key), COUNT_MAX, &count))
		return 0;
	return (unsigned)count;
}

static bool has_number(const json_t *properties, const char *key)
{
	return key && json_is_number(json_object_get(properties, key));
}

void hmc_cpc_read(const json_t *properties, struct hmc_cpc *ret)
{
	*ret = (struct hmc_cpc){
		.is_dpm = json_is_true(json_object_get(properties, "dpm-enabled")),
	};
	for (size_t kind = 0; kind < HMC_PROCESSORS; kind++)
		ret->processors[kind] = read_count(properties, names[kind].of_cpc);
}

bool hmc_partition_read(const json_t *properties, bool is_dpm, struct hmc_partition *ret)
{
	const char *mode = answer_text(properties, is_dpm ? "processor-mode" : "processor-usage");
	bool has_some = false;

	*ret = (struct hmc_partition){ .is_dedicated = strcmp(mode, "dedicated") == 0 };
	for (size_t kind = 0; kind < HMC_PROCESSORS; kind++) {
		const char *number = is_dpm ? names[kind].dpm_number : names[kind].classic_number;
		const char *weight = is_dpm ? names[kind].dpm_weight : names[kind].classic_weight;

		/* In DPM mode it also has a weight for a kind that it has no processor of. */
		if (ret->is_dedicated)
			ret->processors[kind] = read_count(properties, number);
		else if (!has_number(properties, number) || read_count(properties, number))
			ret->weights[kind] = read_count(properties, weight);
		has_some |= ret->processors[kind] || ret->weights[kind];
	}
	return has_some;
}

/* The sums of one kind: dedicated processors, and all weights. */
struct sums {
	uint64_t dedicated, weights;
};

static struct sums sum_up(const struct hmc_partition *partitions, size_t count, size_t kind)
{
	struct sums sums = { 0, 0 };

	for (size_t i = 0; i < count; i++) {
		sums.dedicated += partitions[i].processors[kind];
		sums.weights += partitions[i].weights[kind];
	}
	return sums;
}

double hmc_share(const struct hmc_cpc *cpc, const struct hmc_partition *partitions, size_t count,
		 size_t own)
{
	double mine = 0, all = 0;

	for (size_t kind = 0; kind < HMC_PROCESSORS; kind++) {
		struct sums sums = sum_up(partitions, count, kind);
		double shared = 0;

		if (sums.weights && cpc->processors[kind] <= sums.dedicated)
			return -1;
		if (sums.weights)
			shared = (double)(cpc->processors[kind] - sums.dedicated);
		all += (double)sums.dedicated + shared;
		mine += partitions[own].processors[kind];
		if (sums.weights)
			mine += shared * partitions[own].weights[kind] / (double)sums.weights;
	}
	return all > 0 ? mine / all : -1;
}
