// SPDX-License-Identifier: Apache-2.0
#include "bmc/redfish_supplies.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "bmc/answer_object.h"
#include "bmc/redfish_collection.h"

/* The known state of the supply at @path, or that nothing is known. */
static struct redfish_supply supply_at(const struct redfish_supplies *supplies,
				       const struct redfish_path *path)
{
	for (size_t i = 0; i < supplies->count; i++) {
		if (redfish_path_is_same(&supplies->list[i].path, path))
			return supplies->list[i];
	}
	return (struct redfish_supply){ .path = *path };
}

static int list_supplies(struct redfish_client *client, struct redfish_supplies *supplies,
			 struct diag *diag)
{
	CLEANUP_FREE struct redfish_members *members = calloc(1, sizeof(*members));
	const struct redfish_supplies before = *supplies;
	int r;

	if (!members)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = redfish_collection_read(client, &supplies->collection, members, diag);
	if (r < 0)
		return r;
	if (members->left_out)
		return diag_set(diag, -ENODATA, "not all power supplies of %s are known: %s",
				supplies->collection.text, members->why);
	if (members->count > REDFISH_SUPPLIES_MAX)
		return diag_set(diag, -ENODATA,
				"%s has %zu power supplies; at most %d are added up",
				supplies->collection.text, members->count, REDFISH_SUPPLIES_MAX);
	supplies->count = members->count;
	for (size_t i = 0; i < members->count; i++)
		supplies->list[i] = supply_at(&before, &members->paths[i]);
	return 0;
}

/* A supply without metrics has no values, which is not a failure. */
static int read_metrics(struct redfish_client *client, const struct redfish_path *path,
			struct redfish_supply_power *ret, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *metrics = NULL;
	int r = path->text[0] ? redfish_client_get(client, path, &metrics, diag) : -ENOENT;

	*ret = (struct redfish_supply_power){ .has_input = false };
	if (r == 0)
		redfish_supply_metrics_read(metrics, ret);
	return r == -ENOENT ? 0 : r;
}

/* Its state is asked for only where it has no value, or it is not known where that is. */
static int read_supply(struct redfish_client *client, struct redfish_supply *supply,
		       struct redfish_supply_sum *sum, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *object = NULL;
	struct redfish_supply_power power;
	bool was_known = supply->metrics.text[0];
	int r = read_metrics(client, &supply->metrics, &power, diag);

	if (r == 0 && !power.has_input)
		r = redfish_client_get(client, &supply->path, &object, diag);
	if (r < 0)
		return r;
	if (object && !redfish_supply_is_absent(object)) {
		supply->metrics = redfish_link(object, "Metrics");
		r = was_known ? 0 : read_metrics(client, &supply->metrics, &power, diag);
	}
	redfish_supply_sum_add(sum, &power, object && redfish_supply_is_off(object));
	return r;
}

int redfish_supplies_read(struct redfish_client *client, struct redfish_supplies *supplies,
			  struct redfish_reading *ret, struct diag *diag)
{
	struct redfish_supply_sum sum = { .lacks_input = false };
	int r = list_supplies(client, supplies, diag);

	for (size_t i = 0; r == 0 && i < supplies->count; i++)
		r = read_supply(client, &supplies->list[i], &sum, diag);
	if (r == 0)
		redfish_supply_sum_read(&sum, ret);
	return r;
}
