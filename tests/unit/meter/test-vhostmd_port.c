// SPDX-License-Identifier: Apache-2.0
/* Questions at the port of vhostmd, for which a terminal stands. */
#include "meter/passthrough/vhostmd_port.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/num.h"
#include "tests/unit/unit.h"

#define QUESTION "GET /metrics/XML\n\n"
#define PACKAGE(joules)                                                                            \
	"<metric type='real64' context='vm' "                                                      \
	"unit='J'><name>EnergyConsumedPackage</name><value>" joules "</value></metric>"
#define ANSWER(joules) "<metrics>\n\n" PACKAGE(joules) "</metrics>\n\n"
#define OF_KEPLER(joules, sequence)                                                                \
	"<metrics>" PACKAGE(                                                                       \
		joules) "<metric context='vm'><name>EnergyEpoch</name><value>f1</value></metric>"  \
			"<metric context='vm'><name>EnergySequence</name><value>" sequence         \
			"</value></metric></metrics>\n\n"
#define NOW     0
#define ONE_ASK (1200 * NSEC_PER_MSEC)

struct stage {
	struct vhostmd_port *port;
	int host_fd, kept_fd,
		stop_fd; /* of the terminal: both ends, so that neither ever hangs up */
	char path[64];
	struct diag diag;
	struct passthrough_record record; /* the last one that was read */
};

