// SPDX-License-Identifier: Apache-2.0
/*
 * A table of files, found by (pid, descriptor). The files of one client have its id, which the
 * first reading of each shows: one is read from then on, the others are spare, and one of them
 * takes its place when it ends. The file that is read belongs to the process that had the client
 * first, so that a descriptor that is passed on takes no energy with it.
 */
#include "meter/drm/drm_users.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/num.h"
#include "gpu/drm_fdinfo.h"
#include "gpu/drm_use.h"

#define FILES_MAX      4096
#define OPEN_MAX       1024 /* or a quarter of RLIMIT_NOFILE */
#define NODES_MAX      (2 * DEVICES_DRM)
#define SEARCH_NS      (900 * NSEC_PER_MSEC) /* a period of the source, less what it varies */
#define SEARCH_PART    250                   /* searches take 1 / this of a CPU */
#define SEARCH_MAX_NS  (30 * NSEC_PER_SEC)
#define SPARE_SEARCHES 10 /* in which a spare file may have become another one unseen */
#define SLACK_NS       (200 * NSEC_PER_MSEC) /* from a search to the readings after it */
#define PRIMARY_MINORS 64                    /* cardN has minor N; render nodes begin at 128 */
#define BOARD_NONE     UINT32_MAX

struct drm_file {
	struct open_device device;
	uint32_t board;
	uint32_t search;       /* the last one that found it */
	uint32_t first_search; /* the one that found it first */
	uint64_t group;        /* control group of its process then; 0: not known */
	uint64_t since_ns;     /* when it was not there yet; 0: not known */
	int info_fd;           /* -1: not open */
	bool is_denied;
	bool is_silent;            /* its driver says nothing */
	bool is_spare;             /* the client is read by another file */
	bool is_shared;            /* with another process */
	bool is_unowned;           /* what opened the client is not known */
	uint64_t client_id;        /* of a spare one */
	struct drm_client *client; /* NULL while it is not open, and of a spare one */
};

struct node {
	uint32_t minor, board;
};

struct used_board {
	struct drm_use use;
	uint64_t read_ns; /* MONOTONIC; 0: not yet */
};

struct drm_users {
	struct device_files *files;
	bool wants_holders;
	struct node nodes[NODES_MAX];
	size_t node_count;
	struct used_board boards[DEVICES_DRM];
	struct drm_file *table; /* [count] */
	size_t count, size;
	size_t open_count, open_max;
	struct map by_fd;
	struct open_device *found; /* [FILES_MAX], of one search */
	uint32_t search;           /* number of the last one */
	uint64_t searched_ns;      /* when the last complete one began; 0: none was */
	uint64_t due_ns;
	struct drm_users_state state;
	struct device_use *uses;
	size_t use_count, use_size;
	char text[DRM_FDINFO_MAX];
};

static struct map_key key_of(const struct open_device *device)
{
	return (struct map_key){ (uint64_t)device->pid << 32 | device->fd,
				 (uint64_t)device->major << 32 | device->minor };
}

static uint32_t board_of(const struct drm_users *users, uint32_t minor)
{
	for (size_t i = 0; i < users->node_count; i++) {
		if (users->nodes[i].minor == minor)
			return users->nodes[i].board;
	}
	return BOARD_NONE;
}

static void close_file(struct drm_users *users, struct drm_file *file)
{
	if (file->info_fd >= 0) {
		(void)close(file->info_fd);
		users->open_count--;
	}
	file->info_fd = -1;
}

/* ---- files of one client ---- */

/* The file that its client is read by, other than @but. */
static struct drm_file *reader_of(struct drm_users *users, const struct drm_file *but,
				  uint64_t client_id)
{
	for (size_t i = 0; i < users->count; i++) {
		struct drm_file *file = &users->table[i];

		if (file != but && file->board == but->board && file->client &&
		    file->client->is_known && file->client->client_id == client_id)
			return file;
	}
	return NULL;
}

/* True if both belong to one process, or to processes of one control group. */
static bool are_akin(const struct drm_file *a, const struct drm_file *b)
{
	return a->device.pid == b->device.pid || (a->group && a->group == b->group);
}

