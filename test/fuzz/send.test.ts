import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { simpleParser } from 'mailparser'
import { openMessageApi } from '../api/messages-setup.ts'
import { runs } from './runs.ts'

/** Bodies that no client should send, and some valid ones, through the whole of POST /v1/messages/send with a
 *  sandbox key: validation, composing, signing, storing, events. Each is accepted or refused with a reason. */

let server: Awaited<ReturnType<typeof openMessageApi>>
beforeAll(async () => {
  server = await openMessageApi()
})
afterAll(() => server.close())

const GOOD = { from: 'shop@example.com', to: 'ann@remote.example', subject: 'Hello', text: 'Hi' }
const post = (raw: string, headers = {}) => server.send(undefined, { raw, key: server.keys.test, headers })

async function expectAnAnswer(raw: string, headers = {}): Promise<string | null> {
  const { status, body } = await post(raw, headers)
  if (status === 202) return body.id
  expect([400, 403, 413, 422]).toContain(status)
  expect(body.error.code).toBeString()
  expect(body.error.message).not.toMatch(/undefined|\[object|\bat .*\.ts:/)
  if (status === 400) expect(body.error.field).toBeString()
  return null
}

/** Values that once broke something, or might. */
const CORPUS: unknown[] = [
  { ...GOOD, subject: '\ud800' },
  { ...GOOD, subject: 'a\r\nBcc: eve@x.example' },
  { ...GOOD, subject: ' '.repeat(998) },
  { ...GOOD, subject: '=?utf-8?q?=0D=0ABcc:_x@y.example?=' },
  { ...GOOD, text: '\0' },
  { ...GOOD, text: '\r\n.\r\n' },
  { ...GOOD, text: '\u0085\u2028\u2029\ufeff' },
  { ...GOOD, html: '<'.repeat(50_000) },
  { ...GOOD, html: '&#x110000;&#xd800;&#0;<p' },
  { ...GOOD, html: '<!--'.repeat(10_000) },
  { ...GOOD, html: '<table>'.repeat(5_000) },
  { ...GOOD, headers: { 'X-A': 'b\r\nc: d' } },
  { ...GOOD, headers: { constructor: 'x', 'x-b': 'ü'.repeat(5_000) } },
  { ...GOOD, metadata: { constructor: 'x', 'a.b[0]': 1e300 } },
  { ...GOOD, to: ['a@b.example', 'A@B.example', 'a@b.EXAMPLE'] },
  { ...GOOD, to: 'ä@b.example' },
  { ...GOOD, to: '"very odd\\" \\\\@ "@b.example' },
  { ...GOOD, from: `"${'"'.repeat(3)}" <shop@example.com>` },
  { ...GOOD, from: '\u{1f381}\u{1f381} <shop@EXAMPLE.com>' },
  { ...GOOD, attachments: [{ filename: '\u{1f381}'.repeat(60), content: '' }] },
  { ...GOOD, attachments: [{ filename: 'a;b="c', content: 'AA==', content_type: 'text/plain; charset="a;b"' }] },
  { ...GOOD, scheduled_at: '2026-11-31T00:00:00Z' },
  { ...GOOD, scheduled_at: '0000-01-01' },
  { ...GOOD, expires_in: Number.MAX_SAFE_INTEGER },
  [],
  null,
  0,
  '',
  { __proto__: { from: 1 } },
]

describe('a body is accepted or refused without an internal error', () => {
  test.each(CORPUS.map((body, n) => [n, body] as const))('case %d', async (_n, body) => {
    await expectAnAnswer(JSON.stringify(body))
  })

  test.each([
    '{"from":"shop@example.com","to":"a@b.example","subject":"x","text":"y","__proto__":{"a":1}}',
    '{"from":"shop@example.com","to":"a@b.example","subject":"x","text":"y","metadata":{"__proto__":"z"}}',
    '{"from":"shop@example.com","to":"a@b.example","subject":"x","text":"y","expires_in":1e999}',
    '{"from":"shop@example.com","from":"eve@other.example","to":"a@b.example","subject":"x","text":"y"}',
    '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[',
    '{"to":'.repeat(5_000),
    '\ufeff{}',
    '{"subject":"\\ud800"}',
  ])('raw case %#', async (raw) => {
    await expectAnAnswer(raw)
  })

  test('any JSON', async () => {
    const run = fc.asyncProperty(fc.json({ maxDepth: 4 }), async (raw) => void (await expectAnAnswer(raw)))
    await fc.assert(run, runs({ target: 'send', property: 'any-json' }, 300, 1))
  })

  test('a good mail with some wrong fields', async () => {
    const run = fc.asyncProperty(strange, async (change) => {
      await expectAnAnswer(JSON.stringify({ ...GOOD, ...change }))
    })
    await fc.assert(run, runs({ target: 'send', property: 'good-mail-gone-wrong' }, 400, 2))
  })

  test('broken JSON: a good body with a few bytes changed', async () => {
    const good = JSON.stringify({ ...GOOD, tags: ['a'], metadata: { a: 1 }, headers: { 'X-A': 'b' } })
    const change = fc.tuple(fc.nat(good.length - 1), fc.string({ unit: 'binary', maxLength: 3 }))
    const run = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      let raw = good
      for (const [at, text] of changes) raw = raw.slice(0, at) + text + raw.slice(at + 1)
      await expectAnAnswer(raw)
    })
    await fc.assert(run, runs({ target: 'send', property: 'broken-json' }, 300, 3))
  })

  test('any Idempotency-Key: accepted when printable, refused when not', async () => {
    const run = fc.asyncProperty(fc.string({ unit: 'binary-ascii', maxLength: 300 }), async (text) => {
      const value = text.replace(/[\r\n\0]/g, '').trim() // what no HTTP client can send, or HTTP strips
      const { status, body } = await post(JSON.stringify(GOOD), { 'idempotency-key': value })
      const isFine = /^[\x20-\x7e]{1,255}$/.test(value)
      expect(status).toBe(isFine ? 202 : 400)
      if (!isFine) expect(body.error.field).toBe('Idempotency-Key')
    })
    await fc.assert(run, runs({ target: 'send', property: 'idempotency-key' }, 200, 4))
  })
})

