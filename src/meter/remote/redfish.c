// SPDX-License-Identifier: Apache-2.0
/*
 * The machine's power, as measured by its management controller (BMC), by Redfish over the network
 * (bmc/redfish_power.h). One zone, "platform", once it is known where the BMC is.
 *
 * Power is integrated; the counter of energy is read instead if it proves to be fine enough
 * (counter_trial.h). The averaging time and the delay are those in the BMC's answer or the options.
 * A missing value is not replaced. meter/remote/remote.h decides when to retry after a failure.
 *
 * The library is loaded when the source is opened, because no program code can be loaded later
 * (service/confine.h). Polled: a controller may take seconds.
 */
#include "meter/remote/redfish.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "bmc/redfish_client.h"
#include "bmc/redfish_power.h"
#include "bmc/service.h"
#include "bmc/service_target.h"
#include "meter/meter.h"
#include "meter/remote/counter_trial.h"
#include "meter/remote/remote.h"
#include "service/needs.h"

#define MISSES_TO_SEARCH   3   /* readings without a value, until another place is looked for */
#define READINGS_TO_SEARCH 360 /* the same for a place that is provisional */

enum text { TEXT_URL, TEXT_CREDENTIALS, TEXT_CA_FILE, TEXT_SYSTEM, TEXT_NODE, TEXTS };

static const struct remote_words words = { "BMC", "--meter.redfish.ca-file=FILE" };

struct meter {
	struct remote remote; /* first: see remote.h */
	char *texts[TEXTS];   /* none is NULL */
	uint64_t window_ns, delay_ns;
	bool insecure, basic;
	/* Members of the poller's thread: */
	struct redfish_client *client; /* NULL: it is not known where the BMC is */
	struct redfish_power power;
	bool is_found, counts;
	unsigned misses;   /* readings without a value, in a row */
	unsigned readings; /* since the last search */
	struct counter_trial trial;
	uint32_t generation;
};

static_assert(offsetof(struct meter, remote) == 0, "remote.h takes it from there");

static int fail(struct meter *meter, int r, const struct diag *diag)
{
	uint64_t wait_ns = meter->client ? redfish_client_retry_after_ns(meter->client) : 0;

	return remote_fail(&meter->remote, r, wait_ns, diag);
}

/* ---- where the BMC is ---- */

/* The zone is made with the first target that is known. */
static void make_zone(struct meter *meter, const struct service_target *target)
{
	struct zone zone = { .kind = ZONE_PLATFORM,
			     .domain = zone_domain(ZONE_PLATFORM, ""),
			     .source = redfish_meter.name,
			     .rank = RANK_REMOTE,
			     .is_remote = true,
			     .is_unverified = meter->insecure || target->insecure };

	(void)snprintf(zone.path, sizeof(zone.path), "%.*s", (int)sizeof(zone.path) - 1,
		       target->url + strlen("https://"));
	remote_show_zone(&meter->remote, &zone, zone.is_unverified);
}

static int set_target(struct meter *meter, const struct service_target *target, struct diag *diag)
{
	const struct redfish_client_options options = {
		.ca_file = meter->texts[TEXT_CA_FILE],
		.settings = meter->texts[TEXT_CREDENTIALS],
		.timeout_ms = remote_timeout_ms(&meter->remote),
		.insecure = meter->insecure || target->insecure,
		.basic = meter->basic,
		.cancel_fd = meter->remote.cancel_fd,
	};
	struct redfish_client *client;
	int r = redfish_client_new(&options, &client, diag);

	if (r == 0) {
		r = redfish_client_set_target(client, target->url, target->user, target->password);
		if (r < 0)
			redfish_client_free(client);
	}
	if (r < 0)
		return r;
	if (meter->client)
		redfish_client_end(meter->client, REMOTE_END_MS);
	redfish_client_free(meter->client);
	meter->client = client;
	meter->is_found = false;
	make_zone(meter, target);
	return 0;
}

/* Reads the file with the password where that is not known, or is another one. */
static int find_target(struct meter *meter, struct diag *diag)
{
	const char *path = meter->texts[TEXT_CREDENTIALS];
	struct service_target target;
	int r;

	if (!remote_settings_changed(&meter->remote, path) && meter->client)
		return 0;
	if (!*path)
		return diag_set(diag, -EINVAL,
				"meter.redfish.credentials is not given: a file with the line "
				"USER,PASSWORD that only its owner can read");
	r = service_target_read(path, meter->texts[TEXT_NODE], meter->texts[TEXT_URL], &target,
				diag);
	if (r == 0)
		r = set_target(meter, &target, diag);
	service_target_wipe(&target);
	return r;
}

static int redfish_rescan(struct meter *meter)
{
	struct diag diag = { "" };
	int r;

	if (meter->client)
		return 0;
	r = find_target(meter, &diag);
	return r < 0 ? fail(meter, r, &diag) : 0;
}

/* ---- reading ---- */

