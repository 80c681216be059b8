// SPDX-License-Identifier: Apache-2.0
/*
 * The thread that polls waits for bytes in the reading of the first zone, so a record is taken when
 * it arrives and has the time of its arrival; the other zones then have their values of the same
 * record. Nothing of the host's clocks is used for that time. Without a record for three of the
 * host's intervals the zones fail; the next record of the epoch covers the gap. They fail as well
 * while the host has never reported any energy and this machine works.
 *
 * The host has meters that are more than this machine, so a zone has the rank of a share: behind
 * all meters of the machine itself, before estimates.
 */
#include "meter/passthrough/passthrough.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "meter/meter.h"
#include "meter/passthrough/passthrough_channel.h"
#include "meter/passthrough/passthrough_counts.h"
#include "meter/passthrough/passthrough_cpu.h"
#include "passthrough/passthrough_account.h"
#include "passthrough/passthrough_text.h"
#include "service/needs.h"

#define PERIOD_NS     NSEC_PER_SEC
#define WAIT_NS       (900 * NSEC_PER_MSEC)  /* for a record, in one reading */
#define FIRST_WAIT_NS (1200 * NSEC_PER_MSEC) /* in a search, while no record has come */
#define STALE_MIN_NS  (10 * NSEC_PER_SEC)
#define STALE_PERIODS 3
#define STALE_MAX_NS  (3600 * NSEC_PER_SEC)
#define READS_MAX     16 /* in one reading: a host that floods the channel is read on later */
#define UUID_SIZE     64
#define PRODUCT_UUID  "class/dmi/id/product_uuid"

struct meter {
	pthread_mutex_t lock; /* of what the other threads read */
	struct zone zones[PASSTHROUGH_SUMS_MAX];
	size_t count;
	char remark[sizeof(((struct meter_remark *)NULL)->what)]; /* "": there is none */
	struct passthrough_counts counts;                         /* atomic, each */
	/* Only of the thread that polls: */
	struct passthrough_channel *channel;
	char *sysfs;
	struct passthrough_stream stream;
	struct passthrough_account account;
	uint64_t updates[PASSTHROUGH_SUMS_MAX]; /* of each sum, as they were returned */
	uint64_t received_ns;                   /* MONOTONIC, of the last record that counts; 0 */
	uint64_t stale_ns;
	uint64_t refused_texts;
	char *procfs;
	struct passthrough_cpu cpu;
	uint64_t cpu_epochs; /* when @cpu began */
	struct passthrough_empty empty;
	bool is_empty; /* the account has no energy, although this machine works */
	bool has_uuid;
	bool is_claimed; /* meter_options.host_is_distrusted */
	int error;       /* of the channel */
};

static void set_remark(struct meter *meter, const char *text)
{
	pthread_mutex_lock(&meter->lock);
	(void)snprintf(meter->remark, sizeof(meter->remark), "%.255s", text);
	pthread_mutex_unlock(&meter->lock);
}

/* False: a zone that work of the CPUs uses is there, and no zone has ever had energy. */
static bool has_energy(const struct passthrough_account *account)
{
	bool is_of_cpus = false;

	for (size_t i = 0; i < account->sum_count; i++) {
		if (account->sums[i].energy_uj)
			return true;
		is_of_cpus |= account->sums[i].kind != ZONE_GPU;
	}
	return !is_of_cpus;
}

/* Only records that follow each other in one epoch cover all time between them. */
static void compare_cpu(struct meter *meter, enum passthrough_outcome outcome)
{
	uint64_t own_us;

	if (outcome != PASSTHROUGH_COUNTED || meter->account.epoch_count != meter->cpu_epochs)
		meter->cpu = (struct passthrough_cpu){ 0 };
	meter->cpu_epochs = meter->account.epoch_count;
	if (outcome != PASSTHROUGH_COUNTED || passthrough_own_cpu(meter->procfs, &own_us) < 0)
		return;
	if (meter->account.cpu_time_us) /* vhostmd may not report it */
		passthrough_cpu_compare(&meter->cpu, meter->received_ns, meter->account.cpu_time_us,
					own_us);
	meter->is_empty = passthrough_is_empty(&meter->empty, has_energy(&meter->account), own_us);
}

