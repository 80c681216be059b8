// SPDX-License-Identifier: Apache-2.0
/*
 * The hot path: thousands of rows a family. A line is four pieces copied side by side (name, the
 * row's labels, the end of the labels, the value); room is asked for once a row, and nothing is
 * formatted but the digits of the value.
 */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "export/text_sink.h"

static char *put(char *at, const char *piece, size_t len)
{
	memcpy(at, piece, len);
	return at + len;
}

struct piece {
	const char *text;
	size_t len;
};

static struct piece piece_of(const char *text)
{
	return (struct piece){ text, strlen(text) };
}

static char *put_line(char *at, struct piece name, const struct row_text *labels, struct piece end)
{
	at = put(at, name.text, name.len);
	at = put(at, labels->text, labels->len);
	return put(at, end.text, end.len);
}

/* Writes x_total{ for its rows' lines. */
static struct piece name_piece(const struct text_sink *text, const char *suffix, char *buf,
			       size_t size)
{
	int len = snprintf(buf, size, "%s%s{", text->name, suffix);

	return (struct piece){ buf, (size_t)len };
}

/* Appends ,package="0",…} with a blank and a terminator; returns where it begins. */
static size_t add_end(struct strbuf *scratch, const struct labels *labels)
{
	size_t begin = scratch->len;

	if (labels->count > 0)
		strbuf_add_char(scratch, ',');
	text_labels(scratch, labels);
	strbuf_add(scratch, "} ", 3);
	return begin;
}

static void add_lines(struct text_sink *text, const struct row_block *block,
		      const struct piece ends[2])
{
	const struct row_view *view = block->view;
	const struct row_text *texts = view->texts[block->names];
	bool created = text->created && text->family->type == FAMILY_COUNTER;
	char name[FAMILY_NAME_MAX + 16], created_name[FAMILY_NAME_MAX + 16];
	struct piece sample = name_piece(text, family_suffix(text->family), name, sizeof(name));
	struct piece birth = name_piece(text, "_created", created_name, sizeof(created_name));
	struct strbuf *out = text->out;

	text_sink_head(text);
	for (uint32_t row = 0; row < view->count; row++) {
		struct piece end = ends[view->rows[row].ended];
		char *at;

		if (!texts[row].text)
			continue; /* hangs on an earlier row */
		if (!strbuf_reserve(out, 2 * (birth.len + texts[row].len + end.len +
					      FORMAT_SCALED_MAX + 1)))
			return;
		at = put_line(out->data + out->len, sample, &texts[row], end);
		at += format_scaled(at, row_block_value(block, row), block->decimals);
		*at++ = '\n';
		if (created) {
			at = put_line(at, birth, &texts[row], end);
			at += format_created(at, view->rows[row].created_ms);
			*at++ = '\n';
		}
		out->len = (size_t)(at - out->data);
	}
	out->data[out->len] = '\0';
}

void text_sink_rows(struct sink *sink, const struct row_block *block)
{
	struct text_sink *text = (struct text_sink *)sink;
	struct strbuf *scratch = &text->scratch;
	size_t living, ended;

	strbuf_reset(scratch);
	living = add_end(scratch, &block->end[0]);
	ended = living;
	if (block->end[1].labels != block->end[0].labels)
		ended = add_end(scratch, &block->end[1]);
	if (strbuf_error(scratch) < 0)
		return;
	add_lines(text, block,
		  (struct piece[2]){ piece_of(scratch->data + living),
				     piece_of(scratch->data + ended) });
}
