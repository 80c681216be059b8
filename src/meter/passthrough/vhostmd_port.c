// SPDX-License-Identifier: Apache-2.0
/*
 * Answers of the host arrive in the order of the questions, so none is older than one that was
 * read: what the port still has when it is opened is the answer to a program that did not wait for
 * it, and is discarded. So are bytes behind a document.
 */
#include "meter/passthrough/vhostmd_port.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "passthrough/passthrough_xml.h"

#define QUESTION       "GET /metrics/XML\n\n"
#define ANSWER_END     "\n\n"
#define DOCUMENT_END   "</metrics>"
#define ANSWER_MAX     65536
#define ASK_NS         NSEC_PER_SEC
#define ASK_RARELY_NS  (60 * NSEC_PER_SEC) /* while no answer was of any use */
#define ANSWER_WAIT_NS (5 * NSEC_PER_SEC)
#define SAME_NS        (30 * NSEC_PER_SEC) /* an answer as before is a new record after it */
#define PERIOD_MS      20000               /* the longest that an answer may take to change */
#define FIRST_NS       (60 * NSEC_PER_SEC) /* so long may the first interval of an account be */
#define OWN_EPOCH      1

struct vhostmd_port {
	int fd;                    /* -1: there is no question */
	uint64_t asked_ns, due_ns; /* MONOTONIC: of this question; of the next one */
	bool is_useful;            /* an answer had energy */
	struct passthrough_record last;
	uint64_t changed_ns, own_sequence; /* of answers without a sequence */
	size_t len;
	char answer[ANSWER_MAX];
};

int vhostmd_port_new(struct vhostmd_port **ret)
{
	struct vhostmd_port *port = calloc(1, sizeof(*port));

	if (!port)
		return -ENOMEM;
	port->fd = -1;
	port->own_sequence = 1; /* the first record is not the begin of an account */
	*ret = port;
	return 0;
}

static void hang_up(struct vhostmd_port *port, uint64_t pause_ns)
{
	if (port->fd >= 0)
		(void)close(port->fd);
	port->fd = -1;
	port->len = 0;
	port->due_ns = port->asked_ns + pause_ns;
}

void vhostmd_port_free(struct vhostmd_port *port)
{
	if (!port)
		return;
	hang_up(port, 0);
	free(port);
}

/* Returns the events of @fd, or 0: it is stopped, or the time is over. */
static int wait_for(int fd, int stop_fd, uint64_t wait_ns)
{
	struct pollfd polled[] = { { .fd = stop_fd, .events = POLLIN },
				   { .fd = fd, .events = POLLIN } };
	int ms = (int)((wait_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);

	return poll(polled, ARRAY_SIZE(polled), ms) > 0 && !polled[0].revents ? polled[1].revents
									      : 0;
}

static int ask(struct vhostmd_port *port, const char *path, struct diag *diag)
{
	ssize_t len;

	port->asked_ns = clock_ns(CLOCK_MONOTONIC);
	port->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (port->fd < 0) {
		int err = errno;

		hang_up(port, ASK_NS);
		if (err == EBUSY)
			return diag_set(diag, -EBUSY,
					"%s is open in another program, such as vm-dump-metrics; "
					"retrying",
					path);
		return diag_set(diag, -err, "%s cannot be opened: %s", path, strerrordesc_np(err));
	}
	for (unsigned i = 0; i < 2 && read(port->fd, port->answer, ANSWER_MAX) > 0; i++)
		;
	len = write(port->fd, QUESTION, strlen(QUESTION));
	if (len == (ssize_t)strlen(QUESTION))
		return 0;
	hang_up(port, ASK_NS);
	return diag_set(diag, -ENOTCONN, "%s: the host does not take the question", path);
}

/*
 * The length of the answer's document, or of other text in its place; 0: it is not whole yet. The
 * first @before bytes have no end: a host may send an answer byte by byte.
 */
static size_t whole_len(const struct vhostmd_port *port, size_t before)
{
	const char *mark = port->answer[0] == '<' ? DOCUMENT_END : ANSWER_END, *end;
	size_t len = strlen(mark), from = before < len ? 0 : before - len + 1;

	end = memmem(port->answer + from, port->len - from, mark, len);
	if (!end)
		return 0;
	return (size_t)(end - port->answer) + (mark[0] == '<' ? len : 0);
}

/* 1: the answer is whole; 0: not yet; -errno. */
static int collect(struct vhostmd_port *port, const char *path, struct diag *diag)
{
	size_t before = port->len;
	ssize_t len = read(port->fd, port->answer + before, ANSWER_MAX - before);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len <= 0) {
		hang_up(port, ASK_NS);
		return diag_set(diag, -ENOTCONN, "%s: the host has not opened its side of the port",
				path);
	}
	port->len += (size_t)len;
	if (whole_len(port, before))
		return 1;
	if (port->len < ANSWER_MAX)
		return 0;
	hang_up(port, port->is_useful ? ASK_NS : ASK_RARELY_NS);
	return diag_set(diag, -EMSGSIZE, "%s: the answer is longer than %d bytes", path,
			ANSWER_MAX);
}

