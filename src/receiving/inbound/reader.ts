import { createHash } from 'node:crypto'
import { closeSync, readSync } from 'node:fs'
import { type InboundPost, inboundBody } from '../../events/webhooks/inbound-payload.ts'
import { unpackParsed, unpackRaw } from '../../mail/inbound-content.ts'
import { parseAttachments } from '../../mail/parse.ts'
import type { LookupType } from '../../net/dns/lookup-types.ts'
import type { Lookup, Resolver } from '../../net/dns/resolver.ts'
import { type Clock, systemClock } from '../../os/clock.ts'
import { type JobContext, servePool } from '../../os/pool-worker.ts'
import { setNewest } from '../../os/set-newest.ts'
import { stackOf } from '../../os/thrown.ts'
import { readReport } from '../feedback/content.ts'
import { BUG_CHARACTERS } from './answer-check.ts'
import { mailBytesOf, type RawMail, type ReaderAnswer, type ReaderJob, type ReaderSettings } from './inbound-result.ts'
import { LARGE_BYTES, type ReaderContext, readMail } from './read.ts'
import { readReportMail } from './read-report.ts'

/** The inside of a reader thread or process: takes jobs, posts answers, and requests DNS and signatures from the main
 *  thread. Returns the message handler. Handles many mails at once, since each waits for DNS. */
export function readerInside(post: (message: unknown, transfer?: ArrayBuffer[]) => void): (message: unknown) => void {
  const requests = createRequests(post, systemClock.steady)
  const takeJob = servePool<ReaderJob, ReaderAnswer>(post, (job, context, settings) =>
    perform(job, context, settings as ReaderSettings, requests).finally(() => tidyAfter(mailBytesOf(job))),
  )
  return (message) => {
    if (!requests.onReply(message)) takeJob(message)
  }
}

async function perform(
  job: ReaderJob,
  context: JobContext,
  settings: ReaderSettings,
  requests: Requests,
): Promise<ReaderAnswer> {
  if (job.kind === 'post') return makePost(job, context)
  const raw = wholeOf(job.raw)
  const readerContext = (jobId: number, bugs: string[]): ReaderContext => ({
    settings,
    resolver: requests.resolver(jobId, context.working),
    clock: systemClock,
    sign: (seal, text) => requests.sign(jobId, seal, text),
    onWork: context.working,
    onBug: (error) => bugs.push(textOf(error)),
  })
  switch (job.kind) {
    case 'mail': {
      const bugs: string[] = []
      const result = await readMail({ ...job, raw }, readerContext(job.jobId, bugs))
      context.handOver(...[result.raw, result.parsed, ...result.forwards].map(({ buffer }) => buffer))
      return { kind: 'mail', result, bugs }
    }
    case 'report':
      return {
        kind: 'report',
        content: readReport(raw, job.returnPath),
        digest: new Uint8Array(createHash('sha256').update(raw).digest()),
      }
    case 'policy_report': {
      const bugs: string[] = []
      const read = await readReportMail({ envelope: job.envelope, raw }, readerContext(job.jobId, bugs))
      return { kind: 'policy_report', read, bugs }
    }
    case 'attachment': {
      // Stored mail has three more fields than the mail that was parsed; its parts are the same.
      const [content = null] = await parseAttachments(raw, new Promise(() => {}), job.place)
      return { kind: 'attachment', content }
    }
  }
}

async function makePost(
  { message, parsed: packed, raw, replies }: InboundPost,
  context: JobContext,
): Promise<ReaderAnswer> {
  const isRead = typeof raw !== 'string'
  const contents = isRead ? await parseAttachments(unpackRaw(raw), new Promise(() => {})) : raw === 'absent' ? null : []
  context.working()
  const parsed = unpackParsed(packed)
  if (isRead && contents?.length !== parsed.attachments.length) return { kind: 'post', body: null }
  const body = inboundBody(message, parsed, contents, replies)
  context.handOver(body.buffer)
  return { kind: 'post', body }
}

/** Reads the file from its start, whatever its current position. In a process the descriptor is ours to close. Throws a
 *  disk error. */
function wholeOf(raw: RawMail | Uint8Array): Uint8Array<ArrayBuffer> {
  if (raw instanceof Uint8Array) return raw as Uint8Array<ArrayBuffer>
  try {
    const whole = new Uint8Array(raw.byteLength)
    for (let at = 0; at < whole.length; ) {
      const bytesRead = readSync(raw.fd, whole, at, whole.length - at, at)
      if (bytesRead === 0) throw new Error(`a message of ${whole.length} bytes ends after ${at}`)
      at += bytesRead
    }
    return whole
  } finally {
    if (Bun.isMainThread) closeSync(raw.fd)
  }
}