test('an accepted mail reads back unchanged: subject, bodies, recipients, attachments', async () => {
  const run = fc.asyncProperty(mail, async ({ subject, text, name, filename, content }) => {
    const attachments = [{ filename, content: Buffer.from(content).toString('base64') }]
    const to = name === null ? 'ann@remote.example' : `${JSON.stringify(name)} <ann@remote.example>`
    const id = await expectAnAnswer(JSON.stringify({ ...GOOD, to, subject, text, attachments }))
    if (id === null) return
    const path = `/v1/messages/${id}/content?part=raw`
    const raw = (await server.ask('GET', path, undefined, { key: server.keys.test })).text
    expect(raw).not.toMatch(/[^\x01-\x7f]|\r(?!\n)|(?<!\r)\n/)
    const parsed = await simpleParser(raw, { skipTextToHtml: true, skipHtmlToText: true })
    expect(folded(parsed.subject)).toBe(folded(subject))
    expect(lines(parsed.text)).toEqual(lines(text))
    expect([parsed.to].flat()[0]!.value.map(({ address }) => address)).toEqual(['ann@remote.example'])
    expect(parsed.attachments.map(({ content: bytes }) => bytes.toString('hex'))).toEqual([
      Buffer.from(content).toString('hex'),
    ])
    expect(parsed.headerLines.map(({ key }) => key).filter((key) => key === 'bcc')).toEqual([])
  })
  await fc.assert(run, runs({ target: 'send', property: 'reads-back' }, 150, 5))
})

const words = fc.oneof(fc.string({ maxLength: 80 }), fc.string({ unit: 'grapheme', maxLength: 80 }))
const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: 'binary', maxLength: 50 }), words)
const strange = fc.record(
  {
    from: fc.oneof(
      odd,
      words.map((name) => `${name} <shop@example.com>`),
    ),
    to: fc.oneof(
      odd,
      fc.array(
        words.map((local) => `${local}@remote.example`),
        { maxLength: 60 },
      ),
    ),
    cc: odd,
    bcc: odd,
    reply_to: odd,
    subject: odd,
    html: fc.oneof(
      odd,
      words.map((text) => `<p>${text}<a href="${text}">`),
    ),
    text: odd,
    headers: fc.oneof(odd, fc.dictionary(words, odd, { maxKeys: 4 })),
    attachments: fc.oneof(
      odd,
      fc.array(
        fc.record(
          { filename: odd, content: fc.oneof(odd, fc.base64String()), content_type: odd, content_id: odd },
          { requiredKeys: ['filename', 'content'] },
        ),
        { maxLength: 3 },
      ),
    ),
    metadata: fc.oneof(odd, fc.dictionary(words, odd, { maxKeys: 4 })),
    tags: fc.oneof(odd, fc.array(words, { maxLength: 12 })),
    scheduled_at: fc.oneof(
      odd,
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    ),
    expires_in: fc.oneof(odd, fc.integer(), fc.double()),
    require_tls: odd,
    track_opens: odd,
    track_clicks: odd,
    unsubscribe: odd,
    surprise: odd,
  },
  { requiredKeys: [] },
)
const mail = fc.record({
  subject: words,
  text: fc.string({ unit: 'grapheme', maxLength: 2_000 }),
  name: fc.option(fc.string({ maxLength: 30 })),
  filename: words,
  content: fc.uint8Array({ maxLength: 300 }),
})

/** White space in a header may be folded and return as one space. */
const folded = (text: string | undefined) => (text ?? '').replace(/[\s\x00-\x1f\x7f]+/g, ' ').trim()
const lines = (text: string | undefined) =>
  (text ?? '')
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd()
