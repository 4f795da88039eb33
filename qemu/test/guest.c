// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest that measures assize's QEMU: process 1 of an initramfs.
 *
 * It stops the machine for a memory image, then runs the tests named by the words
 * of its job (fw_cfg opt/assize/job) and prints a line for each on port 0xe9.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define CPUS 64

static void out(const char *format, ...)
{
    char text[4096];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    for (char *c = text; *c; c++) {
        outb(*c, 0xe9);
    }
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void sleep_until(int64_t ns)
{
    struct timespec t = { ns / 1000000000, ns % 1000000000 };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set)) {
        out("cannot go to CPU %d\n", cpu);
    }
}

static void realtime(int priority)
{
    struct sched_param param = { .sched_priority = priority };

    sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &param);
}

/* Two instructions per round. */
static void spin(long rounds)
{
    asm volatile("1: sub $1, %0; jnz 1b" : "+r"(rounds) : : "cc");
}

static uint64_t hash = 0xcbf29ce484222325ull;

static void add_to_hash(uint64_t value)
{
    hash = (hash ^ value) * 0x100000001b3ull;
}

static pthread_t threads[CPUS];
static pthread_barrier_t barrier;
static int64_t begun[CPUS], ended[CPUS];

static void start(int count, void *(*run)(void *))
{
    pthread_barrier_init(&barrier, NULL, count);
    for (long i = 0; i < count; i++) {
        pthread_create(&threads[i], NULL, run, (void *)i);
    }
}

static int64_t join(int count)
{
    int64_t first = INT64_MAX, last = 0;

    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        first = begun[i] < first ? begun[i] : first;
        last = ended[i] > last ? ended[i] : last;
    }
    return last - first;
}

/* Throughput of busy CPUs. */
#define BUSY_ROUNDS 10000000l

static void *busy(void *arg)
{
    long i = (long)arg;

    pin(i);
    pthread_barrier_wait(&barrier);
    begun[i] = now();
    spin(BUSY_ROUNDS);
    ended[i] = now();
    return NULL;
}

static void test_busy(int count)
{
    int64_t ns, slowest = 0;

    start(count, busy);
    ns = join(count);
    for (int i = 0; i < count; i++) {
        slowest = ended[i] - begun[i] > slowest ? ended[i] - begun[i] : slowest;
    }
    out("busy cpus=%d insns_per_ns=%.4f slowest_cpu=%.4f\n", count,
        2.0 * BUSY_ROUNDS * count / ns, 2.0 * BUSY_ROUNDS / slowest);
}

/* A contended mutex. */
#define LOCKS 5000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *locks(void *arg)
{
    long i = (long)arg;

    pin(i);
    pthread_barrier_wait(&barrier);
    begun[i] = now();
    for (int n = 0; n < LOCKS; n++) {
        pthread_mutex_lock(&mutex);
        counter++;
        spin(50);
        pthread_mutex_unlock(&mutex);
        spin(200);
    }
    ended[i] = now();
    return NULL;
}

static void test_mutex(int count)
{
    start(count, locks);
    out("mutex cpus=%d ns_per_lock=%.1f\n", count,
        (double)join(count) / (LOCKS * count));
}

/* Ping-pong between two threads that sleep. */
#define TRIPS 500

static int word[2];

static void futex_wait_for(int *at, int value)
{
    for (;;) {
        int seen = __atomic_load_n(at, __ATOMIC_SEQ_CST);

        if (seen == value) {
            return;
        }
        syscall(SYS_futex, at, FUTEX_WAIT, seen, NULL, NULL, 0);
    }
}

