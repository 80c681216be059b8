// SPDX-License-Identifier: Apache-2.0
/* Answers as services send them, by DMTF's public schemas; the data is our own. */
#include "bmc/redfish_answer.h"

#include "base/num.h"
#include "bmc/answer_object.h"
#include "tests/unit/unit.h"

#define WATT 1000000

static json_t *parse(const char *text)
{
	json_t *object = answer_object(text, strlen(text));

	assert_non_null(object);
	return object;
}

static struct redfish_path path(const char *text)
{
	struct redfish_path ret;

	redfish_path_take(text, &ret);
	return ret;
}

/* ---- power ---- */

static struct redfish_reading control(const char *text)
{
	json_t *object = parse(text);
	struct redfish_reading reading;

	redfish_power_control_read(object, &reading);
	json_decref(object);
	return reading;
}

static void power_control_of_each_vendor(void **state)
{
	struct redfish_reading idrac =
		control("{\"PowerControl\":[{\"PowerConsumedWatts\":286,\"PowerMetrics\":"
			"{\"AverageConsumedWatts\":280,\"IntervalInMin\":1}}]}");
	struct redfish_reading ilo =
		control("{\"PowerControl\":[{\"PowerConsumedWatts\":null,\"PowerMetrics\":"
			"{\"AverageConsumedWatts\":201,\"IntervalInMin\":20}}]}");
	struct redfish_reading xcc = control(
		"{\"PowerControl\":[{\"PowerConsumedWatts\":80,\"PhysicalContext\":\"CPU\"},"
		"{\"PowerConsumedWatts\":344.5},{\"PowerConsumedWatts\":40,\"PhysicalContext\":"
		"\"Memory\"}]}");

	assert_true(idrac.has_power);
	assert_int_equal(idrac.power_uw, 286 * WATT);
	assert_int_equal(idrac.window_ns, 0);
	assert_int_equal(ilo.power_uw, 201 * WATT);
	assert_int_equal(ilo.window_ns, 1200 * NSEC_PER_SEC);
	assert_int_equal(xcc.power_uw, 344 * WATT + WATT / 2);
}

static void an_answer_without_power_has_no_value(void **state)
{
	static const char *const texts[] = {
		"{}",
		"{\"PowerControl\":null}",
		"{\"PowerControl\":[]}",
		"{\"PowerControl\":[7]}",
		"{\"PowerControl\":[{}]}",
		"{\"PowerControl\":[{\"PowerConsumedWatts\":null}]}",
		"{\"PowerControl\":[{\"PowerConsumedWatts\":\"N/A\"}]}",
		"{\"PowerControl\":[{\"PowerConsumedWatts\":\"\"}]}",
		"{\"PowerControl\":[{\"PowerConsumedWatts\":\"231 W\"}]}",
		"{\"PowerControl\":[{\"PowerConsumedWatts\":\"-5\"}]}",
		"{\"PowerControl\":{}}",
		"{\"PowerControl\":[{\"PowerConsumedWatts\":-1}]}",
		"{\"PowerControl\":[{\"PowerConsumedWatts\":1e300}]}",
		"{\"PowerControl\":[{\"PowerConsumedWatts\":true}]}",
		/* a mean over an unknown time, or over none */
		"{\"PowerControl\":[{\"PowerMetrics\":{\"AverageConsumedWatts\":5}}]}",
		"{\"PowerControl\":[{\"PowerMetrics\":{\"AverageConsumedWatts\":5,"
		"\"IntervalInMin\":0}}]}",
		/* power of a part alone */
		"{\"PowerControl\":[{\"PowerConsumedWatts\":80,\"PhysicalContext\":\"CPU\"}]}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (control(texts[i]).has_power)
			fail_msg("%s", texts[i]);
	}
	assert_true(control("{\"PowerControl\":[{\"PowerConsumedWatts\":0}]}").has_power);
}