static const char *remark_on(const struct meter *meter, enum passthrough_outcome outcome)
{
	if (outcome == PASSTHROUGH_FELL)
		return "a record of the host was refused: a value in it fell";
	if (outcome == PASSTHROUGH_IMPLAUSIBLE)
		return "a record of the host was refused: it has more energy than the zone can "
		       "have used";
	if (meter->is_empty)
		return "the host reports 0 J all the time, although the CPUs of this machine were "
		       "busy for more than 30 s, so its account is not used: Kepler on the host "
		       "may have no meter that counts";
	return "";
}

static void take_record(struct meter *meter, const struct passthrough_record *record)
{
	enum passthrough_outcome outcome = passthrough_account_take(&meter->account, record);
	uint64_t stale_ns = (uint64_t)record->period_ms * NSEC_PER_MSEC * STALE_PERIODS;

	if (outcome == PASSTHROUGH_WRONG_VM) {
		set_remark(meter, "the host sends the records of another virtual machine: their "
				  "UUID is not the one of class/dmi/id/product_uuid");
		return;
	}
	if (outcome == PASSTHROUGH_REPEATED)
		return;
	meter->received_ns = clock_ns(CLOCK_MONOTONIC);
	if (stale_ns < STALE_MIN_NS)
		stale_ns = STALE_MIN_NS;
	meter->stale_ns = stale_ns < STALE_MAX_NS ? stale_ns : STALE_MAX_NS;
	compare_cpu(meter, outcome);
	passthrough_channel_expect(meter->channel, (uint64_t)record->period_ms * NSEC_PER_MSEC);
	set_remark(meter, remark_on(meter, outcome));
}

static void take_stream(struct meter *meter, const char *bytes, size_t len)
{
	struct passthrough_record record;

	for (size_t taken; len > 0; bytes += taken, len -= taken) {
		taken = passthrough_stream_add(&meter->stream, bytes, len);
		while (passthrough_stream_next(&meter->stream, &record))
			take_record(meter, &record);
	}
	if (meter->stream.refused[PASSTHROUGH_BAD_VERSION] && !meter->received_ns)
		set_remark(meter, "the host sends records of a version that this Kepler does not "
				  "know");
}

static int take_text(struct meter *meter, const char *text, size_t len)
{
	struct passthrough_record record;
	struct diag diag = { "" };
	int r = passthrough_text_read(text, len, &record, &diag);

	if (r < 0)
		set_remark(meter, diag.text);
	else
		take_record(meter, &record);
	meter->refused_texts += r < 0;
	return r;
}

