import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseMailbox } from '../../src/mail/address.ts'
import type { Mode } from '../../src/model/message.ts'
import { simulate } from '../../src/outbound/sandbox.ts'
import { type Store, StoreUnavailable } from '../../src/storage/store.ts'
import { createSubmission, type SubmissionDeps } from '../../src/submission/accept.ts'
import type { SubmissionRequest } from '../../src/submission/request.ts'
import { openMessageHouse } from '../api/messages-house.ts'

let house: Awaited<ReturnType<typeof openMessageHouse>>
beforeAll(async () => {
  house = await openMessageHouse()
})
afterAll(() => house.close())

const address = (text: string) => ({ asSent: text, mailbox: parseMailbox(text)! })
const addresses = (...texts: string[]) => ({ asSent: texts, mailboxes: texts.map((text) => parseMailbox(text)!) })
const REQUEST: SubmissionRequest = {
  from: address('shop@example.com'),
  to: addresses('ann@remote.example'),
  cc: null,
  bcc: null,
  replyTo: null,
  subject: 'Hello',
  html: null,
  text: 'Hi',
  headers: [],
  attachments: [],
  metadata: {},
  tags: [],
  scheduledAt: null,
  expiresInSeconds: null,
  requireTls: false,
  unsubscribe: null,
  trackOpens: null,
  trackClicks: null,
  template: null,
  mime: null,
}

function author(mode: Mode = 'live') {
  const { organizationId, domainId } = house
  return { key: { id: 'key_x', organizationId, domainId, mode }, source: 'smtp' as const }
}

/** The submission of the house with some of its parts exchanged, and what it told, in order. */
function submissionWith(change: Partial<SubmissionDeps>) {
  const told: string[] = []
  const submission = createSubmission({
    store: house.store,
    clock: house.clock,
    mintId: house.mintId,
    settings: { requireVerifiedDomain: true, messageBytes: 1_000_000 },
    planOf: () => ({ requestsPerMinute: -1, messagesPerMonth: -1, domains: -1, retentionDays: 1 }),
    compose: async () => new Uint8Array(),
    simulate,
    stoppedBy: () => null,
    wakeOutbound: () => told.push('outbound'),
    wakeWebhooks: () => told.push('webhooks'),
    mailLog: {
      accepted: ({ mode, recipients }) => told.push(`accepted ${mode} ${recipients}`),
      suppressed: ({ recipients }) => told.push(`suppressed ${recipients}`),
    },
    ...change,
  })
  return { submission, told }
}

test('every door may use it: the source is kept', async () => {
  const { message } = await submissionWith({}).submission.submit(author(), REQUEST)
  expect(await house.store.messages.get(message.id)).toMatchObject({ source: 'smtp', keyId: 'key_x' })
})

test('nobody is told before the message is durable, then everybody once', async () => {
  let commit = () => {}
  const held = new Promise<void>((resolve) => {
    commit = resolve
  })
  const { submission, told } = submissionWith({
    store: withAccept(async (...given) => {
      await held
      return house.store.messages.accept(...given)
    }),
  })
  const both = [submission.submit(author(), REQUEST), submission.submit(author('test'), REQUEST)]
  await new Promise(setImmediate)
  expect(told).toEqual([])
  commit()
  await Promise.all(both)
  expect(told.sort()).toEqual(['accepted live 1', 'accepted test 1', 'outbound', 'webhooks'])
})

test('suppressed recipients are logged by number', async () => {
  const { submission, told } = submissionWith({})
  await submission.submit(author('test'), { ...REQUEST, to: addresses('suppressed@r.example', 'ann@r.example') })
  expect(told).toEqual(['webhooks', 'accepted test 2', 'suppressed 1'])
})

describe('when something breaks', () => {
  test('a store that cannot write rejects, and nobody is told', async () => {
    const { submission, told } = submissionWith({
      store: withAccept(() => Promise.reject(new StoreUnavailable('disk full'))),
    })
    await expect(submission.submit(author(), REQUEST)).rejects.toThrow(StoreUnavailable)
    await expect(submission.submitBatch(author(), [REQUEST])).rejects.toThrow(StoreUnavailable)
    expect(told).toEqual([])
  })

  test('test mail that cannot be composed is not accepted', async () => {
    let accepts = 0
    const { submission } = submissionWith({
      compose: () => Promise.reject(new Error('no thread')),
      store: withAccept((...given) => {
        accepts++
        return house.store.messages.accept(...given)
      }),
    })
    await expect(submission.submit(author('test'), REQUEST)).rejects.toThrow('no thread')
    await expect(submission.submitBatch(author('test'), [REQUEST])).rejects.toThrow('no thread')
    expect(accepts).toBe(0)
  })

  test('the key’s domain may be gone meanwhile', async () => {
    const key = { ...author().key, domainId: house.mintId('dom') }
    const sending = submissionWith({}).submission.submit({ key, source: 'api' }, REQUEST)
    await expect(sending).rejects.toMatchObject({ reason: 'forbidden', field: 'from' })
  })

  test('a door that lets nobody or too many through is told so', async () => {
    const many = addresses(...Array.from({ length: 51 }, (_, i) => `r${i}@remote.example`))
    for (const to of [addresses(), many]) {
      const sending = submissionWith({}).submission.submit(author(), { ...REQUEST, to })
      await expect(sending).rejects.toMatchObject({ reason: 'validation_error', field: 'to' })
    }
  })
})

test('a month that others use up while a batch is being accepted ends in refusals, not in a loop', async () => {
  const rounds: number[] = []
  const { submission } = submissionWith({
    planOf: () => ({ requestsPerMinute: -1, messagesPerMonth: 10, domains: -1, retentionDays: 1 }),
    store: withAccept(async (accepted) => {
      rounds.push(accepted.length)
      return accepted.length === 0 ? { kind: 'accepted' } : { kind: 'volume_exceeded', used: 7 }
    }),
  })
  const fates = await submission.submitBatch(author(), Array(5).fill(REQUEST))
  expect(rounds).toEqual([5, 3, 2, 1, 0])
  expect(fates.map((fate) => 'reason' in fate && fate.reason)).toEqual(Array(5).fill('quota_exceeded'))
})

function withAccept(accept: Store['messages']['accept']) {
  const { store } = house
  return { ...store, messages: { ...store.messages, accept } }
}
