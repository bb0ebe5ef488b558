import { readFileSync } from 'node:fs'
import { kernel, pinned } from './kernel.ts'
import { type Processor, processorOf } from './system-calls.ts'

/** Tries forbidden actions inside a confined process. Returns those that succeeded, as text; [] if the sandbox holds. */
export function breakOut(parent: number): string[] {
  const processor = processorOf()
  if (processor === null) return ['run without a system call filter']
  const { calls } = processor
  const { call } = kernel()
  const file = pinned(Buffer.from('/etc/passwd\0'))
  const attempts: [what: string, went: () => boolean][] = [
    ['open a file', () => call(calls.openat, AT_FDCWD, file.address, 0, 0) >= 0],
    ['read a file', () => readFileSync('/etc/passwd').length > 0],
    ['read its own memory map', () => readFileSync('/proc/self/maps').length > 0],
    ['create an internet socket', () => call(calls.socket, AF_INET, SOCK_STREAM, 0) >= 0],
    ['create a unix socket', () => call(calls.socket, AF_UNIX, SOCK_STREAM, 0) >= 0],
    ['run a program', () => isLetThrough(calls.execve, 0, 0, 0) || Bun.spawnSync(['/bin/true']).success],
    ['start a process', () => startsProcess(calls)],
    ['signal its parent', () => call(calls.kill, parent, 0) >= 0 || call(calls.tgkill, parent, parent, 0) >= 0],
    ['trace a process', () => isLetThrough(calls.ptrace, NO_SUCH_REQUEST, parent, 0, 0)],
    ['write into its parent', () => call(calls.process_vm_writev, parent, 0, 0, 0, 0) >= 0],
    ['use io_uring', () => call(calls.io_uring_setup, 1, file.address) >= 0],
    ['call prctl', () => call(calls.prctl, PR_GET_DUMPABLE) >= 0],
  ]
  return attempts.flatMap(([what, went]) => (succeeds(went) ? [what] : []))
}

/** With invalid arguments, so that the call has no effect even if the filter allows it. */
function isLetThrough(number: number, ...args: number[]): boolean {
  return kernel().call(number, ...args) >= 0 || kernel().errno() !== EPERM
}

/** A child of a permitted fork ends immediately. */
function startsProcess(calls: Processor['calls']): boolean {
  const { call } = kernel()
  const pid = call(calls.clone, SIGCHLD, 0, 0, 0, 0)
  if (pid === 0) call(calls.exit_group, 0)
  return pid > 0
}

function succeeds(went: () => boolean): boolean {
  try {
    return went()
  } catch {
    return false
  }
}

const AT_FDCWD = -100
const AF_UNIX = 1
const AF_INET = 2
const SOCK_STREAM = 1
const SIGCHLD = 17
const NO_SUCH_REQUEST = 0xffff
const EPERM = 1
const PR_GET_DUMPABLE = 3
