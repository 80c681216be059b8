// SPDX-License-Identifier: Apache-2.0
#include "snapshot/power_text.h"

#include "base/text/watts_text.h"

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
	struct watts_piece pieces[POWER_PARTS_MAX];

	for (uint32_t i = 0; i < picture->part_count; i++)
		pieces[i] = (struct watts_piece){
			.before = picture->parts[i].is_rest ? "rest of " : "",
			.name = zone_kind_name(picture->parts[i].kind),
			.power_uw = picture->parts[i].power_uw,
		};
	watts_pieces_add(out, pieces, picture->part_count, picture->total_uw);
}

void power_text_uses(const struct power_picture *picture, struct strbuf *out)
{
	const uint64_t charged_uw = picture->total_uw - picture->idle_uw - picture->unattributed_uw;
	struct watts_piece pieces[] = {
		{ "", "processes", charged_uw },
		{ "", "unattributed", picture->unattributed_uw },
		{ "", picture->idle_is_provisional ? "idle ≤" : "idle", picture->idle_uw },
	};

	if (!picture->is_known)
		return;
	watts_pieces_add(out, pieces, picture->has_idle ? 3 : 2, picture->total_uw);
	strbuf_add_str(out,
		       picture->has_idle && picture->idle_is_provisional ? " (provisional)" : "");
}
