// SPDX-License-Identifier: Apache-2.0
/*
 * Stalls (R5) and errors on a source made of switches: a read waits until the test lets it go, or
 * until others were read.
 */
#include "meter/meter_table.h"

#include <poll.h>
#include <pthread.h>

#include "base/clock.h"
#include "seen_zones.h"
#include "tests/unit/unit.h"

#define ZONES 4

/* The test's hold on the source; outlives it. */
static struct switches {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stuck[ZONES];
	bool rescan_stuck;
	bool until_others[ZONES]; /* a read waits until each other zone was read once more */
	uint64_t takes_ns[ZONES]; /* a read takes that long at least */
	uint64_t step_uj[ZONES];  /* raw_uj grows by this with each read */
	bool threads_hang;        /* a caller that makes a thread waits */
	unsigned threads_hanging;
	unsigned threads_made_by_test;
	pthread_t test;
	int error[ZONES];
	uint64_t raw_uj[ZONES]; /* shown modulo the range */
	uint64_t range_uj;
	unsigned in_read[ZONES]; /* reads under way */
	unsigned most_in_read;
	unsigned reads[ZONES];
	unsigned rescans;
	unsigned open_meters;
	size_t zones; /* that a search finds */
} switches = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

struct meter {
	struct zone zones[ZONES];
	size_t count;
};

static int fake_open(const struct meter_options *options, struct meter **ret)
{
	struct meter *meter = calloc(1, sizeof(*meter));

	(void)options;
	assert_non_null(meter);
	pthread_mutex_lock(&switches.lock);
	switches.open_meters++;
	pthread_mutex_unlock(&switches.lock);
	*ret = meter;
	return 0;
}

static size_t fake_zone_count(struct meter *meter)
{
	return __atomic_load_n(&meter->count, __ATOMIC_ACQUIRE);
}

static const struct zone *fake_zone_at(struct meter *meter, size_t index)
{
	return &meter->zones[index];
}

static size_t fake_ignored(struct meter *meter)
{
	(void)meter;
	return 3;
}

static int fake_rescan(struct meter *meter)
{
	pthread_mutex_lock(&switches.lock);
	switches.rescans++;
	while (switches.rescan_stuck)
		pthread_cond_wait(&switches.changed, &switches.lock);
	__atomic_store_n(&meter->count, switches.zones, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&switches.lock);
	return 0;
}

/* With the lock held. */
static void wait_until_others_are_read(size_t index)
{
	unsigned before[ZONES];

	memcpy(before, switches.reads, sizeof(before));
	for (size_t z = 0; z < ZONES; z++) {
		while (z != index && switches.until_others[index] && switches.reads[z] == before[z])
			pthread_cond_wait(&switches.changed, &switches.lock);
	}
}

/* With the lock held. */
static void take_time(uint64_t takes_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + takes_ns, now_ns;

	while ((now_ns = clock_ns(CLOCK_MONOTONIC)) < end_ns) {
		pthread_mutex_unlock(&switches.lock);
		(void)usleep((unsigned)((end_ns - now_ns) / 1000) + 1);
		pthread_mutex_lock(&switches.lock);
	}
}

static int fake_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	int r;

	(void)meter;
	pthread_mutex_lock(&switches.lock);
	switches.reads[index]++;
	pthread_cond_broadcast(&switches.changed);
	if (++switches.in_read[index] > switches.most_in_read)
		switches.most_in_read = switches.in_read[index];
	while (switches.stuck[index])
		pthread_cond_wait(&switches.changed, &switches.lock);
	wait_until_others_are_read(index);
	take_time(switches.takes_ns[index]);
	switches.raw_uj[index] += switches.step_uj[index];
	pthread_cond_broadcast(&switches.changed);
	switches.in_read[index]--;
	r = switches.error[index];
	if (r == 0)
		*ret = (struct raw_reading){ switches.raw_uj[index] % (switches.range_uj + 1),
					     switches.range_uj, 1 };
	pthread_mutex_unlock(&switches.lock);
	return r;
}

static void fake_close(struct meter *meter)
{
	free(meter);
	pthread_mutex_lock(&switches.lock);
	switches.open_meters--;
	pthread_cond_broadcast(&switches.changed);
	pthread_mutex_unlock(&switches.lock);
}

