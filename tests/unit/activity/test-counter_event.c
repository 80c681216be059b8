// SPDX-License-Identifier: Apache-2.0
/* Names of events: the event of each, with PMUs as kernels describe them, and invalid names. */
#include <linux/perf_event.h>
#include <sys/stat.h>

#include "activity/counter_event.h"
#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

#define CPU "bus/event_source/devices/cpu/"

static char root[] = "/tmp/kepler-test-events.XXXXXX";

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *file;

	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *at = strchr(full + strlen(root) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		(void)mkdir(full, 0755);
		*at = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	(void)fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
	assert_non_null(mkdtemp(root));
	put(CPU "type", "4\n");
	put(CPU "format/event", "config:0-7\n");
	put(CPU "format/umask", "config:8-15\n");
	put(CPU "format/edge", "config:18\n");
	put(CPU "format/split", "config:0-7,32-35\n");
	put(CPU "format/offcore_rsp", "config1:0-63\n");
	put(CPU "events/cache-misses", "event=0x2e,umask=0x41\n");
	put("bus/event_source/devices/msr/type", "9\n");
	put("bus/event_source/devices/msr/format/event", "config:0-63\n");
	put("bus/event_source/devices/msr/events/tsc", "event=0x00\n");
	put("bus/event_source/devices/broken/type", "none\n");
	return 0;
}

static int teardown(void **state)
{
	return remove_tree(root);
}

static void assert_event(const char *text, uint32_t type, uint64_t config)
{
	struct counter_event event;

	assert_int_equal(counter_event_find(root, text, COUNTER_CYCLES, &event), 0);
	assert_true(event.is_counted);
	assert_int_equal(event.type, type);
	assert_int_equal(event.config, config);
}

static void assert_refused(const char *text, int err)
{
	struct counter_event event;

	assert_int_equal(counter_event_find(root, text, COUNTER_CYCLES, &event), err);
}

