import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import { address, addresses, requestOf } from '../../../../test/support/submission-request.ts'
import type { Attachment } from '../../../mail/content.ts'
import { check } from '../schema.ts'
import { createSendBody, toSubmission } from './messages-body.ts'

const NOW = Date.UTC(2026, 10, 21)
const schema = createSendBody(() => NOW)
const TYPE = 'attachments[0].content_type must be a media type such as application/pdf'
const MAIL = { from: 'a@example.com', to: 'b@example.com', subject: 'x', text: 'y' }
const FIELDS = [
  'from',
  'to',
  'cc',
  'bcc',
  'reply_to',
  'replies',
  'reply_to_name',
  'subject',
  'html',
  'text',
  'template_id',
  'variables',
  'locale',
  'headers',
  'attachments',
  'calendar',
  'metadata',
  'tags',
  'scheduled_at',
  'expires_in',
  'stream',
  'require_tls',
  'track_opens',
  'track_clicks',
  'unsubscribe',
]

test('any JSON is accepted or refused with field errors, without an exception', () => {
  const fields = fc.record(Object.fromEntries(FIELDS.map((name) => [name, fc.jsonValue()])), { requiredKeys: [] })
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fields), (body) => {
      const { value, faults } = check(schema, body, 'body')
      if (faults === null) toSubmission(value)
      else for (const fault of faults) expect(fault.field).not.toBe('')
    }),
    { numRuns: 2000 },
  )
})

test('a good mail with one field changed has faults in that field only', () => {
  const change = fc.tuple(fc.constantFrom(...FIELDS), fc.jsonValue())
  fc.assert(
    fc.property(change, ([name, value]) => {
      const { faults } = check(schema, { ...MAIL, [name]: value }, 'body')
      const blamed = (faults ?? []).map(({ field }) => field.split(/[.[]/)[0])
      for (const field of blamed) expect([name, name === 'text' ? 'html' : name]).toContain(field!)
    }),
    { numRuns: 2000 },
  )
})

describe('the input of submission', () => {
  test('is complete: absent and null fields have their neutral value', () => {
    const nulls = { cc: null, headers: null, attachments: null, metadata: null, tags: null, html: null }
    const { value } = check(schema, { ...MAIL, ...nulls }, 'body')
    const neutral = requestOf({ from: address('a@example.com'), subject: 'x', text: 'y' })
    expect(toSubmission(value!)).toEqual({ ...neutral, to: { ...addresses('b@example.com'), asSent: 'b@example.com' } })
  })

  test('has attachments as bytes', () => {
    const attachments = [{ filename: 'a', content: 'aGk=', content_id: '<x@y>' }]
    const { value } = check(schema, { ...MAIL, attachments }, 'body')
    const [attachment] = toSubmission(value!).attachments as Attachment[]
    expect({ ...attachment, content: Buffer.from(attachment!.content).toString() }).toEqual({
      filename: 'a',
      content: 'hi',
      contentType: 'application/octet-stream',
      contentId: 'x@y',
    })
  })

  test('has an attachment to download as its URL', () => {
    const attachments = [{ url: 'https://files.example/a.pdf?sig=1', content_id: '<x@y>' }]
    const { value } = check(schema, { ...MAIL, attachments }, 'body')
    expect(toSubmission(value!).attachments).toEqual([
      { url: 'https://files.example/a.pdf?sig=1', filename: null, contentType: null, contentId: 'x@y' },
    ])
  })

  test.each([
    [{ filename: 'a' }, ['attachments[0].content is required']],
    [{ content_type: 'pdf' }, ['attachments[0].filename is required', 'attachments[0].content is required', TYPE]],
    [{ url: 'https://a.example/x', content_type: 'pdf' }, [TYPE]],
    [
      { url: 'https://a.example/x', filename: 'a', content: 'aGk=' },
      ['attachments[0].url cannot be combined with content'],
    ],
    [{ url: 'http://a.example/x' }, ['attachments[0].url is not accepted: the URL must start with https://']],
    [{ url: 'https://ann:secret@a.example/x' }, [/must not contain a user name or password/]],
    [{ url: 'https://a.example:25/x' }, [/port 25 belongs to another protocol/]],
    [{ url: 'file:///etc/passwd', filename: 'a' }, [/must start with https/]],
    [{ url: 7 }, ['attachments[0].url must be a string']],
    [{ url: `https://a.example/${'x'.repeat(2048)}` }, [/longer than 2048/]],
    [
      { url: 'https://a.example/x', file_name: 'a' },
      ['Unknown field "attachments[0].file_name". Did you mean "filename"?'],
    ],
  ])('%j names each invalid field', (attachment, messages) => {
    const { faults } = check(schema, { ...MAIL, attachments: [attachment] }, 'body')
    expect(faults!.map(({ message }) => message)).toEqual(
      messages.map((each) => (typeof each === 'string' ? each : expect.stringMatching(each))),
    )
  })
})

test('the schema converts to JSON Schema with a type for every field', () => {
  const document = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  expect(Object.keys(document.properties!)).toEqual(FIELDS)
  expect(document.required).toEqual(['from', 'to'])
  expect(document.properties!.headers).toMatchObject({ anyOf: [{ $ref: '#/$defs/MessageHeaders' }, { type: 'null' }] })
  expect(document.$defs!.MessageHeaders).toMatchObject({ type: 'object' })
})

describe('encoded words of a library for headers', () => {
  const read = (change: object) => toSubmission(check(schema, { ...MAIL, ...change }, 'body').value!)
  const word = '=?utf-8?b?TcO8bGxlcg==?='

  test('are decoded in names, the subject and file names, because a reader decodes only ours', () => {
    const request = read({
      from: `${word} <a@example.com>`,
      to: [`=?UTF-8?Q?L=C3=A9e=2C_Ann?= <b@example.com>`],
      reply_to: `"${word}" <c@example.com>`,
      subject: `Re: ${word} ${word}`,
      attachments: [{ filename: '=?UTF-8?Q?=C3=A4.pdf?=', content: 'AAAA' }],
    })
    expect(request.from.mailbox.name).toBe('Müller')
    expect(request.to.mailboxes[0]?.name).toBe('Lée, Ann')
    expect(request.replyTo?.mailboxes[0]?.name).toBe('Müller')
    expect(request.subject).toBe('Re: MüllerMüller')
    expect(request.attachments[0]).toMatchObject({ filename: 'ä.pdf', contentType: 'application/pdf' })
  })

  test('stay as they are where the text inside is not allowed', () => {
    const path = `=?utf-8?b?${Buffer.from('../a').toString('base64')}?=`
    const blank = '=?utf-8?q?_?='
    const request = read({ subject: blank, attachments: [{ filename: path, content: 'AAAA' }] })
    expect([request.subject, request.attachments[0]]).toMatchObject([blank, { filename: path }])
  })
})
