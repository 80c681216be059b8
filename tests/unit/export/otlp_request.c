// SPDX-License-Identifier: Apache-2.0
#include "otlp_request.h"

#include "base/protobuf_read.h"
#include "tests/unit/unit.h"

static struct protobuf_field next_field(struct protobuf *message)
{
	struct protobuf_field field = { 0 };

	assert_true(protobuf_next(message, &field) > 0);
	return field;
}

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void add_text(char *list, size_t size, const char *bytes, size_t len, char end)
{
	size_t at = strlen(list);

	assert_true(at + len + 2 < size);
	memcpy(list + at, bytes, len);
	list[at + len] = end;
	list[at + len + 1] = '\0';
}

static void read_value(struct protobuf value, char *list, size_t size)
{
	char digits[21];
	struct protobuf_field field = next_field(&value);

	if (field.number == 1) {
		add_text(list, size, (const char *)field.bytes.at, field.bytes.len, ',');
		return;
	}
	assert_int_equal(field.number, 3);
	(void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)field.value);
	add_text(list, size, digits, strlen(digits), ',');
}

/* A KeyValue. */
static void read_attribute(struct protobuf pair, char *list, size_t size)
{
	struct protobuf_field key = next_field(&pair), value = next_field(&pair);

	assert_int_equal(key.number, 1);
	assert_int_equal(value.number, 2);
	assert_true(key.bytes.len > 0);
	add_text(list, size, (const char *)key.bytes.at, key.bytes.len, '=');
	read_value(value.bytes, list, size);
	assert_int_equal(pair.len, 0);
}

static void read_point(struct protobuf message, struct otlp_read_point *point)
{
	while (message.len) {
		struct protobuf_field field = next_field(&message);

		switch (field.number) {
		case 2:
			point->start_ns = field.value;
			break;
		case 3:
			point->time_ns = field.value;
			break;
		case 4:
			point->value = double_of(field.value);
			point->has_value = true;
			break;
		case 7:
			read_attribute(field.bytes, point->attributes, sizeof(point->attributes));
			break;
		case 8:
			point->flags = field.value;
			break;
		default:
			fail_msg("field %u of a point", field.number);
		}
	}
}

/* A Sum or a Gauge; what follows the points is of all of them. */
static void read_data(struct protobuf message, bool is_sum, const char *metric,
		      const char *resource, struct otlp_request *ret)
{
	size_t begin = ret->count;

	while (message.len) {
		struct protobuf_field field = next_field(&message);

		if (field.number == 1) {
			struct otlp_read_point *point = &ret->points[ret->count++];

			assert_true(ret->count < OTLP_POINTS_MAX);
			*point = (struct otlp_read_point){ .is_sum = is_sum };
			(void)snprintf(point->metric, sizeof(point->metric), "%s", metric);
			(void)snprintf(point->resource, sizeof(point->resource), "%s", resource);
			read_point(field.bytes, point);
			continue;
		}
		assert_true(is_sum && (field.number == 2 || field.number == 3));
		for (size_t i = begin; i < ret->count; i++) {
			if (field.number == 2)
				ret->points[i].temporality = field.value;
			else
				ret->points[i].is_monotonic = field.value == 1;
		}
	}
}

static void read_metric(struct protobuf message, const char *resource, struct otlp_request *ret)
{
	char name[48] = "";

	while (message.len) {
		struct protobuf_field field = next_field(&message);

		if (field.number == 1)
			assert_int_equal(protobuf_copy_text(&field.bytes, name, sizeof(name)), 0);
		else if (field.number == 5 || field.number == 7)
			read_data(field.bytes, field.number == 7, name, resource, ret);
		else
			assert_true(field.number == 2 || field.number == 3);
	}
}

static void read_scope(struct protobuf message, const char *resource, struct otlp_request *ret)
{
	while (message.len) {
		struct protobuf_field field = next_field(&message);

		if (field.number == 2)
			read_metric(field.bytes, resource, ret);
		else
			assert_int_equal(field.number, 1);
	}
}

static void read_resource_metrics(struct protobuf message, struct otlp_request *ret)
{
	char resource[1024] = "";

	ret->resources++;
	while (message.len) {
		struct protobuf_field field = next_field(&message);

		if (field.number == 2) {
			read_scope(field.bytes, resource, ret);
			continue;
		}
		assert_int_equal(field.number, 1);
		while (field.bytes.len) {
			struct protobuf_field attribute = next_field(&field.bytes);

			assert_int_equal(attribute.number, 1);
			read_attribute(attribute.bytes, resource, sizeof(resource));
		}
	}
}

void otlp_request_read(const void *bytes, size_t len, struct otlp_request *ret)
{
	struct protobuf message = { bytes, len };

	ret->resources = ret->count = 0;
	while (message.len) {
		struct protobuf_field field = next_field(&message);

		assert_int_equal(field.number, 1);
		read_resource_metrics(field.bytes, ret);
	}
}

const char *otlp_request_attribute(const char *list, const char *name)
{
	static char value[512];
	size_t name_len = strlen(name);

	for (; *list; list += strcspn(list, ",") + 1) {
		if (strncmp(list, name, name_len) != 0 || list[name_len] != '=')
			continue;
		(void)snprintf(value, sizeof(value), "%.*s",
			       (int)(strcspn(list, ",") - name_len - 1), list + name_len + 1);
		return value;
	}
	return "";
}
