// SPDX-License-Identifier: Apache-2.0
/*
 * A small array of slots (128 by default), walked as a whole: at that size a walk is cheaper than
 * any order that would have to be kept.
 */
#include "net/http_connections.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

int http_connections_init(struct http_connections *connections, unsigned max)
{
	*connections = (struct http_connections){ .max = max };
	connections->slots = calloc(max, sizeof(*connections->slots));
	if (!connections->slots)
		return -ENOMEM;
	for (unsigned i = 0; i < max; i++)
		connections->slots[i].fd = -1;
	(void)pthread_mutex_init(&connections->lock,
				 NULL); /* cannot fail with default attributes */
	return 0;
}

void http_connections_release(struct http_connections *connections)
{
	if (!connections->slots)
		return;
	free(connections->slots);
	connections->slots = NULL;
	(void)pthread_mutex_destroy(&connections->lock);
}

struct http_connection *http_connections_add(struct http_connections *connections, int fd,
					     uint64_t now_ns)
{
	struct http_connection *found = NULL;

	pthread_mutex_lock(&connections->lock);
	for (unsigned i = 0; i < connections->max && !found; i++) {
		if (connections->slots[i].fd < 0)
			found = &connections->slots[i];
	}
	if (found) {
		*found = (struct http_connection){ .fd = fd, .since_ns = now_ns };
		__atomic_fetch_add(&connections->used, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&connections->lock);
	return found;
}

void http_connections_remove(struct http_connections *connections,
			     struct http_connection *connection)
{
	pthread_mutex_lock(&connections->lock);
	connection->fd = -1;
	__atomic_fetch_sub(&connections->used, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&connections->lock);
}

void http_connections_set_answering(struct http_connections *connections,
				    struct http_connection *connection, bool answering,
				    uint64_t now_ns)
{
	pthread_mutex_lock(&connections->lock);
	connection->answering = answering;
	connection->since_ns = now_ns;
	pthread_mutex_unlock(&connections->lock);
}

unsigned http_connections_used(const struct http_connections *connections)
{
	return __atomic_load_n(&connections->used, __ATOMIC_RELAXED);
}

/*
 * Cuts every connection that has been at what it does for as long as its limit; a limit of 0
 * spares.
 */
static unsigned cut_overdue(struct http_connections *connections, uint64_t now_ns,
			    uint64_t request_limit_ns, uint64_t answer_limit_ns)
{
	const struct linger at_once = { .l_onoff = 1 };
	unsigned cut = 0;

	pthread_mutex_lock(&connections->lock);
	for (unsigned i = 0; i < connections->max; i++) {
		struct http_connection *connection = &connections->slots[i];
		uint64_t limit_ns = connection->answering ? answer_limit_ns : request_limit_ns;

		if (connection->fd < 0 || connection->cut || !limit_ns ||
		    now_ns < connection->since_ns || now_ns - connection->since_ns < limit_ns)
			continue;
		/*
		 * Closing then throws away what the peer has not read, megabytes of kernel memory.
		 */
		if (connection->answering)
			(void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once,
					 sizeof(at_once));
		(void)shutdown(connection->fd, SHUT_RDWR); /* fails only when the peer has gone */
		connection->cut = true;
		cut++;
	}
	pthread_mutex_unlock(&connections->lock);
	return cut;
}

unsigned http_connections_sweep(struct http_connections *connections, uint64_t now_ns)
{
	return cut_overdue(connections, now_ns, HTTP_REQUEST_DEADLINE_NS, HTTP_ANSWER_DEADLINE_NS);
}

unsigned http_connections_make_room(struct http_connections *connections, uint64_t now_ns)
{
	return cut_overdue(connections, now_ns, HTTP_PATIENCE_NS, 0);
}
