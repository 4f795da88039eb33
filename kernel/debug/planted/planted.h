/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PLANTED_H
#define PLANTED_H

/* fence.c */
int planted_alloc_while_signalling(void);
int planted_signal_unsafe_lock(void);

/* locking.c */
int planted_lock_inversion(void);
int planted_raw_lock_nesting(void);
int planted_sleep_in_atomic(void);

/* memory.c */
int planted_use_after_free(void);
int planted_out_of_bounds(void);
int planted_leak(void);
int planted_list_corruption(void);
int planted_free_armed_timer(void);
int planted_array_index(void);

/* race.c */
int planted_data_race(void);

#endif /* PLANTED_H */
