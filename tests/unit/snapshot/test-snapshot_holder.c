// SPDX-License-Identifier: Apache-2.0
/*
 * Readers and the writer at once: what a reader holds never changes under it. Meant for
 * -Db_sanitize=thread as much as for address.
 */
#include "snapshot/snapshot_holder.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "snapshot_check.h"
#include "tests/rig/test_owner.h"
#include "tests/rig/test_zones.h"
#include "tests/unit/unit.h"

#define SECOND_NS 1000000000ULL
#define READERS   4
#define INTERVALS 1500

static void test_buffers_are_used_again(void **state)
{
	struct snapshot_holder *holder;
	struct snapshot_buffer *first, *second, *third;
	const struct snapshot *held;

	assert_int_equal(snapshot_holder_new(&holder), 0);
	assert_null(snapshot_get(holder));
	snapshot_put(holder, NULL);
	first = snapshot_holder_take(holder, 100);
	first->snapshot = (struct snapshot){ 0 };
	snapshot_holder_publish(holder, first);
	held = snapshot_get(holder);
	assert_ptr_equal(held, &first->snapshot);
	assert_int_equal(held->sequence, 1);
	second = snapshot_holder_take(holder, 100);
	assert_ptr_not_equal(second, first);
	second->snapshot = (struct snapshot){ 0 };
	snapshot_holder_publish(holder, second);
	assert_int_equal(snapshot_holder_newest(holder), 2);
	assert_int_equal(snapshot_holder_oldest(holder), 1);
	third = snapshot_holder_take(holder, 100);
	assert_ptr_not_equal(third, first);
	snapshot_put(holder, held);
	assert_int_equal(snapshot_holder_oldest(holder), 2);
	third = snapshot_holder_take(holder, 100); /* one of the two that are not read */
	assert_ptr_not_equal(third, second);
	assert_int_equal(snapshot_holder_free(holder), 0);
	assert_int_equal(snapshot_holder_free(NULL), 0);
}

/* At the end of the program a thread may hang in the middle of a snapshot, and go on later. */
static void a_snapshot_that_is_read_outlives_the_end(void **state)
{
	struct snapshot_holder *holder;
	struct snapshot_buffer *buffer;
	const struct snapshot *older, *newest;
	char *memory;

	assert_int_equal(snapshot_holder_new(&holder), 0);
	buffer = snapshot_holder_take(holder, 100);
	memory = buffer->memory;
	memory[99] = 'r';
	buffer->snapshot = (struct snapshot){ .columns = 7 };
	snapshot_holder_publish(holder, buffer);
	older = snapshot_get(holder);
	buffer = snapshot_holder_take(holder, 100);
	buffer->snapshot = (struct snapshot){ .columns = 8 };
	snapshot_holder_publish(holder, buffer);
	newest = snapshot_get(holder);
	assert_int_equal(snapshot_holder_free(holder), -EBUSY);
	assert_true(older->columns == 7 && memory[99] == 'r' && newest->columns == 8);
	assert_null(snapshot_get(holder));
	snapshot_put(holder, newest);
	assert_int_equal(snapshot_holder_free(holder), -EBUSY);
	assert_int_equal(older->columns, 7);
	snapshot_put(holder, older);
	assert_int_equal(snapshot_holder_free(holder), 0);
}

static void all_rows_are_wanted_for_a_while(void **state)
{
	const uint64_t at = 100 * SECOND_NS;
	struct snapshot_holder *holder;
	struct snapshot_buffer *buffer;

	assert_int_equal(snapshot_holder_new(&holder), 0);
	assert_false(snapshot_holder_wants_rows(holder, at));
	snapshot_want_rows(holder, at);
	assert_true(snapshot_holder_wants_rows(holder, at + 3600 * SECOND_NS)); /* there was none */
	buffer = snapshot_holder_take(holder, 100);
	buffer->snapshot = (struct snapshot){ .monotonic_ns = at + SECOND_NS };
	snapshot_holder_publish(holder, buffer);
	assert_true(snapshot_holder_wants_rows(holder, at + SNAPSHOT_WANTED_NS - 1));
	assert_false(snapshot_holder_wants_rows(holder, at + SNAPSHOT_WANTED_NS));
	snapshot_want_rows(holder, at + 2 * SECOND_NS); /* an interval of an hour follows */
	assert_true(snapshot_holder_wants_rows(holder, at + 3600 * SECOND_NS));
	assert_int_equal(snapshot_holder_free(holder), 0);
}

