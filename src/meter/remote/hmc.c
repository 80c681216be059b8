// SPDX-License-Identifier: Apache-2.0
/*
 * The power of this machine where it is a partition of an IBM Z, as its Hardware Management Console
 * (HMC) has it, over the network (bmc/hmc_power.h). One zone, "platform", from the time on when the
 * partition is found and has power.
 *
 * What the console measures of the partition itself is measured. The share of what it measures of
 * the whole CPC is an estimate, and the zone says so, with a rank behind all that measures. One of
 * them is chosen once, for a zone does not change its quality: where that is missing later there is
 * no value, and the other one does not stand for it.
 *
 * The console samples every 15 s; the same sample again is the power that still is, until it is so
 * old that the console has stopped.
 *
 * The library for requests is loaded when the source is opened: later no program code can be loaded
 * any more (service/confine.h). Polled: a console may take seconds.
 */
#include "meter/remote/hmc.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "bmc/hmc_client.h"
#include "bmc/hmc_power.h"
#include "bmc/service.h"
#include "bmc/service_target.h"
#include "host/sysinfo.h"
#include "meter/meter.h"
#include "meter/remote/remote.h"
#include "service/needs.h"

#define SHARE_NS      (300 * NSEC_PER_SEC) /* partitions and weights are looked at again */
#define STALE_NS      (60 * NSEC_PER_SEC)  /* four samples of the console */
#define FIRST_TRIES   20 /* for values after the first request for them, each a second */
#define FIRST_WAIT_MS 1000

enum text {
	TEXT_URL,
	TEXT_CREDENTIALS,
	TEXT_CA_FILE,
	TEXT_CPC,
	TEXT_PARTITION,
	TEXT_NODE,
	TEXT_PROCFS,
	TEXTS
};

static const struct remote_words words = { "HMC", "--meter.hmc.ca-file=FILE" };

struct meter {
	struct remote remote; /* first: see remote.h */
	char *texts[TEXTS];   /* none is NULL */
	bool insecure;
	/* Members of the poller's thread: */
	struct hmc_client *client; /* NULL: it is not known where the HMC is */
	bool is_unverified;
	struct hmc_power power; /* undecided: the partition must be searched for */
	enum hmc_method method; /* for good, once it is decided */
	uint32_t generation;    /* changes when the partition is found again */
	uint64_t share_at_ns;   /* when the share was read */
	uint64_t sample_ms;     /* of the last sample, by the console's clock */
	uint64_t sample_at_ns;  /* when that was first seen */
};

static_assert(offsetof(struct meter, remote) == 0, "remote.h takes it from there");

static int fail(struct meter *meter, int r, const struct diag *diag)
{
	uint64_t wait_ns = meter->client ? hmc_client_retry_after_ns(meter->client) : 0;

	return remote_fail(&meter->remote, r, wait_ns, diag);
}

/* ---- where the HMC is ---- */

static int set_target(struct meter *meter, const struct service_target *target, struct diag *diag)
{
	const struct hmc_client_options options = {
		.ca_file = meter->texts[TEXT_CA_FILE],
		.settings = meter->texts[TEXT_CREDENTIALS],
		.timeout_ms = remote_timeout_ms(&meter->remote),
		.insecure = meter->insecure || target->insecure,
		.cancel_fd = meter->remote.cancel_fd,
	};
	struct hmc_client *client;
	int r = hmc_client_new(&options, &client, diag);

	if (r == 0) {
		r = hmc_client_set_target(client, target->url, target->user, target->password);
		if (r < 0)
			hmc_client_free(client);
	}
	if (r < 0)
		return r;
	if (meter->client)
		hmc_client_end(meter->client, REMOTE_END_MS);
	hmc_client_free(meter->client);
	meter->client = client;
	meter->is_unverified = options.insecure;
	meter->power.method = HMC_UNDECIDED;
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
				"meter.hmc.credentials is not given: a file with the line "
				"USER,PASSWORD that only its owner can read");
	r = service_target_read(path, meter->texts[TEXT_NODE], meter->texts[TEXT_URL], &target,
				diag);
	if (r == 0)
		r = set_target(meter, &target, diag);
	service_target_wipe(&target);
	return r;
}