static void futex_set(int *at, int value)
{
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, at, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *futexes(void *arg)
{
    long i = (long)arg;

    pin(i);
    pthread_barrier_wait(&barrier);
    begun[i] = now();
    for (int n = 1; n <= TRIPS; n++) {
        if (i == 0) {
            futex_set(&word[0], n);
            futex_wait_for(&word[1], n);
        } else {
            futex_wait_for(&word[0], n);
            futex_set(&word[1], n);
        }
    }
    ended[i] = now();
    return NULL;
}

static void test_futex(void)
{
    word[0] = word[1] = 0;
    start(2, futexes);
    out("futex ns_per_round_trip=%.1f\n", (double)join(2) / TRIPS);
}

/* Ping-pong between two threads that spin, with or without PAUSE. */
static volatile int ball;
static bool with_pause;

static void *spinners(void *arg)
{
    long i = (long)arg;

    pin(i);
    pthread_barrier_wait(&barrier);
    begun[i] = now();
    for (int n = 0; n < 2000; n++) {
        while (ball != 2 * n + i) {
            if (with_pause) {
                _mm_pause();
            }
        }
        ball = 2 * n + i + 1;
    }
    ended[i] = now();
    return NULL;
}

static void test_spin(bool pause)
{
    ball = 0;
    with_pause = pause;
    start(2, spinners);
    out("spin pause=%d ns_per_round_trip=%.1f\n", pause,
        (double)join(2) / 2000);
}

/* Time-stamp counters in causal order: under a lock. */
static volatile int lock;
static volatile uint64_t last_tsc;
static uint64_t furthest_back;
static long times_back;

static void *stamps(void *arg)
{
    long i = (long)arg;

    pin(i);
    pthread_barrier_wait(&barrier);
    begun[i] = now();
    for (int n = 0; n < 20000; n++) {
        uint64_t before, tsc;

        while (__sync_lock_test_and_set(&lock, 1)) {
        }
        before = last_tsc;
        tsc = __rdtsc();
        if (tsc < before) {
            times_back++;
            if (before - tsc > furthest_back) {
                furthest_back = before - tsc;
            }
        }
        last_tsc = tsc;
        __sync_lock_release(&lock);
    }
    ended[i] = now();
    return NULL;
}

static void test_tsc(int count)
{
    times_back = furthest_back = last_tsc = 0;
    start(count, stamps);
    join(count);
    out("tsc cpus=%d readings=%d back=%ld furthest=%llu\n", count,
        20000 * count, times_back, (unsigned long long)furthest_back);
}

/* Atomic instructions without effect, to measure their cost. */
static void *atomics(void *arg)
{
    long i = (long)arg;
    long mine = 0;

    pin(i);
    pthread_barrier_wait(&barrier);
    begun[i] = now();
    for (int n = 0; n < 1000000; n++) {
        asm volatile("lock addq $1, %0" : "+m"(mine) : : "cc");
    }
    ended[i] = now();
    return NULL;
}

static void test_atomic(int count)
{
    start(count, atomics);
    out("atomic cpus=%d ns_per_round=%.3f\n", count,
        (double)join(count) / 1000000);
}

/* Wake-ups of a real-time thread with busy threads on every CPU. */
static volatile bool stop_hogs;

static void *hog(void *arg)
{
    pin((long)arg);
    while (!stop_hogs) {
        spin(1000);
    }
    return NULL;
}

static pthread_t hog_threads[CPUS];

static void start_hogs(int cpus)
{
    stop_hogs = false;
    for (long i = 0; i < cpus; i++) {
        pthread_create(&hog_threads[i], NULL, hog, (void *)i);
    }
}

static void test_wake(int cpus, bool hogs)
{
    int64_t most = 0, least = INT64_MAX, sum = 0, next;

    if (hogs) {
        start_hogs(cpus);
    }
    pin(0);
    realtime(50);
    next = now() + 1000000;
    for (int n = 0; n < 1000; n++) {
        int64_t late;

        sleep_until(next);
        late = now() - next;
        add_to_hash(late);
        sum += late;
        most = late > most ? late : most;
        least = late < least ? late : least;
        next += 137000 + n * 77;
    }
    realtime(0);
    stop_hogs = true;
    for (int i = 0; hogs && i < cpus; i++) {
        pthread_join(hog_threads[i], NULL);
    }
    out("wake cpus=%d hogs=%d min=%lld mean=%lld max=%lld ns\n", cpus, hogs,
        (long long)least, (long long)(sum / 1000), (long long)most);
}

/*
 * Many short sleeps on every CPU, and each clock reading. A leap that
 * is a nanosecond off changes the line.
 */
static void *sleeps(void *arg)
{
    long i = (long)arg;
    static uint64_t all[CPUS][2000];

    pin(i);
    pthread_barrier_wait(&barrier);
    begun[i] = now();
    for (int n = 0; n < 2000; n++) {
        struct timespec t = { 0, 20000 + 1000 * (n % 100) + 100 * i };

        nanosleep(&t, NULL);
        all[i][n] = __rdtsc();
        spin(n % 128 + 1);
    }
    ended[i] = now();
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        for (int c = 0; c < CPUS; c++) {
            for (int n = 0; n < 2000; n++) {
                add_to_hash(all[c][n]);
            }
        }
    }
    return NULL;
}

