// SPDX-License-Identifier: Apache-2.0
/*
 * Faults R2–R4 and R6 on plain files: each is made by changing the tree between two passes of the
 * table.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/num.h"
#include "fake_tree.h"
#include "meter/meter_table.h"
#include "meter/rapl/rapl_sysfs.h"
#include "seen_zones.h"
#include "tests/unit/unit.h"

#define PACKAGE "intel-rapl:0"

struct fixture {
	struct fake_tree tree;
	struct meter_table *table;
	struct seen_zone readings[METER_ZONES_MAX];
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){ 0 };
	tree_make(&fixture.tree);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	meter_table_close(fixture->table);
	tree_remove(&fixture->tree);
	return 0;
}

/* A generous deadline: these tests are not about time. */
static void open_table(struct fixture *fixture)
{
	struct meter_options options = { fixture->tree.sysfs, 120 * NSEC_PER_SEC, 2000000000,
					 false };

	assert_int_equal(meter_table_open(&options, &fixture->table), 0);
}

static size_t read_all(struct fixture *fixture)
{
	return see_zones(fixture->table, fixture->readings);
}

static void check_zone(const struct fixture *fixture, size_t index, enum zone_state state,
		       int error, uint64_t energy_uj)
{
	const struct seen_zone *reading = &fixture->readings[index];

	if (reading->state != state || reading->error != error || reading->energy_uj != energy_uj)
		fail_msg("zone %zu: %s, error %d, %lu µJ instead of %s, %d, %lu", index,
			 zone_state_name(reading->state), reading->error, reading->energy_uj,
			 zone_state_name(state), error, energy_uj);
}

static unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	assert_int_equal(closedir(dir), 0);
	return count;
}

static void test_no_meter_is_an_empty_table(void **state)
{
	struct fixture *fixture = *state;

	open_table(fixture);
	assert_int_equal(meter_table_count(fixture->table), 0);
	assert_int_equal(read_all(fixture), 0);
}

static void test_baseline_then_energy(void **state)
{
	struct fixture *fixture = *state;
	const struct zone *zone;

	tree_zone(&fixture->tree, PACKAGE, "package-0", 5000000);
	tree_zone(&fixture->tree, PACKAGE "/intel-rapl:0:0", "dram", 77);
	open_table(fixture);
	assert_int_equal(meter_table_count(fixture->table), 2);
	zone = meter_table_zone(fixture->table, 1);
	assert_int_equal(zone->kind, ZONE_DRAM);
	assert_string_equal(zone->instance, "0");
	assert_string_equal(zone->path, "intel-rapl:0:0");
	assert_string_equal(zone->source, "rapl-sysfs");
	assert_int_equal(zone->quality, QUALITY_MEASURED);
	assert_int_equal(read_all(fixture), 2);
	check_zone(fixture, 0, ZONE_UP, 0, 0);
	tree_energy(&fixture->tree, PACKAGE, 5000010);
	tree_energy(&fixture->tree, PACKAGE "/intel-rapl:0:0", 100);
	assert_int_equal(read_all(fixture), 2);
	check_zone(fixture, 0, ZONE_UP, 0, 10);
	check_zone(fixture, 1, ZONE_UP, 0, 23);
	assert_int_equal(fixture->readings[0].reads, 2);
	assert_int_equal(fixture->readings[0].errors, 0);
}

/* A hypervisor's is behind a share of a meter, and says what it is. */
static void test_a_hypervisors_counter_is_the_last(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = { fixture->tree.sysfs, 120 * NSEC_PER_SEC, 2000000000,
					 false };

	tree_zone(&fixture->tree, PACKAGE, "package-0", 5000000);
	for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
		options.rapl_is_virtual = is_virtual;
		assert_int_equal(meter_table_open(&options, &fixture->table), 0);
		assert_int_equal(read_all(fixture), 1);
		assert_int_equal(meter_table_zone(fixture->table, 0)->rank > RANK_SHARE,
				 is_virtual);
		assert_int_equal(fixture->readings[0].caveat,
				 is_virtual ? CAVEAT_VIRTUAL : CAVEAT_NONE);
		meter_table_close(fixture->table);
		fixture->table = NULL;
		fixture->readings[0] = (struct seen_zone){ 0 };
	}
}

