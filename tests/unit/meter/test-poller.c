// SPDX-License-Identifier: Apache-2.0
/*
 * A slow source together with one that is read in each pass. Its readings and their times are made
 * up; only the start of its thread takes real time.
 */
#include "meter/poller.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "seen_zones.h"
#include "tests/unit/unit.h"

#define PATIENCE_S 120 /* only a failure takes long */
#define CLOSE_S    10
#define STEP_UJ    7000000
#define SLEEPS     "voluntary_ctxt_switches:"

/* The slow source: the result of its next poll, and how often it was polled. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stuck, is_closing_stuck;
	int error;
	enum zone_caveat caveat;
	enum sample_kind kind;
	uint64_t value;  /* of the last answer */
	uint64_t end_ns; /* of the last answer: each is of 10 s more, whatever the clock says */
	unsigned polls, left; /* how often a new reading may still come */
	unsigned open_meters;
	bool is_away; /* its zone is not there yet */
	unsigned searches;
} slow = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

struct meter {
	struct zone zone;
	bool is_slow;
	uint64_t energy_uj;
};

static int open_one(struct meter **ret, bool is_slow, const char *source)
{
	struct meter *meter = calloc(1, sizeof(*meter));

	assert_non_null(meter);
	meter->is_slow = is_slow;
	meter->zone = (struct zone){ .kind = ZONE_PLATFORM, .source = source };
	pthread_mutex_lock(&slow.lock);
	slow.open_meters++;
	pthread_mutex_unlock(&slow.lock);
	*ret = meter;
	return 0;
}

static int fast_open(const struct meter_options *options, struct meter **ret)
{
	(void)options;
	return open_one(ret, false, "fast");
}

static int slow_open(const struct meter_options *options, struct meter **ret)
{
	(void)options;
	return open_one(ret, true, "slow");
}

static size_t one_zone(struct meter *meter)
{
	(void)meter;
	return 1;
}

static const struct zone *zone_at(struct meter *meter, size_t index)
{
	(void)index;
	return &meter->zone;
}

static size_t ignored(struct meter *meter)
{
	(void)meter;
	return 1;
}

static int rescan(struct meter *meter)
{
	(void)meter;
	return 0;
}

/* A zone that was seen stays. */
static size_t slow_zones(struct meter *meter)
{
	size_t count;

	(void)meter;
	pthread_mutex_lock(&slow.lock);
	count = slow.is_away ? 0 : 1;
	pthread_mutex_unlock(&slow.lock);
	return count;
}

static int slow_rescan(struct meter *meter)
{
	(void)meter;
	pthread_mutex_lock(&slow.lock);
	slow.searches++;
	pthread_mutex_unlock(&slow.lock);
	return 0;
}

static int fast_read(struct meter *meter, size_t index, struct raw_reading *ret)
{
	(void)index;
	*ret = (struct raw_reading){ ++meter->energy_uj, UINT64_MAX / 2, 1 };
	return 0;
}

static int slow_read(struct meter *meter, size_t index, struct raw_reading *ret)
{
	int r;

	(void)meter;
	(void)index;
	pthread_mutex_lock(&slow.lock);
	slow.polls++;
	pthread_cond_broadcast(&slow.changed);
	while (slow.stuck)
		pthread_cond_wait(&slow.changed, &slow.lock);
	r = slow.error;
	if (r == 0 && slow.left) {
		slow.left--;
		slow.value = slow.kind == SAMPLE_POWER ? 20000000 : slow.value + STEP_UJ;
		slow.end_ns += 1000; /* a thousand moments are still in the past */
	}
	*ret = (struct raw_reading){
		.value = slow.value, .kind = slow.kind, .caveat = slow.caveat, .to_ns = slow.end_ns
	};
	pthread_mutex_unlock(&slow.lock);
	return r;
}

/* A close that waits for one that waits for it comes back nevertheless, later. */
static void close_one(struct meter *meter)
{
	struct timespec end;

	(void)clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += CLOSE_S;
	pthread_mutex_lock(&slow.lock);
	while (meter->is_slow && slow.is_closing_stuck &&
	       pthread_cond_timedwait(&slow.changed, &slow.lock, &end) == 0)
		;
	free(meter);
	slow.open_meters--;
	pthread_cond_broadcast(&slow.changed);
	pthread_mutex_unlock(&slow.lock);
}

