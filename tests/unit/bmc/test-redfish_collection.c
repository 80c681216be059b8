// SPDX-License-Identifier: Apache-2.0
/* Collections in pages: which are followed, and that a list says so where it lacks members. */
#include "bmc/redfish_collection.h"

#include "fake_redfish.h"

static struct redfish_members *read_list(int want)
{
	static struct redfish_members members;
	struct redfish_path path;
	struct diag diag = { "" };

	redfish_path_take(V1 "/Chassis", &path);
	assert_int_equal(redfish_collection_read(NULL, &path, &members, &diag), want);
	return &members;
}

static void set_pages(const char *next_of_first, const char *second)
{
	char first[512];

	fake_reset();
	(void)snprintf(first, sizeof(first),
		       "{\"Members\":[" LINK("/Chassis/A") "],\"Members@odata.nextLink\":\"%s\"}",
		       next_of_first);
	fake_set("/Chassis", first);
	if (second)
		fake_set("/Chassis?$skip=1", second);
}

static void expect(size_t count, size_t left_out, const char *why)
{
	const struct redfish_members *members = read_list(0);

	assert_int_equal(members->count, count);
	assert_int_equal(members->left_out, left_out);
	if (why)
		assert_non_null(strstr(members->why, why));
	else
		assert_null(members->why);
}

static void pages_are_followed(void **state)
{
	static const char *const same[] = { V1 "/Chassis?$skip=1",
					    FAKE_ORIGIN V1 "/Chassis?$skip=1",
					    "HTTPS://10.0.0.5:443" V1 "/Chassis?$skip=1" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		set_pages(same[i], "{\"Members\":[" LINK("/Chassis/B") "]}");
		expect(2, 0, NULL);
	}
	/* The general name of the property. */
	fake_set("/Chassis", "{\"Members\":[" LINK("/Chassis/A") "],\"@odata.nextLink\":\"" V1
								 "/Chassis?$skip=1\"}");
	expect(2, 0, NULL);
}

static void pages_elsewhere_are_not_followed(void **state)
{
	static const char *const others[] = { "https://10.0.0.6" V1 "/Chassis?$skip=1",
					      "https://10.0.0.55" V1 "/Chassis?$skip=1",
					      FAKE_ORIGIN ":8443" V1 "/Chassis?$skip=1",
					      "http://10.0.0.5" V1 "/Chassis?$skip=1",
					      "//other.example" V1 "/Chassis" };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		set_pages(others[i], "{\"Members\":[" LINK("/Chassis/B") "]}");
		expect(1, 1, "at another address");
		assert_int_equal(fake.requests, 1);
	}
}

static void pages_in_a_circle_end(void **state)
{
	(void)state;
	set_pages(V1 "/Chassis", NULL);
	expect(1, 1, "no other members");
	set_pages(V1 "/Chassis?$skip=1",
		  "{\"Members\":[" LINK("/Chassis/B") "],"
						      "\"Members@odata.nextLink\":\"" V1
						      "/Chassis\"}");
	expect(2, 1, "no other members");
	assert_int_equal(fake.requests, 3);
	/* Where the service says how many there are, it is known that these are all. */
	set_pages(V1 "/Chassis?$skip=1",
		  "{\"Members\":[" LINK("/Chassis/B") "],\"Members@odata.count\":2,"
						      "\"Members@odata.nextLink\":\"" V1
						      "/Chassis\"}");
	expect(2, 0, NULL);
	/* Pages without members. */
	fake_reset();
	fake_set("/Chassis", "{\"Members\":[],\"Members@odata.nextLink\":\"" V1 "/Chassis\"}");
	expect(0, 1, "too many pages");
	assert_int_equal(fake.requests, REDFISH_PAGES_MAX);
}

static void a_page_that_fails_leaves_the_list_incomplete(void **state)
{
	(void)state;
	set_pages(V1 "/Chassis?$skip=1", NULL);
	expect(1, 1, "cannot be read");
	fake_fail("/Chassis?$skip=1", -EPROTO);
	expect(1, 1, "cannot be read");
	fake_fail("/Chassis?$skip=1", -ETIMEDOUT);
	(void)read_list(-ETIMEDOUT);
	fake_fail("/Chassis", -EPROTO);
	(void)read_list(-EPROTO);
}

static void members_are_counted_once(void **state)
{
	(void)state;
	fake_reset();
	fake_set("/Chassis", "{\"Members\":[" LINK("/Chassis/A") "," LINK(
				     "/Chassis/A/") "],"
						    "\"Members@odata.count\":2}");
	expect(1, 0, NULL);
	set_pages(V1 "/Chassis?$skip=1", "{\"Members\":[" LINK("/Chassis/A") "," LINK(
						 "/Chassis/B") "],"
							       "\"Members@odata.count\":2}");
	expect(2, 0, NULL);
}

static void members_that_are_not_listed_are_missed(void **state)
{
	(void)state;
	fake_reset();
	fake_set("/Chassis", "{\"Members\":[" LINK("/Chassis/A") "],\"Members@odata.count\":3}");
	expect(1, 2, "more members than it lists");
	fake_set("/Chassis", "{\"Members\":[" LINK("/Chassis/A") ",{}]}");
	expect(1, 1, "no path of this service");
}

static int release(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_followed),
		cmocka_unit_test(pages_elsewhere_are_not_followed),
		cmocka_unit_test(pages_in_a_circle_end),
		cmocka_unit_test(a_page_that_fails_leaves_the_list_incomplete),
		cmocka_unit_test(members_are_counted_once),
		cmocka_unit_test(members_that_are_not_listed_are_missed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, release);
}
