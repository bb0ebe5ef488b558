import { closeSync, openSync, readSync } from 'node:fs'
import { fieldOf } from '../records.ts'
import type { Runner } from '../runner.ts'
import { CHANNEL_CLOSED, type Channel, openChannel } from './channel.ts'
import type { Confinement } from './confine.ts'
import { closeDescriptor, sendDescriptor, socketPair } from './pass-file.ts'
import { createSharedMarks } from './shared-marks.ts'
import { createTraffic, TRAFFIC_LIMITS } from './traffic.ts'

/** A child process of this program that runs jobs under a system call filter and Landlock. */
export interface ChildRunner extends Runner {
  /** Resolves with the restrictions in force once the child reported them. Rejects if it ended before. */
  confined: Promise<Confinement>
  readonly pid: number
  /** Lets the child try forbidden actions → those that succeeded, as text. Never resolves if the child ends first. */
  selfTest(): Promise<string[]>
}

/** Messages of the channel itself. */
export interface ConfinedMessage {
  kind: 'confined'
  confinement: Confinement
}

export interface SelfTestedMessage {
  kind: 'self_tested'
  broken: string[]
}

export interface ChildOptions {
  /** Program and arguments; the ID of this process and `memoryBytes` are appended. */
  command: readonly string[]
  /** The complete environment of the child. */
  env?: Record<string, string>
  /** Resident memory limit in bytes; the child is ended above it. */
  memoryBytes: number
  /** Size limit of one message from it, in bytes. */
  maxMessageBytes: number
}

/** Starts the child with three descriptors: 0 for messages, 1 for files and 2 for error output, of which the
 *  beginning is kept. Its environment is empty except for required runtime settings. A file in a message (an object
 *  with `fd` and `byteLength`) reaches it reopened read-only. Throws if it cannot be started. */
export function startChild(options: ChildOptions): ChildRunner {
  const marks = createSharedMarks()
  const traffic = createTraffic(() => performance.now())
  const [ours, theirs] = socketPair()
  const [ourFiles, theirFiles] = socketPair()
  let listener = (_: unknown) => {}
  let whenEnded = (_: string) => {}
  let ended: string | null = null
  let channel: Channel | null = null
  const said: string[] = []
  const confinement = Promise.withResolvers<Confinement>()
  const tested = Promise.withResolvers<string[]>()
  confinement.promise.catch(() => {}) // not requested by its starter

  const end = (reason: string) => {
    if (ended !== null) return
    const last = said.join('').trim().slice(-SAID_CHARACTERS)
    ended = last === '' ? reason : `${reason}\n${last}`
    child?.kill('SIGKILL')
    channel?.close()
    closeDescriptor(ourFiles)
    memory?.stop()
    marks.stop()
    confinement.reject(new Error(ended))
    whenEnded(ended)
  }

  let child: Bun.Subprocess<number, number, 'pipe'> | null = null
  let memory: { stop(): void } | null = null
  try {
    sendDescriptor(ourFiles, marks.fd)
    child = Bun.spawn([...options.command, String(process.pid), String(options.memoryBytes)], {
      cwd: '/',
      env: options.env ?? {},
      stdio: [theirs, theirFiles, 'pipe'],
      onExit: (_, code, signal) =>
        end(signal === null ? `the process exited with code ${code}` : `signal ${signal} ended the process`),
    }) as Bun.Subprocess<number, number, 'pipe'>
  } catch (error) {
    for (const fd of [ours, ourFiles]) closeDescriptor(fd)
    marks.stop()
    throw error
  } finally {
    for (const fd of [theirs, theirFiles]) closeDescriptor(fd)
  }
  child.unref()
  void keepBeginning(child.stderr, said, () => end('the process wrote too much to stderr'))
  memory = watchMemory(child.pid, options.memoryBytes, () => end('the process exceeded its memory limit'))

  const onMessage = (message: unknown) => {
    const kind = fieldOf(message, 'kind')
    if (kind === 'confined') return confinement.resolve(confinementOf(fieldOf(message, 'confinement')))
    if (kind === 'self_tested') return tested.resolve(wordsOf(fieldOf(message, 'broken')))
    listener(message)
  }
  channel = openChannel({
    fd: ours,
    maxBytes: options.maxMessageBytes,
    onMessage,
    onEnd: (reason) => {
      // It closes before the exit is known, which says why.
      if (reason === CHANNEL_CLOSED) setTimeout(() => end(reason), EXIT_MS).unref()
      else end(reason)
    },
    sendFile: (fd) => passReadOnly(ourFiles, fd),
    onFrame: traffic.frame,
  })
  marks.watch((message) => listener(message))
  const send = (message: unknown) => {
    if (ended !== null) return
    if (fieldOf(message, 'kind') === 'job') traffic.job()
    channel?.send(message)
  }

  return {
    pid: child.pid,
    confined: confinement.promise,
    send,
    selfTest: () => {
      send({ kind: 'self_test' })
      return tested.promise
    },
    onMessage: (next) => {
      listener = next
    },
    onEnd: (next) => {
      whenEnded = next
      const reason = ended
      if (reason !== null) queueMicrotask(() => next(reason))
    },
    end: () => end('the process was stopped'),
  }
}