static void deviations_from_the_schema_are_read(void **state)
{
	struct redfish_reading mean =
		control("{\"PowerControl\":[{\"PowerMetric\":{\"AverageConsumedWatts\":\"5\","
			"\"IntervalInMin\":\"0.08\"}}]}");
	json_t *bare = parse("{\"PowerWatts\":\"12\",\"EnergykWh\":\"2.5\"}");
	struct redfish_reading reading;
	struct redfish_path sensor;

	assert_int_equal(control("{\"PowerControl\":{\"PowerConsumedWatts\":5}}").power_uw,
			 5 * WATT);
	assert_int_equal(
		control("{\"PowerControl\":[{\"PowerConsumedWatts\":\"231.5\"}]}").power_uw,
		231 * WATT + WATT / 2);
	assert_int_equal(mean.power_uw, 5 * WATT);
	assert_int_equal(mean.window_ns, 4800 * NSEC_PER_MSEC);
	redfish_environment_read(bare, &reading, &sensor);
	assert_int_equal(reading.power_uw, 12 * WATT);
	assert_int_equal(reading.energy_uj, 9000000ULL * WATT);
	json_decref(bare);
}

static void environment_has_power_and_a_counter(void **state)
{
	json_t *object = parse("{\"PowerWatts\":{\"Reading\":374.25,\"DataSourceUri\":"
			       "\"/redfish/v1/Chassis/1/Sensors/P\"},"
			       "\"EnergykWh\":{\"Reading\":2.5}}");
	struct redfish_reading reading;
	struct redfish_path sensor;

	redfish_environment_read(object, &reading, &sensor);
	assert_true(reading.has_power && reading.has_energy);
	assert_int_equal(reading.power_uw, 374 * WATT + WATT / 4);
	assert_int_equal(reading.energy_uj, 9000000ULL * WATT);
	assert_string_equal(sensor.text, "/redfish/v1/Chassis/1/Sensors/P");
	json_decref(object);
	object = parse("{\"PowerWatts\":{\"Reading\":null},\"EnergykWh\":{\"Reading\":1e9}}");
	redfish_environment_read(object, &reading, &sensor);
	assert_false(reading.has_power || reading.has_energy);
	assert_string_equal(sensor.text, "");
	json_decref(object);
}

static void supplies(void **state)
{
	json_t *bay = parse("{\"Status\":{\"State\":\"Absent\"}}");
	json_t *supply = parse("{\"Status\":{\"State\":\"Enabled\"}}");
	json_t *metrics = parse("{\"InputPowerWatts\":{\"Reading\":120.5},"
				"\"OutputPowerWatts\":{\"Reading\":110}}");
	json_t *output = parse("{\"OutputPowerWatts\":{\"Reading\":110}}");
	struct redfish_supply_power power;

	assert_true(redfish_supply_is_absent(bay));
	assert_false(redfish_supply_is_absent(supply));
	redfish_supply_metrics_read(metrics, &power);
	assert_true(power.has_input && power.has_output);
	assert_int_equal(power.input_uw, 120 * WATT + WATT / 2);
	redfish_supply_metrics_read(output, &power);
	assert_true(!power.has_input && power.has_output);
	assert_int_equal(power.output_uw, 110 * WATT);
	json_decref(bay);
	json_decref(supply);
	json_decref(metrics);
	json_decref(output);
}

static struct redfish_reading old_supplies(const char *text)
{
	json_t *object = parse(text);
	struct redfish_reading reading;

	redfish_old_supplies_read(object, &reading);
	json_decref(object);
	return reading;
}

static void supplies_that_are_off_need_no_value(void **state)
{
	static const char *const off[] = { "Absent", "UnavailableOffline", "StandbyOffline",
					   "StandbySpare", "Disabled" };

	for (size_t i = 0; i < ARRAY_SIZE(off); i++) {
		char text[256];
		json_t *supply;

		(void)snprintf(text, sizeof(text), "{\"Status\":{\"State\":\"%s\"}}", off[i]);
		supply = parse(text);
		assert_true(redfish_supply_is_off(supply));
		json_decref(supply);
		(void)snprintf(text, sizeof(text),
			       "{\"PowerSupplies\":[{\"PowerInputWatts\":90},"
			       "{\"PowerInputWatts\":null,\"Status\":{\"State\":\"%s\"}}]}",
			       off[i]);
		assert_int_equal(old_supplies(text).power_uw, 90 * WATT);
	}
	assert_int_equal(old_supplies("{\"PowerSupplies\":[{\"PowerInputWatts\":90},"
				      "{\"PowerInputWatts\":60.5}]}")
				 .power_uw,
			 150 * WATT + WATT / 2);
	assert_false(old_supplies("{\"PowerSupplies\":[{\"PowerInputWatts\":90},"
				  "{\"Status\":{\"State\":\"Enabled\"}}]}")
			     .has_power);
	assert_false(old_supplies("{\"PowerSupplies\":[{\"PowerInputWatts\":90},{}]}").has_power);
	assert_false(old_supplies("{}").has_power);
}

