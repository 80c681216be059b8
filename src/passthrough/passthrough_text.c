// SPDX-License-Identifier: Apache-2.0
/*
 * One table of the fields serves writer and reader. Keys that the table does not have are ignored,
 * as later versions 1.x may add some; each that it has is required once.
 */
#include "passthrough/passthrough_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "passthrough/crc32c.h"

#define HEADER    "kepler-passthrough 1"
#define END       "end "
#define SUM_LEN   8
#define UNKNOWN   "unknown"
#define NAMES_MAX 40 /* of a word that a message repeats */

struct slice {
	const char *at;
	size_t len;
};

struct field {
	const char *name;
	size_t offset, size;
	bool is_hex;
};
#define FIELD(type, member, hex)                                                                   \
	{                                                                                          \
#member, offsetof(type, member), sizeof(((type *)NULL)->member), hex               \
	}

static const struct field fields[] = {
	FIELD(struct passthrough_record, epoch, true),
	FIELD(struct passthrough_record, sequence, false),
	FIELD(struct passthrough_record, realtime_ns, false),
	FIELD(struct passthrough_record, boottime_ns, false),
	FIELD(struct passthrough_record, interval_ns, false),
	FIELD(struct passthrough_record, vm_hash, true),
	FIELD(struct passthrough_record, cpu_time_us, false),
	FIELD(struct passthrough_record, flags, false),
	FIELD(struct passthrough_record, period_ms, false),
};
static const struct field zone_fields[] = {
	FIELD(struct passthrough_zone, uncertainty_ppm, false),
	FIELD(struct passthrough_zone, dynamic_uj, false),
	FIELD(struct passthrough_zone, idle_uj, false),
};

static bool is_text(struct slice slice, const char *text)
{
	return slice.len == strlen(text) && memcmp(slice.at, text, slice.len) == 0;
}

/* Takes the text before the next @end, and @end itself; the whole rest if there is no @end. */
static struct slice take(struct slice *rest, char end)
{
	const char *at = rest->len ? memchr(rest->at, end, rest->len) : NULL;
	struct slice taken = { rest->at, at ? (size_t)(at - rest->at) : rest->len };
	size_t used = taken.len + (at ? 1 : 0);

	*rest = (struct slice){ rest->at + used, rest->len - used };
	return taken;
}

