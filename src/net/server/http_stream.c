// SPDX-License-Identifier: Apache-2.0
/*
 * libmicrohttpd asks for bytes while its socket takes some. With nothing to send, the connection is
 * suspended within that question, as the library wants it, and resumed for the next piece or the
 * end.
 *
 * On a Unix socket without TLS that is not needed: what fits into its buffer is sent whole or not
 * at all, so a small piece is sent from here, as the chunk that it would be (RFC 9112 §7.1), and
 * the connection stays suspended. That takes half as long.
 */
#include "net/server/http_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/clock.h"

#define BLOCK      65536 /* more than the library asks for at a time */
#define DIRECT_MAX 32768 /* bytes that a Unix socket takes as one */

struct stream {
	struct http_response response;
	struct http_connections *connections;
	struct http_connection *connection;
	struct MHD_Connection *mhd;
	const char *piece;
	size_t len, at; /* of it; bytes that have been handed over */
	bool is_direct; /* pieces can be sent without the library */
	uint64_t direct_bytes;
	uint64_t end_ns; /* 0: it has ended */
};

/* As http_handler.h has it for next(). */
static ssize_t begin_piece(struct stream *stream)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	const void *piece;
	ssize_t len = -1;

	if (now_ns < stream->end_ns)
		len = stream->response.next(stream->response.owner, &piece);
	if (len < 0)
		stream->end_ns = 0;
	if (len <= 0)
		return len;
	stream->piece = piece;
	stream->len = (size_t)len;
	stream->at = 0;
	http_connections_begin_piece(stream->connections, stream->connection, stream->len, now_ns);
	return len;
}

static void park(struct stream *stream)
{
	http_connections_park(stream->connections, stream->connection, stream, stream->end_ns);
}

static ssize_t read_stream(void *cls, uint64_t position, char *buf, size_t max)
{
	struct stream *stream = cls;
	size_t len;

	__atomic_store_n(&stream->connection->handed_bytes,
			 stream->connection->sent_bytes + position + stream->direct_bytes,
			 __ATOMIC_RELAXED);
	if (stream->at == stream->len) {
		ssize_t piece = begin_piece(stream);

		if (piece < 0)
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (piece == 0) {
			park(stream);
			MHD_suspend_connection(stream->mhd);
			return 0;
		}
	}
	len = stream->len - stream->at < max ? stream->len - stream->at : max;
	memcpy(buf, stream->piece + stream->at, len);
	stream->at += len;
	return (ssize_t)len;
}

static void drop_owner(const struct http_response *response)
{
	if (response->release)
		response->release(response->owner);
}

static void release_stream(void *cls)
{
	struct stream *stream = cls;

	drop_owner(&stream->response);
	free(stream);
}

static bool has_tls(struct MHD_Connection *mhd)
{
	return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
}

bool http_stream_wrap(struct http_connections *connections, struct http_connection *connection,
		      struct MHD_Connection *mhd, const struct http_response *response,
		      struct MHD_Response **ret)
{
	struct stream *stream;

	if (!http_connections_begin_stream(connections, connection))
		return false;
	*ret = NULL;
	stream = malloc(sizeof(*stream));
	if (stream) {
		*stream = (struct stream){
			.response = *response,
			.connections = connections,
			.connection = connection,
			.mhd = mhd,
			.piece = response->body,
			.len = response->len,
			.is_direct = connection->local && !has_tls(mhd),
			.end_ns = clock_ns(CLOCK_MONOTONIC) + response->stream_ns,
		};
		*ret = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream,
							 stream, release_stream);
	}
	if (!*ret) {
		drop_owner(response);
		free(stream);
	}
	return true;
}

/*
 * False: the library is to send it, or to find out why it cannot be sent. Where a system's buffers
 * are so small that a part was sent, what follows would be read as a part of the chunk.
 */
static bool send_chunk(struct stream *stream)
{
	char size[16], end[] = "\r\n";
	struct iovec parts[] = { { .iov_base = size },
				 { (void *)(uintptr_t)stream->piece, stream->len },
				 { end, 2 } };
	const struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };
	ssize_t sent;

	if (stream->len > DIRECT_MAX)
		return false;
	parts[0].iov_len = (size_t)snprintf(size, sizeof(size), "%zx\r\n", stream->len);
	sent = sendmsg(stream->connection->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent <= 0)
		return false;
	if ((size_t)sent < parts[0].iov_len + stream->len + parts[2].iov_len) {
		(void)shutdown(stream->connection->fd, SHUT_RDWR);
		return false;
	}
	stream->at = stream->len;
	stream->direct_bytes += stream->len;
	return true;
}

/* True: it needs the library for nothing, and is parked again. */
static bool goes_on(struct stream *stream)
{
	ssize_t len = stream->is_direct ? begin_piece(stream) : -1;

	if (len < 0 || (len > 0 && !send_chunk(stream)))
		return false;
	park(stream);
	return true;
}

unsigned http_stream_resume(struct http_connections *connections, uint64_t now_ns)
{
	struct stream *stream;
	unsigned from = 0, count = 0;

	while ((stream = http_connections_take_parked(connections, now_ns, &from))) {
		if (!now_ns && goes_on(stream))
			continue;
		MHD_resume_connection(stream->mhd);
		count++;
	}
	return count;
}
