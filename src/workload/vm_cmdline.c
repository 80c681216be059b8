// SPDX-License-Identifier: Apache-2.0
/*
 * Options of the hypervisors, by their manuals. QEMU: -name guest=web,…, -uuid, or -smbios
 * type=1,uuid=… (Proxmox), -device vhost-vsock-pci,guest-cid=3 or the same as JSON (libvirt); a
 * comma within a value is doubled. Cloud Hypervisor: --platform uuid=…,
 * --api-socket. Firecracker: --id. crosvm: run --name, --socket. VirtualBox: --comment, --startvm.
 * StratoVirt: -name, -uuid, -qmp, -api-channel. Where only a socket identifies the machine, its
 * name is the last part of the socket's path that is not the same for all machines, as
 * "clh-api.sock" is.
 */
#include "workload/vm_cmdline.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/text/ascii.h"
#include "workload/cgroup/cgroup_path_part.h"

struct words {
	const char *at, *end;
};

typedef bool option_fn(struct part option, struct part value, struct vm_description *ret);

/* ---- words and values ---- */

static bool next_word(struct words *words, struct part *ret)
{
	const char *nul;

	if (words->at >= words->end)
		return false;
	nul = memchr(words->at, '\0', (size_t)(words->end - words->at));
	*ret = (struct part){ words->at, (size_t)((nul ? nul : words->end) - words->at) };
	words->at += ret->len + 1;
	return true;
}

/* A UUID of nothing but zeros does not count. */
static void set_uuid(struct vm_description *vm, struct part text)
{
	char uuid[VM_UUID_MAX];

	if (vm->uuid[0] || text.len != sizeof(uuid) - 1)
		return;
	for (size_t i = 0; i < text.len; i++)
		uuid[i] = ascii_lower(text.text[i]);
	uuid[text.len] = '\0';
	if (part_is_uuid((struct part){ uuid, text.len }, '-') && uuid[strspn(uuid, "0-")])
		memcpy(vm->uuid, uuid, sizeof(uuid));
}

/* The value up to its comma; a doubled comma is one of its own. */
static void set_name(struct vm_description *vm, struct part value)
{
	size_t len = 0;

	for (size_t i = 0; i < value.len && len + 1 < sizeof(vm->name); i++) {
		if (value.text[i] == ',' && (i + 1 == value.len || value.text[++i] != ','))
			break;
		vm->name[len++] = value.text[i];
	}
	vm->name[len] = '\0';
}

static bool is_shared_word(struct part word)
{
	static const char *const words[] = {
		"api",     "ch",    "clh",         "cloud",      "control",    "ctl",
		"crosvm",  "fc",    "firecracker", "hypervisor", "kata",       "lib",
		"monitor", "qemu",  "qmp",         "root",       "run",        "sandbox",
		"server",  "share", "sock",        "socket",     "stratovirt", "tmp",
		"var",     "vc",    "virt",        "vm",         "vmm",        "vms"
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (part_is(word, words[i]))
			return true;
	}
	return word.len == 0;
}

/* True if sockets of all machines have that: "clh-api", "firecracker". */
static bool is_shared_name(struct part name)
{
	for (size_t from = 0, i = 0; i <= name.len; i++) {
		if (i < name.len && !strchr("-_.", name.text[i]))
			continue;
		if (!is_shared_word((struct part){ name.text + from, i - from }))
			return false;
		from = i + 1;
	}
	return true;
}

/* The last part of the path that names a machine, a file without its ending; none: no name. */
static void set_name_of_socket(struct vm_description *vm, struct part path)
{
	const char *at = path.text, *end = path.text + path.len;
	struct part part, stem, name = { 0 };

	while (part_next(&at, end, &part)) {
		if (part_between(part, "", ".sock", &stem) ||
		    part_between(part, "", ".socket", &stem) ||
		    part_between(part, "", ".api", &stem))
			part = stem;
		if (!is_shared_name(part))
			name = part;
	}
	if (!vm->name[0] && name.len)
		set_name(vm, name);
}

