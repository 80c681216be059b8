// SPDX-License-Identifier: Apache-2.0
#include "host/address_names.h"

#include "tests/unit/unit.h"

static size_t three_addresses(struct sockaddr_storage *ret, size_t max)
{
	assert_int_equal(max, ADDRESS_NAMES_MAX);
	for (size_t i = 0; i < 3; i++)
		ret[i].ss_family = (sa_family_t)(i + 1);
	return 3;
}

static bool name_of_two(const struct sockaddr_storage *address, char *ret, size_t size)
{
	(void)snprintf(ret, size, "n%u.example", (unsigned)address->ss_family);
	return address->ss_family != 2;
}

static bool canonical(char *ret, size_t size)
{
	(void)snprintf(ret, size, "vm.example");
	return true;
}

static void add(void *userdata, const char *name)
{
	char *text = userdata;
	size_t len = strlen(text);

	assert_true(len + strlen(name) < 100);
	(void)snprintf(text + len, 128 - len, "%s ", name);
}

static void names_of_all_addresses_are_found(void **state)
{
	const struct address_names_source source = { three_addresses, name_of_two, canonical };
	char text[128] = "";

	address_names_look_up(&source, add, text);
	assert_string_equal(text, "vm.example n1.example n3.example ");
}

static void own_addresses_are_not_of_the_loopback(void **state)
{
	struct sockaddr_storage list[ADDRESS_NAMES_MAX];
	size_t count = address_names_system.addresses(list, ADDRESS_NAMES_MAX);

	assert_true(count <= ADDRESS_NAMES_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)&list[i];

		assert_true(list[i].ss_family == AF_INET || list[i].ss_family == AF_INET6);
		if (list[i].ss_family == AF_INET)
			assert_true(ntohl(v4->sin_addr.s_addr) >> 24 != 127);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_all_addresses_are_found),
		cmocka_unit_test(own_addresses_are_not_of_the_loopback),
	};

	return unit_run(tests);
}
