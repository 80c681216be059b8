// SPDX-License-Identifier: Apache-2.0
#include "snapshot/power_text.h"

#include "base/text/watts_text.h"

#define PIECES_MAX (POWER_PARTS_MAX + 1)

struct piece {
	const char *before, *name;
	uint64_t power_uw;
	uint64_t shown; /* in units of the last decimal */
};

/* µW that the last decimal stands for. */
static uint64_t unit_of(const struct power_picture *picture)
{
	return watts_decimals((double)picture->total_uw / 1e6) == 2 ? 10000 : 100000;
}

static uint64_t rounded(uint64_t power_uw, uint64_t unit)
{
	return (power_uw + unit / 2) / unit;
}

/* What rounding has taken or added goes to the largest, of which it is the least part. */
static void round_pieces(struct piece pieces[], size_t count, uint64_t total_uw, uint64_t unit)
{
	uint64_t sum = 0;
	size_t largest = 0;

	for (size_t i = 0; i < count; i++) {
		pieces[i].shown = rounded(pieces[i].power_uw, unit);
		sum += pieces[i].shown;
		if (pieces[i].power_uw > pieces[largest].power_uw)
			largest = i;
	}
	if (count)
		pieces[largest].shown += rounded(total_uw, unit) - sum;
}

static void add_pieces(struct piece pieces[], size_t count, const struct power_picture *picture,
		       struct strbuf *out)
{
	uint64_t unit = unit_of(picture), each = 1000000 / unit;

	round_pieces(pieces, count, picture->total_uw, unit);
	for (size_t i = 0; i < count; i++)
		strbuf_addf(out, "%s%s%s %llu.%0*llu", i ? " · " : "", pieces[i].before,
			    pieces[i].name, (unsigned long long)(pieces[i].shown / each),
			    each == 100 ? 2 : 1, (unsigned long long)(pieces[i].shown % each));
}

void power_text_total(const struct power_picture *picture, struct strbuf *out)
{
	char watts[WATTS_TEXT_MAX];

	if (!picture->is_known) {
		strbuf_add_str(out, "not known");
		return;
	}
	watts_text(watts, (double)picture->total_uw / 1e6);
	strbuf_addf(out, "%s W", watts);
	if (picture->error_w > 0) {
		watts_bound_text(watts, picture->error_w);
		strbuf_addf(out, " ± %s W", watts);
	}
	strbuf_add_str(out, picture->is_estimated ? ", estimated" : "");
}

void power_text_parts(const struct power_picture *picture, struct strbuf *out)
{
	struct piece pieces[PIECES_MAX];

	for (uint32_t i = 0; i < picture->part_count; i++)
		pieces[i] = (struct piece){
			.before = picture->parts[i].is_rest ? "rest of " : "",
			.name = zone_kind_name(picture->parts[i].kind),
			.power_uw = picture->parts[i].power_uw,
		};
	add_pieces(pieces, picture->part_count, picture, out);
}

void power_text_uses(const struct power_picture *picture, struct strbuf *out)
{
	const uint64_t charged_uw = picture->total_uw - picture->idle_uw - picture->unattributed_uw;
	struct piece pieces[] = {
		{ "", "processes", charged_uw, 0 },
		{ "", "unattributed", picture->unattributed_uw, 0 },
		{ "", picture->idle_is_provisional ? "idle ≤" : "idle", picture->idle_uw, 0 },
	};

	if (!picture->is_known)
		return;
	add_pieces(pieces, picture->has_idle ? 3 : 2, picture, out);
	strbuf_add_str(out,
		       picture->has_idle && picture->idle_is_provisional ? " (provisional)" : "");
}
