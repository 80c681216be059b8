/* SPDX-License-Identifier: Apache-2.0 */
/* One meter over a tree of fake files, without the thread that polls it: tests make each call. */
#pragma once

#include "fake_tree.h"
#include "meter/meter.h"

struct fixture {
	struct fake_tree tree;
	const struct meter_ops *ops; /* of the meter, once it is open */
	struct meter *meter;
};

static inline int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){ 0 };
	tree_make(&fixture.tree);
	*state = &fixture;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *fixture = *state;

	if (fixture->ops)
		fixture->ops->close(fixture->meter);
	tree_remove(&fixture->tree);
	return 0;
}

/* @options lack the path of sysfs. */
static inline void open_with_options(struct fixture *fixture, const struct meter_ops *ops,
				     struct meter_options options)
{
	options.sysfs = fixture->tree.sysfs;
	fixture->ops = ops;
	assert_int_equal(ops->open(&options, &fixture->meter), 0);
	assert_int_equal(ops->rescan(fixture->meter), 0);
}

static inline void check_zone_id(const struct fixture *fixture, size_t index, const char *id)
{
	char own[ZONE_ID_MAX];

	zone_id(fixture->ops->zone_at(fixture->meter, index), own);
	assert_string_equal(own, id);
}
