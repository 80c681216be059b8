// SPDX-License-Identifier: Apache-2.0
#include "bmc/redfish_power.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "bmc/answer_object.h"

#define CHASSIS_MAX 64 /* that are looked at; more are counted */
#define SENSORS_MAX 16 /* that are looked at, of those whose name fits */
#define PAGES_MAX   32 /* of a collection */

const char *redfish_method_name(enum redfish_method method)
{
	static const char *const names[] = {
		"nothing",      "EnvironmentMetrics",     "PowerSupplies",
		"PowerControl", "PowerSupplies of Power", "Sensors"
	};

	return names[method];
}

static int read_members(struct redfish_client *client, const struct redfish_path *collection,
			struct redfish_members *ret, struct diag *diag)
{
	struct redfish_path page = *collection;

	*ret = (struct redfish_members){ 0 };
	for (unsigned i = 0; i < PAGES_MAX && page.text[0]; i++) {
		CLEANUP(answer_object_release) json_t *object = NULL;
		int r = redfish_client_get(client, &page, &object, diag);

		if (r < 0)
			return r;
		redfish_members_add(object, ret, &page);
	}
	ret->left_out += page.text[0] != '\0'; /* at least */
	return 0;
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
	else if (power->method == REDFISH_OLD_SUPPLIES)
		redfish_old_supplies_read(object, ret);
	else if (power->method == REDFISH_SENSOR)
		redfish_sensor_read(object, ret);
	if (!ret->window_ns)
		ret->window_ns = power->window_ns;
}

static int read_one(struct redfish_client *client, const struct redfish_power *power, size_t i,
		    struct redfish_reading *ret, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *object = NULL;
	int r = redfish_client_get(client, &power->paths[i], &object, diag);

	if (r == 0)
		read_value(power, object, ret);
	return r;
}

/* Asked in each reading anew: a supply gets its mains back at any time. */
static int check_is_off(struct redfish_client *client, const struct redfish_power *power, size_t i,
			struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *supply = NULL;
	int r = redfish_client_get(client, &power->supplies[i], &supply, diag);

	if (r == 0 && !redfish_supply_is_off(supply))
		r = no_value(power, diag);
	return r;
}

/* A supply that is off and has no value adds nothing; of any other one the value is needed. */
static int read_supplies(struct redfish_client *client, const struct redfish_power *power,
			 struct redfish_reading *ret, struct diag *diag)
{
	for (size_t i = 0; i < power->path_count; i++) {
		struct redfish_reading reading = { 0 };
		int r = power->paths[i].text[0] ? read_one(client, power, i, &reading, diag)
						: -ENOENT;

		if (r < 0 && r != -ENOENT)
			return r;
		if (!reading.has_power)
			r = check_is_off(client, power, i, diag);
		else
			r = 0;
		if (r < 0)
			return r;
		ret->has_power |= reading.has_power;
		ret->power_uw += reading.has_power ? reading.power_uw : 0;
	}
	return 0;
}

int redfish_power_read(struct redfish_client *client, const struct redfish_power *power,
		       struct redfish_reading *ret, struct diag *diag)
{
	struct redfish_reading sum = { 0 };
	int r = 0;

	if (power->method == REDFISH_SUPPLIES)
		r = read_supplies(client, power, &sum, diag);
	else if (power->path_count)
		r = read_one(client, power, 0, &sum, diag);
	if (r < 0)
		return r;
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
	struct redfish_reading reading = { .has_power = false };
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
		if (power->path_count == REDFISH_SUPPLIES_MAX)
			return -ENODATA;
		power->supplies[power->path_count] = supplies->paths[i];
		power->paths[power->path_count++] = redfish_link(supply, "Metrics");
	}
	if (supplies->left_out)
		return -ENODATA;
	return r < 0 ? r : redfish_power_read(client, power, &reading, diag);
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
	r = read_members(client, &chassis->sensors, sensors, diag);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sensors->count && tried < SENSORS_MAX; i++) {
		const char *id = redfish_path_id(&sensors->paths[i]);

		if (!redfish_sensor_is_total(id) || redfish_sensor_names_a_part(id))
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
				      struct redfish_power *power, struct diag *diag) = {
		try_environment, try_supplies, try_power_control, try_old_supplies, try_sensors
	};

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
			: systems->count == 1 && !systems->left_out)
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
		       struct redfish_path *ret, bool *ret_only, struct diag *diag)
{
	CLEANUP_FREE struct redfish_members *systems = calloc(1, sizeof(*systems));
	struct redfish_path path = redfish_link(root, "Systems");
	int r = 0;

	if (!systems)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (path.text[0])
		r = read_members(client, &path, systems, diag);
	*ret_only = systems->count + systems->left_out <= 1;
	return r < 0 ? r : choose_system(systems, id, ret, diag);
}

struct chassis_list {
	struct redfish_chassis chassis[CHASSIS_MAX];
	size_t count, left_out;
};

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
	r = read_members(client, &path, members, diag);
	if (r < 0)
		return r;
	list->left_out = members->left_out;
	for (size_t i = 0; i < members->count; i++) {
		CLEANUP(answer_object_release) json_t *chassis = NULL;

		if (list->count == CHASSIS_MAX) {
			list->left_out += members->count - i;
			break;
		}
		r = redfish_client_get(client, &members->paths[i], &chassis, diag);
		if (ends_search(r))
			return r;
		if (r == 0)
			redfish_chassis_read(chassis, &members->paths[i],
					     &list->chassis[list->count++]);
	}
	return 0;
}

static int find_in_all(struct redfish_client *client, const struct chassis_list *list,
		       const struct redfish_path *system, bool is_only, struct redfish_power *ret,
		       struct diag *diag)
{
	size_t order[CHASSIS_MAX], chosen;
	struct diag why = { "" };
	bool is_shared;

	chosen = redfish_chassis_choose(list->chassis, list->count, system, is_only, order,
					&is_shared);
	for (size_t i = 0; i < chosen; i++) {
		int r = find_in_chassis(client, &list->chassis[order[i]], ret, &why);

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
			"the BMC has no power of this machine (%zu chassis read, %zu of it alone, "
			"%zu not read because the table of chassis is full)",
			list->count, chosen, list->left_out);
}

int redfish_power_find(struct redfish_client *client, const char *system, struct redfish_power *ret,
		       struct diag *diag)
{
	CLEANUP_FREE struct chassis_list *list = calloc(1, sizeof(*list));
	CLEANUP(answer_object_release) json_t *root = NULL;
	struct redfish_path ours;
	bool is_only = false;
	int r;

	if (!list)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = redfish_client_get_root(client, &root, diag);
	if (r == 0)
		r = find_system(client, root, system, &ours, &is_only, diag);
	if (r == 0)
		r = read_all_chassis(client, root, list, diag);
	return r < 0 ? r : find_in_all(client, list, &ours, is_only, ret, diag);
}
