// SPDX-License-Identifier: Apache-2.0
/*
 * The files of a chip are in hwmonN; older drivers put them into hwmonN/device, and so does the one
 * of ACPI power meters up to Linux 6.14. They are where "name" is. The number N is the kernel's
 * order of probing and says nothing: a chip is known by its name and by the device that
 * hwmonN/device leads to.
 *
 * Products of voltage and current are channels only of chips that show no power themselves.
 */
#include "meter/hwmon/hwmon_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"

struct chip {
	char name[HWMON_NAME_MAX], device[HWMON_NAME_MAX];
	enum hwmon_extent extent;
	char dir_path[PATH_MAX];
};

struct walk {
	struct hwmon_scan scan;
	size_t size;
	size_t chips;
	bool no_memory;
};

/* Without blanks around it; characters that no message should hold become '?'. */
static void copy_text(char *text, ssize_t len, char *ret, size_t size)
{
	size_t begin = 0, end = len < 0 ? 0 : (size_t)len;

	while (end > begin && (text[end - 1] == '\n' || text[end - 1] == ' '))
		end--;
	while (begin < end && text[begin] == ' ')
		begin++;
	for (size_t i = begin; i < end; i++) {
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	}
	(void)snprintf(ret, size, "%.*s", (int)(end - begin), text + begin);
}

static ssize_t read_text(int dir_fd, const char *name, char *ret, size_t size)
{
	char text[256];
	ssize_t len = read_file_nowait_at(dir_fd, name, text, sizeof(text));

	copy_text(text, len, ret, size);
	return len;
}

/* The last part of the path to which hwmonN/device links; "" if it is not a link. */
static void read_device(int hwmon_fd, char ret[HWMON_NAME_MAX])
{
	char target[PATH_MAX], *slash, *last;
	ssize_t len = readlinkat(hwmon_fd, "device", target, sizeof(target) - 1);

	target[len < 0 ? 0 : len] = '\0';
	slash = strrchr(target, '/');
	last = slash ? slash + 1 : target;
	copy_text(last, (ssize_t)strlen(last), ret, HWMON_NAME_MAX);
}

/* True if a device that a meter measures is the system bus, which has all others. */
static bool is_all(const char *device)
{
	return strncmp(device, "LNXSYBUS", 8) == 0 || strncmp(device, "LNXSYSTM", 8) == 0;
}

/* By the devices that the firmware lists for it; HWMON_UNSAID if it lists only the meter @own. */
static enum hwmon_extent read_measures(int hwmon_fd, const char *own)
{
	int fd = openat(hwmon_fd, "device/measures", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	enum hwmon_extent extent = HWMON_UNSAID;
	const struct dirent *entry;

	if (!dir && fd >= 0)
		(void)close(fd);
	while (dir && extent != HWMON_OF_MACHINE && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, own) != 0)
			extent = is_all(entry->d_name) ? HWMON_OF_MACHINE : HWMON_OF_DEVICES;
	}
	if (dir)
		(void)closedir(dir);
	return extent;
}

static enum hwmon_extent read_extent(int hwmon_fd, const char *own)
{
	static const char root[] = "\\_SB_.";
	enum hwmon_extent extent = read_measures(hwmon_fd, own);
	char path[HWMON_LABEL_MAX];

	if (extent != HWMON_UNSAID || read_text(hwmon_fd, "device/path", path, sizeof(path)) < 0)
		return extent;
	return strncmp(path, root, strlen(root)) == 0 && !strchr(path + strlen(root), '.')
		       ? HWMON_AT_ROOT
		       : HWMON_UNSAID;
}

/* powerN_label; what ACPI's firmware says of a meter is in powerN_oem_info. */
static void read_label(int dir_fd, const struct hwmon_channel *channel, char ret[HWMON_LABEL_MAX])
{
	static const char *const suffixes[] = { "label", "oem_info" };
	char channel_name[16], name[32];

	hwmon_channel_name(channel, channel_name, sizeof(channel_name));
	ret[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(suffixes) && !ret[0]; i++) {
		(void)snprintf(name, sizeof(name), "%s_%s", channel_name, suffixes[i]);
		(void)read_text(dir_fd, name, ret, HWMON_LABEL_MAX);
	}
}

/* Finds or adds a channel of the chip whose channels begin at @first; NULL: no room. */
static struct hwmon_channel *find_channel(struct walk *walk, size_t first, const struct chip *chip,
					  enum hwmon_reading reading, unsigned number)
{
	bool is_power = reading == HWMON_AVERAGE || reading == HWMON_POWER;
	CLEANUP_FREE char *dir_path = NULL;
	struct hwmon_found *found;

	for (size_t i = first; i < walk->scan.count; i++) {
		struct hwmon_channel *channel = &walk->scan.found[i].channel;

		if (channel->number == number &&
		    (channel->has[reading] ||
		     (is_power && (channel->has[HWMON_AVERAGE] || channel->has[HWMON_POWER]))))
			return channel;
	}
	if (walk->scan.count == HWMON_CHANNELS_MAX)
		return NULL;
	dir_path = strdup(chip->dir_path);
	if (!dir_path || ARRAY_RESERVE(walk->scan.found, walk->size, walk->scan.count + 1) < 0) {
		walk->no_memory = true;
		return NULL;
	}
	found = &walk->scan.found[walk->scan.count];
	*found = (struct hwmon_found){ .channel.number = number, .channel.extent = chip->extent };
	memcpy(found->channel.chip, chip->name, sizeof(chip->name));
	memcpy(found->channel.device, chip->device, sizeof(chip->device));
	found->dir_path = TAKE_PTR(dir_path);
	walk->scan.count++;
	return &found->channel;
}

