import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { unwrap, type VerificationFault, type WebhookEvent, WebhookVerificationError } from '../../src/client/index.ts'
import { signEnveloped, signInbound } from '../../src/events/webhooks/sign.ts'
import golden from '../golden/webhook-signatures.json' with { type: 'json' }

const NOW = 1_795_244_400_000
const SECRET = golden.enveloped[0]!.secrets.secret
const BODY = golden.enveloped[0]!.body
const OTHER = 'whsec_b3RoZXI='
const MAIL = '{"event":"inbound","from":"bob@customer.example","subject":"Hi","text_body":"grüße"}'
const BROKEN = Uint8Array.of(0x7b, 0xff, 0x7d)
const at = (now: number) => ({ now: () => now })

const signed = (secret = SECRET, body = BODY) =>
  signEnveloped({ secrets: { secret, previous: null }, eventId: 'evt_1', body, attempt: 1, now: NOW })
const pick = (headers: Record<string, string>, names: RegExp) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)))
const ours = pick(signed(), /^X-Service-Signature$/)
const standard = pick(signed(), /^webhook-/)

describe('golden signatures, made with Python', () => {
  // Some vectors sign bodies that are not events. The verifier reports this only if the signature is valid.
  const verdict = async (...[body, headers, secret, now]: Parameters<typeof faultOf>) => {
    const isOurs = /^\{"(id|event)":/.test(String(body))
    expect(await faultOf(body, headers, secret, now)).toBe(isOurs ? null : 'bad_body')
  }
  for (const { name, headers, body, secrets, now } of golden.enveloped) {
    test(name, async () => {
      const { secret, previous } = secrets
      for (const known of previous !== null && previous.expiresAt > now ? [secret, previous.secret] : [secret]) {
        await verdict(body, headers, known, now)
        await verdict(body, pick(headers, /^webhook-/), known, now)
      }
    })
  }
  for (const { name, headers, body, secret, now } of golden.inbound) {
    test(`inbound: ${name}`, () => verdict(body, headers, secret, now))
  }
})

test('the Standard Webhooks library and ours accept the same requests', async () => {
  const t = Math.floor(Date.now() / 1_000) // that library uses the real clock
  const theirs = new Webhook(SECRET)
  const signature = theirs.sign('evt_1', new Date(t * 1_000), BODY)
  const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': `${t}`, 'webhook-signature': signature }
  expect(await unwrap(BODY, headers, SECRET)).toEqual(JSON.parse(BODY))

  const signed = signEnveloped({
    secrets: { secret: OTHER, previous: { secret: SECRET, expiresAt: t * 1_000 + 1 } },
    eventId: 'evt_1',
    body: BODY,
    attempt: 1,
    now: t * 1_000,
  })
  expect(theirs.verify(BODY, signed)).toEqual(JSON.parse(BODY))
  expect(await unwrap(BODY, pick(signed, /^webhook-/), SECRET)).toEqual(JSON.parse(BODY))
})

test('headers of every framework, and bodies as text or bytes, are accepted', async () => {
  const lower = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toLowerCase(), value]))
  const lists = Object.fromEntries(Object.entries(standard).map(([name, value]) => [name, [value]]))
  const event = JSON.parse(BODY)
  for (const headers of [signed(), lower, new Headers(signed()), lists]) {
    for (const body of [
      BODY,
      Buffer.from(BODY),
      new TextEncoder().encode(BODY),
      new TextEncoder().encode(BODY).buffer,
    ]) {
      expect(await unwrap(body, headers, SECRET, at(NOW))).toEqual(event)
    }
  }
  // A Buffer may be a view of a part of a larger buffer.
  const within = Buffer.from(`xx${BODY}xx`).subarray(2, -2)
  expect(await unwrap(within, signed(), SECRET, at(NOW))).toEqual(event)
})

test('an inbound mail is distinguished by its type', async () => {
  const ids = { deliveryId: 'ibd_1', messageId: 'inb_1', routeId: 'rte_1' }
  const headers = await signInbound({ secret: SECRET, ...ids, body: Buffer.from(MAIL), attempt: 1, now: NOW })
  for (const sent of [headers, pick(headers, /^X-Inbound-Signature$/), pick(headers, /^webhook-/)]) {
    const event: WebhookEvent = await unwrap(MAIL, sent, SECRET, at(NOW))
    if (event.type !== 'inbound') throw new Error(event.type)
    expect([event.from, event.text_body]).toEqual(['bob@customer.example', 'grüße'])
  }
})

test('types of events are distinguished', () => {
  const reported = (event: WebhookEvent): string => {
    switch (event.type) {
      case 'message.bounced':
        return `${event.data.bounce_type} ${event.data.will_retry}`
      case 'quality.alert':
        return `${event.data.metric} ${event.data.state}`
      case 'inbound.received':
        return event.data.inbound_message_id
      case 'inbound':
        return event.text_body
      case 'suppression.added':
        return event.data.email
      default:
        return 'to' in event.data ? event.data.to : event.id
    }
  }
  expect(reported(JSON.parse(BODY))).toBe('ann@example.org')
})

