// SPDX-License-Identifier: Apache-2.0
#include "rates/rate_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/num.h"
#include "net/http_url.h"
#include "rates/rate_answer.h"
#include "rates/rate_provider.h"
#include "rates/rate_schedule.h"

static int check_number(const char *text, double least, double most, struct diag *diag)
{
	double value;

	if (!*text)
		return 0;
	if (parse_double(text, &value) < 0 || value < least || value > most)
		return diag_set(diag, -EINVAL, "must be a number from %g to %g, not \"%.40s\"",
				least, most, text);
	return 0;
}

static int check_price(const char *text, struct diag *diag)
{
	return check_number(text, RATE_PRICE_MIN, RATE_PRICE_MAX, diag);
}

static int check_intensity(const char *text, struct diag *diag)
{
	return check_number(text, 0, RATE_INTENSITY_MAX, diag);
}

static int check_embodied(const char *text, struct diag *diag)
{
	return check_number(text, 0, RATE_EMBODIED_MAX, diag);
}

static int check_pue(const char *text, struct diag *diag)
{
	return check_number(text, 1, RATE_PUE_MAX, diag);
}

static int check_currency(const char *text, struct diag *diag)
{
	size_t len = 0;

	while (isupper((unsigned char)text[len]))
		len++;
	if (*text && (len != RATE_CURRENCY_LEN || text[len]))
		return diag_set(diag, -EINVAL,
				"must be a code of ISO 4217, such as EUR or USD, not \"%.20s\"",
				text);
	return 0;
}

static int check_schedule(const char *text, struct diag *diag)
{
	struct rate_schedule schedule;
	int r = *text ? rate_schedule_parse(text, &schedule, diag) : 0;

	for (size_t i = 0; r == 0 && *text && i < schedule.count; i++) {
		double value = schedule.entries[i].value;

		if (value < RATE_PRICE_MIN || value > RATE_PRICE_MAX)
			r = diag_set(diag, -EINVAL, "entry %zu must have a price from %g to %g",
				     i + 1, RATE_PRICE_MIN, RATE_PRICE_MAX);
	}
	return r;
}

static int check_file(const char *text, struct diag *diag)
{
	return !*text || *text == '/'
		       ? 0
		       : diag_set(diag, -EINVAL, "must be an absolute path, not \"%.80s\"", text);
}

static int check_path(const char *text, struct diag *diag)
{
	return *text ? rate_path_check(text, diag) : 0;
}

static int check_kind(const char *text, struct diag *diag)
{
	if (strlen(text) >= RATE_KIND_MAX || text[strspn(text, "abcdefghijklmnopqrstuvwxyz-")])
		return diag_set(diag, -EINVAL,
				"must be a word such as average or marginal, not \"%.40s\"", text);
	return 0;
}

/* A URL may contain a key: only its host is repeated. */
static int check_url(const char *text, struct diag *diag)
{
	struct http_url parts;

	if (!*text)
		return 0;
	http_url_split(text, &parts);
	if (strncasecmp(text, "http://", 7) != 0 && !http_url_is_https(text))
		return diag_set(diag, -EINVAL, "must begin with http:// or https://");
	if (http_url_has_user(text))
		return diag_set(diag, -EINVAL,
				"must have no user or password: other users can read options; "
				"put a key into a file");
	if (parts.host_len == 0)
		return diag_set(diag, -EINVAL, "must have a host, not \"%.*s\"",
				http_url_site_len(text), text);
	return 0;
}