/* R6: dram has another range than its package; each wraps at its own. */
static void test_each_zone_wraps_at_its_own_range(void **state)
{
	struct fixture *fixture = *state;

	tree_zone(&fixture->tree, PACKAGE, "package-0", 262143328850);
	tree_zone_range(&fixture->tree, PACKAGE "/intel-rapl:0:2", "dram", "65712999613\n",
			65712999613);
	open_table(fixture);
	read_all(fixture);
	tree_energy(&fixture->tree, PACKAGE, 4);
	tree_energy(&fixture->tree, PACKAGE "/intel-rapl:0:2", 6);
	assert_int_equal(read_all(fixture), 2);
	check_zone(fixture, 0, ZONE_UP, 0, 5);
	check_zone(fixture, 1, ZONE_UP, 0, 7);
	assert_int_equal(fixture->readings[0].wraps, 1);
	assert_int_equal(fixture->readings[1].wraps, 1);
}

/* R2 */
static void test_reset_costs_one_interval(void **state)
{
	struct fixture *fixture = *state;

	tree_zone(&fixture->tree, PACKAGE, "package-0", 100000000000);
	open_table(fixture);
	read_all(fixture);
	tree_energy(&fixture->tree, PACKAGE, 100000000100);
	read_all(fixture);
	tree_energy(&fixture->tree, PACKAGE, 50);
	read_all(fixture);
	check_zone(fixture, 0, ZONE_REFUSED, -EOVERFLOW, 100);
	assert_int_equal(fixture->readings[0].dropped, 1);
	tree_energy(&fixture->tree, PACKAGE, 60);
	read_all(fixture);
	check_zone(fixture, 0, ZONE_UP, 0, 110);
}

/*
 * R4: each fault is an error with its cause, and the next good reading goes on, the gap included.
 */
static void test_garbage_is_an_error_and_passes(void **state)
{
	static const struct {
		const char *text;
		int error;
	} faults[] = {
		{ "", -EBADMSG },
		{ "\n", -EINVAL },
		{ "abc\n", -EINVAL },
		{ "-5\n", -EINVAL },
		{ "12 34\n", -EINVAL },
		{ "99999999999999999999\n", -ERANGE },
		{ "1234", -EBADMSG }, /* no newline: a short read */
		{ "262143328851\n", -ERANGE },
		{ "0000000000000000000000000000000000000000\n", -EFBIG },
	};
	struct fixture *fixture = *state;
	uint64_t raw_uj = 1000;

	tree_zone(&fixture->tree, PACKAGE, "package-0", raw_uj);
	open_table(fixture);
	read_all(fixture);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		uint64_t time_ns = fixture->readings[0].time_ns;
		uint64_t energy_uj = fixture->readings[0].energy_uj;

		tree_write(&fixture->tree, PACKAGE, "energy_uj", faults[i].text);
		assert_int_equal(read_all(fixture), 0);
		check_zone(fixture, 0, ZONE_ERROR, faults[i].error, energy_uj);
		assert_int_equal(fixture->readings[0].time_ns, time_ns);
		assert_int_equal(fixture->readings[0].errors, i + 1);
		assert_int_equal(fixture->readings[0].dropped, i + 1);
		raw_uj += 10;
		tree_energy(&fixture->tree, PACKAGE, raw_uj);
		assert_int_equal(read_all(fixture), 1);
		check_zone(fixture, 0, ZONE_UP, 0, energy_uj + 10);
	}
}

/* A zone that has not given one value is not in the table. */
static void check_silent(const struct fixture *fixture, int error)
{
	const struct zone *zone;
	struct zone_status status;

	assert_int_equal(meter_table_count(fixture->table), 0);
	assert_int_equal(meter_table_silent_count(fixture->table), 1);
	zone = meter_table_silent(fixture->table, 0, &status);
	assert_non_null(zone);
	assert_string_equal(zone->path, PACKAGE);
	assert_int_equal(status.state, ZONE_ERROR);
	assert_int_equal(status.error, error);
	assert_null(meter_table_silent(fixture->table, 1, &status));
}