static void sensors_of_parts_are_not_the_machine(void **state)
{
	static const char *const parts[] = { "GPU", "Fan", "CPU", "Memory", "Accelerator" };
	struct redfish_reading reading;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		char text[128];
		json_t *object;

		(void)snprintf(text, sizeof(text),
			       "{\"ReadingType\":\"Power\",\"Reading\":42,"
			       "\"PhysicalContext\":\"%s\"}",
			       parts[i]);
		object = parse(text);
		redfish_sensor_read(object, &reading);
		assert_false(reading.has_power);
		json_decref(object);
	}
	assert_false(redfish_sensor_is_total("HGX_Chassis_0_TotalGPU_Power_0"));
	assert_false(redfish_sensor_is_total("Sys_Fan_Pwr"));
	assert_true(redfish_sensor_is_total("PDB_0_Total_Power_0"));
	assert_true(redfish_sensor_is_total("SystemEmbeddedPower"));
}

/* The context decides; without one, the name. */
static void names_of_parts_are_not_the_machine(void **state)
{
	assert_int_equal(control("{\"PowerControl\":[{\"Name\":\"CPU Sub-system Power\","
				 "\"PowerConsumedWatts\":80},{\"Name\":\"Server Power Control\","
				 "\"PowerConsumedWatts\":300}]}")
				 .power_uw,
			 300 * WATT);
	assert_int_equal(control("{\"PowerControl\":[{\"Name\":\"Fan Wall Board\","
				 "\"PhysicalContext\":\"SystemBoard\","
				 "\"PowerConsumedWatts\":300}]}")
				 .power_uw,
			 300 * WATT);
	assert_false(control("{\"PowerControl\":[{\"Name\":\"System Power\","
			     "\"PhysicalContext\":\"Memory\",\"PowerConsumedWatts\":40}]}")
			     .has_power);
}

static struct redfish_reading sensor(const char *type, const char *units, const char *interval)
{
	struct redfish_reading reading;
	char text[256];
	json_t *object;

	(void)snprintf(text, sizeof(text),
		       "{\"ReadingType\":\"%s\",\"ReadingUnits\":\"%s\",\"Reading\":42,"
		       "\"AveragingInterval\":\"%s\"}",
		       type, units, interval);
	object = parse(text);
	redfish_sensor_read(object, &reading);
	json_decref(object);
	return reading;
}

static void sensors(void **state)
{
	static const struct {
		const char *text;
		uint64_t window_ms;
	} windows[] = { { "PT30S", 30000 },  { "PT1M30S", 90000 }, { "PT0.5S", 500 },
			{ "PT1H", 3600000 }, { "P1D", 0 },         { "PT", 0 },
			{ "30", 0 },         { "PT5X", 0 },        { "PT1S1M", 0 } };

	assert_int_equal(sensor("Power", "W", "").power_uw, 42 * WATT);
	assert_true(sensor("Power", "", "").has_power);
	assert_false(sensor("Power", "kW", "").has_power);
	assert_false(sensor("Temperature", "W", "").has_power);
	for (size_t i = 0; i < ARRAY_SIZE(windows); i++)
		assert_int_equal(sensor("Power", "W", windows[i].text).window_ns,
				 windows[i].window_ms * NSEC_PER_MSEC);
	assert_true(redfish_sensor_is_total("power_total_power"));
	assert_true(redfish_sensor_is_total("SysBoardPwrConsumption"));
	assert_false(redfish_sensor_is_total("power_PSU0_input_power"));
	assert_false(redfish_sensor_is_total("total_airflow"));
}

/* ---- paths ---- */

