// SPDX-License-Identifier: Apache-2.0
#include "model/json_writer.h"

#include <math.h>

#include "base/num.h"

void json_key(struct json_writer *writer, const char *key)
{
	if (!writer->first)
		strbuf_add_char(writer->out, ',');
	writer->first = false;
	strbuf_addf(writer->out, "\"%s\":", key);
}

void json_open(struct json_writer *writer, char bracket)
{
	strbuf_add_char(writer->out, bracket);
	writer->first = true;
}

void json_close(struct json_writer *writer, char bracket)
{
	strbuf_add_char(writer->out, bracket);
	writer->first = false;
}

void json_write_text(struct json_writer *writer, const char *key, const char *text)
{
	if (!text[0])
		return;
	json_key(writer, key);
	strbuf_add_char(writer->out, '"');
	strbuf_add_json(writer->out, text);
	strbuf_add_char(writer->out, '"');
}

static void add_number(struct strbuf *out, double value)
{
	char text[FORMAT_DOUBLE_MAX];

	strbuf_add(out, text, format_double(text, value));
}

void json_write_number(struct json_writer *writer, const char *key, double value)
{
	if (!isfinite(value))
		return;
	json_key(writer, key);
	add_number(writer->out, value);
}

void json_write_count(struct json_writer *writer, const char *key, uint64_t value)
{
	if (value == 0)
		return;
	json_key(writer, key);
	strbuf_add_u64(writer->out, value);
}

void json_write_flag(struct json_writer *writer, const char *key, bool value)
{
	json_key(writer, key);
	strbuf_add_str(writer->out, value ? "true" : "false");
}

void json_write_numbers(struct json_writer *writer, const char *key, const double *numbers,
			size_t count)
{
	json_key(writer, key);
	strbuf_add_char(writer->out, '[');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			strbuf_add_char(writer->out, ',');
		add_number(writer->out, numbers[i]);
	}
	strbuf_add_char(writer->out, ']');
}
