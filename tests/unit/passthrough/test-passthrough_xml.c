// SPDX-License-Identifier: Apache-2.0
/* Records as metrics of vhostmd, and the metrics of others. */
#include "passthrough/passthrough_xml.h"

#include <errno.h>

#include "base/macro.h"
#include "tests/unit/unit.h"

#define VM_METRIC(attributes, name, value)                                                         \
	"<metric context='vm'" attributes "><name>" name "</name><value>" value "</value>"         \
	"</metric>\n"
#define ENERGY(name, value) VM_METRIC(" unit='J'", name, value)
#define PLAIN(name, value)  VM_METRIC("", name, value)

static int read_xml(const char *text, struct passthrough_record *ret)
{
	struct diag diag = { "" };
	int r = passthrough_xml_read(text, strlen(text), ret, &diag);

	assert_true(r == 0 || diag.text[0]);
	return r;
}

static void what_is_written_can_be_read(void **state)
{
	const struct passthrough_record record = {
		.epoch = 0xFEDCBA9876543210,
		.sequence = 18446744073709551615U,
		.cpu_time_us = 12345678,
		.flags = PASSTHROUGH_IDLE,
		.zone_count = 3,
		.zones = { { ZONE_PACKAGE, QUALITY_MEASURED, 1, 12000000, 34 },
			   { ZONE_PACKAGE, QUALITY_ESTIMATED, 1, 18446744073709551615U, 0 },
			   { ZONE_GPU, QUALITY_MEASURED, 1, 0, 0 } },
	};
	struct strbuf text = STRBUF_INIT;
	struct passthrough_record got;

	passthrough_xml_write(&record, &text);
	assert_int_equal(read_xml(text.data, &got), 0);
	assert_int_equal(got.epoch, record.epoch);
	assert_int_equal(got.sequence, record.sequence);
	assert_int_equal(got.cpu_time_us, record.cpu_time_us);
	assert_int_equal(got.flags, 0);
	assert_int_equal(got.zone_count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(got.zones[i].kind, record.zones[i].kind);
		assert_int_equal(got.zones[i].quality, record.zones[i].quality);
		assert_int_equal(got.zones[i].uncertainty_ppm, PASSTHROUGH_UNCERTAINTY_UNKNOWN);
		assert_int_equal(got.zones[i].dynamic_uj,
				 record.zones[i].dynamic_uj + record.zones[i].idle_uj);
		assert_int_equal(got.zones[i].idle_uj, 0);
	}
	strbuf_release(&text);
}

/* To vhostmd, one metric goes from a "<metric" to the next "</metric>" and the newline after it. */
static void an_action_prints_what_vhostmd_takes(void **state)
{
	struct passthrough_record record = { .epoch = UINT64_MAX, .sequence = UINT64_MAX };
	struct strbuf text = STRBUF_INIT;
	size_t count = 0;

	for (; record.zone_count < PASSTHROUGH_ZONES_MAX; record.zone_count++)
		record.zones[record.zone_count] = (struct passthrough_zone){
			.kind = ZONE_PLATFORM, .quality = QUALITY_ESTIMATED, .idle_uj = UINT64_MAX
		};
	passthrough_xml_write_energies(&record, &text);
	assert_true(text.len < PASSTHROUGH_XML_ACTION_MAX);
	for (const char *at = text.data; *at; count++) {
		const char *end = strstr(at, "</metric>\n");

		assert_int_equal(strncmp(at, "<metric type='", 14), 0);
		assert_non_null(end);
		assert_null(memmem(at + 1, (size_t)(end - at), "<metric", 7));
		at = end + strlen("</metric>\n");
	}
	assert_int_equal(count, PASSTHROUGH_ZONES_MAX + 2);
	assert_null(strstr(text.data, "TotalCPUTime")); /* it has that itself */
	strbuf_release(&text);
}

