/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_UACCESS_H
#define COMPAT_UACCESS_H

/* Copies from and to user space, whose names and headers differ by kernel. */

#include <linux/uaccess.h>

/* Newer kernels have a routine that does not depend on user access. */
static __always_inline unsigned long
compat_copy_from_user_nontemporal(void *to, const void __user *from, u32 length)
{
#ifdef copy_to_nontemporal
	return copy_from_user_inatomic_nontemporal(to, from, length);
#else
	return __copy_from_user_inatomic_nocache(to, from, length);
#endif
}

#endif /* COMPAT_UACCESS_H */
