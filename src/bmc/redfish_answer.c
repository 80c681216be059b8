// SPDX-License-Identifier: Apache-2.0
#include "bmc/redfish_answer.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/num.h"
#include "bmc/answer_object.h"
#include "bmc/part_name.h"

#define WATTS_MAX    1e6 /* more than a rack draws */
#define KWH_MAX      4e6 /* 400 years of a kilowatt; more does not fit */
#define UW_PER_W     1e6
#define UJ_PER_KWH   3.6e12
#define WINDOW_MAX_S 3600.0
#define SERVICE      "/redfish/"
#define MINUTE_S     60

/* ---- paths ---- */

void redfish_path_take(const char *text, struct redfish_path *ret)
{
	size_t len = text ? strcspn(text, "#") : 0;

	*ret = (struct redfish_path){ .has_slash = len && text[len - 1] == '/' };
	while (len && text[len - 1] == '/')
		len--;
	if (len >= REDFISH_PATH_MAX || len <= strlen(SERVICE) ||
	    strncmp(text, SERVICE, strlen(SERVICE)) != 0)
		return;
	for (size_t i = 0; i < len; i++) {
		if (text[i] <= ' ' || text[i] > '~')
			return;
	}
	memcpy(ret->text, text, len);
	ret->text[len] = '\0';
}

bool redfish_path_is_same(const struct redfish_path *a, const struct redfish_path *b)
{
	return a->text[0] && strcmp(a->text, b->text) == 0;
}

const char *redfish_path_id(const struct redfish_path *path)
{
	const char *slash = strrchr(path->text, '/');

	return slash ? slash + 1 : path->text;
}

static struct redfish_path path_of(const json_t *reference)
{
	struct redfish_path path;

	redfish_path_take(json_string_value(json_object_get(reference, "@odata.id")), &path);
	return path;
}

struct redfish_path redfish_link(const json_t *object, const char *key)
{
	return path_of(json_object_get(object, key));
}

/* Some services send an object in place of an array of one. */
static size_t list_size(const json_t *list)
{
	return json_is_object(list) ? 1 : json_array_size(list);
}

static const json_t *list_get(const json_t *list, size_t i)
{
	return json_is_object(list) ? list : json_array_get(list, i);
}

/* The length of the service's own address at the beginning of @text; 0: it is another's. */
static size_t origin_length(const char *origin, const char *text)
{
	static const char port[] = ":443"; /* of https, with or without a word */
	size_t len = strlen(origin);

	if (len > strlen(port) && strcmp(origin + len - strlen(port), port) == 0)
		len -= strlen(port);
	if (strncasecmp(text, origin, len) != 0)
		return 0;
	if (strncmp(text + len, port, strlen(port)) == 0)
		len += strlen(port);
	return text[len] == '/' ? len : 0;
}

void redfish_path_take_from(const char *origin, const char *text, struct redfish_path *ret)
{
	redfish_path_take(text + origin_length(origin, text), ret);
}

/* The paths in @list, up to @max of them. */
static size_t read_paths(const json_t *list, struct redfish_path *ret, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < list_size(list) && count < max; i++) {
		ret[count] = path_of(list_get(list, i));
		count += ret[count].text[0] != '\0';
	}
	return count;
}

void redfish_members_leave_out(struct redfish_members *members, size_t count, const char *why)
{
	if (!members->left_out)
		members->why = why;
	members->left_out += count;
}

static bool has_member(const struct redfish_members *members, size_t from, size_t to,
		       const struct redfish_path *path)
{
	for (size_t i = from; i < to; i++) {
		if (redfish_path_is_same(&members->paths[i], path))
			return true;
	}
	return false;
}

/* A member that is twice on a page is listed twice; a member of an earlier page is not new. */
static void add_member(struct redfish_members *members, size_t before,
		       const struct redfish_path *path)
{
	if (has_member(members, 0, before, path))
		return;
	members->listed++;
	if (!path->text[0])
		redfish_members_leave_out(members, 1, "one has no path of this service");
	else if (has_member(members, before, members->count, path))
		return;
	else if (members->count == REDFISH_MEMBERS_MAX)
		redfish_members_leave_out(members, 1, "there are too many");
	else
		members->paths[members->count++] = *path;
}

void redfish_members_add_path(struct redfish_members *members, const struct redfish_path *path)
{
	add_member(members, members->count, path);
}