static unsigned writes; /* to descriptors that wake */

int __real_eventfd_write(int fd, eventfd_t value);
int __wrap_eventfd_write(int fd, eventfd_t value);
int __wrap_eventfd_write(int fd, eventfd_t value)
{
	writes++;
	return __real_eventfd_write(fd, value);
}

static void publish_one(struct snapshot_holder *holder)
{
	struct snapshot_buffer *buffer = snapshot_holder_take(holder, 1);

	buffer->snapshot = (struct snapshot){ 0 };
	snapshot_holder_publish(holder, buffer);
}

static bool is_readable(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, 0) == 1;
}

static void test_what_waits_is_woken(void **state)
{
	struct snapshot_holder *holder;
	int first, second;
	eventfd_t count;

	assert_int_equal(snapshot_holder_new(&holder), 0);
	writes = 0;
	publish_one(holder);
	assert_int_equal(writes, 0);
	first = snapshot_wake_open(holder);
	assert_true(first >= 0);
	assert_int_equal(fcntl(first, F_GETFD), FD_CLOEXEC);
	assert_false(is_readable(first)); /* what was there before wakes nothing */
	publish_one(holder);
	second = snapshot_wake_open(holder);
	publish_one(holder);
	assert_int_equal(writes, 3);
	assert_int_equal(eventfd_read(first, &count), 0);
	assert_int_equal(count, 2);
	assert_true(!is_readable(first) && is_readable(second)); /* each has its own */
	assert_int_equal(eventfd_read(first, &count), -1);
	assert_int_equal(errno, EAGAIN);
	for (int i = 2; i < SNAPSHOT_WAKES_MAX; i++)
		assert_true(snapshot_wake_open(holder) >= 0);
	assert_int_equal(snapshot_wake_open(holder), -ENOSPC);
	assert_int_equal(snapshot_holder_free(holder), 0);
	assert_int_equal(fcntl(first, F_GETFD), -1);
	assert_int_equal(fcntl(second, F_GETFD), -1);
}

/* A reader that is there only now and then asks each time, and costs nothing in between. */
static void test_a_wake_that_is_asked_for_comes_once(void **state)
{
	struct snapshot_holder *holder;
	eventfd_t count;
	int fd;

	assert_int_equal(snapshot_holder_new(&holder), 0);
	fd = snapshot_wake_open_asked(holder);
	assert_true(fd >= 0);
	writes = 0;
	publish_one(holder);
	assert_int_equal(writes, 0);
	snapshot_wake_ask(holder, fd);
	snapshot_wake_ask(holder, fd);
	assert_false(is_readable(fd));
	publish_one(holder);
	publish_one(holder);
	assert_int_equal(writes, 1);
	assert_int_equal(eventfd_read(fd, &count), 0);
	assert_int_equal(count, 1);
	snapshot_wake_ask(holder, fd);
	publish_one(holder);
	assert_true(is_readable(fd));
	assert_int_equal(snapshot_holder_free(holder), 0);
}

/* One that is never read does not hold the writer up. */
static void test_a_full_descriptor_is_not_waited_for(void **state)
{
	struct snapshot_holder *holder;
	eventfd_t count;
	int fd;

	assert_int_equal(snapshot_holder_new(&holder), 0);
	fd = snapshot_wake_open(holder);
	assert_int_equal(eventfd_write(fd, UINT64_MAX - 1), 0);
	publish_one(holder);
	assert_int_equal(eventfd_read(fd, &count), 0);
	assert_true(count == UINT64_MAX - 1);
	publish_one(holder);
	assert_true(is_readable(fd));
	assert_int_equal(snapshot_holder_free(holder), 0);
}

