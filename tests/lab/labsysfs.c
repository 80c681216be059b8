// SPDX-License-Identifier: Apache-2.0
/*
 * labsysfs - a file system that plays /sys: counters that follow a law of energy, wrap, fail and
 * hang on request.
 *
 *   labsysfs -f TREE.conf MOUNT [-f] [-o …]     -f: stay in the foreground; the rest is for FUSE
 *
 * A line of TREE.conf, or written to MOUNT/.ctl while it runs, is "PATH VERB [ARGUMENTS]"; '#'
 * starts a comment line.
 *
 *   PATH text STRING       a file with that text and a newline
 *   PATH counter UW MAX_UJ [START]
 *                          energy at constant power; shows START first, and 0 after MAX_UJ
 *   PATH busy IDLE_UW DYN_UW MAX_UJ START SOURCE
 *                          energy = IDLE_UW × time + DYN_UW × busy CPU time of SOURCE: stat (the
 *                          machine), stat:CPU, schedstat (the machine, not in ticks),
 *                          cgroup:DIR (its cpu.stat or cpuacct.usage), pid:N[,N…]
 *   PATH gauge VALUE [AMPL PERIOD_S]
 *                          a value, and a sine around it: if it is a power in µW, .truth has
 *                          its energy
 *   PATH joules COUNTER    as /sys/cray/pm_counters: whole joules of another file's counter, and
 *                          the time in µs
 *   PATH link TARGET       a symbolic link
 *   PATH msr REG=0xVALUE|REG=PATH …
 *                          as /dev/cpu/N/msr: 8 bytes at offset REG; a counter's in 2^-14 J
 *
 *   PATH power UW          the counter's (idle) power from now on
 *   PATH jump UJ           the counter shows UJ now; its true energy does not change
 *   PATH ticks US NOISE_UJ UNIT_NJ
 *                          the counter changes once in US and is up to NOISE_UJ too high then;
 *                          what it shows is a multiple of UNIT_NJ
 *   PATH errno N           reads fail with errno N; 0 ends it
 *   PATH stall MS          reads take MS longer; 0 ends it
 *   PATH stall-list MS     listing the directory takes MS longer; one at a time
 *   PATH short N           reads give the first N bytes; 0 ends it
 *   PATH mask STRING       reads give STRING, without a newline, while the counter runs on
 *   PATH unmask            … and no longer
 *   PATH drop              the file, or all below the directory, goes (open descriptors: ENODEV)
 *   PATH rename NEW        the same, and it is NEW now
 *
 * MOUNT/.truth has a line a counter: "PATH ENERGY first=E last=E reads=N second=E". ENERGY is the
 * true, unwrapped energy in µJ since the mount; the others are what it was at the first, last and
 * second read of the file. Kepler tries a counter once before it counts: its total must be last -
 * second exactly. All arithmetic is in whole
 * µW·ns.
 */
#define FUSE_USE_VERSION 31

#include <errno.h>
#include <fuse.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "energy_law.h"

#define FILES_MAX    4096
#define ARG_MAX_LEN  4096
#define MSR_PER_J    16384
#define TRUTH_MAX    (1U << 20)
#define PI_TIMES_TWO 6.283185307179586

enum kind { KIND_TEXT, KIND_COUNTER, KIND_GAUGE, KIND_JOULES, KIND_LINK, KIND_MSR };

struct node {
	char *path; /* NULL: dropped */
	enum kind kind;
	char *text; /* text, link target or msr registers */
	char *mask;
	struct counter counter;
	double value, amplitude, period_s;
	double first_uj, last_uj; /* of a gauge: its energy when it was read */
	uint64_t reads;
	int error;
	unsigned stall_ms;
	size_t short_len;
};

/*
 * As seq_file has it: a file is rendered when it is read from its start, and paged out of that
 * text.
 */
struct opened {
	size_t len;
	char text[ARG_MAX_LEN];
};

static struct node nodes[FILES_MAX];
static size_t node_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all of the above */

/* ---- the tree ---- */

static struct node *find_node(const char *path)
{
	for (size_t i = 0; i < node_count; i++) {
		if (nodes[i].path && strcmp(nodes[i].path, path) == 0)
			return &nodes[i];
	}
	return NULL;
}

