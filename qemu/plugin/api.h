/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of QEMU's plugin interface, version 4, and of glib that the counter
 * uses. Only these are declared, so neither QEMU's sources nor the
 * headers of glib are needed to build it.
 */
#ifndef ASSIZE_PLUGIN_API_H
#define ASSIZE_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of the interface that this file declares. */
#define API_VERSION 4

typedef uint64_t plugin_id;

struct qemu_info {
	const char *target;
	struct {
		int oldest;
		int current;
	} version;
	bool system;
	struct {
		int cpus;
		int cpus_max;
	} machine;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;
struct qemu_plugin_hwaddr;

enum register_use { REGISTERS_UNUSED, REGISTERS_READ, REGISTERS_WRITTEN };

enum memory_use { MEMORY_READ = 1, MEMORY_WRITTEN, MEMORY_BOTH };

struct register_name {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
};

/* The public part of GArray and GByteArray. */
struct garray {
	void *data;
	unsigned int length;
};

typedef void (*cpu_callback)(plugin_id id, unsigned int cpu);
typedef void (*translation_callback)(plugin_id id, struct qemu_plugin_tb *tb);
typedef void (*execution_callback)(unsigned int cpu, void *data);
typedef void (*memory_callback)(unsigned int cpu, uint32_t info,
				uint64_t address, void *data);
typedef void (*exit_callback)(plugin_id id, void *data);

void qemu_plugin_register_vcpu_init_cb(plugin_id id, cpu_callback done);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
					   translation_callback done);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  execution_callback done,
					  enum register_use use, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    execution_callback done,
					    enum register_use use, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      memory_callback done,
				      enum register_use registers,
				      enum memory_use use, void *data);
void qemu_plugin_register_atexit_cb(plugin_id id, exit_callback done,
				    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t at);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *bytes,
			     size_t length);
const void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);
const struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t info,
							uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *found);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *found);
struct garray *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(struct qemu_plugin_register *handle,
			      struct garray *bytes);
bool qemu_plugin_read_memory_vaddr(uint64_t address, struct garray *bytes,
				   size_t length);

struct garray *g_byte_array_new(void);
struct garray *g_byte_array_set_size(struct garray *array, unsigned int length);

#endif