static void test_sleeps(int count)
{
    start(count, sleeps);
    out("sleeps cpus=%d ns=%lld\n", count, (long long)join(count));
}

/*
 * The machine's next timer is cancelled before it is due, repeatedly,
 * with busy threads running. Their progress, as seen by the first CPU,
 * shows how the CPUs were interleaved.
 */
#define CANCELS 200

static volatile long progress[CPUS];

static void *progresses(void *arg)
{
    long i = (long)arg;

    pin(i);
    while (!stop_hogs) {
        spin(5);
        progress[i]++;
    }
    return NULL;
}

static void test_cancels(int cpus)
{
    struct itimerspec soon = { .it_value.tv_nsec = 300000 }, never = { };
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);

    stop_hogs = false;
    for (long i = 1; i < cpus; i++) {
        pthread_create(&hog_threads[i], NULL, progresses, (void *)i);
    }
    pin(0);
    for (int n = 0; n < CANCELS; n++) {
        timerfd_settime(timer, 0, &soon, NULL);
        spin(1000 + 13 * n);
        timerfd_settime(timer, 0, &never, NULL);
        spin(200000);
        for (int i = 1; i < cpus; i++) {
            add_to_hash(progress[i]);
        }
    }
    stop_hogs = true;
    for (int i = 1; i < cpus; i++) {
        pthread_join(hog_threads[i], NULL);
    }
    close(timer);
    out("cancels cpus=%d\n", cpus);
}

/* An update that is lost if another CPU updates at the same time. */
static volatile long unlocked;

static void *updates(void *arg)
{
    long i = (long)arg;

    pin(i);
    pthread_barrier_wait(&barrier);
    begun[i] = now();
    for (int n = 0; n < 100; n++) {
        spin(500 + 37 * (n % 8) + 11 * i);
        unlocked = unlocked + 1;
    }
    ended[i] = now();
    return NULL;
}

static void test_race(void)
{
    unlocked = 0;
    start(2, updates);
    join(2);
    out("race lost=%ld\n", 200 - unlocked);
}

/*
 * A flag that is set before the data that it announces: wrong only if the
 * other thread reads in the few instructions in between.
 */
static volatile int published, flag;

static void *announces(void *arg)
{
    long i = (long)arg;
    static long early;

    pin(i);
    for (int n = 1; n <= 20; n++) {
        pthread_barrier_wait(&barrier);
        if (i == 0) {
            spin(500 + 13 * n);
            flag = n;
            asm volatile("nop; nop; nop; nop; nop; nop");
            published = n;
        } else {
            spin(400 + 11 * n);
            while (flag != n) {
                spin(20);
            }
            early += published != n;
        }
    }
    pthread_barrier_wait(&barrier);
    if (i == 1) {
        out("publish early=%ld\n", early);
    }
    return NULL;
}

static void test_publish(void)
{
    start(2, announces);
    join(2);
}

static void run(char *path, char *argument)
{
    char *words[16] = { path };
    int count = 1, pipes[2], status;
    char text[4096];
    pid_t child;
    ssize_t got;

    for (char *w = strtok(argument, ","); w && count < 15;
         w = strtok(NULL, ",")) {
        words[count++] = w;
    }
    if (pipe(pipes)) {
        return;
    }
    child = fork();
    if (!child) {
        dup2(pipes[1], 1);
        dup2(pipes[1], 2);
        close(pipes[0]);
        execv(path, words);
        _exit(127);
    }
    close(pipes[1]);
    while ((got = read(pipes[0], text, sizeof(text) - 1)) > 0) {
        text[got] = 0;
        out("%s", text);
    }
    waitpid(child, &status, 0);
    out("run %s status=%d\n", path, status);
}

