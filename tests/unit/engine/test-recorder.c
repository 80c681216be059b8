// SPDX-License-Identifier: Apache-2.0
#include "engine/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/macro.h"
#include "made_up_machine.h"
#include "record/record_reader.h"
#include "replay/replay_books.h"

#define PATIENCE_NS (10 * NSEC_PER_SEC)
#define SECONDS     20

/* A virtual machine that records, in a directory of its own. */
struct guest {
	struct machine machine;
	struct recorder recorder;
	char folder[32], path[64];
};

static void guest_start(struct guest *guest)
{
	struct diag diag = { "" };

	*guest = (struct guest){ .folder = "/tmp/test-recorder-XXXXXX" };
	assert_non_null(mkdtemp(guest->folder));
	(void)snprintf(guest->path, sizeof(guest->path), "%s/a.krec", guest->folder);
	guest->machine.config.idle.mode = IDLE_MODE_OFF;
	assert_int_equal(recorder_open_file(&guest->recorder, &guest->machine.config, 2,
					    guest->path, record_store_create(guest->path, &diag), 0,
					    &diag),
			 0);
	machine_start_recorded(&guest->machine, true, recorder_tap(&guest->recorder));
}

static void guest_stop(struct guest *guest)
{
	machine_stop(&guest->machine);
	assert_int_equal(unlink(guest->path), 0);
	assert_int_equal(rmdir(guest->folder), 0);
}

/*
 * A second in which vCPUs waited for @steal_ns; @stolen_ns of it is in the run time @cpu_ns;
 * @has_steal: whether any vCPU has ever waited.
 */
static void guest_pass(struct guest *guest, uint64_t time_s, uint64_t cpu_ns, bool has_steal,
		       uint64_t steal_ns, uint64_t stolen_ns)
{
	struct told_reader *reader = &guest->machine.reader;

	reader->sample = (struct activity_sample){ .key = { .pid = 7, .start_ns = 1 },
						   .cpu_ns = cpu_ns,
						   .comm = "burner" };
	reader->activity = (struct activity){ .time_ns = time_s * NSEC_PER_SEC,
					      .boottime_ns = time_s * NSEC_PER_SEC,
					      .samples = &reader->sample,
					      .count = 1,
					      .busy_ns = cpu_ns,
					      .has_steal = has_steal,
					      .steal_ns = steal_ns,
					      .stolen_ns = stolen_ns };
	assert_int_equal(run_at(&guest->machine, time_s, time_s), 0);
}

/* Half a second of run time each, and more and more of it is stolen. */
static void guest_run(struct guest *guest)
{
	guest_pass(guest, 100, 0, false, 0, 0);
	for (uint64_t i = 1; i <= SECONDS; i++) {
		uint64_t stolen_ns = i > 3 ? i * 7654321 : 0;

		guest_pass(guest, 100 + i, NSEC_PER_SEC / 2, i > 3, 2 * stolen_ns, stolen_ns);
	}
	assert_int_equal(recorder_close(&guest->recorder, PATIENCE_NS), 0);
}

/* An estimate of its own, made of what the recording says ran. */
static void check_span(struct zone_source *again, const struct recorded_interval *interval)
{
	const struct energy_span *span = &interval->readings[0].span;
	const struct node_work work = {
		.time_ns = interval->time_ns,
		.busy_ns = interval->work.busy_ns - interval->stolen_ns,
		.waited_ns = interval->steal_ns,
	};
	struct energy_span made;

	assert_int_equal(interval->reading_count, 1);
	assert_true(interval->readings[0].has_span);
	zone_source_feed(again, &work);
	assert_true(zone_source_advance(again, 0, &made));
	assert_int_equal(span->known, made.known);
	assert_int_equal(span->to_ns, made.to_ns);
	assert_int_equal(span->energy_uj, made.energy_uj);
}

static void check_steal(const struct recorded_interval *interval)
{
	uint64_t i = interval->time_ns / NSEC_PER_SEC - 100;

	assert_int_equal(interval->has_steal, i > 3);
	assert_int_equal(interval->stolen_ns, i > 3 ? i * 7654321 : 0);
	assert_int_equal(interval->steal_ns, 2 * interval->stolen_ns);
}

