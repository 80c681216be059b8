/* SPDX-License-Identifier: Apache-2.0 */
/* A real server on port 0 and raw clients, for the tests of what peers can do. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "net/server/http_server.h"

#define CLIENT_PATIENCE_MS 20000 /* a test fails after that, it never waits for that */
#define BIG_BODY           (4 << 20)
#define ROUTES             5
#define ECHO_MAX           1000

extern const char big_body[BIG_BODY];
extern unsigned releases; /* bodies that were given back since start() */
extern char hello[];
extern const struct http_route routes[ROUTES]; /* "/", "/big", "/later", "/healthz", "/echo" */

struct http_server *start(unsigned max_connections);
struct http_server *start_with(unsigned max_connections, struct http_auth *auth);
int dial(const struct http_server *server);
void say(int fd, const char *text);
ssize_t receive(int fd, char *buf, size_t size);
/* Everything until the server closes, terminated. */
size_t drain(int fd, char *buf, size_t size);
/* The answer to one request on a connection of its own; static. */
const char *exchange(const struct http_server *server, const char *request);
void assert_starts(const char *text, const char *with);
void assert_has(const char *text, const char *what);
void wait_for_connections(const struct http_server *server, uint64_t want);
