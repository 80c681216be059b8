// SPDX-License-Identifier: Apache-2.0
/*
 * The machine's power, as its management controller (BMC) measures it, asked from inside: by DCMI
 * (bmc/ipmi_dcmi.h), or where it has none by its sensors (bmc/ipmi_sensors.h), through the kernel's
 * device (bmc/ipmi_device.h). One zone, "platform", from the first answer on that has power: many
 * machines have such a device and no such answer. To look through all sensors takes minutes.
 *
 * The power of the moment is integrated; the mean that the BMC has as well is over a time of its
 * own choice, which is often that since its start. Polled: a controller may take seconds.
 */
#include "meter/ipmi.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/num.h"
#include "bmc/ipmi_dcmi.h"
#include "bmc/ipmi_device.h"
#include "bmc/ipmi_sensors.h"
#include "meter/meter.h"
#include "service/needs.h"

#define IPMI_DEVICE "/dev/ipmi0"
#define CLOSE_NS    (NSEC_PER_SEC / 2)
#define SEARCH_ASKS 3                     /* of a BMC that is busy, in one search */
#define VAIN_NS     (3600 * NSEC_PER_SEC) /* from a search of all sensors in vain to the next */

struct meter {
	char *path;
	uint64_t period_ns;
	const struct ipmi_system *system;
	int cancel_fd;
	/* Members of the poller's thread: */
	struct ipmi_device device;
	struct ipmi_sensors sensors; /* none: power is asked for by DCMI */
	uint64_t vain_ns;            /* MONOTONIC, the last search of sensors in vain; 0: none */
	bool is_refused;             /* DCMI was, in an earlier search */
	bool is_inactive;            /* of the last power: DCMI's state bit contradicts it */
	struct raw_reading found;    /* with which the zone was found; to_ns 0: it was taken */
	struct zone zone;            /* fixed once it is counted */
	pthread_mutex_t lock;        /* of what follows */
	struct {
		size_t count;
		bool is_refusal; /* the BMC works, and has no power to say */
		bool is_inactive;
		char why_not[sizeof(((struct meter_remark *)NULL)->what)];
	} shown;
};

static void show(struct meter *meter, const char *why_not, bool is_refusal)
{
	pthread_mutex_lock(&meter->lock);
	(void)snprintf(meter->shown.why_not, sizeof(meter->shown.why_not), "%s%s%.200s",
		       *why_not ? meter->path : "", *why_not ? ": " : "", why_not);
	meter->shown.is_refusal = is_refusal;
	meter->shown.is_inactive = meter->is_inactive;
	pthread_mutex_unlock(&meter->lock);
}

static int ask_dcmi(struct meter *meter, uint64_t *ret_uw, struct diag *diag)
{
	struct ipmi_request request;
	struct ipmi_answer answer;
	struct dcmi_power power;
	struct diag why = { "" };
	int r;

	dcmi_power_request(&request);
	r = ipmi_device_ask(&meter->device, &request, &answer, diag);
	if (r < 0)
		return r;
	r = dcmi_power_parse(&answer, &power, &why);
	if (r == 0)
		r = dcmi_power_current(&power, ret_uw, &why);
	meter->is_inactive = r == 0 && !power.is_active;
	return r < 0 ? diag_set(diag, r, "the BMC reports no power through DCMI: %.120s", why.text)
		     : 0;
}

static int ask_power(struct meter *meter, uint64_t *ret_uw, struct diag *diag)
{
	return meter->sensors.count
		       ? ipmi_sensors_read(&meter->device, &meter->sensors, ret_uw, diag)
		       : ask_dcmi(meter, ret_uw, diag);
}

/* Where DCMI is refused, for the reason in @diag. */
static int find_sensors(struct meter *meter, struct diag *diag)
{
	uint64_t now_ns = meter->system->now_ns();
	struct ipmi_sensors sensors;
	struct diag why = { "" }, refusal = *diag;
	int r;

	/* The first search happens at the start, which waits for it. */
	if (!meter->is_refused) {
		meter->is_refused = true;
		return -EOPNOTSUPP;
	}
	if (meter->vain_ns && now_ns - meter->vain_ns < VAIN_NS)
		return -EOPNOTSUPP;
	r = ipmi_sensors_find(&meter->device, &sensors, &why);
	if (r == 0)
		meter->sensors = sensors;
	if (r == -EOPNOTSUPP)
		meter->vain_ns = meter->system->now_ns();
	return r < 0 ? diag_set(diag, r, "%.150s; sensors: %.90s", refusal.text, why.text) : 0;
}

static int read_power(struct meter *meter, struct raw_reading *ret, struct diag *diag)
{
	uint64_t power_uw;
	int r = ask_power(meter, &power_uw, diag);

	if (r == 0)
		*ret = (struct raw_reading){ .value = power_uw,
					     .kind = SAMPLE_POWER,
					     .caveat = meter->is_inactive ? CAVEAT_INACTIVE
									  : CAVEAT_NONE,
					     .to_ns = meter->system->now_ns() };
	return r;
}

static int ipmi_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	struct diag diag = { "" };
	int r;

	(void)index;
	if (meter->found.to_ns) {
		*ret = meter->found;
		meter->found.to_ns = 0;
		return 0;
	}
	r = read_power(meter, ret, &diag);
	if (r != -ECANCELED)
		show(meter, diag.text, false);
	return r;
}

