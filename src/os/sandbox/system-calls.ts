/** Numbers of Linux system calls by processor and name. Only those that the sandbox allows, restricts or uses itself.
 *  asm/unistd_64.h (x86-64), asm-generic/unistd.h (arm64). */
export interface Processor {
  /** AUDIT_ARCH_*, linux/audit.h */
  auditArch: number
  calls: Readonly<Record<string, number>> & Readonly<Record<UsedCall, number>>
}

/** Calls that the program makes itself, to confine a process and to test that. */
type UsedCall =
  | 'seccomp'
  | 'clone'
  | 'exit_group'
  | 'kill'
  | 'tgkill'
  | 'prctl'
  | 'socket'
  | 'ptrace'
  | 'openat'
  | 'execve'
  | 'process_vm_writev'
  | 'io_uring_setup'

/** Table of this machine; null for an unknown processor, which then runs without a filter. */
export function processorOf(arch: string = process.arch): Processor | null {
  return arch === 'x64' ? X64 : arch === 'arm64' ? ARM64 : null
}

/** These numbers are the same on every processor (Linux 5.13). */
export const LANDLOCK = { createRuleset: 444, addRule: 445, restrictSelf: 446 } as const

const X64: Processor = {
  auditArch: 0xc000003e,
  calls: {
    read: 0,
    write: 1,
    close: 3,
    fstat: 5,
    poll: 7,
    lseek: 8,
    mmap: 9,
    mprotect: 10,
    munmap: 11,
    brk: 12,
    rt_sigaction: 13,
    rt_sigprocmask: 14,
    rt_sigreturn: 15,
    ioctl: 16,
    pread64: 17,
    readv: 19,
    writev: 20,
    sched_yield: 24,
    mremap: 25,
    mincore: 27,
    madvise: 28,
    nanosleep: 35,
    getpid: 39,
    sendto: 44,
    recvfrom: 45,
    sendmsg: 46,
    recvmsg: 47,
    shutdown: 48,
    getsockopt: 55,
    clone: 56,
    exit: 60,
    kill: 62,
    uname: 63,
    fcntl: 72,
    gettimeofday: 96,
    getrusage: 98,
    sysinfo: 99,
    rt_sigtimedwait: 128,
    rt_sigsuspend: 130,
    sigaltstack: 131,
    prctl: 157,
    gettid: 186,
    futex: 202,
    sched_getaffinity: 204,
    restart_syscall: 219,
    clock_gettime: 228,
    clock_getres: 229,
    clock_nanosleep: 230,
    exit_group: 231,
    epoll_wait: 232,
    epoll_ctl: 233,
    tgkill: 234,
    ppoll: 271,
    set_robust_list: 273,
    epoll_pwait: 281,
    timerfd_create: 283,
    timerfd_settime: 286,
    timerfd_gettime: 287,
    eventfd2: 290,
    epoll_create1: 291,
    getcpu: 309,
    seccomp: 317,
    getrandom: 318,
    membarrier: 324,
    rseq: 334,
    clone3: 435,
    epoll_pwait2: 441,
    futex_wake: 454,
    futex_wait: 455,
    // Never allowed; the self test tries them.
    socket: 41,
    ptrace: 101,
    openat: 257,
    execve: 59,
    fork: 57,
    process_vm_writev: 311,
    io_uring_setup: 425,
  },
}

const ARM64: Processor = {
  auditArch: 0xc00000b7,
  calls: {
    eventfd2: 19,
    epoll_create1: 20,
    epoll_ctl: 21,
    epoll_pwait: 22,
    fcntl: 25,
    ioctl: 29,
    close: 57,
    lseek: 62,
    read: 63,
    write: 64,
    readv: 65,
    writev: 66,
    pread64: 67,
    ppoll: 73,
    fstat: 80,
    timerfd_create: 85,
    timerfd_settime: 86,
    timerfd_gettime: 87,
    exit: 93,
    exit_group: 94,
    futex: 98,
    set_robust_list: 99,
    nanosleep: 101,
    clock_gettime: 113,
    clock_getres: 114,
    clock_nanosleep: 115,
    sched_getaffinity: 123,
    sched_yield: 124,
    restart_syscall: 128,
    kill: 129,
    tgkill: 131,
    sigaltstack: 132,
    rt_sigsuspend: 133,
    rt_sigaction: 134,
    rt_sigprocmask: 135,
    rt_sigtimedwait: 137,
    rt_sigreturn: 139,
    uname: 160,
    getrusage: 165,
    prctl: 167,
    getcpu: 168,
    gettimeofday: 169,
    getpid: 172,
    gettid: 178,
    sysinfo: 179,
    sendto: 206,
    recvfrom: 207,
    getsockopt: 209,
    shutdown: 210,
    sendmsg: 211,
    recvmsg: 212,
    brk: 214,
    munmap: 215,
    mremap: 216,
    clone: 220,
    mmap: 222,
    mprotect: 226,
    mincore: 232,
    madvise: 233,
    seccomp: 277,
    getrandom: 278,
    membarrier: 283,
    rseq: 293,
    clone3: 435,
    epoll_pwait2: 441,
    futex_wake: 454,
    futex_wait: 455,
    // Never allowed; the self test tries them.
    socket: 198,
    ptrace: 117,
    openat: 56,
    execve: 221,
    process_vm_writev: 271,
    io_uring_setup: 425,
  },
}
