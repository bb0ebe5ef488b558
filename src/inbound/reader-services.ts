import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { isLookupType, lookUp } from '../net/dns/lookup-types.ts'
import type { Resolver, SharedResolver } from '../net/dns/resolver.ts'
import { networkOf } from '../net/ip.ts'
import type { Clock } from '../os/clock.ts'
import type { Runner } from '../os/runner.ts'
import { isAnswerTo } from './answer-check.ts'
import type { ReaderAnswer, ReaderJob, Seal } from './inbound-result.ts'
import type { RequestReply } from './reader-requests.ts'
import { isSealText } from './seal-text.ts'

/** What the main thread does for readers, and what it lets them do to it. */
export const READER_LIMITS = {
  /** Of one mail. SPF may ask for 10 names and the hosts of 10 MX (RFC 7208 §4.6.4), 20 signatures and 50 seals for two
   *  keys each, DMARC for 8 (RFC 9989 §4.10) and for those of 10 authors when they are unclear. What is beyond is
   *  `temporary`. */
  lookups: 300,
  /** Of one mail at once: mailauth asks one after the other, and for all signatures at once. */
  lookupsAtOnce: 100,
  /** A name has 253 characters (RFC 1035 §2.3.4), an escape or a PTR of an IPv6 address some more. */
  nameCharacters: 320,
  /** Two fields of each seal are signed. */
  signatures: 2,
  /** Of the header: SCAN_LIMITS.headerBytes, and what we write ourselves. */
  signedBytes: 600_000,
  /** Messages of a reader that breaks no rule stay far below: so many for each job, so many in a second beside, and so
   *  many saved up. */
  messagesAJob: 1_000,
  messagesASecond: 200,
  messagesSaved: 20_000,
}

/** A reader's Runner → the same, answering what it asks, for jobs that it has and within what each may ask. A reader that
 *  breaks a rule which none of ours breaks is taken to be in somebody else's hands: it is ended, and its jobs are tried
 *  in another. `sealsOf`: the keys of a job, which the reader never sees. */
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
  /** By the number of the pool. */
  const jobs = new Map<number, Served>()
  const byJobId = new Map<number, Served>()
  let listener = (_: unknown) => {}
  let saved = READER_LIMITS.messagesSaved
  let countedAt = clock.now()
  let isOver = false

  const breach = (why: string) => {
    if (isOver) return
    isOver = true
    onBreach(why)
    runner.end()
  }
  const takeOne = () => {
    const now = clock.now()
    const earned = ((now - countedAt) / 1000) * READER_LIMITS.messagesASecond
    countedAt = now
    saved = Math.min(READER_LIMITS.messagesSaved, saved + earned) - 1
    return saved >= 0
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

  const forget = (id: number) => {
    const served = jobs.get(id)
    if (served === undefined) return
    jobs.delete(id)
    byJobId.delete(served.job.jobId)
  }

  runner.onMessage((message) => {
    if (isOver) return
    if (!takeOne()) return breach('it floods this thread with messages')
    if (typeof message !== 'object' || message === null) return breach('a message that is none')
    const { kind, id, answer, error } = message as Record<string, unknown>
    switch (kind) {
      case 'request':
        return serve(message as Record<string, unknown>)
      case 'answer': {
        const served = jobs.get(id as number)
        if (served === undefined) return breach('an answer to a job that it does not have')
        if (!isAnswerTo(served.job, answer as ReaderAnswer)) return breach('an answer that cannot be one')
        forget(id as number)
        return listener(message)
      }
      case 'failed':
        if (!jobs.has(id as number) || typeof error !== 'string') return breach('a failure of no job')
        forget(id as number)
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
        // Lookups for mail of one network take turns with those for others.
        const ofSender = job.kind === 'mail' ? resolver.forClient(networkOf(job.envelope.remoteAddress)) : resolver
        const served = { job, resolver: ofSender, lookups: 0, asking: 0, signatures: new Map<number, number>() }
        jobs.set(id, served)
        byJobId.set(job.jobId, served)
        saved = Math.min(READER_LIMITS.messagesSaved, saved + READER_LIMITS.messagesAJob)
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

interface Served {
  job: ReaderJob
  resolver: Resolver
  lookups: number
  asking: number
  /** Given, by the number of the seal. */
  signatures: Map<number, number>
}

const isNumber = (value: unknown): value is number => Number.isInteger(value)

/** Beside this thread: hashing and the RSA operation. Null when the key is of no use. */
async function signedWith({ privateKeyPem }: Seal, text: Uint8Array): Promise<Uint8Array | null> {
  const key = keyOf(privateKeyPem)
  if (key?.asymmetricKeyType !== 'rsa') return null
  return await new Promise((resolve) => {
    sign('sha256', text, key, (error, signature) => resolve(error === null ? new Uint8Array(signature) : null))
  })
}

/** Reading a key takes longer than anything else here. */
const keys = new Map<string, KeyObject>()
const MAX_KEYS = 100

function keyOf(pem: string): KeyObject | null {
  try {
    const key = keys.get(pem) ?? createPrivateKey(pem)
    keys.delete(pem)
    if (keys.size >= MAX_KEYS) keys.delete(keys.keys().next().value!)
    keys.set(pem, key)
    return key
  } catch {
    return null
  }
}