/* Returns true if @path is @dir itself or lies below it. */
static bool is_within(const char *path, const char *dir)
{
	size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	return path && strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static bool is_dir(const char *path)
{
	for (size_t i = 0; i < node_count; i++) {
		if (is_within(nodes[i].path, path))
			return true;
	}
	return strcmp(path, "/") == 0;
}

static struct node *add_node(const char *path)
{
	struct node *node = find_node(path);

	for (size_t i = 0; !node && i < node_count; i++) {
		if (!nodes[i].path)
			node = &nodes[i];
	}
	if (!node && node_count < FILES_MAX)
		node = &nodes[node_count++];
	if (!node)
		return NULL;
	free(node->path);
	free(node->text);
	free(node->mask);
	*node = (struct node){ .path = strdup(path) };
	return node;
}

static void drop(const char *path)
{
	for (size_t i = 0; i < node_count; i++) {
		if (is_within(nodes[i].path, path)) {
			free(nodes[i].path);
			nodes[i].path = NULL;
		}
	}
}

static void rename_nodes(const char *path, const char *new_name)
{
	for (size_t i = 0; i < node_count; i++) {
		char *renamed;

		if (!is_within(nodes[i].path, path) ||
		    asprintf(&renamed, "/%s%s", new_name, nodes[i].path + strlen(path)) < 0)
			continue;
		free(nodes[i].path);
		nodes[i].path = renamed;
	}
}

/* ---- commands ---- */

static int make_counter(struct node *node, const char *arguments)
{
	struct counter *counter = &node->counter;
	uint64_t start_uj = 0;

	node->kind = KIND_COUNTER;
	if (sscanf(arguments, "%lu %lu %lu", &counter->idle_uw, &counter->max_uj, &start_uj) < 1)
		return -EINVAL;
	counter_start(counter, start_uj);
	return 0;
}

static int make_busy(struct node *node, const char *arguments)
{
	struct counter *counter = &node->counter;
	char source[512];
	uint64_t start_uj;

	node->kind = KIND_COUNTER;
	if (sscanf(arguments, "%lu %lu %lu %lu %511s", &counter->idle_uw, &counter->dyn_uw,
		   &counter->max_uj, &start_uj, source) != 5 ||
	    source_parse(source, &counter->source) < 0)
		return -EINVAL;
	counter_start(counter, start_uj);
	return 0;
}

static int make_gauge(struct node *node, const char *arguments)
{
	node->kind = KIND_GAUGE;
	node->period_s = 60;
	return sscanf(arguments, "%lf %lf %lf", &node->value, &node->amplitude, &node->period_s) >=
			       1
		       ? 0
		       : -EINVAL;
}

static int make_text(struct node *node, enum kind kind, const char *text)
{
	node->kind = kind;
	node->text = strdup(text);
	return node->text ? 0 : -ENOMEM;
}

/* Verbs that make a file, in place of the previous one. Returns 1 if it is another verb. */
static int make(const char *path, const char *verb, const char *arguments)
{
	static const char *const verbs[] = { "text",   "counter", "busy", "gauge",
					     "joules", "link",    "msr" };
	struct node *node = NULL;

	for (size_t i = 0; !node && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verb, verbs[i]) != 0)
			continue;
		node = add_node(path);
		if (!node)
			return -ENOSPC;
	}
	if (!node)
		return 1;
	if (strcmp(verb, "counter") == 0)
		return make_counter(node, arguments);
	if (strcmp(verb, "busy") == 0)
		return make_busy(node, arguments);
	if (strcmp(verb, "gauge") == 0)
		return make_gauge(node, arguments);
	if (strcmp(verb, "joules") == 0)
		return make_text(node, KIND_JOULES, arguments);
	if (strcmp(verb, "link") == 0)
		return make_text(node, KIND_LINK, arguments);
	if (strcmp(verb, "msr") == 0)
		return make_text(node, KIND_MSR, arguments);
	return make_text(node, KIND_TEXT, arguments);
}

static int set_ticks(struct counter *counter, const char *arguments)
{
	uint64_t tick_us;

	if (sscanf(arguments, "%lu %lu %lu", &tick_us, &counter->noise_uj, &counter->unit_nj) != 3)
		return -EINVAL;
	counter->tick_ns = 1000 * tick_us;
	return 0;
}