/* @spare takes over what was read of the client so far; its energy only where both are akin. */
static void take_over(struct drm_file *file, struct drm_file *spare)
{
	free(spare->client);
	spare->client = TAKE_PTR(file->client);
	spare->is_spare = false;
	spare->is_unowned = file->is_unowned || !are_akin(file, spare);
}

static void make_spare(struct drm_users *users, struct drm_file *file, uint64_t client_id)
{
	close_file(users, file);
	free(file->client);
	file->client = NULL;
	file->is_spare = true;
	file->client_id = client_id;
}

/* The order in which files of a client that has lost the one that was read take its place. */
static bool goes_before(const struct drm_file *file, const struct drm_file *a,
			const struct drm_file *b)
{
	if (are_akin(file, a) != are_akin(file, b))
		return are_akin(file, a);
	return a->device.pid < b->device.pid;
}

/* Before @file is removed. */
static void find_heir(struct drm_users *users, struct drm_file *file)
{
	struct drm_file *heir = NULL;

	if (!file->client || !file->client->is_known)
		return;
	for (size_t i = 0; i < users->count; i++) {
		struct drm_file *spare = &users->table[i];

		if (spare->is_spare && spare->board == file->board &&
		    spare->client_id == file->client->client_id &&
		    (!heir || goes_before(file, spare, heir)))
			heir = spare;
	}
	if (heir)
		take_over(file, heir);
}

/* True if @file, just read for the first time, has a client that is read through another file. */
static bool is_one_too_many(struct drm_users *users, struct drm_file *file, uint64_t client_id)
{
	struct drm_file *reader = reader_of(users, file, client_id);

	if (!reader)
		return false;
	if (reader->first_search == file->first_search && !are_akin(reader, file))
		reader->is_unowned = true;
	if (reader->first_search < file->first_search || !are_akin(reader, file) ||
	    reader->device.pid <= file->device.pid) {
		make_spare(users, file, client_id);
		reader->is_shared |= reader->device.pid != file->device.pid;
		return true;
	}
	take_over(reader, file);
	make_spare(users, reader, client_id);
	file->is_shared = true;
	return false;
}

/* ---- the search ---- */

static void remove_file(struct drm_users *users, size_t index)
{
	struct drm_file *file = &users->table[index];

	close_file(users, file);
	find_heir(users, file);
	free(file->client);
	(void)map_remove(&users->by_fd, key_of(&file->device));
	users->count--;
	if (index == users->count)
		return;
	*file = users->table[users->count];
	(void)map_put(&users->by_fd, key_of(&file->device), (uint32_t)index); /* it is there */
}

static void note_file(struct drm_users *users, const struct open_device *device)
{
	uint32_t at = map_find(&users->by_fd, key_of(device));
	uint32_t board = board_of(users, device->minor);

	if (board == BOARD_NONE)
		return;
	if (at != MAP_NONE) {
		users->table[at].search = users->search;
		return;
	}
	if (users->count == FILES_MAX ||
	    ARRAY_RESERVE(users->table, users->size, users->count + 1) < 0 ||
	    map_put(&users->by_fd, key_of(device), (uint32_t)users->count) < 0) {
		users->state.beyond++;
		return;
	}
	users->table[users->count++] =
		(struct drm_file){ .device = *device,
				   .board = board,
				   .search = users->search,
				   .first_search = users->search,
				   .group = users->files->group(users->files, device->pid),
				   .since_ns = users->searched_ns,
				   .info_fd = -1 };
}

/* One that is denied stays so: what is missing is a capability. */
static void open_file(struct drm_users *users, struct drm_file *file)
{
	int fd;

	if (file->info_fd >= 0 || file->is_spare || file->is_denied || file->is_silent)
		return;
	if (users->open_count == users->open_max) {
		users->state.is_short_of_descriptors = true;
		users->state.beyond++;
		return;
	}
	if (!file->client)
		file->client = calloc(1, sizeof(*file->client));
	fd = file->client
		     ? users->files->open_fdinfo(users->files, file->device.pid, file->device.fd)
		     : -ENOMEM;
	file->is_denied = fd == -EACCES || fd == -EPERM;
	users->state.is_short_of_descriptors |= fd == -EMFILE || fd == -ENFILE;
	users->state.beyond += fd == -ENOMEM || fd == -EMFILE || fd == -ENFILE;
	if (fd < 0)
		return;
	file->info_fd = fd;
	users->open_count++;
}