/* A document of vhostmd with its stock metrics, and the output of an action. */
static void what_vhostmd_makes_of_it_can_be_read(void **state)
{
	const struct passthrough_record record = {
		.epoch = 7,
		.sequence = 9,
		.zone_count = 1,
		.zones = { { ZONE_PACKAGE, QUALITY_MEASURED, 1, 12000000, 0 } },
	};
	struct strbuf text = STRBUF_INIT;
	struct passthrough_record got;

	strbuf_add_str(
		&text,
		"<metrics>\n  <metric type='real64' context='host'>\n"
		"    <name>TotalCPUTime</name>\n    <value>846.600000</value>\n  </metric>\n"
		"  <metric type='real64' context='vm' id='2' "
		"uuid='6be3fdb8-bef5-6fec-b1b7-e61bbceab708' unit='s'>\n"
		"    <name>TotalCPUTime</name>\n    <value>69.400000</value>\n  </metric>\n");
	passthrough_xml_write_energies(&record, &text);
	strbuf_add_str(&text, "</metrics>\n\n");
	assert_int_equal(read_xml(text.data, &got), 0);
	assert_int_equal(got.epoch, 7);
	assert_int_equal(got.sequence, 9);
	assert_int_equal(got.cpu_time_us, 69400000);
	assert_int_equal(got.zone_count, 1);
	assert_int_equal(got.zones[0].dynamic_uj, 12000000);
	strbuf_release(&text);
}

/* As vhostmd and KubeVirt write, with metrics of the host, of other names and in other units. */
static void metrics_of_others_are_ignored(void **state)
{
	static const char text[] =
		"<?xml version=\"1.0\"?>\n<!-- a comment -->\n<metrics>\n"
		"<metric type='string' context='host'><name>HostName</name><value>a b</value>"
		"</metric>\n"
		"<metric type=\"real64\" context=\"host\" unit=\"J\"><name>EnergyConsumedPackage"
		"</name><value>99</value></metric>\n"
		"<metric type='real64' context='vm' unit='kWh'><name>EnergyConsumedDram</name>"
		"<value>1</value></metric>\n"
		"<metric type='real64' context='vm' unit='KiB'><name>TotalCPUTime</name>"
		"<value>7</value></metric>\n"
		"<metric type='real64' context='vm'>\n  <name> EnergyConsumedCore </name>\n"
		"  <value>\n1.5\n</value>\n</metric>\n" PLAIN("EnergyConsumedTotal", "5") PLAIN(
			"EnergySource", "rapl") PLAIN("EnergyConsumedPackage",
						      "a&#10;b c") PLAIN("VirtProductInfo", "")
			ENERGY("EnergyEstimatedPlatform",
			       "0.1234569") "<metric context='vm'><name>EnergyConsumedPsys</name>"
					    "</metric></metrics>\n\n";
	struct passthrough_record got;

	assert_int_equal(read_xml(text, &got), 0);
	assert_int_equal(got.epoch, 0);
	assert_int_equal(got.sequence, 0);
	assert_int_equal(got.cpu_time_us, 0);
	assert_int_equal(got.zone_count, 2);
	assert_int_equal(got.zones[0].kind, ZONE_CORE);
	assert_int_equal(got.zones[0].dynamic_uj, 1500000);
	assert_int_equal(got.zones[1].kind, ZONE_PLATFORM);
	assert_int_equal(got.zones[1].quality, QUALITY_ESTIMATED);
	assert_int_equal(got.zones[1].dynamic_uj, 123456);
}

/* Either of them by itself names no account. */
static void an_epoch_needs_a_sequence(void **state)
{
	static const char half[] = "<metrics>" ENERGY("EnergyConsumedCore", "1")
		PLAIN("EnergyEpoch", "f0") "</metrics>";
	static const char whole[] = "<metrics>" ENERGY("EnergyConsumedCore", "1")
		PLAIN("EnergySequence", "3") PLAIN("EnergyEpoch", "f0") "</metrics>";
	struct passthrough_record got;

	assert_int_equal(read_xml(half, &got), 0);
	assert_int_equal(got.epoch, 0);
	assert_int_equal(read_xml(whole, &got), 0);
	assert_int_equal(got.epoch, 0xF0);
	assert_int_equal(got.sequence, 3);
}