size_t redfish_members_add(const json_t *page, struct redfish_members *members)
{
	const json_t *list = json_object_get(page, "Members");
	size_t before = members->count;
	double total;

	for (size_t i = 0; i < list_size(list); i++) {
		struct redfish_path path = path_of(list_get(list, i));

		add_member(members, before, &path);
	}
	if (answer_number(json_object_get(page, "Members@odata.count"), UINT32_MAX, &total))
		members->total = (size_t)total;
	return members->count - before;
}

const char *redfish_next_link(const json_t *page)
{
	const char *next = answer_text(page, "Members@odata.nextLink");

	return *next ? next : answer_text(page, "@odata.nextLink");
}

const char *redfish_message(const json_t *error)
{
	const json_t *inner = json_object_get(error, "error");
	const json_t *extended = json_object_get(inner, "@Message.ExtendedInfo");
	const char *text =
		json_string_value(json_object_get(json_array_get(extended, 0), "Message"));

	if (!text)
		text = json_string_value(json_object_get(inner, "message"));
	return text ? text : "";
}

/* ---- values ---- */

/* A number in 0..max; some services send it as decimal text. */
static bool number_in(const json_t *value, double max, double *ret)
{
	double number;

	if (!json_is_string(value))
		return answer_number(value, max, ret);
	if (parse_double(json_string_value(value), &number) < 0 || !(number >= 0 && number <= max))
		return false;
	*ret = number;
	return true;
}

/* A value is the Reading of an object; some services send the bare value. */
static const json_t *reading_of(const json_t *value)
{
	return json_is_object(value) ? json_object_get(value, "Reading") : value;
}

static void take_watts(const json_t *value, struct redfish_reading *ret)
{
	double watts;

	ret->has_power = number_in(value, WATTS_MAX, &watts);
	if (ret->has_power)
		ret->power_uw = (uint64_t)llround(watts * UW_PER_W);
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++) {
		if (strcasecmp(text, *words) == 0)
			return true;
	}
	return false;
}

/*
 * A duration as in Redfish (DSP0266 §9.4.6; ISO 8601 without years and months): P1DT2H3M4.5S. 0 if
 * it is not one, or more than an hour.
 */
static uint64_t duration_ns(const char *text)
{
	static const struct {
		char unit;
		double seconds;
	} units[] = { { 'D', 86400 }, { 'H', 3600 }, { 'M', 60 }, { 'S', 1 } };
	double sum_s = 0;

	if (*text++ != 'P')
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t len;
		char digits[16];
		double number;

		if (*text == 'T')
			text++;
		len = strspn(text, "0123456789.");
		if (!len || text[len] != units[i].unit || len >= sizeof(digits))
			continue;
		memcpy(digits, text, len);
		digits[len] = '\0';
		if (parse_double(digits, &number) < 0)
			return 0;
		sum_s += number * units[i].seconds;
		text += len + 1;
	}
	return *text || sum_s > WINDOW_MAX_S ? 0 : (uint64_t)(sum_s * (double)NSEC_PER_SEC);
}

/* ---- chassis ---- */

void redfish_chassis_read(const json_t *chassis, const struct redfish_path *path,
			  struct redfish_chassis *ret)
{
	static const char *const components[] = { "Component", "Module", "Card",      "Zone",
						  "Cartridge", "Row",    "Expansion", NULL };
	static const char *const outside[] = { "Rack",          "Row",           "Pod",
					       "RackGroup",     "PowerStrip",    "StorageEnclosure",
					       "HeatExchanger", "ImmersionTank", NULL };
	const json_t *links = json_object_get(chassis, "Links");
	const char *type = answer_text(chassis, "ChassisType");

	*ret = (struct redfish_chassis){
		.path = *path,
		.contained_by = redfish_link(links, "ContainedBy"),
		.is_component = is_one_of(type, components),
		.is_outside = is_one_of(type, outside),
		.environment = redfish_link(chassis, "EnvironmentMetrics"),
		.subsystem = redfish_link(chassis, "PowerSubsystem"),
		.power = redfish_link(chassis, "Power"),
		.sensors = redfish_link(chassis, "Sensors"),
	};
	ret->system_count = read_paths(json_object_get(links, "ComputerSystems"), ret->systems,
				       REDFISH_SYSTEMS_MAX);
}

static bool holds(const struct redfish_chassis *chassis, const struct redfish_path *system)
{
	for (size_t i = 0; i < chassis->system_count; i++) {
		if (redfish_path_is_same(&chassis->systems[i], system))
			return true;
	}
	return false;
}

/* A chassis without links is own where the service has no other system. */
static bool is_own(const struct redfish_chassis *chassis, const struct redfish_path *system,
		   bool is_only)
{
	if (chassis->system_count == 0)
		return is_only && !chassis->is_outside;
	return chassis->system_count == 1 && holds(chassis, system);
}

