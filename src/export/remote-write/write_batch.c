// SPDX-License-Identifier: Apache-2.0
/*
 * Symbols are found by a hash of their text, and compared: users choose names of processes, and may
 * choose two with the same hash. Names of labels are short, so their first eight bytes decide most
 * comparisons.
 */
#include "export/remote-write/write_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/protobuf_writer.h"

void write_batch_init(struct write_batch *batch)
{
	*batch = (struct write_batch){ 0 };
	map_init(&batch->map, WRITE_SYMBOLS_MAX);
	(void)write_batch_symbol(batch, "", 0);
}

void write_batch_release(struct write_batch *batch)
{
	strbuf_release(&batch->symbol_fields);
	strbuf_release(&batch->series);
	strbuf_release(&batch->texts);
	free(batch->symbols);
	free(batch->hashes);
	map_release(&batch->map);
	*batch = (struct write_batch){ 0 };
}

void write_batch_reset(struct write_batch *batch)
{
	map_release(&batch->map);
	map_init(&batch->map, WRITE_SYMBOLS_MAX);
	strbuf_reset(&batch->symbol_fields);
	strbuf_reset(&batch->series);
	strbuf_reset(&batch->texts);
	batch->symbol_count = batch->series_count = 0;
	batch->error = 0;
	(void)write_batch_symbol(batch, "", 0);
}

void write_batch_next(struct write_batch *batch)
{
	strbuf_reset(&batch->series);
	batch->series_count = 0;
}

static uint32_t fail(struct write_batch *batch, int err)
{
	if (batch->error == 0)
		batch->error = err;
	return 0;
}

static uint32_t add_symbol(struct write_batch *batch, const char *text, size_t len,
			   struct map_key key)
{
	struct write_symbol symbol = { (uint32_t)batch->texts.len, (uint32_t)len, key.hi };
	int r = map_put(&batch->map, key, batch->symbol_count);

	if (r == 0)
		r = ARRAY_RESERVE(batch->symbols, batch->symbol_size, batch->symbol_count + 1);
	if (r < 0)
		return fail(batch, r);
	strbuf_add(&batch->texts, text, len);
	protobuf_add_bytes(&batch->symbol_fields, PROTOBUF_TAG(WRITE2_SYMBOL, PROTOBUF_BYTES), text,
			   len);
	batch->symbols[batch->symbol_count] = symbol;
	return batch->symbol_count++;
}

uint32_t write_batch_symbol(struct write_batch *batch, const char *text, size_t len)
{
	struct map_key key = { hash64_bytes(HASH64_START, text, len), 0 };

	if (len > WRITE_SYMBOL_MAX)
		return fail(batch, -ENOSPC);
	for (;; key.lo++) {
		uint32_t found = map_find(&batch->map, key);
		const struct write_symbol *symbol = batch->symbols + found;

		if (found == MAP_NONE)
			return add_symbol(batch, text, len, key);
		if (symbol->len == len &&
		    (len == 0 || memcmp(batch->texts.data + symbol->at, text, len) == 0))
			return found;
	}
}

/* MurmurHash3's finaliser. */
static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 33) * 0xff51afd7ed558ccdULL;
	value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return value ^ value >> 33;
}

uint64_t write_label_hash(const struct write_batch *batch, uint32_t name, uint32_t value)
{
	return mix(mix(batch->symbols[name].hash) + batch->symbols[value].hash);
}

static uint64_t order_of(const char *name, size_t len)
{
	uint64_t order = 0;

	for (size_t i = 0; i < 8; i++)
		order = order << 8 | (i < len ? (unsigned char)name[i] : 0);
	return order;
}

int write_label_compare(const struct write_batch *batch, const struct write_label *a,
			const struct write_label *b)
{
	const struct write_symbol *one = &batch->symbols[a->name],
				  *other = &batch->symbols[b->name];
	int r;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	if (a->name == b->name)
		return 0;
	r = memcmp(batch->texts.data + one->at, batch->texts.data + other->at,
		   MIN(one->len, other->len));
	return r ? r : one->len < other->len ? -1 : 1;
}

void write_labels_add(struct write_batch *batch, struct write_labels *labels, const char *name,
		      const char *value, size_t value_len)
{
	struct write_label label = { order_of(name, strlen(name)),
				     write_batch_symbol(batch, name, strlen(name)), 0 };
	size_t at = labels->count;
	int order = 1;

	while (at > 0 && (order = write_label_compare(batch, &labels->labels[at - 1], &label)) > 0)
		at--;
	if ((at > 0 && order == 0) || value_len == 0)
		return;
	if (labels->count == WRITE_LABELS_MAX) {
		(void)fail(batch, -ENOSPC);
		return;
	}
	label.value = write_batch_symbol(batch, value, value_len);
	memmove(&labels->labels[at + 1], &labels->labels[at], (labels->count - at) * sizeof(label));
	labels->labels[at] = label;
	labels->count++;
	labels->hash += write_label_hash(batch, label.name, label.value);
}

