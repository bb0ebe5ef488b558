import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { renewRuntimes } from '../../scripts/client/write.ts'
import { signEnveloped, signInbound } from '../../src/events/webhooks/sign.ts'
import golden from '../golden/webhook-signatures.json' with { type: 'json' }
import { describeWith, run } from '../support/real-tools.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { type Json, MAIL, START, startTestServer, type TestServer } from '../support/server.ts'
import { requestsIn } from './document-requests.ts'
import { type HostileServer, type Move, refusal, startHostile } from './hostile.ts'

/** The client in another language: a program uses it once, against a real server and servers that misbehave, and prints
 *  what happened. The tests are the same for every language. */
export interface Language {
  name: string
  tools: readonly string[]
  /** Command that runs the program. */
  command: readonly string[]
  env: Record<string, string>
  /** Page of the manual whose example the program runs. */
  page: string
  example: string
}

/** The packages of all languages. */
export const PACKAGES = renewRuntimes()

const SECRET = golden.enveloped[0]!.secrets.secret
const BODY = golden.enveloped[0]!.body
const KEY = 'svc_live_veryverysecret'
const SANDBOX = { ...MAIL, to: 'ann@customer.example' }

const MOVES: Record<string, Move[]> = {
  retried: [
    'cut',
    { status: 503, headers: { 'retry-after': '2', 'content-type': 'text/plain' }, body: 'stopping' },
    { status: 202, headers: { connection: 'close' }, body: '{"id":"msg_1"}' },
  ],
  'too long': [refusal(429, 'rate_limited', { retry_after: 10 })],
  unsafe: [refusal(503, 'unavailable'), 'cut'],
  half: ['half', refusal(429, 'rate_limited', { retry_after: 3 }), { status: 200, body: '{"id":"msg_1"}' }],
  redirect: [{ status: 308, headers: { location: 'https://elsewhere.example/' } }],
  'page of a proxy': [{ status: 200, headers: { 'content-type': 'text/html' }, body: '<p>' }],
  'foreign error': [{ status: 500, body: '{"error":"no"}' }],
  silent: ['hang'],
  'no such code': [refusal(418, 'of_a_newer_server')],
  escaped: [{ status: 200, body: '{"id":"msg_1"}' }],
}