/* Verbs that change a file. */
static int change(struct node *node, const char *verb, const char *arguments)
{
	uint64_t number = strtoull(arguments, NULL, 10);

	if (strcmp(verb, "errno") == 0) {
		node->error = (int)number;
	} else if (strcmp(verb, "stall") == 0) {
		node->stall_ms = (unsigned)number;
	} else if (strcmp(verb, "short") == 0) {
		node->short_len = number;
	} else if (strcmp(verb, "power") == 0) {
		(void)counter_energy(&node->counter);
		node->counter.idle_uw = number;
	} else if (strcmp(verb, "jump") == 0) {
		counter_jump(&node->counter, number);
	} else if (strcmp(verb, "ticks") == 0) {
		return set_ticks(&node->counter, arguments);
	} else if (strcmp(verb, "mask") == 0 || strcmp(verb, "unmask") == 0) {
		free(node->mask);
		node->mask = *verb == 'm' ? strdup(arguments) : NULL;
	} else {
		return -EINVAL;
	}
	return 0;
}

static struct {
	char path[512];
	unsigned ms;
} slow_list;

static int command(char *line)
{
	char path[512] = "/", verb[32];
	const char *arguments;
	struct node *node;
	int at = 0, r;

	line[strcspn(line, "\r\n")] = '\0';
	if (*line == '\0' || *line == '#')
		return 0;
	if (sscanf(line, "%510s %31s%n", path + 1, verb, &at) < 2)
		return -EINVAL;
	arguments = line + at + (line[at] == ' ');
	if (strcmp(verb, "drop") == 0) {
		drop(path);
		return 0;
	}
	if (strcmp(verb, "stall-list") == 0) {
		(void)snprintf(slow_list.path, sizeof(slow_list.path), "%s", path);
		slow_list.ms = (unsigned)strtoul(arguments, NULL, 10);
		return 0;
	}
	if (strcmp(verb, "rename") == 0) {
		rename_nodes(path, arguments);
		return 0;
	}
	r = make(path, verb, arguments);
	if (r <= 0)
		return r;
	node = find_node(path);
	return node ? change(node, verb, arguments) : -ENOENT;
}

static struct opened *opened_of(const struct fuse_file_info *file)
{
	return (struct opened *)(uintptr_t)file->fh;
}

/* ---- FUSE ---- */