static void an_estimate_can_be_made_again(void **state)
{
	const struct host_info host = { .cpus = 2, .cores = 2, .sockets = 1, .is_vm = true };
	CLEANUP_FREE struct record *record = calloc(1, sizeof(*record));
	struct zone_source *again = NULL;
	struct record_reader *reader = NULL;
	struct diag diag = { "" };
	unsigned intervals = 0;
	struct guest guest;

	(void)state;
	guest_start(&guest);
	guest_run(&guest);
	assert_int_equal(platform_estimate_new(&platform_power_model, &host, &again), 0);
	assert_int_equal(record_reader_open(guest.path, &reader, &diag), 0);
	while (record_reader_next(reader, record, &diag) > 0) {
		if (record->type != RECORD_INTERVAL)
			continue;
		check_steal(&record->interval);
		check_span(again, &record->interval);
		intervals++;
	}
	assert_string_equal(diag.text, "");
	assert_int_equal(intervals, SECONDS + 1);
	record_reader_close(reader);
	zone_source_free(again);
	guest_stop(&guest);
}

static void a_replay_books_the_same_estimate(void **state)
{
	CLEANUP_FREE struct record *record = calloc(1, sizeof(*record));
	struct record_reader *reader = NULL;
	struct replay_books *books = NULL;
	struct diag diag = { "" };
	struct guest guest;

	(void)state;
	guest_start(&guest);
	guest_run(&guest);
	assert_int_equal(replay_books_new(&guest.machine.config, &books), 0);
	assert_int_equal(record_reader_open(guest.path, &reader, &diag), 0);
	while (record_reader_next(reader, record, &diag) > 0)
		assert_true(replay_books_take(books, record, &diag) >= 0);
	assert_string_equal(diag.text, "");
	assert_true(zone_now(&guest.machine).node_uj[MODE_DYNAMIC] > 0);
	assert_int_equal(replay_books_zone(books, 0)->read_uj,
			 zone_now(&guest.machine).node_uj[MODE_DYNAMIC]);
	record_reader_close(reader);
	replay_books_free(books);
	guest_stop(&guest);
}

/* Work of both sockets; a part of the run time was in neither, as far as is known. */
static const uint64_t known_ns[2] = { 100000003, 60000001 };
#define RUN_NS 170000005

/*
 * A replay spreads work of an unknown socket as the exporter did: the sums by which work without a
 * name falls to sockets are sums of known work, and not of work that was spread before.
 */
static void sockets_are_recorded_as_they_were_known(void **state)
{
	CLEANUP_FREE struct record *record = calloc(1, sizeof(*record));
	struct record_reader *reader = NULL;
	struct replay_books *books = NULL;
	const struct parties *parties;
	struct told_reader *told;
	struct diag diag = { "" };
	struct guest guest;

	(void)state;
	guest_start(&guest);
	told = &guest.machine.reader;
	guest_pass(&guest, 100, 0, false, 0, 0);
	told->activity.time_ns = told->activity.boottime_ns = 101 * NSEC_PER_SEC;
	told->activity.busy_ns = told->sample.cpu_ns = RUN_NS;
	told->activity.sockets = 2;
	told->activity.socket_ns = known_ns;
	assert_int_equal(run_at(&guest.machine, 101, 101), 0);
	assert_int_equal(recorder_close(&guest.recorder, PATIENCE_NS), 0);
	assert_int_equal(replay_books_new(&guest.machine.config, &books), 0);
	assert_int_equal(record_reader_open(guest.path, &reader, &diag), 0);
	while (record_reader_next(reader, record, &diag) > 0) {
		assert_true(replay_books_take(books, record, &diag) >= 0);
		if (record->type == RECORD_INTERVAL && record->interval.sockets) {
			assert_int_equal(record->interval.socket_ns[0][0], known_ns[0]);
			assert_int_equal(record->interval.socket_ns[1][0], known_ns[1]);
		}
	}
	assert_string_equal(diag.text, "");
	parties = &replay_books_kept(books)->parties;
	assert_int_equal(parties->socket_ns[0][0] + parties->socket_ns[1][0], RUN_NS);
	for (uint64_t nameless_ns = 1; nameless_ns < NSEC_PER_SEC;
	     nameless_ns = nameless_ns * 3 + 7)
		assert_int_equal(parties_of_socket(parties, 0, nameless_ns),
				 muldiv_u64(nameless_ns, known_ns[0], known_ns[0] + known_ns[1]));
	record_reader_close(reader);
	replay_books_free(books);
	guest_stop(&guest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_estimate_can_be_made_again),
		cmocka_unit_test(a_replay_books_the_same_estimate),
		cmocka_unit_test(sockets_are_recorded_as_they_were_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
