// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.h"

#include <dlfcn.h>
#include <math.h>

#include "base/macro.h"
#include "tests/unit/unit.h"

struct functions {
	double (*floor)(double value);
	double (*none)(double value);
	double (*ceil)(double value);
};

static const struct shared_function all[] = {
	{ "ceil", offsetof(struct functions, ceil) },
	{ "floor", offsetof(struct functions, floor) },
};
static const struct shared_function more[] = {
	{ "floor", offsetof(struct functions, floor) },
	{ "kepler_has_no_such_function", offsetof(struct functions, none) },
	{ "ceil", offsetof(struct functions, ceil) },
};

static void each_function_has_its_place(void **state)
{
	void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	struct functions functions = { 0 };

	assert_non_null(library);
	assert_null(shared_library_find(library, all, ARRAY_SIZE(all), &functions));
	assert_int_equal((int)functions.floor(1.5), 1);
	assert_int_equal((int)functions.ceil(1.5), 2);
	assert_null(functions.none);
	(void)dlclose(library);
}

static void the_first_that_is_missing_is_named(void **state)
{
	void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	struct functions functions = { 0 };

	assert_non_null(library);
	assert_string_equal(shared_library_find(library, more, ARRAY_SIZE(more), &functions),
			    "kepler_has_no_such_function");
	assert_non_null(functions.floor);
	assert_null(functions.none);
	assert_null(functions.ceil);
	(void)dlclose(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function_has_its_place),
		cmocka_unit_test(the_first_that_is_missing_is_named),
	};

	return unit_run(tests);
}
