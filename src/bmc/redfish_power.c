// SPDX-License-Identifier: Apache-2.0
#include "bmc/redfish_power.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "bmc/answer_object.h"
#include "bmc/redfish_collection.h"

#define CHASSIS_MAX 64 /* that are looked at; more are counted */
#define SENSORS_MAX 16 /* that are looked at, of those whose name fits */

const char *redfish_method_name(enum redfish_method method)
{
	static const char *const names[] = {
		"nothing",      "EnvironmentMetrics",     "PowerSupplies",
		"PowerControl", "PowerSupplies of Power", "Sensors"
	};

	return names[method];
}

/* ---- reading ---- */

static int no_value(const struct redfish_power *power, struct diag *diag)
{
	return diag_set(diag, -ENODATA, "the BMC currently reports no power reading in %s of %s",
			redfish_method_name(power->method), power->chassis.text);
}

static void read_value(const struct redfish_power *power, const json_t *object,
		       struct redfish_reading *ret)
{
	struct redfish_path unused;

	*ret = (struct redfish_reading){ 0 };
	if (power->method == REDFISH_ENVIRONMENT)
		redfish_environment_read(object, ret, &unused);
	else if (power->method == REDFISH_POWER_CONTROL)
		redfish_power_control_read(object, ret);
	else if (power->method == REDFISH_OLD_SUPPLIES)
		redfish_old_supplies_read(object, ret);
	else if (power->method == REDFISH_SENSOR)
		redfish_sensor_read(object, ret);
	if (!ret->window_ns)
		ret->window_ns = power->window_ns;
}

static int read_one(struct redfish_client *client, const struct redfish_power *power,
		    struct redfish_reading *ret, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *object = NULL;
	int r = redfish_client_get(client, &power->path, &object, diag);

	if (r == 0)
		read_value(power, object, ret);
	return r;
}

int redfish_power_read(struct redfish_client *client, struct redfish_power *power,
		       struct redfish_reading *ret, struct diag *diag)
{
	struct redfish_reading sum = { 0 };
	int r = 0;

	if (power->method == REDFISH_SUPPLIES)
		r = redfish_supplies_read(client, &power->supplies, &sum, diag);
	else if (power->method != REDFISH_NOTHING)
		r = read_one(client, power, &sum, diag);
	if (r < 0)
		return r;
	sum.has_power &= !sum.is_output || power->takes_output;
	/* A machine that asks its BMC draws some: BMCs say 0 W where they do not know. */
	sum.has_power &= sum.power_uw > 0;
	if (!sum.has_power && !sum.has_energy)
		return no_value(power, diag);
	*ret = sum;
	return 0;
}

/* ---- the search for power in a chassis ---- */

/* The power of one resource: 0 if it has a value. */
static int try_one(struct redfish_client *client, enum redfish_method method,
		   const struct redfish_path *path, struct redfish_power *power, struct diag *diag)
{
	struct redfish_reading reading = { .has_power = false };
	int r;

	if (!path->text[0])
		return -ENOENT;
	power->method = method;
	power->path = *path;
	r = redfish_power_read(client, power, &reading, diag);
	return r == 0 && !reading.has_power ? no_value(power, diag) : r;
}

/* Only the sensor that it refers to states the averaging; not every service has that. */
static int learn_window(struct redfish_client *client, struct redfish_power *power,
			struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *metrics = NULL;
	CLEANUP(answer_object_release) json_t *sensor = NULL;
	struct redfish_reading reading;
	struct redfish_path path;
	int r = redfish_client_get(client, &power->path, &metrics, diag);

	if (r < 0)
		return r;
	redfish_environment_read(metrics, &reading, &path);
	if (!path.text[0])
		return 0;
	r = redfish_client_get(client, &path, &sensor, diag);
	if (r < 0)
		return redfish_client_ends_search(r) ? r : 0;
	redfish_sensor_read(sensor, &reading);
	power->window_ns = reading.window_ns;
	return 0;
}

static int try_environment(struct redfish_client *client, const struct redfish_chassis *chassis,
			   struct redfish_power *power, struct diag *diag)
{
	int r = try_one(client, REDFISH_ENVIRONMENT, &chassis->environment, power, diag);

	return r == 0 ? learn_window(client, power, diag) : r;
}

static int try_supplies(struct redfish_client *client, const struct redfish_chassis *chassis,
			struct redfish_power *power, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *subsystem = NULL;
	struct redfish_reading reading;
	int r;

	if (!chassis->subsystem.text[0])
		return -ENOENT;
	r = redfish_client_get(client, &chassis->subsystem, &subsystem, diag);
	if (r < 0)
		return r;
	power->method = REDFISH_SUPPLIES;
	power->supplies.collection = redfish_link(subsystem, "PowerSupplies");
	if (!power->supplies.collection.text[0])
		return -ENOENT;
	return redfish_power_read(client, power, &reading, diag);
}