static void do_word(char *word, int cpus)
{
    char *argument = strchr(word, '=');
    long n;

    if (argument) {
        *argument++ = 0;
    }
    n = argument ? strtol(argument, NULL, 0) : cpus;
    if (!strcmp(word, "busy")) {
        test_busy(n);
    } else if (!strcmp(word, "mutex")) {
        test_mutex(n);
    } else if (!strcmp(word, "futex")) {
        test_futex();
    } else if (!strcmp(word, "spin")) {
        test_spin(n);
    } else if (!strcmp(word, "tsc")) {
        test_tsc(n);
    } else if (!strcmp(word, "atomic")) {
        test_atomic(n);
    } else if (!strcmp(word, "wake")) {
        test_wake(cpus, n);
    } else if (!strcmp(word, "hogs")) {
        start_hogs(n);
    } else if (!strcmp(word, "sleeps")) {
        test_sleeps(n);
    } else if (!strcmp(word, "cancels")) {
        test_cancels(n);
    } else if (!strcmp(word, "race")) {
        test_race();
    } else if (!strcmp(word, "publish")) {
        test_publish();
    } else if (!strcmp(word, "idle")) {
        struct timespec t = { n, 0 };

        nanosleep(&t, NULL);
        out("idle s=%ld\n", n);
    } else if (!strcmp(word, "run")) {
        char *rest = argument ? strchr(argument, ',') : NULL;

        if (rest) {
            *rest++ = 0;
        }
        run(argument, rest);
    } else {
        out("unknown word %s\n", word);
    }
}

/*
 * If nothing answers at the ports, as in an emulator other than QEMU, the
 * job is on the kernel's command line (job=WORD,WORD), which the
 * kernel turns into an environment variable.
 */
static bool job_of_command_line(char *text, size_t room)
{
    const char *job = getenv("job");

    if (!job) {
        return false;
    }
    snprintf(text, room, "%s", job);
    for (char *c = text; *c; c++) {
        *c = *c == ',' ? ' ' : *c;
    }
    return true;
}

/* Reads a big-endian number from the data port of fw_cfg. */
static uint32_t big_endian(int bytes)
{
    uint32_t value = 0;

    while (bytes--) {
        value = value << 8 | inb(0x511);
    }
    return value;
}

/* Reads the job from the command line or from QEMU (fw_cfg, by port I/O). */
static void read_job(char *text, size_t room)
{
    uint32_t count;

    text[0] = 0;
    if (job_of_command_line(text, room)) {
        return;
    }
    outw(0x19, 0x510);
    count = big_endian(4);
    while (count--) {
        uint32_t size = big_endian(4), select = big_endian(2);
        char name[56];

        big_endian(2);
        for (size_t i = 0; i < sizeof(name); i++) {
            name[i] = inb(0x511);
        }
        if (!strcmp(name, "opt/assize/job")) {
            outw(select, 0x510);
            for (uint32_t i = 0; i < size && i + 1 < room; i++) {
                text[i] = inb(0x511);
                text[i + 1] = 0;
            }
            return;
        }
    }
}

int main(void)
{
    static char job[4096];
    int cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t before, after;
    char *rest;

    iopl(3);
    mkdir("/proc", 0755);
    mkdir("/sys", 0755);
    mkdir("/dev", 0755);
    mkdir("/tmp", 0755);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sysfs", "/sys", "sysfs", 0, NULL);
    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
    sleep(3);
    /* QEMU started with -action panic=pause stops here. */
    asm volatile("rdtsc; shl $32, %%rdx; or %%rdx, %%rax; mov %%rax, %0;"
                 "mov $0x505, %%edx; mov $1, %%eax; outb %%al, %%dx;"
                 "rdtsc; shl $32, %%rdx; or %%rdx, %%rax; mov %%rax, %1"
                 : "=&r"(before), "=&r"(after) : : "rax", "rdx", "memory");
    out("cpus=%d tsc=%llu resumed=%llu\n", cpus, (unsigned long long)before,
        (unsigned long long)(after - before));
    read_job(job, sizeof(job));
    for (char *word = strtok_r(job, " \n", &rest); word;
         word = strtok_r(NULL, " \n", &rest)) {
        do_word(word, cpus);
    }
    out("hash=%016llx tsc=%llu\n", (unsigned long long)hash,
        (unsigned long long)__rdtsc());
    outb(0, 0xf4);
    for (;;) {
        pause();
    }
}
