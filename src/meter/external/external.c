// SPDX-License-Identifier: Apache-2.0
/*
 * Meters outside this program: files of lines (external_text.h), into which a script writes the
 * readings of a smart plug, a PDU or an instrument of a laboratory.
 *
 * The files are read once a second, each as a whole for each of its zones. The time of a value is
 * the one in its line, or else the time of the file's last change; the same time again is not a new
 * reading. A zone with a value older than STALE_NS fails, so that the end of a script is noticed.
 */
#include "meter/external/external.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "meter/external/external_text.h"
#include "meter/meter.h"

#define PERIOD_NS  NSEC_PER_SEC
#define ZONES_SIZE 64
#define TEXT_SIZE  16384
#define STALE_NS   (10 * NSEC_PER_SEC) /* and the window of a mean */
#define AHEAD_NS   NSEC_PER_SEC        /* clocks of one machine: a value is not of the future */

struct external_zone {
	struct zone zone; /* fixed */
	size_t file;
	uint64_t time_ns; /* of the last value, since 1970 */
};

struct meter {
	pthread_mutex_t lock; /* of the count and the remarks */
	struct external_zone zones[ZONES_SIZE];
	size_t count, ignored;
	char *paths[EXTERNAL_FILES_MAX];
	size_t path_count;
	char remarks[EXTERNAL_FILES_MAX][sizeof(((struct meter_remark *)NULL)->what)];
	char text[TEXT_SIZE]; /* only of the thread that reads */
	uint64_t changed_ns;  /* of that text: its file's last change, since 1970 */
};

/* 0 or -errno, with why; the text is in the meter. */
static int read_text(struct meter *meter, size_t file, struct external_text *ret, struct diag *diag)
{
	CLEANUP_FD int fd = open(meter->paths[file], O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat about;
	ssize_t len;

	if (fd < 0 || fstat(fd, &about) < 0)
		return diag_set(diag, -errno, "it cannot be read: %s", strerrordesc_np(errno));
	if (!S_ISREG(about.st_mode))
		return diag_set(diag, -EINVAL, "it is not a regular file");
	if (about.st_mode & S_IWOTH)
		return diag_set(diag, -EPERM, "everyone can write to it (chmod o-w)");
	len = read_fd(fd, meter->text, sizeof(meter->text));
	if (len < 0)
		return diag_set(diag, (int)len, "it cannot be read: %s",
				strerrordesc_np((int)-len));
	meter->changed_ns =
		(uint64_t)about.st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t)about.st_mtim.tv_nsec;
	return external_text_begin(ret, meter->text, (size_t)len, diag);
}

/* A line that later claims another quality or scope is about something else. */
static bool is_zone_of(const struct external_zone *zone, size_t file,
		       const struct external_record *record)
{
	return zone->file == file && zone->zone.kind == record->zone.kind &&
	       zone->zone.quality == record->zone.quality &&
	       zone->zone.scope == record->zone.scope &&
	       strcmp(zone->zone.instance, record->zone.instance) == 0;
}

/* The first line of the zone. -ENODEV where the file has none any more. */
static int find_record(struct meter *meter, const struct external_zone *zone,
		       struct external_record *ret)
{
	struct external_text text;
	struct diag unused;
	bool has_bad = false;
	int r = read_text(meter, zone->file, &text, &unused);

	if (r < 0)
		return r;
	while ((r = external_text_next(&text, ret, &unused)) != 0) {
		has_bad |= r < 0;
		if (r > 0 && is_zone_of(zone, zone->file, ret))
			return 0;
	}
	return has_bad ? -EINVAL : -ENODEV;
}

static int external_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	struct external_zone *zone = &meter->zones[index];
	struct external_record record;
	uint64_t now_ns = clock_ns(CLOCK_REALTIME), monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t time_ns, age_ns;
	int r = find_record(meter, zone, &record);

	if (r < 0)
		return r;
	time_ns = record.time_ns ? record.time_ns : meter->changed_ns;
	if (time_ns > now_ns + AHEAD_NS)
		return -ERANGE;
	age_ns = time_ns < now_ns ? now_ns - time_ns : 0;
	if (age_ns > STALE_NS + record.window_ns || age_ns >= monotonic_ns)
		return -ETIMEDOUT;
	if (time_ns == zone->time_ns)
		return -EAGAIN;
	zone->time_ns = time_ns;
	*ret = (struct raw_reading){ .value = record.value,
				     .kind = record.sample,
				     .to_ns = monotonic_ns - age_ns };
	if (record.window_ns && record.window_ns < ret->to_ns)
		ret->from_ns = ret->to_ns - record.window_ns;
	return 0;
}

