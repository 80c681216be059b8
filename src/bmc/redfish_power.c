// SPDX-License-Identifier: Apache-2.0
#include "bmc/redfish_power.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "bmc/answer_object.h"

#define CHASSIS_MAX 32 /* that are looked at */
#define SENSORS_MAX 8  /* likewise, of those whose name fits */

const char *redfish_method_name(enum redfish_method method)
{
	static const char *const names[] = { "nothing", "EnvironmentMetrics", "PowerSupplies",
					     "PowerControl", "Sensors" };

	return names[method];
}

static int read_members(struct redfish_client *client, const struct redfish_path *collection,
			struct redfish_members *ret, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *object = NULL;
	int r = redfish_client_get(client, collection, &object, diag);

	if (r == 0)
		redfish_members_read(object, ret);
	return r;
}

/* ---- reading ---- */

static int no_value(const struct redfish_power *power, struct diag *diag)
{
	return diag_set(diag, -ENODATA, "the BMC has no power in %s of %s at the moment",
			redfish_method_name(power->method), power->chassis.text);
}

static void read_value(const struct redfish_power *power, const json_t *object,
		       struct redfish_reading *ret)
{
	struct redfish_path unused;

	*ret = (struct redfish_reading){ 0 };
	if (power->method == REDFISH_ENVIRONMENT)
		redfish_environment_read(object, ret, &unused);
	else if (power->method == REDFISH_SUPPLIES)
		redfish_supply_metrics_read(object, ret);
	else if (power->method == REDFISH_POWER_CONTROL)
		redfish_power_control_read(object, ret);
	else if (power->method == REDFISH_SENSOR)
		redfish_sensor_read(object, ret);
	if (!ret->window_ns)
		ret->window_ns = power->window_ns;
}

int redfish_power_read(struct redfish_client *client, const struct redfish_power *power,
		       struct redfish_reading *ret, struct diag *diag)
{
	struct redfish_reading sum = { 0 };

	for (size_t i = 0; i < power->path_count; i++) {
		CLEANUP(answer_object_release) json_t *object = NULL;
		struct redfish_reading reading;
		int r = redfish_client_get(client, &power->paths[i], &object, diag);

		if (r < 0)
			return r;
		read_value(power, object, &reading);
		if (!reading.has_power && power->path_count > 1)
			return no_value(power, diag);
		reading.power_uw += sum.power_uw;
		sum = reading;
	}
	/* A machine that asks its BMC draws some: BMCs say 0 W where they do not know. */
	sum.has_power &= sum.power_uw > 0;
	if (!sum.has_power && !sum.has_energy)
		return no_value(power, diag);
	*ret = sum;
	return 0;
}

/* ---- the search for power in a chassis ---- */

/* Whether the service has gone, or refuses us, so that no more is asked. */
static bool ends_search(int r)
{
	return r < 0 && r != -ENOENT && r != -ENODATA && r != -EBADMSG && r != -EPROTO &&
	       r != -EMSGSIZE;
}

/* Of one resource: 0 where it has a value. */
static int try_one(struct redfish_client *client, enum redfish_method method,
		   const struct redfish_path *path, struct redfish_power *power, struct diag *diag)
{
	struct redfish_reading reading;
	int r;

	if (!path->text[0])
		return -ENOENT;
	power->method = method;
	power->paths[0] = *path;
	power->path_count = 1;
	r = redfish_power_read(client, power, &reading, diag);
	return r == 0 && !reading.has_power ? no_value(power, diag) : r;
}

/* How its power is averaged is said by the sensor behind it, which not every service has. */
static int learn_window(struct redfish_client *client, struct redfish_power *power,
			struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *metrics = NULL;
	CLEANUP(answer_object_release) json_t *sensor = NULL;
	struct redfish_reading reading;
	struct redfish_path path;
	int r = redfish_client_get(client, &power->paths[0], &metrics, diag);

	if (r < 0)
		return r;
	redfish_environment_read(metrics, &reading, &path);
	if (!path.text[0])
		return 0;
	r = redfish_client_get(client, &path, &sensor, diag);
	if (r < 0)
		return ends_search(r) ? r : 0;
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
	CLEANUP_FREE struct redfish_members *supplies = calloc(1, sizeof(*supplies));
	struct redfish_reading reading;
	struct redfish_path path;
	int r;

	if (!supplies)
		return -ENOMEM;
	if (!chassis->subsystem.text[0])
		return -ENOENT;
	r = redfish_client_get(client, &chassis->subsystem, &subsystem, diag);
	if (r < 0)
		return r;
	path = redfish_link(subsystem, "PowerSupplies");
	r = path.text[0] ? read_members(client, &path, supplies, diag) : -ENOENT;
	power->method = REDFISH_SUPPLIES;
	power->path_count = 0;
	for (size_t i = 0; r == 0 && i < supplies->count; i++) {
		CLEANUP(answer_object_release) json_t *supply = NULL;

		r = redfish_client_get(client, &supplies->paths[i], &supply, diag);
		if (r < 0 || redfish_supply_is_absent(supply))
			continue;
		path = redfish_link(supply, "Metrics");
		if (!path.text[0] || power->path_count == REDFISH_SUPPLIES_MAX)
			r = -ENODATA;
		else
			power->paths[power->path_count++] = path;
	}
	return r < 0 ? r : redfish_power_read(client, power, &reading, diag);
}

