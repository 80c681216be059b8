// SPDX-License-Identifier: Apache-2.0
/*
 * A metric counts as a whole: its attributes and both of its elements are known at its end. Values
 * are read as integers, because a double has no microjoules left above 9 GJ.
 */
#include "passthrough/passthrough_xml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text/ascii.h"
#include "base/text/xml_scan.h"

#define ENERGY    "Energy"
#define EPOCH     "EnergyEpoch"
#define SEQUENCE  "EnergySequence"
#define CPU_TIME  "TotalCPUTime"
#define VALUE_MAX 48
#define DECIMALS  6 /* of a value in millionths */

static const char *const quality_words[QUALITY_COUNT] = {
	[QUALITY_MEASURED] = "Consumed",
	[QUALITY_ESTIMATED] = "Estimated",
};

/* ---- writing ---- */

static void write_real(const char *unit, const char *name, uint64_t millionths, struct strbuf *out)
{
	strbuf_addf(out,
		    "<metric type='real64' context='vm' unit='%s'><name>%s</name>"
		    "<value>%llu.%06llu</value></metric>\n",
		    unit, name, (unsigned long long)(millionths / UJ_PER_J),
		    (unsigned long long)(millionths % UJ_PER_J));
}

static void write_zone(const struct passthrough_zone *zone, struct strbuf *out)
{
	const char *kind = zone_kind_name(zone->kind);
	char name[64];

	(void)snprintf(name, sizeof(name), ENERGY "%s%c%s", quality_words[zone->quality],
		       ascii_upper(kind[0]), kind + 1);
	write_real("J", name, zone->dynamic_uj + zone->idle_uj, out);
}

void passthrough_xml_write_energies(const struct passthrough_record *record, struct strbuf *out)
{
	for (size_t i = 0; i < record->zone_count; i++)
		write_zone(&record->zones[i], out);
	strbuf_addf(out,
		    "<metric type='string' context='vm'><name>" EPOCH "</name>"
		    "<value>%016llx</value></metric>\n"
		    "<metric type='uint64' context='vm'><name>" SEQUENCE "</name>"
		    "<value>%llu</value></metric>\n",
		    (unsigned long long)record->epoch, (unsigned long long)record->sequence);
}

void passthrough_xml_write(const struct passthrough_record *record, struct strbuf *out)
{
	strbuf_add_str(out, "<metrics>\n");
	if (record) {
		passthrough_xml_write_energies(record, out);
		write_real("s", CPU_TIME, record->cpu_time_us, out);
	}
	strbuf_add_str(out, "</metrics>\n");
}

/* ---- reading ---- */

/* A <metric> as far as it has been read. */
struct metric {
	bool is_own;   /* of this virtual machine */
	char unit[8];  /* "": none */
	char name[64]; /* "": none yet */
	char value[VALUE_MAX];
};

struct reading {
	struct passthrough_record record;
	struct metric metric;
	bool has_epoch, has_sequence, has_cpu_time;
	const char *fault;
};

/* "12.345" as 12345000; further decimals are below the resolution. False: not such a number. */
static bool parse_millionths(const char *text, uint64_t *ret)
{
	uint64_t whole, fraction = 0;
	const char *point = strchr(text, '.');
	size_t len = point ? (size_t)(point - text) : strlen(text), digits = 0;

	if (parse_u64(text, len, &whole) < 0)
		return false;
	for (const char *c = point ? point + 1 : ""; *c; c++) {
		if (!ascii_is_digit(*c))
			return false;
		if (digits < DECIMALS) {
			fraction = fraction * 10 + (uint64_t)(*c - '0');
			digits++;
		}
	}
	for (; digits < DECIMALS; digits++)
		fraction *= 10;
	return !__builtin_mul_overflow(whole, UJ_PER_J, &whole) &&
	       !__builtin_add_overflow(whole, fraction, ret);
}

/* "Package" */
static bool parse_kind(const char *name, enum zone_kind *ret)
{
	for (*ret = 0; *ret < ZONE_KIND_COUNT; (*ret)++) {
		const char *kind = zone_kind_name(*ret);

		if (name[0] == ascii_upper(kind[0]) && strcmp(name + 1, kind + 1) == 0)
			return true;
	}
	return false;
}

/* "ConsumedPackage" */
static bool parse_zone(const char *name, struct passthrough_zone *ret)
{
	*ret = (struct passthrough_zone){ .uncertainty_ppm = PASSTHROUGH_UNCERTAINTY_UNKNOWN };
	for (; ret->quality < QUALITY_COUNT; ret->quality++) {
		const char *word = quality_words[ret->quality];

		if (strncmp(name, word, strlen(word)) == 0)
			return parse_kind(name + strlen(word), &ret->kind);
	}
	return false;
}

