import type { Processor } from './system-calls.ts'

/** A seccomp filter: struct sock_filter[] as bytes. linux/filter.h, seccomp(2) */
export interface Filter {
  bytes: Buffer
  instructions: number
}

/** Processor and process ID → the filter. Allows what a runtime needs to compute and to use its open descriptors:
 *  memory, its own threads, waiting, time and randomness. Everything else fails with EPERM: opening files, creating
 *  sockets, starting programs, touching other processes. System calls of another processor architecture end the
 *  process. */
export function readerFilter({ auditArch, calls }: Processor, pid: number): Filter {
  const program: Instruction[] = []
  const call = (name: string) => calls[name]
  program.push(load(ARCH_AT), skipOneIf(auditArch), returns(KILL_PROCESS), load(NUMBER_AT))

  const allowIf = (name: string, argument: number, test: Test) => {
    const number = call(name)
    if (number === undefined) return
    const checks = test.values.map((value, at) => check(test.how, value, test.values.length - at))
    program.push(
      { code: JUMP_EQUAL, ifTrue: 0, ifFalse: checks.length + 3, value: number },
      load(ARGUMENTS_AT + 8 * argument),
      ...checks,
      returns(FAIL | EPERM),
      returns(ALLOW),
    )
  }
  allowIf('clone', 0, { how: 'anyBit', values: [CLONE_THREAD] }) // a thread, never a process
  allowIf('tgkill', 0, { how: 'equals', values: [pid] }) // the runtime's collector stops its own threads by signals
  allowIf('prctl', 0, { how: 'equals', values: [PR_SET_NAME, PR_SET_VMA] })
  allowIf('fcntl', 1, { how: 'equals', values: [F_GETFD, F_SETFD, F_GETFL, F_SETFL] }) // not F_SETOWN, which sends signals
  allowIf('ioctl', 1, { how: 'equals', values: [FIONREAD, FIONBIO] })
  // Its flags are in memory, which a filter cannot read; the C library falls back to clone.
  const clone3 = call('clone3')
  if (clone3 !== undefined) program.push(skipOneUnless(clone3), returns(FAIL | ENOSYS))
  for (const name of ALLOWED) {
    const number = call(name)
    if (number !== undefined) program.push(skipOneUnless(number), returns(ALLOW))
  }
  program.push(returns(FAIL | EPERM))
  return { bytes: Buffer.concat(program.map(bytesOf)), instructions: program.length }
}

/** Allowed without conditions. */
const ALLOWED = [
  ...['read', 'write', 'readv', 'writev', 'pread64', 'lseek', 'close', 'fstat', 'shutdown', 'getsockopt'],
  ...['sendto', 'recvfrom', 'sendmsg', 'recvmsg', 'poll', 'ppoll'],
  ...['epoll_create1', 'epoll_ctl', 'epoll_wait', 'epoll_pwait', 'epoll_pwait2', 'eventfd2'],
  ...['timerfd_create', 'timerfd_settime', 'timerfd_gettime'],
  ...['mmap', 'munmap', 'mprotect', 'mremap', 'madvise', 'mincore', 'brk', 'membarrier', 'rseq'],
  ...['futex', 'futex_wait', 'futex_wake', 'set_robust_list', 'sched_yield', 'sched_getaffinity', 'getcpu'],
  ...['rt_sigaction', 'rt_sigprocmask', 'rt_sigreturn', 'rt_sigtimedwait', 'rt_sigsuspend', 'sigaltstack'],
  ...['clock_gettime', 'clock_getres', 'clock_nanosleep', 'nanosleep', 'gettimeofday', 'restart_syscall'],
  ...['getpid', 'gettid', 'getrandom', 'getrusage', 'sysinfo', 'uname', 'exit', 'exit_group'],
]

interface Instruction {
  code: number
  ifTrue: number
  ifFalse: number
  value: number
}
interface Test {
  how: 'equals' | 'anyBit'
  values: number[]
}

// linux/bpf_common.h
const LOAD_WORD = 0x20
const JUMP_EQUAL = 0x15
const JUMP_ANY_BIT = 0x45
const RETURN = 0x06
// struct seccomp_data {nr, arch, instruction_pointer, args[6]}, little-endian: the low half of an argument comes first.
const NUMBER_AT = 0
const ARCH_AT = 4
const ARGUMENTS_AT = 16
// linux/seccomp.h
const ALLOW = 0x7fff0000
const FAIL = 0x00050000
const KILL_PROCESS = 0x80000000
const EPERM = 1
const ENOSYS = 38
const CLONE_THREAD = 0x10000
const PR_SET_NAME = 15
const PR_SET_VMA = 0x53564d41
const [F_GETFD, F_SETFD, F_GETFL, F_SETFL] = [1, 2, 3, 4]
const FIONREAD = 0x541b
const FIONBIO = 0x5421

const load = (at: number): Instruction => ({ code: LOAD_WORD, ifTrue: 0, ifFalse: 0, value: at })
const returns = (value: number): Instruction => ({ code: RETURN, ifTrue: 0, ifFalse: 0, value })
const skipOneIf = (value: number): Instruction => ({ code: JUMP_EQUAL, ifTrue: 1, ifFalse: 0, value })
const skipOneUnless = (value: number): Instruction => ({ code: JUMP_EQUAL, ifTrue: 0, ifFalse: 1, value })

/** One of several consecutive tests; after the last one come the refusal and then the permission. */
function check(how: Test['how'], value: number, left: number): Instruction {
  return { code: how === 'equals' ? JUMP_EQUAL : JUMP_ANY_BIT, ifTrue: left, ifFalse: 0, value }
}

function bytesOf({ code, ifTrue, ifFalse, value }: Instruction): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
