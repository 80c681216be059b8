/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus' protobuf exposition: each family is its length and a message
 * io.prometheus.client.MetricFamily. Counters and histograms carry the time at which they began,
 * which costs their reader no series; an info metric is a gauge of 1, as in the text format. Values
 * are the doubles nearest to the decimals of the text format.
 */
#pragma once

#include "base/strbuf.h"
#include "export/sink.h"

struct protobuf_sink {
	struct sink sink; /* first */
	struct strbuf *out;
	const struct family *family;
	char name[FAMILY_NAME_MAX];
	size_t begin;          /* of the family's message in out; 0: it has none yet */
	struct strbuf scratch; /* the labels at the end of rows, the values of histograms */
};

void protobuf_sink_init(struct protobuf_sink *protobuf, struct strbuf *out);
/* Ends the last family and frees the memory of the sink. 0 or -ENOMEM. */
int protobuf_sink_finish(struct protobuf_sink *protobuf);

/* Appends labels as LabelPair fields of a Metric: the label_form of this format. */
void protobuf_labels(struct strbuf *out, const struct labels *labels);
