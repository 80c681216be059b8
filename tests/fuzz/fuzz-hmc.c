// SPDX-License-Identifier: Apache-2.0
/*
 * An answer of an HMC, read as JSON of every kind, as metrics, and as /proc/sysinfo. Accepted
 * values are within their limits, paths belong to the service, and shares are parts of a whole.
 */
#include <stdlib.h>
#include <string.h>

#include "bmc/answer_object.h"
#include "bmc/hmc_answer.h"
#include "bmc/hmc_metrics.h"
#include "host/sysinfo.h"

#define POWER_MAX_UW 1000000000000ULL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(const struct hmc_path *path)
{
	if (path->text[0] &&
	    (strncmp(path->text, "/api/", 5) != 0 || strpbrk(path->text, " \r\n\t#?")))
		abort();
}

static void read_lists(const json_t *object)
{
	static const char *const keys[] = { "cpcs", "logical-partitions", "partitions" };
	struct hmc_list *list = calloc(1, sizeof(*list));

	for (size_t k = 0; list && k < 3; k++) {
		hmc_list_read(object, keys[k], list);
		for (size_t i = 0; i < list->count; i++) {
			check_path(&list->objects[i].path);
			if (!list->objects[i].name[0])
				abort();
		}
	}
	free(list);
}

static void read_shares(const json_t *object)
{
	struct hmc_partition partitions[2];
	struct hmc_cpc cpc;

	hmc_cpc_read(object, &cpc);
	if (hmc_partition_read(object, false, &partitions[0]) &&
	    hmc_partition_read(object, true, &partitions[1])) {
		double first = hmc_share(&cpc, partitions, 2, 0);
		double sum = first + hmc_share(&cpc, partitions, 2, 1);

		if (first >= 0 && !(first <= 1 && sum > 0.999 && sum < 1.001))
			abort();
	}
}

static void read_object(const json_t *object)
{
	const char *session = hmc_session(object);
	struct hmc_context context;

	if (session && (!*session || strpbrk(session, " \r\n")))
		abort();
	if (hmc_context_read(object, HMC_GROUP_CLASSIC, &context))
		check_path(&context.path);
	(void)hmc_reason(object);
	(void)hmc_message(object);
	read_lists(object);
	read_shares(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	json_t *object = answer_object(text, size);
	struct sysinfo_facts facts;
	struct hmc_sample sample;

	if (object)
		read_object(object);
	json_decref(object);
	for (int column = -1; column < 4; column++) {
		if (hmc_metrics_find(text, size, HMC_GROUP_POWER, "/api/cpcs/1", column, &sample) &&
		    (!sample.power_uw || sample.power_uw > POWER_MAX_UW))
			abort();
	}
	sysinfo_parse(text, size, &facts);
	if (strpbrk(facts.partition, " \r\n"))
		abort();
	return 0;
}
