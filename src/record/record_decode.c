// SPDX-License-Identifier: Apache-2.0
/*
 * A record is decoded with a cursor whose first fault ends it (record_cursor.h), so that it is
 * checked once, after all of it was read. Its lists and texts stay in the decoder's own memory,
 * which the next record reuses.
 */
#include "record/record_decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record_cursor.h"
#include "record/record_format.h"
#include "record/record_interval.h"

#define TEXTS_MAX (LABEL_KEY_COUNT + 2 * OWNER_EXTRA_MAX + 4)

struct record_decoder {
	/* Texts of the record that was decoded last, terminated. */
	char text[TEXTS_MAX][RECORD_TEXT_MAX + 1];
	size_t texts;
	struct label extra[OWNER_EXTRA_MAX];
	struct interval_lists lists;
};

int record_decoder_new(struct record_decoder **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void record_decoder_free(struct record_decoder *decoder)
{
	if (!decoder)
		return;
	interval_lists_release(&decoder->lists);
	free(decoder);
}

static const char *keep_text(struct record_decoder *decoder, struct record_cursor *from)
{
	char *text;

	if (decoder->texts == TEXTS_MAX) {
		record_fail(from, "too many texts");
		return "";
	}
	text = decoder->text[decoder->texts++];
	record_take_text(from, text, RECORD_TEXT_MAX + 1);
	return text;
}

static void decode_pair(struct record_decoder *decoder, struct record_cursor *from,
			struct recorded_pair *ret)
{
	ret->name = keep_text(decoder, from);
	ret->value = keep_text(decoder, from);
}

static enum zone_kind take_kind(struct record_cursor *from)
{
	char name[32];

	record_take_text(from, name, sizeof(name));
	for (enum zone_kind kind = 0; kind < ZONE_KIND_COUNT; kind++) {
		if (strcmp(zone_kind_name(kind), name) == 0)
			return kind;
	}
	record_fail(from, "an unknown kind of zone");
	return ZONE_PACKAGE;
}

static void decode_zone(struct record_cursor *from, struct recorded_zone *ret)
{
	struct zone *zone = &ret->zone;
	uint32_t flags;

	memset(ret, 0, sizeof(*ret));
	ret->index = record_take_zone(from);
	zone->kind = take_kind(from);
	record_take_text(from, zone->instance, sizeof(zone->instance));
	zone->domain.kind = record_take_up_to(from, DOMAIN_PARTS, "an unknown domain");
	zone->domain.number = record_take_up_to(
		from, zone->domain.kind == DOMAIN_DEVICE ? DEVICES_MAX - 1 : UINT32_MAX,
		"a device beyond the 128th");
	flags = record_take_up_to(from, UINT32_MAX, "unknown flags");
	zone->quality = flags & ZONE_FLAG_ESTIMATED ? QUALITY_ESTIMATED : QUALITY_MEASURED;
	zone->scope = flags & ZONE_FLAG_VM_DYNAMIC ? SCOPE_VM_DYNAMIC : SCOPE_NODE;
	zone->knows_idle = flags & ZONE_FLAG_KNOWS_IDLE;
	zone->is_remote = flags & ZONE_FLAG_REMOTE;
	zone->is_unverified = flags & ZONE_FLAG_UNVERIFIED;
	zone->has_gpus = flags & ZONE_FLAG_HAS_GPUS;
	zone->rank = (uint8_t)record_take_up_to(from, UINT8_MAX, "a rank beyond 255");
	record_take_text(from, ret->source, sizeof(ret->source));
	record_take_text(from, zone->path, sizeof(zone->path));
	ret->found_ms = record_take_signed(from);
	zone->source = ret->source;
}

static void decode_idle(struct record_decoder *decoder, struct record_cursor *from,
			struct recorded_idle *ret)
{
	ret->zone = record_take_zone(from);
	ret->line = keep_text(decoder, from);
}

static void decode_name(struct record_decoder *decoder, struct record_cursor *from,
			struct owner_names *names)
{
	size_t kept = decoder->texts;
	const char *name = keep_text(decoder, from);
	const char *text = keep_text(decoder, from);

	for (enum label_key key = 0; key < LABEL_KEY_COUNT; key++) {
		if (strcmp(label_info[key].name, name) != 0)
			continue;
		if (names->text[key])
			break; /* the second one of a key: ignored, as unknown ones are */
		names->text[key] = text;
		return;
	}
	decoder->texts = kept;
}

static void decode_owner(struct record_decoder *decoder, struct record_cursor *from,
			 struct recorded_owner *ret)
{
	uint32_t flags;
	size_t count;

	memset(ret, 0, sizeof(*ret));
	ret->id = record_take_id(from);
	flags = record_take_up_to(from, UINT32_MAX, "unknown flags");
	ret->waiting = flags & OWNER_FLAG_WAITING;
	ret->has_pod_names = flags & OWNER_FLAG_POD_NAMES;
	ret->is_other = flags & OWNER_FLAG_OTHER;
	ret->size_millicpu = record_take_up_to(from, UINT32_MAX, "a request of too many CPUs");
	count = record_take_count(from);
	for (size_t i = 0; i < count && !from->wrong; i++)
		decode_name(decoder, from, &ret->names);
	count = record_take_up_to(from, OWNER_EXTRA_MAX, "too many labels");
	for (size_t i = 0; i < count; i++) {
		decoder->extra[i].name = keep_text(decoder, from);
		decoder->extra[i].value = keep_text(decoder, from);
	}
	ret->names.extra = decoder->extra;
	ret->names.extra_count = count;
	if (!ret->names.text[LABEL_CONTAINER_ID] && !ret->is_other)
		record_fail(from, "an owner without a container_id");
}

static void decode_process(struct record_cursor *from, struct recorded_process *ret)
{
	ret->id = record_take_id(from);
	ret->pid = record_take_up_to(from, UINT32_MAX, "a pid beyond 32 bits");
	ret->start_ns = record_take_varint(from);
	record_take_text(from, ret->comm, sizeof(ret->comm));
	ret->owner = record_take_id(from);
}

static void decode_state(struct record_cursor *from, struct recorded_state *ret)
{
	uint32_t flags;

	ret->zone = record_take_zone(from);
	flags = record_take_up_to(from, UINT32_MAX, "unknown flags");
	ret->progress.has_span = flags & STATE_FLAG_SPAN;
	ret->progress.late = flags & STATE_FLAG_LATE;
	ret->progress.has_begun = flags & STATE_FLAG_BEGUN;
	ret->progress.held = flags & STATE_FLAG_HELD;
	ret->progress.was_read = flags & STATE_FLAG_READ;
	ret->progress.is_due = flags & STATE_FLAG_DUE;
	ret->progress.is_ready = flags & STATE_FLAG_READY;
	ret->progress.rank_begun = flags & STATE_FLAG_RANK_BEGUN;
	ret->progress.standing = record_take_up_to(from, STANDING_ENDED, "an unknown standing");
	ret->progress.count_from_ns = record_take_varint(from);
	ret->progress.split_from_ns = record_take_varint(from);
}

static void decode_end(struct record_cursor *from, struct recorded_end *ret)
{
	ret->intervals = record_take_varint(from);
	ret->lost = record_take_varint(from);
}

static void decode_body(struct record_decoder *decoder, struct record_cursor *from,
			struct record *ret)
{
	decoder->texts = 0;
	switch (ret->type) {
	case RECORD_FACT:
	case RECORD_OPTION:
		decode_pair(decoder, from, &ret->pair);
		break;
	case RECORD_ZONE:
		decode_zone(from, &ret->zone);
		break;
	case RECORD_IDLE:
		decode_idle(decoder, from, &ret->idle);
		break;
	case RECORD_OWNER:
		decode_owner(decoder, from, &ret->owner);
		break;
	case RECORD_PROCESS:
		decode_process(from, &ret->process);
		break;
	case RECORD_INTERVAL:
		record_interval_decode(&decoder->lists, from, &ret->interval);
		break;
	case RECORD_END:
		decode_end(from, &ret->end);
		break;
	case RECORD_STATE:
		decode_state(from, &ret->state);
		break;
	}
}

int record_decode(struct record_decoder *decoder, const uint8_t *bytes, size_t len, size_t *at,
		  struct record *ret, struct diag *diag)
{
	struct record_cursor all = { bytes + *at, bytes + len, NULL, 0 };

	while (all.at < all.end) {
		uint64_t type = record_take_varint(&all);
		struct record_cursor body = record_take_part(&all);

		if (!all.wrong && type >= RECORD_FACT && type <= RECORD_STATE) {
			ret->type = (enum record_type)type;
			decode_body(decoder, &body, ret);
			if (body.wrong)
				return diag_set(diag, body.error, "record of type %u: %s",
						(unsigned)type, body.wrong);
			*at = (size_t)(all.at - bytes);
			return 1;
		}
		if (all.wrong)
			return diag_set(diag, all.error, "%s", all.wrong);
	}
	*at = len;
	return 0;
}