static void what_contradicts_itself_is_refused(void **state)
{
	static const struct {
		const char *text;
		int error;
	} table[] = {
		{ "", -EBADMSG },
		{ "INVALID REQUEST\n\n", -EBADMSG },
		{ "<metrics>", -EBADMSG },
		{ "<!DOCTYPE metrics><metrics></metrics>", -EBADMSG },
		{ "<metrics></metrics>", -ENODATA },
		{ "<metrics/>", -ENODATA },
		{ "<metrics><!-- no metrics yet --></metrics>\n\n", -ENODATA },
		{ "<other>" ENERGY("EnergyConsumedCore", "1") "</other>", -ENODATA },
		{ "<metrics>" ENERGY("EnergyConsumedCore", "-1") "</metrics>", -EBADMSG },
		{ "<metrics>" ENERGY("EnergyConsumedCore", "1e3") "</metrics>", -EBADMSG },
		{ "<metrics>" ENERGY("EnergyConsumedCore", "1.2.3") "</metrics>", -EBADMSG },
		{ "<metrics>" ENERGY("EnergyConsumedCore", "nan") "</metrics>", -EBADMSG },
		{ "<metrics>" ENERGY("EnergyConsumedCore", ".5") "</metrics>", -EBADMSG },
		{ "<metrics>" ENERGY("EnergyConsumedCore", "18446744073709.551616") "</metrics>",
		  -EBADMSG },
		{ "<metrics>" ENERGY("EnergyConsumedCore", "18446744073709.551615") "</metrics>",
		  0 },
		{ "<metrics>" ENERGY("EnergyConsumedCore", "1")
			  ENERGY("EnergyConsumedCore", "1") "</metrics>",
		  -EBADMSG },
		{ "<metrics>" ENERGY("EnergyConsumedCore", "1")
			  PLAIN("EnergyEpoch", "1g") "</metrics>",
		  -EBADMSG },
		{ "<metrics>" ENERGY("EnergyConsumedCore", "1")
			  PLAIN("EnergyEpoch", "0123456789abcdef0") "</metrics>",
		  -EBADMSG },
		{ "<metrics>" ENERGY("EnergyConsumedCore", "1") PLAIN("EnergySequence", "1")
			  PLAIN("EnergySequence", "2") "</metrics>",
		  -EBADMSG },
	};
	struct passthrough_record got;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		int r = read_xml(table[i].text, &got);

		if (r != table[i].error)
			fail_msg("%s: %d", table[i].text, r);
	}
}

static void there_is_a_limit_of_zones(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct passthrough_record got;

	strbuf_add_str(&text, "<metrics>");
	for (unsigned i = 0; i < ZONE_KIND_COUNT * QUALITY_COUNT; i++)
		strbuf_addf(&text,
			    "<metric context='vm'><name>Energy%s%c%s</name><value>1</value>"
			    "</metric>",
			    i % QUALITY_COUNT ? "Estimated" : "Consumed",
			    zone_kind_name(i / QUALITY_COUNT)[0] - 'a' + 'A',
			    zone_kind_name(i / QUALITY_COUNT) + 1);
	strbuf_add_str(&text, "</metrics>");
	assert_int_equal(read_xml(text.data, &got), -EBADMSG);
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_can_be_read),
		cmocka_unit_test(an_action_prints_what_vhostmd_takes),
		cmocka_unit_test(what_vhostmd_makes_of_it_can_be_read),
		cmocka_unit_test(metrics_of_others_are_ignored),
		cmocka_unit_test(an_epoch_needs_a_sequence),
		cmocka_unit_test(what_contradicts_itself_is_refused),
		cmocka_unit_test(there_is_a_limit_of_zones),
	};

	return unit_run(tests);
}