/* ---- which partition this machine is ---- */

/* By the options, else as the machine itself knows. */
static int learn_partition(struct meter *meter, struct sysinfo_facts *facts,
			   const char **ret_partition, struct diag *diag)
{
	int r = sysinfo_read(meter->texts[TEXT_PROCFS], facts);

	if (r == 0 && facts->is_guest)
		return diag_set(
			diag, -EINVAL,
			"this machine is a guest of a hypervisor in partition \"%s\", so the "
			"partition's energy is not its own",
			facts->partition);
	*ret_partition = meter->texts[TEXT_PARTITION];
	if (**ret_partition)
		return 0;
	if (r < 0 || !facts->partition[0])
		return diag_set(diag, -EINVAL,
				"%s/sysinfo does not name this machine's partition; set "
				"meter.hmc.partition",
				meter->texts[TEXT_PROCFS]);
	*ret_partition = facts->partition;
	return 0;
}

/* Values come some seconds after they are asked for first. */
static int decide(struct meter *meter, struct hmc_power *power, struct diag *diag)
{
	struct pollfd cancel = { .fd = meter->remote.cancel_fd, .events = POLLIN };
	int r = hmc_power_decide(meter->client, power, diag);

	if (r == -ENODATA)
		remote_show_note(&meter->remote,
				 "the HMC has no power values yet; the first ones can take 20 s");
	for (int i = 0; r == -ENODATA && i < FIRST_TRIES; i++) {
		if (poll(&cancel, 1, FIRST_WAIT_MS) > 0)
			return -ECANCELED;
		r = hmc_power_decide(meter->client, power, diag);
	}
	return r;
}

static void show(struct meter *meter)
{
	const struct hmc_power *power = &meter->power;
	bool is_own = power->method == HMC_OWN_POWER;
	const char *host = meter->texts[TEXT_URL];
	struct zone zone = { .kind = ZONE_PLATFORM,
			     .domain = zone_domain(ZONE_PLATFORM, ""),
			     .quality = is_own ? QUALITY_MEASURED : QUALITY_ESTIMATED,
			     .source = hmc_meter.name,
			     .rank = is_own ? RANK_REMOTE : RANK_SHARE,
			     .is_remote = true,
			     .is_unverified = meter->is_unverified };
	char note[256] = "";

	host += strncmp(host, "https://", 8) == 0 ? 8 : 0;
	(void)snprintf(zone.path, sizeof(zone.path), "%.16s/%.24s%s%.20s", power->cpc.name,
		       power->partition.name, *host ? "@" : "", host);
	if (!is_own)
		(void)snprintf(
			note, sizeof(note),
			"platform is ESTIMATED: %.2f %% of the power of CPC \"%.16s\", the share "
			"of partition \"%.64s\" in the processors, by number and weight, of "
			"the %zu active partitions that the HMC shows",
			power->share * 100, power->cpc.name, power->partition.name,
			power->active_count);
	remote_show_zone(&meter->remote, &zone, meter->is_unverified);
	remote_show_note(&meter->remote, note);
}

static int update_share(struct meter *meter, struct hmc_power *power, struct diag *diag)
{
	int r = hmc_power_update_share(meter->client, power, diag);

	if (r == 0)
		meter->share_at_ns = clock_ns(CLOCK_MONOTONIC);
	return r;
}

static int find_partition(struct meter *meter, struct diag *diag)
{
	struct hmc_power power = { 0 };
	struct sysinfo_facts facts;
	const char *partition = "";
	int r = learn_partition(meter, &facts, &partition, diag);

	if (r == 0)
		r = hmc_power_find(meter->client, meter->texts[TEXT_CPC], partition, &power, diag);
	if (r == 0 && meter->method == HMC_UNDECIDED)
		r = decide(meter, &power, diag);
	else if (r == 0)
		power.method = meter->method;
	if (r == 0 && power.method == HMC_SHARE)
		r = update_share(meter, &power, diag);
	if (r < 0)
		return r;
	meter->power = power;
	meter->method = power.method;
	meter->generation++;
	show(meter);
	return 0;
}