static const struct meter_ops fake_meter = {
	.name = "fake",
	.open = fake_open,
	.zone_count = fake_zone_count,
	.zone_at = fake_zone_at,
	.ignored = fake_ignored,
	.read_raw = fake_read_raw,
	.rescan = fake_rescan,
	.close = fake_close,
};

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);

/* All calls of pthread_create() come here: the linker sees to it. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg)
{
	pthread_mutex_lock(&switches.lock);
	switches.threads_made_by_test += pthread_equal(switches.test, pthread_self()) != 0;
	switches.threads_hanging++;
	pthread_cond_broadcast(&switches.changed);
	while (switches.threads_hang)
		pthread_cond_wait(&switches.changed, &switches.lock);
	switches.threads_hanging--;
	pthread_mutex_unlock(&switches.lock);
	return __real_pthread_create(thread, attr, run, arg);
}

static void set_stuck(size_t zone, bool stuck)
{
	pthread_mutex_lock(&switches.lock);
	switches.stuck[zone] = stuck;
	pthread_cond_broadcast(&switches.changed);
	pthread_mutex_unlock(&switches.lock);
}

static void set_rescan_stuck(bool stuck)
{
	pthread_mutex_lock(&switches.lock);
	switches.rescan_stuck = stuck;
	pthread_cond_broadcast(&switches.changed);
	pthread_mutex_unlock(&switches.lock);
}

static void set_zone(size_t zone, int error, uint64_t raw_uj)
{
	pthread_mutex_lock(&switches.lock);
	switches.error[zone] = error;
	switches.raw_uj[zone] = raw_uj;
	pthread_mutex_unlock(&switches.lock);
}

/* Only a failure takes long. */
#define PATIENCE_S 120

static void wait_until_closed(void)
{
	struct timespec end;

	(void)clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&switches.lock);
	while (switches.open_meters > 0 &&
	       pthread_cond_timedwait(&switches.changed, &switches.lock, &end) == 0)
		;
	assert_int_equal(switches.open_meters, 0);
	pthread_mutex_unlock(&switches.lock);
}

/* A failed test leaves no thread stuck. */
static int let_all_go(void **state)
{
	set_rescan_stuck(false);
	for (size_t z = 0; z < ZONES; z++)
		set_stuck(z, false);
	pthread_mutex_lock(&switches.lock);
	switches.threads_hang = false;
	memset(switches.until_others, 0, sizeof(switches.until_others));
	memset(switches.takes_ns, 0, sizeof(switches.takes_ns));
	memset(switches.step_uj, 0, sizeof(switches.step_uj));
	pthread_cond_broadcast(&switches.changed);
	pthread_mutex_unlock(&switches.lock);
	return 0;
}

static struct seen_zone readings[METER_ZONES_MAX];

static struct meter_table *open_table_of(size_t zones, uint64_t deadline_ms)
{
	struct meter_options options = { "/sys", deadline_ms * NSEC_PER_MSEC, 2000000000, false };
	struct meter_table *table;

	pthread_mutex_lock(&switches.lock);
	memset(switches.error, 0, sizeof(switches.error));
	memset(switches.raw_uj, 0, sizeof(switches.raw_uj));
	memset(switches.reads, 0, sizeof(switches.reads));
	switches.test = pthread_self();
	switches.zones = zones;
	switches.rescans = switches.most_in_read = 0;
	switches.range_uj = 262143328850;
	pthread_mutex_unlock(&switches.lock);
	memset(readings, 0, sizeof(readings));
	assert_int_equal(meter_table_open_source(&fake_meter, &options, &table), 0);
	return table;
}

static struct meter_table *open_table(uint64_t deadline_ms)
{
	return open_table_of(ZONES, deadline_ms);
}

static size_t read_all(struct meter_table *table)
{
	return see_zones(table, readings);
}

/* Threads that were let go need the CPU, however long others have it. */
static void read_until_all_up(struct meter_table *table)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_S * NSEC_PER_SEC;

	while (read_all(table) < ZONES && clock_ns(CLOCK_MONOTONIC) < end_ns)
		(void)usleep(1000);
	for (size_t z = 0; z < ZONES; z++)
		assert_int_equal(readings[z].state, ZONE_UP);
}