static const struct meter_ops fast_meter = {
	.name = "fast",
	.open = fast_open,
	.zone_count = one_zone,
	.zone_at = zone_at,
	.ignored = ignored,
	.read_raw = fast_read,
	.rescan = rescan,
	.close = close_one,
};

static const struct meter_ops slow_meter = {
	.name = "slow",
	.period_ns = NSEC_PER_MSEC,
	.open = slow_open,
	.zone_count = slow_zones,
	.zone_at = zone_at,
	.ignored = ignored,
	.read_raw = slow_read,
	.rescan = slow_rescan,
	.close = close_one,
};

enum { FAST, SLOW, ZONES };

static struct seen_zone seen[METER_ZONES_MAX];

static struct meter_table *open_both(enum sample_kind kind)
{
	static const struct meter_ops *const both[] = { &fast_meter, &slow_meter, NULL };
	/* A gigawatt: what is made up has no time to flow. */
	const struct meter_options options = { "/sys", 60 * NSEC_PER_SEC, 1000000000000000, false };
	struct meter_table *table;

	pthread_mutex_lock(&slow.lock);
	slow.stuck = false;
	slow.error = 0;
	slow.caveat = CAVEAT_NONE;
	slow.kind = kind;
	slow.value = 0;
	slow.polls = 0;
	slow.left = 1;
	slow.end_ns = clock_ns(CLOCK_MONOTONIC) - NSEC_PER_MSEC;
	pthread_mutex_unlock(&slow.lock);
	memset(seen, 0, sizeof(seen));
	assert_int_equal(meter_table_open_sources(both, &options, &table), 0);
	return table;
}

static void close_both(struct meter_table *table)
{
	struct timespec end;

	meter_table_close(table);
	(void)clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&slow.lock);
	slow.stuck = false;
	pthread_cond_broadcast(&slow.changed);
	while (slow.open_meters && pthread_cond_timedwait(&slow.changed, &slow.lock, &end) == 0)
		;
	assert_int_equal(slow.open_meters, 0);
	pthread_mutex_unlock(&slow.lock);
}

static void tell(unsigned times)
{
	pthread_mutex_lock(&slow.lock);
	slow.left += times;
	pthread_mutex_unlock(&slow.lock);
}

/* Passes until the slow zone has a span that ends with its last report. */
static void see_all(struct meter_table *table)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_S * NSEC_PER_SEC;
	bool all = false;

	while (!all) {
		assert_true(clock_ns(CLOCK_MONOTONIC) < end_ns);
		(void)usleep(1000);
		(void)see_zones(table, seen);
		pthread_mutex_lock(&slow.lock);
		all = slow.left == 0 && meter_table_count(table) == ZONES &&
		      seen[SLOW].time_ns == slow.end_ns;
		pthread_mutex_unlock(&slow.lock);
	}
}

static void see_until(struct meter_table *table, enum zone_state state)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_S * NSEC_PER_SEC;

	while (seen[SLOW].state != state) {
		assert_true(clock_ns(CLOCK_MONOTONIC) < end_ns);
		(void)usleep(1000);
		(void)see_zones(table, seen);
	}
}

static void set(bool stuck, int error)
{
	pthread_mutex_lock(&slow.lock);
	slow.stuck = stuck;
	slow.error = error;
	pthread_cond_broadcast(&slow.changed);
	pthread_mutex_unlock(&slow.lock);
}

/* see_span() checks in each pass that spans follow each other; here that nothing is lost. */
static void test_values_of_a_slow_source_are_taken_once(void **state)
{
	struct meter_table *table = open_both(SAMPLE_TOTAL);
	uint64_t reads;

	assert_int_equal(meter_table_count(table),
			 ZONES); /* the start waits for the first search */
	see_all(table);
	assert_int_equal(seen[SLOW].energy_uj, 0); /* the baseline */
	assert_string_equal(meter_table_zone(table, FAST)->source, "fast");
	assert_string_equal(meter_table_zone(table, SLOW)->source, "slow");
	assert_int_equal(meter_table_ignored(table), 2);
	assert_true(meter_table_has_searched(table));
	for (unsigned i = 1; i <= 50; i++) {
		tell(1 + i % 3);
		see_all(table);
		assert_int_equal(seen[SLOW].state, ZONE_UP);
	}
	assert_int_equal(seen[SLOW].energy_uj, slow.value - STEP_UJ);
	assert_int_equal(seen[SLOW].errors + seen[SLOW].dropped, 0);
	reads = seen[FAST].reads;
	(void)see_zones(table, seen); /* nothing new there: up, and without a span */
	assert_int_equal(seen[SLOW].span.to_ns, 0);
	assert_int_equal(seen[SLOW].state, ZONE_UP);
	assert_int_equal(seen[FAST].reads, reads + 1);
	assert_true(seen[FAST].span.known && seen[FAST].span.energy_uj == 1);
	close_both(table);
}

