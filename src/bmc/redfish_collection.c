// SPDX-License-Identifier: Apache-2.0
#include "bmc/redfish_collection.h"

#include "base/macro.h"
#include "bmc/answer_object.h"

/* The path of the page after @page; "" if there is none, or it is not followed. */
static void find_next(const struct redfish_client *client, const json_t *page,
		      struct redfish_members *members, struct redfish_path *ret)
{
	const char *link = redfish_next_link(page);

	redfish_client_take_link(client, link, ret);
	if (*link && !ret->text[0])
		redfish_members_leave_out(members, 1,
					  "its next page is at another address, which is not "
					  "followed");
}

/* Adds the page at @path, which is then the next page's path. */
static int read_page(struct redfish_client *client, struct redfish_path *path,
		     struct redfish_members *members, struct diag *diag)
{
	CLEANUP(answer_object_release) json_t *page = NULL;
	bool is_first = members->listed == 0;
	int r = redfish_client_get(client, path, &page, diag);

	if (r < 0)
		return r;
	if (redfish_members_add(page, members) || is_first) {
		find_next(client, page, members, path);
		return 0;
	}
	path->text[0] = '\0';
	if (!members->total || members->listed < members->total)
		redfish_members_leave_out(members, 1, "a page of it leads to no other members");
	return 0;
}

int redfish_collection_read(struct redfish_client *client, const struct redfish_path *collection,
			    struct redfish_members *ret, struct diag *diag)
{
	struct redfish_path path = *collection;

	*ret = (struct redfish_members){ 0 };
	for (unsigned i = 0; i < REDFISH_PAGES_MAX && path.text[0]; i++) {
		int r = read_page(client, &path, ret, diag);

		if (r < 0 && (i == 0 || redfish_client_ends_search(r)))
			return r;
		if (r < 0) {
			redfish_members_leave_out(ret, 1, "a page of it cannot be read");
			return 0;
		}
	}
	if (path.text[0])
		redfish_members_leave_out(ret, 1, "it has too many pages");
	if (!ret->left_out && ret->listed < ret->total)
		redfish_members_leave_out(ret, ret->total - ret->listed,
					  "it has more members than it lists");
	return 0;
}