static int try_power_control(struct redfish_client *client, const struct redfish_chassis *chassis,
			     struct redfish_power *power, struct diag *diag)
{
	return try_one(client, REDFISH_POWER_CONTROL, &chassis->power, power, diag);
}

static int try_old_supplies(struct redfish_client *client, const struct redfish_chassis *chassis,
			    struct redfish_power *power, struct diag *diag)
{
	return try_one(client, REDFISH_OLD_SUPPLIES, &chassis->power, power, diag);
}

static int try_sensors(struct redfish_client *client, const struct redfish_chassis *chassis,
		       struct redfish_power *power, struct diag *diag)
{
	CLEANUP_FREE struct redfish_members *sensors = calloc(1, sizeof(*sensors));
	unsigned tried = 0;
	int r;

	if (!sensors)
		return -ENOMEM;
	if (!chassis->sensors.text[0])
		return -ENOENT;
	r = redfish_collection_read(client, &chassis->sensors, sensors, diag);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sensors->count && tried < SENSORS_MAX; i++) {
		const char *id = redfish_path_id(&sensors->paths[i]);

		if (!redfish_sensor_is_total(id))
			continue;
		tried++;
		r = try_one(client, REDFISH_SENSOR, &sensors->paths[i], power, diag);
		if (r == 0 || redfish_client_ends_search(r))
			return r;
	}
	return -ENODATA;
}

typedef int try_fn(struct redfish_client *client, const struct redfish_chassis *chassis,
		   struct redfish_power *power, struct diag *diag);

/* 0; -ENODATA: there is none in it. */
static int find_in_chassis(struct redfish_client *client, const struct redfish_chassis *chassis,
			   bool takes_output, struct redfish_power *ret, struct diag *diag)
{
	static try_fn *const inputs[] = { try_environment,  try_supplies, try_power_control,
					  try_old_supplies, try_sensors,  NULL };
	static try_fn *const outputs[] = { try_supplies, try_old_supplies, NULL };

	for (try_fn *const *try = takes_output ? outputs : inputs; *try; try++) {
		struct redfish_power power = { .chassis = chassis->path,
					       .takes_output = takes_output,
					       .is_provisional = takes_output };
		int r = (*try)(client, chassis, &power, diag);

		if (r == 0)
			*ret = power;
		if (r == 0 || redfish_client_ends_search(r))
			return r;
	}
	return -ENODATA;
}

/* ---- the search for the machine and its chassis ---- */

/* The ids of @members, for people. */
static void add_ids(const struct redfish_members *members, struct strbuf *out)
{
	for (size_t i = 0; i < members->count; i++) {
		strbuf_add_str(out, i ? ", \"" : "\"");
		strbuf_add_json(out, redfish_path_id(&members->paths[i]));
		strbuf_add_char(out, '"');
	}
}

static int choose_system(const struct redfish_members *systems, const char *id,
			 struct redfish_path *ret, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf ids = STRBUF_INIT;

	ret->text[0] = '\0';
	for (size_t i = 0; i < systems->count; i++) {
		if (*id ? strcmp(redfish_path_id(&systems->paths[i]), id) == 0
			: systems->count == 1 && !systems->left_out)
			*ret = systems->paths[i];
	}
	if (ret->text[0] || (!*id && !systems->count && !systems->left_out))
		return 0;
	add_ids(systems, &ids);
	return diag_set(diag, -EXDEV,
			"the BMC manages the machines %.200s%s%s%s; name this one with "
			"meter.redfish.system",
			ids.data ? ids.data : "(none)",
			systems->left_out ? " and others (its list is not complete: " : "",
			systems->left_out ? systems->why : "", systems->left_out ? ")" : "");
}

struct chassis_list {
	struct redfish_chassis chassis[CHASSIS_MAX];
	size_t count, left_out;
	const char *why; /* NULL: none was left out */
};

static void leave_out(struct chassis_list *list, const char *why)
{
	if (!list->left_out++)
		list->why = why;
}

/* One that is listed and does not exist is not missing. */
static int read_chassis(struct redfish_client *client, const struct redfish_path *path,
			struct chassis_list *list, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *chassis = NULL;
	int r = list->count < CHASSIS_MAX ? redfish_client_get(client, path, &chassis, diag) : 0;

	if (chassis)
		redfish_chassis_read(chassis, path, &list->chassis[list->count++]);
	else if (r == 0)
		leave_out(list, "there are too many");
	else if (r != -ENOENT)
		leave_out(list, "one cannot be read");
	return r;
}

