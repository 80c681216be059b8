// SPDX-License-Identifier: Apache-2.0
/*
 * Sensors of the kernel's hwmon class: counters of energy, powers, and products of voltage and
 * current (meter/hwmon/hwmon_rule.h says which of them are zones).
 *
 * A zone is known by its chip's name, its device and its channel for as long as the program runs;
 * hwmonN may change. Its files are kept open: a number that is given to another chip meanwhile
 * cannot be mistaken for it, as the descriptors of a chip that is gone answer ENODEV for ever. A
 * later search then finds the zone again, and opens it as a new generation.
 *
 * A source of slow answers (a sensor on I²C, a method of ACPI's firmware), read by a poller: all
 * calls into the tree are made by its one thread.
 */
#include "meter/hwmon/hwmon.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "meter/hwmon/hwmon_scan.h"
#include "meter/meter.h"
#include "meter/sysfs_number.h"

#define PERIOD_NS   NSEC_PER_SEC
#define REMARKS_MAX 24 /* others are not reported: a machine has a few */

struct hwmon_zone {
	struct zone zone; /* this and the next two are fixed */
	char key[HWMON_KEY_MAX];
	struct hwmon_channel channel;
	enum hwmon_reading reading;
	bool is_doubtful;    /* as of the last search: it may not measure all of the machine */
	char *dir_path;      /* NULL while the zone is gone */
	int fd;              /* -1 until opened */
	int current_fd;      /* of a product */
	uint64_t average_ns; /* that a power is the mean of; 0: it is momentary, or not known */
	uint32_t generation; /* of dir_path */
};

struct meter {
	char *sysfs;
	char *rules[HWMON_RULES_MAX];
	size_t rule_count;
	pthread_mutex_t lock; /* of the rest, except for members of the poller's thread */
	struct hwmon_zone *zones[METER_ZONES_MAX];
	size_t count;
	size_t ignored;
	struct meter_remark *remarks; /* [remarks_size] */
	size_t remark_count, remarks_size;
};

static void zone_close(struct hwmon_zone *zone)
{
	if (zone->fd >= 0)
		(void)close(zone->fd);
	if (zone->current_fd >= 0)
		(void)close(zone->current_fd);
	zone->fd = zone->current_fd = -1;
}

static void zone_lose(struct hwmon_zone *zone)
{
	zone_close(zone);
	free(zone->dir_path);
	zone->dir_path = NULL;
}