#define DISTANCE_MAX 3

/* How far it is from being all of the machine: in another one of the machine's, or a component. */
static unsigned distance(const struct redfish_chassis *list, size_t count,
			 const struct redfish_chassis *chassis, const struct redfish_path *system,
			 bool is_only)
{
	unsigned sum = chassis->is_component ? 2 : 0;

	for (size_t i = 0; i < count; i++) {
		if (is_own(&list[i], system, is_only) &&
		    redfish_path_is_same(&list[i].path, &chassis->contained_by))
			return sum + 1;
	}
	return sum;
}

/* How many of the chassis may be a machine each. */
static size_t machine_count(const struct redfish_chassis *list, size_t count,
			    const struct redfish_path *system, bool is_only)
{
	size_t machines = 0;

	for (size_t i = 0; i < count; i++)
		machines += is_own(&list[i], system, is_only) &&
			    distance(list, count, &list[i], system, is_only) == 0;
	return machines;
}

size_t redfish_chassis_choose(const struct redfish_chassis *list, size_t count,
			      const struct redfish_path *system, bool is_only, size_t *order,
			      bool *ret_shared)
{
	size_t machines = machine_count(list, count, system, is_only), chosen = 0;
	bool any_links = false;

	*ret_shared = !system->text[0] && machines > 1;
	if (!system->text[0] && machines != 1)
		return 0;
	for (size_t i = 0; i < count; i++) {
		any_links |= list[i].system_count > 0;
		*ret_shared |= list[i].system_count > 1 && holds(&list[i], system);
	}
	for (unsigned step = 0; step < 2 * (DISTANCE_MAX + 1); step++) {
		bool has_links = step <= DISTANCE_MAX;

		for (size_t i = 0; i < count; i++) {
			if ((list[i].system_count > 0) != has_links ||
			    (any_links && !has_links && list[i].is_component))
				continue;
			if (is_own(&list[i], system, is_only) &&
			    distance(list, count, &list[i], system, is_only) ==
				    step % (DISTANCE_MAX + 1))
				order[chosen++] = i;
		}
	}
	return chosen;
}

/* ---- power ---- */

void redfish_environment_read(const json_t *metrics, struct redfish_reading *ret,
			      struct redfish_path *ret_sensor)
{
	const json_t *power = json_object_get(metrics, "PowerWatts");
	const json_t *energy = json_object_get(metrics, "EnergykWh");
	double kwh;

	*ret = (struct redfish_reading){ 0 };
	take_watts(reading_of(power), ret);
	ret->has_energy = number_in(reading_of(energy), KWH_MAX, &kwh);
	if (ret->has_energy)
		ret->energy_uj = (uint64_t)(kwh * UJ_PER_KWH);
	redfish_path_take(answer_text(power, "DataSourceUri"), ret_sensor);
}

/* By its context; where it has none by its name. */
static bool is_of_a_part(const json_t *object)
{
	static const char *const parts[] = { "CPU",
					     "CPUSubsystem",
					     "Memory",
					     "MemorySubsystem",
					     "GPU",
					     "GPUSubsystem",
					     "Fan",
					     "CoolingSubsystem",
					     "StorageBay",
					     "StorageDevice",
					     "Storage",
					     "StorageSubsystem",
					     "Accelerator",
					     "ASIC",
					     "FPGA",
					     "NetworkBay",
					     "NetworkingDevice",
					     "ExpansionBay",
					     "ExpansionSubsystem",
					     "VoltageRegulator",
					     "Backplane",
					     "Pump",
					     NULL };

	const char *context = answer_text(object, "PhysicalContext");

	return *context ? is_one_of(context, parts)
			: part_name_is_of_a_part(answer_text(object, "Name"));
}

void redfish_power_control_read(const json_t *power, struct redfish_reading *ret)
{
	const json_t *controls = json_object_get(power, "PowerControl"), *control = NULL, *metrics;
	double minutes;

	*ret = (struct redfish_reading){ 0 };
	for (size_t i = 0; i < list_size(controls) && !control; i++) {
		const json_t *candidate = list_get(controls, i);

		control = is_of_a_part(candidate) ? NULL : candidate;
	}
	take_watts(json_object_get(control, "PowerConsumedWatts"), ret);
	if (ret->has_power)
		return;
	metrics = json_object_get(control, "PowerMetrics");
	if (!metrics)
		metrics = json_object_get(control, "PowerMetric");
	if (!number_in(json_object_get(metrics, "IntervalInMin"), WINDOW_MAX_S / MINUTE_S,
		       &minutes) ||
	    minutes <= 0)
		return;
	take_watts(json_object_get(metrics, "AverageConsumedWatts"), ret);
	ret->window_ns = (uint64_t)llround(minutes * MINUTE_S * (double)NSEC_PER_SEC);
}

