// SPDX-License-Identifier: Apache-2.0
#include "modelling/daemon.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "service/notify.h"
#include "service/signals.h"

#define TEXT_TYPE "text/plain; charset=utf-8"

static bool wait_for_signal(const struct daemon *daemon, void *userdata, int signal_fd)
{
	struct pollfd waits = { .fd = signal_fd, .events = POLLIN };

	if (daemon->wait)
		return daemon->wait(userdata, signal_fd);
	return poll(&waits, 1, daemon->turn_ms) > 0;
}

static void take_turns(const struct daemon *daemon, void *userdata, int signal_fd)
{
	struct notify *notify = notify_open();
	unsigned wishes = 0;

	notify_ready(notify, NULL);
	while (!(wishes & SIGNAL_STOP)) {
		bool reload;
		uint64_t now_ns;

		wishes = wait_for_signal(daemon, userdata, signal_fd) ? signals_take(signal_fd) : 0;
		reload = wishes & SIGNAL_RELOAD;
		now_ns = clock_ns(CLOCK_MONOTONIC);
		notify_watchdog(notify, now_ns);
		if (reload)
			notify_reloading(notify, now_ns);
		daemon->turn(userdata, now_ns, reload);
		if (reload)
			notify_ready(notify, NULL);
	}
	notify_stopping(notify);
	notify_close(notify);
}

int daemon_run(const struct daemon *daemon, void *userdata, struct diag *diag)
{
	int signal_fd, r = security_enter(daemon->security, diag);

	if (r < 0)
		return r;
	signal_fd = signals_open();
	if (signal_fd < 0)
		return diag_set(diag, signal_fd, "cannot receive signals: %s",
				strerrordesc_np(-signal_fd));
	r = daemon->start(userdata, diag);
	if (r == 0)
		take_turns(daemon, userdata, signal_fd);
	daemon->stop(userdata);
	(void)close(signal_fd);
	return r;
}

void daemon_answer_text(struct http_response *response, int status, const char *text)
{
	*response = (struct http_response){
		.status = status, .content_type = TEXT_TYPE, .body = text, .len = strlen(text)
	};
}

void daemon_answer_page(struct http_response *response, int status, const char *type,
			struct strbuf *page)
{
	if (strbuf_error(page) < 0) {
		strbuf_release(page);
		daemon_answer_text(response, 503, "503: out of memory\n");
		return;
	}
	*response = (struct http_response){ .status = status,
					    .content_type = type ? type : TEXT_TYPE,
					    .body = page->data,
					    .len = page->len,
					    .release = free,
					    .owner = page->data };
}

void daemon_handle_healthz(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	(void)userdata;
	(void)request;
	daemon_answer_text(response, 200, "ok\n");
}
