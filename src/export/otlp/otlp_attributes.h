/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of OTLP messages, as encoded: opentelemetry.proto.common.v1.KeyValue, with a text as
 * the value; that of ATTRIBUTE_PID is a number. Values are cleaned as in the other formats.
 */
#pragma once

#include "base/strbuf.h"
#include "export/label_cache.h"
#include "export/label_escape.h"

/* Appends an attribute as the field @tag. */
void otlp_attribute_add(struct strbuf *out, char tag, const struct label_pair *pair);

/*
 * The label_form of this format. The text of a row is its attributes, as fields of a Resource, and
 * then the text that distinguishes its resource on the machine: "/", its ids, and a hash of all
 * attributes. A process can choose its name, but not its ids: so no name makes two owners one.
 */
label_form otlp_row_form;

struct otlp_row_text {
	const char *attributes, *id;
	size_t attributes_len, id_len;
};
/* The parts of a text that the form wrote. */
struct otlp_row_text otlp_row_text_split(const struct row_text *text);