/* The value of KEY in "a=1,KEY=2,c"; to its end, commas and all. */
static bool value_of(struct part list, const char *key, struct part *ret)
{
	struct part item = list, rest = list;

	while (rest.len) {
		if (!part_split(rest, ',', &item, &rest)) {
			item = rest;
			rest.len = 0;
		}
		if (part_between(item, key, "", ret)) {
			ret->len = (size_t)(list.text + list.len - ret->text);
			return true;
		}
	}
	return false;
}

static void set_uuid_of_list(struct vm_description *vm, struct part list)
{
	struct part value, rest;

	if (!value_of(list, "uuid=", &value))
		return;
	(void)part_split(value, ',', &value, &rest);
	set_uuid(vm, value);
}

/* ---- the hypervisors; false: not a machine ---- */

static bool is_kvm(struct part accelerator)
{
	return part_is(accelerator, "kvm") || part_starts(accelerator, "kvm,") ||
	       part_starts(accelerator, "kvm:");
}

static bool qemu_machine(struct part value, struct vm_description *ret)
{
	struct part accelerator;

	if (part_is(value, "none") || part_starts(value, "none,") || part_is(value, "help"))
		return false; /* libvirt asks what QEMU can do */
	if (value_of(value, "accel=", &accelerator) && is_kvm(accelerator))
		ret->hypervisor = "kvm";
	return true;
}

/* Addresses below 3 belong to the host. */
static void qemu_device(struct part value, struct vm_description *ret)
{
	static const char json_key[] = "\"guest-cid\":";
	struct part cid = { 0 }, rest;
	const char *found;
	uint64_t number;

	if (part_starts(value, "{")) {
		found = memmem(value.text, value.len, json_key, sizeof(json_key) - 1);
		if (!found || !memmem(value.text, value.len, "\"vhost-vsock-", 13))
			return;
		cid.text = found + sizeof(json_key) - 1;
		while (cid.text + cid.len < value.text + value.len &&
		       ascii_is_digit(cid.text[cid.len]))
			cid.len++;
	} else if (part_starts(value, "vhost-vsock-") && value_of(value, "guest-cid=", &cid)) {
		(void)part_split(cid, ',', &cid, &rest);
	}
	if (parse_u64(cid.text, cid.len, &number) == 0 && number >= 3 && number < UINT32_MAX)
		ret->vsock_cid = (uint32_t)number;
}

static bool qemu_option(struct part option, struct part value, struct vm_description *ret)
{
	struct part guest;

	if (part_is(option, "version") || part_is(option, "help") || part_is(option, "h"))
		return false;
	if (part_is(option, "machine") || part_is(option, "M"))
		return qemu_machine(value, ret);
	if (part_is(option, "enable-kvm") || (part_is(option, "accel") && is_kvm(value)))
		ret->hypervisor = "kvm";
	else if (part_is(option, "name"))
		set_name(ret, value_of(value, "guest=", &guest) ? guest : value);
	else if (part_is(option, "uuid"))
		set_uuid(ret, value);
	else if (part_is(option, "smbios") && part_starts(value, "type=1,"))
		set_uuid_of_list(ret, value);
	else if (part_is(option, "device"))
		qemu_device(value, ret);
	return true;
}

static bool cloud_hypervisor_option(struct part option, struct part value,
				    struct vm_description *ret)
{
	struct part path = value, rest;

	if (part_is(option, "version") || part_is(option, "V") || part_is(option, "help"))
		return false;
	if (part_is(option, "platform"))
		set_uuid_of_list(ret, value);
	if (part_is(option, "api-socket")) {
		if (value_of(value, "path=", &path))
			(void)part_split(path, ',', &path, &rest);
		set_name_of_socket(ret, path);
	}
	return true;
}

static bool firecracker_option(struct part option, struct part value, struct vm_description *ret)
{
	if (part_is(option, "version") || part_is(option, "help"))
		return false;
	if (part_is(option, "id") && !part_is(value, "anonymous-instance")) {
		set_uuid(ret, value);
		set_name(ret, value);
	} else if (part_is(option, "api-sock")) {
		set_name_of_socket(ret, value);
	}
	return true;
}

static bool crosvm_option(struct part option, struct part value, struct vm_description *ret)
{
	if (part_is(option, "name"))
		set_name(ret, value);
	else if (part_is(option, "s") || part_is(option, "socket"))
		set_name_of_socket(ret, value);
	return true;
}

