/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of the sources that query a service over a network, with a password: the one
 * zone, the reason why there is no value, and when to ask again.
 *
 * A service that does not answer is asked again in the next period, one that asks to be left alone
 * after the time that it names, and one that refuses the password more and more seldom, because it
 * may lock the account; at once when the file with the password has changed.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/diag.h"
#include "meter/meter.h"

#define REMOTE_END_MS   1500                    /* for the end of a session */
#define REMOTE_CLOSE_NS (2000 * 1000 * 1000ULL) /* meter_ops.close_ns: with that and the rest */

/* The words of messages; all static. */
struct remote_words {
	const char *name;      /* "BMC" */
	const char *ca_option; /* what verifies its certificate: "--meter.redfish.ca-file=FILE" */
};

/* Shows if the file with the password has changed. */
struct remote_stamp {
	ino_t inode;
	struct timespec changed;
};

struct remote {
	const struct remote_words *words;
	uint64_t period_ns;
	int cancel_fd; /* readable: what is under way ends */
	/* Members of the poller's thread: */
	struct remote_stamp stamp;
	uint64_t denied_ns;     /* the last wait after a refusal; 0: none */
	uint64_t not_before_ns; /* MONOTONIC; 0: at any time */
	int error;              /* of the last attempt */
	struct zone zone;       /* fixed once it is counted */
	pthread_mutex_t lock;   /* of what follows */
	struct {
		size_t count;
		bool is_unverified, has_answered;
		char failure[sizeof(((struct meter_remark *)NULL)->what)];
		struct meter_remark note; /* what there is to say of its value; "": nothing */
	} shown;
};

/* 0, or -errno; released either way. */
int remote_init(struct remote *remote, const struct remote_words *words, uint64_t period_ns);
/* @remote may also be all zero. */
void remote_release(struct remote *remote);
/* The deadline of one request: a period, 2 s to 10 s. */
uint64_t remote_timeout_ms(const struct remote *remote);

/* ---- on the poller's thread ---- */

/*
 * True if the file with the password at @path is another one than at the last call that said so,
 * or the first. Then the service is asked at once.
 */
bool remote_settings_changed(struct remote *remote, const char *path);
/* True if the service is to be left alone now: remote->error stands. */
bool remote_rests(const struct remote *remote);
/*
 * An attempt has failed with @r, and the service asked to be left alone for @retry_after_ns (0: it
 * did not). The error of the zone: none that would mean that it is gone (-ENOENT, -ENODEV), or that
 * Kepler has no right (-EPERM, -EACCES).
 */
int remote_fail(struct remote *remote, int r, uint64_t retry_after_ns, const struct diag *diag);
void remote_succeed(struct remote *remote);
/* The zone is @zone from now on, if there was none. @is_unverified: the service's certificate. */
void remote_show_zone(struct remote *remote, const struct zone *zone, bool is_unverified);
void remote_show_failure(struct remote *remote, const char *text);
/* A note about the value for people; "": nothing. */
void remote_show_note(struct remote *remote, const char *text);
/* The same, but the value counts in spite of it. */
void remote_show_caveat(struct remote *remote, const char *text);

/*
 * ---- on any thread: for the struct meter_ops of a source ----
 *
 * The source's struct meter begins with its struct remote.
 */

size_t remote_zone_count(struct meter *meter);
const struct zone *remote_zone_at(struct meter *meter, size_t index);
bool remote_remark(struct meter *meter, size_t index, struct meter_remark *ret);
uint64_t remote_period_ns(const struct meter *meter);
void remote_stop(struct meter *meter);
/* To be called before a session is ended, which a stop before must not prevent. */
void remote_begin_close(struct remote *remote);

/* Checks an option with the URL of such a service; "" (no service) is valid. */
int remote_check_url(const char *text, struct diag *diag);