static int open_file(int dir_fd, const char *type, const char *what, unsigned number, int *ret_fd)
{
	char name[32];
	int fd;

	(void)snprintf(name, sizeof(name), "%s%u_%s", type, number, what);
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

/* The driver's value; 0 if it has none. */
static uint64_t read_average_ns(int dir_fd, unsigned number)
{
	char name[40], text[32];
	uint64_t ms;

	(void)snprintf(name, sizeof(name), "power%u_average_interval", number);
	if (sysfs_number_parse(text, read_file_at(dir_fd, name, text, sizeof(text)), &ms) < 0 ||
	    ms > UINT32_MAX)
		return 0;
	return ms * NSEC_PER_MSEC;
}

static int zone_open(struct hwmon_zone *zone)
{
	static const struct {
		const char *type, *what;
	} files[HWMON_READINGS] = {
		[HWMON_ENERGY] = { "energy", "input" },
		[HWMON_AVERAGE] = { "power", "average" },
		[HWMON_POWER] = { "power", "input" },
		[HWMON_PRODUCT] = { "in", "input" },
	};
	CLEANUP_FD int dir_fd = open(zone->dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned number = zone->channel.number;
	int r;

	if (dir_fd < 0)
		return -errno;
	r = open_file(dir_fd, files[zone->reading].type, files[zone->reading].what, number,
		      &zone->fd);
	if (r == 0 && zone->reading == HWMON_PRODUCT)
		r = open_file(dir_fd, "curr", "input", number, &zone->current_fd);
	if (r < 0)
		zone_close(zone);
	zone->average_ns = zone->reading == HWMON_AVERAGE ? read_average_ns(dir_fd, number) : 0;
	return r;
}

/* A removed file of an ordinary tree stays readable; sysfs answers ENODEV by itself. */
static bool is_unlinked(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

static int read_number(int fd, uint64_t *ret)
{
	char text[32];

	if (is_unlinked(fd))
		return -ENODEV;
	return sysfs_number_parse(text, read_piece_fd(fd, text, sizeof(text)), ret);
}

static int zone_read(struct hwmon_zone *zone, uint64_t *ret)
{
	uint64_t value, current_ma;
	int r = read_number(zone->fd, &value);

	if (r == 0 && zone->reading == HWMON_PRODUCT) {
		r = read_number(zone->current_fd, &current_ma);
		if (r == 0 && __builtin_mul_overflow(value, current_ma, &value))
			r = -ERANGE;
	}
	if (r < 0)
		return r;
	*ret = value;
	return 0;
}

/*
 * A mean over a period or more stands for the time since the last reading; one over less is as a
 * momentary power.
 */
static void set_times(const struct hwmon_zone *zone, struct raw_reading *raw)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (zone->average_ns >= PERIOD_NS && now_ns > zone->average_ns)
		raw->from_ns = now_ns - zone->average_ns;
}

static int hwmon_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	struct hwmon_zone *zone = meter->zones[index];
	struct raw_reading raw = {
		.generation = zone->generation,
		.kind = zone->reading == HWMON_ENERGY ? SAMPLE_TOTAL : SAMPLE_POWER,
		.caveat = zone->is_doubtful ? CAVEAT_AMBIGUOUS : CAVEAT_NONE,
	};
	int r = 0;

	if (!zone->dir_path)
		return -ENODEV;
	if (zone->fd < 0)
		r = zone_open(zone);
	if (r == 0)
		r = zone_read(zone, &raw.value);
	if (r == -ENODEV || r == -ENOENT)
		zone_lose(zone);
	if (r < 0)
		return r;
	set_times(zone, &raw);
	*ret = raw;
	return 0;
}

static struct hwmon_zone *find_zone(struct meter *meter, const char *key)
{
	for (size_t i = 0; i < meter->count; i++) {
		if (strcmp(meter->zones[i]->key, key) == 0)
			return meter->zones[i];
	}
	return NULL;
}

static struct hwmon_zone *find_same(struct meter *meter, enum zone_kind kind, const char *instance)
{
	for (size_t i = 0; i < meter->count; i++) {
		const struct zone *zone = &meter->zones[i]->zone;

		if (zone->kind == kind && strcmp(zone->instance, instance) == 0)
			return meter->zones[i];
	}
	return NULL;
}

static void number_zone(struct meter *meter, struct hwmon_meaning *meaning)
{
	for (size_t n = 0; n <= meter->count; n++) {
		(void)snprintf(meaning->instance, sizeof(meaning->instance), "%u", (unsigned)n);
		if (!find_same(meter, meaning->kind, meaning->instance))
			return;
	}
}

/* @remedy completes the rule that would help; NULL: none would. */
static void remark_unused(struct meter *meter, const struct hwmon_channel *channel, const char *key,
			  const char *why, const char *remedy)
{
	struct meter_remark *remark;

	if (meter->remark_count == REMARKS_MAX ||
	    ARRAY_RESERVE(meter->remarks, meter->remarks_size, meter->remark_count + 1) < 0)
		return;
	remark = &meter->remarks[meter->remark_count++];
	remark->is_failure = remark->is_caveat = false;
	(void)snprintf(remark->what, sizeof(remark->what), "%s%s%s%s is not counted: %s", key,
		       channel->label[0] ? " (" : "", channel->label, channel->label[0] ? ")" : "",
		       why);
	(void)snprintf(remark->option, sizeof(remark->option), "%s%s%s",
		       remedy ? "--meter.hwmon=" : "", remedy ? key : "", remedy ? remedy : "");
}

/*
 * A second meter of all of the machine, at another device: two may measure the same, or each a part
 * that no one names. It is never added, and where neither says that it is all of the machine, the
 * one that is counted has a caveat until a rule decides.
 */
static void remark_same(struct meter *meter, const struct hwmon_found *found, const char *key,
			struct hwmon_zone *same)
{
	const struct hwmon_channel *own = &found->channel, *other = &same->channel;
	bool is_doubtful =
		zone_kind_info[same->zone.kind].is_whole && other->extent != HWMON_OF_MACHINE &&
		strcmp(own->chip, other->chip) == 0 && strcmp(own->device, other->device) != 0;
	size_t count = meter->remark_count;
	char why[HWMON_KEY_MAX + 128];

	(void)snprintf(why, sizeof(why),
		       is_doubtful ? "it is not known whether %s, which is counted, measures the "
				     "same or another part of the machine"
				   : "%s counts the same",
		       same->key);
	remark_unused(meter, own, key, why,
		      is_doubtful ? "=none if both measure the whole machine, =platform-1 if each "
				    "measures a part"
				  : NULL);
	same->is_doubtful |= is_doubtful;
	if (meter->remark_count > count)
		meter->remarks[count].is_caveat = is_doubtful;
}

/* A new channel that is a zone, which it becomes unless another one has its energy. */
static int add_zone(struct meter *meter, const struct hwmon_found *found, const char *key,
		    struct hwmon_meaning *meaning)
{
	struct hwmon_zone *same, *zone;

	if (meaning->by_order)
		number_zone(meter, meaning);
	same = find_same(meter, meaning->kind, meaning->instance);
	if (same) {
		remark_same(meter, found, key, same);
		return 0;
	}
	if (meter->count == METER_ZONES_MAX) {
		meter->ignored++;
		return 0;
	}
	zone = calloc(1, sizeof(*zone));
	if (!zone)
		return -ENOMEM;
	*zone = (struct hwmon_zone){
		.zone = { .kind = meaning->kind,
			  .domain = zone_domain(meaning->kind, meaning->instance),
			  .has_gpus = meaning->has_gpus,
			  .source = hwmon_meter.name,
			  .rank = meaning->reading == HWMON_ENERGY ? RANK_SENSOR_ENERGY
								   : RANK_SENSOR_POWER },
		.channel = found->channel,
		.reading = meaning->reading,
		.fd = -1,
		.current_fd = -1,
	};
	memcpy(zone->zone.instance, meaning->instance, sizeof(meaning->instance));
	memcpy(zone->key, key, HWMON_KEY_MAX);
	(void)snprintf(zone->zone.path, sizeof(zone->zone.path), "%.*s", ZONE_PATH_MAX - 1, key);
	meter->zones[meter->count++] = zone;
	return 0;
}

static int take_new(struct meter *meter, const struct hwmon_found *found, const char *key)
{
	struct hwmon_meaning meaning =
		hwmon_meaning_of(&found->channel, meter->rules, meter->rule_count);

	switch (meaning.use) {
	case HWMON_COUNTED:
		return add_zone(meter, found, key, &meaning);
	case HWMON_BOARD:
		remark_unused(meter, &found->channel, key, "its meaning depends on the board",
			      "=ZONE");
		return 0;
	case HWMON_DEVICES:
		remark_unused(meter, &found->channel, key,
			      "it measures devices of the machine, and not all of it", "=ZONE");
		return 0;
	case HWMON_UNKNOWN:
		remark_unused(meter, &found->channel, key, "no rule states what it measures",
			      "=ZONE");
		return 0;
	case HWMON_PART:
	case HWMON_UNUSED:
		return 0;
	}
	return 0;
}

/* Adds the zone if it is new, and says where it is if that was not known. */
static int adopt(struct meter *meter, struct hwmon_found *found)
{
	struct hwmon_zone *zone;
	char key[HWMON_KEY_MAX];
	int r;

	hwmon_channel_key(&found->channel, key);
	zone = find_zone(meter, key);
	if (!zone) {
		r = take_new(meter, found, key);
		if (r < 0)
			return r;
		zone = find_zone(meter, key);
	}
	if (zone && !zone->dir_path) {
		zone->dir_path = TAKE_PTR(found->dir_path);
		zone->generation++;
	}
	return 0;
}

static int hwmon_rescan(struct meter *meter)
{
	CLEANUP(hwmon_scan_release) struct hwmon_scan scan = { 0 };
	int r = hwmon_scan_read(meter->sysfs, &scan);

	if (r < 0)
		return r;
	pthread_mutex_lock(&meter->lock);
	meter->ignored = 0;
	meter->remark_count = 0;
	for (size_t i = 0; i < meter->count; i++)
		meter->zones[i]->is_doubtful = false;
	for (size_t i = 0; i < scan.count && r == 0; i++)
		r = adopt(meter, &scan.found[i]);
	pthread_mutex_unlock(&meter->lock);
	return r;
}

static size_t hwmon_zone_count(struct meter *meter)
{
	size_t count;

	pthread_mutex_lock(&meter->lock);
	count = meter->count;
	pthread_mutex_unlock(&meter->lock);
	return count;
}

static const struct zone *hwmon_zone_at(struct meter *meter, size_t index)
{
	return &meter->zones[index]->zone;
}

static size_t hwmon_ignored(struct meter *meter)
{
	size_t ignored;

	pthread_mutex_lock(&meter->lock);
	ignored = meter->ignored;
	pthread_mutex_unlock(&meter->lock);
	return ignored;
}

static bool hwmon_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	bool is_there;

	pthread_mutex_lock(&meter->lock);
	is_there = index < meter->remark_count;
	if (is_there)
		*ret = meter->remarks[index];
	pthread_mutex_unlock(&meter->lock);
	return is_there;
}