/* For other threads: each value by itself is whole. */
static void show_counts(struct meter *meter)
{
	const struct passthrough_account *account = &meter->account;
	struct passthrough_counts counts = {
		.refused_texts = meter->refused_texts,
		.lost = account->lost,
		.skipped_bytes = meter->stream.skipped,
		.epochs = account->epoch_count,
		.host_cpu_us = account->cpu_time_us,
		.compared_host_us = meter->cpu.compared_host_us,
		.compared_own_us = meter->cpu.compared_own_us,
		.received_ns = meter->received_ns,
	};
	const uint64_t *from = (const uint64_t *)&counts;
	uint64_t *to = (uint64_t *)&meter->counts;

	memcpy(counts.outcomes, account->outcomes, sizeof(counts.outcomes));
	memcpy(counts.refused, meter->stream.refused, sizeof(counts.refused));
	for (size_t i = 0; i < sizeof(counts) / sizeof(*from); i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

void passthrough_meter_counts(const struct meter *meter, struct passthrough_counts *ret)
{
	const uint64_t *from = (const uint64_t *)&meter->counts;
	uint64_t *to = (uint64_t *)ret;

	for (size_t i = 0; i < sizeof(*ret) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/* Takes all that has arrived; waits at most @wait_ns for something to arrive. */
static void receive(struct meter *meter, uint64_t wait_ns)
{
	char buf[PASSTHROUGH_TEXT_MAX + 1];
	struct diag diag = { "" };
	bool is_text = false;
	int len;

	for (unsigned i = 0; i < READS_MAX; i++) {
		len = passthrough_channel_read(meter->channel, i ? 0 : wait_ns, buf, sizeof(buf),
					       &is_text, &diag);
		meter->error = len < 0 ? len : 0;
		if (len < 0)
			set_remark(meter, diag.text);
		else if (len > 0 && is_text)
			meter->error = take_text(meter, buf, (size_t)len);
		else if (len > 0)
			take_stream(meter, buf, (size_t)len);
		if (len <= 0 || is_text)
			return;
	}
}

static void pump(struct meter *meter, uint64_t wait_ns)
{
	receive(meter, wait_ns);
	show_counts(meter);
}

static void add_zones(struct meter *meter)
{
	pthread_mutex_lock(&meter->lock);
	for (; meter->count < meter->account.sum_count; meter->count++) {
		const struct passthrough_sum *sum = &meter->account.sums[meter->count];

		meter->zones[meter->count] = (struct zone){
			.kind = sum->kind,
			.domain = zone_domain(sum->kind, ""),
			.quality = sum->quality,
			.scope = sum->has_idle ? SCOPE_NODE : SCOPE_VM_DYNAMIC,
			.knows_idle = sum->has_idle,
			.path = "host",
			.source = passthrough_meter.name,
			.rank = RANK_SHARE,
		};
	}
	pthread_mutex_unlock(&meter->lock);
}

/* The firmware's UUID, which libvirt shows as the domain's; only root can read it. */
static void find_uuid(struct meter *meter)
{
	char path[PASSTHROUGH_PATH_MAX], uuid[UUID_SIZE];

	meter->has_uuid = true;
	if (path_join(path, sizeof(path), meter->sysfs, PRODUCT_UUID) == 0 &&
	    read_file_at(AT_FDCWD, path, uuid, sizeof(uuid)) > 0)
		meter->account.vm_hash = passthrough_vm_hash(uuid);
}

static int passthrough_rescan(struct meter *meter)
{
	if (!meter->has_uuid)
		find_uuid(meter);
	if (!meter->account.sum_count)
		pump(meter, FIRST_WAIT_NS);
	add_zones(meter);
	return meter->account.sum_count ? 0 : -EAGAIN;
}

/* A value has one caveat: that the host is not trusted weighs more than how it reads. */
static enum zone_caveat caveat_of(const struct meter *meter)
{
	if (meter->is_claimed)
		return CAVEAT_CLAIMED;
	return meter->account.flags & PASSTHROUGH_FILTERED ? CAVEAT_FILTERED : CAVEAT_NONE;
}

static int passthrough_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	const struct passthrough_sum *sum = &meter->account.sums[index];

	if (index == 0) {
		pump(meter, meter->updates[0] == sum->updates ? WAIT_NS : 0);
		add_zones(meter);
	}
	if (meter->is_empty)
		return -ENODATA;
	if (meter->updates[index] == sum->updates) {
		uint64_t age_ns = clock_ns(CLOCK_MONOTONIC) - meter->received_ns;

		if (age_ns <= meter->stale_ns)
			return -EAGAIN;
		return meter->error < 0 && meter->error != -EINPROGRESS ? meter->error : -ETIMEDOUT;
	}
	meter->updates[index] = sum->updates;
	*ret = (struct raw_reading){
		.value = sum->energy_uj,
		.idle_uj = sum->idle_uj,
		.kind = SAMPLE_TOTAL,
		.is_plausible = true,
		.caveat = caveat_of(meter),
		.to_ns = meter->received_ns,
	};
	return 0;
}

static size_t passthrough_zone_count(struct meter *meter)
{
	size_t count;

	pthread_mutex_lock(&meter->lock);
	count = meter->count;
	pthread_mutex_unlock(&meter->lock);
	return count;
}

static const struct zone *passthrough_zone_at(struct meter *meter, size_t index)
{
	return &meter->zones[index];
}

static size_t passthrough_ignored(struct meter *meter)
{
	(void)meter;
	return 0;
}

static bool remark_on_cpu(const struct meter *meter, struct meter_remark *ret)
{
	struct passthrough_counts counts;
	double deviation;

	passthrough_meter_counts(meter, &counts);
	deviation = passthrough_cpu_deviation(counts.compared_host_us, counts.compared_own_us);
	if (!(fabs(deviation) > PASSTHROUGH_CPU_TOLERANCE))
		return false;
	*ret = (struct meter_remark){ .is_caveat = true };
	(void)snprintf(ret->what, sizeof(ret->what),
		       "the host counted %.0f %% %s CPU time for this virtual machine than its own "
		       "CPUs were busy over a minute: %s",
		       fabs(deviation) * 100, deviation > 0 ? "more" : "less",
		       deviation > 0
			       ? "its emulation or I/O threads, or the host's work for it, "
				 "used the rest"
			       : "time that other machines had is not reported as steal here");
	return true;
}

static bool passthrough_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	bool has_one;

	*ret = (struct meter_remark){ .is_failure = true };
	pthread_mutex_lock(&meter->lock);
	has_one = index == 0 && meter->remark[0];
	if (has_one)
		memcpy(ret->what, meter->remark, sizeof(ret->what));
	pthread_mutex_unlock(&meter->lock);
	(void)snprintf(
		ret->option, sizeof(ret->option),
		"the host sends its account of this virtual machine to meter.passthrough, as "
		"docs/passthrough.md describes");
	if (!has_one && index == 0)
		return remark_on_cpu(meter, ret);
	return has_one;
}

static void passthrough_stop(struct meter *meter)
{
	passthrough_channel_stop(meter->channel);
}

static void passthrough_close(struct meter *meter)
{
	if (!meter)
		return;
	passthrough_channel_free(meter->channel);
	(void)pthread_mutex_destroy(&meter->lock);
	free(meter->procfs);
	free(meter->sysfs);
	free(meter);
}

static const char *place_of(const struct meter_options *options)
{
	return options->passthrough.from ? options->passthrough.from : PASSTHROUGH_AUTO;
}

static bool passthrough_is_wanted(const struct meter_options *options)
{
	const char *place = place_of(options);
	struct passthrough_places places;

	if (strcmp(place, PASSTHROUGH_AUTO) == 0) {
		passthrough_search(options->procfs, options->sysfs, &places);
		return passthrough_best_place(&places)[0];
	}
	return strcmp(place, PASSTHROUGH_OFF) != 0;
}

static int passthrough_open(const struct meter_options *options, struct meter **ret)
{
	struct meter *meter = calloc(1, sizeof(*meter));
	int r;

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
	meter->stale_ns = STALE_MIN_NS;
	meter->is_claimed = options->host_is_distrusted;
	meter->sysfs = strdup(options->sysfs ? options->sysfs : "/sys");
	meter->procfs = strdup(options->procfs ? options->procfs : "/proc");
	r = -ENOMEM;
	if (meter->sysfs && meter->procfs)
		r = passthrough_channel_new(place_of(options), meter->procfs, meter->sysfs,
					    &meter->channel);
	if (r < 0) {
		passthrough_close(meter);
		return r;
	}
	*ret = meter;
	return 0;
}

/* Sockets are opened again and again. */
static bool passthrough_needs_apply(const struct meter_options *options)
{
	return passthrough_is_vsock(place_of(options));
}

static void passthrough_files(const struct meter_options *options, meter_path_fn *add,
			      void *userdata)
{
	if (place_of(options)[0] == '/')
		add(userdata, place_of(options));
}

static const struct option rows[] = {
	{ "meter.passthrough", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct passthrough_meter_options, from), .default_text = PASSTHROUGH_AUTO,
	  .metavar = "auto|PATH|vsock[:PORT]|vhostmd[:PATH]|off", .check = passthrough_check_place,
	  .help = "In a virtual machine: where the host reports the energy that it measured for "
		  "this machine. auto: the virtio-serial port io.kepler.energy.0, if there is one, "
		  "else a mount of virtiofs or 9p that has the tag kepler or is at "
		  "/var/lib/kepler/host, else the port org.github.vhostmd.1; PATH: such a port's "
		  "device, a file with a record, or the "
		  "mounted folder that has the file energy; vsock: a connection to the host (port "
		  "28283); vhostmd: the virtio-serial port org.github.vhostmd.1, or another "
		  "device, which "
		  "is asked for the metrics of vhostmd. docs/passthrough.md describes the "
		  "records." },
};

const struct meter_ops passthrough_meter = {
	.name = "passthrough",
	.period_ns = PERIOD_NS,
	.waits = true,
	.is_wanted = passthrough_is_wanted,
	.options = METER_OPTIONS(rows, passthrough),
	.needs = NEED_CLIENTS | NEED_VSOCK,
	.needs_apply = passthrough_needs_apply,
	.devices = { { "char-virtio-portsdev rw", "/dev/vport" } },
	.files = passthrough_files,
	.open = passthrough_open,
	.zone_count = passthrough_zone_count,
	.zone_at = passthrough_zone_at,
	.ignored = passthrough_ignored,
	.remark = passthrough_remark,
	.read_raw = passthrough_read_raw,
	.rescan = passthrough_rescan,
	.stop = passthrough_stop,
	.close = passthrough_close,
};