static void test_kernel_errors_are_state_and_pass(void **state)
{
	static const int errors[] = { -EIO, -EINVAL, -EACCES, -EPERM, -EBADMSG };
	struct meter_table *table = open_table(60000);

	assert_int_equal(read_all(table), ZONES);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		set_zone(2, errors[i], 0);
		assert_int_equal(read_all(table), ZONES - 1);
		assert_int_equal(readings[2].state, ZONE_ERROR);
		assert_int_equal(readings[2].error, errors[i]);
		set_zone(2, 0, 100 * (i + 1));
		assert_int_equal(read_all(table), ZONES);
		assert_int_equal(readings[2].energy_uj, 100 * (i + 1));
		assert_int_equal(readings[2].errors, i + 1);
	}
	assert_int_equal(meter_table_ignored(table), 3);
	meter_table_close(table);
	wait_until_closed();
}

static void test_gone_zone_makes_the_tree_be_searched(void **state)
{
	struct meter_table *table = open_table(60000);
	unsigned before;

	read_all(table);
	set_zone(1, -ENODEV, 0);
	read_all(table);
	assert_int_equal(readings[1].state, ZONE_ABSENT);
	before = switches.rescans;
	for (unsigned i = 0; i < 10; i++)
		read_all(table);
	assert_int_equal(switches.rescans - before, 5);
	set_zone(1, 0, 0);
	read_all(table);
	before = switches.rescans;
	for (unsigned i = 0; i < 20; i++)
		read_all(table);
	assert_int_equal(switches.rescans, before);
	meter_table_close(table);
	meter_table_close(NULL);
	wait_until_closed();
}

/* Returns true if it is readable, or becomes so in that time. */
static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, timeout_ms) == 1;
}

/* A pass that begins by itself; @raw_uj is what another would read after it. */
static void expect_one(struct meter_table *table, uint64_t fresh_ns, uint64_t raw_uj)
{
	const uint64_t hour_ns = 3600 * NSEC_PER_SEC;
	int fd = meter_table_expect(table, clock_ns(CLOCK_MONOTONIC), hour_ns, fresh_ns);

	assert_true(fd >= 0);
	assert_true(is_readable(fd, PATIENCE_S * 1000));
	for (size_t z = 0; z < ZONES; z++)
		set_zone(z, 0, raw_uj);
	assert_int_equal(read_all(table), ZONES);
	assert_false(is_readable(fd, 0));
}

static void test_an_expected_pass_begins_by_itself(void **state)
{
	struct meter_table *table = open_table(60000);

	(void)state;
	read_all(table);
	for (size_t z = 0; z < ZONES; z++)
		set_zone(z, 0, 100);
	expect_one(table, UINT64_MAX, 500); /* what it has read counts */
	for (size_t z = 0; z < ZONES; z++)
		assert_int_equal(readings[z].energy_uj, 100);
	expect_one(table, 0, 900); /* too old: all is read again */
	for (size_t z = 0; z < ZONES; z++)
		assert_int_equal(readings[z].energy_uj, 900);
	meter_table_close(table);
	wait_until_closed();
}

static void test_no_pass_is_expected_where_it_would_be_another(void **state)
{
	const uint64_t hour_ns = 3600 * NSEC_PER_SEC;
	uint64_t later_ns = clock_ns(CLOCK_MONOTONIC) + hour_ns;
	struct meter_table *table = open_table(100);
	unsigned before, searches = 0;

	(void)state;
	read_until_all_up(table);
	before = switches.rescans;
	for (unsigned i = 0; i < 60; i++) {
		searches += meter_table_expect(table, later_ns, hour_ns, hour_ns) < 0;
		read_all(table);
	}
	assert_int_equal(searches, switches.rescans - before);
	assert_true(meter_table_expect(table, later_ns, hour_ns, hour_ns) >= 0);
	set_stuck(1, true);
	read_all(table);
	assert_int_equal(readings[1].state, ZONE_STALLED);
	assert_int_equal(meter_table_expect(table, later_ns, hour_ns, hour_ns), -1);
	set_stuck(1, false);
	meter_table_close(table);
	wait_until_closed();
}

static bool never(const struct meter_options *options)
{
	(void)options;
	return false;
}

static int fail_open(const struct meter_options *options, struct meter **ret)
{
	(void)options;
	(void)ret;
	fail_msg("a source that is not wanted is opened");
	return -EIO;
}

