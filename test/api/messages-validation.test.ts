import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MAIL, openMessageApi, START } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
beforeAll(async () => {
  server = await openMessageApi()
})
afterAll(() => server.close())

const LONG_ADDRESS_LIST = Array.from({ length: 51 }, (_, i) => `r${i}@remote.example`)

// threat: files-by-path-or-url
describe('a body that is not valid is 400 and names the field', () => {
  const attachment = (more: object) => ({ attachments: [{ filename: 'a.txt', content: '', ...more }] })
  const CASES: [string, object, string][] = [
    ['no from', { from: undefined }, 'from'],
    ['from null', { from: null }, 'from'],
    ['from a list', { from: ['a@example.com'] }, 'from'],
    ['from two addresses', { from: 'a@example.com, b@example.com' }, 'from'],
    ['from no address', { from: 'shop' }, 'from'],
    ['from with a group', { from: 'g: a@example.com;' }, 'from'],
    ['from an address literal', { from: 'a@[192.0.2.1]' }, 'from'],
    ['from an encoded word', { from: '=?utf-8?q?ceo=40bank.example?=@example.com' }, 'from'],
    ['to an encoded word', { to: 'Ann <=?utf-8?b?eA==?=@remote.example>' }, 'to'],
    ['cc an encoded word', { cc: ['=?x?q?a?=@remote.example'] }, 'cc[0]'],
    ['reply_to an encoded word', { reply_to: '"=?x?q?a?="@remote.example' }, 'reply_to'],
    ['a tag with a bidirectional control', { tags: ['a\u202eb'] }, 'tags[0]'],
    [
      'a file name with a bidirectional control',
      { attachments: [{ filename: 'invoice\u202efdp.exe', content: '' }] },
      'attachments[0].filename',
    ],
    ['no to', { to: undefined }, 'to'],
    ['to empty', { to: [] }, 'to'],
    ['to empty text', { to: '' }, 'to'],
    ['to a number', { to: 5 }, 'to'],
    ['to an object', { to: { email: 'a@b.example' } }, 'to'],
    ['to two in one text', { to: 'a@b.example, c@d.example' }, 'to'],
    ['to one bad of two', { to: ['a@b.example', 'bad'] }, 'to[1]'],
    ['to a number in the list', { to: ['a@b.example', 7] }, 'to[1]'],
    ['cc bad', { cc: 'x' }, 'cc'],
    ['bcc bad', { bcc: ['x'] }, 'bcc[0]'],
    ['reply_to bad', { reply_to: '@' }, 'reply_to'],
    ['an address of a kilobyte', { to: `${'x'.repeat(999)} <a@b.example>` }, 'to'],
    ['51 addresses in reply_to', { reply_to: LONG_ADDRESS_LIST }, 'reply_to'],
    ['51 recipients', { to: LONG_ADDRESS_LIST }, 'to'],
    ['51 recipients over all fields', { cc: LONG_ADDRESS_LIST.slice(1) }, 'to'],
    ['501 entries', { to: Array(501).fill('a@b.example') }, 'to'],
    ['no subject', { subject: undefined }, 'subject'],
    ['empty subject', { subject: ' ' }, 'subject'],
    ['long subject', { subject: 'x'.repeat(999) }, 'subject'],
    ['neither html nor text', { html: undefined }, 'html'],
    ['both null', { html: null, text: null }, 'html'],
    ['text empty alone', { html: undefined, text: '' }, 'html'],
    ['html empty', { html: '' }, 'html'],
    ['html blank', { html: ' \n' }, 'html'],
    ['html with NUL', { html: '<p>\0</p>' }, 'html'],
    ['html an object', { html: { path: '/etc/passwd' } }, 'html'],
    ['html a number', { html: 5 }, 'html'],
    ['text blank', { text: ' ' }, 'text'],
    ['text an object', { text: { href: 'http://x.example' } }, 'text'],
    ['headers a list', { headers: [] }, 'headers'],
    ['headers text', { headers: 'X: y' }, 'headers'],
    ['header value a number', { headers: { 'X-A': 1 } }, 'headers.X-A'],
    ['a reserved header', { headers: { Bcc: 'a@b.example' } }, 'headers.Bcc'],
    ['header twice', { headers: { 'X-A': '1', 'x-a': '2' } }, 'headers.x-a'],
    ['header named __proto__ with a list', { headers: JSON.parse('{"__proto__":[]}') }, 'headers.__proto__'],
    ['51 headers', { headers: Object.fromEntries(LONG_ADDRESS_LIST.map((_, i) => [`X-${i}`, ''])) }, 'headers'],
    ['header value long', { headers: { 'X-A': 'x'.repeat(999) } }, 'headers.X-A'],
    ['attachments an object', { attachments: {} }, 'attachments'],
    ['attachment without content', { attachments: [{ filename: 'a' }] }, 'attachments[0].content'],
    ['attachment without a name', { attachments: [{ content: '' }] }, 'attachments[0].filename'],
    ['attachment with a path', attachment({ path: '/etc/passwd' }), 'attachments[0].path'],
    ['attachment not base64', attachment({ content: 'a*b' }), 'attachments[0].content'],
    ['attachment in two alphabets', attachment({ content: 'a-b/' }), 'attachments[0].content'],
    ['attachment as text of a data URL', attachment({ content: 'data:text/plain,hello' }), 'attachments[0].content'],
    ['attachment in a folder', attachment({ filename: '../a' }), 'attachments[0].filename'],
    ['attachment type', attachment({ content_type: 'pdf' }), 'attachments[0].content_type'],
    ['attachment id', attachment({ content_id: 'a b' }), 'attachments[0].content_id'],
    ['attachment id of a scheme alone', attachment({ content_id: 'cid:' }), 'attachments[0].content_id'],
    ['101 attachments', { attachments: Array(101).fill({ filename: 'a', content: '' }) }, 'attachments'],
    ['metadata a list', { metadata: ['a'] }, 'metadata'],
    ['metadata nested', { metadata: { a: { b: 1 } } }, 'metadata.a'],
    ['metadata null inside', { metadata: { a: null } }, 'metadata.a'],
    ['metadata too big', { metadata: { a: 'x'.repeat(4097) } }, 'metadata'],
    ['51 metadata keys', { metadata: Object.fromEntries(LONG_ADDRESS_LIST.map((key) => [key, 1])) }, 'metadata'],
    ['tags text', { tags: 'a' }, 'tags'],
    ['11 tags', { tags: [...'abcdefghijk'] }, 'tags'],
    ['tag long', { tags: ['a', 'x'.repeat(65)] }, 'tags[1]'],
    ['tag a number', { tags: [1] }, 'tags[0]'],
    ['scheduled_at no time', { scheduled_at: 'tomorrow' }, 'scheduled_at'],
    ['scheduled_at without offset', { scheduled_at: '2026-11-22T12:00:00' }, 'scheduled_at'],
    ['scheduled_at a number', { scheduled_at: START }, 'scheduled_at'],
    ['scheduled_at 31 February', { scheduled_at: '2027-02-31T00:00:00Z' }, 'scheduled_at'],
    ['scheduled_at too far', { scheduled_at: '2026-12-21T12:00:00.001Z' }, 'scheduled_at'],
    ['expires_in 0', { expires_in: 0 }, 'expires_in'],
    ['expires_in a fraction', { expires_in: 1.5 }, 'expires_in'],
    ['expires_in text', { expires_in: '60' }, 'expires_in'],
    ['require_tls text', { require_tls: 'yes' }, 'require_tls'],
    ['unsubscribe text', { unsubscribe: 'yes' }, 'unsubscribe'],
    ['track_opens text', { track_opens: 'yes' }, 'track_opens'],
    ['track_clicks number', { track_clicks: 1 }, 'track_clicks'],
    ['an unknown field', { track_open: true }, 'track_open'],
    ['a typo', { subjct: 'x' }, 'subjct'],
    ['raw mail', { raw: 'From: x' }, 'raw'],
  ]
  test.each(CASES)('%s', async (_, change, field) => {
    const before = await rows()
    const answer = await server.send({ ...MAIL, ...change })
    expect([answer.status, answer.body.error?.code, answer.body.error?.field]).toEqual([400, 'validation_error', field])
    expect(answer.body.error.errors).toEqual([{ field, message: expect.stringContaining(field.split(/[.[]/)[0]!) }])
    expect(await rows()).toBe(before)
  })

  test('an infinite number in metadata', async () => {
    const raw = JSON.stringify({ ...MAIL, metadata: { a: 0 } }).replace('"a":0', '"a":1e999')
    const answer = await server.send(undefined, { raw })
    expect([answer.status, answer.body.error.field]).toEqual([400, 'metadata.a'])
  })

  test.each(['null', '[]', '5', '"text"', '{}', '[{}]', ''])('a body of %p', async (raw) => {
    const answer = await server.send(undefined, { raw })
    expect([answer.status, answer.body.error.code]).toEqual([400, 'validation_error'])
  })

  test('with all its faults in one answer', async () => {
    const answer = await server.send({
      from: 'x',
      to: ['a@b.example', 'y'],
      html: 5,
      headers: { From: 'a', 'X-B': 'a\nb' },
      attachments: [{ filename: 'a/b', content: '!' }],
      scheduled_at: '2030-01-01T00:00:00Z',
      cc: LONG_ADDRESS_LIST,
      bogus: 1,
    })
    const { error } = answer.body
    expect(error.field).toBe(error.errors[0].field)
    expect(error.errors.map((each: { field: string }) => each.field).sort()).toEqual([
      'attachments[0].content',
      'attachments[0].filename',
      'bogus',
      'from',
      'headers.From',
      'headers.X-B',
      'html',
      'scheduled_at',
      'subject',
      'to',
      'to[1]',
    ])
  })
})

// threat: header-and-recipient-injection
// threat: address-string-confusion
describe('CR, LF and NUL reach no header', () => {
  const FIELDS: [string, (text: string) => object][] = [
    ['from', (text) => ({ from: `Shop${text} <shop@example.com>` })],
    ['from', (text) => ({ from: `shop@example.com${text}` })],
    ['to', (text) => ({ to: `Ann${text} <ann@remote.example>` })],
    ['to', (text) => ({ to: `ann@remote.example${text}` })],
    ['to[0]', (text) => ({ to: [`ann@remote.example${text}`] })],
    ['cc', (text) => ({ cc: `"Ann${text}" <ann@remote.example>` })],
    ['bcc', (text) => ({ bcc: `a${text}nn@remote.example` })],
    ['reply_to', (text) => ({ reply_to: `Help${text} <help@example.com>` })],
    ['subject', (text) => ({ subject: `Hello${text}` })],
    ['headers.X-A', (text) => ({ headers: { 'X-A': `a${text}` } })],
    ['tags[0]', (text) => ({ tags: [`a${text}`] })],
    ['attachments[0].filename', (text) => ({ attachments: [{ filename: `a${text}.txt`, content: '' }] })],
    [
      'attachments[0].content_type',
      (text) => ({ attachments: [{ filename: 'a', content: '', content_type: `text/plain${text}` }] }),
    ],
    [
      'attachments[0].content_id',
      (text) => ({ attachments: [{ filename: 'a', content: '', content_id: `a${text}` }] }),
    ],
  ]
  const ENDS = ['\r', '\n', '\0', '\r\n', '\nBcc: eve@evil.example', '\r\n\r\nbody', 'x\ny']
  const MATRIX = FIELDS.flatMap(([field, change]) => ENDS.map((end) => [field, end, change] as const))

  test.each(MATRIX)('%s with %j', async (field, end, change) => {
    const answer = await server.send({ ...MAIL, ...change(end) })
    expect([answer.status, answer.body.error.code, answer.body.error.field]).toEqual([400, 'validation_error', field])
  })

  test.each(ENDS)('a header name with %j', async (end) => {
    const answer = await server.send({ ...MAIL, headers: { [`X-A${end}`]: 'a' } })
    expect([answer.status, answer.body.error.field]).toEqual([400, `headers.X-A${end}`])
  })
})

async function rows(): Promise<string> {
  return (await server.ask('GET', '/v1/messages?limit=1')).body.data[0]?.id ?? ''
}
