import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { submissionHash } from '../../src/receiving/smtp-submission/same-mail.ts'
import { MAIL } from '../api/messages-setup.ts'
import { mailOf, openRelay, refusalOf } from './setup.ts'

/** X-Service-Idempotency-Key shares its keys with HTTP. */

let relay: Awaited<ReturnType<typeof openRelay>>
beforeAll(async () => {
  relay = await openRelay()
})
afterAll(() => relay.close())

const ANN = 'ann@remote.example'
const keyed = (key: string, change: object = {}) => ({
  ...{ from: 'shop@example.com', to: ANN, subject: 'Hello', text: 'Hi', html: '<p>Hi</p>' },
  headers: { 'X-Service-Idempotency-Key': key },
  ...change,
})
const count = async () => (await relay.ask('GET', '/v1/messages?limit=100')).body.data.length

describe('a mail with an idempotency key', () => {
  test('sent again by the same program gets the same answer, and is one message', async () => {
    const first = await relay.handIn(keyed('k1'))
    const before = await count()
    expect(first).toMatch(/^250 2\.0\.0 queued as msg_/)
    // The library adds a different Date, Message-ID and boundaries to each.
    expect(await relay.handIn(keyed('k1'))).toBe(first)
    expect(await count()).toBe(before)
  })

  test('is another mail when anything else differs', async () => {
    await relay.handIn(keyed('k2'))
    const before = await count()
    for (const change of [
      { text: 'Ho' },
      { subject: 'Ho' },
      { to: 'bob@remote.example' },
      { bcc: 'bob@remote.example' },
    ]) {
      expect(await refusalOf(relay.handIn(keyed('k2', change)))).toBe(
        '550 5.5.0 This X-Service-Idempotency-Key was already used for a different request. Use a new key.',
      )
    }
    expect(await count()).toBe(before)
  })

  // threat: idempotency-key-abuse
  test('of a test key does not collide with live mail', async () => {
    const squatted = await relay.handIn(keyed('k5', { text: 'squatter' }), relay.keys.test)
    const live = await relay.handIn(keyed('k5'))
    expect([squatted, live].map((reply) => reply.slice(0, 10))).toEqual(['250 2.0.0 ', '250 2.0.0 '])
    expect(live).not.toBe(squatted)
  })

  test('shares its key with HTTP in both directions, and with no other organization', async () => {
    await relay.handIn(keyed('k3'))
    const later = await relay.send(MAIL, { headers: { 'idempotency-key': 'k3' } })
    expect([later.status, later.body.error.details.reason]).toEqual([409, 'idempotency_key_reused'])
    expect((await relay.send(MAIL, { headers: { 'idempotency-key': 'k4' } })).status).toBe(202)
    expect(await refusalOf(relay.handIn(keyed('k4')))).toStartWith('550 5.5.0')
    const elsewhere = keyed('k3', { from: 'shop@other.example' })
    expect(await relay.handIn(elsewhere, relay.keys.other)).toStartWith('250')
  })

  test('that was refused may be sent again', async () => {
    const small = await openRelay({ plan: { messagesPerMonth: 0 } })
    expect(await refusalOf(small.handIn(keyed('k5')))).toStartWith('550 5.7.1 Your plan allows')
    expect(await refusalOf(small.handIn(keyed('k5', { text: 'other' })))).toStartWith('550 5.7.1 Your plan allows')
    await small.close()
  })

  test('expires after 24 hours', async () => {
    const first = await relay.handIn(keyed('k6'))
    await relay.clock.advance(24 * 3_600_000 + 1)
    const again = await refusalOf(
      relay
        .client()
        .sendMail(keyed('k6'))
        .then(({ response }) => response),
    )
    expect(again).toStartWith('taken: 250')
    expect(again).not.toContain(first)
  })

  test('sent over ten connections at once is one message with one answer', async () => {
    const before = await count()
    const clients = Array.from({ length: 10 }, () => relay.client())
    const answers = await Promise.all(
      clients.map((each) => each.sendMail(keyed('k7')).then(({ response }) => response)),
    )
    expect(new Set(answers).size).toBe(1)
    expect(await count()).toBe(before + 1)
    for (const each of clients) each.close()
  })
})

describe('two mails are the same', () => {
  const hash = (raw: string, to = [ANN]) => submissionHash('live', to, Buffer.from(raw)).toString('hex')
  const multipart = (boundary: string, text: string) =>
    mailOf(
      ['From: a@example.com', `Message-ID: <${boundary}@x>`, `Content-Type: multipart/mixed; boundary="${boundary}"`],
      `--${boundary}\r\n\r\n${text}\r\n--${boundary}--\r\n`,
    )

  test('when only boundaries, Date and Message-ID differ, and the order of recipients', () => {
    expect(hash(multipart('----one-11111111', 'x'))).toBe(hash(multipart('===============222==', 'x')))
    expect(hash('A: b\r\n\r\n', [ANN, 'b@c.example'])).toBe(hash('Date: now\r\nA: b\r\n\r\n', ['b@c.example', ANN]))
  })

  test('and not when a text differs, or replaces a boundary', () => {
    expect(hash(multipart('----one-11111111', 'x'))).not.toBe(hash(multipart('----one-11111111', 'y')))
    expect(hash(multipart('----one-11111111', '----one-11111111'))).not.toBe(
      hash(multipart('----two-22222222', '----one-11111111')),
    )
    expect(hash('A: b\r\n\r\n', [ANN])).not.toBe(hash('A: b\r\n\r\n', [ANN, ANN]))
  })
})