static int try_power_control(struct redfish_client *client, const struct redfish_chassis *chassis,
			     struct redfish_power *power, struct diag *diag)
{
	return try_one(client, REDFISH_POWER_CONTROL, &chassis->power, power, diag);
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
	r = read_members(client, &chassis->sensors, sensors, diag);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sensors->count && tried < SENSORS_MAX; i++) {
		if (!redfish_sensor_is_total(redfish_path_id(&sensors->paths[i])))
			continue;
		tried++;
		r = try_one(client, REDFISH_SENSOR, &sensors->paths[i], power, diag);
		if (r == 0 || ends_search(r))
			return r;
	}
	return -ENODATA;
}

/* 0; -ENODATA: there is none in it. */
static int find_in_chassis(struct redfish_client *client, const struct redfish_chassis *chassis,
			   struct redfish_power *ret, struct diag *diag)
{
	static int (*const methods[])(struct redfish_client * client,
				      const struct redfish_chassis *chassis,
				      struct redfish_power *power,
				      struct diag *diag) = { try_environment, try_supplies,
							     try_power_control, try_sensors };

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		struct redfish_power power = { .chassis = chassis->path };
		int r = methods[i](client, chassis, &power, diag);

		if (r == 0)
			*ret = power;
		if (r == 0 || ends_search(r))
			return r;
	}
	return -ENODATA;
}

/* ---- the search for the machine and its chassis ---- */

/* The ids of @members, for people. */
static void add_ids(const struct redfish_members *members, struct strbuf *out)
{
	for (size_t i = 0; i < members->count; i++) {
		strbuf_add_str(out, i ? ", " : "");
		strbuf_add_json(out, redfish_path_id(&members->paths[i]));
	}
}

static int choose_system(const struct redfish_members *systems, const char *id,
			 struct redfish_path *ret, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf ids = STRBUF_INIT;

	ret->text[0] = '\0';
	for (size_t i = 0; i < systems->count; i++) {
		if (*id ? strcmp(redfish_path_id(&systems->paths[i]), id) == 0
			: systems->count == 1)
			*ret = systems->paths[i];
	}
	if (ret->text[0] || (!*id && !systems->count))
		return 0;
	add_ids(systems, &ids);
	return diag_set(diag, -EXDEV,
			"the BMC has the machines %.200s; say which one is this with "
			"meter.redfish.system",
			ids.data ? ids.data : "(none)");
}

static int find_system(struct redfish_client *client, const json_t *root, const char *id,
		       struct redfish_path *ret, struct diag *diag)
{
	CLEANUP_FREE struct redfish_members *systems = calloc(1, sizeof(*systems));
	struct redfish_path path = redfish_link(root, "Systems");
	int r = 0;

	if (!systems)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (path.text[0])
		r = read_members(client, &path, systems, diag);
	return r < 0 ? r : choose_system(systems, id, ret, diag);
}

static int read_all_chassis(struct redfish_client *client, const json_t *root,
			    struct redfish_chassis *list, size_t *ret_count, struct diag *diag)
{
	CLEANUP_FREE struct redfish_members *members = calloc(1, sizeof(*members));
	struct redfish_path path = redfish_link(root, "Chassis");
	int r;

	*ret_count = 0;
	if (!members)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (!path.text[0])
		return diag_set(diag, -ENODATA, "the BMC has no chassis");
	r = read_members(client, &path, members, diag);
	if (r < 0)
		return r;
	for (size_t i = 0; i < members->count && *ret_count < CHASSIS_MAX; i++) {
		CLEANUP(answer_object_release) json_t *chassis = NULL;

		r = redfish_client_get(client, &members->paths[i], &chassis, diag);
		if (ends_search(r))
			return r;
		if (r == 0)
			redfish_chassis_read(chassis, &members->paths[i], &list[(*ret_count)++]);
	}
	return 0;
}

static int find_in_all(struct redfish_client *client, const struct redfish_chassis *list,
		       size_t count, const struct redfish_path *system, struct redfish_power *ret,
		       struct diag *diag)
{
	size_t order[CHASSIS_MAX], chosen;
	struct diag why = { "" };
	bool is_shared;

	chosen = redfish_chassis_choose(list, count, system, order, &is_shared);
	for (size_t i = 0; i < chosen; i++) {
		int r = find_in_chassis(client, &list[order[i]], ret, &why);

		if (ends_search(r))
			*diag = why;
		if (r == 0 || ends_search(r))
			return r;
	}
	if (is_shared)
		return diag_set(diag, -EXDEV,
				"the BMC has only the power of a chassis that several machines "
				"share, and not that of this one");
	return diag_set(diag, -ENODATA,
			"the BMC has no power of this machine (%zu chassis, %zu of it alone)",
			count, chosen);
}

int redfish_power_find(struct redfish_client *client, const char *system, struct redfish_power *ret,
		       struct diag *diag)
{
	CLEANUP_FREE struct redfish_chassis *list = calloc(CHASSIS_MAX, sizeof(*list));
	CLEANUP(answer_object_release) json_t *root = NULL;
	struct redfish_path ours;
	size_t count = 0;
	int r;

	if (!list)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = redfish_client_get_root(client, &root, diag);
	if (r == 0)
		r = find_system(client, root, system, &ours, diag);
	if (r == 0)
		r = read_all_chassis(client, root, list, &count, diag);
	return r < 0 ? r : find_in_all(client, list, count, &ours, ret, diag);
}