static bool has_same_values(const struct passthrough_record *a, const struct passthrough_record *b)
{
	if (a->zone_count != b->zone_count || a->cpu_time_us != b->cpu_time_us)
		return false;
	for (size_t i = 0; i < a->zone_count; i++) {
		if (a->zones[i].kind != b->zones[i].kind ||
		    a->zones[i].quality != b->zones[i].quality ||
		    a->zones[i].dynamic_uj != b->zones[i].dynamic_uj)
			return false;
	}
	return true;
}

static void number(struct vhostmd_port *port, struct passthrough_record *record)
{
	if (record->epoch)
		return;
	if (!has_same_values(record, &port->last) || port->asked_ns >= port->changed_ns + SAME_NS) {
		port->own_sequence++;
		port->changed_ns = port->asked_ns;
	}
	port->last = *record;
	record->epoch = OWN_EPOCH;
	record->sequence = port->own_sequence;
}

static int take_answer(struct vhostmd_port *port, uint8_t buf[static PASSTHROUGH_RECORD_MAX],
		       struct diag *diag)
{
	struct passthrough_record record;
	int r = passthrough_xml_read(port->answer, whole_len(port, 0), &record, diag);

	port->is_useful |= r == 0;
	hang_up(port, port->is_useful ? ASK_NS : ASK_RARELY_NS);
	if (r < 0)
		return r;
	number(port, &record);
	record.realtime_ns = clock_ns(CLOCK_REALTIME);
	record.boottime_ns = clock_ns(CLOCK_BOOTTIME);
	record.interval_ns = FIRST_NS;
	record.period_ms = PERIOD_MS;
	return (int)passthrough_record_write(&record, buf);
}

int vhostmd_port_read(struct vhostmd_port *port, const char *path, int stop_fd, uint64_t wait_ns,
		      uint8_t buf[static PASSTHROUGH_RECORD_MAX], struct diag *diag)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), end_ns = now_ns + wait_ns;
	int r = 0;

	if (port->fd < 0 && now_ns < port->due_ns) {
		(void)wait_for(-1, stop_fd, MIN(port->due_ns - now_ns, wait_ns));
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (now_ns < port->due_ns)
			return 0;
	}
	if (port->fd < 0)
		r = ask(port, path, diag);
	while (r == 0 && now_ns < end_ns && wait_for(port->fd, stop_fd, end_ns - now_ns)) {
		r = collect(port, path, diag);
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	if (r == 0 && now_ns >= port->asked_ns + ANSWER_WAIT_NS) {
		hang_up(port, ASK_NS);
		return diag_set(diag, -ETIMEDOUT, "%s: the host does not answer", path);
	}
	return r > 0 ? take_answer(port, buf, diag) : r;
}
