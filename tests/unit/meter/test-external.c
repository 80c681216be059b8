// SPDX-License-Identifier: Apache-2.0
/* Files of meters outside: what becomes a zone, whose value is when, and what a fault is. */
#include <time.h>

#include "base/clock.h"
#include "base/num.h"
#include "hwmon_tree.h"
#include "meter/meter.h"
#include "tests/unit/unit.h"

#define HEADER "kepler-meter 1\n"

struct fixture {
	struct fake_tree tree;
	struct meter *meter;
	char paths[2][320];
};

static int setup(void **state)
{
	static struct fixture fixture;
	struct meter_options options = { .external.file_count = 2 };

	fixture = (struct fixture){ 0 };
	tree_make(&fixture.tree);
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(fixture.paths[i], sizeof(fixture.paths[i]), "%s/%s",
			       fixture.tree.sysfs, i ? "second" : "first");
		options.external.files[i] = fixture.paths[i];
	}
	assert_true(external_meter.is_wanted(&options));
	assert_int_equal(external_meter.open(&options, &fixture.meter), 0);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	external_meter.close(fixture->meter);
	tree_remove(&fixture->tree);
	return 0;
}

static void put(const struct fixture *fixture, size_t file, const char *text)
{
	hwmon_put(&fixture->tree, file ? "../../second" : "../../first", text);
}

/* A line of a time that is so long ago. */
static void put_aged(const struct fixture *fixture, const char *before, double age_s,
		     const char *behind)
{
	unsigned long long time_ns =
		clock_ns(CLOCK_REALTIME) - (unsigned long long)(long long)(age_s * 1e9);
	char text[256];

	(void)snprintf(text, sizeof(text), HEADER "zone=platform %s time=%llu.%09llu%s\n", before,
		       time_ns / NSEC_PER_SEC, time_ns % NSEC_PER_SEC, behind);
	put(fixture, 0, text);
}

static void search(const struct fixture *fixture, size_t zones)
{
	assert_int_equal(external_meter.rescan(fixture->meter), 0);
	assert_int_equal(external_meter.zone_count(fixture->meter), zones);
}

static void lines_of_files_become_zones(void **state)
{
	const struct fixture *fixture = *state;
	const struct zone *zone;

	search(fixture, 0);
	put(fixture, 0, HEADER "zone=platform uw=5 name=plug\nzone=dram-1 uj=7\n");
	put(fixture, 1, HEADER "zone=dram-1 uj=8\nzone=dram-0 uj=8\nnonsense\n");
	search(fixture, 3);
	search(fixture, 3);
	assert_int_equal(external_meter.ignored(fixture->meter), 1);
	zone = external_meter.zone_at(fixture->meter, 0);
	assert_int_equal(zone->kind, ZONE_PLATFORM);
	assert_string_equal(zone->path, "plug");
	assert_int_equal(zone->rank, RANK_SENSOR_POWER);
	assert_int_equal(zone->quality, QUALITY_MEASURED);
	zone = external_meter.zone_at(fixture->meter, 1);
	assert_int_equal(zone->kind, ZONE_DRAM);
	assert_string_equal(zone->instance, "1");
	assert_string_equal(zone->path, "first");
	assert_int_equal(zone->rank, RANK_SENSOR_ENERGY);
}

static void what_is_wrong_is_remarked(void **state)
{
	const struct fixture *fixture = *state;
	struct meter_remark remark;
	char path[320];

	put(fixture, 1, HEADER "zone=platform uw=5 wat=3\nzone=psys uw=5\n");
	search(fixture, 1);
	assert_true(external_meter.remark(fixture->meter, 0, &remark));
	assert_non_null(strstr(remark.what, "first"));
	assert_non_null(strstr(remark.what, "No such file"));
	assert_true(remark.is_failure);
	assert_true(external_meter.remark(fixture->meter, 1, &remark));
	assert_non_null(strstr(remark.what, "second"));
	assert_non_null(strstr(remark.what, "line 2: \"wat=3\""));
	assert_false(external_meter.remark(fixture->meter, 2, &remark));
	put(fixture, 0, HEADER "zone=platform uw=5\n");
	put(fixture, 1, HEADER "zone=psys uw=5\n");
	(void)snprintf(path, sizeof(path), "%s", fixture->paths[1]);
	assert_int_equal(chmod(path, 0646), 0);
	search(fixture, 2);
	assert_true(external_meter.remark(fixture->meter, 0, &remark));
	assert_non_null(strstr(remark.what, "everyone can write to it"));
	assert_int_equal(chmod(path, 0644), 0);
	search(fixture, 2);
	assert_false(external_meter.remark(fixture->meter, 0, &remark));
}

static void a_value_is_of_its_time(void **state)
{
	const struct fixture *fixture = *state;
	struct raw_reading raw;
	uint64_t now_ns;

	put_aged(fixture, "uw=5000000", 4, " window=3");
	search(fixture, 1);
	now_ns = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), 0);
	assert_int_equal(raw.kind, SAMPLE_POWER);
	assert_int_equal(raw.value, 5000000);
	assert_in_range(now_ns - raw.to_ns, 3900 * NSEC_PER_MSEC, 4500 * NSEC_PER_MSEC);
	assert_int_equal(raw.to_ns - raw.from_ns, 3 * NSEC_PER_SEC);
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), -EAGAIN);
	put_aged(fixture, "uj=123", 2, "");
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), 0);
	assert_int_equal(raw.kind, SAMPLE_TOTAL);
	assert_int_equal(raw.value, 123);
	assert_int_equal(raw.from_ns, 0);
	/* Without a time it is of the file's last change. */
	put(fixture, 0, HEADER "zone=platform uj=200\n");
	now_ns = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), 0);
	assert_in_range(raw.to_ns, now_ns - NSEC_PER_SEC, now_ns + NSEC_PER_SEC);
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), -EAGAIN);
}

static void faults_are_errors_of_the_zone(void **state)
{
	const struct fixture *fixture = *state;
	struct raw_reading raw;

	put(fixture, 0, HEADER "zone=platform uj=1\n");
	search(fixture, 1);
	put_aged(fixture, "uj=5", 11, "");
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), -ETIMEDOUT);
	put_aged(fixture, "uw=5", 35, " window=30");
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), 0);
	put_aged(fixture, "uj=5", -3, "");
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), -ERANGE);
	put(fixture, 0, HEADER "zone=platform uj=1x\n");
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), -EINVAL);
	put(fixture, 0, HEADER "zone=platform uj=1");
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), -EBADMSG);
	put(fixture, 0, HEADER "zone=psys uj=1\n");
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), -ENODEV);
	assert_int_equal(unlink(fixture->paths[0]), 0);
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), -ENOENT);
	assert_int_equal(mkfifo(fixture->paths[0], 0600), 0);
	assert_int_equal(external_meter.read_raw(fixture->meter, 0, &raw), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_of_files_become_zones, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_remarked, setup, teardown),
		cmocka_unit_test_setup_teardown(a_value_is_of_its_time, setup, teardown),
		cmocka_unit_test_setup_teardown(faults_are_errors_of_the_zone, setup, teardown),
	};

	return unit_run(tests);
}
