import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { ZoneRecord } from '../../src/cli/try/zone-server.ts'
import { until } from '../support/patience.ts'
import { type Cue, type Move, type RawMx, startRawMx } from '../support/remote-mx.ts'
import { type Json, startTestServer, type TestServer } from '../support/server.ts'

/** Replies to the first attempt, and the events they cause. */

interface Case {
  says: string
  /** A reply to a command of the dialogue; the rest succeeds. */
  at?: Cue
  reply?: Move
  to?: string
  records?: ZoneRecord[]
  fails?: string
  /** Event kind, bounce type, bounce code, will retry. */
  published: string[]
  suppressed?: boolean
}

const mx = (name: string, exchange: string, preference = 10): ZoneRecord => ({
  name,
  type: 'MX',
  data: { preference, exchange },
})

const CASES: Case[] = [
  {
    says: 'no such user',
    at: 'RCPT',
    reply: '550 5.1.1 no such user',
    published: ['bounced hard 5.1.1'],
    suppressed: true,
  },
  {
    says: 'no such user, after the mail',
    at: 'DOT',
    reply: '550 5.1.1 no',
    published: ['bounced hard 5.1.1'],
    suppressed: true,
  },
  { says: 'policy', at: 'RCPT', reply: '550 5.7.1 not allowed', published: ['bounced soft 5.7.1'] },
  { says: 'spam, after the mail', at: 'DOT', reply: '554 5.7.1 looks like spam', published: ['bounced soft 5.7.1'] },
  { says: 'content refused', at: 'DOT', reply: '554 5.6.0 broken', published: ['bounced soft 5.6.0'] },
  { says: 'too large', at: 'MAIL', reply: '552 5.3.4 too large', published: ['bounced soft 5.3.4'] },
  {
    says: 'mailbox full for now',
    at: 'RCPT',
    reply: '452 4.2.2 full',
    published: ['deferred', 'bounced soft 4.2.2 will retry'],
  },
  {
    says: 'mailbox moved for now',
    at: 'RCPT',
    reply: '450 4.1.1 hold',
    published: ['deferred', 'bounced soft 4.1.1 will retry'],
  },
  { says: 'greylisted', at: 'RCPT', reply: '451 4.7.1 greylisted, try later', published: ['deferred'] },
  { says: 'busy, without an enhanced code', at: 'RCPT', reply: '451 busy', published: ['deferred'] },
  { says: 'busy at the greeting', at: 'CONNECT', reply: '421 4.3.2 busy', published: ['deferred'] },
  { says: 'hangs up at once', at: 'CONNECT', reply: { do: 'drop' }, published: ['deferred'] },
  { says: 'hangs up at DATA', at: 'DATA', reply: { do: 'reset' }, published: ['deferred'] },
  {
    says: 'does not speak SMTP',
    at: 'CONNECT',
    reply: { do: 'say_and_drop', text: 'HTTP/1.1 400 Bad Request' },
    published: ['deferred'],
  },
  { says: 'lost after the final dot', at: 'DOT', reply: { do: 'drop' }, published: ['deferred'] },
  { says: 'domain does not exist', to: 'ann@nowhere.invalid', published: ['bounced hard 5.1.2'], suppressed: true },
  {
    says: 'null MX',
    to: 'ann@null.example',
    records: [mx('null.example', '.', 0)],
    published: ['bounced hard 5.1.10'],
    suppressed: true,
  },
  { says: 'DNS fails', to: 'ann@one.broken.example', fails: 'one.broken.example', published: ['deferred'] },
  {
    says: 'DNS of the mail host fails',
    to: 'ann@two.broken.example',
    records: [mx('two.broken.example', 'mx.two.broken.example')],
    fails: 'mx.two.broken.example',
    published: ['deferred'],
  },
  {
    says: 'no server listens there',
    to: 'ann@shut.example',
    records: [mx('shut.example', 'mx.shut.example'), { name: 'mx.shut.example', type: 'A', data: '127.0.0.9' }],
    published: ['deferred'],
  },
]

let remote: RawMx
let server: TestServer
let misbehaviour: { at: Cue; reply: Move } | null = null

beforeAll(async () => {
  remote = await startRawMx({ script: (cue) => (cue === misbehaviour?.at ? misbehaviour.reply : null) })
  server = await startTestServer({ remote })
})
afterEach(() => {
  misbehaviour = null
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

describe('the first attempt', () => {
  for (const [n, { says, at, reply, to, records, fails, published, suppressed = false }] of CASES.entries()) {
    test(`${says}: ${published.join(', ')}`, async () => {
      // A separate mail host: connections are kept by host.
      const email = to ?? `ann@case${n}.example`
      server.zone.set(`mx${n}.example`, 'A', ['127.0.0.1'])
      server.zone.set(`case${n}.example`, 'MX', [{ preference: 10, exchange: `mx${n}.example` }])
      for (const { name, type, data } of records ?? []) server.zone.set(name, type, [data])
      if (fails !== undefined) server.zone.fail(fails, 'SERVFAIL')
      if (at !== undefined) misbehaviour = { at, reply: reply! }

      const { body } = await server.send({ to: email })
      const message = await server.tried(body.id, 1)
      const events = await server.eventsOf(body.id)
      expect(events.map(inShort)).toEqual(published)
      const last = events.at(-1)!
      expect(message.status).toBe(published[0] === 'deferred' ? 'deferred' : 'bounced')
      const again = await server.send({ to: email.toUpperCase() })
      expect(again.body.status).toBe(suppressed ? 'suppressed' : 'queued')
      expect((await server.store().suppressions.find(server.organizationId, email)).length).toBe(suppressed ? 1 : 0)

      if (suppressed) {
        const { data } = await server.read(`/v1/suppressions?email=${encodeURIComponent(email)}`)
        expect(data).toMatchObject([{ reason: 'hard_bounce', message_id: body.id, domain_id: null }])
        expect(last.data.bounce_message).not.toBe('')
      }
      await server.ask('POST', `/v1/messages/${body.id}/cancel`)
    })
  }

  test('every event of all of them reached the webhook, once, but for a type that it does not name', async () => {
    // The second messages of the tests above are still being attempted and have further events.
    const isPosted = async () => {
      const { data: all } = await server.read('/v1/events?limit=100')
      const named = all.filter(({ type }: Json) => type !== 'message.suppressed').map(({ id }: Json) => id)
      const posted = server.receiver.requests.map(({ headers }) => headers['webhook-id'])
      return named.length < all.length && Bun.deepEquals(posted.sort(), named.sort())
    }
    await until('each event to be posted once', isPosted)
  })
})

function inShort({ type, data }: Json): string {
  const kind = type.replace('message.', '')
  if (kind === 'deferred') return kind
  return `${kind} ${data.bounce_type} ${data.bounce_code}${data.will_retry ? ' will retry' : ''}`
}