/** Declares the tests of a client. */
export function testLanguage({ name, tools, command, env, page, example }: Language): void {
  describeWith(tools, `the client in ${name}`, () => {
    let remote: RemoteMx
    let server: TestServer
    const hostile: Record<string, HostileServer> = {}
    let output = ''
    let done: Json
    const cases = WEBHOOK_CASES

    beforeAll(async () => {
      remote = await startRemoteMx()
      server = await startTestServer({ remote })
      const url = `http://${server.running().listening.http}`
      for (const [each, moves] of Object.entries(MOVES)) hostile[each] = await startHostile(...moves)
      const text = readFileSync(join(import.meta.dir, '../../src/web/manual', page), 'utf8')
      const code = text
        .split(`<!-- runs: ${example} -->\n`)[1]!
        .split('```')[1]!
        .replace(/^\w+\n/, '')
      await server.ask('POST', '/v1/messages/send', { ...SANDBOX, to: 'bounce+grüße@customer.example' }, sandboxKey())
      await server.receiver.received(1)
      const posted = server.receiver.requests[0]!
      const real = { body: posted.body, headers: posted.headers, secret: server.webhook.secret, now: START }
      const input = {
        url,
        key: server.keys.test,
        mail: SANDBOX,
        later: new Date(START + 3_600_000).toISOString(),
        hostile: Object.fromEntries(Object.entries(hostile).map(([each, { url }]) => [each, url])),
        webhooks: [{ ...real, fault: null }, ...cases].map((each) => ({
          ...each,
          body: Buffer.from(each.body).toString('base64'),
        })),
        example: code,
      }
      const ran = await run([...command], {
        cwd: import.meta.dir,
        env: {
          PATH: process.env.PATH!,
          LANG: 'C.UTF-8',
          POSTRIDER_URL: url,
          POSTRIDER_API_KEY: server.keys.test,
          ...env,
        },
        input: JSON.stringify(input),
      })
      output = ran.output
      if (ran.exitCode !== 0) throw new Error(output)
      done = JSON.parse(output)
    })
    afterAll(async () => {
      for (const each of Object.values(hostile)) await each.stop()
      await server.close()
      await remote.stop()
    })
    const sandboxKey = () => ({ authorization: `Bearer ${server.keys.test}` })

    test('the same idempotency key gives the same answer, and a ConflictError with another body', () => {
      expect(done.keyed[0].id).toMatch(/^msg_/)
      expect(done.keyed[1]).toEqual(done.keyed[0])
      expect(done['other body']).toMatchObject({
        class: 'ConflictError',
        status: 409,
        idempotency_key: 'order-1',
        details: { reason: 'idempotency_key_reused' },
      })
    })

    test('a list is read over all its pages, in order, and one page is one page', () => {
      expect(done.sent).toHaveLength(5)
      expect(done.listed).toEqual(done.sent.toReversed())
      expect([done.page.data.length, done.page.has_more]).toEqual([2, true])
    })

    test('an answer is JSON, text or bytes', () => {
      expect([done.attachment, done.text.trim(), done.content]).toEqual(['AP8=', 'Hi Ann', MAIL.html])
    })

    test('a request without a body is sent', () => {
      expect(done.cancelled).toBe('cancelled')
    })

    test('an error names every invalid field, its code and the request', () => {
      const invalid = done['invalid mail']
      expect(invalid).toMatchObject({ class: 'ValidationError', code: 'validation_error', status: 400, field: 'to' })
      expect(invalid.errors.map(({ field }: Json) => field)).toEqual(['to', 'subject'])
      expect(invalid.request_id).toMatch(/^req_/)
      expect(done.unknown).toMatchObject({ class: 'NotFoundError', status: 404, idempotency_key: null })
      expect(done['wrong key']).toMatchObject({ class: 'UnauthorizedError', status: 401 })
    })

    test('a send is repeated with the same key, as long as the server asks and with growing pauses', () => {
      expect(done.retried).toEqual({ result: { id: 'msg_1' }, sleeps: [0.25, 2.5] })
      const [first, ...others] = hostile.retried!.requests
      expect(first!.headers['idempotency-key']).toMatch(/^[0-9a-f-]{32,36}$/)
      expect(first!.headers.authorization).toBe(`Bearer ${KEY}`)
      expect(others).toEqual([first!, first!])
      expect(JSON.parse(first!.body)).toEqual(SANDBOX)
      expect(done.half).toEqual({ result: { id: 'msg_1' }, sleeps: [0.25, 3.5] })
    })

    test('a wait beyond the time of the call is not begun', () => {
      const limited = { class: 'RateLimitedError', retry_after: 10, request_id: 'req_1', sleeps: [] }
      expect(done['too long']).toMatchObject(limited)
    })

    test('a POST without a key is repeated after 503, and not after a cut, whose outcome is unknown', () => {
      expect(done.unsafe).toMatchObject({ class: 'ConnectionFailedError', status: null, sleeps: [0.25] })
      expect(hostile.unsafe!.requests).toHaveLength(2)
    })

    test('a silent server ends the call after its timeout, with the key to call again', () => {
      expect(done.silent).toMatchObject({ class: 'TimedOutError', code: 'timed_out', message: expect.any(String) })
      expect(done.silent.idempotency_key).toMatch(/^[0-9a-f-]{32,36}$/)
      expect(hostile.silent!.requests).toHaveLength(1)
    })

    // threat: keys-leaked-by-client
    test('a redirect and the page of a proxy are errors, and no error has the key', () => {
      for (const each of ['redirect', 'page of a proxy', 'foreign error']) {
        expect(done[each]).toMatchObject({ class: 'UnexpectedAnswerError', sleeps: [] })
        expect(hostile[each]!.requests).toHaveLength(1)
      }
      expect(done['no such code']).toMatchObject({ class: 'PostriderError', code: 'of_a_newer_server', status: 418 })
      expect(output).not.toContain(KEY)
    })

    test('every operation that accepts keys is called by its method and path, with all its parameters', async () => {
      const document = await (await fetch(`http://${server.running().listening.http}/openapi.json`)).json()
      const wanted = requestsIn(document).filter((each) => each !== 'GET /v1/events/stream')
      expect(done.operations.toSorted()).toEqual(wanted)
    })

    test('what cannot be sent is refused before it is', () => {
      expect(done['bad ids']).toEqual(Array(3).fill('message_id'))
      expect(done['bad keys']).toEqual(Array(4).fill('Idempotency-Key'))
      expect(done['bad options']).toEqual([
        expect.stringMatching(/URL of your server/),
        expect.stringMatching(/invalid characters/),
      ])
      expect(hostile.escaped!.requests.map(({ path }) => path)).toEqual(['/v1/messages/..%2Fapi-keys%3Fx%3D1'])
    })

    // threat: forged-webhooks-at-receiver
    test('a webhook request is its event only with a valid signature of the last five minutes', () => {
      const [real, ...others] = done.faults
      expect(real).toBe('message.bounced')
      const found = cases.map(({ name }, index) => [name, others[index]])
      expect(found).toEqual(cases.map(({ name, fault }) => [name, fault]))
    })

    test('the example of the manual sends, waits, lists and reports errors', () => {
      expect(done.example).toMatch(/^delivered 250 .+\n(msg_\w+ delivered\n)+to: .+\n$/)
    })
  })
}

interface WebhookCase {
  name: string
  /** What the verifier says: the type of the event, or why it refused the request. */
  fault: string
  body: string | Uint8Array
  headers: Record<string, string>
  secret: string
  now: number
}