bool redfish_supply_is_absent(const json_t *supply)
{
	return strcmp(answer_text(json_object_get(supply, "Status"), "State"), "Absent") == 0;
}

bool redfish_supply_is_off(const json_t *supply)
{
	static const char *const states[] = { "Absent",         "UnavailableOffline",
					      "StandbyOffline", "StandbySpare",
					      "Disabled",       NULL };

	return is_one_of(answer_text(json_object_get(supply, "Status"), "State"), states);
}

static bool take_uw(const json_t *value, uint64_t *ret_uw)
{
	struct redfish_reading reading = { .has_power = false };

	take_watts(value, &reading);
	*ret_uw = reading.power_uw;
	return reading.has_power;
}

void redfish_supply_metrics_read(const json_t *metrics, struct redfish_supply_power *ret)
{
	ret->has_input =
		take_uw(reading_of(json_object_get(metrics, "InputPowerWatts")), &ret->input_uw);
	ret->has_output =
		take_uw(reading_of(json_object_get(metrics, "OutputPowerWatts")), &ret->output_uw);
}

static void read_old_supply(const json_t *supply, struct redfish_supply_power *ret)
{
	ret->has_input = take_uw(json_object_get(supply, "PowerInputWatts"), &ret->input_uw);
	ret->has_output = take_uw(json_object_get(supply, "PowerOutputWatts"), &ret->output_uw) ||
			  take_uw(json_object_get(supply, "LastPowerOutputWatts"), &ret->output_uw);
}

void redfish_supply_sum_add(struct redfish_supply_sum *sum, const struct redfish_supply_power *one,
			    bool is_off)
{
	/* A supply with output has input: then 0 means that the input is unknown. */
	bool has_input = one->has_input && (one->input_uw || !one->has_output || !one->output_uw);

	sum->power.has_input |= has_input;
	sum->power.has_output |= one->has_output;
	sum->power.input_uw += has_input ? one->input_uw : 0;
	sum->power.output_uw += one->has_output ? one->output_uw : 0;
	sum->lacks_input |= !has_input && !is_off;
	sum->lacks_output |= !one->has_output && !is_off;
}

void redfish_supply_sum_read(const struct redfish_supply_sum *sum, struct redfish_reading *ret)
{
	const struct redfish_supply_power *power = &sum->power;

	*ret = (struct redfish_reading){ .is_output = !power->has_input };
	ret->power_uw = ret->is_output ? power->output_uw : power->input_uw;
	ret->has_power =
		ret->is_output ? power->has_output && !sum->lacks_output : !sum->lacks_input;
	ret->has_power &= ret->power_uw <= (uint64_t)(WATTS_MAX * UW_PER_W);
	if (!ret->has_power)
		*ret = (struct redfish_reading){ 0 };
}

void redfish_old_supplies_read(const json_t *power, struct redfish_reading *ret)
{
	const json_t *supplies = json_object_get(power, "PowerSupplies");
	struct redfish_supply_sum sum = { 0 };

	for (size_t i = 0; i < list_size(supplies); i++) {
		const json_t *supply = list_get(supplies, i);
		struct redfish_supply_power one;

		read_old_supply(supply, &one);
		redfish_supply_sum_add(&sum, &one, redfish_supply_is_off(supply));
	}
	redfish_supply_sum_read(&sum, ret);
}

void redfish_sensor_read(const json_t *sensor, struct redfish_reading *ret)
{
	const char *units = answer_text(sensor, "ReadingUnits");

	*ret = (struct redfish_reading){ 0 };
	if (strcmp(answer_text(sensor, "ReadingType"), "Power") != 0 ||
	    (*units && strcmp(units, "W") != 0) || is_of_a_part(sensor))
		return;
	take_watts(json_object_get(sensor, "Reading"), ret);
	ret->window_ns = duration_ns(answer_text(sensor, "AveragingInterval"));
}

bool redfish_sensor_is_total(const char *id)
{
	static const char *const power[] = { "power", "pwr", "watts" };
	static const char *const whole[] = { "total", "sys", "chassis", "node", "platform" };
	bool is_power = false, is_whole = false;

	if (part_name_is_of_a_part(id))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(power); i++)
		is_power |= strcasestr(id, power[i]) != NULL;
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		is_whole |= strcasestr(id, whole[i]) != NULL;
	return is_power && is_whole;
}
