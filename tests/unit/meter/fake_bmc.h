/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel with a BMC, and a clock that goes on only during a wait. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/ipmi.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/macro.h"
#include "bmc/ipmi_device.h"

#define FAKE_ANSWERS_MAX 8

struct fake_answer {
	long id; /* 0: of the request */
	uint8_t function;
	uint64_t delay_ns;
	int recv_type;   /* 0: a response */
	uint8_t command; /* 0: of the request */
	size_t len;
	uint8_t data[80];
};

static struct {
	uint64_t now_ns;
	int open_error, send_error;
	bool is_cancelled;
	struct fake_answer next;                    /* to the next request; of length 0: none */
	struct fake_answer queue[FAKE_ANSWERS_MAX]; /* delay_ns: when it is there */
	size_t queued, opened, sent;
	uint64_t sent_ns[FAKE_ANSWERS_MAX];
	uint8_t request[8];
	/* Sensors: their records, the reading of each by its number, and requests to them. */
	const uint8_t (*records)[64];
	size_t record_count, asked;
	uint8_t reading[256], state;
	bool is_silent[256]; /* by number: its reading is not available */
	uint8_t states[256];
	bool has_reservation;
} bmc;

static int fake_open(const char *path)
{
	(void)path;
	if (bmc.open_error)
		return bmc.open_error;
	bmc.opened++;
	bmc.queued = 0;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Answers of a BMC with sensors to requests about them. */
static struct fake_answer fake_sensors(const struct ipmi_msg *request)
{
	const uint8_t *data = request->data;
	struct fake_answer answer = { .len = 4 };
	size_t record = data[2], count = data[5];

	bmc.asked++;
	if (request->cmd == 0x2D) {
		answer.data[1] = bmc.reading[data[0]];
		answer.data[2] = bmc.is_silent[data[0]] ? 0xE0 : bmc.state;
		answer.data[3] = bmc.states[data[0]];
	} else if (request->cmd == 0x22) {
		bmc.has_reservation = true;
		answer.data[1] = 7;
	} else if (!bmc.has_reservation || data[0] != 7) {
		answer = (struct fake_answer){ .len = 1, .data = { 0xC5 } };
	} else if (record >= bmc.record_count || data[4] + count > 5U + bmc.records[record][4]) {
		answer = (struct fake_answer){ .len = 1, .data = { 0xC9 } };
	} else {
		answer.len = 3 + count;
		answer.data[1] = (uint8_t)(record + 1);
		if (record + 1 == bmc.record_count)
			answer.data[1] = answer.data[2] = 0xFF;
		memcpy(answer.data + 3, bmc.records[record] + data[4], count);
	}
	return answer;
}

static int fake_send(const struct ipmi_req *request)
{
	struct fake_answer *answer = &bmc.queue[bmc.queued % FAKE_ANSWERS_MAX];

	if (bmc.send_error)
		return bmc.send_error;
	bmc.sent_ns[bmc.sent++ % FAKE_ANSWERS_MAX] = bmc.now_ns;
	memcpy(bmc.request, request->msg.data, request->msg.data_len);
	if (bmc.records && request->msg.netfn != 0x2C)
		*answer = fake_sensors(&request->msg);
	else if (bmc.next.len)
		*answer = bmc.next;
	else
		return 0;
	answer->function = request->msg.netfn | 1;
	answer->delay_ns += bmc.now_ns;
	answer->id = answer->id ? answer->id : request->msgid;
	answer->command = answer->command ? answer->command : request->msg.cmd;
	answer->recv_type = answer->recv_type ? answer->recv_type : IPMI_RESPONSE_RECV_TYPE;
	bmc.queued++;
	return 0;
}

static int fake_receive(struct ipmi_recv *message)
{
	struct fake_answer answer = bmc.queue[0];
	size_t room = message->msg.data_len;

	if (!bmc.queued || answer.delay_ns > bmc.now_ns)
		return -EAGAIN;
	bmc.queued--;
	memmove(bmc.queue, bmc.queue + 1, sizeof(bmc.queue) - sizeof(bmc.queue[0]));
	message->recv_type = answer.recv_type;
	message->msgid = answer.id;
	message->msg.netfn = answer.function;
	message->msg.cmd = answer.command;
	message->msg.data_len = (unsigned short)(answer.len < room ? answer.len : room);
	memcpy(message->msg.data, answer.data, message->msg.data_len);
	return answer.len > room ? -EMSGSIZE : 0;
}

static int fake_control(int fd, unsigned long request, void *argument)
{
	(void)fd;
	return request == IPMICTL_SEND_COMMAND ? fake_send(argument) : fake_receive(argument);
}

static int fake_wait(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	uint64_t end_ns = bmc.now_ns + (uint64_t)timeout_ms * 1000000;

	fds[0].revents = bmc.is_cancelled ? POLLIN : 0;
	if (bmc.is_cancelled)
		return 1;
	if (count == 2 && bmc.queued && bmc.queue[0].delay_ns <= end_ns) {
		if (bmc.now_ns < bmc.queue[0].delay_ns)
			bmc.now_ns = bmc.queue[0].delay_ns;
		fds[1].revents = POLLIN;
		return 1;
	}
	bmc.now_ns = end_ns;
	return 0;
}

static uint64_t fake_now_ns(void)
{
	return bmc.now_ns;
}

static const struct ipmi_system fake_system = { fake_open, fake_control, fake_wait, fake_now_ns };

/* An answer to Get Power Reading, as recorded: 411 W, 300 to 500 W, 400 W in 1 s, active. */
static inline void fake_power(uint16_t watts)
{
	static const uint8_t recorded[] = { 0x00, 0xDC, 0x9B, 0x01, 0x2C, 0x01, 0xF4,
					    0x01, 0x90, 0x01, 0x15, 0xCD, 0x5B, 0x07,
					    0xE8, 0x03, 0x00, 0x00, 0x40 };

	bmc.next = (struct fake_answer){ .len = sizeof(recorded) };
	memcpy(bmc.next.data, recorded, sizeof(recorded));
	bmc.next.data[2] = (uint8_t)watts;
	bmc.next.data[3] = (uint8_t)(watts >> 8);
}

static inline void fake_completion(uint8_t code)
{
	bmc.next = (struct fake_answer){ .len = 1, .data = { code } };
}

static inline void fake_reset(void)
{
	memset(&bmc, 0, sizeof(bmc));
	bmc.now_ns = 1000000000;
}