static uint64_t field_get(const struct field *field, const void *base)
{
	const char *at = (const char *)base + field->offset;
	uint64_t value;
	uint32_t narrow;

	if (field->size == sizeof(value)) {
		memcpy(&value, at, sizeof(value));
		return value;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

static int field_set(const struct field *field, void *base, uint64_t value)
{
	char *at = (char *)base + field->offset;
	uint32_t narrow = (uint32_t)value;

	if (field->size == sizeof(value)) {
		memcpy(at, &value, sizeof(value));
		return 0;
	}
	if (value != narrow)
		return -ERANGE;
	memcpy(at, &narrow, sizeof(narrow));
	return 0;
}

void passthrough_text_write(const struct passthrough_record *record, struct strbuf *out)
{
	size_t start = out->len;

	strbuf_add_str(out, HEADER "\n");
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		strbuf_addf(out, fields[i].is_hex ? "%s %016" PRIx64 "\n" : "%s %" PRIu64 "\n",
			    fields[i].name, field_get(&fields[i], record));
	for (size_t i = 0; i < record->zone_count; i++) {
		const struct passthrough_zone *zone = &record->zones[i];

		strbuf_addf(out, "zone %s quality=%s", zone_kind_name(zone->kind),
			    zone_quality_name(zone->quality));
		for (size_t k = 0; k < ARRAY_SIZE(zone_fields); k++) {
			uint64_t value = field_get(&zone_fields[k], zone);

			strbuf_addf(out, " %s=", zone_fields[k].name);
			if (k == 0 && value == PASSTHROUGH_UNCERTAINTY_UNKNOWN)
				strbuf_add_str(out, UNKNOWN);
			else
				strbuf_add_u64(out, value);
		}
		strbuf_add_char(out, '\n');
	}
	if (!out->failed)
		strbuf_addf(out, END "%08" PRIx32 "\n",
			    crc32c(out->data + start, out->len - start));
}

static int parse_hex(struct slice value, uint64_t *ret)
{
	uint64_t sum = 0;

	if (!value.len || value.len > 16)
		return -EINVAL;
	for (size_t i = 0; i < value.len; i++) {
		char c = value.at[i];

		if (c >= '0' && c <= '9')
			sum = sum << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			sum = sum << 4 | (uint64_t)(c - 'a' + 10);
		else
			return -EINVAL;
	}
	*ret = sum;
	return 0;
}

/* Reads @value of a field that is in @table; 0 also where none is. @seen: a bit per field. */
static int read_field(const struct field *table, size_t count, struct slice name,
		      struct slice value, void *base, unsigned *seen)
{
	uint64_t number;
	size_t i = 0;
	int r;

	while (i < count && !is_text(name, table[i].name))
		i++;
	if (i == count)
		return 0;
	if (*seen & 1U << i)
		return -EEXIST;
	*seen |= 1U << i;
	if (table == zone_fields && i == 0 && is_text(value, UNKNOWN)) {
		number = PASSTHROUGH_UNCERTAINTY_UNKNOWN;
		r = 0;
	} else {
		r = table[i].is_hex ? parse_hex(value, &number)
				    : parse_u64(value.at, value.len, &number);
	}
	return r < 0 ? r : field_set(&table[i], base, number);
}

/* The values after a zone's name. */
static int read_zone_values(struct slice rest, struct passthrough_zone *zone)
{
	const unsigned all = (1U << ARRAY_SIZE(zone_fields)) - 1;
	unsigned seen = 0;
	bool has_quality = false;
	int r;

	while (rest.len) {
		struct slice value = take(&rest, ' '), name = take(&value, '=');

		if (!is_text(name, "quality")) {
			r = read_field(zone_fields, ARRAY_SIZE(zone_fields), name, value, zone,
				       &seen);
			if (r < 0)
				return r;
			continue;
		}
		zone->quality = 0;
		while (zone->quality < QUALITY_COUNT &&
		       !is_text(value, zone_quality_name(zone->quality)))
			zone->quality++;
		if (has_quality || zone->quality == QUALITY_COUNT)
			return -EINVAL;
		has_quality = true;
	}
	return seen == all && has_quality ? 0 : -EINVAL;
}

static int read_zone(struct slice rest, struct passthrough_record *record)
{
	struct slice name = take(&rest, ' ');
	struct passthrough_zone zone = { 0 };
	int r = read_zone_values(rest, &zone);

	if (r < 0 || !name.len)
		return -EINVAL;
	while (zone.kind < ZONE_KIND_COUNT && !is_text(name, zone_kind_name(zone.kind)))
		zone.kind++;
	if (zone.kind == ZONE_KIND_COUNT) {
		record->unknown_zones++;
		return 0;
	}
	if (record->zone_count == PASSTHROUGH_ZONES_MAX)
		return -E2BIG;
	record->zones[record->zone_count++] = zone;
	return 0;
}

/* The lines between the first and the last. */
static int read_lines(struct slice rest, struct passthrough_record *record, struct diag *diag)
{
	unsigned seen = 0, line_number = 1;

	while (rest.len) {
		struct slice line = take(&rest, '\n'), value = line, name = take(&value, ' ');
		int r = is_text(name, "zone") ? read_zone(value, record)
					      : read_field(fields, ARRAY_SIZE(fields), name, value,
							   record, &seen);

		line_number++;
		if (r < 0)
			return diag_set(diag, r, "line %u: \"%.*s\" is not valid", line_number,
					(int)(line.len < NAMES_MAX ? line.len : NAMES_MAX),
					line.at);
	}
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!(seen & 1U << i))
			return diag_set(diag, -EINVAL, "it has no line \"%s\"", fields[i].name);
	}
	return 0;
}

/* Takes the last line off, which has the sum of the rest. */
static int check_end(struct slice *text, struct diag *diag)
{
	const size_t len = strlen(END) + SUM_LEN + 1;
	struct slice end, sum;
	uint64_t value;

	if (text->len < len)
		return diag_set(diag, -EBADMSG, "it is cut short");
	text->len -= len;
	end = (struct slice){ text->at + text->len, len - 1 };
	sum = (struct slice){ end.at + strlen(END), SUM_LEN };
	if (memcmp(end.at, END, strlen(END)) != 0 || end.at[len - 1] != '\n' ||
	    parse_hex(sum, &value) < 0)
		return diag_set(diag, -EBADMSG, "its last line is not \"" END "\" and a CRC");
	if (value != crc32c(text->at, text->len))
		return diag_set(diag, -EBADMSG,
				"its CRC is wrong: it may have been read while it "
				"was written");
	return 0;
}

int passthrough_text_read(const char *text, size_t len, struct passthrough_record *ret,
			  struct diag *diag)
{
	struct passthrough_record record = { 0 };
	struct slice rest = { text, len };
	const char *fault;
	int r;

	if (len > PASSTHROUGH_TEXT_MAX)
		return diag_set(diag, -EFBIG, "it is longer than %d bytes", PASSTHROUGH_TEXT_MAX);
	if (len <= strlen(HEADER) || memcmp(text, HEADER "\n", strlen(HEADER "\n")) != 0)
		return diag_set(diag, -EINVAL, "its first line is not \"" HEADER "\"");
	r = check_end(&rest, diag);
	if (r < 0)
		return r;
	(void)take(&rest, '\n');
	r = read_lines(rest, &record, diag);
	if (r < 0)
		return r;
	fault = passthrough_record_fault(&record);
	if (fault)
		return diag_set(diag, -EINVAL, "%s", fault);
	*ret = record;
	return 0;
}
