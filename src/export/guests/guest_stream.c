// SPDX-License-Identifier: Apache-2.0
#include "export/guests/guest_stream.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macro.h"

int guest_watch_add(int epoll_fd, struct guest_watch *watch, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) < 0 ? -errno : 0;
}

static void wait_for(struct guest_stream *stream, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = &stream->watch };

	if (events == stream->events)
		return;
	stream->events = events;
	(void)epoll_ctl(stream->epoll_fd, EPOLL_CTL_MOD, stream->watch.fd, &event);
}

/* Input is left alone once there was too much; output is waited for while there is some. */
static void wait_for_more(struct guest_stream *stream)
{
	wait_for(stream,
		 (stream->input_left ? EPOLLIN : 0) | (stream->sent < stream->size ? EPOLLOUT : 0));
}

static bool is_transient(int error)
{
	return error == EAGAIN || error == EINTR || error == ENOBUFS;
}

/* True: all of the record @bytes was sent, or the rest waits. False: the connection has ended. */
static bool flush(struct guest_stream *stream, const uint8_t *bytes)
{
	while (stream->sent < stream->size) {
		ssize_t n =
			send(stream->watch.fd, bytes + stream->sent,
			     (size_t)(stream->size - stream->sent), MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return is_transient(errno);
		stream->sent = (uint16_t)(stream->sent + n);
		if (stream->sent == stream->size)
			guest_count(&stream->counts->records, 1);
	}
	return true;
}

static bool flush_rest(struct guest_stream *stream)
{
	if (!stream->rest)
		return true;
	if (!flush(stream, stream->rest))
		return false;
	if (stream->sent == stream->size) {
		free(stream->rest);
		stream->rest = NULL;
	}
	return true;
}

/* Without memory for a record that has begun, the connection ends, and the guest makes another. */
static bool send_newest(struct guest_stream *stream)
{
	stream->size = (uint16_t)stream->guest->record_size;
	stream->sent = 0;
	stream->newest_waits = false;
	if (!flush(stream, stream->guest->record))
		return false;
	if (stream->sent == stream->size)
		return true;
	stream->rest = malloc(stream->size);
	if (stream->rest)
		memcpy(stream->rest, stream->guest->record, stream->size);
	return stream->rest;
}

/*
 * A record that the other side has not taken from the socket: QEMU reads only while the guest has
 * the port open. Where the kernel does not say (vsock), what waits is in the guest's memory.
 */
static bool is_unread(const struct guest_stream *stream)
{
	int bytes = 0;

	return ioctl(stream->watch.fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

static bool advance(struct guest_stream *stream)
{
	bool goes_on = flush_rest(stream);

	if (goes_on && !stream->rest && stream->newest_waits && !is_unread(stream))
		goes_on = send_newest(stream);
	if (goes_on)
		wait_for_more(stream);
	else
		guest_stream_close(stream);
	return goes_on;
}

bool guest_stream_send(struct guest_stream *stream)
{
	if (stream->newest_waits)
		guest_count(&stream->counts->dropped, 1);
	stream->newest_waits = true;
	stream->input_left = GUEST_INPUT_MAX;
	return advance(stream);
}

/* False: the guest has closed the connection. */
static bool discard_input(struct guest_stream *stream)
{
	char text[GUEST_INPUT_MAX];
	ssize_t n = recv(stream->watch.fd, text, stream->input_left, MSG_DONTWAIT);

	if (n > 0)
		stream->input_left -= (uint32_t)n;
	return n > 0 || (n < 0 && is_transient(errno));
}

bool guest_stream_handle(struct guest_stream *stream, uint32_t events)
{
	if ((events & (EPOLLERR | EPOLLHUP)) ||
	    ((events & EPOLLIN) && stream->input_left && !discard_input(stream))) {
		guest_stream_close(stream);
		return false;
	}
	return advance(stream);
}

struct guest_stream *guest_stream_open(int epoll_fd, int fd, struct guest *guest,
				       struct guest_counts *counts)
{
	struct guest_stream **place = NULL, *stream = NULL;

	for (size_t i = 0; !place && i < ARRAY_SIZE(guest->streams); i++) {
		if (!guest->streams[i])
			place = &guest->streams[i];
	}
	if (place)
		stream = calloc(1, sizeof(*stream));
	if (!stream) {
		(void)close(fd);
		return NULL;
	}
	*stream = (struct guest_stream){
		.watch = { GUEST_WATCH_STREAM, fd },
		.guest = guest,
		.counts = counts,
		.epoll_fd = epoll_fd,
		.events = EPOLLIN,
		.input_left = GUEST_INPUT_MAX,
		.newest_waits = guest->record_size != 0,
	};
	if (guest_watch_add(epoll_fd, &stream->watch, stream->events) < 0) {
		(void)close(fd);
		free(stream);
		return NULL;
	}
	*place = stream;
	guest_count(&counts->connected, 1);
	return advance(stream) ? stream : NULL;
}

void guest_stream_close(struct guest_stream *stream)
{
	struct guest *guest = stream->guest;

	for (size_t i = 0; i < ARRAY_SIZE(guest->streams); i++) {
		if (guest->streams[i] == stream)
			guest->streams[i] = NULL;
	}
	guest_count(&stream->counts->connected, -1);
	(void)close(stream->watch.fd); /* which ends its watch */
	free(stream->rest);
	free(stream);
}