static void test_what_is_not_wanted_is_not_opened(void **state)
{
	const struct meter_ops unwanted = { .name = "unwanted",
					    .is_wanted = never,
					    .open = fail_open };
	const struct meter_options options = { .sysfs = "/nowhere",
					       .read_deadline_ns = NSEC_PER_SEC };
	struct meter_table *table;

	assert_int_equal(meter_table_open_source(&unwanted, &options, &table), 0);
	assert_int_equal(meter_table_count(table), 0);
	assert_true(meter_table_has_searched(table));
	meter_table_close(table);
}

/* The stuck zone costs itself; the others are read in the same pass, which keeps its deadline. */
static void test_stalled_zone_costs_no_other(void **state)
{
	struct meter_table *table = open_table(2000);
	uint64_t start_ns, took_ns;

	assert_int_equal(read_all(table), ZONES);
	set_stuck(1, true);
	for (uint64_t i = 1; i <= 5; i++) {
		for (size_t z = 0; z < ZONES; z++)
			set_zone(z, 0, i * 10);
		start_ns = clock_ns(CLOCK_MONOTONIC);
		assert_int_equal(read_all(table), ZONES - 1);
		took_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
		assert_true(took_ns < 20 * NSEC_PER_SEC); /* 2 s and a busy machine */
		assert_int_equal(readings[1].state, ZONE_STALLED);
		assert_int_equal(readings[1].energy_uj, 0);
		assert_int_equal(readings[0].energy_uj, i * 10);
		assert_int_equal(readings[3].energy_uj, i * 10);
	}
	assert_int_equal(switches.most_in_read, 1); /* never a second read of the stuck zone */
	set_stuck(1, false);
	read_until_all_up(table);
	assert_int_equal(readings[1].energy_uj, 50); /* the gap is not lost */
	meter_table_close(table);
	wait_until_closed();
}

/*
 * As zones that take 30, 60 and 90 ms of a deadline of 100 ms: a zone that delays those after it is
 * passed by after a quarter of the deadline, and counts, since it comes before the deadline.
 */
static void test_slow_zones_that_keep_the_deadline_are_up(void **state)
{
	const uint64_t deadline_ms = 2000;
	struct meter_table *table = open_table(deadline_ms);

	pthread_mutex_lock(&switches.lock);
	switches.until_others[0] = true;
	switches.takes_ns[ZONES - 1] = deadline_ms / 2 * NSEC_PER_MSEC;
	pthread_mutex_unlock(&switches.lock);
	for (uint64_t i = 1; i <= 2; i++) {
		for (size_t z = 0; z < ZONES; z++)
			set_zone(z, 0, i * 10);
		assert_int_equal(read_all(table), ZONES);
		for (size_t z = 0; z < ZONES; z++) {
			assert_int_equal(readings[z].state, ZONE_UP);
			assert_int_equal(readings[z].energy_uj, i * 10 - 10);
			assert_int_equal(readings[z].errors, 0);
		}
	}
	assert_int_equal(switches.most_in_read, 1);
	meter_table_close(table);
	wait_until_closed();
}

/* A pass may replace a stuck thread, but never waits for one to be made. */
static void test_making_a_thread_hangs_no_pass(void **state)
{
	struct meter_table *table = open_table(1000);
	uint64_t start_ns;

	assert_int_equal(read_all(table), ZONES);
	switches.threads_made_by_test = 0;
	pthread_mutex_lock(&switches.lock);
	switches.threads_hang = true;
	pthread_mutex_unlock(&switches.lock);
	set_stuck(0, true);
	start_ns = clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < 3; i++)
		(void)read_all(table);
	assert_true(clock_ns(CLOCK_MONOTONIC) - start_ns < 20 * NSEC_PER_SEC);
	pthread_mutex_lock(&switches.lock);
	assert_int_equal(switches.threads_hanging, 1); /* a spare for the spare */
	assert_int_equal(switches.threads_made_by_test, 0);
	switches.threads_hang = false;
	pthread_cond_broadcast(&switches.changed);
	pthread_mutex_unlock(&switches.lock);
	set_stuck(0, false);
	read_until_all_up(table);
	meter_table_close(table);
	wait_until_closed();
}

