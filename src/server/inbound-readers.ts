import type { Log } from '../os/log.ts'
import { memoryLimit } from '../os/memory-limit.ts'
import type { Runner } from '../os/runner.ts'
import { runtimeSettings } from '../os/runtime-settings.ts'
import { type ChildRunner, startChild } from '../os/sandbox/child-runner.ts'
import { type Confinement, restartRestricted } from '../os/sandbox/confine.ts'
import { threadRunner } from '../os/thread-pool.ts'
import { startReaderThread } from '../threads.ts'

/** Readers of inbound mail: each a child process of this program that can reach nothing, or a thread where there is no such
 *  process to be had. What runs in it is inbound/reader-inside.ts. */

/** First argument of the child, before and after it has begun anew with its rights given up. */
export const READER_ARGUMENT = 'confined-reader'
export const READER_RESTARTED = 'confined-reader-restarted'

/** How readers are kept apart: `confined` by the system call filter and Landlock, `filtered` by the filter alone, `process`
 *  by neither, but in a process of its own; `thread` in this process. */
export type Separation = 'confined' | 'filtered' | 'process' | 'thread'

export interface Separated {
  kind: Separation
  /** Version in force; 0 = none. */
  landlock: number
  /** Why it is a thread. */
  why: string | null
  /** What a reader could do in the self test though it must not. */
  broken: string[]
}

export interface ReaderStarter {
  start(): Runner
  /** Starts a reader, lets it try to break out, and ends it. Never rejects. */
  probe(): Promise<Separated>
}

/** → a start of readers. A child that ends before it has said that it runs is replaced by a thread, and threads are what
 *  is started for the next five minutes. `onSeparation` is called when it becomes known or changes. */
export function createReaderStarter(options: {
  onSeparation?: (kind: Separation, landlock: number, why: string | null) => void
  /** Instead of this program's own. */
  command?: readonly string[]
  memoryBytes?: number
}): ReaderStarter {
  const { onSeparation = () => {}, command = readerCommand(), memoryBytes = readerMemory() } = options
  let known: Separation | null = null
  /** By the runtime's own clock. */
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
    if (process.platform !== 'linux') return { ...none, why: 'only Linux has them' }
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

/** What made a process fail may pass, as a lack of memory does. */
const THREADS_MS = 300_000

/** For the log of a server. */
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
  const timer = setTimeout(() => late.reject(new Error('it did not start in time')), START_MS)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
const START_MS = 5_000

/** The child's own program: what `main.ts` does when it is called with one of the two arguments. Never returns. */
export async function runReader(args: readonly string[]): Promise<never> {
  if (args[0] === READER_ARGUMENT) restartRestricted([READER_RESTARTED, ...args.slice(1)], sources())
  const { readerProcess } = await import('../inbound/reader-process.ts')
  await readerProcess(args.slice(1))
  return new Promise<never>(() => {})
}

/** `runner` until it ends without ever having been `ready`; then what `instead` starts, which gets all that was sent. */
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

/** What the program is loaded from. From source the runtime looks into every folder above its modules, and Landlock allows
 *  a folder only with all that is below it: then the files are shut once everything is loaded. */
const sources = () => (isBuilt ? [] : ['/'])

/** A third of what this process may have, since both count against one limit. */
const readerMemory = () => Math.max(LEAST_MEMORY, Math.min(MOST_MEMORY, memoryLimit() / 3))
const LEAST_MEMORY = 256 * 2 ** 20
const MOST_MEMORY = 1024 * 2 ** 20

/** The raw mail, its texts, and what is sent on for a hundred recipients in as many domains: answer-check.ts looks closer. */
const MAX_MESSAGE_BYTES = 2 ** 31 - 1