static char *put_sample(char *at, const struct write_series *series)
{
	char *len;

	*at++ = PROTOBUF_TAG(WRITE2_SAMPLE, PROTOBUF_BYTES);
	len = at++;
	at = protobuf_put_fixed64(at, PROTOBUF_TAG(WRITE2_VALUE, PROTOBUF_FIXED64),
				  series->value_bits);
	*at++ = PROTOBUF_TAG(WRITE2_TIME, PROTOBUF_VARINT);
	at = protobuf_put_varint(at, (uint64_t)series->time_ms);
	if (series->start_ms > 0) {
		*at++ = PROTOBUF_TAG(WRITE2_START, PROTOBUF_VARINT);
		at = protobuf_put_varint(at, (uint64_t)series->start_ms);
	}
	*len = (char)(at - len - 1);
	return at;
}

#define SAMPLE_SIZE_MAX (2 + PROTOBUF_FIXED64_SIZE + 2 * (1 + PROTOBUF_VARINT_MAX))

size_t write_labels_encode(const struct write_label *labels, size_t count,
			   char ret[WRITE_LABELS_FIELD_MAX])
{
	char *at = ret;
	size_t len = 0;

	for (size_t i = 0; i < count; i++)
		len += protobuf_varint_len(labels[i].name) + protobuf_varint_len(labels[i].value);
	*at++ = PROTOBUF_TAG(WRITE2_LABELS, PROTOBUF_BYTES);
	at = protobuf_put_varint(at, len);
	for (size_t i = 0; i < count; i++) {
		at = protobuf_put_varint(at, labels[i].name);
		at = protobuf_put_varint(at, labels[i].value);
	}
	return (size_t)(at - ret);
}

void write_batch_add(struct write_batch *batch, const struct write_series *series)
{
	char sample[SAMPLE_SIZE_MAX], *at;
	size_t sample_len = (size_t)(put_sample(sample, series) - sample), len;
	struct strbuf *out = &batch->series;

	if (batch->error < 0)
		return;
	if (batch->series_count == WRITE_SERIES_MAX ||
	    ARRAY_RESERVE(batch->hashes, batch->hash_size, batch->series_count + 1) < 0) {
		(void)fail(batch, -ENOSPC);
		return;
	}
	len = series->labels_len + sample_len + series->metadata_len;
	if (!strbuf_reserve(out, protobuf_field_len(len)))
		return;
	at = out->data + out->len;
	*at++ = PROTOBUF_TAG(WRITE2_SERIES, PROTOBUF_BYTES);
	at = protobuf_put_varint(at, len);
	at = protobuf_put_raw(at, series->labels, series->labels_len);
	at = protobuf_put_raw(at, sample, sample_len);
	if (series->metadata_len)
		at = protobuf_put_raw(at, series->metadata, series->metadata_len);
	*at = '\0';
	out->len = (size_t)(at - out->data);
	batch->hashes[batch->series_count++] = series->hash;
}

void write_metadata(struct strbuf *out, enum write_type type, uint32_t help, uint32_t unit)
{
	char field[3 * (1 + PROTOBUF_VARINT_MAX)], *at = field;

	*at++ = PROTOBUF_TAG(WRITE2_TYPE, PROTOBUF_VARINT);
	at = protobuf_put_varint(at, type);
	*at++ = PROTOBUF_TAG(WRITE2_HELP, PROTOBUF_VARINT);
	at = protobuf_put_varint(at, help);
	if (unit) {
		*at++ = PROTOBUF_TAG(WRITE2_UNIT, PROTOBUF_VARINT);
		at = protobuf_put_varint(at, unit);
	}
	protobuf_add_bytes(out, PROTOBUF_TAG(WRITE2_METADATA, PROTOBUF_BYTES), field,
			   (size_t)(at - field));
}

size_t write_batch_size(const struct write_batch *batch)
{
	return batch->symbol_fields.len + batch->series.len;
}

int write_batch_finish(const struct write_batch *batch, struct strbuf *out)
{
	if (batch->error < 0)
		return batch->error;
	if (strbuf_error(&batch->symbol_fields) < 0 || strbuf_error(&batch->series) < 0 ||
	    strbuf_error(&batch->texts) < 0)
		return -ENOMEM;
	strbuf_add(out, batch->symbol_fields.data, batch->symbol_fields.len);
	strbuf_add(out, batch->series.data, batch->series.len);
	return strbuf_error(out);
}