static void test_power_of_a_slow_source_is_integrated(void **state)
{
	struct meter_table *table = open_both(SAMPLE_POWER);

	see_all(table);
	tell(250); /* 250 µs at 20 W */
	see_all(table);
	assert_int_equal(seen[SLOW].energy_uj, 5000);
	close_both(table);
}

static void tell_with(struct meter_table *table, enum zone_caveat caveat)
{
	pthread_mutex_lock(&slow.lock);
	slow.caveat = caveat;
	slow.left++;
	pthread_mutex_unlock(&slow.lock);
	see_all(table);
}

static void test_a_caveat_comes_from_the_last_good_reading(void **state)
{
	struct meter_table *table = open_both(SAMPLE_POWER);

	see_all(table);
	assert_int_equal(seen[SLOW].caveat, CAVEAT_NONE);
	tell_with(table, CAVEAT_OUTPUT);
	assert_int_equal(seen[SLOW].caveat, CAVEAT_OUTPUT);
	set(false, -EIO);
	see_until(table, ZONE_ERROR);
	assert_int_equal(seen[SLOW].caveat, CAVEAT_OUTPUT);
	set(false, 0);
	tell_with(table, CAVEAT_NONE);
	assert_int_equal(seen[SLOW].caveat, CAVEAT_NONE);
	close_both(table);
}

/* It costs its own zone, and no pass waits for it. */
static void test_a_poll_that_hangs_is_stalled(void **state)
{
	struct meter_table *table = open_both(SAMPLE_TOTAL);
	uint64_t start_ns, energy_uj;

	see_all(table);
	energy_uj = seen[SLOW].energy_uj;
	set(true, 0);
	tell(3);
	start_ns = clock_ns(CLOCK_MONOTONIC);
	see_until(table, ZONE_STALLED);
	assert_int_equal(seen[SLOW].error, -ETIMEDOUT);
	assert_int_equal(seen[FAST].state, ZONE_UP);
	assert_true(clock_ns(CLOCK_MONOTONIC) - start_ns < 20 * NSEC_PER_SEC);
	set(false, 0);
	see_all(table);
	assert_int_equal(seen[SLOW].state, ZONE_UP);
	assert_int_equal(seen[SLOW].energy_uj - energy_uj, 3 * STEP_UJ); /* the gap, too */
	close_both(table);
}

/* How often all other threads went to sleep so far. */
static unsigned long count_sleeps(void)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned long sum = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char path[300], line[128];
		FILE *file;

		if (entry->d_name[0] == '.' || strtol(entry->d_name, NULL, 10) == (long)getpid())
			continue;
		(void)snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file)) {
			if (strncmp(line, SLEEPS, strlen(SLEEPS)) == 0)
				sum += strtoul(line + strlen(SLEEPS), NULL, 10);
		}
		if (file)
			(void)fclose(file);
	}
	(void)closedir(dir);
	return sum;
}

/* With a period of a millisecond a thread that polled nothing would sleep some fifty times. */
static void test_a_source_without_zones_costs_nothing(void **state)
{
	const struct meter_options options = { "/sys", NSEC_PER_MSEC, 0, false };
	struct meter_table *table;
	unsigned long sleeps;
	unsigned passes = 0;

	pthread_mutex_lock(&slow.lock);
	slow.is_away = true;
	slow.searches = slow.polls = 0;
	slow.stuck = false;
	pthread_mutex_unlock(&slow.lock);
	assert_int_equal(meter_table_open_source(&slow_meter, &options, &table), 0);
	assert_int_equal(slow.searches, 1);
	(void)usleep(10000); /* it has come to rest */
	sleeps = count_sleeps();
	(void)usleep(50000);
	assert_in_range(count_sleeps() - sleeps, 0, 3);
	pthread_mutex_lock(&slow.lock);
	slow.is_away = false;
	pthread_mutex_unlock(&slow.lock);
	while (meter_table_count(table) == 0 && passes < 10000) {
		struct meter_pass pass;

		(void)meter_table_read(table, &pass);
		(void)usleep(1000);
		passes++;
	}
	assert_int_equal(meter_table_count(table), 1);
	assert_true(passes >= 29 && slow.searches >= 2);
	close_both(table);
}