/* A primary node is shared for as long as another process has it. */
static void note_shared(struct drm_users *users)
{
	for (size_t i = 0; i < users->count; i++)
		users->table[i].is_shared = false;
	for (size_t i = 0; i < users->count; i++) {
		const struct drm_file *spare = &users->table[i];
		struct drm_file *reader;

		if (!spare->is_spare || spare->device.minor >= PRIMARY_MINORS)
			continue;
		reader = reader_of(users, spare, spare->client_id);
		if (reader)
			reader->is_shared |= reader->device.pid != spare->device.pid;
	}
}

/* For how long to rest after a search, so that it takes a small part of the time. */
static uint64_t rest_ns(uint64_t cpu_ns)
{
	uint64_t ns = SEARCH_PART * cpu_ns;

	if (ns < SEARCH_NS)
		return SEARCH_NS;
	return ns < SEARCH_MAX_NS ? ns : SEARCH_MAX_NS;
}

/* A list that was cut does not say what was not there: of it only what cannot be read is gone. */
static bool is_gone(const struct drm_users *users, const struct drm_file *file, bool is_cut)
{
	return file->search != users->search && !(is_cut && (file->info_fd >= 0 || file->is_spare));
}

static void take_all(struct drm_users *users, const struct open_devices *found)
{
	users->search++;
	for (size_t i = 0; i < found->count; i++)
		note_file(users, &users->found[i]);
	for (size_t i = users->count; i > 0; i--) {
		if (is_gone(users, &users->table[i - 1], found->beyond > 0))
			remove_file(users, i - 1);
	}
	note_shared(users);
	for (size_t i = 0; i < users->count; i++) {
		users->table[i].is_spare &= users->search % SPARE_SEARCHES != 0;
		open_file(users, &users->table[i]);
		users->state.denied += users->table[i].is_denied;
		users->state.silent += users->table[i].is_silent;
	}
}

static void search(struct drm_users *users, uint64_t now_ns)
{
	struct open_devices found = { 0 };
	int r = users->found ? 0 : ARRAY_RESIZE(users->found, FILES_MAX);

	if (r == 0)
		r = users->files->search(users->files, users->found, FILES_MAX, &found);
	users->state = (struct drm_users_state){ .error = r,
						 .beyond = found.beyond,
						 .hidden = found.hidden };
	if (r == 0)
		take_all(users, &found);
	users->searched_ns = r == 0 && !users->state.beyond ? now_ns : 0;
	users->due_ns = now_ns + rest_ns(found.cpu_ns);
}

/* ---- a reading ---- */

/* False: the file is gone, or is another one by now. */
static bool read_file(struct drm_users *users, struct drm_file *file, const char *address,
		      struct drm_fdinfo *ret)
{
	ssize_t len = read_fd(file->info_fd, users->text, sizeof(users->text));
	int r = len < 0 ? (int)len : drm_fdinfo_parse(users->text, (size_t)len, ret);

	if (r == 0 && ret->address[0] && strcmp(ret->address, address) != 0)
		r = -ENODATA;
	file->is_silent = r == -ENODATA;
	return r == 0;
}

static void read_use(struct drm_users *users, struct drm_file *file, const char *address)
{
	struct used_board *board = &users->boards[file->board];
	bool is_new = file->since_ns && file->since_ns + SLACK_NS >= board->read_ns;
	struct drm_fdinfo info;
	uint32_t pid;

	if (!read_file(users, file, address, &info)) {
		close_file(users, file); /* the next search finds what there is */
		return;
	}
	file->since_ns = 0;
	if (!(file->client->is_known && file->client->client_id == info.client_id)) {
		file->client->is_known = false;
		if (is_one_too_many(users, file, info.client_id))
			return;
	}
	users->state.speaking += info.engine_count > 0;
	pid = file->is_unowned || (file->is_shared && file->device.minor < PRIMARY_MINORS)
		      ? 0
		      : file->device.pid;
	(void)drm_use_add(&board->use, file->client, pid, &info, is_new);
}

