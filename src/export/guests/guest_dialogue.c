// SPDX-License-Identifier: Apache-2.0
#include "export/guests/guest_dialogue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macro.h"
#include "passthrough/passthrough_xml.h"

static bool has_answer(const struct guest_dialogue *dialogue)
{
	return dialogue->sent < dialogue->answer.len;
}

static bool may_read(const struct guest_dialogue *dialogue)
{
	return !has_answer(dialogue) && dialogue->answers_left && dialogue->input_left;
}

static void wait_for(struct guest_dialogue *dialogue)
{
	struct epoll_event event = { .events = (has_answer(dialogue) ? EPOLLOUT : 0) |
					       (may_read(dialogue) ? EPOLLIN : 0),
				     .data.ptr = &dialogue->watch };

	if (event.events == dialogue->events)
		return;
	dialogue->events = event.events;
	(void)epoll_ctl(dialogue->epoll_fd, EPOLL_CTL_MOD, dialogue->watch.fd, &event);
}

static bool is_transient(int error)
{
	return error == EAGAIN || error == EINTR || error == ENOBUFS;
}

/* False: the connection has ended. */
static bool flush(struct guest_dialogue *dialogue)
{
	while (has_answer(dialogue)) {
		ssize_t n =
			send(dialogue->watch.fd, dialogue->answer.data + dialogue->sent,
			     dialogue->answer.len - dialogue->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return is_transient(errno);
		dialogue->sent += (size_t)n;
		if (!has_answer(dialogue))
			guest_count(&dialogue->counts->records, 1);
	}
	strbuf_release(&dialogue->answer);
	dialogue->sent = 0;
	return true;
}

static void answer(struct guest_dialogue *dialogue)
{
	struct passthrough_record record;
	bool has_record =
		passthrough_record_read(dialogue->guest->record, dialogue->guest->record_size,
					&record) == PASSTHROUGH_OK;

	dialogue->answers_left--;
	passthrough_xml_write(has_record ? &record : NULL, &dialogue->answer);
	strbuf_add_char(&dialogue->answer, '\n');
	if (strbuf_error(&dialogue->answer) < 0)
		strbuf_release(&dialogue->answer); /* the guest asks again */
}

static bool is_request(const struct guest_dialogue *dialogue)
{
	size_t len = dialogue->line_len, request = strlen(GUEST_REQUEST);

	if (len == request + 1 && dialogue->line[request] == '\r')
		len--;
	return len == request && memcmp(dialogue->line, GUEST_REQUEST, request) == 0;
}

static void end_line(struct guest_dialogue *dialogue)
{
	if (is_request(dialogue))
		answer(dialogue);
	else if (dialogue->line_len > 1 || (dialogue->line_len == 1 && dialogue->line[0] != '\r'))
		guest_count(&dialogue->counts->ignored, 1);
	dialogue->line_len = 0;
}

/* Up to the next request. */
static void take_input(struct guest_dialogue *dialogue)
{
	while (dialogue->input_at < dialogue->input_len && !has_answer(dialogue)) {
		char c = dialogue->input[dialogue->input_at++];

		if (c == '\n') {
			end_line(dialogue);
			continue;
		}
		if (dialogue->line_len < sizeof(dialogue->line))
			dialogue->line[dialogue->line_len] = c;
		dialogue->line_len++;
	}
}

/* False: the connection has ended. @ret: more has come. */
static bool read_input(struct guest_dialogue *dialogue, bool *ret)
{
	ssize_t n = recv(dialogue->watch.fd, dialogue->input,
			 MIN(sizeof(dialogue->input), dialogue->input_left), MSG_DONTWAIT);

	*ret = n > 0;
	if (n <= 0)
		return n < 0 && is_transient(errno);
	dialogue->input_left -= (uint32_t)n;
	dialogue->input_at = 0;
	dialogue->input_len = (size_t)n;
	return true;
}

static bool advance(struct guest_dialogue *dialogue)
{
	bool goes_on = true, has_more = true;

	while (goes_on && has_more) {
		goes_on = flush(dialogue);
		has_more = goes_on && may_read(dialogue);
		if (!has_more)
			break;
		if (dialogue->input_at == dialogue->input_len)
			goes_on = read_input(dialogue, &has_more);
		if (goes_on)
			take_input(dialogue);
	}
	if (goes_on)
		wait_for(dialogue);
	else
		guest_dialogue_close(dialogue);
	return goes_on;
}

bool guest_dialogue_begin(struct guest_dialogue *dialogue)
{
	dialogue->input_left = GUEST_INPUT_MAX;
	dialogue->answers_left = GUEST_ANSWERS;
	return advance(dialogue);
}

bool guest_dialogue_handle(struct guest_dialogue *dialogue, uint32_t events)
{
	if (events & (EPOLLERR | EPOLLHUP)) {
		guest_dialogue_close(dialogue);
		return false;
	}
	return advance(dialogue);
}

struct guest_dialogue *guest_dialogue_open(int epoll_fd, int fd, struct guest *guest,
					   struct guest_counts *counts)
{
	struct guest_dialogue *dialogue = calloc(1, sizeof(*dialogue));

	if (!dialogue) {
		(void)close(fd);
		return NULL;
	}
	*dialogue = (struct guest_dialogue){
		.watch = { GUEST_WATCH_DIALOGUE, fd },
		.guest = guest,
		.counts = counts,
		.epoll_fd = epoll_fd,
		.events = EPOLLIN,
		.input_left = GUEST_INPUT_MAX,
		.answers_left = GUEST_ANSWERS,
	};
	if (guest_watch_add(epoll_fd, &dialogue->watch, dialogue->events) < 0) {
		(void)close(fd);
		free(dialogue);
		return NULL;
	}
	guest->dialogue = dialogue;
	guest_count(&counts->connected, 1);
	return dialogue;
}

void guest_dialogue_close(struct guest_dialogue *dialogue)
{
	dialogue->guest->dialogue = NULL;
	guest_count(&dialogue->counts->connected, -1);
	(void)close(dialogue->watch.fd); /* which ends its watch */
	strbuf_release(&dialogue->answer);
	free(dialogue);
}