/* Chooses the counter or power; a change is a new generation. True if the answer has it. */
static bool choose_value(struct meter *meter, const struct redfish_reading *reading,
			 uint64_t now_ns)
{
	if (meter->counts)
		return reading->has_energy;
	if (reading->has_power && reading->has_energy &&
	    counter_trial_take(&meter->trial, now_ns, reading->energy_uj, reading->power_uw)) {
		meter->counts = true;
		meter->generation++;
	}
	return reading->has_power;
}

static void take_value(const struct meter *meter, const struct redfish_reading *reading,
		       uint64_t now_ns, struct raw_reading *ret)
{
	uint64_t window_ns = meter->window_ns ? meter->window_ns : reading->window_ns;
	uint64_t to_ns = now_ns > meter->delay_ns ? now_ns - meter->delay_ns : now_ns;

	*ret = (struct raw_reading){ .generation = meter->generation,
				     .caveat = reading->is_output ? CAVEAT_OUTPUT : CAVEAT_NONE,
				     .to_ns = to_ns };
	if (meter->counts) {
		ret->kind = SAMPLE_TOTAL;
		ret->value = reading->energy_uj;
		return;
	}
	ret->kind = SAMPLE_POWER;
	ret->value = reading->power_uw;
	if (window_ns && window_ns < to_ns)
		ret->from_ns = to_ns - window_ns;
}

/* Where the values come from is known to people. */
static void show_caveat(struct meter *meter, bool is_output)
{
	char note[sizeof(((struct meter_remark *)NULL)->what)] = "";

	if (is_output)
		(void)snprintf(
			note, sizeof(note),
			"BMC %.64s: power is the output of the power supplies, without their "
			"losses, because the BMC does not report their input",
			meter->remote.zone.path);
	remote_show_caveat(&meter->remote, note);
}

static bool is_same_place(const struct redfish_power *a, const struct redfish_power *b)
{
	return a->method == b->method && redfish_path_is_same(&a->chassis, &b->chassis) &&
	       strcmp(a->path.text, b->path.text) == 0;
}

/* Another place is another meter, even of the same power. */
static int search(struct meter *meter, struct diag *diag)
{
	struct redfish_power power;
	int r = redfish_power_find(meter->client, meter->texts[TEXT_SYSTEM], &power, diag);

	meter->readings = 0;
	if (r < 0)
		return r;
	if (meter->is_found && !meter->misses && is_same_place(&power, &meter->power)) {
		meter->power.is_provisional = power.is_provisional;
		return 0;
	}
	meter->power = power;
	meter->is_found = true;
	meter->counts = false;
	meter->trial = (struct counter_trial){ 0 };
	meter->generation++;
	return 0;
}

static bool should_search(const struct meter *meter)
{
	return !meter->is_found || (meter->misses && meter->misses % MISSES_TO_SEARCH == 0) ||
	       (meter->power.is_provisional && meter->readings >= READINGS_TO_SEARCH);
}

static int read_value(struct meter *meter, struct raw_reading *ret, struct diag *diag)
{
	struct redfish_reading reading;
	uint64_t now_ns;
	int r = should_search(meter) ? search(meter, diag) : 0;

	if (r < 0 && !meter->is_found)
		return r;
	meter->readings++;
	r = redfish_power_read(meter->client, &meter->power, &reading, diag);
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (r == 0 && !choose_value(meter, &reading, now_ns))
		r = diag_set(diag, -ENODATA, "BMC %s: the value is missing",
			     meter->remote.zone.path);
	if (r == -ENODATA || r == -ENOENT)
		meter->misses++;
	if (r < 0)
		return r;
	take_value(meter, &reading, now_ns, ret);
	show_caveat(meter, reading.is_output);
	return 0;
}

static int redfish_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	struct diag diag = { "" };
	int r = find_target(meter, &diag);

	(void)index;
	if (r == 0 && remote_rests(&meter->remote))
		return meter->remote.error;
	if (r == 0)
		r = read_value(meter, ret, &diag);
	if (r < 0)
		return fail(meter, r, &diag);
	meter->misses = 0;
	remote_succeed(&meter->remote);
	return 0;
}

/* ---- the life of the source ---- */

static void redfish_close(struct meter *meter)
{
	if (!meter)
		return;
	if (meter->client) {
		remote_begin_close(&meter->remote);
		redfish_client_end(meter->client, REMOTE_END_MS);
	}
	redfish_client_free(meter->client);
	remote_release(&meter->remote);
	for (size_t i = 0; i < TEXTS; i++)
		free(meter->texts[i]);
	free(meter);
}

static int copy_options(struct meter *meter, const struct meter_options *options)
{
	const char *const texts[TEXTS] = {
		[TEXT_URL] = options->redfish.url,
		[TEXT_CREDENTIALS] = options->redfish.credentials,
		[TEXT_CA_FILE] = options->redfish.ca_file,
		[TEXT_SYSTEM] = options->redfish.system,
		[TEXT_NODE] = options->node_name,
	};

	for (size_t i = 0; i < TEXTS; i++) {
		meter->texts[i] = strdup(texts[i] ? texts[i] : "");
		if (!meter->texts[i])
			return -ENOMEM;
	}
	meter->window_ns = options->redfish.window_ns;
	meter->delay_ns = options->redfish.delay_ns;
	meter->insecure = options->redfish.insecure;
	meter->basic = options->redfish.login == REDFISH_LOGIN_BASIC;
	return 0;
}