static void hwmon_close(struct meter *meter)
{
	if (!meter)
		return;
	for (size_t i = 0; i < meter->count; i++) {
		zone_lose(meter->zones[i]);
		free(meter->zones[i]);
	}
	for (size_t i = 0; i < meter->rule_count; i++)
		free(meter->rules[i]);
	(void)pthread_mutex_destroy(&meter->lock);
	free(meter->remarks);
	free(meter->sysfs);
	free(meter);
}

static int hwmon_open(const struct meter_options *options, struct meter **ret)
{
	struct meter *meter = calloc(1, sizeof(*meter));
	bool complete;

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
	meter->sysfs = strdup(options->sysfs);
	complete = meter->sysfs != NULL;
	for (size_t i = 0; i < options->hwmon.rule_count; i++) {
		meter->rules[i] = strdup(options->hwmon.rules[i]);
		complete &= meter->rules[i] != NULL;
		meter->rule_count++;
	}
	if (!complete) {
		hwmon_close(meter);
		return -ENOMEM;
	}
	*ret = meter;
	return 0;
}

static const struct option rows[] = {
	{ "meter.hwmon", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct hwmon_options, rules, rule_count, HWMON_RULES_MAX), .default_text = "",
	  .metavar = "RULE", .check = hwmon_rule_check,
	  .help = "States what a sensor in /sys/class/hwmon measures: CHIP[@DEVICE]/CHANNEL=ZONE, "
		  "as in ina226@1-0040/power1=platform. CHANNEL is energyN, powerN, inN (times "
		  "currN) or a label. ZONE is a zone kind, with a number if there are several "
		  "(package-1), or none to ignore the sensor. kepler doctor lists sensors without "
		  "a rule." },
};

const struct meter_ops hwmon_meter = {
	.name = "hwmon",
	.period_ns = PERIOD_NS,
	.options = METER_OPTIONS(rows, hwmon),
	.open = hwmon_open,
	.zone_count = hwmon_zone_count,
	.zone_at = hwmon_zone_at,
	.ignored = hwmon_ignored,
	.remark = hwmon_remark,
	.read_raw = hwmon_read_raw,
	.rescan = hwmon_rescan,
	.close = hwmon_close,
};
