// SPDX-License-Identifier: Apache-2.0
/*
 * This process reads the rates itself, from the files and URLs that an exporter with the same
 * options would read: a key that is wrong is found before the exporter runs.
 */
#include "doctor/peers/doctor_rates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "net/http_url.h"

#define TOPIC       "rates"
#define WAIT_NS     (5 * NSEC_PER_SEC) /* for the first reading of a feed */
#define LOOK_NS     (50 * NSEC_PER_MSEC)
#define VALUE_SIZE  64
#define SOURCE_SIZE 200

/* A quantity that may have a feed. */
struct rate_topic {
	const char *name, *section; /* "carbon intensity"; of options: "carbon" */
	const struct rate_feed_options *feed;
	const char *source;     /* where its value comes from if not from a feed */
	char value[VALUE_SIZE]; /* with its unit; "": it is absent */
};

static int64_t now_s(void)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC);
}

static bool has_read_all(const struct rates_health *health)
{
	for (uint32_t i = 0; i < health->feed_count; i++) {
		if (!health->feeds[i].reads)
			return false;
	}
	return true;
}

static void wait_for_feeds(struct rates *rates, struct rates_health *ret)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + WAIT_NS;

	for (;;) {
		rates_at(rates, now_s(), ret);
		if (has_read_all(ret) || clock_ns(CLOCK_MONOTONIC) >= until_ns)
			return;
		(void)nanosleep(&pause, NULL);
	}
}

static const struct rate_feed_health *find_feed(const struct rates_health *health,
						const char *section)
{
	for (uint32_t i = 0; i < health->feed_count; i++) {
		if (strcmp(health->feeds[i].feed, section) == 0)
			return &health->feeds[i];
	}
	return NULL;
}

/* "35 s", "12 min", "4.2 h" */
static void age_text(double seconds, char *buf, size_t size)
{
	if (seconds < 120)
		(void)snprintf(buf, size, "%.0f s", seconds);
	else if (seconds < 7200)
		(void)snprintf(buf, size, "%.0f min", seconds / 60);
	else
		(void)snprintf(buf, size, "%.1f h", seconds / 3600);
}

/* The file, or the URL without what may be a key. */
static void source_text(const struct rate_feed_options *feed, char *buf, size_t size)
{
	if (*feed->file)
		(void)snprintf(buf, size, "%s", feed->file);
	else
		(void)snprintf(buf, size, "%.*s", http_url_site_len(feed->url), feed->url);
}

static void tell_failure(struct findings *findings, const struct rate_topic *topic,
			 const char *source, const char *error)
{
	const char *option = *topic->feed->file ? "file" : "url";
	bool has_source = strncmp(error, source, strlen(source)) == 0;
	char fix[FINDING_TEXT_MAX];

	if (*topic->feed->file)
		(void)snprintf(fix, sizeof(fix), "check --%s.file; docs/rates.md", topic->section);
	else
		(void)snprintf(fix, sizeof(fix),
			       "check --%s.url, --%s.path and --%s.key-file; docs/rates.md",
			       topic->section, topic->section, topic->section);
	findings_add(findings, FINDING_FIX, TOPIC, fix, "the %s cannot be read (%s.%s): %s%s%s",
		     topic->name, topic->section, option, has_source ? "" : source,
		     has_source ? "" : ": ", error);
}

static void tell_feed(struct findings *findings, const struct rate_topic *topic,
		      const struct rate_feed_health *health)
{
	char source[SOURCE_SIZE], age[32] = "", fix[FINDING_TEXT_MAX];

	source_text(topic->feed, source, sizeof(source));
	if (!health->reads) {
		tell_failure(findings, topic, source, "there was no answer within 5 s");
		return;
	}
	if (health->error[0]) {
		tell_failure(findings, topic, source, health->error);
		return;
	}
	age_text(health->age_s, age, sizeof(age));
	if (topic->value[0]) {
		findings_add(findings, FINDING_OK, TOPIC, NULL, "the %s is %s, from %s, %s old",
			     topic->name, topic->value, source, age);
		return;
	}
	(void)snprintf(fix, sizeof(fix), "renew it more often, or allow more: --%s.max-age",
		       topic->section);
	findings_add(findings, FINDING_FIX, TOPIC, fix,
		     "the %s of %s is %s old, more than %s.max-age (%.4g h): it is absent",
		     topic->name, source, age, topic->section,
		     (double)topic->feed->max_age_ns / 3.6e12);
}

static void tell(struct findings *findings, const struct rate_topic *topic,
		 const struct rates_health *health)
{
	const struct rate_feed_health *feed = find_feed(health, topic->section);

	if (feed)
		tell_feed(findings, topic, feed);
	else if (topic->value[0])
		findings_add(findings, FINDING_OK, TOPIC, NULL, "the %s is %s, from %s",
			     topic->name, topic->value, topic->source);
	else if (topic->source)
		findings_add(findings, FINDING_NOTE, TOPIC,
			     "for a price at all times, set --price.per-kwh, too",
			     "the %s is absent now: no entry of %s applies", topic->name,
			     topic->source);
}

static void tell_price(struct findings *findings, const struct config *config,
		       const struct rates_health *health)
{
	const struct rates_options *options = &config->rates;
	struct rate_topic topic = { .name = "price of a kilowatt-hour",
				    .section = "price",
				    .feed = &options->price.feed };

	if (*options->price.schedule)
		topic.source = *options->price.per_kwh ? "price.schedule and price.per-kwh"
						       : "price.schedule";
	else if (*options->price.per_kwh)
		topic.source = "price.per-kwh";
	if (isfinite(health->now.price_per_kwh))
		(void)snprintf(topic.value, sizeof(topic.value), "%.6g %s",
			       health->now.price_per_kwh, health->now.currency);
	tell(findings, &topic, health);
}

static void tell_carbon(struct findings *findings, const struct config *config,
			const struct rates_health *health)
{
	struct rate_topic topic = { .name = "carbon intensity",
				    .section = "carbon",
				    .feed = &config->rates.carbon.feed,
				    .source = *config->rates.carbon.intensity ? "carbon.intensity"
									      : NULL };

	if (isfinite(health->now.carbon_g_per_kwh))
		(void)snprintf(topic.value, sizeof(topic.value), "%.6g g/kWh (%s)",
			       health->now.carbon_g_per_kwh, health->now.carbon_kind);
	tell(findings, &topic, health);
}

void doctor_examine_rates(struct findings *findings, const struct config *config,
			  struct rates *rates)
{
	struct rates_health health;

	if (!rates)
		return;
	wait_for_feeds(rates, &health);
	tell_price(findings, config, &health);
	tell_carbon(findings, config, &health);
	if (isfinite(health.now.pue))
		findings_add(findings, FINDING_OK, TOPIC, NULL,
			     "the power usage effectiveness is %g, from site.pue", health.now.pue);
	if (isfinite(health.now.embodied_g_per_h))
		findings_add(findings, FINDING_OK, TOPIC, NULL,
			     "the embodied emissions are %g g/h, from carbon.embodied",
			     health.now.embodied_g_per_h);
}