static void test_missing_or_wrong_range_is_not_guessed(void **state)
{
	static const struct {
		const char *text;
		int error;
	} faults[] = {
		{ "", -EBADMSG },
		{ "0\n", -EBADMSG },
		{ "x\n", -EINVAL },
		{ "262143328850", -EBADMSG },
	};
	struct fixture *fixture = *state;

	tree_zone(&fixture->tree, PACKAGE, "package-0", 1);
	tree_drop(&fixture->tree, PACKAGE "/max_energy_range_uj");
	open_table(fixture);
	read_all(fixture);
	check_silent(fixture, -ENODATA);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		tree_write(&fixture->tree, PACKAGE, "max_energy_range_uj", faults[i].text);
		assert_int_equal(read_all(fixture), 0);
		check_silent(fixture, faults[i].error);
	}
	tree_write(&fixture->tree, PACKAGE, "max_energy_range_uj", "262143328850\n");
	assert_int_equal(read_all(fixture), 1);
	assert_int_equal(meter_table_silent_count(fixture->table), 0);
	tree_energy(&fixture->tree, PACKAGE, 9);
	read_all(fixture);
	check_zone(fixture, 0, ZONE_UP, 0, 8);
}

/* R3: a socket goes offline and comes back under other indexes; its neighbour does not notice. */
static void test_zone_vanishes_and_returns_elsewhere(void **state)
{
	struct fixture *fixture = *state;

	tree_zone(&fixture->tree, "intel-rapl:0", "package-0", 1000);
	tree_zone(&fixture->tree, "intel-rapl:1", "package-1", 2000);
	tree_zone(&fixture->tree, "intel-rapl:1/intel-rapl:1:0", "dram", 3000);
	open_table(fixture);
	read_all(fixture);
	tree_energy(&fixture->tree, "intel-rapl:1", 2500);
	read_all(fixture);
	check_zone(fixture, 1, ZONE_UP, 0, 500);

	tree_drop(&fixture->tree, "intel-rapl:1");
	tree_energy(&fixture->tree, "intel-rapl:0", 1100);
	assert_int_equal(read_all(fixture), 1);
	check_zone(fixture, 0, ZONE_UP, 0, 100);
	check_zone(fixture, 1, ZONE_ABSENT, -ENODEV, 500);
	check_zone(fixture, 2, ZONE_ABSENT, -ENODEV, 0);
	for (unsigned i = 0; i < 5; i++)
		read_all(fixture);

	/* psys has taken the old index meanwhile; nothing of it may be mistaken for package-1 */
	tree_zone(&fixture->tree, "intel-rapl:1", "psys", 999999);
	tree_zone(&fixture->tree, "intel-rapl:7", "package-1", 70);
	tree_zone(&fixture->tree, "intel-rapl:7/intel-rapl:7:0", "dram", 80);
	read_all(fixture);
	read_all(fixture);
	check_zone(fixture, 1, ZONE_UP, 0, 500); /* within two; a new baseline */
	tree_energy(&fixture->tree, "intel-rapl:7", 90);
	tree_energy(&fixture->tree, "intel-rapl:7/intel-rapl:7:0", 81);
	assert_int_equal(read_all(fixture), 4);
	check_zone(fixture, 1, ZONE_UP, 0, 520);
	check_zone(fixture, 2, ZONE_UP, 0, 1);
	assert_int_equal(meter_table_count(fixture->table), 4);
	assert_string_equal(zone_kind_name(meter_table_zone(fixture->table, 3)->kind), "psys");
}

static void test_hundred_vanishings_leak_nothing(void **state)
{
	struct fixture *fixture = *state;
	unsigned descriptors = 0;

	tree_zone(&fixture->tree, PACKAGE, "package-0", 1);
	open_table(fixture);
	for (unsigned i = 0; i < 100; i++) {
		tree_drop(&fixture->tree, PACKAGE);
		assert_int_equal(read_all(fixture), 0);
		tree_zone(&fixture->tree, PACKAGE, "package-0", 1);
		(void)read_all(fixture);
		assert_int_equal(read_all(fixture), 1);
		if (i == 0)
			descriptors = open_descriptors();
	}
	assert_int_equal(open_descriptors(), descriptors);
}

