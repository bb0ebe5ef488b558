import type { Download, Downloaded } from '../../net/https/download.ts'
import { FILE_LIMITS } from '../../net/https/limits.ts'
import { createFairQueue, type FairQueue } from '../../net/limiters/fair-queue.ts'
import { createMemoryBudget, type MemoryBudget, type Release } from '../../net/limiters/memory-budget.ts'
import type { Clock } from '../../os/clock.ts'
import type { Memory } from '../../os/memory.ts'
import { within } from '../../os/within.ts'

/** Downloads the files of attachments, within limits of time, concurrency and memory. */
export interface RemoteFiles {
  /** Opens the downloads of one request of this organization. `urls` are those of all its attachments. */
  open(organizationId: string, urls: ReadonlySet<string>): RequestFiles
}

/** The downloads of one request. */
export interface RequestFiles {
  /** Largest file, and the largest total of `use`. */
  readonly maxBytes: number
  /** URL → its file; once, however often it is asked for. Never rejects. */
  get(url: string): Promise<RemoteFile>
  /** Counts bytes that the messages of the request contain → whether they may be accepted together. */
  use(sizeBytes: number): boolean
  /** Reserves memory for processing messages with so many bytes of files, in place of the previous reservation.
   *  Resolves with false if none became free; from then on it does not wait, so that a batch of many slices ends. */
  begin(sizeBytes: number): Promise<boolean>
  /** Releases the memory. Downloads in progress end by themselves. */
  close(): void
}

/** `too_many`: the request has more than MAX_URLS different URLs. `busy`: others use the memory or all downloads. */
export type RemoteFile = Downloaded | { kind: 'too_many' }

export interface RemoteFilesDeps {
  download: Download
  memory: Memory
  clock: Clock
  /** Largest file, and all files of one request, each counted as often as the request uses it: the size of the largest
   *  message, which is less than the largest request body. */
  maxBytes: number
}

/** Creates the RemoteFiles of a server. A file of more than 256 KiB is read once memory is reserved, as a request body
 *  is. */
export function createRemoteFiles(deps: RemoteFilesDeps): RemoteFiles {
  const queue = createFairQueue(QUEUE, deps.clock.now)
  const budget = createMemoryBudget({
    totalBytes: BUDGET_BYTES,
    clock: deps.clock,
    beyond: (...bytes) => deps.memory.enter('upload', ...bytes),
  })
  return {
    open: (organizationId, urls) => new Downloads({ ...deps, queue, budget }, organizationId, urls),
  }
}

interface DownloadsDeps extends RemoteFilesDeps {
  queue: FairQueue
  budget: MemoryBudget
}

class Downloads implements RequestFiles {
  readonly maxBytes: number
  readonly #deps: DownloadsDeps
  readonly #organizationId: string
  readonly #allowed: ReadonlySet<string>
  readonly #endsAt: number
  readonly #files = new Map<string, Promise<RemoteFile>>()
  readonly #closed = new AbortController()
  #entered: Promise<boolean> | null = null
  #release: Release = () => {}
  #endWork: Release = () => {}
  /** No memory was free for the previous messages. */
  #isShort = false
  #arrivedBytes = 0
  #usedBytes = 0

  constructor(deps: DownloadsDeps, organizationId: string, urls: ReadonlySet<string>) {
    this.maxBytes = deps.maxBytes
    this.#deps = deps
    this.#organizationId = organizationId
    this.#allowed = new Set([...urls].slice(0, MAX_URLS))
    this.#endsAt = deps.clock.now() + TIME_MS
  }

  get(url: string): Promise<RemoteFile> {
    const file = this.#files.get(url) ?? (this.#allowed.has(url) ? this.#start(url) : Promise.resolve(TOO_MANY))
    this.#files.set(url, file)
    return file
  }

  use(sizeBytes: number): boolean {
    if (this.#usedBytes + sizeBytes > this.maxBytes) return false
    this.#usedBytes += sizeBytes
    return true
  }

  async begin(sizeBytes: number): Promise<boolean> {
    this.#endWork()
    this.#endWork = () => {}
    if (sizeBytes <= FILE_LIMITS.smallBytes) return true
    const waitMs = this.#isShort ? 0 : TIME_MS
    const release = await this.#deps.memory.enter('request', sizeBytes, waitMs, this.#closed.signal)
    if (release !== null) this.#endWork = release
    this.#isShort = release === null
    return release !== null
  }

  close(): void {
    this.#closed.abort()
    this.#endWork()
    this.#release()
  }

  async #start(url: string): Promise<RemoteFile> {
    const { queue, clock } = this.#deps
    const progress: Progress = { isWaiting: true }
    const host = URL.parse(url)?.host ?? ''
    const turn = queue.run(this.#organizationId, host, () => this.#load(url, progress)).then((file) => file ?? BUSY)
    return (await within(clock, this.#leftMs(), turn)) ?? (progress.isWaiting ? BUSY : TIMEOUT)
  }

  async #load(url: string, progress: Progress): Promise<RemoteFile> {
    const leftMs = this.#leftMs()
    if (this.#closed.signal.aborted || leftMs === 0) return BUSY
    progress.isWaiting = false
    const enter = async (sizeBytes: number) => {
      progress.isWaiting = true
      const isGranted = await this.#enter(sizeBytes)
      progress.isWaiting = !isGranted
      return isGranted
    }
    const found = await this.#deps.download(url, { maxBytes: this.maxBytes, timeoutMs: leftMs, enter })
    if (found.kind !== 'file') return found
    this.#arrivedBytes += found.bytes.byteLength
    return this.#arrivedBytes <= FILE_LIMITS.smallBytes || (await enter(found.bytes.byteLength)) ? found : BUSY
  }

  /** Reserves once: for the only file its size, for several all that the request may have. Requests that held some and
   *  waited for more could block each other. */
  #enter(sizeBytes: number): Promise<boolean> {
    this.#entered ??= this.#reserve(this.#allowed.size === 1 ? sizeBytes : this.maxBytes)
    return this.#entered
  }

  async #reserve(sizeBytes: number): Promise<boolean> {
    const { signal } = this.#closed
    const release = await this.#deps.budget.reserve(this.#organizationId, sizeBytes, this.#leftMs(), signal)
    if (release === null) return false
    if (signal.aborted) release()
    else this.#release = release
    return true
  }

  #leftMs(): number {
    return Math.max(0, this.#endsAt - this.#deps.clock.now())
  }
}

/** Whether a download waits for this server: for its turn or for memory. Then the file's server is not to blame. */
interface Progress {
  isWaiting: boolean
}

const BUSY: RemoteFile = { kind: 'busy' }
const TOO_MANY: RemoteFile = { kind: 'too_many' }

/** Time for all downloads of one request, in ms. A client waits for its 202 meanwhile. */
export const TIME_MS = 10_000
/** Different URLs of one request. Eight at a time, each may take 0.8 s. */
export const MAX_URLS = 100
const TIMEOUT: RemoteFile = { kind: 'failed', why: `not complete within ${TIME_MS / 1000} s` }

/** Downloads at a time: in total, of one organization, and from one host, which many organizations may use. An
 *  organization may have a few full batches waiting. */
const QUEUE = { total: 64, perClient: 8, perGroup: 32, waitingPerClient: 400, longestWaitMs: TIME_MS }
/** As for request bodies (web/api/request-body.ts). */
const BUDGET_BYTES = 64 * 2 ** 20