static void take_zone(struct reading *reading, const char *name)
{
	struct passthrough_record *record = &reading->record;
	struct passthrough_zone zone;

	if (!parse_zone(name, &zone))
		return;
	if (reading->metric.unit[0] && strcmp(reading->metric.unit, "J") != 0)
		return;
	if (!parse_millionths(reading->metric.value, &zone.dynamic_uj))
		reading->fault = "an energy is no number of joules";
	else if (record->zone_count == PASSTHROUGH_ZONES_MAX)
		reading->fault = "it has too many energies";
	else
		record->zones[record->zone_count++] = zone;
}

static bool parse_hex(const char *text, uint64_t *ret)
{
	uint64_t value = 0;
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++) {
		int digit = ascii_hex_value(text[i]);

		if (digit < 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	*ret = value;
	return len > 0 && len <= 16;
}

/* A name that stands there twice contradicts itself. */
static void take_number(struct reading *reading, bool *has, bool is_valid)
{
	if (*has || !is_valid)
		reading->fault = *has ? "a metric is there twice" : "a number is not valid";
	*has = true;
}

static void take_metric(struct reading *reading)
{
	const struct metric *metric = &reading->metric;
	struct passthrough_record *record = &reading->record;

	if (!metric->is_own || !metric->name[0] || !metric->value[0])
		return;
	if (strcmp(metric->name, EPOCH) == 0)
		take_number(reading, &reading->has_epoch, parse_hex(metric->value, &record->epoch));
	else if (strcmp(metric->name, SEQUENCE) == 0)
		take_number(reading, &reading->has_sequence,
			    parse_u64(metric->value, strlen(metric->value), &record->sequence) ==
				    0);
	else if (strcmp(metric->name, CPU_TIME) == 0 && strcmp(metric->unit, "s") == 0)
		take_number(reading, &reading->has_cpu_time,
			    parse_millionths(metric->value, &record->cpu_time_us));
	else if (strncmp(metric->name, ENERGY, strlen(ENERGY)) == 0)
		take_zone(reading, metric->name + strlen(ENERGY));
}

static void begin_metric(const struct xml_scan *scan, struct metric *metric)
{
	char context[8];

	*metric = (struct metric){ .is_own = xml_scan_attribute(scan, "context", context,
								sizeof(context)) &&
					     strcmp(context, "vm") == 0 };
	if (!xml_scan_attribute(scan, "unit", metric->unit, sizeof(metric->unit)))
		metric->unit[0] = '\0';
}

/* Without the blanks around it. Text that is too long, or in two parts, is of no metric of ours. */
static void take_text(const struct xml_scan *scan, struct metric *metric, char *buf, size_t size)
{
	static const char blanks[] = " \t\r\n";
	char text[128];
	const char *begin;
	size_t len;

	if (!xml_scan_text(scan, text, sizeof(text))) {
		metric->is_own = false;
		return;
	}
	begin = text + strspn(text, blanks);
	len = strcspn(begin, blanks);
	if (!len)
		return;
	if (buf[0] || len >= size || begin[len + strspn(begin + len, blanks)]) {
		metric->is_own = false;
		return;
	}
	memcpy(buf, begin, len);
	buf[len] = '\0';
}

static void take_event(const struct xml_scan *scan, int event, struct reading *reading)
{
	struct metric *metric = &reading->metric;

	if (event == XML_BEGIN && xml_scan_is_at(scan, "metrics/metric"))
		begin_metric(scan, metric);
	else if (event == XML_TEXT && xml_scan_is_at(scan, "metrics/metric/name"))
		take_text(scan, metric, metric->name, sizeof(metric->name));
	else if (event == XML_TEXT && xml_scan_is_at(scan, "metrics/metric/value"))
		take_text(scan, metric, metric->value, sizeof(metric->value));
	else if (event == XML_END && xml_scan_is_at(scan, "metrics/metric"))
		take_metric(reading);
}

/* An epoch and a sequence name an account only together. */
static void check_account(struct reading *reading)
{
	struct passthrough_record *record = &reading->record, judged;

	if (!record->epoch || !record->sequence)
		record->epoch = record->sequence = 0;
	judged = *record;
	judged.epoch = judged.sequence = 1;
	reading->fault = passthrough_record_fault(&judged);
}

int passthrough_xml_read(const char *text, size_t len, struct passthrough_record *ret,
			 struct diag *diag)
{
	struct xml_scan scan = { .at = text, .end = text + len };
	struct reading reading = { .fault = NULL };
	int event = XML_BEGIN;

	while (!reading.fault && event != XML_DONE) {
		event = xml_scan_next(&scan);
		if (event < 0)
			reading.fault = "it is not well-formed XML, or not vhostmd's";
		else
			take_event(&scan, event, &reading);
	}
	if (!reading.fault)
		check_account(&reading);
	if (reading.fault)
		return diag_set(diag, -EBADMSG, "the metrics of vhostmd: byte %zu: %s",
				(size_t)(scan.at - text), reading.fault);
	if (!reading.record.zone_count)
		return diag_set(diag, -ENODATA,
				"the metrics of vhostmd have no energy: the host has to add "
				"EnergyConsumedPackage to them");
	*ret = reading.record;
	return 0;
}