static int setup(void **state)
{
	static struct stage stage;
	struct termios raw;

	stage = (struct stage){ .stop_fd = eventfd(0, EFD_CLOEXEC) };
	cfmakeraw(memset(&raw, 0, sizeof(raw)));
	assert_int_equal(openpty(&stage.host_fd, &stage.kept_fd, stage.path, &raw, NULL), 0);
	assert_int_equal(fcntl(stage.host_fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(vhostmd_port_new(&stage.port), 0);
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	vhostmd_port_free(stage->port);
	(void)close(stage->host_fd);
	(void)close(stage->kept_fd);
	(void)close(stage->stop_fd);
	return 0;
}

static int look(struct stage *stage, uint64_t wait_ns)
{
	uint8_t bytes[PASSTHROUGH_RECORD_MAX];
	int r = vhostmd_port_read(stage->port, stage->path, stage->stop_fd, wait_ns, bytes,
				  &stage->diag);

	if (r > 0)
		assert_int_equal(passthrough_record_read(bytes, (size_t)r, &stage->record),
				 PASSTHROUGH_OK);
	return r;
}

/* The questions to the host since the last call. */
static void expect_questions(struct stage *stage, const char *text)
{
	char got[256] = "";
	ssize_t len = read(stage->host_fd, got, sizeof(got) - 1);

	assert_true(len > 0 || errno == EAGAIN);
	assert_string_equal(got, text);
}

static void say(struct stage *stage, const char *text)
{
	assert_int_equal(write(stage->host_fd, text, strlen(text)), strlen(text));
}

/* A whole dialogue: asks when it is time, and reads the answer. */
static int ask(struct stage *stage, const char *answer)
{
	int r = look(stage, NOW);

	for (unsigned i = 0; r == 0 && i < 3 && stage->host_fd >= 0; i++) {
		char got[64] = "";

		if (read(stage->host_fd, got, sizeof(got) - 1) > 0) {
			assert_string_equal(got, QUESTION);
			say(stage, answer);
			return look(stage, ONE_ASK);
		}
		r = look(stage, ONE_ASK);
	}
	return r;
}

static void an_answer_is_a_record(void **state)
{
	struct stage *stage = *state;

	assert_int_equal(look(stage, NOW), 0);
	expect_questions(stage, QUESTION);
	say(stage, "<metrics>\n\n");
	assert_int_equal(look(stage, 1), 0);
	say(stage, PACKAGE("12.5") "</metrics>\n\n");
	assert_true(look(stage, ONE_ASK) > 0);
	assert_int_equal(stage->record.zone_count, 1);
	assert_int_equal(stage->record.zones[0].dynamic_uj, 12500000);
	assert_true(stage->record.epoch > 0 && stage->record.boottime_ns > 0);
	assert_true(stage->record.sequence > 1); /* it is not known what it began with */
	/* Only when a second is over. */
	assert_int_equal(look(stage, NOW), 0);
	expect_questions(stage, "");
}

static void a_late_answer_is_waited_for(void **state)
{
	struct stage *stage = *state;

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(look(stage, NSEC_PER_MSEC), 0);
	expect_questions(stage, QUESTION);
	say(stage, ANSWER("1"));
	assert_true(look(stage, ONE_ASK) > 0);
}

/* Each byte comes by itself, also in the end tag. */
static void an_answer_in_single_bytes_is_whole(void **state)
{
	static const char answer[] = ANSWER("12");
	struct stage *stage = *state;
	int r = look(stage, NOW);

	for (size_t i = 0; i < strlen(answer) && r == 0; i++) {
		assert_int_equal(write(stage->host_fd, answer + i, 1), 1);
		r = look(stage, NSEC_PER_MSEC);
	}
	assert_true(r > 0);
	assert_int_equal(stage->record.zones[0].dynamic_uj, 12000000);
}

/* Another program asked and did not wait. */
static void an_answer_to_another_is_discarded(void **state)
{
	struct stage *stage = *state;

	say(stage, ANSWER("99"));
	assert_int_equal(look(stage, NOW), 0);
	say(stage, ANSWER("1"));
	assert_true(look(stage, ONE_ASK) > 0);
	assert_int_equal(stage->record.zones[0].dynamic_uj, 1000000);
}

static void a_sequence_is_kept_or_made(void **state)
{
	struct stage *stage = *state;
	uint64_t epoch, sequence;

	assert_true(ask(stage, ANSWER("1")) > 0);
	epoch = stage->record.epoch;
	sequence = stage->record.sequence;
	assert_true(ask(stage, ANSWER("1")) > 0);
	assert_int_equal(stage->record.sequence, sequence);
	assert_true(ask(stage, ANSWER("2")) > 0);
	assert_int_equal(stage->record.sequence, sequence + 1);
	assert_int_equal(stage->record.epoch, epoch);
	assert_true(ask(stage, OF_KEPLER("3", "77")) > 0);
	assert_int_equal(stage->record.epoch, 0xF1);
	assert_int_equal(stage->record.sequence, 77);
}

static void an_answer_without_energy_is_a_reason_to_ask_rarely(void **state)
{
	struct stage *stage = *state;

	assert_int_equal(ask(stage, "<metrics></metrics>\n\n"), -ENODATA);
	assert_non_null(strstr(stage->diag.text, "have no energy"));
	assert_int_equal(look(stage, ONE_ASK), 0);
	expect_questions(stage, "");
}

/* After one that had energy, the next one may have it again. */
static void another_text_is_refused(void **state)
{
	struct stage *stage = *state;

	assert_true(ask(stage, ANSWER("1") ANSWER("2")) > 0);
	assert_int_equal(stage->record.zones[0].dynamic_uj, 1000000);
	assert_int_equal(ask(stage, "INVALID REQUEST\n\n"), -EBADMSG);
	assert_true(ask(stage, ANSWER("3")) > 0);
	assert_int_equal(stage->record.zones[0].dynamic_uj, 3000000);
}

static void an_answer_without_end_is_bounded(void **state)
{
	struct stage *stage = *state;
	char part[1024];
	int r = look(stage, NOW);

	memset(part, '<', sizeof(part));
	for (unsigned i = 0; i < 80 && r == 0; i++) {
		assert_int_equal(write(stage->host_fd, part, sizeof(part)), sizeof(part));
		r = look(stage, NSEC_PER_MSEC);
	}
	assert_int_equal(r, -EMSGSIZE);
}

static void a_device_that_is_missing_is_a_reason(void **state)
{
	struct stage *stage = *state;

	(void)snprintf(stage->path, sizeof(stage->path), "/nonexistent");
	assert_int_equal(look(stage, NOW), -ENOENT);
	assert_non_null(strstr(stage->diag.text, "/nonexistent cannot be opened"));
}

static void a_stop_ends_the_wait(void **state)
{
	struct stage *stage = *state;

	assert_int_equal(eventfd_write(stage->stop_fd, 1), 0);
	assert_int_equal(look(stage, 60 * NSEC_PER_SEC), 0);
	assert_true(ask(stage, ANSWER("1")) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_answer_is_a_record, setup, teardown),
		cmocka_unit_test_setup_teardown(a_late_answer_is_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_in_single_bytes_is_whole, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_answer_to_another_is_discarded, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sequence_is_kept_or_made, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_without_energy_is_a_reason_to_ask_rarely,
						setup, teardown),
		cmocka_unit_test_setup_teardown(another_text_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_without_end_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(a_device_that_is_missing_is_a_reason, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_stop_ends_the_wait, setup, teardown),
	};

	return unit_run(tests);
}
