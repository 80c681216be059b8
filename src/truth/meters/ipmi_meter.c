// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/ipmi_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ipmi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/timed_call.h"
#include "truth/meter_list.h"
#include "truth/meters/dcmi_answer.h"

#define PERIOD_S       0.99 /* a second, and a step that was a little early */
#define ANSWER_MS      (TIMED_CALL_LIMIT_MS - 200) /* before the call's deadline, to go on */
#define ANSWER_MAX     64
#define NETFN_GROUP    0x2c
#define POWER_READING  0x02
#define GROUP_DCMI     0xdc
#define MODE_STATISTIC 0x01

/* The state of the process that asks. */
struct source {
	char path[TRUTH_PATH_MAX];
	long request; /* the number of the last one */
	int fd;
};

/* The state of the meter. */
struct ipmi_state {
	struct timed_call *call;
	double asked_s;
	bool was_asked;
};

static int send_request(int fd, long number)
{
	struct ipmi_system_interface_addr address = {
		.addr_type = IPMI_SYSTEM_INTERFACE_ADDR_TYPE,
		.channel = IPMI_BMC_CHANNEL,
	};
	unsigned char data[] = { GROUP_DCMI, MODE_STATISTIC, 0, 0 };
	struct ipmi_req request = {
		.addr = (unsigned char *)&address,
		.addr_len = sizeof(address),
		.msgid = number,
		.msg = { .netfn = NETFN_GROUP,
			 .cmd = POWER_READING,
			 .data_len = sizeof(data),
			 .data = data },
	};

	return ioctl(fd, IPMICTL_SEND_COMMAND, &request) < 0 ? -errno : 0;
}

/* A message that has come. Its length, -EAGAIN for one of another request, or -errno. */
static int receive(int fd, long number, unsigned char *data)
{
	struct ipmi_system_interface_addr address;
	struct ipmi_recv message = {
		.addr = (unsigned char *)&address,
		.addr_len = sizeof(address),
		.msg = { .data = data, .data_len = ANSWER_MAX },
	};

	/* A message that is too long is cut, and is an answer all the same. */
	if (ioctl(fd, IPMICTL_RECEIVE_MSG_TRUNC, &message) < 0 && errno != EMSGSIZE)
		return -errno;
	if (message.recv_type != IPMI_RESPONSE_RECV_TYPE || message.msgid != number)
		return -EAGAIN;
	return message.msg.data_len < ANSWER_MAX ? message.msg.data_len : ANSWER_MAX;
}

static int await(int fd, long number, unsigned char *data)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + ANSWER_MS * NSEC_PER_MSEC;
	uint64_t now_ns;
	int r = -EAGAIN;

	while (r == -EAGAIN && (now_ns = clock_ns(CLOCK_MONOTONIC)) < end_ns) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };

		r = poll(&ready, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1);
		if (r > 0)
			r = receive(fd, number, data);
		else
			r = r == 0 ? -ETIMEDOUT : errno == EINTR ? -EAGAIN : -errno;
	}
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

/* A timed_call_fn: a struct source as @state, the message's data as @ret. */
static ssize_t ask(void *state, void *ret)
{
	struct source *source = state;

	if (source->fd < 0)
		source->fd = open(source->path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (source->fd < 0)
		return -errno;
	int r = send_request(source->fd, ++source->request);
	return r < 0 ? r : await(source->fd, source->request, ret);
}

static int read_power(struct truth_meter *meter, double now_s, struct truth_value *ret,
		      struct diag *diag)
{
	struct ipmi_state *state = meter->state;
	unsigned char data[ANSWER_MAX];

	if (state->was_asked && now_s - state->asked_s < PERIOD_S)
		return 1;
	state->was_asked = true;
	state->asked_s = now_s;
	ssize_t len = timed_call_make(state->call, data, sizeof(data));
	if (len < 0)
		return diag_set(diag, (int)len, "%s: the controller gave no answer: %s",
				meter->path, timed_call_error((int)len));
	return dcmi_answer_watts(data, (size_t)len, &ret->power, diag);
}

static void release_state(void *state)
{
	struct ipmi_state *ipmi = state;

	timed_call_free(ipmi->call);
	free(ipmi);
}

void truth_search_ipmi(const char *devices, struct truth *truth)
{
	struct source source = { .fd = -1 };
	struct ipmi_state *state = calloc(1, sizeof(*state));
	struct truth_meter like = {
		.read = read_power,
		.is_power = true,
		.unit = 1,
		.state = state,
		.release = release_state,
	};
	struct truth_value value;

	if (!state || path_join(source.path, sizeof(source.path), devices, "ipmi0") < 0 ||
	    timed_call_new(ask, &source, &state->call) < 0) {
		free(state);
		return;
	}
	(void)snprintf(like.path, sizeof(like.path), "%s", source.path);
	/* Many controllers do not have the command. */
	int r = read_power(&like, 0, &value, &truth->failure);
	if (r == -ETIMEDOUT)
		truth_search_failed(truth, source.path, r);
	if (r != 0) {
		truth_meter_release(&like);
		return;
	}
	state->was_asked = false;
	truth_add_meter(truth, "platform", source.path, &like);
}