/* True if the other file of a product exists. */
static bool has_current(int dir_fd, unsigned number)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "curr%u_input", number);
	return faccessat(dir_fd, name, F_OK, 0) == 0;
}

/* In one pass over the directory products, in another what is read as it is. */
static void take_files(struct walk *walk, DIR *dir, size_t first, const struct chip *chip,
		       bool products)
{
	const struct dirent *entry;

	while ((entry = readdir(dir))) {
		struct hwmon_channel *channel;
		enum hwmon_reading reading;
		bool is_current;
		unsigned number;

		if (!hwmon_file_parse(entry->d_name, &reading, &is_current, &number) ||
		    is_current || (reading == HWMON_PRODUCT) != products ||
		    (products && !has_current(dirfd(dir), number)))
			continue;
		channel = find_channel(walk, first, chip, reading, number);
		if (channel)
			channel->has[reading] = true;
	}
}

static void take_chip(struct walk *walk, int dir_fd, const struct chip *chip)
{
	size_t first = walk->scan.count;
	DIR *dir = fdopendir(dir_fd);

	if (!dir) {
		(void)close(dir_fd);
		return;
	}
	take_files(walk, dir, first, chip, false);
	if (walk->scan.count == first) {
		rewinddir(dir);
		take_files(walk, dir, first, chip, true);
	}
	for (size_t i = first; i < walk->scan.count; i++)
		read_label(dirfd(dir), &walk->scan.found[i].channel,
			   walk->scan.found[i].channel.label);
	(void)closedir(dir);
}

static void look_at(struct walk *walk, int class_fd, const char *entry, const char *class_path)
{
	CLEANUP_FD int hwmon_fd = openat(class_fd, entry, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_FD int dir_fd = -1;
	struct chip chip = { "" };
	bool is_inner = false;

	if (hwmon_fd < 0 || path_join(chip.dir_path, sizeof(chip.dir_path), class_path, entry) < 0)
		return;
	read_device(hwmon_fd, chip.device);
	if (read_text(hwmon_fd, "name", chip.name, sizeof(chip.name)) < 0)
		is_inner = read_text(hwmon_fd, "device/name", chip.name, sizeof(chip.name)) >= 0;
	if (!chip.name[0])
		return;
	if (strcmp(chip.name, "power_meter") == 0)
		chip.extent = read_extent(hwmon_fd, chip.device);
	dir_fd = openat(hwmon_fd, is_inner ? "device" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0 ||
	    (is_inner && (size_t)snprintf(chip.dir_path, sizeof(chip.dir_path), "%s/%s/device",
					  class_path, entry) >= sizeof(chip.dir_path)))
		return;
	take_chip(walk, TAKE_FD(dir_fd), &chip);
}

static enum hwmon_reading first_reading(const struct hwmon_channel *channel)
{
	enum hwmon_reading reading = 0;

	while (reading < HWMON_READINGS && !channel->has[reading])
		reading++;
	return reading;
}

static int compare_found(const void *left, const void *right)
{
	const struct hwmon_channel *a = &((const struct hwmon_found *)left)->channel;
	const struct hwmon_channel *b = &((const struct hwmon_found *)right)->channel;
	int by_reading = (int)first_reading(a) - (int)first_reading(b);
	int by_device = strverscmp(a->device, b->device);
	int by_chip = strverscmp(a->chip, b->chip);

	if (by_reading)
		return by_reading;
	if (a->extent != b->extent)
		return (int)a->extent - (int)b->extent;
	if (by_device)
		return by_device;
	if (by_chip)
		return by_chip;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return strverscmp(((const struct hwmon_found *)left)->dir_path,
			  ((const struct hwmon_found *)right)->dir_path);
}

/*
 * A device can have several chips of one name, as that of AMD's HSMP with one for each socket. They
 * are in the order in which the driver made them, and from the second one on have a number.
 */
static void tell_twins_apart(const struct hwmon_scan *scan)
{
	struct hwmon_channel model = { .number = 0 };
	unsigned number = 0;

	for (size_t i = 0; i < scan->count; i++) {
		struct hwmon_channel *channel = &scan->found[i].channel;
		bool is_twin = channel->device[0] && model.number == channel->number &&
			       strcmp(model.device, channel->device) == 0 &&
			       strcmp(model.chip, channel->chip) == 0;

		number = is_twin ? number + 1 : 0;
		if (is_twin)
			(void)snprintf(channel->device, sizeof(channel->device), "%.36s.%u",
				       model.device, number);
		else
			model = *channel;
	}
}

int hwmon_scan_read(const char *sysfs, struct hwmon_scan *ret)
{
	struct walk walk = { .size = 0 };
	char path[PATH_MAX];
	const struct dirent *entry;
	DIR *dir = path_join(path, sizeof(path), sysfs, "class/hwmon") == 0 ? opendir(path) : NULL;

	while (dir && (entry = readdir(dir)) && walk.chips < HWMON_CHIPS_MAX) {
		if (entry->d_name[0] == '.')
			continue;
		walk.chips++;
		look_at(&walk, dirfd(dir), entry->d_name, path);
	}
	if (dir)
		(void)closedir(dir);
	if (walk.no_memory) {
		hwmon_scan_release(&walk.scan);
		return -ENOMEM;
	}
	if (walk.scan.count)
		qsort(walk.scan.found, walk.scan.count, sizeof(*walk.scan.found), compare_found);
	tell_twins_apart(&walk.scan);
	*ret = walk.scan;
	return 0;
}

void hwmon_scan_release(struct hwmon_scan *scan)
{
	for (size_t i = 0; i < scan->count; i++)
		free(scan->found[i].dir_path);
	free(scan->found);
	*scan = (struct hwmon_scan){ 0 };
}
