import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Mode } from '../../src/model/message.ts'
import { type Plan, UNLIMITED_PLAN } from '../../src/model/organization.ts'
import { Refusal } from '../../src/model/refusal.ts'
import type { SubmissionResult } from '../../src/sending/submission/request.ts'
import { SendingRules } from '../../src/sending/submission/sending-rules.ts'
import { Submission, type SubmissionDeps } from '../../src/sending/submission/submission.ts'
import { parsingHere } from '../../src/server/parsing/parsing.ts'
import { type Store, StoreUnavailable } from '../../src/storage/store.ts'
import { openMessageApi } from '../api/messages-setup.ts'
import { noRemoteAttachments } from '../support/api-assembly.ts'
import { addresses, requestOf } from '../support/submission-request.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
beforeAll(async () => {
  server = await openMessageApi()
})
afterAll(() => server.close())

const REQUEST = requestOf()

function author(mode: Mode = 'live') {
  const { organizationId, domainId } = server
  return { key: { id: 'key_x', organizationId, domainId, mode }, source: 'smtp' as const }
}

const rulesWith = (plan: Plan) =>
  new SendingRules(server.store, { requireVerifiedDomain: true, stopSending: true, plans: () => plan })

/** The server's submission with some parts replaced, and its notifications in order. */
function submissionWith(change: Partial<SubmissionDeps>) {
  const notified: string[] = []
  const submission = new Submission({
    ...parsingHere(),
    store: server.store,
    clock: server.clock,
    mintId: server.mintId,
    rules: rulesWith(UNLIMITED_PLAN),
    messageBytes: 1_000_000,
    compose: async () => new Uint8Array(),
    notify: (topic) => notified.push(topic),
    remoteAttachments: noRemoteAttachments,
    mailLog: {
      accepted: ({ mode, recipients }) => notified.push(`accepted ${mode} ${recipients}`),
      suppressed: ({ recipients }) => notified.push(`suppressed ${recipients}`),
    },
    ...change,
  })
  return { submission, notified }
}

test('every caller may use it: the source is recorded', async () => {
  const { message } = await submissionWith({}).submission.submit(author(), REQUEST)
  expect(await server.store.messages.get(message.id)).toMatchObject({ source: 'smtp', keyId: 'key_x' })
})

test('no part is notified before the message is durable, then all once', async () => {
  let commit = () => {}
  const held = new Promise<void>((resolve) => {
    commit = resolve
  })
  const { submission, notified } = submissionWith({
    store: withAccept(async (...given) => {
      await held
      return server.store.messages.accept(...given)
    }),
  })
  const both = [submission.submit(author(), REQUEST), submission.submit(author('test'), REQUEST)]
  await new Promise(setImmediate)
  expect(notified).toEqual([])
  commit()
  await Promise.all(both)
  expect(notified.sort()).toEqual(['accepted live 1', 'accepted test 1', 'deliveries', 'webhook deliveries'])
})

test('suppressed recipients are logged by number', async () => {
  const { submission, notified } = submissionWith({})
  await submission.submit(author('test'), { ...REQUEST, to: addresses('suppressed@r.example', 'ann@r.example') })
  expect(notified).toEqual(['webhook deliveries', 'accepted test 2', 'suppressed 1'])
})

describe('when something breaks', () => {
  test('a store that cannot write rejects, and no part is notified', async () => {
    const { submission, notified } = submissionWith({
      store: withAccept(() => Promise.reject(new StoreUnavailable('disk full'))),
    })
    await expect(submission.submit(author(), REQUEST)).rejects.toThrow(StoreUnavailable)
    await expect(submission.submitBatch(author(), [REQUEST])).rejects.toThrow(StoreUnavailable)
    expect(notified).toEqual([])
  })

  test('test mail that cannot be composed is not accepted', async () => {
    let accepts = 0
    const { submission } = submissionWith({
      compose: () => Promise.reject(new Error('no thread')),
      store: withAccept((...given) => {
        accepts++
        return server.store.messages.accept(...given)
      }),
    })
    await expect(submission.submit(author('test'), REQUEST)).rejects.toThrow('no thread')
    await expect(submission.submitBatch(author('test'), [REQUEST])).rejects.toThrow('no thread')
    expect(accepts).toBe(0)
  })

  test('the key’s domain may be gone meanwhile', async () => {
    const key = { ...author().key, domainId: server.mintId('dom') }
    const sending = submissionWith({}).submission.submit({ key, source: 'api' }, REQUEST)
    await expect(sending).rejects.toMatchObject({ reason: 'forbidden', field: 'from' })
  })

  test('a caller with no recipient or too many is refused', async () => {
    const many = addresses(...Array.from({ length: 51 }, (_, i) => `r${i}@remote.example`))
    for (const to of [addresses(), many]) {
      const sending = submissionWith({}).submission.submit(author(), { ...REQUEST, to })
      await expect(sending).rejects.toMatchObject({ reason: 'validation_error', field: 'to' })
    }
  })
})