static const struct option rows[] = {
	{ "price.per-kwh", NULL, OPTION_STRING, OPTION_MEMBER(struct rates_options, price.per_kwh),
	  .default_text = "", .metavar = "PRICE", .may_be_empty = true, .reloadable = true,
	  .check = check_price,
	  .help = "Price of a kilowatt-hour, such as 0.31. Empty: none is shown, unless "
		  "price.schedule, price.file or price.url has one." },
	{ "price.currency", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct rates_options, price.currency), .default_text = "",
	  .metavar = "CODE", .may_be_empty = true, .reloadable = true, .check = check_currency,
	  .help = "Currency of prices, as in ISO 4217: EUR, USD. It is needed with a price." },
	{ "price.schedule", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct rates_options, price.schedule), .default_text = "",
	  .metavar = "ENTRIES", .may_be_empty = true, .reloadable = true, .check = check_schedule,
	  .help = "Prices by day of the week and time of day, in the local time of the machine "
		  "(TZ): \"mon-fri 07:00-20:00 0.34; sat,sun 0.24; 0.21\". The first entry "
		  "that applies counts; where none does, price.per-kwh." },
	{ "price.file", NULL, OPTION_STRING, OPTION_MEMBER(struct rates_options, price.feed.file),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true, .check = check_file,
	  .help = "File with the price: a number, or lines TIME,PRICE as in "
		  "2026-11-29T13:00:00Z,0.31. It is read again every minute." },
	{ "price.url", NULL, OPTION_STRING, OPTION_MEMBER(struct rates_options, price.feed.url),
	  .default_text = "", .metavar = "URL", .may_be_empty = true, .check = check_url,
	  .help = "URL that returns the price as JSON, for instance a query to Prometheus." },
	{ "price.path", NULL, OPTION_STRING, OPTION_MEMBER(struct rates_options, price.feed.path),
	  .default_text = "", .metavar = "PATH", .may_be_empty = true, .check = check_path,
	  .help = "Place of the price in the answer: keys and indexes separated by dots. "
		  "Empty: as a Prometheus answers, if the URL is one." },
	{ "price.key-file", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct rates_options, price.feed.key_file), .default_text = "",
	  .metavar = "FILE", .may_be_empty = true,
	  .help = "File with a bearer token for price.url, readable only by its owner." },
	{ "price.ca-file", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct rates_options, price.feed.ca_file), .default_text = "",
	  .metavar = "FILE", .may_be_empty = true,
	  .help = "CA certificates for price.url, in PEM. Empty: the system's." },
	{ "price.refresh", NULL, OPTION_DURATION,
	  OPTION_MEMBER(struct rates_options, price.feed.refresh_ns), .default_text = "15m",
	  .metavar = "DURATION", OPTION_RANGE(60 * NSEC_PER_SEC, 24 * 3600 * NSEC_PER_SEC),
	  .help = "Time between two requests to price.url." },
	{ "price.max-age", NULL, OPTION_DURATION,
	  OPTION_MEMBER(struct rates_options, price.feed.max_age_ns), .default_text = "3h",
	  .metavar = "DURATION", OPTION_RANGE(60 * NSEC_PER_SEC, 7 * 24 * 3600 * NSEC_PER_SEC),
	  .help = "Age after which a price of the file or the URL is no longer shown." },
	{ "carbon.intensity", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct rates_options, carbon.intensity), .default_text = "",
	  .metavar = "GRAMS", .may_be_empty = true, .reloadable = true, .check = check_intensity,
	  .help = "Carbon intensity of the grid in grams of CO2 equivalent a kilowatt-hour. "
		  "Empty: none is shown, unless carbon.file or carbon.url has one." },
	{ "carbon.kind", NULL, OPTION_STRING, OPTION_MEMBER(struct rates_options, carbon.kind),
	  .default_text = "", .metavar = "KIND", .may_be_empty = true, .reloadable = true,
	  .check = check_kind,
	  .help = "Kind of the intensity, for the label kind: average, marginal, lifecycle. "
		  "Empty: average, or what the feed is known for." },
	{ "carbon.file", NULL, OPTION_STRING, OPTION_MEMBER(struct rates_options, carbon.feed.file),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true, .check = check_file,
	  .help = "File with the intensity: a number, or lines TIME,GRAMS as in "
		  "2026-11-29T13:00:00Z,312.5, which may be a forecast. It is read again every "
		  "minute." },
	{ "carbon.url", NULL, OPTION_STRING, OPTION_MEMBER(struct rates_options, carbon.feed.url),
	  .default_text = "", .metavar = "URL", .may_be_empty = true, .check = check_url,
	  .help = "URL that answers the intensity as JSON. Electricity Maps and WattTime are "
		  "known by their hosts." },
	{ "carbon.path", NULL, OPTION_STRING, OPTION_MEMBER(struct rates_options, carbon.feed.path),
	  .default_text = "", .metavar = "PATH", .may_be_empty = true, .check = check_path,
	  .help = "Place of the intensity in the answer: keys and indexes separated by dots. "
		  "Empty: as the known feeds answer." },
	{ "carbon.key-file", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct rates_options, carbon.feed.key_file), .default_text = "",
	  .metavar = "FILE", .may_be_empty = true,
	  .help = "File with the key for carbon.url, readable only by its owner: a key of "
		  "Electricity Maps, USER:PASSWORD of WattTime, else a bearer token." },
	{ "carbon.ca-file", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct rates_options, carbon.feed.ca_file), .default_text = "",
	  .metavar = "FILE", .may_be_empty = true,
	  .help = "CA certificates for carbon.url, in PEM. Empty: the system's." },
	{ "carbon.refresh", NULL, OPTION_DURATION,
	  OPTION_MEMBER(struct rates_options, carbon.feed.refresh_ns), .default_text = "15m",
	  .metavar = "DURATION", OPTION_RANGE(60 * NSEC_PER_SEC, 24 * 3600 * NSEC_PER_SEC),
	  .help = "Time between two requests to carbon.url." },
	{ "carbon.max-age", NULL, OPTION_DURATION,
	  OPTION_MEMBER(struct rates_options, carbon.feed.max_age_ns), .default_text = "3h",
	  .metavar = "DURATION", OPTION_RANGE(60 * NSEC_PER_SEC, 7 * 24 * 3600 * NSEC_PER_SEC),
	  .help = "Age after which an intensity of the file or the URL is no longer shown." },
	{ "carbon.embodied", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct rates_options, carbon.embodied), .default_text = "",
	  .metavar = "GRAMS", .may_be_empty = true, .reloadable = true, .check = check_embodied,
	  .help = "Share of the emissions of the making of this machine in an hour, in grams "
		  "of CO2 equivalent (M of the Software Carbon Intensity). Empty: not shown." },
	{ "site.pue", NULL, OPTION_STRING, OPTION_MEMBER(struct rates_options, pue),
	  .default_text = "", .metavar = "FACTOR", .may_be_empty = true, .reloadable = true,
	  .check = check_pue,
	  .help = "Power usage effectiveness of the site: the power of all of it, cooling "
		  "included, to the power of its machines. Empty: not shown, and nothing is "
		  "multiplied by it." },
};