describe('refused requests and their reason', () => {
  const t = NOW / 1_000
  const hex = ours['X-Service-Signature']!.split('v1=')[1]!
  const own = (value: string) => ({ 'X-Service-Signature': value })
  const like = (change: Record<string, string>) => ({ ...standard, ...change })
  const cases: [string, VerificationFault, Record<string, string>, (string | Uint8Array)?, string?][] = [
    ['no signature', 'missing_header', { 'content-type': 'application/json' }],
    ['Standard Webhooks without id', 'missing_header', pick(standard, /timestamp|signature/)],
    ['Standard Webhooks without time', 'missing_header', pick(standard, /id|signature/)],
    ['a header without fields', 'malformed_header', own('nonsense')],
    ['no time', 'malformed_header', own(`v1=${hex}`)],
    ['milliseconds', 'malformed_header', own(`t=${NOW},v1=${hex}`)],
    ['two times', 'malformed_header', own(`t=${t},t=${t},v1=${hex}`)],
    ['half a signature', 'malformed_header', own(`t=${t},v1=${hex.slice(2)}`)],
    ['capitals', 'malformed_header', own(`t=${t},v1=${hex.toUpperCase()}`)],
    ['a version that is not known', 'malformed_header', like({ 'webhook-signature': 'v2,AAAA' })],
    ['no base64', 'malformed_header', like({ 'webhook-signature': 'v1,%%%' })],
    ['another secret', 'wrong_signature', ours, BODY, OTHER],
    ['another secret, Standard Webhooks', 'wrong_signature', standard, BODY, OTHER],
    ['another body', 'wrong_signature', ours, `${BODY} `],
    ['another time', 'wrong_signature', own(`t=${t + 1},v1=${hex}`)],
    ['another id', 'wrong_signature', like({ 'webhook-id': 'evt_2' })],
    [
      'a good signature of the other kind does not make up for a wrong one',
      'wrong_signature',
      { ...standard, ...own(`t=${t},v1=${'0'.repeat(64)}`) },
    ],
    ['no secret', 'bad_secret', ours, BODY, ''],
    ['a secret that is not base64', 'bad_secret', standard, BODY, 'whsec_%'],
    ['no JSON', 'bad_body', signed(SECRET, 'hello'), 'hello'],
    ['no event', 'bad_body', signed(SECRET, 'null'), 'null'],
    [
      'no UTF-8',
      'bad_body',
      signEnveloped({ secrets: { secret: SECRET, previous: null }, eventId: 'e', body: BROKEN, attempt: 1, now: NOW }),
      BROKEN,
    ],
    ['a parsed body', 'bad_body', ours, JSON.parse(BODY)],
  ]
  for (const [name, fault, headers, body = BODY, secret = SECRET] of cases) {
    test(`${name}: ${fault}`, async () => expect(await faultOf(body, headers, secret, NOW)).toBe(fault))
  }

  // threat: forged-webhooks-at-receiver
  test('a signature is stale beyond 300 seconds, in both directions', async () => {
    for (const [offsetMs, fault] of [
      [300_999, null],
      [-300_000, null],
      [301_000, 'stale'],
      [-300_001, 'stale'],
    ] as const) {
      for (const headers of [ours, standard]) {
        expect([offsetMs, await faultOf(BODY, headers, SECRET, NOW + offsetMs)]).toEqual([offsetMs, fault])
      }
    }
    const strict = unwrap(BODY, ours, SECRET, { ...at(NOW + 11_000), toleranceSeconds: 10 })
    await expect(strict).rejects.toThrow('The signature is 11 s away from the local clock; at most 10 s are allowed.')
  })

  test('a wrong signature is wrong even when it is old', async () => {
    expect(await faultOf(BODY, ours, OTHER, NOW + 3_600_000)).toBe('wrong_signature')
  })
})

// threat: forged-webhooks-at-receiver
test('any input is an event or a WebhookVerificationError', async () => {
  const t = NOW / 1_000
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      `t=${t}`,
      `v1=${'a'.repeat(64)}`,
      'v1,AAAA',
      't=',
      ',',
      ' ',
      ours['X-Service-Signature']!,
      standard['webhook-signature']!,
    ),
  )
  const value = fc.oneof(
    fc.array(word).map((words) => words.join(',')),
    fc.array(fc.string()),
    fc.constant(undefined),
  )
  const headers = fc.record({
    'x-service-signature': fc.option(value, { nil: undefined }),
    'X-Inbound-Signature': fc.option(value, { nil: undefined }),
    'webhook-id': value,
    'webhook-timestamp': fc.oneof(value, fc.constant(`${t}`)),
    'webhook-signature': value,
  })
  const body = fc.oneof(fc.constant(BODY), fc.string(), fc.uint8Array(), fc.anything())
  const secret = fc.oneof(fc.constant(SECRET), fc.string(), fc.anything())
  await fc.assert(
    fc.asyncProperty(body, headers, secret, async (...given) => {
      const [anyBody, anyHeaders, anySecret] = given as [string, Record<string, string>, string]
      const error = await unwrap(anyBody, anyHeaders, anySecret, at(NOW)).catch((reason) => reason)
      const isRight = anyBody === BODY && anySecret === SECRET
      if (!(error instanceof WebhookVerificationError) && !isRight) throw error
    }),
    { seed: 1, numRuns: 500 },
  )
})

async function faultOf(body: string | Uint8Array, headers: Record<string, string>, secret: string, now: number) {
  try {
    await unwrap(body, headers, secret, at(now))
    return null
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    expect(error.message).not.toContain(secret === '' ? SECRET : secret)
    return error.fault
  }
}