static void add_zone(struct meter *meter, size_t file, const struct external_record *record)
{
	struct external_zone *zone = &meter->zones[meter->count];
	const char *slash = strrchr(meter->paths[file], '/');

	for (size_t i = 0; i < meter->count; i++) {
		if (is_zone_of(&meter->zones[i], file, record))
			return;
		/* Another file's is first. */
		if (is_zone_of(&meter->zones[i], meter->zones[i].file, record)) {
			meter->ignored++;
			return;
		}
	}
	if (meter->count == ZONES_SIZE) {
		meter->ignored++;
		return;
	}
	*zone = (struct external_zone){ .zone = record->zone, .file = file };
	zone->zone.source = external_meter.name;
	if (!zone->zone.path[0])
		(void)snprintf(zone->zone.path, sizeof(zone->zone.path), "%s",
			       slash ? slash + 1 : meter->paths[file]);
	meter->count++;
}

/* The last line that is wrong is remarked. */
static void search_file(struct meter *meter, size_t file)
{
	struct external_text text;
	struct external_record record;
	struct diag diag = { "" };
	int r = read_text(meter, file, &text, &diag);

	pthread_mutex_lock(&meter->lock);
	while (r == 0 && (r = external_text_next(&text, &record, &diag)) != 0) {
		if (r > 0)
			add_zone(meter, file, &record);
		r = 0;
	}
	if (diag.text[0])
		(void)snprintf(meter->remarks[file], sizeof(meter->remarks[file]),
			       "%.120s (--meter.external): %.110s", meter->paths[file], diag.text);
	else
		meter->remarks[file][0] = '\0';
	pthread_mutex_unlock(&meter->lock);
}

static int external_rescan(struct meter *meter)
{
	pthread_mutex_lock(&meter->lock);
	meter->ignored = 0;
	pthread_mutex_unlock(&meter->lock);
	for (size_t file = 0; file < meter->path_count; file++)
		search_file(meter, file);
	return 0;
}

static size_t external_zone_count(struct meter *meter)
{
	size_t count;

	pthread_mutex_lock(&meter->lock);
	count = meter->count;
	pthread_mutex_unlock(&meter->lock);
	return count;
}

static const struct zone *external_zone_at(struct meter *meter, size_t index)
{
	return &meter->zones[index].zone;
}

static size_t external_ignored(struct meter *meter)
{
	size_t ignored;

	pthread_mutex_lock(&meter->lock);
	ignored = meter->ignored;
	pthread_mutex_unlock(&meter->lock);
	return ignored;
}

static bool external_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	bool has_one = false;

	*ret = (struct meter_remark){ .is_failure = true };
	pthread_mutex_lock(&meter->lock);
	for (size_t file = 0; file < meter->path_count && !has_one; file++) {
		if (!meter->remarks[file][0] || index-- != 0)
			continue;
		memcpy(ret->what, meter->remarks[file], sizeof(ret->what));
		(void)snprintf(ret->option, sizeof(ret->option),
			       "a program writes it, in the format of \"Meters outside\" in "
			       "docs/meters.md");
		has_one = true;
	}
	pthread_mutex_unlock(&meter->lock);
	return has_one;
}

static void external_close(struct meter *meter)
{
	if (!meter)
		return;
	(void)pthread_mutex_destroy(&meter->lock);
	for (size_t i = 0; i < meter->path_count; i++)
		free(meter->paths[i]);
	free(meter);
}

static bool external_is_wanted(const struct meter_options *options)
{
	return options->external.file_count > 0;
}

static int external_open(const struct meter_options *options, struct meter **ret)
{
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
	for (size_t i = 0; i < options->external.file_count; i++) {
		meter->paths[i] = strdup(options->external.files[i]);
		if (!meter->paths[i]) {
			external_close(meter);
			return -ENOMEM;
		}
		meter->path_count++;
	}
	*ret = meter;
	return 0;
}

static void external_files(const struct meter_options *options, meter_path_fn *add, void *userdata)
{
	for (size_t i = 0; i < options->external.file_count; i++)
		add(userdata, options->external.files[i]);
}

static const struct option rows[] = {
	{ "meter.external", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct external_options, files, file_count, EXTERNAL_FILES_MAX),
	  .default_text = "", .metavar = "FILE",
	  .help = "File into which another program writes the readings of its meter, such as a "
		  "smart plug, a PDU or a power analyser. The first line is \"kepler-meter 1\"; "
		  "each further line is like zone=platform uw=215300000 time=1763912345.25. "
		  "docs/meters.md describes the format." },
};

const struct meter_ops external_meter = {
	.name = "external",
	.period_ns = PERIOD_NS,
	.is_wanted = external_is_wanted,
	.options = METER_OPTIONS(rows, external),
	.files = external_files,
	.open = external_open,
	.zone_count = external_zone_count,
	.zone_at = external_zone_at,
	.ignored = external_ignored,
	.remark = external_remark,
	.read_raw = external_read_raw,
	.rescan = external_rescan,
	.close = external_close,
};
