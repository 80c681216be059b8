// SPDX-License-Identifier: Apache-2.0
#include "export/send/receivers_page.h"

#include <math.h>

#include "base/macro.h"
#include "export/json_keys.h"

/* The reasons are those of kepler_exporter_send_dropped_samples_total. */
static const struct {
	const char *name;
	size_t offset;
} losses[] = {
	{ "refused", offsetof(struct send_receiver, refused) },
	{ "rejected", offsetof(struct send_receiver, rejected) },
	{ "full", offsetof(struct send_receiver, dropped_full) },
	{ "disk", offsetof(struct send_receiver, dropped_disk) },
	{ "old", offsetof(struct send_receiver, dropped_old) },
	{ "damaged", offsetof(struct send_receiver, dropped_damaged) },
	{ "replaced", offsetof(struct send_receiver, dropped_replaced) },
	{ "too_large", offsetof(struct send_receiver, dropped_large) },
};

#define LOAD(member) __atomic_load_n(&receiver->member, __ATOMIC_RELAXED)

static void add_count(struct strbuf *out, const char *key, uint64_t count)
{
	json_add_key(out, key);
	strbuf_addf(out, "%llu", (unsigned long long)count);
}

/* Seconds since @then_ms, null if that was never. */
static void add_age(struct strbuf *out, const char *key, int64_t then_ms, int64_t now_ms)
{
	json_add_number(out, key,
			then_ms ? fmax(0, (double)(now_ms - then_ms) / 1e3) : (double)NAN);
}

static void add_losses(struct strbuf *out, const struct send_receiver *receiver)
{
	json_add_key(out, "dropped");
	strbuf_add_char(out, '{');
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		add_count(out, losses[i].name,
			  __atomic_load_n((const uint64_t *)(const void *)((const char *)receiver +
									   losses[i].offset),
					  __ATOMIC_RELAXED));
	strbuf_add_char(out, '}');
}

static void add_receiver(struct strbuf *out, struct send_receiver *receiver, int64_t now_ms)
{
	struct send_words words;

	send_words_of(receiver, &words);
	json_begin_item(out);
	json_add_text(out, "receiver", receiver->receiver);
	json_add_text(out, "protocol", words.protocol);
	add_count(out, "accepted_samples", LOAD(sent));
	add_losses(out, receiver);
	add_count(out, "retries", LOAD(retries));
	add_count(out, "disk_errors", LOAD(disk_errors));
	add_count(out, "clock_steps", LOAD(clock_steps));
	add_count(out, "queue_bytes", LOAD(queue_bytes));
	add_age(out, "oldest_age_seconds", LOAD(oldest_ms), now_ms);
	add_age(out, "last_success_age_seconds", LOAD(last_success_ms), now_ms);
	add_count(out, "last_status", LOAD(last_status));
	json_add_text(out, "last_error", words.error);
	add_age(out, "last_error_age_seconds", words.error_ms, now_ms);
	strbuf_add_char(out, '}');
}

int receivers_page(struct send_board *board, int64_t now_ms, struct strbuf *out)
{
	size_t count = send_board_count(board);

	strbuf_add_str(out, "{\"receivers\":[");
	for (size_t i = 0; i < count; i++)
		add_receiver(out, &board->receivers[i], now_ms);
	strbuf_add_str(out, "]}\n");
	return strbuf_error(out);
}