struct race {
	struct snapshot_holder *holder;
	uint32_t over; /* atomic */
	uint32_t changed;
	uint64_t reads;
};

static void *read_snapshots(void *userdata)
{
	struct race *race = userdata;
	uint64_t last = 0;

	while (!__atomic_load_n(&race->over, __ATOMIC_ACQUIRE)) {
		const struct snapshot *snapshot = snapshot_get(race->holder);

		if (!snapshot)
			continue;
		if (snapshot->sequence < last ||
		    snapshot_digest(snapshot) != snapshot_digest(snapshot))
			__atomic_add_fetch(&race->changed, 1, __ATOMIC_RELAXED);
		last = snapshot->sequence;
		snapshot_put(race->holder, snapshot);
		__atomic_add_fetch(&race->reads, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/*
 * Processes and containers that come and go, so that labels and buffers are released all the time.
 */
static void live_interval(struct ledger *ledger, uint64_t i)
{
	const char *const ids[] = { "a", "b", "c", "d" };
	const struct test_owner owner = {
		.names.text = { [LABEL_CONTAINER_ID] = ids[i / 20 % 4],
				[LABEL_CONTAINER_NAME] = "n",
				[LABEL_NAMESPACE] = ids[i / 40 % 2],
				[LABEL_POD_NAME] = "p" },
	};

	for (uint32_t p = 0; p < 20; p++) {
		uint32_t container = enter_owner(ledger, &owner);
		uint32_t process = ledger_process(ledger, p + 1, i / 7, "job", container);

		ledger_charge(ledger, process, 0, 100);
		ledger_node(ledger, 0, MODE_DYNAMIC, 100);
		if (i % 7 == 6)
			ledger_end_process(ledger, process);
	}
}

static void test_readers_race_the_publisher(void **state)
{
	const struct ledger_options book = { .max_processes = 1000, .max_containers = 100 };
	const struct publisher_options options = { 100, SECOND_NS, 3 * SECOND_NS, 50 };
	const struct snapshot_zone zone = { .zone.kind = ZONE_PACKAGE, .zone.path = "p" };
	const struct snapshot_node node = { 0 };
	struct race race = { 0 };
	struct ledger *ledger;
	struct publisher *publisher;
	pthread_t readers[READERS];

	assert_int_equal(ledger_new(&book, &ledger), 0);
	assert_int_equal(test_add_zones(ledger, 1), 0);
	assert_int_equal(snapshot_holder_new(&race.holder), 0);
	assert_int_equal(publisher_new(&options, ledger, race.holder, &publisher), 0);
	for (size_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_snapshots, &race), 0);
	for (uint64_t i = 0;
	     i < INTERVALS || __atomic_load_n(&race.reads, __ATOMIC_RELAXED) < INTERVALS; i++) {
		ledger_begin(ledger, i * SECOND_NS);
		live_interval(ledger, i);
		assert_int_equal(publisher_publish(publisher,
						   &(struct publication_time){ i * SECOND_NS,
									       (int64_t)i * 1000,
									       (int64_t)i * 1000 },
						   &zone, &node),
				 0);
	}
	__atomic_store_n(&race.over, 1, __ATOMIC_RELEASE);
	for (size_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_join(readers[i], NULL), 0);
	assert_int_equal(race.changed, 0);
	publisher_free(publisher);
	ledger_free(ledger);
	assert_int_equal(snapshot_holder_free(race.holder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buffers_are_used_again),
		cmocka_unit_test(a_snapshot_that_is_read_outlives_the_end),
		cmocka_unit_test(all_rows_are_wanted_for_a_while),
		cmocka_unit_test(test_what_waits_is_woken),
		cmocka_unit_test(test_a_full_descriptor_is_not_waited_for),
		cmocka_unit_test(test_a_wake_that_is_asked_for_comes_once),
		cmocka_unit_test(test_readers_race_the_publisher),
	};

	return unit_run(tests);
}