/* ---- reading ---- */

/* All that is needed before there can be a value. */
static int prepare(struct meter *meter, struct diag *diag)
{
	int r = find_target(meter, diag);

	if (r == 0 && meter->power.method == HMC_UNDECIDED)
		return remote_rests(&meter->remote) ? -EAGAIN : find_partition(meter, diag);
	return r;
}

static int hmc_rescan(struct meter *meter)
{
	struct diag diag = { "" };
	int r = prepare(meter, &diag);

	return r < 0 && r != -EAGAIN ? fail(meter, r, &diag) : 0;
}

/* Fails if the console does not measure any more. */
static int check_age(struct meter *meter, const struct hmc_sample *sample, struct diag *diag)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!meter->sample_at_ns || sample->time_ms != meter->sample_ms) {
		meter->sample_ms = sample->time_ms;
		meter->sample_at_ns = now_ns;
	}
	if (now_ns - meter->sample_at_ns <= STALE_NS + meter->remote.period_ns)
		return 0;
	return diag_set(diag, -ENODATA, "the HMC has had no new value for %u s",
			(unsigned)((now_ns - meter->sample_at_ns) / NSEC_PER_SEC));
}

static int read_value(struct meter *meter, struct hmc_sample *ret, struct diag *diag)
{
	bool is_due = meter->power.method == HMC_SHARE &&
		      clock_ns(CLOCK_MONOTONIC) - meter->share_at_ns > SHARE_NS;
	int r = is_due ? update_share(meter, &meter->power, diag) : 0;

	if (r == 0 && is_due)
		show(meter);
	if (r == 0)
		r = hmc_power_read(meter->client, &meter->power, ret, diag);
	return r == 0 ? check_age(meter, ret, diag) : r;
}

static int hmc_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	struct hmc_sample sample = { 0 };
	struct diag diag = { "" };
	int r;

	(void)index;
	r = prepare(meter, &diag);
	if (r == -EAGAIN || (r == 0 && remote_rests(&meter->remote)))
		return meter->remote.error;
	if (r == 0)
		r = read_value(meter, &sample, &diag);
	if (r == -ENOENT)
		meter->power.method = HMC_UNDECIDED; /* something of it has another path now */
	if (r < 0)
		return fail(meter, r, &diag);
	remote_succeed(&meter->remote);
	*ret = (struct raw_reading){ .value = sample.power_uw,
				     .kind = SAMPLE_POWER,
				     .generation = meter->generation };
	return 0;
}

/* ---- the life of the source ---- */

static void hmc_close(struct meter *meter)
{
	if (!meter)
		return;
	if (meter->client) {
		remote_begin_close(&meter->remote);
		hmc_client_end(meter->client, REMOTE_END_MS);
	}
	hmc_client_free(meter->client);
	remote_release(&meter->remote);
	for (size_t i = 0; i < TEXTS; i++)
		free(meter->texts[i]);
	free(meter);
}

static int copy_options(struct meter *meter, const struct meter_options *options)
{
	const char *const texts[TEXTS] = {
		[TEXT_URL] = options->hmc.url,
		[TEXT_CREDENTIALS] = options->hmc.credentials,
		[TEXT_CA_FILE] = options->hmc.ca_file,
		[TEXT_CPC] = options->hmc.cpc,
		[TEXT_PARTITION] = options->hmc.partition,
		[TEXT_NODE] = options->node_name,
		[TEXT_PROCFS] = options->procfs,
	};

	for (size_t i = 0; i < TEXTS; i++) {
		meter->texts[i] = strdup(texts[i] ? texts[i] : "");
		if (!meter->texts[i])
			return -ENOMEM;
	}
	meter->insecure = options->hmc.insecure;
	return 0;
}