static void paths_are_of_the_service(void **state)
{
	static const char *const wrong[] = { "",
					     "/",
					     "/redfish/",
					     "redfish/v1",
					     "//other.example/redfish/v1",
					     "@other.example/redfish/v1",
					     "https://other.example/redfish/v1",
					     "/redfish/v1/a b",
					     "/redfish/v1/a\r\nX: y" };
	char longest[REDFISH_PATH_MAX + 8];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_string_equal(path(wrong[i]).text, "");
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "/redfish/", 9);
	longest[REDFISH_PATH_MAX] = '\0';
	assert_string_equal(path(longest).text, "");
	longest[REDFISH_PATH_MAX - 1] = '\0';
	assert_string_equal(path(longest).text, longest);
	assert_string_equal(path("/redfish/v1/Chassis/1/Power#/PowerControl/0").text,
			    "/redfish/v1/Chassis/1/Power");
	assert_string_equal(path("/redfish/v1/Chassis/1/").text, "/redfish/v1/Chassis/1");
	assert_true(path("/redfish/v1/Chassis/1/").has_slash);
	assert_false(path("/redfish/v1/Chassis/1").has_slash);
}

static void only_objects_are_answers(void **state)
{
	static const char *const wrong[] = { "", "[1]", "5", "{", "{\"a\":}", "<html>", "{} {}" };
	char deep[512];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_null(answer_object(wrong[i], strlen(wrong[i])));
	memset(deep, '[', sizeof(deep));
	assert_null(answer_object(deep, sizeof(deep)));
	assert_null(answer_object(NULL, 0));
}

static void members_beyond_the_limit_are_left_out(void **state)
{
	struct redfish_members *members = calloc(1, sizeof(*members));
	json_t *array = json_array(), *object = json_object();

	assert_non_null(members);
	for (unsigned i = 0; i < REDFISH_MEMBERS_MAX + 5; i++) {
		char text[64];

		(void)snprintf(text, sizeof(text), "%s/%u", i == 1 ? "elsewhere" : "/redfish/v1/x",
			       i);
		assert_int_equal(
			json_array_append_new(array, json_pack("{s:s}", "@odata.id", text)), 0);
	}
	assert_int_equal(json_object_set_new(object, "Members", array), 0);
	assert_int_equal(redfish_members_add(object, members), REDFISH_MEMBERS_MAX);
	assert_int_equal(members->count, REDFISH_MEMBERS_MAX);
	assert_int_equal(members->left_out, 1 + 4);
	assert_int_equal(members->listed, REDFISH_MEMBERS_MAX + 5);
	assert_string_equal(redfish_next_link(object), "");
	json_decref(object);
	free(members);
}

static void errors_have_a_message(void **state)
{
	json_t *extended = parse("{\"error\":{\"message\":\"see more\",\"@Message.ExtendedInfo\":"
				 "[{\"Message\":\"no place\"}]}}");
	json_t *plain = parse("{\"error\":{\"message\":\"see more\"}}");
	json_t *none = parse("{\"error\":[]}");

	assert_string_equal(redfish_message(extended), "no place");
	assert_string_equal(redfish_message(plain), "see more");
	assert_string_equal(redfish_message(none), "");
	assert_string_equal(redfish_message(NULL), "");
	json_decref(extended);
	json_decref(plain);
	json_decref(none);
}

/* ---- the chassis of a machine ---- */

#define SYSTEM(id)  "{\"@odata.id\":\"/redfish/v1/Systems/" id "\"}"
#define INSIDE(id)  ",\"ContainedBy\":{\"@odata.id\":\"/redfish/v1/Chassis/" id "\"}"
#define LINKS(rest) "\"Links\":{\"ComputerSystems\":[" rest "}"

/* "ID: JSON" each; the ids of those that are chosen, in their order. */
static const char *choose(const char *const *chassis, size_t count, const char *system,
			  bool is_only, bool *ret_shared)
{
	static char ids[256];
	struct redfish_chassis *list = calloc(count, sizeof(*list));
	struct redfish_path ours = path(system);
	size_t order[16], chosen;

	assert_non_null(list);
	for (size_t i = 0; i < count; i++) {
		const char *colon = strchr(chassis[i], ':');
		struct redfish_path own;
		json_t *object;
		char text[64];

		assert_non_null(colon);
		(void)snprintf(text, sizeof(text), "/redfish/v1/Chassis/%.*s",
			       (int)(colon - chassis[i]), chassis[i]);
		own = path(text);
		object = parse(colon + 1);
		redfish_chassis_read(object, &own, &list[i]);
		json_decref(object);
	}
	chosen = redfish_chassis_choose(list, count, &ours, is_only, order, ret_shared);
	ids[0] = '\0';
	for (size_t i = 0; i < chosen; i++) {
		size_t len = strlen(ids);

		(void)snprintf(ids + len, sizeof(ids) - len, "%s ",
			       redfish_path_id(&list[order[i]].path));
	}
	free(list);
	return ids;
}

