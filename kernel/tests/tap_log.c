// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the results
 *
 * They are in a buffer that grows, because debugfs readers come later and
 * diagnostics come from interrupts. It only grows between cases.
 */

#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "tap_log.h"

/* Room for the output of one case; lines that do not fit are counted. */
#define TAP_ROOM	SZ_64K

/**
 * struct tap_log - the results
 * @lock: protects everything against diagnostics
 * @text: the buffer
 * @length: of its contents
 * @size: of the buffer
 * @lost: lines that did not fit
 */
static struct tap_log {
	spinlock_t lock;
	char *text;
	size_t length;
	size_t size;
	unsigned int lost;
} tap_log;

/**
 * tap_reserve - make room for the output of the next case
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int tap_reserve(void)
{
	size_t size = max_t(size_t, 2 * tap_log.size, 2 * TAP_ROOM);
	char *text, *old;

	if (tap_log.size - tap_log.length >= TAP_ROOM)
		return 0;
	text = vzalloc(size);
	if (!text)
		return -ENOMEM;
	spin_lock_irq(&tap_log.lock);
	old = tap_log.text;
	if (old)
		memcpy(text, old, tap_log.length);
	tap_log.text = text;
	tap_log.size = size;
	spin_unlock_irq(&tap_log.lock);
	vfree(old);
	return 0;
}

/**
 * tap_vline - append a line, if there is room
 * @level: of indentation
 * @mark: what it begins with
 * @fmt: format, without a newline
 * @args: its arguments
 *
 * Context: any.
 */
void tap_vline(unsigned int level, const char *mark, const char *fmt,
	       va_list args)
{
	unsigned long flags;
	size_t room, n;
	char *at;

	spin_lock_irqsave(&tap_log.lock, flags);
	room = tap_log.size - tap_log.length;
	at = tap_log.text + tap_log.length;
	n = snprintf(at, room, "%*s%s", 4 * level, "", mark);
	if (n < room)
		n += vsnprintf(at + n, room - n, fmt, args);
	if (n + 1 < room) {
		at[n++] = '\n';
		tap_log.length += n;
	} else {
		tap_log.lost++;
	}
	spin_unlock_irqrestore(&tap_log.lock, flags);
}

/**
 * tap_line - append a line, if there is room
 * @level: of indentation
 * @fmt: format, without a newline
 *
 * Context: any.
 */
void tap_line(unsigned int level, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tap_vline(level, "", fmt, args);
	va_end(args);
}

/**
 * tap_reset - begin new results
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int tap_reset(void)
{
	spin_lock_irq(&tap_log.lock);
	tap_log.length = 0;
	tap_log.lost = 0;
	spin_unlock_irq(&tap_log.lock);
	return tap_reserve();
}

/**
 * tap_lost - get the number of lines that did not fit
 *
 * Context: any.
 * Return: their number.
 */
unsigned int tap_lost(void)
{
	return tap_log.lost;
}

/**
 * tap_results - get the results so far
 *
 * Context: process, not while tap_run() runs.
 * Return: text that is valid until the next tap_run().
 */
struct tap_results tap_results(void)
{
	return (struct tap_results){ tap_log.text, tap_log.length };
}

/**
 * tap_init - make the harness ready
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int tap_init(void)
{
	spin_lock_init(&tap_log.lock);
	return tap_reserve();
}

/**
 * tap_exit - free the results
 *
 * Context: process.
 */
void tap_exit(void)
{
	vfree(tap_log.text);
}
