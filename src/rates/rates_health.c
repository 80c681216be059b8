// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "rates/rates.h"

#define NOW(member) HEALTH_VALUE(struct rates_health, now.member)
#define LABEL(name, member)                                                                        \
	{                                                                                          \
		name, offsetof(struct rates_health, now.member)                                    \
	}
#define FEED(member) HEALTH_VALUE(struct rate_feed_health, member)
#define FEEDS        HEALTH_ARRAY(struct rates_health, feeds, feed_count)

static const struct health_label currency[] = { LABEL("currency", currency), { 0 } };
static const struct health_label grid[] = { LABEL("kind", carbon_kind),
					    LABEL("source", carbon_source),
					    { 0 } };
static const struct health_label feed[] = { { "feed", offsetof(struct rate_feed_health, feed) },
					    { 0 } };

static const struct health_metric metrics[] = {
	{ .name = "kepler_energy_price_per_kilowatt_hour",
	  .type = FAMILY_GAUGE,
	  .value = NOW(price_per_kwh),
	  .labels = currency,
	  .help = "Price of a kilowatt-hour now, in units of the currency." },
	{ .name = "kepler_grid_carbon_intensity_grams_per_kilowatt_hour",
	  .type = FAMILY_GAUGE,
	  .value = NOW(carbon_g_per_kwh),
	  .labels = grid,
	  .help = "Carbon intensity of the grid now, in grams of CO2 equivalent a kilowatt-hour." },
	{ .name = "kepler_power_usage_effectiveness",
	  .type = FAMILY_GAUGE,
	  .value = NOW(pue),
	  .help = "Power of the whole site divided by the power of its machines, as configured. No "
		  "other metric is multiplied by it." },
	{ .name = "kepler_embodied_carbon_grams_per_hour",
	  .type = FAMILY_GAUGE,
	  .value = NOW(embodied_g_per_h),
	  .help = "Share of the emissions of the making of the machine in an hour, in grams of CO2 "
		  "equivalent, as configured." },
	{ .name = "kepler_exporter_rate_feed_up",
	  .type = FAMILY_GAUGE,
	  .value = FEED(up),
	  .labels = feed,
	  .array = FEEDS,
	  .help = "1 if the feed of prices or of carbon intensity was read and its value is not "
		  "too "
		  "old, otherwise 0." },
	{ .name = "kepler_exporter_rate_feed_age_seconds",
	  .type = FAMILY_GAUGE,
	  .unit = "seconds",
	  .value = FEED(age_s),
	  .labels = feed,
	  .array = FEEDS,
	  .help = "Age of the feed's value." },
	{ .name = "kepler_exporter_rate_feed_reads",
	  .type = FAMILY_COUNTER,
	  .value = FEED(reads),
	  .labels = feed,
	  .array = FEEDS,
	  .help = "Readings of the feed." },
	{ .name = "kepler_exporter_rate_feed_failures",
	  .type = FAMILY_COUNTER,
	  .value = FEED(failures),
	  .labels = feed,
	  .array = FEEDS,
	  .help = "Readings of the feed that failed." },
};

static bool fill(const void *owner, void *ret)
{
	/* The owner of a part is read only, but the lock of this one is taken. */
	struct rates *const *rates = owner;

	if (!*rates)
		return false;
	rates_at(*rates, (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC), ret);
	return true;
}

const struct health_part rates_health_part = { .size = sizeof(struct rates_health),
					       .fill = fill,
					       .metrics = metrics,
					       .metric_count = ARRAY_SIZE(metrics) };

const struct rate_values *rates_in(const struct health_block *blocks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (blocks[i].part == &rates_health_part && blocks[i].data)
			return &((const struct rates_health *)blocks[i].data)->now;
	}
	return NULL;
}
