// SPDX-License-Identifier: Apache-2.0
#include "record/record_decode.h"

#include "tests/unit/record/sample.h"
#include "tests/unit/unit.h"

struct decoding {
	struct record_decoder *decoder;
	struct record record;
	struct diag diag;
};

static int set_up(void **state)
{
	struct decoding *decoding = calloc(1, sizeof(*decoding));

	*state = decoding;
	return record_decoder_new(&decoding->decoder);
}

static int tear_down(void **state)
{
	struct decoding *decoding = *state;

	record_decoder_free(decoding->decoder);
	free(decoding);
	return 0;
}

static int next(struct decoding *decoding, const struct strbuf *bytes, size_t *at)
{
	return record_decode(decoding->decoder, (const uint8_t *)bytes->data, bytes->len, at,
			     &decoding->record, &decoding->diag);
}

static void definitions_come_back(void **state)
{
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT;
	struct decoding *decoding = *state;
	struct record *record = &decoding->record;
	size_t at = 0;

	sample_definitions(&bytes);
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_int_equal(record->type, RECORD_FACT);
	assert_string_equal(record->pair.value, "kepler 1");
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_string_equal(record->pair.name, "idle.share");
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_int_equal(record->zone.zone.kind, ZONE_PACKAGE);
	assert_int_equal(record->zone.zone.domain.number, 1);
	assert_string_equal(record->zone.source, "rapl-sysfs");
	assert_string_equal(record->zone.zone.path, "intel-rapl:1");
	assert_true(record->zone.zone.knows_idle);
	assert_int_equal(record->zone.zone.rank, 3);
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_int_equal(record->zone.zone.quality, QUALITY_ESTIMATED);
	assert_int_equal(record->zone.zone.domain.kind, DOMAIN_DEVICE);
	assert_int_equal(record->zone.found_ms, -5);
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_string_equal(record->idle.line, "idle=2 …");
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_int_equal(record->owner.size_millicpu, 1500);
	assert_true(record->owner.has_pod_names && !record->owner.waiting);
	assert_string_equal(record->owner.names.text[LABEL_NAMESPACE], "shop");
	assert_null(record->owner.names.text[LABEL_POD_NAME]);
	assert_int_equal(record->owner.names.extra_count, 1);
	assert_string_equal(record->owner.names.extra[0].value, "shop");
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_true(record->owner.is_other);
	assert_int_equal(record->owner.id, 300);
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_int_equal(record->process.pid, 4711);
	assert_int_equal(record->process.start_ns, 123456789);
	assert_string_equal(record->process.comm, "nginx");
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_true(record->state.progress.held && record->state.progress.is_due &&
		    !record->state.progress.was_read);
	assert_int_equal(record->state.progress.split_from_ns, 6);
	assert_int_equal(record->state.progress.standing, STANDING_HELD);
	assert_int_equal(next(decoding, &bytes, &at), 0);
}

static void an_interval_comes_back(void **state)
{
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT;
	struct decoding *decoding = *state;
	const struct recorded_interval *interval = &decoding->record.interval;
	size_t at = 0;

	sample_interval(&bytes);
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_int_equal(interval->time_ns, 2000000000);
	assert_int_equal(interval->asleep_ns, 7);
	assert_true(interval->utilisation > 0.0999 && interval->utilisation < 0.1001);
	assert_int_equal(interval->settle_ns, 60);
	assert_int_equal(interval->work.unseen_ns, 3);
	assert_int_equal(interval->places.cpus[1], 5);
	assert_int_equal(interval->reading_count, 2);
	assert_int_equal(interval->readings[0].span.from_ns, 1000000000);
	assert_int_equal(interval->readings[0].span.since_ns, 500000000);
	assert_int_equal(interval->readings[0].span.energy_uj, 12500000);
	assert_int_equal(interval->readings[0].span.idle_uj, 2500000);
	assert_int_equal(interval->readings[1].error, -5);
	assert_int_equal(interval->readings[1].span.from_ns, 0);
	assert_int_equal(interval->readings[1].span.to_ns, 2100000000);
	assert_false(interval->readings[1].span.known);
	assert_int_equal(interval->parties[1], recorded_party_owner(300));
	assert_int_equal(interval->cpu_ns[0], 500000000);
	assert_int_equal(interval->sockets, 2);
	assert_int_equal(interval->socket_ns[1][1], 300);
	assert_int_equal(interval->signals, SIGNAL_BIT(SIGNAL_CPU_CYCLES));
	assert_true(interval->signal[SIGNAL_CPU_CYCLES][0] == UINT64_MAX / 2);
	assert_int_equal(interval->uses[0].held, DEVICE_WHOLE);
	assert_int_equal(interval->nameless[0].allocated, 3);
	assert_int_equal(interval->allocations[0].owner, 300);
	assert_int_equal(interval->ended[0], 9);
	assert_true(interval->has_steal);
	assert_int_equal(interval->steal_ns, 9000);
	assert_int_equal(interval->stolen_ns, 4000);
}

