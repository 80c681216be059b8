// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/device_users.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/owner.h"

void device_users_init(struct device_users *users)
{
	map_init(&users->by_pid, DEVICE_USES_MAX);
}

void device_users_release(struct device_users *users)
{
	map_release(&users->by_pid);
	free(users->users);
}

static struct map_key key_of(uint32_t pid)
{
	return (struct map_key){ 0, pid };
}

static uint64_t *word_of(struct device_users *users, uint32_t pid)
{
	return &users->some[pid % DEVICE_USERS_BITS / 64];
}

static uint64_t bit_of(uint32_t pid)
{
	return 1ULL << pid % 64;
}

static struct device_user *find_user(struct device_users *users, uint32_t pid)
{
	uint32_t at = MAP_NONE;

	if (*word_of(users, pid) & bit_of(pid))
		at = map_find(&users->by_pid, key_of(pid));
	return at == MAP_NONE ? NULL : &users->users[at];
}

/* Without memory it is not looked for, and its time is dropped. */
static void look_for(struct device_users *users, uint32_t pid)
{
	if (find_user(users, pid) ||
	    ARRAY_RESERVE(users->users, users->size, users->count + 1) < 0 ||
	    map_put(&users->by_pid, key_of(pid), (uint32_t)users->count) < 0)
		return;
	users->users[users->count++] = (struct device_user){ .sample.key.pid = pid };
	*word_of(users, pid) |= bit_of(pid);
}

/* Keeps the process that was started last if two have one pid. */
static void note_process(void *userdata, const struct activity_sample *sample)
{
	struct device_user *user = find_user(userdata, sample->key.pid);

	if (!user || (user->found && user->sample.key.start_ns >= sample->key.start_ns))
		return;
	user->found = true;
	user->sample = *sample;
}

static void forget_all(struct device_users *users)
{
	while (users->count)
		(void)map_remove(&users->by_pid,
				 key_of(users->users[--users->count].sample.key.pid));
	memset(users->some, 0, sizeof(users->some));
}

/* 0: it is not known. */
static uint32_t pid_of(const struct device_use *use, const struct identity_resolver *identities)
{
	if (use->pid || !uuid_is_set(&use->vm))
		return use->pid;
	return identity_machine_pid(identities, &use->vm);
}

void device_users_find(struct device_users *users, const struct device_uses *uses,
		       const struct identity_resolver *identities, const struct activity *activity,
		       struct activity_reader *reader)
{
	if (users->count)
		forget_all(users);
	for (size_t i = 0; i < uses->count; i++) {
		uint32_t pid = pid_of(&uses->use[i], identities);

		if (pid)
			look_for(users, pid);
	}
	if (!users->count)
		return;
	activity_visit(reader, note_process, users);
	for (size_t i = 0; i < activity->count; i++) {
		if (activity->samples[i].flags & ACTIVITY_ENDED)
			note_process(users, &activity->samples[i]);
	}
}

void device_users_announce(const struct device_users *users, struct identity_resolver *identities)
{
	for (size_t i = 0; i < users->count; i++) {
		struct process_ref ref = process_ref_of(&users->users[i].sample);

		if (users->users[i].found)
			identity_resolver_announce(identities, &ref);
	}
}

static void enter_use(struct device_users *users, const struct device_use *use, uint32_t pid,
		      struct identity_resolver *identities, struct ledger *ledger,
		      struct device_parties *ret)
{
	const struct device_user *user = find_user(users, pid);
	struct process_ref ref;
	struct ledger_owner owner;
	uint32_t container, process;

	if (!user && !use->pid) { /* the machine has become known only now */
		device_parties_add_unseen(ret, use->device, use->busy_ns);
		return;
	}
	if (!user || !user->found) {
		device_parties_add_dropped(ret, use->device, use->busy_ns);
		return;
	}
	ref = process_ref_of(&user->sample);
	owner = ledger_owner_of(identity_resolve(identities, &ref));
	container = ledger_container(ledger, &owner);
	process = ledger_process(ledger, user->sample.key.pid, user->sample.key.start_ns,
				 user->sample.comm, container);
	(void)device_parties_add(ret, use->device, process, container, use->busy_ns, use->held);
}

void device_users_enter(struct device_users *users, const struct device_uses *uses,
			struct identity_resolver *identities, struct ledger *ledger,
			struct device_parties *ret)
{
	device_parties_begin(ret);
	for (size_t i = 0; i < uses->count; i++) {
		const struct device_use *use = &uses->use[i];

		uint32_t pid = pid_of(use, identities);

		if (pid)
			enter_use(users, use, pid, identities, ledger, ret);
		else
			device_parties_add_unseen(ret, use->device, use->busy_ns);
	}
	for (uint32_t device = 0; uses->any_nameless && device < DEVICES_MAX; device++)
		device_parties_add_unseen(ret, device, uses->nameless_ns[device]);
}