static void test_generic_names(void **state)
{
	assert_event("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	assert_event("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	assert_event("LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002);
	assert_event("task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
}

/* The event 3 of PERF_TYPE_HW_CACHE would be accesses to the TLB. */
static void test_auto(void **state)
{
	static const struct {
		enum counter_use use;
		uint64_t config;
	} expected[] = { { COUNTER_CYCLES, PERF_COUNT_HW_CPU_CYCLES },
			 { COUNTER_REF_CYCLES, PERF_COUNT_HW_REF_CPU_CYCLES },
			 { COUNTER_INSTRUCTIONS, PERF_COUNT_HW_INSTRUCTIONS } };
	struct counter_event event;

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_int_equal(counter_event_find(root, "auto", expected[i].use, &event), 0);
		assert_int_equal(event.type, PERF_TYPE_HARDWARE);
		assert_int_equal(event.config, expected[i].config);
	}
	assert_int_equal(counter_event_find(root, "auto", COUNTER_CACHE_MISSES, &event), 0);
	assert_true(
		(event.type == PERF_TYPE_HARDWARE && event.config == PERF_COUNT_HW_CACHE_MISSES) ||
		(event.type == PERF_TYPE_HW_CACHE && event.config == 0x10002));
}

/* As Linux describes the PMU: an event is there only where the processor has its counter. */
static void test_stand_ins(void **state)
{
	struct counter_event event = { .is_counted = true };

	assert_int_equal(counter_event_stand_in(root, COUNTER_CYCLES, &event), -ENOENT);
	assert_false(event.is_counted);
	assert_refused("msr/aperf/", -ENOENT);
	put("bus/event_source/devices/msr/events/aperf", "event=0x01\n");
	put("bus/event_source/devices/msr/events/mperf", "event=0x02\n");
	assert_event("msr/aperf/", 9, 1);
	assert_int_equal(counter_event_stand_in(root, COUNTER_CYCLES, &event), 0);
	assert_true(event.is_counted);
	assert_int_equal(event.type, 9);
	assert_int_equal(event.config, 1);
	assert_int_equal(counter_event_stand_in(root, COUNTER_REF_CYCLES, &event), 0);
	assert_int_equal(event.config, 2);
	assert_int_equal(counter_event_stand_in(root, COUNTER_INSTRUCTIONS, &event), -ENOENT);
	assert_int_equal(counter_event_stand_in(root, COUNTER_CACHE_MISSES, &event), -ENOENT);
}

static void test_none(void **state)
{
	struct counter_event event = { .is_counted = true };

	assert_int_equal(counter_event_find(root, "none", COUNTER_CYCLES, &event), 0);
	assert_false(event.is_counted);
}

static void test_terms(void **state)
{
	assert_event("cpu/event=0x3c/", 4, 0x3c);
	assert_event("cpu/event=0x2e,umask=0x41/", 4, 0x412e);
	assert_event("cpu/event=60,edge/", 4, 0x4003c);
	assert_event("cpu/cache-misses/", 4, 0x412e);
	assert_event("cpu/config=0x53003c/", 4, 0x53003c);
	assert_event("cpu/split=0x3ff/", 4, 0x3000000ff);
}

static void test_numbers(void **state)
{
	assert_event("msr:0x0", 9, 0);
	assert_event("msr:4", 9, 4);
	assert_event("1:0x2", PERF_TYPE_SOFTWARE, 2);
	assert_event("4:0xffffffffffffffff", 4, UINT64_MAX);
}

static void test_what_this_machine_lacks(void **state)
{
	assert_refused("uncore/event=1/", -ENOENT);
	assert_refused("cpu/ldlat=3/", -ENOENT);
	assert_refused("cpu/offcore_rsp=1/", -ENOENT); /* of another word than config */
	assert_refused("cpu/event=0x100/", -ERANGE);
	assert_refused("4294967296:0", -ERANGE);
	assert_refused("broken:0", -EBADMSG);
}

static void test_invalid_events_are_refused(void **state)
{
	static const char *const texts[] = { "",
					     "cycle",
					     "cpu",
					     "cpu/",
					     "cpu//",
					     "/event=1/",
					     "cpu/event=1",
					     ":1",
					     "msr:",
					     "msr:x",
					     "msr:1 ",
					     "../x:1",
					     "cpu/a/b/",
					     "msr:-1",
					     "msr:0x",
					     "a/../b:1",
					     "cpu/event=0x1ffffffffffffffff/" };
	struct diag diag = { 0 };

	for (size_t i = 0; i + 1 < ARRAY_SIZE(texts); i++) {
		assert_refused(texts[i], -EINVAL);
		assert_int_equal(counter_event_check(texts[i], &diag), -EINVAL);
	}
	assert_refused(texts[ARRAY_SIZE(texts) - 1], -EINVAL);
}

static void test_check(void **state)
{
	static const char *const texts[] = { "auto",
					     "none",
					     "cycles",
					     "cpu/event=0x3c/",
					     "msr:0x0",
					     "1:0x2",
					     "no-such-pmu/event=1/" };
	struct diag diag = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(counter_event_check(texts[i], &diag), 0);
}

static void test_bits(void **state)
{
	uint64_t config = 0;

	assert_int_equal(counter_event_place_bits("config:0-63", UINT64_MAX, &config), 0);
	assert_int_equal(config, UINT64_MAX);
	config = 0xff00;
	assert_int_equal(counter_event_place_bits("config:4-7", 0x5, &config), 0);
	assert_int_equal(config, 0xff50);
	assert_int_equal(counter_event_place_bits("config:4-7", 0x10, &config), -ERANGE);
	assert_int_equal(counter_event_place_bits("config:7-4", 1, &config), -EBADMSG);
	assert_int_equal(counter_event_place_bits("config:64", 1, &config), -EBADMSG);
	assert_int_equal(counter_event_place_bits("config:", 1, &config), -EBADMSG);
	assert_int_equal(counter_event_place_bits("konfig:1", 1, &config), -EBADMSG);
	assert_int_equal(counter_event_place_bits("config1:1", 1, &config), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generic_names),
		cmocka_unit_test(test_auto),
		cmocka_unit_test(test_stand_ins),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_terms),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_what_this_machine_lacks),
		cmocka_unit_test(test_invalid_events_are_refused),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_bits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
