import { readFileSync, writeFileSync } from 'node:fs'
import { readerFilter } from './filter.ts'
import { kernel, pinned } from './kernel.ts'
import { restrictToReading } from './landlock.ts'
import { type Processor, processorOf } from './system-calls.ts'

/** Restrictions of a confined process. */
export interface Confinement {
  /** True if the system call filter is in force. */
  seccomp: boolean
  /** Version of Landlock in force; 0 = none. */
  landlock: number
}

/** First half, before the code that parses untrusted bytes is loaded: drops privileges, lets Landlock close all
 *  files except the program's own, and restarts the program in place with `nextArgs`. The restart applies Landlock
 *  to every thread: it covers only the calling thread and later ones, and the runtime starts helper threads before
 *  our first line runs. `landlock=N` is added to the arguments. `readable`: files and directories from which the
 *  program is loaded when it runs from source. Returns only if the restart fails. */
export function restartRestricted(nextArgs: readonly string[], readable: readonly string[]): void {
  attempt(() => writeFileSync('/proc/self/oom_score_adj', '1000')) // when memory runs out, the kernel ends this process first
  attempt(dropCapabilities)
  attempt(() => setLimit(RLIMIT_CORE, 0))
  attempt(() => setLimit(RLIMIT_FSIZE, 0))
  const { execPath, argv, argv0, env } = process
  let landlock = 0
  if (attempt(() => prctl(PR_SET_NO_NEW_PRIVS, 1))) {
    attempt(() => {
      landlock = restrictToReading([execPath, ...mappedLibraries(), ...OWN_FACTS, ...readable])
    })
  }
  const isBuilt = process.env.POSTRIDER_GIT_SHA !== undefined
  const entry = isBuilt ? [] : [argv[1] ?? '']
  process.execve?.(execPath, [argv0, ...entry, ...nextArgs, `landlock=${landlock}`], env as Record<string, string>)
}

/** Second half, once all required code is loaded and has run once. The process dies with its parent (even on
 *  SIGKILL), cannot be inspected, may allocate `memoryBytes` more than now in large pieces, and all its threads may
 *  only do what sandbox/filter.ts allows. `parent`: ID of the parent, which must still exist. Throws if the parent
 *  has ended. Returns the restrictions in force; features that the kernel lacks are missing. */
export function confine(options: { parent: number; landlock: number; memoryBytes: number }): Confinement {
  attempt(() => prctl(PR_SET_PDEATHSIG, SIGKILL))
  if (process.ppid !== options.parent) throw new Error('the parent process has ended')
  attempt(() => prctl(PR_SET_DUMPABLE, 0))
  attempt(() => setLimit(RLIMIT_DATA, dataBytes() + options.memoryBytes))
  const isPrivileged = !attempt(() => prctl(PR_SET_NO_NEW_PRIVS, 1))
  if (options.landlock > 0) attempt(() => restrictToReading([])) // nor open the program's own files, from this thread
  const processor = processorOf()
  const seccomp = !isPrivileged && processor !== null && attempt(() => setFilter(processor))
  return { seccomp, landlock: options.landlock }
}

/** Applies to all threads at once. */
function setFilter(processor: Processor): void {
  const { bytes, instructions } = readerFilter(processor, process.pid)
  const { call, errno } = kernel()
  const program = pinned(bytes)
  const head = Buffer.alloc(16) // struct sock_fprog {length, address}
  head.writeUInt16LE(instructions, 0)
  head.writeBigUInt64LE(BigInt(program.address), 8)
  const { hold, address } = pinned(head)
  const failed = call(processor.calls.seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, address)
  if (failed !== 0 || hold.length === 0 || program.hold.length === 0) {
    throw new Error(`seccomp failed with ${failed}, errno ${errno()}`)
  }
}

/** Drops capabilities, for example of a parent that may bind low ports; a child needs none. capset(2),
 *  capabilities(7) */
function dropCapabilities(): void {
  attempt(() => prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL))
  const head = Buffer.alloc(8)
  head.writeUInt32LE(CAPABILITY_VERSION_3, 0)
  const of = pinned(head)
  const none = pinned(Buffer.alloc(24))
  const number = process.arch === 'arm64' ? 91 : 126
  if (kernel().call(number, of.address, none.address) !== 0 || of.hold.length + none.hold.length === 0) {
    throw new Error('capset failed')
  }
}

/** Shared libraries that this process has loaded; the restart loads them again. */
function mappedLibraries(): string[] {
  const lines = readFileSync('/proc/self/maps', 'utf8').split('\n')
  const paths = lines.filter((line) => line.includes('/')).map((line) => line.slice(line.indexOf('/')))
  return [...new Set(paths)].filter((path) => path.includes('.so', path.lastIndexOf('/')))
}

/** Base for RLIMIT_DATA: the runtime reserves some gigabytes at its start. */
function dataBytes(): number {
  const kilobytes = /^VmData:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  if (kilobytes === undefined) throw new Error('the kernel does not report VmData')
  return Number(kilobytes) * 1024
}

function prctl(option: number, value: number): void {
  const number = process.arch === 'arm64' ? 167 : 157
  if (kernel().call(number, option, value) !== 0) throw new Error(`prctl ${option} failed`)
}

function setLimit(resource: number, value: number): void {
  const limit = Buffer.alloc(16) // struct rlimit64 {soft, hard}
  limit.writeBigUInt64LE(BigInt(value), 0)
  limit.writeBigUInt64LE(BigInt(value), 8)
  const { hold, address } = pinned(limit)
  const number = process.arch === 'arm64' ? 261 : 302 // prlimit64
  if (kernel().call(number, 0, resource, address, 0) !== 0 || hold.length === 0) throw new Error('prlimit failed')
}

/** True if it succeeded. */
function attempt(step: () => unknown): boolean {
  try {
    step()
    return true
  } catch {
    return false
  }
}

/** Files that the runtime reads about itself and the machine at its start: the position of its stack, the number of
 *  processors. */
const OWN_FACTS = ['/proc/self', '/proc/stat', '/sys/devices/system/cpu', '/etc/ld.so.cache', '/proc/meminfo']
const SIGKILL = 9
// linux/prctl.h
const PR_SET_PDEATHSIG = 1
const PR_SET_DUMPABLE = 4
const PR_SET_NO_NEW_PRIVS = 38
const PR_CAP_AMBIENT = 47
const PR_CAP_AMBIENT_CLEAR_ALL = 4
const CAPABILITY_VERSION_3 = 0x20080522
// linux/resource.h
const RLIMIT_FSIZE = 1
const RLIMIT_DATA = 2
const RLIMIT_CORE = 4
// linux/seccomp.h
const SECCOMP_SET_MODE_FILTER = 1
const SECCOMP_FILTER_FLAG_TSYNC = 1
