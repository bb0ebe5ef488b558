import { expect, test } from 'bun:test'
import { NO_RECIPIENT_PARTS } from '../../mail/recipient-parts.ts'
import { systemClock } from '../../os/clock.ts'
import { Attempts } from './attempts.ts'
import type { AttemptJob } from './job.ts'

const JOB: AttemptJob = {
  deliveryId: 'dlv_1',
  messageId: 'msg_1',
  attempt: 2,
  recipient: 'ann@example.com',
  returnPath: '',
  content: new Uint8Array(0),
  signingKeys: [],
  signedAt: 0,
  recipientParts: NO_RECIPIENT_PARTS,
  requireTls: false,
  mtaSts: null,
  route: { destination: 'example.com', mx: null, connections: 5, maxMails: 100 },
  sandbox: false,
}

const NO_THREADS = { submit: () => {}, written: () => {}, closeIdle: () => {} }
function withoutThreads(): Attempts {
  const attempts = new Attempts({ clock: systemClock })
  attempts.useThreads(NO_THREADS)
  return attempts
}

test('defers a mail whose MTA-STS policy cannot be read, without using a thread', async () => {
  const submitted: AttemptJob[] = []
  const policies = { find: () => Promise.reject(new Error('the disk cannot be read')) }
  const attempts = new Attempts({ clock: systemClock, policies })
  attempts.useThreads({ ...NO_THREADS, submit: (jobs) => void submitted.push(...jobs) })
  const { outcome, attempt } = (await attempts.attempt(JOB))!
  expect(outcome).toMatchObject({ kind: 'deferred', cause: { class: 'internal' } })
  expect(attempt).toMatchObject({ number: 2, outcome: 'deferred', mxHost: null })
  expect(submitted).toEqual([])
})

for (const [result, outcome] of [
  ['unknown', { kind: 'unknown', cause: { rule: 'worker-lost' } }],
  ['not_sent', { kind: 'deferred', cause: { rule: 'worker-lost' } }],
  ['too_slow', { kind: 'deferred', code: '4.6.0', cause: { class: 'content', rule: 'prepare-time' } }],
] as const) {
  test(`records a job of an ended thread once: ${result}`, async () => {
    const attempts = withoutThreads()
    const ended = attempts.attempt(JOB)
    const lost = { deliveryId: 'dlv_1', result }
    attempts.onLost([lost, lost, { ...lost, deliveryId: 'dlv_2' }])
    expect((await ended)?.outcome).toMatchObject(outcome)
  })
}

test('returns a job that an ended thread had not started as not attempted', async () => {
  const attempts = withoutThreads()
  const ended = attempts.attempt(JOB)
  attempts.onLost([{ deliveryId: 'dlv_1', result: 'not_tried' }])
  expect(await ended).toBeNull()
})