static int redfish_open(const struct meter_options *options, struct meter **ret)
{
	uint64_t period_ns =
		options->redfish.period_ns ? options->redfish.period_ns : redfish_meter.period_ns;
	struct meter *meter = calloc(1, sizeof(*meter));
	struct diag diag = { "" };

	if (!meter)
		return -ENOMEM;
	if (remote_init(&meter->remote, &words, period_ns) < 0 ||
	    copy_options(meter, options) < 0) {
		redfish_close(meter);
		return -ENOMEM;
	}
	if (service_load(&diag) < 0)
		remote_show_failure(&meter->remote, diag.text); /* the search says it again */
	*ret = meter;
	return 0;
}

static bool redfish_is_wanted(const struct meter_options *options)
{
	return (options->redfish.url && options->redfish.url[0]) ||
	       (options->redfish.credentials && options->redfish.credentials[0]);
}

static void redfish_files(const struct meter_options *options, meter_path_fn *add, void *userdata)
{
	add(userdata, options->redfish.credentials);
	add(userdata, options->redfish.ca_file);
}

static const struct option_choice logins[] = { { "session", REDFISH_LOGIN_SESSION },
					       { "basic", REDFISH_LOGIN_BASIC },
					       { 0 } };

static const struct option rows[] = {
	{ "meter.redfish.url", NULL, OPTION_STRING, OPTION_MEMBER(struct redfish_options, url),
	  .default_text = "", .metavar = "URL", .may_be_empty = true, .check = remote_check_url,
	  .help = "URL of this machine's BMC, whose Redfish service reports the power of the whole "
		  "machine: https://HOST or https://HOST:PORT. Empty: use the address in the "
		  "credentials file, if there is one." },
	{ "meter.redfish.credentials", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct redfish_options, credentials), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true,
	  .help = "Credentials file, readable only by its owner (chmod 600). It contains the line "
		  "USER,PASSWORD or, as in classic Kepler, a line NODE,USER,PASSWORD,https://HOST "
		  "for each machine." },
	{ "meter.redfish.ca-file", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct redfish_options, ca_file), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true,
	  .help = "CA certificate (PEM) that signed the BMC's certificate, or the certificate "
		  "itself. Empty: the system's CA certificates." },
	{ "meter.redfish.insecure", NULL, OPTION_BOOL,
	  OPTION_MEMBER(struct redfish_options, insecure), .default_text = "false",
	  .help = "Do not verify the BMC's certificate. Anyone between Kepler and the BMC can then "
		  "read the password. kepler_exporter_source_unverified shows it." },
	{ "meter.redfish.login", NULL, OPTION_ENUM, OPTION_MEMBER(struct redfish_options, login),
	  .choices = logins, .default_text = "session", .metavar = "HOW",
	  .help = "session: log in once and log out at exit. basic: send the password with each "
		  "request; also used if the BMC has no sessions." },
	{ "meter.redfish.system", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct redfish_options, system), .default_text = "", .metavar = "ID",
	  .may_be_empty = true,
	  .help = "Id of this machine under /redfish/v1/Systems if the BMC manages several. Empty: "
		  "the only one." },
	{ "meter.redfish.period", NULL, OPTION_DURATION,
	  OPTION_MEMBER(struct redfish_options, period_ns),
	  OPTION_RANGE(NSEC_PER_SEC, 3600 * NSEC_PER_SEC), .default_text = "10s",
	  .metavar = "DURATION", .help = "How often the BMC is read." },
	{ "meter.redfish.window", NULL, OPTION_DURATION,
	  OPTION_MEMBER(struct redfish_options, window_ns), OPTION_RANGE(0, 3600 * NSEC_PER_SEC),
	  .default_text = "0s", .metavar = "DURATION",
	  .help = "Time over which the BMC averages its power reading. 0: as reported by the BMC, "
		  "otherwise the reading counts as instantaneous." },
	{ "meter.redfish.delay", NULL, OPTION_DURATION,
	  OPTION_MEMBER(struct redfish_options, delay_ns), OPTION_RANGE(0, 600 * NSEC_PER_SEC),
	  .default_text = "0s", .metavar = "DURATION",
	  .help = "Delay of the BMC's power readings." },
};

const struct meter_ops redfish_meter = {
	.name = "redfish",
	.period_ns = 10 * NSEC_PER_SEC,
	.close_ns = REMOTE_CLOSE_NS,
	.own_period_ns = remote_period_ns,
	.is_wanted = redfish_is_wanted,
	.options = METER_OPTIONS(rows, redfish),
	.needs = NEED_CLIENTS,
	.files = redfish_files,
	.open = redfish_open,
	.zone_count = remote_zone_count,
	.zone_at = remote_zone_at,
	.remark = remote_remark,
	.read_raw = redfish_read_raw,
	.rescan = redfish_rescan,
	.stop = remote_stop,
	.close = redfish_close,
};
