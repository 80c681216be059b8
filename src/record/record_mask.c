// SPDX-License-Identifier: Apache-2.0
/* SipHash-2-4: Aumasson and Bernstein, 2012, "SipHash: a fast short-input PRF". */
#include "record/record_mask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

struct sip {
	uint64_t v[4];
};

static uint64_t rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static void sip_round(struct sip *sip)
{
	uint64_t *v = sip->v;

	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

static void sip_add(struct sip *sip, uint64_t word)
{
	sip->v[3] ^= word;
	sip_round(sip);
	sip_round(sip);
	sip->v[0] ^= word;
}

uint64_t record_mask_hash(const struct record_mask *mask, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	struct sip sip = {
		{ mask->key[0] ^ 0x736f6d6570736575ULL, mask->key[1] ^ 0x646f72616e646f6dULL,
		  mask->key[0] ^ 0x6c7967656e657261ULL, mask->key[1] ^ 0x7465646279746573ULL }
	};
	uint64_t word = 0;

	for (size_t i = 0; i < len; i++) {
		word |= (uint64_t)at[i] << (8 * (i % 8));
		if (i % 8 == 7) {
			sip_add(&sip, word);
			word = 0;
		}
	}
	sip_add(&sip, word | (uint64_t)len << 56);
	sip.v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(&sip);
	return sip.v[0] ^ sip.v[1] ^ sip.v[2] ^ sip.v[3];
}

int record_mask_init(struct record_mask *mask)
{
	ssize_t got = getrandom(mask->key, sizeof(mask->key), 0);

	mask->on = true;
	return got == (ssize_t)sizeof(mask->key) ? 0 : got < 0 ? -errno : -EIO;
}

void record_mask_text(const struct record_mask *mask, const char *text,
		      char ret[static RECORD_MASK_TEXT])
{
	uint64_t hash = record_mask_hash(mask, text, strlen(text)) >> 16;

	ret[0] = '\0';
	if (*text)
		(void)snprintf(ret, RECORD_MASK_TEXT, "x%012llx", (unsigned long long)hash);
}

void record_mask_owner(const struct record_mask *mask, struct recorded_owner *owner,
		       struct masked_owner *texts)
{
	struct owner_names *names = &owner->names;
	const char *id = names->text[LABEL_CONTAINER_ID];

	if (!mask->on)
		return;
	names->extra_count = 0;
	if (id && (strcmp(id, "system_processes") == 0 || strcmp(id, "kernel_processes") == 0))
		return;
	for (enum label_key key = 0; key < LABEL_KEY_COUNT; key++) {
		if (label_info[key].is_class || !names->text[key])
			continue;
		record_mask_text(mask, names->text[key], texts->text[key]);
		names->text[key] = texts->text[key];
	}
}

void record_mask_process(const struct record_mask *mask, struct recorded_process *process)
{
	char comm[RECORD_MASK_TEXT];

	if (!mask->on)
		return;
	record_mask_text(mask, process->comm, comm);
	(void)snprintf(process->comm, sizeof(process->comm), "%.15s", comm);
	if (process->pid)
		process->pid =
			(uint32_t)record_mask_hash(mask, &process->pid, sizeof(process->pid)) | 1;
}

void record_mask_zone(const struct record_mask *mask, struct recorded_zone *zone)
{
	char path[RECORD_MASK_TEXT], instance[RECORD_MASK_TEXT];

	if (!mask->on)
		return;
	record_mask_text(mask, zone->zone.path, path);
	(void)snprintf(zone->zone.path, sizeof(zone->zone.path), "%s", path);
	if (!zone_kind_info[zone->zone.kind].is_device)
		return;
	record_mask_text(mask, zone->zone.instance, instance);
	(void)snprintf(zone->zone.instance, sizeof(zone->zone.instance), "%s", instance);
}