/* Each beginning of a record, with a length that says so. */
static void what_is_cut_is_refused(void **state)
{
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT;
	struct decoding *decoding = *state;

	sample_interval(&bytes);
	assert_true((bytes.data[1] & 0x80) && !(bytes.data[2] & 0x80)); /* two bytes of length */
	for (size_t len = 0; len + 3 < bytes.len; len++) {
		CLEANUP(strbuf_release) struct strbuf part = STRBUF_INIT;
		size_t at = 0;
		int r;

		strbuf_add_char(&part, (char)RECORD_INTERVAL);
		strbuf_add_char(&part, (char)((len & 0x7f) | 0x80));
		strbuf_add_char(&part, (char)(len >> 7));
		strbuf_add(&part, bytes.data + 3, len);
		r = next(decoding, &part, &at);
		/* Whole sections are an interval, too. */
		assert_true(r == -EBADMSG || r == 1);
		at = 0;
		part.len--;
		assert_int_equal(next(decoding, &part, &at), -EBADMSG);
	}
}

static void must_fail(struct decoding *decoding, const char *record, size_t len, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT;
	size_t at = 0;

	strbuf_add(&bytes, record, len);
	assert_int_equal(next(decoding, &bytes, &at), -EBADMSG);
	assert_string_equal(decoding->diag.text, why);
}

#define MUST_FAIL(record, why) must_fail(*state, record, sizeof(record) - 1, why)
#define TIME_10                "\1\16\12\12\0\0\0\0\0\0\0\0\0\0\0\0"

static void limits_hold(void **state)
{
	MUST_FAIL("\6\4\200\200\200\2", "record of type 6: an id beyond 2^22");
	MUST_FAIL("\3\5\202\10", "a length beyond the end");
	MUST_FAIL("\3\2\212\10", "record of type 3: a zone beyond the 1,034th");
	MUST_FAIL("\1\3\2a\0", "record of type 1: a text that is too long, or has a byte 0");
	MUST_FAIL("\5\5\0\0\0\0\0", "record of type 5: an owner without a container_id");
	MUST_FAIL("\5\5\0\0\0\0\21", "record of type 5: too many labels");
	MUST_FAIL("\7\2\2\0", "record of type 7: an interval that does not begin with its time");
	MUST_FAIL("\7\0", "record of type 7: an interval that does not begin with its time");
	MUST_FAIL("\7\22" TIME_10 "\6\0",
		  "record of type 7: amounts of parties before the parties");
	MUST_FAIL("\7\24" TIME_10 "\5\2\1\0", "record of type 7: parties without their run time");
	MUST_FAIL("\7\24" TIME_10 "\5\2\1\1", "record of type 7: an id beyond 2^22");
	MUST_FAIL("\7\24" TIME_10 "\5\2\2\0", "record of type 7: a list that is cut off");
	MUST_FAIL("\7\24" TIME_10 "\4\2\1\6", "record of type 7: an unknown state of a zone");
	MUST_FAIL("\7\32" TIME_10 "\4\10\1\0\0\3\0\12\1\0",
		  "record of type 7: a span that does not end after it begins");
	MUST_FAIL("\7\37" TIME_10 "\5\2\1\0\6\1\5\7\2\0\3\7\2\1\3",
		  "record of type 7: more run time in packages than in all");
	MUST_FAIL("\7\24" TIME_10 "\15\2\1\2",
		  "record of type 7: more stolen of run time than was stolen");
	MUST_FAIL("\7\31" TIME_10 "\2\3\4\0\0\15\2\6\5",
		  "record of type 7: more time stolen of run time than ran");
	MUST_FAIL("\7\30" TIME_10 "\15\2\1\1\15\2\1\1",
		  "record of type 7: a section that is there twice");
}

static void what_is_unknown_is_skipped(void **state)
{
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT;
	struct decoding *decoding = *state;
	size_t at = 0;

	strbuf_add(&bytes, "\177\2ab\200\10\0", 7);
	strbuf_add(&bytes, "\10\4\2\3zz", 6); /* END, and what a later version adds */
	strbuf_add(&bytes, "\7\23" TIME_10 "\140\1x", 21);
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_int_equal(decoding->record.type, RECORD_END);
	assert_int_equal(decoding->record.end.lost, 3);
	assert_int_equal(next(decoding, &bytes, &at), 1);
	assert_int_equal(decoding->record.interval.time_ns, 10);
	assert_int_equal(next(decoding, &bytes, &at), 0);
}

static void amounts_have_a_sum(void **state)
{
	CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT;
	const uint32_t parties[] = { 0, 2 };
	const uint64_t amounts[] = { UINT64_MAX, 1 };
	const struct recorded_interval interval = { .time_ns = 1,
						    .boottime_ns = 1,
						    .parties = parties,
						    .party_count = 2,
						    .cpu_ns = amounts };
	struct decoding *decoding = *state;
	size_t at = 0;

	record_encode_interval(&bytes, &interval);
	assert_int_equal(next(decoding, &bytes, &at), -EBADMSG);
	assert_string_equal(decoding->diag.text,
			    "record of type 7: amounts with a sum beyond 64 bits");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(definitions_come_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_interval_comes_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_cut_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limits_hold, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_unknown_is_skipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(amounts_have_a_sum, set_up, tear_down),
	};

	return unit_run(tests);
}