static void test_file_replaced_by_another_is_opened_anew(void **state)
{
	struct fixture *fixture = *state;

	tree_zone(&fixture->tree, PACKAGE, "package-0", 1000);
	open_table(fixture);
	read_all(fixture);
	tree_write(&fixture->tree, PACKAGE, "next", "5000\n");
	tree_rename(&fixture->tree, PACKAGE "/next", PACKAGE "/energy_uj");
	read_all(fixture);
	check_zone(fixture, 0, ZONE_ABSENT, -ENODEV, 0);
	read_all(fixture);
	check_zone(fixture, 0, ZONE_UP, 0, 0);
	tree_energy(&fixture->tree, PACKAGE, 5001);
	read_all(fixture);
	check_zone(fixture, 0, ZONE_UP, 0, 1);
}

static void test_duplicates_are_counted(void **state)
{
	struct fixture *fixture = *state;

	tree_zone(&fixture->tree, PACKAGE, "package-0", 1);
	tree_zone(&fixture->tree, "intel-rapl-mmio:0", "package-0", 1);
	open_table(fixture);
	assert_int_equal(meter_table_count(fixture->table), 1);
	assert_int_equal(meter_table_ignored(fixture->table), 1);
}

/* Passes until the zone is up again, at most @max. */
static unsigned passes_until_up(struct fixture *fixture, unsigned max)
{
	unsigned passes = 0;

	do {
		read_all(fixture);
		passes++;
	} while (fixture->readings[0].state != ZONE_UP && passes < max);
	return passes;
}

/* A counter that cannot be read any more gives way to its twin at the next search. */
static void test_a_dead_twin_is_replaced(void **state)
{
	struct fixture *fixture = *state;

	tree_zone(&fixture->tree, PACKAGE, "package-0", 1);
	tree_zone(&fixture->tree, "intel-rapl-mmio:0", "package-0", 1000);
	open_table(fixture);
	read_all(fixture);
	tree_energy(&fixture->tree, PACKAGE, 2);
	read_all(fixture);
	check_zone(fixture, 0, ZONE_UP, 0, 1);
	tree_write(&fixture->tree, PACKAGE, "energy_uj", "");
	assert_in_range(passes_until_up(fixture, 40), 2, 30);
	tree_energy(&fixture->tree, "intel-rapl-mmio:0", 1005);
	read_all(fixture);
	check_zone(fixture, 0, ZONE_UP, 0, 1 + 5);
	/* It stays, although the other one can be read again. */
	tree_energy(&fixture->tree, PACKAGE, 3);
	for (unsigned i = 0; i < 40; i++)
		read_all(fixture);
	tree_energy(&fixture->tree, "intel-rapl-mmio:0", 1007);
	read_all(fixture);
	check_zone(fixture, 0, ZONE_UP, 0, 1 + 5 + 2);
}

/* A counter that moves all the time, as the kernel's do. */
struct mover {
	int fd;
	atomic_bool ends;
	pthread_t thread;
};

static void *move(void *userdata)
{
	struct mover *mover = userdata;
	char text[32];

	for (uint64_t uj = 1000000000; !atomic_load(&mover->ends); uj++) {
		(void)snprintf(text, sizeof(text), "%lu\n", uj);
		assert_int_equal(pwrite(mover->fd, text, strlen(text), 0), strlen(text));
	}
	return NULL;
}

/* A counter that stands still for the moment of a search only is not given up. */
static void test_a_still_twin_is_replaced(void **state)
{
	struct fixture *fixture = *state;
	struct mover mover = { .fd = -1 };
	unsigned passes = 0;
	char path[512];

	tree_zone(&fixture->tree, PACKAGE, "package-0", 1);
	tree_zone(&fixture->tree, "intel-rapl-mmio:0", "package-0", 1000);
	open_table(fixture);
	read_all(fixture);
	tree_path(&fixture->tree, "intel-rapl-mmio:0/energy_uj", path, sizeof(path));
	mover.fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(mover.fd >= 0);
	assert_int_equal(pthread_create(&mover.thread, NULL, move, &mover), 0);
	for (uint64_t i = 0; i < 100; i++) {
		tree_energy(&fixture->tree, PACKAGE, 2 + i);
		read_all(fixture);
		check_zone(fixture, 0, ZONE_UP, 0, i + 1);
	}
	/* Once it stands still from one search to the next, the one that moves is read. */
	do {
		read_all(fixture);
	} while (++passes < 6000 && fixture->readings[0].energy_uj == 100);
	assert_in_range(passes, 31, 5999);
	atomic_store(&mover.ends, true);
	assert_int_equal(pthread_join(mover.thread, NULL), 0);
	assert_int_equal(close(mover.fd), 0);
}