/* With the lock held. */
static void wait_for_reads(size_t zone, unsigned reads)
{
	struct timespec end;

	(void)clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_S;
	while (switches.reads[zone] < reads &&
	       pthread_cond_timedwait(&switches.changed, &switches.lock, &end) == 0)
		;
	assert_true(switches.reads[zone] >= reads);
}

/*
 * A counter that wraps every three readings, without a pass for a long time: the thread reads by
 * itself what must be read, and no more.
 */
static void test_zones_are_read_between_passes(void **state)
{
	struct meter_table *table = open_table(60000);
	uint64_t counted_uj, true_uj;
	unsigned reads;

	pthread_mutex_lock(&switches.lock);
	switches.range_uj = 2000000000; /* half a turn at 2 kW takes 0.5 s */
	switches.step_uj[1] = 750000000;
	pthread_mutex_unlock(&switches.lock);
	assert_int_equal(read_all(table), ZONES);
	pthread_mutex_lock(&switches.lock);
	true_uj = switches.raw_uj[1];
	reads = switches.reads[1];
	wait_for_reads(1, reads + 4);
	switches.step_uj[1] = 0;
	true_uj = switches.raw_uj[1] - true_uj;
	pthread_mutex_unlock(&switches.lock);
	(void)read_all(table);
	counted_uj = readings[1].energy_uj;
	if (readings[1].dropped == 0) /* none was late: it was read in time, each time */
		assert_int_equal(counted_uj, true_uj);
	else
		assert_int_equal(readings[1].state, ZONE_REFUSED);
	assert_true(readings[1].reads >= 5);
	assert_int_equal(switches.rescans, 1);
	meter_table_close(table);
	wait_until_closed();
}

/* A pass that begins while the next read between passes, which takes @takes_ns, is under way. */
static void read_beside_a_read(struct meter_table *table, uint64_t takes_ns)
{
	unsigned reads;

	pthread_mutex_lock(&switches.lock);
	switches.takes_ns[0] = takes_ns;
	reads = switches.reads[0];
	wait_for_reads(0, reads + 1);
	pthread_mutex_unlock(&switches.lock);
	(void)read_all(table);
	assert_int_not_equal(readings[0].state, ZONE_STALLED);
}

/*
 * The pass waits for a read that is under way as for a read of its own, if nothing else is to be
 * read; and not longer, though the zone is due again by then.
 */
static void test_a_pass_waits_for_a_read_under_way(void **state)
{
	struct meter_table *table = open_table_of(1, PATIENCE_S * 1000);
	uint64_t start_ns;

	pthread_mutex_lock(&switches.lock);
	switches.range_uj = 2000000000; /* half a turn at 2 kW takes 0.5 s */
	pthread_mutex_unlock(&switches.lock);
	assert_int_equal(read_all(table), 1);
	read_beside_a_read(table, NSEC_PER_SEC / 8);
	start_ns = clock_ns(CLOCK_MONOTONIC);
	read_beside_a_read(table, NSEC_PER_SEC * 3 / 4);
	assert_true(clock_ns(CLOCK_MONOTONIC) - start_ns < PATIENCE_S / 2 * NSEC_PER_SEC);
	meter_table_close(table);
	wait_until_closed();
}

static void test_all_zones_stalled_and_back(void **state)
{
	struct meter_table *table = open_table(40);
	unsigned stalled = 0;

	for (size_t z = 0; z < ZONES; z++)
		set_stuck(z, true);
	for (unsigned i = 0; i < 200 && stalled < ZONES; i++) {
		assert_int_equal(read_all(table), 0);
		stalled = 0;
		for (size_t z = 0; z < ZONES; z++)
			stalled += readings[z].state == ZONE_STALLED;
	}
	assert_int_equal(stalled, ZONES);
	for (size_t z = 0; z < ZONES; z++) {
		assert_int_equal(readings[z].error, -ETIMEDOUT);
		set_stuck(z, false);
	}
	assert_in_range(switches.most_in_read, 0, 1);
	read_until_all_up(table);
	meter_table_close(table);
	wait_until_closed();
}