static void add_zone(struct meter *meter)
{
	pthread_mutex_lock(&meter->lock);
	meter->zone = (struct zone){ .kind = ZONE_PLATFORM,
				     .domain = zone_domain(ZONE_PLATFORM, ""),
				     .source = ipmi_meter.name,
				     .rank = RANK_CONTROLLER };
	(void)snprintf(meter->zone.path, sizeof(meter->zone.path), "%.*s",
		       (int)sizeof(meter->zone.path) - 1, meter->path);
	meter->shown.count = 1;
	pthread_mutex_unlock(&meter->lock);
}

static size_t ipmi_zone_count(struct meter *meter)
{
	size_t count;

	pthread_mutex_lock(&meter->lock);
	count = meter->shown.count;
	pthread_mutex_unlock(&meter->lock);
	return count;
}

/* A zone that is known is found again by its readings. */
static int ipmi_rescan(struct meter *meter)
{
	struct diag diag = { "" };
	int r = -EBUSY;

	if (ipmi_zone_count(meter))
		return 0;
	for (int i = 0; i < SEARCH_ASKS && r == -EBUSY; i++)
		r = read_power(meter, &meter->found, &diag);
	if (r == -EOPNOTSUPP || r == -ENODATA) {
		r = find_sensors(meter, &diag);
		if (r == 0)
			r = read_power(meter, &meter->found, &diag);
	}
	if (r == -ECANCELED)
		return r;
	show(meter, r < 0 ? diag.text : "", r == -EOPNOTSUPP || r == -ENODATA);
	if (r == 0)
		add_zone(meter);
	return r;
}

static const struct zone *ipmi_zone_at(struct meter *meter, size_t index)
{
	(void)index;
	return &meter->zone;
}

static bool ipmi_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	bool has_one = false;

	*ret = (struct meter_remark){ .what = "" };
	pthread_mutex_lock(&meter->lock);
	if (meter->shown.why_not[0]) {
		has_one = index == 0;
		memcpy(ret->what, meter->shown.why_not, sizeof(ret->what));
		ret->is_failure = !meter->shown.is_refusal;
	} else if (meter->shown.is_inactive) {
		has_one = ret->is_caveat = index == 0;
		(void)snprintf(
			ret->what, sizeof(ret->what),
			"%.100s: the BMC reports that its power measurement is not active, yet "
			"has a value; the value is counted",
			meter->path);
	}
	pthread_mutex_unlock(&meter->lock);
	return has_one;
}

static uint64_t ipmi_period_ns(const struct meter *meter)
{
	return meter->period_ns;
}

static void ipmi_stop(struct meter *meter)
{
	(void)eventfd_write(meter->cancel_fd, 1);
}

static void ipmi_close(struct meter *meter)
{
	if (!meter)
		return;
	ipmi_device_release(&meter->device);
	if (meter->cancel_fd >= 0)
		(void)close(meter->cancel_fd);
	(void)pthread_mutex_destroy(&meter->lock);
	free(meter->path);
	free(meter);
}

static int ipmi_open(const struct meter_options *options, struct meter **ret)
{
	const char *path = options->ipmi.device;
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
	meter->path = strdup(path && path[0] ? path : IPMI_DEVICE);
	meter->period_ns = options->ipmi.period_ns ? options->ipmi.period_ns : ipmi_meter.period_ns;
	meter->system = options->ipmi.system ? options->ipmi.system : &ipmi_real_system;
	meter->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ipmi_device_init(&meter->device, meter->system, meter->path, meter->cancel_fd);
	if (meter->cancel_fd < 0 || !meter->path) {
		ipmi_close(meter);
		return -ENOMEM;
	}
	*ret = meter;
	return 0;
}

static bool ipmi_is_wanted(const struct meter_options *options)
{
	const char *path = options->ipmi.device;

	return path && path[0] && access(path, F_OK) == 0;
}

static const struct option rows[] = {
	{ "meter.ipmi.device", NULL, OPTION_STRING, OPTION_MEMBER(struct ipmi_options, device),
	  .default_text = IPMI_DEVICE, .metavar = "FILE", .may_be_empty = true,
	  .help = "IPMI device of this machine's BMC, through which the machine's power is read "
		  "(DCMI, sensors) if the device exists when Kepler starts. Empty: IPMI is not "
		  "used." },
	{ "meter.ipmi.period", NULL, OPTION_DURATION, OPTION_MEMBER(struct ipmi_options, period_ns),
	  OPTION_RANGE(NSEC_PER_SEC, 3600 * NSEC_PER_SEC), .default_text = "5s",
	  .metavar = "DURATION", .help = "How often the BMC is read through IPMI." },
};

const struct meter_ops ipmi_meter = {
	.name = "ipmi",
	.period_ns = 5 * NSEC_PER_SEC,
	.close_ns = CLOSE_NS,
	.own_period_ns = ipmi_period_ns,
	.is_wanted = ipmi_is_wanted,
	.options = METER_OPTIONS(rows, ipmi),
	.needs = NEED_IPMI,
	.devices = { { .unit = "char-ipmidev r" } },
	.open = ipmi_open,
	.zone_count = ipmi_zone_count,
	.zone_at = ipmi_zone_at,
	.remark = ipmi_remark,
	.read_raw = ipmi_read_raw,
	.rescan = ipmi_rescan,
	.stop = ipmi_stop,
	.close = ipmi_close,
};