static int lab_getattr(const char *path, struct stat *st, struct fuse_file_info *file)
{
	const struct node *node;
	int r = 0;

	(void)file;
	*st = (struct stat){ .st_nlink = 1 };
	pthread_mutex_lock(&lock);
	node = find_node(path);
	if (strcmp(path, "/.ctl") == 0) {
		st->st_mode = S_IFREG | 0600;
	} else if (strcmp(path, "/.truth") == 0) {
		st->st_mode = S_IFREG | 0444;
		st->st_size = TRUTH_MAX;
	} else if (node && node->kind == KIND_LINK) {
		st->st_mode = S_IFLNK | 0777;
	} else if (node) {
		st->st_mode = S_IFREG | (node->kind == KIND_COUNTER ? 0400 : 0444);
		st->st_size = 4096;
	} else if (is_dir(path)) {
		st->st_mode = S_IFDIR | 0755;
		st->st_nlink = 2;
	} else {
		r = -ENOENT;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

/* The next component of @path below @dir, or false. */
static bool entry_of(const char *path, const char *dir, char entry[static 256])
{
	size_t dir_len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
	size_t len;

	if (!is_within(path, dir) || path[dir_len] != '/')
		return false;
	len = strcspn(path + dir_len + 1, "/");
	if (len == 0 || len > 255)
		return false;
	memcpy(entry, path + dir_len + 1, len);
	entry[len] = '\0';
	return true;
}

static int lab_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t offset,
		       struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
	char entry[256], earlier[256];
	unsigned stall_ms = 0;

	(void)offset;
	(void)file;
	(void)flags;
	(void)fill(buf, ".", NULL, 0, 0);
	(void)fill(buf, "..", NULL, 0, 0);
	pthread_mutex_lock(&lock);
	if (strcmp(path, slow_list.path) == 0)
		stall_ms = slow_list.ms;
	for (size_t i = 0; i < node_count; i++) {
		bool seen = false;

		if (!entry_of(nodes[i].path, path, entry))
			continue;
		for (size_t j = 0; j < i && !seen; j++)
			seen = entry_of(nodes[j].path, path, earlier) &&
			       strcmp(entry, earlier) == 0;
		if (!seen)
			(void)fill(buf, entry, NULL, 0, 0);
	}
	pthread_mutex_unlock(&lock);
	(void)usleep(stall_ms * 1000);
	return 0;
}

static int lab_open(const char *path, struct fuse_file_info *file)
{
	struct opened *opened = calloc(1, sizeof(*opened));

	(void)path;
	if (!opened)
		return -ENOMEM;
	file->fh = (uintptr_t)opened;
	file->direct_io = 1; /* every read comes here */
	return 0;
}

static int lab_release(const char *path, struct fuse_file_info *file)
{
	(void)path;
	free(opened_of(file));
	return 0;
}

/*
 * One register, 8 bytes in the host's order as the kernel's msr device gives them; -EIO when there
 * is none.
 */
static int msr_value(const struct node *node, off_t reg, uint64_t *ret)
{
	char key[32], path[512] = "/";
	const char *at;
	struct node *source;

	(void)snprintf(key, sizeof(key), "0x%llx=", (unsigned long long)reg);
	at = strcasestr(node->text, key);
	if (!at)
		return -EIO;
	at += strlen(key);
	if (strncmp(at, "0x", 2) == 0) {
		*ret = strtoull(at, NULL, 16);
		return 0;
	}
	if (sscanf(at, "%510s", path + 1) != 1)
		return -EIO;
	source = find_node(path);
	if (!source || source->kind != KIND_COUNTER)
		return -EIO;
	*ret = (uint32_t)((u128)counter_energy(&source->counter) * MSR_PER_J / 1000000);
	return 0;
}

/* The integral of what the gauge shows, from the clock's zero on. */
static double gauge_energy(const struct node *node, double time_s)
{
	return node->value * time_s - node->amplitude * node->period_s / PI_TIMES_TWO *
					      cos(PI_TIMES_TWO * time_s / node->period_s);
}

static double gauge_read(struct node *node)
{
	double time_s = (double)now_ns() / 1e9;

	node->last_uj = gauge_energy(node, time_s);
	if (node->reads++ == 0)
		node->first_uj = node->last_uj;
	return node->value + node->amplitude * sin(PI_TIMES_TWO * time_s / node->period_s);
}

/* Empty without such a counter. */
static int render_joules(const struct node *node, char *text, size_t size)
{
	char path[ARG_MAX_LEN];
	struct node *source;

	(void)snprintf(path, sizeof(path), "/%s", node->text);
	source = find_node(path);
	if (!source || source->kind != KIND_COUNTER)
		return 0;
	return snprintf(text, size, "%" PRIu64 " J %" PRIu64 " us\n",
			counter_read(&source->counter) / 1000000, now_ns() / 1000);
}

static size_t render(struct node *node, char *text, size_t size)
{
	int len;

	if (node->mask)
		len = snprintf(text, size, "%s", node->mask);
	else if (node->kind == KIND_COUNTER)
		len = snprintf(text, size, "%" PRIu64 "\n", counter_read(&node->counter));
	else if (node->kind == KIND_JOULES)
		len = render_joules(node, text, size);
	else if (node->kind == KIND_GAUGE)
		len = snprintf(text, size, "%.0f\n", gauge_read(node));
	else
		len = snprintf(text, size, "%s\n", node->text);
	if (len < 0)
		return 0;
	if ((size_t)len >= size)
		len = (int)size - 1;
	return node->short_len && (size_t)len > node->short_len ? node->short_len : (size_t)len;
}

static int copy_out(char *buf, size_t size, off_t offset, const char *text, size_t len)
{
	if ((size_t)offset >= len)
		return 0;
	len -= (size_t)offset;
	if (len > size)
		len = size;
	memcpy(buf, text + offset, len);
	return (int)len;
}

static int read_node(const char *path, struct opened *opened, char *buf, size_t size, off_t offset,
		     unsigned *ret_stall_ms)
{
	struct node *node = find_node(path);
	uint64_t value;
	int r;

	if (!node)
		return -ENODEV;
	*ret_stall_ms = offset == 0 || node->kind == KIND_MSR ? node->stall_ms : 0;
	if (node->error)
		return -node->error;
	if (node->kind != KIND_MSR) {
		if (offset == 0)
			opened->len = render(node, opened->text, sizeof(opened->text));
		return copy_out(buf, size, offset, opened->text, opened->len);
	}
	r = size < sizeof(value) ? -EINVAL : msr_value(node, offset, &value);
	if (r < 0)
		return r;
	memcpy(buf, &value, sizeof(value));
	return sizeof(value);
}

static int read_truth(char *buf, size_t size, off_t offset)
{
	static char text[TRUTH_MAX];
	static size_t len;

	for (size_t i = offset == 0 ? (len = 0) : node_count; i < node_count; i++) {
		struct counter *counter = &nodes[i].counter;

		if (!nodes[i].path || len + strlen(nodes[i].path) + 128 > sizeof(text))
			continue;
		if (nodes[i].kind == KIND_GAUGE)
			len += (size_t)snprintf(
				text + len, sizeof(text) - len,
				"%s %.0f first=%.0f last=%.0f reads=%" PRIu64 "\n",
				nodes[i].path + 1, gauge_energy(&nodes[i], (double)now_ns() / 1e9),
				nodes[i].first_uj, nodes[i].last_uj, nodes[i].reads);
		if (nodes[i].kind != KIND_COUNTER)
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s %" PRIu64 " first=%" PRIu64 " last=%" PRIu64
					" reads=%" PRIu64 " second=%" PRIu64 "\n",
					nodes[i].path + 1, counter_energy(counter),
					counter->first_uj, counter->last_uj, counter->reads,
					counter->second_uj);
	}
	return copy_out(buf, size, offset, text, len);
}