/** Reopened, because a copy of our descriptor would also allow writing to the file. proc_pid_fd(5) */
function passReadOnly(socket: number, fd: number): void {
  const reading = openSync(`/proc/self/fd/${fd}`, 'r')
  try {
    sendDescriptor(socket, reading)
  } finally {
    closeSync(reading)
  }
}

/** Watches the resident memory from outside: the runtime does not count its heap against a limit of the process
 *  itself. The file is opened immediately, because a process that forbids inspection hides it later
 *  (PR_SET_DUMPABLE). proc_pid_statm(5) */
function watchMemory(pid: number, limitBytes: number, tooMuch: () => void): { stop(): void } | null {
  let statm: number
  try {
    statm = openSync(`/proc/${pid}/statm`, 'r')
  } catch {
    return null
  }
  const bytes = Buffer.alloc(256)
  const timer = setInterval(() => {
    try {
      const length = readSync(statm, bytes, 0, bytes.length, 0)
      const resident = Number(bytes.toString('latin1', 0, length).split(' ')[1]) * PAGE_BYTES
      if (resident > limitBytes) tooMuch()
    } catch {} // it has ended, which its exit reports
  }, MEMORY_MS)
  timer.unref()
  let stopped = false
  return {
    stop: () => {
      clearInterval(timer)
      if (!stopped) closeSync(statm)
      stopped = true
    },
  }
}

/** Reads the error output so that the child never blocks on it; a flood ends the child. */
async function keepBeginning(stderr: ReadableStream<Uint8Array>, said: string[], tooMuch: () => void): Promise<void> {
  let bytes = 0
  try {
    for await (const piece of stderr) {
      if (bytes < SAID_BYTES) said.push(Buffer.from(piece).toString('latin1', 0, SAID_BYTES - bytes))
      bytes += piece.length
      if (bytes > TRAFFIC_LIMITS.stderrBytes) return tooMuch()
    }
  } catch {}
}

function confinementOf(held: unknown): Confinement {
  const landlock = fieldOf(held, 'landlock')
  return {
    seccomp: fieldOf(held, 'seccomp') === true,
    landlock: typeof landlock === 'number' ? Math.trunc(landlock) : 0,
  }
}

const wordsOf = (broken: unknown) => (Array.isArray(broken) ? broken.slice(0, 20).map(String) : [])

/** An exit follows the closed channel within milliseconds; a crash report first takes a while. */
const EXIT_MS = 1_000
const SAID_BYTES = 8_192
const SAID_CHARACTERS = 1_000
const MEMORY_MS = 100
/** Page size of x86-64 and nearly every arm64 kernel. Larger pages make the limit stricter by that factor, never
 *  looser. */
const PAGE_BYTES = 4_096