/* "unix:PATH,server,nowait" */
static bool stratovirt_option(struct part option, struct part value, struct vm_description *ret)
{
	struct part path, rest;

	if (part_is(option, "version") || part_is(option, "V") || part_is(option, "help") ||
	    part_is(option, "h"))
		return false;
	if (part_is(option, "name"))
		set_name(ret, value);
	else if (part_is(option, "uuid"))
		set_uuid(ret, value);
	else if ((part_is(option, "qmp") || part_is(option, "api-channel")) &&
		 part_between(value, "unix:", "", &path)) {
		(void)part_split(path, ',', &path, &rest);
		set_name_of_socket(ret, path);
	}
	return true;
}

static bool virtualbox_option(struct part option, struct part value, struct vm_description *ret)
{
	if (part_is(option, "comment"))
		set_name(ret, value);
	else if (part_is(option, "startvm") || part_is(option, "s"))
		set_uuid(ret, value);
	return true;
}

static const struct hypervisor {
	const char *comm; /* as the kernel cuts it */
	bool is_prefix;
	const char *name;
	option_fn *option;
} hypervisors[] = {
	{ "qemu-system-", true, "qemu", qemu_option },
	{ "qemu-kvm", false, "qemu", qemu_option },
	{ "kvm", false, "qemu", qemu_option },
	{ "cloud-hyperviso", false, "cloud-hypervisor", cloud_hypervisor_option },
	{ "firecracker", false, "firecracker", firecracker_option },
	{ "crosvm", false, "crosvm", crosvm_option },
	{ "stratovirt", false, "stratovirt", stratovirt_option },
	{ "VBoxHeadless", false, "virtualbox", virtualbox_option },
	{ "VirtualBoxVM", false, "virtualbox", virtualbox_option },
};

/* Called for every process in every interval: the first letter decides nearly all. */
static const struct hypervisor *hypervisor_of(const char *comm)
{
	if (!strchr("qkcfsV", comm[0]) || !comm[0])
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(hypervisors); i++) {
		const struct hypervisor *candidate = &hypervisors[i];
		size_t len = strlen(candidate->comm);

		if (candidate->is_prefix ? strncmp(comm, candidate->comm, len) == 0
					 : strcmp(comm, candidate->comm) == 0)
			return candidate;
	}
	return NULL;
}

bool vm_comm_is_candidate(const char *comm)
{
	return hypervisor_of(comm) != NULL;
}

bool vm_exe_is_hypervisor(const char *name)
{
	char comm[16];

	(void)snprintf(comm, sizeof(comm), "%.15s", name);
	return hypervisor_of(comm) != NULL;
}

/* "-OPTION VALUE", "--OPTION VALUE", "--OPTION=VALUE" */
static bool read_option(struct part word, struct words words, const struct hypervisor *hypervisor,
			struct vm_description *vm)
{
	struct part option, value = { 0 };

	if (!part_between(word, "--", "", &option) && !part_between(word, "-", "", &option))
		return true;
	if (!part_split(option, '=', &option, &value) && !next_word(&words, &value))
		value = (struct part){ 0 };
	return hypervisor->option(option, value, vm);
}

bool vm_cmdline_parse(const char *comm, const char *text, size_t len, struct vm_description *ret)
{
	const struct hypervisor *hypervisor = hypervisor_of(comm);
	struct words words = { text, text + len };
	struct vm_description vm = { 0 };
	struct part word;

	if (!hypervisor || !next_word(&words, &word) || words.at >= words.end)
		return false;
	vm.hypervisor = vm.family = hypervisor->name;
	for (bool first = true; next_word(&words, &word); first = false) {
		if (first && hypervisor->option == crosvm_option && !part_is(word, "run"))
			return false; /* a helper, or a command to a machine */
		if (!read_option(word, words, hypervisor, &vm))
			return false;
	}
	*ret = vm;
	return true;
}

uint32_t vm_comm_served_pid(const char *comm)
{
	static const char *const prefixes[] = { "vhost-", "kvm-pit/" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t len = strlen(prefixes[i]);
		uint64_t pid;

		if (strncmp(comm, prefixes[i], len) == 0 &&
		    parse_u64(comm + len, strlen(comm + len), &pid) == 0 && pid <= INT32_MAX)
			return (uint32_t)pid;
	}
	return 0;
}
