import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { isLookupType, lookUp } from '../net/dns/lookup-types.ts'
import type { Resolver, SharedResolver } from '../net/dns/resolver.ts'
import { networkOf } from '../net/ip.ts'
import type { Clock } from '../os/clock.ts'
import { deleteOldest } from '../os/delete-oldest.ts'
import type { Runner } from '../os/runner.ts'
import { isAnswerTo } from './answer-check.ts'
import type { ReaderAnswer, ReaderJob, Seal } from './inbound-result.ts'
import type { RequestReply } from './reader.ts'
import { isSealText } from './seal-text.ts'

/** Limits on requests from readers to the main thread. */
export const READER_LIMITS = {
  /** Per mail. SPF may query 10 names and the hosts of 10 MX (RFC 7208 §4.6.4), 20 signatures and 50 seals two keys
   *  each, DMARC 8 names (RFC 9989 §4.10), or those of 10 authors when the author is unclear. Further lookups return
   *  `temporary`. */
  lookups: 300,
  /** Per mail at once: mailauth queries names in sequence, but all signatures in parallel. */
  lookupsAtOnce: 100,
  /** A name has 253 characters (RFC 1035 §2.3.4); escapes and PTR names of IPv6 addresses need some more. */
  nameCharacters: 320,
  /** Two fields of each seal are signed. */
  signatures: 2,
  /** Header size: SCAN_LIMITS.headerBytes plus our own fields. */
  signedBytes: 600_000,
  /** An intact reader stays far below: messages per job, further messages per second, and their burst. */
  messagesAJob: 1_000,
  messagesASecond: 200,
  messagesSaved: 20_000,
}

/** A reader's Runner → the same Runner with its requests answered within the limits of each job. A reader that breaks a
 *  rule counts as compromised: it is ended, and its jobs run in another. `sealsOf` returns the keys of a job, which the
 *  reader never receives. */
