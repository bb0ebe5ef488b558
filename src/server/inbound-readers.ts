import type { Log } from '../os/log.ts'
import { memoryLimit } from '../os/memory-limit.ts'
import type { Runner } from '../os/runner.ts'
import { runtimeSettings } from '../os/runtime-settings.ts'
import { type ChildRunner, startChild } from '../os/sandbox/child-runner.ts'
import { type Confinement, restartRestricted } from '../os/sandbox/confine.ts'
import { threadRunner } from '../os/thread-pool.ts'
import { startReaderThread } from '../threads.ts'

/** Starts readers of inbound mail (receiving/inbound/reader.ts): a child process of this program without access to files or
 *  network, or a thread if such a process cannot be started. */

/** First argument of the child process, before and after it restarted itself with its rights dropped. */
const READER_ARGUMENT = 'confined-reader'
const READER_RESTARTED = 'confined-reader-restarted'

/** Isolation of readers: `confined` by a system call filter and Landlock, `filtered` by the filter alone, `process` in a
 *  separate process without either, `thread` in this process. */
export type Separation = 'confined' | 'filtered' | 'process' | 'thread'

export interface Separated {
  kind: Separation
  /** Landlock version in force; 0 = none. */
  landlock: number
  /** Why a thread is used. */
  why: string | null
  /** Forbidden actions that succeeded in the self-test. */
  broken: string[]
}

export interface ReaderStarter {
  start(): Runner
  /** Starts a reader, runs its self-test and ends it. Never rejects. */
  probe(): Promise<Separated>
}

/** Creates a ReaderStarter. A child that ends before it is ready is replaced by a thread, and further readers are threads
 *  for five minutes. `onSeparation` is called when the isolation becomes known or changes. */
export function createReaderStarter(options: {
  onSeparation?: (kind: Separation, landlock: number, why: string | null) => void
  /** Replaces this program's own command. */
  command?: readonly string[]
  memoryBytes?: number
}): ReaderStarter {
  const { onSeparation = () => {}, command = readerCommand(), memoryBytes = readerMemory() } = options
  let known: Separation | null = null
  /** On the clock of performance.now(). */
  let threadsUntilMs = process.platform === 'linux' ? 0 : Number.POSITIVE_INFINITY
  const isThread = () => performance.now() < threadsUntilMs

  const become = (kind: Separation, landlock: number, why: string | null) => {
    if (known === kind) return
    known = kind
    onSeparation(kind, landlock, why)
  }
  const startThread = threadRunner(startReaderThread)
  const start = () => {
    if (isThread()) return startThread()
    try {
      const child = startChild({ command, env: runtimeSettings(), memoryBytes, maxMessageBytes: MAX_MESSAGE_BYTES })
      child.confined.then(
        (held) => become(separationOf(held), held.landlock, null),
        () => {}, // `instead` is called
      )
      return withSubstitute(child, child.confined, (why) => {
        threadsUntilMs = performance.now() + THREADS_MS
        become('thread', 0, why)
        return startThread()
      })
    } catch (error) {
      threadsUntilMs = performance.now() + THREADS_MS
      become('thread', 0, String(error))
      return startThread()
    }
  }
  const probe = async (): Promise<Separated> => {
    const none = { kind: 'thread' as const, landlock: 0, broken: [] }
    if (process.platform !== 'linux') return { ...none, why: 'sandboxed processes require Linux' }
    let child: ChildRunner | null = null
    try {
      child = startChild({ command, env: runtimeSettings(), memoryBytes, maxMessageBytes: MAX_MESSAGE_BYTES })
      const held = await inTime(child.confined)
      const kind = separationOf(held)
      const broken = kind === 'process' ? [] : await inTime(child.selfTest())
      become(kind, held.landlock, null)
      return { kind, landlock: held.landlock, why: null, broken }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      become('thread', 0, why)
      return { ...none, why }
    } finally {
      child?.end()
    }
  }
  return { start, probe }
}

/** The cause may be temporary, such as a lack of memory. */
const THREADS_MS = 300_000

/** Logs the isolation of readers. */
export function logSeparation(log: Log, kind: Separation, landlock: number, why: string | null): void {
  const fields = { separation: kind, landlock, ...(why === null ? {} : { error: why }) }
  if (kind === 'confined') log.info('inbound parser started in a sandboxed process', fields)
  else log.warn(`inbound parser started in ${WORDS[kind]}`, fields)
}

const WORDS = {
  filtered: 'a process without Landlock',
  process: 'a process without a system call filter',
  thread: 'a thread of the server',
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('the process did not start in time')), START_MS)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
const START_MS = 5_000

/** Entry point of the child process, called by `main.ts` for either of the two arguments. Never returns. */
export async function runReader(args: readonly string[]): Promise<never> {
  if (args[0] === READER_ARGUMENT) restartRestricted([READER_RESTARTED, ...args.slice(1)], sources())
  const { readerProcess } = await import('../receiving/inbound/reader-process.ts')
  await readerProcess(args.slice(1))
  return new Promise<never>(() => {})
}

/** Returns `runner`. If it ends before it was `ready`, switches to the runner that `instead` starts and sends it everything
 *  that was sent before. */
function withSubstitute(runner: Runner, ready: Promise<unknown>, instead: (why: string) => Runner): Runner {
  let current = runner
  let sent: unknown[] | null = []
  let hasEnded = false
  let listener = (_: unknown) => {}
  let whenEnded = (_: string) => {}
  ready.then(
    () => {
      sent = null
    },
    () => {},
  )
  const watch = (watched: Runner) => {
    watched.onMessage((message) => listener(message))
    watched.onEnd((why) => {
      if (sent === null || hasEnded) return whenEnded(why)
      current = instead(why)
      const again = sent
      sent = null
      watch(current)
      for (const message of again) current.send(message)
    })
  }
  watch(runner)
  return {
    send: (message) => {
      sent?.push(message)
      current.send(message)
    },
    onMessage: (next) => {
      listener = next
    },
    onEnd: (next) => {
      whenEnded = next
    },
    end: () => {
      hasEnded = true
      current.end()
    },
  }
}

function separationOf({ seccomp, landlock }: Confinement): Separation {
  return seccomp ? (landlock > 0 ? 'confined' : 'filtered') : 'process'
}

const isBuilt = process.env.POSTRIDER_GIT_SHA !== undefined

const readerCommand = () =>
  isBuilt
    ? [process.execPath, READER_ARGUMENT]
    : [process.execPath, new URL('../main.ts', import.meta.url).pathname, READER_ARGUMENT]

/** Directories that the program is loaded from. From source the runtime reads every directory above its modules, and
 *  Landlock allows a directory only with everything below it. Files are then blocked once everything is loaded. */
const sources = () => (isBuilt ? [] : ['/'])

/** A third of the memory limit, since both processes count against one limit. */
const readerMemory = () => Math.max(LEAST_MEMORY, Math.min(MOST_MEMORY, memoryLimit() / 3))
const LEAST_MEMORY = 256 * 2 ** 20
const MOST_MEMORY = 1024 * 2 ** 20

/** Size for the raw message, its texts, and forwarded copies for a hundred recipients in as many domains; answer-check.ts
 *  checks more closely. */
const MAX_MESSAGE_BYTES = 2 ** 31 - 1