static int hmc_open(const struct meter_options *options, struct meter **ret)
{
	uint64_t period_ns = options->hmc.period_ns ? options->hmc.period_ns : hmc_meter.period_ns;
	struct meter *meter = calloc(1, sizeof(*meter));
	struct diag diag = { "" };

	if (!meter)
		return -ENOMEM;
	if (remote_init(&meter->remote, &words, period_ns) < 0 ||
	    copy_options(meter, options) < 0) {
		hmc_close(meter);
		return -ENOMEM;
	}
	if (service_load(&diag) < 0)
		remote_show_failure(&meter->remote, diag.text); /* the search says it again */
	*ret = meter;
	return 0;
}

static bool hmc_is_wanted(const struct meter_options *options)
{
	return (options->hmc.url && options->hmc.url[0]) ||
	       (options->hmc.credentials && options->hmc.credentials[0]);
}

static void hmc_files(const struct meter_options *options, meter_path_fn *add, void *userdata)
{
	add(userdata, options->hmc.credentials);
	add(userdata, options->hmc.ca_file);
}

static const struct option rows[] = {
	{ "meter.hmc.url", NULL, OPTION_STRING, OPTION_MEMBER(struct hmc_options, url),
	  .default_text = "", .metavar = "URL", .may_be_empty = true, .check = remote_check_url,
	  .help = "On IBM Z and LinuxONE: URL of the Hardware Management Console (HMC), whose Web "
		  "Services report the power of the machine and, on z16 and later, of its "
		  "partitions: https://HOST or https://HOST:PORT (default port 6794). Empty: use "
		  "the address in the credentials file, if there is one." },
	{ "meter.hmc.credentials", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct hmc_options, credentials), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true,
	  .help = "Credentials file, readable only by its owner (chmod 600). It contains the line "
		  "USER,PASSWORD of an HMC user, or lines as in meter.redfish.credentials." },
	{ "meter.hmc.ca-file", NULL, OPTION_STRING, OPTION_MEMBER(struct hmc_options, ca_file),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true,
	  .help = "CA certificate (PEM) that signed the HMC's certificate, or the certificate "
		  "itself. Empty: the system's CA certificates." },
	{ "meter.hmc.insecure", NULL, OPTION_BOOL, OPTION_MEMBER(struct hmc_options, insecure),
	  .default_text = "false",
	  .help = "Do not verify the HMC's certificate. Anyone between Kepler and the HMC can then "
		  "read the password. kepler_exporter_source_unverified shows it." },
	{ "meter.hmc.cpc", NULL, OPTION_STRING, OPTION_MEMBER(struct hmc_options, cpc),
	  .default_text = "", .metavar = "NAME", .may_be_empty = true,
	  .help = "Name in the HMC of the CPC that this machine is a partition of. Empty: the CPC "
		  "that has this partition." },
	{ "meter.hmc.partition", NULL, OPTION_STRING, OPTION_MEMBER(struct hmc_options, partition),
	  .default_text = "", .metavar = "NAME", .may_be_empty = true,
	  .help = "Name of this machine's partition. Empty: as in /proc/sysinfo." },
	{ "meter.hmc.period", NULL, OPTION_DURATION, OPTION_MEMBER(struct hmc_options, period_ns),
	  OPTION_RANGE(NSEC_PER_SEC, 3600 * NSEC_PER_SEC), .default_text = "15s",
	  .metavar = "DURATION",
	  .help = "How often the HMC is read. It has a new value every 15 s." },
};

const struct meter_ops hmc_meter = {
	.name = "hmc",
	.period_ns = 15 * NSEC_PER_SEC,
	.close_ns = REMOTE_CLOSE_NS,
	.own_period_ns = remote_period_ns,
	.is_wanted = hmc_is_wanted,
	.options = METER_OPTIONS(rows, hmc),
	.needs = NEED_CLIENTS,
	.files = hmc_files,
	.open = hmc_open,
	.zone_count = remote_zone_count,
	.zone_at = remote_zone_at,
	.remark = remote_remark,
	.read_raw = hmc_read_raw,
	.rescan = hmc_rescan,
	.stop = remote_stop,
	.close = hmc_close,
};