export function withServices(
  runner: Runner,
  deps: {
    resolver: SharedResolver
    sealsOf: (jobId: number) => readonly Seal[]
    clock: Clock
    onBreach: (why: string) => void
  },
): Runner {
  const { resolver, sealsOf, clock, onBreach } = deps
  /** By the job number of the pool. */
  const jobs = new Map<number, Served>()
  const byJobId = new Map<number, Served>()
  let listener = (_: unknown) => {}
  const quota = createMessageQuota(clock)
  let isOver = false

  const breach = (why: string) => {
    if (isOver) return
    isOver = true
    onBreach(why)
    runner.end()
  }
  const reply = (id: number, value: unknown) => {
    if (!isOver) runner.send({ kind: 'reply', id, value } satisfies RequestReply)
  }

  const serve = (message: Record<string, unknown>) => {
    const { id, jobId, what, type, name, seal, text } = message
    if (!isNumber(id) || !isNumber(jobId)) return breach('a request without a number')
    const served = byJobId.get(jobId)
    if (served === undefined) return breach('a request for a job that it does not have')
    if (what === 'lookup') {
      if (!isLookupType(type) || typeof name !== 'string' || name.length > READER_LIMITS.nameCharacters) {
        return breach('a lookup that no mail needs')
      }
      if (served.asking >= READER_LIMITS.lookupsAtOnce || served.lookups >= READER_LIMITS.lookups)
        return reply(id, null)
      served.lookups++
      served.asking++
      void lookUp(served.resolver, type, name).then((found) => {
        served.asking--
        reply(id, found)
      })
      return
    }
    if (what !== 'sign' || !isNumber(seal) || !(text instanceof Uint8Array)) return breach('a request of no known kind')
    const key = sealsOf(jobId)[seal]
    if (key === undefined || text.byteLength > READER_LIMITS.signedBytes || !isSealText(text, key)) {
      return breach('a signature under what is no seal of its mail')
    }
    const signed = served.signatures.get(seal) ?? 0
    if (signed >= READER_LIMITS.signatures) return breach('more signatures than a seal has')
    served.signatures.set(seal, signed + 1)
    void signedWith(key, text).then((signature) => reply(id, signature))
  }

  const remove = (id: number) => {
    const served = jobs.get(id)
    if (served === undefined) return
    jobs.delete(id)
    byJobId.delete(served.job.jobId)
  }

  runner.onMessage((message) => {
    if (isOver) return
    if (!quota.takeOne()) return breach('it floods this thread with messages')
    if (typeof message !== 'object' || message === null) return breach('a message that is none')
    const { kind, id, answer, error } = message as Record<string, unknown>
    switch (kind) {
      case 'request':
        return serve(message as Record<string, unknown>)
      case 'answer': {
        const served = jobs.get(id as number)
        if (served === undefined) return breach('an answer to a job that it does not have')
        if (!isAnswerTo(served.job, answer as ReaderAnswer)) return breach('an answer that cannot be one')
        remove(id as number)
        return listener(message)
      }
      case 'failed':
        if (!jobs.has(id as number) || typeof error !== 'string') return breach('a failure of no job')
        remove(id as number)
        return listener({ kind, id, error: error.slice(0, 4_000) })
      case 'ready':
      case 'beat':
      case 'at_work':
        return listener(message)
      default:
        return breach('a message of no known kind')
    }
  })

  return {
    ...(runner.sharesMemory === undefined ? {} : { sharesMemory: runner.sharesMemory }),
    send: (message, transfer) => {
      const { kind, id, job } = message as { kind: string; id: number; job: ReaderJob }
      if (kind === 'job') {
        // Lookups for one client network take turns with those for others.
        const ofSender = job.kind === 'mail' ? resolver.forClient(networkOf(job.envelope.remoteAddress)) : resolver
        const served = { job, resolver: ofSender, lookups: 0, asking: 0, signatures: new Map<number, number>() }
        jobs.set(id, served)
        byJobId.set(job.jobId, served)
        quota.add(READER_LIMITS.messagesAJob)
      }
      runner.send(message, transfer)
    },
    onMessage: (next) => {
      listener = next
    },
    onEnd: (next) =>
      runner.onEnd((reason) => {
        isOver = true
        next(reason)
      }),
    end: () => {
      isOver = true
      runner.end()
    },
  }
}

/** Messages that a reader may still send: a number per job and per second, saved up to a limit. */
function createMessageQuota(clock: Clock): { add(messages: number): void; takeOne(): boolean } {
  let saved = READER_LIMITS.messagesSaved
  let countedAt = clock.now()
  const add = (messages: number) => {
    saved = Math.min(READER_LIMITS.messagesSaved, saved + messages)
  }
  return {
    add,
    takeOne: () => {
      const now = clock.now()
      add(((now - countedAt) / 1000) * READER_LIMITS.messagesASecond)
      countedAt = now
      saved--
      return saved >= 0
    },
  }
}

interface Served {
  job: ReaderJob
  resolver: Resolver
  lookups: number
  asking: number
  /** Signatures made, by seal number. */
  signatures: Map<number, number>
}

const isNumber = (value: unknown): value is number => Number.isInteger(value)

/** Hashes and signs off this thread. Null when the key is unusable. */
async function signedWith({ privateKeyPem }: Seal, text: Uint8Array): Promise<Uint8Array | null> {
  const key = keyOf(privateKeyPem)
  if (key?.asymmetricKeyType !== 'rsa') return null
  return await new Promise((resolve) => {
    sign('sha256', text, key, (error, signature) => resolve(error === null ? new Uint8Array(signature) : null))
  })
}

/** Parsing a key costs more than anything else here. */
const keys = new Map<string, KeyObject>()
const MAX_KEYS = 100

function keyOf(pem: string): KeyObject | null {
  try {
    const key = keys.get(pem) ?? createPrivateKey(pem)
    keys.delete(pem)
    if (keys.size >= MAX_KEYS) deleteOldest(keys)
    keys.set(pem, key)
    return key
  } catch {
    return null
  }
}
