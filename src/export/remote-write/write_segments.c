// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"

#define SEGMENT_BYTES (4 * 1024 * 1024)
#define NAME_SIZE     32

struct place {
	uint64_t number, offset;
};

static void segment_name(uint64_t number, char ret[NAME_SIZE])
{
	(void)snprintf(ret, NAME_SIZE, "%016" PRIx64 ".seg", number);
}

void write_segments_init(struct write_segments *segments)
{
	*segments = (struct write_segments){
		.folder_fd = -1, .write_fd = -1, .read_fd = -1, .place_fd = -1
	};
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void write_segments_close(struct write_segments *segments)
{
	close_fd(&segments->folder_fd);
	close_fd(&segments->write_fd);
	close_fd(&segments->read_fd);
	close_fd(&segments->place_fd);
}

/* ---- what is there ---- */

static int by_number(const void *a, const void *b)
{
	const struct write_segment *one = a, *other = b;

	return (one->number > other->number) - (one->number < other->number);
}

/* Makes room for @number. False: that one is the oldest, and its file is removed instead. */
static bool give_up_oldest(struct write_segments *segments, uint64_t number)
{
	size_t oldest = 0;
	char name[NAME_SIZE];

	for (size_t i = 1; i < segments->count; i++) {
		if (segments->list[i].number < segments->list[oldest].number)
			oldest = i;
	}
	if (segments->list[oldest].number > number) {
		segment_name(number, name);
		(void)unlinkat(segments->folder_fd, name, 0);
		return false;
	}
	segment_name(segments->list[oldest].number, name);
	(void)unlinkat(segments->folder_fd, name, 0);
	segments->bytes -= segments->list[oldest].size;
	segments->list[oldest] = segments->list[--segments->count];
	return true;
}

static void take_name(struct write_segments *segments, const char *name)
{
	char wanted[NAME_SIZE];
	struct stat st;
	uint64_t number = strtoull(name, NULL, 16);

	segment_name(number, wanted);
	if (strcmp(name, wanted) != 0 ||
	    fstatat(segments->folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return;
	segments->next_number = MAX(segments->next_number, number + 1);
	if (segments->count == WRITE_SEGMENTS_MAX && !give_up_oldest(segments, number))
		return;
	segments->list[segments->count++] = (struct write_segment){ number, (uint64_t)st.st_size };
	segments->bytes += (uint64_t)st.st_size;
}

static int find_segments(struct write_segments *segments)
{
	int fd = openat(segments->folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!folder) {
		close_fd(&fd);
		return -errno;
	}
	while ((entry = readdir(folder)))
		take_name(segments, entry->d_name);
	(void)closedir(folder);
	qsort(segments->list, segments->count, sizeof(*segments->list), by_number);
	return 0;
}

static void remove_oldest(struct write_segments *segments)
{
	char name[NAME_SIZE];

	segment_name(segments->list[0].number, name);
	(void)unlinkat(segments->folder_fd, name, 0);
	segments->bytes -= segments->list[0].size - segments->offset;
	if (segments->count == 1)
		close_fd(&segments->write_fd);
	memmove(segments->list, segments->list + 1, --segments->count * sizeof(*segments->list));
	segments->offset = 0;
	segments->peeked = 0;
	close_fd(&segments->read_fd);
}

/* Skips the records that were sent before this program began. */
static void find_place(struct write_segments *segments)
{
	struct place place;

	segments->place_fd = openat(segments->folder_fd, "read",
				    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (pread(segments->place_fd, &place, sizeof(place), 0) != sizeof(place))
		return;
	while (segments->count && segments->list[0].number < place.number)
		remove_oldest(segments);
	if (segments->count && segments->list[0].number == place.number &&
	    place.offset <= segments->list[0].size) {
		segments->offset = place.offset;
		segments->bytes -= place.offset;
	}
}

int write_segments_open(struct write_segments *segments, const char *folder, uint64_t max_bytes,
			struct diag *diag)
{
	int r;

	segments->max_bytes = max_bytes;
	segments->segment_bytes = MIN(SEGMENT_BYTES, max_bytes / 4);
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return diag_set(diag, -errno, "%s: cannot be made: %s", folder,
				strerrordesc_np(errno));
	segments->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = segments->folder_fd < 0 ? -errno : find_segments(segments);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", folder, strerrordesc_np(-r));
	find_place(segments);
	return 0;
}

/* ---- reading ---- */

static int open_oldest(struct write_segments *segments)
{
	char name[NAME_SIZE];

	if (segments->read_fd >= 0 && segments->read_number == segments->list[0].number)
		return 0;
	close_fd(&segments->read_fd);
	segment_name(segments->list[0].number, name);
	segments->read_fd = openat(segments->folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	segments->read_number = segments->list[0].number;
	return segments->read_fd < 0 ? -errno : 0;
}

static bool read_all(int fd, void *bytes, size_t len, uint64_t offset)
{
	return pread(fd, bytes, len, (off_t)offset) == (ssize_t)len;
}

/* The head of the record at @offset of the oldest file. 0 or -EBADMSG. */
static int read_head(const struct write_segments *segments, uint64_t offset,
		     struct write_record *ret)
{
	unsigned char head[WRITE_RECORD_HEAD];

	*ret = (struct write_record){ 0 };
	if (!read_all(segments->read_fd, head, sizeof(head), offset) ||
	    write_record_parse(head, ret) < 0)
		return -EBADMSG;
	return ret->len > segments->list[0].size - offset - sizeof(head) ? -EBADMSG : 0;
}

static int read_record(struct write_segments *segments, struct strbuf *message,
		       struct write_record *ret)
{
	int r = open_oldest(segments);

	if (r < 0)
		/* With too many open files or no memory, later; what cannot be opened is lost. */
		return r == -EMFILE || r == -ENFILE || r == -ENOMEM ? r : -EBADMSG;
	if (read_head(segments, segments->offset, ret) < 0)
		return -EBADMSG;
	if (!strbuf_reserve(message, ret->len))
		return -ENOMEM;
	if (!read_all(segments->read_fd, message->data, ret->len,
		      segments->offset + WRITE_RECORD_HEAD) ||
	    write_record_check(ret, message->data) < 0)
		return -EBADMSG;
	message->len = ret->len;
	message->data[message->len] = '\0';
	return 0;
}

int write_segments_peek(struct write_segments *segments, struct strbuf *message,
			struct write_record *ret)
{
	int r;

	while (segments->count && segments->offset >= segments->list[0].size) {
		if (segments->count == 1 && segments->write_fd >= 0)
			return 0;
		remove_oldest(segments);
	}
	if (segments->count == 0)
		return 0;
	r = read_record(segments, message, ret);
	if (r == -EBADMSG)
		remove_oldest(segments);
	if (r < 0)
		return r;
	segments->peeked = WRITE_RECORD_HEAD + ret->len;
	return 1;
}

void write_segments_pop(struct write_segments *segments)
{
	struct place place;

	if (!segments->peeked || segments->count == 0)
		return;
	segments->offset += segments->peeked;
	segments->bytes -= segments->peeked;
	segments->peeked = 0;
	place = (struct place){ segments->list[0].number, segments->offset };
	/* If it fails, what was sent may be sent again: receivers know it by its time. */
	(void)!pwrite(segments->place_fd, &place, sizeof(place), 0);
}

/* ---- writing ---- */

/* How many series the oldest file still has, as far as its heads tell. */
static uint64_t series_left(struct write_segments *segments)
{
	uint64_t offset = segments->offset, series = 0;
	struct write_record record;

	if (open_oldest(segments) < 0)
		return 0;
	while (offset < segments->list[0].size && read_head(segments, offset, &record) == 0) {
		series += record.series;
		offset += WRITE_RECORD_HEAD + record.len;
	}
	return series;
}

static int begin_segment(struct write_segments *segments)
{
	char name[NAME_SIZE];

	close_fd(&segments->write_fd);
	segment_name(segments->next_number, name);
	segments->write_fd = openat(segments->folder_fd, name,
				    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (segments->write_fd < 0)
		return -errno;
	segments->list[segments->count++] = (struct write_segment){ segments->next_number++, 0 };
	return 0;
}

static int write_all(int fd, const void *bytes, size_t len, uint64_t offset)
{
	ssize_t n = pwrite(fd, bytes, len, (off_t)offset);

	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -ENOSPC;
}

int write_segments_put(struct write_segments *segments, const char *message,
		       const struct write_record *record, uint64_t *dropped)
{
	uint64_t size = WRITE_RECORD_HEAD + record->len, at;
	unsigned char head[WRITE_RECORD_HEAD];
	struct write_segment *last;
	int r = 0;

	while (segments->count && (segments->bytes + size > segments->max_bytes ||
				   segments->count == WRITE_SEGMENTS_MAX)) {
		*dropped += series_left(segments);
		remove_oldest(segments);
	}
	if (segments->write_fd < 0 ||
	    segments->list[segments->count - 1].size >= segments->segment_bytes)
		r = begin_segment(segments);
	if (r < 0)
		return r;
	last = &segments->list[segments->count - 1];
	at = last->size;
	write_record_head(record, message, head);
	r = write_all(segments->write_fd, message, record->len, at + sizeof(head));
	if (r == 0)
		r = write_all(segments->write_fd, head, sizeof(head), at);
	if (r < 0) {
		(void)!ftruncate(segments->write_fd, (off_t)at);
		return r;
	}
	last->size += size;
	segments->bytes += size;
	return 0;
}