async function webhookCases(): Promise<WebhookCase[]> {
  const now = START
  const sign = (body: string | Uint8Array = BODY, secret = SECRET) =>
    signEnveloped({ secrets: { secret, previous: null }, eventId: 'evt_1', body, attempt: 1, now })
  const only = (names: RegExp) => Object.fromEntries(Object.entries(sign()).filter(([name]) => names.test(name)))
  const own = only(/^X-Service-Signature$/)
  const standard = only(/^webhook-/)
  const signature = (value: string) => ({ 'X-Service-Signature': value })
  const hex = own['X-Service-Signature']!.split('v1=')[1]!
  const t = now / 1_000
  const mail = '{"event":"inbound","from":"bob@customer.example","text_body":"grüße"}'
  const broken = Uint8Array.of(0x7b, 0xff, 0x7d)
  const type: string = JSON.parse(BODY).type
  const entry = (name: string, fault: string, change: Partial<WebhookCase>): WebhookCase => ({
    name,
    fault,
    body: BODY,
    headers: own,
    secret: SECRET,
    now,
    ...change,
  })
  const ids = { deliveryId: 'ibd_1', messageId: 'inb_1', routeId: 'rte_1' }
  const inbound = await signInbound({ secret: SECRET, ...ids, body: Buffer.from(mail), attempt: 1, now })
  return [
    entry('own', type, {}),
    entry('Standard Webhooks', type, { headers: standard }),
    entry('names in lower case', type, { headers: { 'x-service-signature': own['X-Service-Signature']! } }),
    entry('a second signature', type, { headers: signature(`t=${t}, v1=${'0'.repeat(64)}, v1=${hex}`) }),
    entry('inbound', 'inbound', {
      body: mail,
      headers: inbound,
    }),
    entry('inbound, Standard Webhooks', 'inbound', {
      body: mail,
      headers: Object.fromEntries(Object.entries(inbound).filter(([name]) => name.startsWith('webhook-'))),
    }),
    entry('an event on an inbound signature', 'bad_body', {
      headers: await signInbound({ secret: SECRET, ...ids, body: Buffer.from(BODY), attempt: 1, now }),
    }),
    entry('299.999 s', type, { now: now + 300_999 }),
    entry('old', 'stale', { now: now + 301_000 }),
    entry('old, Standard Webhooks', 'stale', { now: now + 301_000, headers: standard }),
    entry('of the future', 'stale', { now: now - 301_000 }),
    entry('wrong and old', 'wrong_signature', { now: now + 999_000, secret: 'whsec_b3RoZXI=' }),
    entry('another secret', 'wrong_signature', { secret: 'whsec_b3RoZXI=' }),
    entry('another secret, Standard Webhooks', 'wrong_signature', { secret: 'whsec_b3RoZXI=', headers: standard }),
    entry('another body', 'wrong_signature', { body: `${BODY} ` }),
    entry('another time', 'wrong_signature', { headers: signature(`t=${t + 1},v1=${hex}`) }),
    entry('another id', 'wrong_signature', { headers: { ...standard, 'webhook-id': 'evt_2' } }),
    entry('no downgrade', 'wrong_signature', { headers: { ...standard, ...signature(`t=${t},v1=${'0'.repeat(64)}`) } }),
    entry('no signature', 'missing_header', { headers: {} }),
    entry('no id', 'missing_header', { headers: { ...standard, 'webhook-id': '' } }),
    entry('milliseconds', 'malformed_header', { headers: signature(`t=${now},v1=${hex}`) }),
    entry('two times', 'malformed_header', { headers: signature(`t=${t},t=${t},v1=${hex}`) }),
    entry('half a signature', 'malformed_header', { headers: signature(`t=${t},v1=${hex.slice(2)}`) }),
    entry('capitals', 'malformed_header', { headers: signature(`t=${t},v1=${hex.toUpperCase()}`) }),
    entry('a line break', 'malformed_header', { headers: signature(`t=${t},v1=${hex}\nx`) }),
    entry('a time and a line break', 'malformed_header', { headers: { ...standard, 'webhook-timestamp': `${t}\n` } }),
    entry('no base64', 'malformed_header', { headers: { ...standard, 'webhook-signature': 'v1,%%%' } }),
    entry('no secret', 'bad_secret', { secret: '' }),
    entry('a secret that is not base64', 'bad_secret', { secret: 'whsec_%', headers: standard }),
    entry('no event', 'bad_body', { body: 'null', headers: sign('null') }),
    entry('no JSON', 'bad_body', { body: 'hello', headers: sign('hello') }),
    entry('no UTF-8', 'bad_body', { body: broken, headers: sign(broken) }),
  ]
}

/** At module level, because cases are tests, which are defined at once. */
const WEBHOOK_CASES = await webhookCases()