/* No thread is left that could ask: that is not the driver of the zones behind. */
static void test_a_zone_that_was_not_asked_is_missed(void **state)
{
	struct meter_table *table = open_table(40);
	unsigned stalled = 0, missed = 0;

	assert_int_equal(read_all(table), ZONES);
	pthread_mutex_lock(&switches.lock);
	switches.threads_hang = true;
	pthread_mutex_unlock(&switches.lock);
	for (size_t z = 0; z < ZONES; z++)
		set_stuck(z, true);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(read_all(table), 0);
	for (size_t z = 0; z < ZONES; z++) {
		stalled += readings[z].state == ZONE_STALLED;
		missed += readings[z].state == ZONE_MISSED;
		assert_int_equal(readings[z].error, -ETIMEDOUT);
	}
	assert_true(missed > 0);
	assert_int_equal(stalled + missed, ZONES);
	(void)let_all_go(state);
	read_until_all_up(table);
	meter_table_close(table);
	wait_until_closed();
}

static void test_close_does_not_wait_for_a_stalled_read(void **state)
{
	struct meter_table *table = open_table(1000);
	uint64_t start_ns;

	set_stuck(0, true);
	(void)read_all(table);
	start_ns = clock_ns(CLOCK_MONOTONIC);
	meter_table_close(table);
	assert_true(clock_ns(CLOCK_MONOTONIC) - start_ns < 20 * NSEC_PER_SEC);
	assert_int_equal(switches.open_meters, 1); /* the stuck thread still holds it */
	set_stuck(0, false);
	wait_until_closed();
}

static void test_open_does_not_wait_for_a_stalled_search(void **state)
{
	struct meter_table *table;
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);

	set_rescan_stuck(true);
	table = open_table(40);
	assert_true(clock_ns(CLOCK_MONOTONIC) - start_ns < 20 * NSEC_PER_SEC);
	assert_int_equal(meter_table_count(table), 0);
	assert_int_equal(read_all(table), 0);
	assert_false(meter_table_has_searched(table));
	set_rescan_stuck(false);
	read_until_all_up(table);
	assert_int_equal(meter_table_count(table), ZONES);
	assert_true(meter_table_has_searched(table));
	meter_table_close(table);
	wait_until_closed();
}

static void *end_search_late(void *unused)
{
	(void)unused;
	(void)usleep(200000);
	set_rescan_stuck(false);
	return NULL;
}

/* As on a machine where the thread that searches waits for its CPU. */
static void test_open_waits_longer_than_a_read_may_take(void **state)
{
	struct meter_table *table;
	pthread_t thread;

	set_rescan_stuck(true);
	assert_int_equal(pthread_create(&thread, NULL, end_search_late, NULL), 0);
	table = open_table(1);
	assert_int_equal(meter_table_count(table), ZONES);
	assert_int_equal(pthread_join(thread, NULL), 0);
	meter_table_close(table);
	wait_until_closed();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_kernel_errors_are_state_and_pass, let_all_go),
		cmocka_unit_test_teardown(test_gone_zone_makes_the_tree_be_searched, let_all_go),
		cmocka_unit_test_teardown(test_an_expected_pass_begins_by_itself, let_all_go),
		cmocka_unit_test_teardown(test_no_pass_is_expected_where_it_would_be_another,
					  let_all_go),
		cmocka_unit_test(test_what_is_not_wanted_is_not_opened),
		cmocka_unit_test_teardown(test_stalled_zone_costs_no_other, let_all_go),
		cmocka_unit_test_teardown(test_slow_zones_that_keep_the_deadline_are_up,
					  let_all_go),
		cmocka_unit_test_teardown(test_making_a_thread_hangs_no_pass, let_all_go),
		cmocka_unit_test_teardown(test_zones_are_read_between_passes, let_all_go),
		cmocka_unit_test_teardown(test_a_pass_waits_for_a_read_under_way, let_all_go),
		cmocka_unit_test_teardown(test_all_zones_stalled_and_back, let_all_go),
		cmocka_unit_test_teardown(test_close_does_not_wait_for_a_stalled_read, let_all_go),
		cmocka_unit_test_teardown(test_a_zone_that_was_not_asked_is_missed, let_all_go),
		cmocka_unit_test_teardown(test_open_does_not_wait_for_a_stalled_search, let_all_go),
		cmocka_unit_test_teardown(test_open_waits_longer_than_a_read_may_take, let_all_go),
	};

	return unit_run(tests);
}