/** Collects a large mail's garbage before the next mail, in a later turn when nothing refers to it. */
function tidyAfter(byteLength: number): void {
  if (byteLength > LARGE_BYTES) setImmediate(() => Bun.gc(true))
}

const textOf = (error: unknown) => stackOf(error).slice(0, BUG_CHARACTERS)

/** Requests from a reader to the main thread, which has the network and the keys. Each names its job, so that the main
 *  thread can apply that job's limits (reader-services.ts). */
export type ReaderRequest = { kind: 'request'; id: number; jobId: number } & (
  | { what: 'lookup'; type: LookupType; name: string }
  /** Canonical header text that an ARC field of seal number `seal` signs (RFC 8617 §5.1.1). */
  | { what: 'sign'; seal: number; text: Uint8Array }
)

/** `value`: a Lookup or the signature; null if refused. */
export interface RequestReply {
  kind: 'reply'
  id: number
  value: unknown
}

type OmitFromEach<T, Key extends PropertyKey> = T extends unknown ? Omit<T, Key> : never

/** The reader's side of these requests. */
interface Requests {
  /** Handles a message; true if it was a reply. */
  onReply(message: unknown): boolean
  /** A DNS resolver for mailauth. Calls `onReply` before the waiting code continues. */
  resolver(jobId: number, onReply: () => void): Resolver
  /** Canonical header text → its RSA signature. Rejects when refused. */
  sign(jobId: number, seal: number, text: Uint8Array): Promise<Uint8Array>
}

/** `clock` limits how long DNS answers are cached; without the cache, lookups were a third of the cost of a small
 *  mail. */
function createRequests(post: (message: ReaderRequest) => void, clock: Clock): Requests {
  const open = new Map<number, (value: unknown) => void>()
  let lastId = 0
  const remembered = new Map<string, { found: Lookup<never>; until: number }>()
  const remember = (key: string, found: Lookup<never>) => {
    if (found.kind === 'temporary' || isLarge(found)) return
    const seconds = found.kind === 'records' ? found.ttlSeconds : NOTHING_SECONDS
    setNewest(remembered, key, { found, until: clock.now() + seconds * 1000 }, MAX_REMEMBERED)
  }
  const ask = (request: OmitFromEach<ReaderRequest, 'kind' | 'id'>) =>
    new Promise<unknown>((resolve) => {
      const id = ++lastId
      open.set(id, resolve)
      post({ kind: 'request', id, ...request } as ReaderRequest)
    })
  return {
    onReply: (message) => {
      const { kind, id, value } = message as Partial<RequestReply>
      if (kind !== 'reply') return false
      open.get(id!)?.(value)
      open.delete(id!)
      return true
    },
    resolver: (jobId, onReply) => {
      const lookup = async (type: LookupType, name: string): Promise<Lookup<never>> => {
        const key = `${type} ${name.toLowerCase()}`
        const known = remembered.get(key)
        if (known !== undefined && known.until > clock.now()) return known.found
        const found = (await ask({ jobId, what: 'lookup', type, name })) as Lookup<never> | null
        onReply()
        if (found === null) return { kind: 'temporary', reason: 'too many lookups' }
        remember(key, found)
        return found
      }
      const notAsked = async () => ({ kind: 'temporary' as const, reason: 'lookup not available to readers' })
      return {
        a: (name) => lookup('A', name),
        aaaa: (name) => lookup('AAAA', name),
        txtStrings: (name) => lookup('TXT', name),
        mx: (name) => lookup('MX', name),
        cname: (name) => lookup('CNAME', name),
        ns: (name) => lookup('NS', name),
        ptr: (name) => lookup('PTR', name),
        txt: notAsked,
        tlsa: notAsked,
        close: () => {},
      }
    },
    sign: async (jobId, seal, text) => {
      const signature = await ask({ jobId, what: 'sign', seal, text })
      if (!(signature instanceof Uint8Array)) throw new Error('the signature for the seal was rejected')
      return signature
    },
  }
}

const MAX_REMEMBERED = 2_000
/** A DKIM key of 4,096 bits takes about 700 bytes. Larger answers are not cached: 2,000 of 64 KiB would fill the
 *  reader's memory. */
const LARGEST_REMEMBERED = 4_000

function isLarge(found: Lookup<unknown>): boolean {
  return found.kind === 'records' && JSON.stringify(found.records).length > LARGEST_REMEMBERED
}

/** The main thread caches longer, by the TTL of the negative answer. */
const NOTHING_SECONDS = 1
