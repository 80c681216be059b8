// SPDX-License-Identifier: Apache-2.0
/*
 * The machine's power, as its management controller (BMC) measures it: by Redfish, over the network
 * (bmc/redfish_power.h). One zone, "platform", from the time on when it is known where the BMC is.
 *
 * Power is integrated; the counter of energy is read instead where it proves to be fine enough
 * (counter_trial.h). What the BMC averages over is what it says, or what the options say, as is how
 * late it is. Nothing stands for a value that is missing.
 *
 * A BMC that does not answer is asked again in the next period, one that asks to be left alone
 * after the time that it names, and one that refuses the password more and more seldom, because it
 * may lock the account; at once when the file with the password has changed.
 *
 * The library for that is loaded when the source is opened: later no program code can be loaded any
 * more (service/confine.h). Polled: a controller may take seconds.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "bmc/redfish_client.h"
#include "bmc/redfish_power.h"
#include "bmc/redfish_target.h"
#include "meter/counter_trial.h"
#include "meter/meter.h"

#define TIMEOUT_MIN_MS   2000
#define TIMEOUT_MAX_MS   10000
#define END_MS           1500 /* for the end of the session */
#define CLOSE_NS         (2 * NSEC_PER_SEC)
#define DENIED_MAX_NS    (900 * NSEC_PER_SEC)
#define MISSES_TO_SEARCH 3 /* readings without a value, until another place is looked for */

enum text { TEXT_URL, TEXT_CREDENTIALS, TEXT_CA_FILE, TEXT_SYSTEM, TEXT_NODE, TEXTS };

/* Of the file with the password: whether it has changed. */
struct stamp {
	ino_t inode;
	struct timespec changed;
};

struct meter {
	char *texts[TEXTS]; /* none is NULL */
	uint64_t period_ns, window_ns, delay_ns;
	bool insecure, basic;
	int cancel_fd;
	/* Of the poller's thread: */
	struct redfish_client *client; /* NULL: it is not known where the BMC is */
	struct stamp stamp;
	struct redfish_power power;
	bool is_found, counts;
	unsigned misses; /* readings without a value, in a row */
	struct counter_trial trial;
	uint32_t generation;
	uint64_t denied_ns;     /* the last wait after a refusal; 0: none */
	uint64_t not_before_ns; /* MONOTONIC; 0: at any time */
	int error;              /* of the last attempt */
	struct zone zone;       /* fixed once it is counted */
	pthread_mutex_t lock;   /* of what follows */
	struct {
		size_t count;
		bool is_unverified, has_answered;
		char failure[sizeof(((struct meter_remark *)NULL)->what)];
	} shown;
};

/* ---- what is shown ---- */

static void show_failure(struct meter *meter, const char *text)
{
	pthread_mutex_lock(&meter->lock);
	(void)snprintf(meter->shown.failure, sizeof(meter->shown.failure), "%.*s",
		       (int)sizeof(meter->shown.failure) - 1, text);
	meter->shown.has_answered |= !*text;
	pthread_mutex_unlock(&meter->lock);
}

static bool redfish_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	bool has_one = false;

	*ret = (struct meter_remark){ .what = "" };
	pthread_mutex_lock(&meter->lock);
	if (meter->shown.failure[0] && index-- == 0) {
		has_one = ret->is_failure = true;
		memcpy(ret->what, meter->shown.failure, sizeof(ret->what));
	} else if (!meter->shown.failure[0] && meter->shown.count && !meter->shown.has_answered &&
		   index-- == 0) {
		has_one = true;
		(void)snprintf(ret->what, sizeof(ret->what), "the BMC %.128s has not answered yet",
			       meter->zone.path);
	} else if (meter->shown.is_unverified && index == 0) {
		has_one = true;
		(void)snprintf(ret->what, sizeof(ret->what),
			       "the certificate of the BMC %.64s is not verified: what is between "
			       "can read the password",
			       meter->zone.path);
		(void)snprintf(ret->option, sizeof(ret->option),
			       "--meter.redfish.ca-file=FILE instead of insecure");
	}
	pthread_mutex_unlock(&meter->lock);
	return has_one;
}

/* ---- failures ---- */

/* -ENOENT and -ENODEV would mean that the zone is gone, and -EPERM that Kepler has no right to. */
static int zone_error(int r)
{
	switch (r) {
	case -EPERM:
	case -EACCES:
		return -EKEYREJECTED;
	case -ENOENT:
	case -EXDEV:
		return -ENODATA;
	default:
		return r;
	}
}

