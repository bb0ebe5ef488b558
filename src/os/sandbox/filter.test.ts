import { describe, expect, test } from 'bun:test'
import { readerFilter } from './filter.ts'
import { processorOf } from './system-calls.ts'

const KILL = 0x80000000
const ALLOW = 0x7fff0000
const EPERM = 0x00050001
const ENOSYS = 0x00050026
const PID = 4242

/** The kernel's answer: a classic BPF machine with what the filter uses. */
function judge(arch: 'x64' | 'arm64', nr: number, args: number[] = [], auditArch?: number): number {
  const processor = processorOf(arch)!
  const { bytes, instructions } = readerFilter(processor, PID)
  expect(bytes.length).toBe(instructions * 8)
  const data = Buffer.alloc(64)
  data.writeUInt32LE(nr >>> 0, 0)
  data.writeUInt32LE((auditArch ?? processor.auditArch) >>> 0, 4)
  for (const [at, value] of args.entries()) data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * at)
  let loaded = 0
  for (let at = 0; at < instructions; at++) {
    const code = bytes.readUInt16LE(at * 8)
    const [ifTrue, ifFalse] = [bytes[at * 8 + 2]!, bytes[at * 8 + 3]!]
    const value = bytes.readUInt32LE(at * 8 + 4)
    if (code === 0x20) loaded = data.readUInt32LE(value)
    else if (code === 0x15) at += loaded === value ? ifTrue : ifFalse
    else if (code === 0x45) at += (loaded & value) !== 0 ? ifTrue : ifFalse
    else if (code === 0x06) return value
    else throw new Error(`instruction ${code}`)
  }
  throw new Error('it ended without an answer')
}

describe.each(['x64', 'arm64'] as const)('the filter for %s', (arch) => {
  const { calls } = processorOf(arch)!
  const answer = (name: string, ...args: number[]) => judge(arch, calls[name]!, args)

  test('lets the runtime compute, wait and use its open files', () => {
    for (const name of [
      'read',
      'write',
      'mmap',
      'mprotect',
      'futex',
      'epoll_ctl',
      'epoll_pwait',
      'exit_group',
      'getrandom',
      'recvmsg',
    ]) {
      expect([name, answer(name)]).toEqual([name, ALLOW])
    }
  })

  // threat: reader-breakout
  test('refuses every call for files, networks and other processes', () => {
    for (const name of [
      'openat',
      'socket',
      'execve',
      'ptrace',
      'kill',
      'process_vm_writev',
      'io_uring_setup',
      'seccomp',
    ]) {
      expect([name, answer(name)]).toEqual([name, EPERM])
    }
  })

  test('refuses every call that it does not name', () => {
    const allowed = Array.from({ length: 1_000 }, (_, nr) => nr).filter((nr) => judge(arch, nr) === ALLOW)
    const named = Object.values(calls)
    expect(allowed.filter((nr) => !named.includes(nr))).toEqual([])
    expect(judge(arch, 0x40000000 | calls.read!)).toBe(EPERM) // x32
    expect(judge(arch, 0xffffffff)).toBe(EPERM)
  })

  test('ends the process at a call of another architecture', () => {
    expect(judge(arch, calls.read!, [], 0x40000003)).toBe(KILL)
  })

  test('checks the arguments that distinguish a thread from a process, and itself from others', () => {
    expect(answer('clone', 0x3d0f00)).toBe(ALLOW) // pthread_create
    expect(answer('clone', 17)).toBe(EPERM) // fork: SIGCHLD
    expect(answer('clone', 0x10000000 | 17)).toBe(EPERM) // a user namespace
    expect(answer('clone3')).toBe(ENOSYS)
    expect(answer('tgkill', PID, 1, 10)).toBe(ALLOW)
    expect(answer('tgkill', 1, 1, 9)).toBe(EPERM)
    expect(answer('prctl', 15)).toBe(ALLOW)
    expect(answer('prctl', 4, 1)).toBe(EPERM) // PR_SET_DUMPABLE
    expect(answer('fcntl', 0, 4)).toBe(ALLOW)
    expect(answer('fcntl', 0, 8)).toBe(EPERM) // F_SETOWN: signals to any process
    expect(answer('fcntl', 0, 1030)).toBe(EPERM) // F_DUPFD_CLOEXEC
    expect(answer('ioctl', 0, 0x5421)).toBe(ALLOW)
    expect(answer('ioctl', 0, 0x5412)).toBe(EPERM) // TIOCSTI
  })
})