/* The thread that is stuck frees what it holds when it comes back. */
static void test_an_end_does_not_wait_for_a_poll_that_hangs(void **state)
{
	const struct meter_options options = { "/sys", NSEC_PER_MSEC, 0, false };
	struct meter_table *table;
	struct timespec end;

	(void)clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_S;
	set(true, 0);
	pthread_mutex_lock(&slow.lock);
	slow.polls = 0;
	pthread_mutex_unlock(&slow.lock);
	assert_int_equal(meter_table_open_source(&slow_meter, &options, &table), 0);
	pthread_mutex_lock(&slow.lock);
	while (slow.polls == 0 && pthread_cond_timedwait(&slow.changed, &slow.lock, &end) == 0)
		;
	assert_int_equal(slow.polls, 1);
	pthread_mutex_unlock(&slow.lock);
	meter_table_close(table);
	assert_int_equal(slow.open_meters, 1);
	set(false, 0);
	close_both(NULL);
}

/* A driver that is stuck may not even let go. */
static void test_an_end_does_not_wait_for_a_close_that_hangs(void **state)
{
	const struct meter_options options = { "/sys", 200 * NSEC_PER_MSEC, 0, false };
	struct meter_table *table;

	set(false, 0);
	assert_int_equal(meter_table_open_source(&slow_meter, &options, &table), 0);
	pthread_mutex_lock(&slow.lock);
	slow.is_closing_stuck = true;
	pthread_mutex_unlock(&slow.lock);
	meter_table_close(table);
	pthread_mutex_lock(&slow.lock);
	assert_int_equal(slow.open_meters, 1);
	slow.is_closing_stuck = false;
	pthread_cond_broadcast(&slow.changed);
	pthread_mutex_unlock(&slow.lock);
	close_both(NULL);
}

static void test_a_poll_that_fails_is_reported_once(void **state)
{
	struct meter_table *table = open_both(SAMPLE_TOTAL);

	see_all(table);
	set(false, -EIO);
	see_until(table, ZONE_ERROR);
	assert_int_equal(seen[SLOW].error, -EIO);
	set(false, -ENODEV);
	see_until(table, ZONE_ABSENT);
	assert_true(seen[SLOW].errors <= slow.polls);
	set(false, 0);
	tell(1);
	see_all(table);
	assert_int_equal(seen[SLOW].state, ZONE_UP);
	close_both(table);
}

static void a_slow_source_rests_between_two_polls(void **state)
{
	assert_int_equal(poller_next_wait_ns(1000, 1050, 100, false), 1050); /* it has waited */
	assert_int_equal(poller_next_wait_ns(1000, 1049, 100, false), 1099);
	assert_int_equal(poller_next_wait_ns(1000, 1090, 100, true), 1140);
	assert_int_equal(poller_next_due_ns(1000, 1010, 100), 1100); /* on time */
	assert_int_equal(poller_next_due_ns(1000, 1050, 100), 1100);
	assert_int_equal(poller_next_due_ns(1000, 1051, 100),
			 1101); /* half of the period is left */
	assert_int_equal(poller_next_due_ns(1000, 1099, 100), 1149);
	assert_int_equal(poller_next_due_ns(1000, 5000, 100), 5050); /* 39 were missed */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_of_a_slow_source_are_taken_once),
		cmocka_unit_test(test_power_of_a_slow_source_is_integrated),
		cmocka_unit_test(test_a_caveat_comes_from_the_last_good_reading),
		cmocka_unit_test(test_a_poll_that_hangs_is_stalled),
		cmocka_unit_test(test_a_poll_that_fails_is_reported_once),
		cmocka_unit_test(test_a_source_without_zones_costs_nothing),
		cmocka_unit_test(test_an_end_does_not_wait_for_a_poll_that_hangs),
		cmocka_unit_test(test_an_end_does_not_wait_for_a_close_that_hangs),
		cmocka_unit_test(a_slow_source_rests_between_two_polls),
	};

	return unit_run(tests);
}