static void blades_share_their_enclosure(void **state)
{
	static const char *const chassis[] = {
		"Enclosure:{" LINKS(SYSTEM("1") "," SYSTEM("2") "]") "}",
		"Blade1:{" LINKS(SYSTEM("1") "]" INSIDE("Enclosure")) "}",
		"Blade2:{" LINKS(SYSTEM("2") "]" INSIDE("Enclosure")) "}",
	};
	bool shared;

	assert_string_equal(choose(chassis, 3, "/redfish/v1/Systems/2", false, &shared), "Blade2 ");
	assert_true(shared);
	assert_string_equal(choose(chassis, 1, "/redfish/v1/Systems/2", false, &shared), "");
	assert_true(shared);
	assert_string_equal(choose(chassis, 3, "/redfish/v1/Systems/3", false, &shared), "");
	assert_false(shared);
}

static void a_machine_comes_before_what_is_in_it(void **state)
{
	static const char *const chassis[] = {
		"GPU:{\"ChassisType\":\"Module\"," LINKS(SYSTEM("1") "]" INSIDE("Box")) "}",
		"Backplane:{" LINKS(SYSTEM("1") "]" INSIDE("Box")) "}",
		"Card:{\"ChassisType\":\"Card\"," LINKS(SYSTEM("1") "]") "}",
		"Box:{\"ChassisType\":\"RackMount\"," LINKS(SYSTEM("1") "]") "}",
	};
	bool shared;

	assert_string_equal(choose(chassis, 4, "/redfish/v1/Systems/1/", false, &shared),
			    "Box Backplane Card GPU ");
	assert_false(shared);
}

static void links_are_not_needed_with_one_system(void **state)
{
	static const char *const silent[] = { "Plane:{\"ChassisType\":\"Module\"}", "A:{}",
					      "Rack:{\"ChassisType\":\"Rack\"}",
					      "B:{\"Links\":null}" };
	static const char *const mixed[] = { "Plane:{\"ChassisType\":\"Module\"}", "A:{}",
					     "Card:{\"ChassisType\":\"Card\"," LINKS(
						     SYSTEM("1") "]") "}" };
	bool shared;

	assert_string_equal(choose(silent, 4, "/redfish/v1/Systems/1", true, &shared),
			    "A B Plane ");
	assert_string_equal(choose(silent, 4, "", true, &shared), "");
	assert_true(shared);
	assert_string_equal(choose(silent, 3, "", true, &shared), "A Plane ");
	assert_false(shared);
	assert_string_equal(choose(silent, 4, "/redfish/v1/Systems/1", false, &shared), "");
	assert_string_equal(choose(mixed, 3, "/redfish/v1/Systems/1", true, &shared), "Card A ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(power_control_of_each_vendor),
		cmocka_unit_test(an_answer_without_power_has_no_value),
		cmocka_unit_test(environment_has_power_and_a_counter),
		cmocka_unit_test(deviations_from_the_schema_are_read),
		cmocka_unit_test(supplies),
		cmocka_unit_test(supplies_that_are_off_need_no_value),
		cmocka_unit_test(sensors_of_parts_are_not_the_machine),
		cmocka_unit_test(names_of_parts_are_not_the_machine),
		cmocka_unit_test(sensors),
		cmocka_unit_test(paths_are_of_the_service),
		cmocka_unit_test(only_objects_are_answers),
		cmocka_unit_test(members_beyond_the_limit_are_left_out),
		cmocka_unit_test(errors_have_a_message),
		cmocka_unit_test(blades_share_their_enclosure),
		cmocka_unit_test(a_machine_comes_before_what_is_in_it),
		cmocka_unit_test(links_are_not_needed_with_one_system),
	};

	return unit_run(tests);
}
