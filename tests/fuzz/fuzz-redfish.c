// SPDX-License-Identifier: Apache-2.0
/*
 * An answer of a Redfish service, read as everything that it could be; and the same bytes as a file
 * with passwords. Accepted values are within their limits, and paths belong to the service.
 */
#include <stdlib.h>
#include <string.h>

#include "bmc/answer_object.h"
#include "bmc/redfish_answer.h"
#include "bmc/service_target.h"

#define POWER_MAX_UW  1000000000000ULL
#define WINDOW_MAX_NS 3600000000000ULL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(const struct redfish_path *path)
{
	if (path->text[0] && (strncmp(path->text, "/redfish/", 9) != 0 ||
			      strpbrk(path->text, " \r\n\t#") || !*redfish_path_id(path)))
		abort();
}

static void check_reading(const struct redfish_reading *reading)
{
	if (reading->has_power && reading->power_uw > POWER_MAX_UW)
		abort();
	if (reading->window_ns > WINDOW_MAX_NS)
		abort();
}

static void read_powers(const json_t *object)
{
	struct redfish_supply_power supply;
	struct redfish_reading reading;
	struct redfish_path path;

	redfish_environment_read(object, &reading, &path);
	check_reading(&reading);
	check_path(&path);
	redfish_power_control_read(object, &reading);
	check_reading(&reading);
	redfish_supply_metrics_read(object, &supply);
	if (supply.has_input && supply.input_uw > POWER_MAX_UW)
		abort();
	redfish_old_supplies_read(object, &reading);
	check_reading(&reading);
	redfish_sensor_read(object, &reading);
	check_reading(&reading);
}

static void read_places(const json_t *object)
{
	struct redfish_members *members = calloc(1, sizeof(*members));
	struct redfish_path path = redfish_link(object, "Systems");
	struct redfish_chassis chassis;
	size_t order[1];
	bool shared;

	check_path(&path);
	redfish_chassis_read(object, &path, &chassis);
	check_path(&chassis.power);
	if (redfish_chassis_choose(&chassis, 1, &path, true, order, &shared) > 1)
		abort();
	if (members) {
		(void)redfish_members_add(object, members);
		redfish_path_take_from("https://10.0.0.5", redfish_next_link(object), &path);
		check_path(&path);
		for (size_t i = 0; i < members->count; i++)
			check_path(&members->paths[i]);
	}
	free(members);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *object = answer_object((const char *)data, size);
	struct service_target target;

	if (object) {
		read_powers(object);
		read_places(object);
		(void)redfish_supply_is_absent(object);
		(void)redfish_supply_is_off(object);
		(void)redfish_sensor_is_total(redfish_message(object));
		json_decref(object);
	}
	if (service_target_parse("FILE", (const char *)data, size, "node", "", &target, NULL) ==
		    0 &&
	    (service_url_check(target.url, NULL) < 0 || !target.user[0] || !target.password[0]))
		abort();
	return 0;
}