/* AMD's counter of cores is one core's. */
static void test_a_core_that_is_only_one_is_left_out(void **state)
{
	struct fixture *fixture = *state;
	const struct meter_options amd = { fixture->tree.sysfs, 2 * NSEC_PER_SEC, 0, true };

	tree_zone(&fixture->tree, PACKAGE, "package-0", 1);
	tree_zone(&fixture->tree, PACKAGE "/intel-rapl:0:0", "core", 1);
	assert_int_equal(meter_table_open(&amd, &fixture->table), 0);
	assert_int_equal(meter_table_count(fixture->table), 1);
	assert_int_equal(meter_table_zone(fixture->table, 0)->kind, ZONE_PACKAGE);
	assert_int_equal(meter_table_ignored(fixture->table), 1);
}

static void test_zone_that_appears_later_is_found(void **state)
{
	struct fixture *fixture = *state;
	unsigned passes = 0;

	open_table(fixture);
	tree_zone(&fixture->tree, PACKAGE, "package-0", 1);
	while (meter_table_count(fixture->table) == 0 && passes < 100) {
		read_all(fixture);
		passes++;
	}
	assert_in_range(passes, 1, 31);
	check_zone(fixture, 0, ZONE_UP, 0, 0);
}

/* R5 without a special file system: opening a FIFO without a writer hangs as long as we like. */
static void test_hanging_rescan_hangs_nothing_else(void **state)
{
	struct fixture *fixture = *state;
	struct meter_options options = { fixture->tree.sysfs, 2 * NSEC_PER_SEC, 2000000000, false };
	char path[512];
	int fd;

	tree_zone(&fixture->tree, "intel-rapl:0", "package-0", 1000);
	tree_zone(&fixture->tree, "intel-rapl:1", "package-1", 1000);
	assert_int_equal(meter_table_open(&options, &fixture->table), 0);
	assert_int_equal(read_all(fixture), 2);
	tree_drop(&fixture->tree, "intel-rapl:1/energy_uj");
	tree_path(&fixture->tree, "intel-rapl:1/energy_uj", path, sizeof(path));
	assert_int_equal(mkfifo(path, 0600), 0);
	for (uint64_t i = 1; i <= 4; i++) {
		tree_energy(&fixture->tree, "intel-rapl:0", 1000 + i);
		(void)read_all(fixture);
		check_zone(fixture, 0, ZONE_UP, 0, i);
		assert_int_not_equal(fixture->readings[1].state, ZONE_UP);
	}
	assert_int_equal(fixture->readings[1].state, ZONE_STALLED);
	fd = open(path, O_WRONLY | O_CLOEXEC); /* lets the open return */
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	tree_drop(&fixture->tree, "intel-rapl:1/energy_uj");
	tree_energy(&fixture->tree, "intel-rapl:1", 5000);
	for (unsigned i = 0; i < 20000 && fixture->readings[1].state != ZONE_UP; i++) {
		(void)read_all(fixture);
		(void)usleep(5000); /* the late thread needs the CPU, not us */
	}
	check_zone(fixture, 1, ZONE_UP, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TREE_TEST(test_no_meter_is_an_empty_table),
		TREE_TEST(test_baseline_then_energy),
		TREE_TEST(test_a_hypervisors_counter_is_the_last),
		TREE_TEST(test_each_zone_wraps_at_its_own_range),
		TREE_TEST(test_reset_costs_one_interval),
		TREE_TEST(test_garbage_is_an_error_and_passes),
		TREE_TEST(test_missing_or_wrong_range_is_not_guessed),
		TREE_TEST(test_zone_vanishes_and_returns_elsewhere),
		TREE_TEST(test_hundred_vanishings_leak_nothing),
		TREE_TEST(test_file_replaced_by_another_is_opened_anew),
		TREE_TEST(test_duplicates_are_counted),
		TREE_TEST(test_a_dead_twin_is_replaced),
		TREE_TEST(test_a_still_twin_is_replaced),
		TREE_TEST(test_a_core_that_is_only_one_is_left_out),
		TREE_TEST(test_zone_that_appears_later_is_found),
		TREE_TEST(test_hanging_rescan_hangs_nothing_else),
	};

	return unit_run(tests);
}