static void add_use(struct drm_users *users, const struct device_use *use)
{
	if (ARRAY_RESERVE(users->uses, users->use_size, users->use_count + 1) == 0)
		users->uses[users->use_count++] = *use;
}

static void list_uses(struct drm_users *users, uint32_t board, uint32_t device)
{
	const struct drm_use *use = &users->boards[board].use;

	if (use->count && ARRAY_RESERVE(users->uses, users->use_size, use->count) == 0)
		users->use_count = drm_use_list(use, device, users->uses);
	for (size_t i = 0; users->wants_holders && i < users->count; i++) {
		if (users->table[i].board == board)
			add_use(users, &(struct device_use){ .device = device,
							     .pid = users->table[i].device.pid,
							     .held = DEVICE_WHOLE });
	}
}

uint64_t drm_users_read(struct drm_users *users, uint32_t board, uint32_t device,
			const char *address, uint64_t now_ns)
{
	struct used_board *used = &users->boards[board];
	uint64_t elapsed_ns = used->read_ns ? now_ns - used->read_ns : 0;

	users->use_count = 0;
	if (now_ns >= users->due_ns)
		search(users, now_ns);
	drm_use_begin(&used->use, elapsed_ns);
	for (size_t i = 0; i < users->count; i++) {
		if (users->table[i].board == board && users->table[i].info_fd >= 0)
			read_use(users, &users->table[i], address);
	}
	used->read_ns = now_ns;
	list_uses(users, board, device);
	return elapsed_ns;
}

void drm_users_add_rest(struct drm_users *users, uint32_t device, uint64_t busy_ns)
{
	uint64_t known_ns = 0;

	for (size_t i = 0; i < users->use_count; i++)
		known_ns += users->uses[i].busy_ns;
	if (busy_ns > known_ns)
		add_use(users,
			&(struct device_use){ .device = device, .busy_ns = busy_ns - known_ns });
}

void drm_users_clear(struct drm_users *users)
{
	users->use_count = 0;
}

const struct device_use *drm_users_uses(const struct drm_users *users, size_t *ret_count)
{
	*ret_count = users->use_count;
	return users->uses;
}

struct drm_users_state drm_users_state(const struct drm_users *users)
{
	return users->state;
}

/* ---- the rest ---- */

void drm_users_forget_nodes(struct drm_users *users)
{
	users->node_count = 0;
}

void drm_users_add_node(struct drm_users *users, uint32_t minor, uint32_t board)
{
	if (users->node_count < NODES_MAX)
		users->nodes[users->node_count++] = (struct node){ minor, board };
}

static size_t open_limit(void)
{
	struct rlimit limit = { .rlim_cur = OPEN_MAX };

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur / 4 < OPEN_MAX ? (size_t)limit.rlim_cur / 4 : OPEN_MAX;
}

int drm_users_new(struct device_files *files, bool wants_holders, struct drm_users **ret)
{
	struct drm_users *users = calloc(1, sizeof(*users));

	if (!users)
		return -ENOMEM;
	map_init(&users->by_fd, FILES_MAX);
	files->ref(files);
	users->files = files;
	users->wants_holders = wants_holders;
	users->open_max = open_limit();
	*ret = users;
	return 0;
}

void drm_users_free(struct drm_users *users)
{
	if (!users)
		return;
	for (size_t i = 0; i < users->count; i++) {
		close_file(users, &users->table[i]);
		free(users->table[i].client);
	}
	for (size_t i = 0; i < DEVICES_DRM; i++)
		drm_use_release(&users->boards[i].use);
	map_release(&users->by_fd);
	free(users->table);
	free(users->found);
	free(users->uses);
	users->files->unref(users->files);
	free(users);
}