const struct option_section *rates_options_at(size_t index)
{
	static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

	return index < ARRAY_SIZE(sections) ? &sections[index] : NULL;
}

const char *rates_file_at(const struct rates_options *options, size_t index)
{
	const struct rate_feed_options *price = &options->price.feed,
				       *carbon = &options->carbon.feed;
	const char *const files[] = { price->file,  price->key_file,  price->ca_file,
				      carbon->file, carbon->key_file, carbon->ca_file };

	return index < ARRAY_SIZE(files) ? files[index] : NULL;
}

static int check_feed(const struct rate_feed_options *feed, const char *name, struct diag *diag)
{
	if (*feed->file && *feed->url)
		return diag_set(diag, -EINVAL,
				"%s.file and %s.url exclude each other: remove one of them", name,
				name);
	if (*feed->url && !*feed->path && !rate_provider_of(feed->url)->path)
		return diag_set(diag, -EINVAL,
				"%s.path: is needed, because the answer of %.*s is not known", name,
				http_url_site_len(feed->url), feed->url);
	return 0;
}

int rates_options_check(const struct rates_options *options, struct diag *diag)
{
	bool has_price = *options->price.per_kwh || *options->price.schedule ||
			 *options->price.feed.file || *options->price.feed.url;

	if (has_price && !*options->price.currency)
		return diag_set(diag, -EINVAL, "price.currency: is needed with a price, as in EUR");
	if (*options->price.schedule && (*options->price.feed.file || *options->price.feed.url))
		return diag_set(diag, -EINVAL,
				"price.schedule: cannot be given with price.file or price.url");
	if (check_feed(&options->price.feed, "price", diag) < 0)
		return -EINVAL;
	return check_feed(&options->carbon.feed, "carbon", diag);
}