static void wait_after(struct meter *meter, int r)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t wait_ns = meter->client ? redfish_client_retry_after_ns(meter->client) : 0;

	if (r == -EPERM) {
		meter->denied_ns = meter->denied_ns ? meter->denied_ns * 2 : meter->period_ns;
		if (meter->denied_ns > DENIED_MAX_NS)
			meter->denied_ns = DENIED_MAX_NS;
		if (wait_ns < meter->denied_ns)
			wait_ns = meter->denied_ns;
	}
	meter->not_before_ns = wait_ns ? now_ns + wait_ns : 0;
}

static int fail(struct meter *meter, int r, const struct diag *diag)
{
	if (r == -ECANCELED)
		return r;
	show_failure(meter, diag->text[0] ? diag->text : strerrordesc_np(-r));
	wait_after(meter, r);
	meter->error = zone_error(r);
	return meter->error;
}

static void succeed(struct meter *meter)
{
	show_failure(meter, "");
	meter->denied_ns = meter->not_before_ns = 0;
	meter->misses = 0;
	meter->error = 0;
}

/* ---- where the BMC is ---- */

static struct stamp stamp_of(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return (struct stamp){ 0 };
	return (struct stamp){ st.st_ino, st.st_mtim };
}

static bool has_changed(const struct meter *meter, const struct stamp *now)
{
	return now->inode != meter->stamp.inode ||
	       now->changed.tv_sec != meter->stamp.changed.tv_sec ||
	       now->changed.tv_nsec != meter->stamp.changed.tv_nsec;
}

static uint64_t timeout_ms(const struct meter *meter)
{
	uint64_t ms = meter->period_ns / NSEC_PER_MSEC;

	if (ms < TIMEOUT_MIN_MS)
		return TIMEOUT_MIN_MS;
	return ms > TIMEOUT_MAX_MS ? TIMEOUT_MAX_MS : ms;
}

/* The zone is made with the first target that is known. */
static void make_zone(struct meter *meter, const struct redfish_target *target)
{
	bool is_unverified = meter->insecure || target->insecure;

	pthread_mutex_lock(&meter->lock);
	if (!meter->shown.count) {
		meter->zone = (struct zone){ .kind = ZONE_PLATFORM,
					     .domain = zone_domain(ZONE_PLATFORM, ""),
					     .source = redfish_meter.name,
					     .rank = RANK_REMOTE,
					     .is_remote = true,
					     .is_unverified = is_unverified };
		(void)snprintf(meter->zone.path, sizeof(meter->zone.path), "%.*s",
			       (int)sizeof(meter->zone.path) - 1, target->url + strlen("https://"));
	}
	meter->shown.count = 1;
	meter->shown.is_unverified = is_unverified;
	pthread_mutex_unlock(&meter->lock);
}