static int read_all_chassis(struct redfish_client *client, const json_t *root,
			    struct chassis_list *list, struct diag *diag)
{
	CLEANUP_FREE struct redfish_members *members = calloc(1, sizeof(*members));
	struct redfish_path path = redfish_link(root, "Chassis");
	int r;

	if (!members)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (!path.text[0])
		return diag_set(diag, -ENODATA, "the BMC has no chassis");
	r = redfish_collection_read(client, &path, members, diag);
	if (r < 0)
		return r;
	list->left_out = members->left_out;
	list->why = members->why;
	for (size_t i = 0; i < members->count; i++) {
		r = read_chassis(client, &members->paths[i], list, diag);
		if (redfish_client_ends_search(r))
			return r;
	}
	return 0;
}

/* Systems that chassis link to, where the service lists none itself. */
static void add_linked_systems(const struct chassis_list *list, struct redfish_members *systems)
{
	for (size_t i = 0; i < list->count; i++) {
		for (size_t k = 0; k < list->chassis[i].system_count; k++)
			redfish_members_add_path(systems, &list->chassis[i].systems[k]);
	}
}

static int find_system(struct redfish_client *client, const json_t *root, const char *id,
		       const struct chassis_list *list, struct redfish_path *ret, bool *ret_only,
		       struct diag *diag)
{
	CLEANUP_FREE struct redfish_members *systems = calloc(1, sizeof(*systems));
	struct redfish_path path = redfish_link(root, "Systems");
	int r = 0;

	if (!systems)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (path.text[0])
		r = redfish_collection_read(client, &path, systems, diag);
	if (r < 0)
		return r;
	if (!systems->count && !systems->left_out)
		add_linked_systems(list, systems);
	*ret_only = systems->count + systems->left_out <= 1;
	return choose_system(systems, id, ret, diag);
}

/* In those of @order, from the first on. */
static int find_in_these(struct redfish_client *client, const struct chassis_list *list,
			 const size_t *order, size_t chosen, struct redfish_power *ret,
			 struct diag *diag)
{
	struct diag why = { "" };

	for (int takes_output = 0; takes_output <= 1; takes_output++) {
		for (size_t i = 0; i < chosen; i++) {
			int r = find_in_chassis(client, &list->chassis[order[i]], takes_output, ret,
						&why);

			if (redfish_client_ends_search(r))
				*diag = why;
			if (r == 0 || redfish_client_ends_search(r))
				return r;
		}
	}
	return -ENODATA;
}

static int find_in_all(struct redfish_client *client, const struct chassis_list *list,
		       const struct redfish_path *system, bool is_only, struct redfish_power *ret,
		       struct diag *diag)
{
	size_t order[CHASSIS_MAX], chosen;
	bool is_shared;
	int r;

	/* A chassis that was left out may be the one that has links. */
	chosen = redfish_chassis_choose(list->chassis, list->count, system,
					is_only && !list->left_out, order, &is_shared);
	r = find_in_these(client, list, order, chosen, ret, diag);
	ret->is_provisional |= list->left_out > 0;
	if (r != -ENODATA)
		return r;
	if (is_shared)
		return diag_set(
			diag, -EXDEV,
			system->text[0]
				? "the BMC reports only the power of a chassis that several "
				  "machines share, not the power of this machine"
				: "the BMC names no machine and has several chassis, so it is "
				  "unknown which of them is this machine");
	return diag_set(diag, -ENODATA,
			"the BMC has no power of this machine (%zu chassis read, %zu of it alone, "
			"%zu not read%s%s)",
			list->count, chosen, list->left_out, list->why ? ": " : "",
			list->why ? list->why : "");
}

int redfish_power_find(struct redfish_client *client, const char *system, struct redfish_power *ret,
		       struct diag *diag)
{
	CLEANUP_FREE struct chassis_list *list = calloc(1, sizeof(*list));
	CLEANUP(answer_object_release) json_t *root = NULL;
	struct redfish_path ours = { "" };
	bool is_only = false;
	int r;

	if (!list)
		return diag_set(diag, -ENOMEM, "out of memory");
	*ret = (struct redfish_power){ .method = REDFISH_NOTHING };
	r = redfish_client_get_root(client, &root, diag);
	if (r == 0)
		r = read_all_chassis(client, root, list, diag);
	if (r == 0)
		r = find_system(client, root, system, list, &ours, &is_only, diag);
	return r < 0 ? r : find_in_all(client, list, &ours, is_only, ret, diag);
}