static int lab_read(const char *path, char *buf, size_t size, off_t offset,
		    struct fuse_file_info *file)
{
	unsigned stall_ms = 0;
	int r;

	pthread_mutex_lock(&lock);
	if (strcmp(path, "/.truth") == 0)
		r = read_truth(buf, size, offset);
	else
		r = read_node(path, opened_of(file), buf, size, offset, &stall_ms);
	pthread_mutex_unlock(&lock);
	if (stall_ms)
		(void)usleep(stall_ms * 1000);
	return r;
}

static int lab_write(const char *path, const char *buf, size_t size, off_t offset,
		     struct fuse_file_info *file)
{
	char *text, *rest, *line;
	int r = 0;

	(void)offset;
	(void)file;
	if (strcmp(path, "/.ctl") != 0)
		return -EACCES;
	text = rest = strndup(buf, size);
	if (!text)
		return -ENOMEM;
	pthread_mutex_lock(&lock);
	while (r == 0 && (line = strsep(&rest, "\n")))
		r = command(line);
	pthread_mutex_unlock(&lock);
	free(text);
	return r < 0 ? r : (int)size;
}

static int lab_truncate(const char *path, off_t size, struct fuse_file_info *file)
{
	(void)path;
	(void)size;
	(void)file;
	return 0;
}

static int lab_readlink(const char *path, char *buf, size_t size)
{
	const struct node *node;
	int r = -EINVAL;

	pthread_mutex_lock(&lock);
	node = find_node(path);
	if (node && node->kind == KIND_LINK) {
		(void)snprintf(buf, size, "%s", node->text);
		r = 0;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

static void *lab_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	(void)connection;
	config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
	return NULL;
}

static const struct fuse_operations operations = {
	.init = lab_init,
	.getattr = lab_getattr,
	.readdir = lab_readdir,
	.open = lab_open,
	.release = lab_release,
	.read = lab_read,
	.write = lab_write,
	.truncate = lab_truncate,
	.readlink = lab_readlink,
};

static int load_tree(const char *path)
{
	char *line = NULL;
	size_t size = 0;
	int r = 0;
	FILE *file = fopen(path, "re");

	if (!file) {
		perror(path);
		return -errno;
	}
	while (r == 0 && getline(&line, &size, file) > 0) {
		r = command(line);
		if (r < 0)
			(void)fprintf(stderr, "%s: bad line: %s\n", path, line);
	}
	free(line);
	(void)fclose(file);
	return r;
}

int main(int argc, char **argv)
{
	if (argc < 4 || strcmp(argv[1], "-f") != 0) {
		(void)fprintf(stderr, "usage: labsysfs -f TREE.conf MOUNT [FUSE options]\n");
		return 2;
	}
	if (load_tree(argv[2]) < 0)
		return 2;
	argv[2] = argv[0];
	return fuse_main(argc - 2, argv + 2, &operations, NULL);
}