static int set_target(struct meter *meter, const struct redfish_target *target, struct diag *diag)
{
	const struct redfish_client_options options = {
		.ca_file = meter->texts[TEXT_CA_FILE],
		.settings = meter->texts[TEXT_CREDENTIALS],
		.timeout_ms = timeout_ms(meter),
		.insecure = meter->insecure || target->insecure,
		.basic = meter->basic,
		.cancel_fd = meter->cancel_fd,
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
		redfish_client_end(meter->client, END_MS);
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
	struct stamp now = stamp_of(path);
	struct redfish_target target;
	int r;

	if (meter->client && !has_changed(meter, &now))
		return 0;
	meter->stamp = now;
	meter->not_before_ns = meter->denied_ns = 0;
	if (!*path)
		return diag_set(diag, -EINVAL,
				"meter.redfish.credentials is not given: a file with the line "
				"USER,PASSWORD that only its owner can read");
	r = redfish_target_read(path, meter->texts[TEXT_NODE], meter->texts[TEXT_URL], &target,
				diag);
	if (r == 0)
		r = set_target(meter, &target, diag);
	redfish_target_wipe(&target);
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

/* Whether the answer has what is read of it; another kind of value begins anew. */
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

	*ret = (struct raw_reading){ .generation = meter->generation, .to_ns = to_ns };
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

/* Another place is another meter, even of the same power. */
static int search(struct meter *meter, struct diag *diag)
{
	struct redfish_power power;
	int r = redfish_power_find(meter->client, meter->texts[TEXT_SYSTEM], &power, diag);

	if (r < 0)
		return r;
	meter->power = power;
	meter->is_found = true;
	meter->counts = false;
	meter->trial = (struct counter_trial){ 0 };
	meter->generation++;
	return 0;
}

static bool should_search(const struct meter *meter)
{
	return !meter->is_found || (meter->misses && meter->misses % MISSES_TO_SEARCH == 0);
}

static int read_value(struct meter *meter, struct raw_reading *ret, struct diag *diag)
{
	struct redfish_reading reading;
	uint64_t now_ns;
	int r = should_search(meter) ? search(meter, diag) : 0;

	if (r < 0 && !meter->is_found)
		return r;
	r = redfish_power_read(meter->client, &meter->power, &reading, diag);
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (r == 0 && !choose_value(meter, &reading, now_ns))
		r = diag_set(diag, -ENODATA, "BMC %s: the value that is read is not there",
			     meter->zone.path);
	if (r == -ENODATA || r == -ENOENT)
		meter->misses++;
	if (r == 0)
		take_value(meter, &reading, now_ns, ret);
	return r;
}

static int redfish_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	struct diag diag = { "" };
	int r = find_target(meter, &diag);

	(void)index;
	if (r == 0 && meter->not_before_ns > clock_ns(CLOCK_MONOTONIC))
		return meter->error;
	if (r == 0)
		r = read_value(meter, ret, &diag);
	if (r < 0)
		return fail(meter, r, &diag);
	succeed(meter);
	return 0;
}

/* ---- the rest ---- */

static size_t redfish_zone_count(struct meter *meter)
{
	size_t count;

	pthread_mutex_lock(&meter->lock);
	count = meter->shown.count;
	pthread_mutex_unlock(&meter->lock);
	return count;
}

static const struct zone *redfish_zone_at(struct meter *meter, size_t index)
{
	(void)index;
	return &meter->zone;
}

static size_t redfish_ignored(struct meter *meter)
{
	(void)meter;
	return 0;
}

static uint64_t redfish_period_ns(const struct meter *meter)
{
	return meter->period_ns;
}

static void redfish_stop(struct meter *meter)
{
	(void)eventfd_write(meter->cancel_fd, 1);
}

/* What was under way has ended; the request that ends the session is not to be. */
static void redfish_close(struct meter *meter)
{
	eventfd_t stopped;

	if (!meter)
		return;
	(void)eventfd_read(meter->cancel_fd, &stopped);
	if (meter->client)
		redfish_client_end(meter->client, END_MS);
	redfish_client_free(meter->client);
	if (meter->cancel_fd >= 0)
		(void)close(meter->cancel_fd);
	for (size_t i = 0; i < TEXTS; i++)
		free(meter->texts[i]);
	(void)pthread_mutex_destroy(&meter->lock);
	free(meter);
}

static int copy_options(struct meter *meter, const struct meter_options *options)
{
	const char *const texts[TEXTS] = {
		[TEXT_URL] = options->redfish_url,
		[TEXT_CREDENTIALS] = options->redfish_credentials,
		[TEXT_CA_FILE] = options->redfish_ca_file,
		[TEXT_SYSTEM] = options->redfish_system,
		[TEXT_NODE] = options->node_name,
	};

	for (size_t i = 0; i < TEXTS; i++) {
		meter->texts[i] = strdup(texts[i] ? texts[i] : "");
		if (!meter->texts[i])
			return -ENOMEM;
	}
	meter->period_ns =
		options->redfish_period_ns ? options->redfish_period_ns : redfish_meter.period_ns;
	meter->window_ns = options->redfish_window_ns;
	meter->delay_ns = options->redfish_delay_ns;
	meter->insecure = options->redfish_insecure;
	meter->basic = options->redfish_login == REDFISH_LOGIN_BASIC;
	return 0;
}

static int redfish_open(const struct meter_options *options, struct meter **ret)
{
	struct meter *meter = calloc(1, sizeof(*meter));
	struct diag diag = { "" };

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
	meter->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (meter->cancel_fd < 0 || copy_options(meter, options) < 0) {
		redfish_close(meter);
		return -ENOMEM;
	}
	if (redfish_client_load(&diag) < 0)
		show_failure(meter, diag.text); /* the search says it again */
	*ret = meter;
	return 0;
}

static bool redfish_is_wanted(const struct meter_options *options)
{
	return (options->redfish_url && options->redfish_url[0]) ||
	       (options->redfish_credentials && options->redfish_credentials[0]);
}

const struct meter_ops redfish_meter = {
	.name = "redfish",
	.period_ns = 10 * NSEC_PER_SEC,
	.close_ns = CLOSE_NS,
	.own_period_ns = redfish_period_ns,
	.is_wanted = redfish_is_wanted,
	.open = redfish_open,
	.zone_count = redfish_zone_count,
	.zone_at = redfish_zone_at,
	.ignored = redfish_ignored,
	.remark = redfish_remark,
	.read_raw = redfish_read_raw,
	.rescan = redfish_rescan,
	.stop = redfish_stop,
	.close = redfish_close,
};
