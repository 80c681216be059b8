// SPDX-License-Identifier: Apache-2.0
#include "meter/remote/remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "bmc/service_target.h"

#define TIMEOUT_MIN_MS 2000
#define TIMEOUT_MAX_MS 10000
#define DENIED_MAX_NS  (900 * NSEC_PER_SEC)

int remote_init(struct remote *remote, const struct remote_words *words, uint64_t period_ns)
{
	*remote = (struct remote){ .words = words, .period_ns = period_ns };
	(void)pthread_mutex_init(&remote->lock, NULL); /* cannot fail with default attributes */
	remote->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return remote->cancel_fd < 0 ? -errno : 0;
}

void remote_release(struct remote *remote)
{
	if (!remote->words)
		return;
	if (remote->cancel_fd >= 0)
		(void)close(remote->cancel_fd);
	(void)pthread_mutex_destroy(&remote->lock);
	remote->words = NULL;
}

uint64_t remote_timeout_ms(const struct remote *remote)
{
	uint64_t ms = remote->period_ns / NSEC_PER_MSEC;

	if (ms < TIMEOUT_MIN_MS)
		return TIMEOUT_MIN_MS;
	return ms > TIMEOUT_MAX_MS ? TIMEOUT_MAX_MS : ms;
}

static struct remote *remote_of(struct meter *meter)
{
	return (struct remote *)meter;
}

/* ---- what is shown ---- */

void remote_show_failure(struct remote *remote, const char *text)
{
	pthread_mutex_lock(&remote->lock);
	(void)snprintf(remote->shown.failure, sizeof(remote->shown.failure), "%.*s",
		       (int)sizeof(remote->shown.failure) - 1, text);
	remote->shown.has_answered |= !*text;
	pthread_mutex_unlock(&remote->lock);
}

static void show_note(struct remote *remote, const char *text, bool is_caveat)
{
	struct meter_remark *note = &remote->shown.note;

	pthread_mutex_lock(&remote->lock);
	(void)snprintf(note->what, sizeof(note->what), "%.*s", (int)sizeof(note->what) - 1, text);
	note->is_caveat = is_caveat;
	pthread_mutex_unlock(&remote->lock);
}

void remote_show_note(struct remote *remote, const char *text)
{
	show_note(remote, text, false);
}

void remote_show_caveat(struct remote *remote, const char *text)
{
	show_note(remote, text, true);
}

void remote_show_zone(struct remote *remote, const struct zone *zone, bool is_unverified)
{
	pthread_mutex_lock(&remote->lock);
	if (!remote->shown.count)
		remote->zone = *zone;
	remote->shown.count = 1;
	remote->shown.is_unverified = is_unverified;
	pthread_mutex_unlock(&remote->lock);
}

/* Called with the lock held. True if the service has neither answered nor failed so far. */
static bool is_silent(const struct remote *remote)
{
	return !remote->shown.failure[0] && remote->shown.count && !remote->shown.has_answered;
}

bool remote_remark(struct meter *meter, size_t index, struct meter_remark *ret)
{
	struct remote *remote = remote_of(meter);
	bool has_one = false;

	*ret = (struct meter_remark){ .what = "" };
	pthread_mutex_lock(&remote->lock);
	if (remote->shown.failure[0] && index-- == 0) {
		has_one = ret->is_failure = true;
		memcpy(ret->what, remote->shown.failure, sizeof(ret->what));
	} else if (is_silent(remote) && index-- == 0) {
		has_one = true;
		(void)snprintf(ret->what, sizeof(ret->what), "the %s %.128s has not responded yet",
			       remote->words->name, remote->zone.path);
	} else if (remote->shown.note.what[0] && index-- == 0) {
		has_one = true;
		*ret = remote->shown.note;
	} else if (remote->shown.is_unverified && index == 0) {
		has_one = true;
		(void)snprintf(ret->what, sizeof(ret->what),
			       "the certificate of the %s %.64s is not verified: anyone between "
			       "can read the password",
			       remote->words->name, remote->zone.path);
		(void)snprintf(ret->option, sizeof(ret->option), "%s instead of insecure",
			       remote->words->ca_option);
	}
	pthread_mutex_unlock(&remote->lock);
	return has_one;
}

size_t remote_zone_count(struct meter *meter)
{
	struct remote *remote = remote_of(meter);
	size_t count;

	pthread_mutex_lock(&remote->lock);
	count = remote->shown.count;
	pthread_mutex_unlock(&remote->lock);
	return count;
}

const struct zone *remote_zone_at(struct meter *meter, size_t index)
{
	(void)index;
	return &remote_of(meter)->zone;
}

uint64_t remote_period_ns(const struct meter *meter)
{
	return ((const struct remote *)meter)->period_ns;
}

/* ---- failures ---- */

static int zone_error(int r)
{
	switch (r) {
	case -EPERM:
	case -EACCES:
		return -EKEYREJECTED;
	case -ENOENT:
	case -EXDEV:
		return -ENODATA;
	default:
		return r;
	}
}

static void rest_after(struct remote *remote, int r, uint64_t wait_ns)
{
	if (r == -EPERM) {
		remote->denied_ns = remote->denied_ns ? remote->denied_ns * 2 : remote->period_ns;
		if (remote->denied_ns > DENIED_MAX_NS)
			remote->denied_ns = DENIED_MAX_NS;
		if (wait_ns < remote->denied_ns)
			wait_ns = remote->denied_ns;
	}
	remote->not_before_ns = wait_ns ? clock_ns(CLOCK_MONOTONIC) + wait_ns : 0;
}

int remote_fail(struct remote *remote, int r, uint64_t retry_after_ns, const struct diag *diag)
{
	if (r == -ECANCELED)
		return r;
	remote_show_failure(remote, diag->text[0] ? diag->text : strerrordesc_np(-r));
	rest_after(remote, r, retry_after_ns);
	remote->error = zone_error(r);
	return remote->error;
}

void remote_succeed(struct remote *remote)
{
	remote_show_failure(remote, "");
	remote->denied_ns = remote->not_before_ns = 0;
	remote->error = 0;
}

bool remote_rests(const struct remote *remote)
{
	return remote->not_before_ns > clock_ns(CLOCK_MONOTONIC);
}

bool remote_settings_changed(struct remote *remote, const char *path)
{
	const struct remote_stamp *old = &remote->stamp;
	struct remote_stamp now = { 0 };
	struct stat st;

	if (stat(path, &st) == 0)
		now = (struct remote_stamp){ st.st_ino, st.st_mtim };
	if (now.inode == old->inode && now.changed.tv_sec == old->changed.tv_sec &&
	    now.changed.tv_nsec == old->changed.tv_nsec)
		return false;
	remote->stamp = now;
	remote->not_before_ns = remote->denied_ns = 0;
	return true;
}

/* ---- the end ---- */

void remote_stop(struct meter *meter)
{
	(void)eventfd_write(remote_of(meter)->cancel_fd, 1);
}

void remote_begin_close(struct remote *remote)
{
	eventfd_t stopped;

	(void)eventfd_read(remote->cancel_fd, &stopped);
}

int remote_check_url(const char *text, struct diag *diag)
{
	return *text ? service_url_check(text, diag) : 0;
}
