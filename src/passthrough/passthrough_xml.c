// SPDX-License-Identifier: Apache-2.0
#include "passthrough/passthrough_xml.h"

#include "base/num.h"
#include "base/text/ascii.h"

static void write_zone(const struct passthrough_zone *zone, struct strbuf *out)
{
	const char *kind = zone_kind_name(zone->kind);
	uint64_t energy_uj = zone->dynamic_uj + zone->idle_uj;

	strbuf_addf(out,
		    "<metric type='real64' context='vm' unit='J'><name>Energy%s%c%s</name>"
		    "<value>%llu.%06llu</value></metric>\n",
		    zone->quality == QUALITY_MEASURED ? "Consumed" : "Estimated",
		    ascii_upper(kind[0]), kind + 1, (unsigned long long)(energy_uj / UJ_PER_J),
		    (unsigned long long)(energy_uj % UJ_PER_J));
}

void passthrough_xml_write(const struct passthrough_record *record, struct strbuf *out)
{
	strbuf_add_str(out, "<metrics>\n");
	for (size_t i = 0; record && i < record->zone_count; i++)
		write_zone(&record->zones[i], out);
	strbuf_add_str(out, "</metrics>\n");
}
