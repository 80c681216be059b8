// SPDX-License-Identifier: Apache-2.0
#include "stat/stat_desk.h"

#include <errno.h>
#include <poll.h>

#include "tests/unit/unit.h"

static const struct layout no_accounts = { .account_count = 0 };

static struct stat_client client_of(uint32_t pid, uid_t uid)
{
	return (struct stat_client){ .process = { pid, 5 }, .uid = uid, .is_trusted = uid == 0 };
}

static struct stat_desk *new_desk(void)
{
	struct stat_desk *desk = NULL;

	assert_int_equal(stat_desk_new(&desk), 0);
	stat_desk_open(desk);
	return desk;
}

static bool is_woken(const struct stat_desk *desk)
{
	struct pollfd fd = { .fd = stat_desk_fd(desk), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void begin(struct stat_desk *desk, const struct stat_client *client)
{
	assert_int_equal(stat_desk_begin(desk, client), -EAGAIN);
	assert_true(is_woken(desk));
	assert_false(stat_desk_turn(desk, 10));
	assert_int_equal(stat_desk_begin(desk, client), 0);
}

static void a_reading_begins_after_its_request(void **state)
{
	struct stat_desk *desk = new_desk();
	const struct stat_client root = client_of(7, 0);
	struct strbuf page = STRBUF_INIT;

	assert_int_equal(stat_desk_read(desk, &root, &page), -ENOENT);
	begin(desk, &root);
	stat_desk_take(desk);
	assert_int_equal(stat_desk_read(desk, &root, &page), -EAGAIN);
	stat_desk_give(desk, &no_accounts, NULL);
	assert_int_equal(stat_desk_read(desk, &root, &page), -EAGAIN);
	assert_true(stat_desk_turn(desk, 20));
	stat_desk_take(desk);
	assert_int_equal(stat_desk_read(desk, &root, &page), -EAGAIN);
	stat_desk_give(desk, &no_accounts, NULL);
	assert_false(stat_desk_turn(desk, 30));
	assert_int_equal(stat_desk_read(desk, &root, &page), 0);
	assert_non_null(strstr(page.data, "\"zones\":[]"));
	strbuf_release(&page);
	stat_desk_free(desk);
}

static void a_user_cannot_ask_for_an_interval(void **state)
{
	struct stat_desk *desk = new_desk();
	const struct stat_client user = client_of(7, 1000);
	struct strbuf page = STRBUF_INIT;

	begin(desk, &user);
	assert_int_equal(stat_desk_read(desk, &user, &page), -EAGAIN);
	assert_false(is_woken(desk));
	assert_false(stat_desk_turn(desk, 20));
	stat_desk_take(desk);
	stat_desk_give(desk, &no_accounts, NULL);
	assert_int_equal(stat_desk_read(desk, &user, &page), 0);
	strbuf_release(&page);
	stat_desk_free(desk);
}

static bool is_gone(const void *userdata, const struct tree_id *client)
{
	return client->pid == 8;
}

static void a_tree_ends_with_its_client(void **state)
{
	struct stat_desk *desk = new_desk();
	const struct stat_client first = client_of(7, 0), second = client_of(8, 0);
	struct strbuf page = STRBUF_INIT;

	begin(desk, &first);
	begin(desk, &second);
	stat_desk_end(desk, &first);
	assert_false(stat_desk_turn(desk, 20));
	assert_int_equal(stat_desk_read(desk, &first, &page), -ENOENT);
	assert_true(process_trees_any(stat_desk_trees(desk)));
	stat_desk_sweep(desk, is_gone, NULL);
	assert_false(stat_desk_turn(desk, 30));
	assert_false(process_trees_any(stat_desk_trees(desk)));
	begin(desk, &first);
	strbuf_release(&page);
	stat_desk_free(desk);
}

static void clients_are_bounded(void **state)
{
	struct stat_desk *desk = new_desk();
	struct stat_client client;

	for (uint32_t pid = 1; pid <= STAT_CLIENTS_OF_USER; pid++) {
		client = client_of(pid, 1000);
		begin(desk, &client);
	}
	client = client_of(100, 1000);
	assert_int_equal(stat_desk_begin(desk, &client), -ENOSPC);
	for (uint32_t pid = STAT_CLIENTS_OF_USER; pid < STAT_CLIENTS_MAX; pid++) {
		client = client_of(200 + pid, 0);
		begin(desk, &client);
	}
	client = client_of(300, 0);
	assert_int_equal(stat_desk_begin(desk, &client), -ENOSPC);
	stat_desk_free(desk);
}

/* Three users have all places that users can have; root has one nevertheless. */
static void users_leave_places_to_root(void **state)
{
	struct stat_desk *desk = new_desk();
	struct stat_client client;

	for (uint32_t pid = 0; pid < STAT_CLIENTS_OF_USERS; pid++) {
		client = client_of(1 + pid, 1000 + pid / STAT_CLIENTS_OF_USER);
		begin(desk, &client);
	}
	client = client_of(100, 2000);
	assert_int_equal(stat_desk_begin(desk, &client), -ENOSPC);
	client = client_of(101, 0);
	begin(desk, &client);
	stat_desk_free(desk);
}

static void a_reader_without_parents_has_no_trees(void **state)
{
	struct stat_desk *desk = new_desk();
	const struct stat_client root = client_of(7, 0);

	stat_desk_refuse(desk);
	assert_int_equal(stat_desk_begin(desk, &root), -EOPNOTSUPP);
	stat_desk_free(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reading_begins_after_its_request),
		cmocka_unit_test(a_user_cannot_ask_for_an_interval),
		cmocka_unit_test(a_tree_ends_with_its_client),
		cmocka_unit_test(clients_are_bounded),
		cmocka_unit_test(users_leave_places_to_root),
		cmocka_unit_test(a_reader_without_parents_has_no_trees),
	};

	return unit_run(tests);
}