test('a month that others use up during a batch ends in refusals, not in a loop', async () => {
  const rounds: number[] = []
  const { submission } = submissionWith({
    rules: rulesWith({ ...UNLIMITED_PLAN, messagesPerMonth: 10 }),
    store: withAccept(async (accepted) => {
      rounds.push(accepted.length)
      return accepted.length === 0 ? { kind: 'accepted' } : { kind: 'volume_exceeded', used: 7 }
    }),
  })
  const fates = await submission.submitBatch(author(), Array(5).fill(REQUEST))
  expect(rounds).toEqual([5, 3, 2, 1, 0])
  expect(fates.map((fate) => 'reason' in fate && fate.reason)).toEqual(Array(5).fill('quota_exceeded'))
})

describe('a large batch is written in slices', () => {
  const many = addresses(...Array.from({ length: 50 }, (_, i) => `r${i}@remote.example`))
  const LARGE = { ...REQUEST, to: many }
  /** As the idempotency module stores them. */
  const keptParts = () => {
    const bodies = new Map<number, Uint8Array>()
    const record = (part: number, body: Uint8Array) => {
      bodies.set(part, body)
      return undefined as never
    }
    return { bodies, parts: { known: async (part: number) => bodies.get(part) ?? null, record } }
  }
  const idOf = (fate: SubmissionResult) => (fate instanceof Refusal ? fate.reason : fate.message.id)

  // threat: batch-holds-main-thread
  test.each(['live', 'test'] as const)(
    'a batch of 500 to 50 recipients each does not block the thread: %s',
    async (mode) => {
      const sizes: number[] = []
      const { submission, notified } = submissionWith({
        store: withAccept(async (accepted) => {
          sizes.push(accepted.reduce((sum, { deliveries, events }) => sum + deliveries.length + events.length, 0))
          return { kind: 'accepted' }
        }),
      })
      const fates = await submission.submitBatch(author(mode), Array(500).fill(LARGE), undefined, null)
      expect(new Set(fates.map(idOf)).size).toBe(500)
      expect(Math.max(...sizes)).toBeLessThan(1_200)
      expect(notified.filter((each) => each === (mode === 'live' ? 'deliveries' : 'webhook deliveries')).length).toBe(1)
    },
  )

  test('a caller that needs all or nothing gets one transaction', async () => {
    let accepts = 0
    const { submission } = submissionWith({
      store: withAccept(async () => {
        accepts++
        return { kind: 'accepted' }
      }),
    })
    await submission.submitBatch(author(), Array(50).fill(LARGE))
    expect(accepts).toBe(1)
  })

  // threat: batch-cut-off
  test('a batch cut off between two slices and repeated with its key sends nothing twice and misses nothing', async () => {
    const { bodies, parts } = keptParts()
    const requests = [...Array(50).fill(LARGE), new Refusal('validation_error', 'bad')]
    let slices = 0
    const dying = submissionWith({
      store: withAccept((...given) => {
        if (++slices > 2) throw new Error('killed')
        return server.store.messages.accept(...given)
      }),
    })
    const first = dying.submission.submitBatch(author(), requests, undefined, parts)
    await expect(first).rejects.toThrow('killed')
    const before = new Set(
      [...bodies]
        .filter(([part]) => part < 2)
        .flatMap(([, body]) => JSON.parse(new TextDecoder().decode(body)))
        .map(({ accepted }) => accepted.message.id),
    )
    for (const part of [...bodies.keys()]) if (part >= 2) bodies.delete(part) // its transaction was rolled back
    let accepted = 0
    const { submission } = submissionWith({
      store: withAccept((...given) => {
        accepted += given[0].length
        return server.store.messages.accept(...given)
      }),
    })
    let remembered: SubmissionResult[] = []
    const remember = (fates: SubmissionResult[]) => {
      remembered = fates
      return undefined
    }
    const fates = await submission.submitBatch(author(), requests, remember, parts)
    expect([accepted, new Set(fates.map(idOf)).size, fates.length]).toEqual([50 - before.size, 51, 51])
    expect(fates.slice(0, before.size).map(idOf)).toEqual([...before])
    expect(idOf(fates.at(-1)!)).toBe('validation_error')
    expect(remembered.map(idOf)).toEqual(fates.map(idOf))
  })

  test('a disk that refuses the third slice: written messages are accepted, the rest is unavailable', async () => {
    let slices = 0
    const { submission, notified } = submissionWith({
      store: withAccept(async () => {
        if (++slices > 2) throw new StoreUnavailable('disk full')
        return { kind: 'accepted' }
      }),
    })
    let remembered = false
    const remember = () => {
      remembered = true
      return undefined
    }
    const fates = await submission.submitBatch(author(), Array(60).fill(LARGE), remember, null)
    const refused = fates.filter((fate) => fate instanceof Refusal)
    expect(refused.every(({ reason }) => reason === 'unavailable')).toBe(true)
    expect([fates.length, refused.length, remembered]).toEqual([60, 24, false])
    expect(notified.filter((each) => each.startsWith('accepted')).length).toBe(36)
  })
})

function withAccept(accept: Store['messages']['accept']) {
  const { store } = server
  return { ...store, messages: { ...store.messages, accept } }
}
