// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/otlp_attributes.h"

#include "base/macro.h"
#include "base/num.h"
#include "base/protobuf_writer.h"

/* Resource; KeyValue; AnyValue. */
#define RESOURCE_ATTRIBUTE PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define PAIR_KEY           PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define PAIR_VALUE         PROTOBUF_TAG(2, PROTOBUF_BYTES)
#define VALUE_TEXT         PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define VALUE_NUMBER       PROTOBUF_TAG(3, PROTOBUF_VARINT)

#define POD_LABEL          "label_" /* how names of a pod's labels begin */
#define POD_LABEL_PREFIX   "kepler.pod."

static void add_pair(struct strbuf *out, char tag, const char *prefix, const char *name,
		     const struct strbuf *value)
{
	size_t prefix_len = strlen(prefix), name_len = strlen(name);
	size_t key_len = prefix_len + name_len;

	protobuf_add_varint(out, tag, protobuf_field_len(key_len) + protobuf_field_len(value->len));
	protobuf_add_varint(out, PAIR_KEY, key_len);
	strbuf_add(out, prefix, prefix_len);
	strbuf_add(out, name, name_len);
	protobuf_add_bytes(out, PAIR_VALUE, value->data, value->len);
}

void otlp_attribute_add(struct strbuf *out, char tag, const struct label_pair *pair)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT;
	bool is_label = strncmp(pair->name, POD_LABEL, strlen(POD_LABEL)) == 0;
	uint64_t number;

	label_clean_value(&text, pair, false);
	strbuf_add(&text, "", 0); /* so that there is one */
	if (strcmp(pair->name, ATTRIBUTE_PID) == 0 && parse_u64(text.data, text.len, &number) == 0)
		protobuf_add_varint(&value, VALUE_NUMBER, number);
	else
		protobuf_add_bytes(&value, VALUE_TEXT, text.data, text.len);
	if (strbuf_error(&text) < 0 || strbuf_error(&value) < 0)
		out->failed = true;
	else
		add_pair(out, tag, is_label ? POD_LABEL_PREFIX : "", pair->name, &value);
}

/* Its length in two bytes ends the text. */
static void add_id(struct strbuf *out, const struct labels *labels, size_t begin)
{
	size_t id_begin = out->len, id_len;

	for (size_t i = 0; i < labels->count; i++) {
		if (!labels->labels[i].is_id)
			continue;
		strbuf_add_char(out, '/');
		label_clean_value(out, &labels->labels[i], false);
	}
	if (strbuf_error(out) < 0)
		return;
	strbuf_addf(out, "/%016llx",
		    (unsigned long long)label_hash(out->data + begin, id_begin - begin));
	id_len = out->len - id_begin;
	strbuf_add_char(out, (char)(id_len & 0xff));
	strbuf_add_char(out, (char)(id_len >> 8));
}

void otlp_row_form(struct strbuf *out, const struct labels *labels)
{
	size_t begin = out->len;

	for (size_t i = 0; i < labels->count; i++)
		otlp_attribute_add(out, RESOURCE_ATTRIBUTE, &labels->labels[i]);
	strbuf_add(out, "", 0); /* so that there is a text */
	add_id(out, labels, begin);
}

struct otlp_row_text otlp_row_text_split(const struct row_text *text)
{
	const unsigned char *end = (const unsigned char *)text->text + text->len;
	size_t id_len = (size_t)(end[-2] | end[-1] << 8);

	return (struct otlp_row_text){
		.attributes = text->text,
		.attributes_len = text->len - 2 - id_len,
		.id = text->text + text->len - 2 - id_len,
		.id_len = id_len,
	};
}
