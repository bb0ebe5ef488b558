import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Refusal } from '../../model/refusal.ts'
import { SmtpReply } from '../smtp-server/reply.ts'
import { readAuthorMail } from './author-mail.ts'

const read = (text: string) => readAuthorMail(Buffer.from(text))
const lines = (...all: string[]) => `${all.join('\r\n')}\r\n`

test('a mail may be nothing but a From', () => {
  const written = read('From: a@example.com\r\n')
  expect(written).toMatchObject({
    to: '',
    cc: '',
    replyTo: '',
    subject: '',
    tags: [],
    metadata: {},
    idempotencyKey: null,
  })
  expect(written.mime).toMatchObject({ messageId: null, hasDate: false })
  expect(Buffer.from(written.mime.bytes).toString()).toBe('From: a@example.com\r\n')
})

test('removes fields with their continuation lines, in any letter case, from the header only', () => {
  const text = lines(
    'BCC: a@x.example,',
    ' b@x.example',
    'From: a@example.com',
    'Resent-Bcc: c@x.example',
    'X-Service-Whatever: 1',
    'x-service-tags: a',
    'X-Servicing: stays',
    'return-path: <>',
    'Bcc-Like: stays',
    '',
    'Bcc: this is text',
  )
  expect(Buffer.from(read(text).mime.bytes).toString()).toBe(
    lines('From: a@example.com', 'X-Servicing: stays', 'Bcc-Like: stays', '', 'Bcc: this is text'),
  )
})

test('accepts an encoded word in a name but not in an address', () => {
  for (const value of [
    '=?utf-8?q?Z=C3=B6e?= <zoe@x.example>',
    '"=?utf-8?q?Z?=" <zoe@x.example>, =?utf-8?q?b=40c?= <b@x.example>',
    '=?utf-8?q?a@b.example?= <a@b.example>',
    'a=?=b@x.example',
  ]) {
    const isRead = value !== 'a=?=b@x.example'
    const reading = () => read(lines('From: a@example.com', `To: ${value}`)).to
    if (isRead) expect(reading()).toBe(value)
    else expect(reading).toThrow('To must not contain an encoded word in an address')
  }
  for (const name of ['Sender', 'Reply-To', 'To', 'Cc', 'Resent-From', 'Disposition-Notification-To']) {
    for (const value of ['=?x?q?a?=@x.example', 'a@x.example, <=?x?b?eA==?=@x.example>', '"=?x?q?a?="@x.example']) {
      expect(() => read(lines('From: a@example.com', `${name}: ${value}`))).toThrow('encoded word in an address')
    }
  }
  const many = `${'?='.repeat(60_000)}@${'?= @'.repeat(5_000)}`
  expect(() => read(lines('From: a@example.com', `To: ${many}`))).toThrow()
})

test('a subject is decoded, kept to one line and to 998 bytes without cutting a character', () => {
  const subject = (value: string) => read(lines('From: a@example.com', `Subject: ${value}`)).subject
  expect(subject('=?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\n =?utf-8?Q?_an=0ABcc=3A?= you')).toBe('Grüße an Bcc: you')
  expect(Buffer.byteLength(subject('x'.repeat(2000)))).toBe(998)
  expect(subject('ü'.repeat(2000))).toBe('ü'.repeat(499))
  expect(subject(`x${'ü'.repeat(2000)}`)).toBe(`x${'ü'.repeat(498)}`)
})

test('metadata and tags may be folded, in encoded words, and empty', () => {
  const written = read(
    lines(
      'From: a@example.com',
      'X-Service-Tags: =?utf-8?Q?gr=C3=BCn?=, rot ,,',
      '\t rot',
      'X-Service-Metadata: {"a":',
      ' "=?utf-8?Q?=C3=BC?=",',
      ' "b": 1}',
      'X-Service-Idempotency-Key: k 1',
    ),
  )
  expect(written.tags).toEqual(['grün', 'rot'])
  expect(written.metadata).toEqual({ a: 'ü', b: 1 })
  expect(written.idempotencyKey).toBe('k 1')
  expect(read(lines('From: a@example.com', 'X-Service-Tags:')).tags).toEqual([])
})

describe('every bad service header is named in one refusal', () => {
  test('tags, metadata and key together', () => {
    const bad = lines(
      'From: a@example.com',
      'X-Service-Tags: \x01',
      'X-Service-Metadata: 1',
      'X-Service-Idempotency-Key:',
    )
    expect(faultsOf(bad)).toEqual(['X-Service-Tags[0]', 'X-Service-Metadata', 'X-Service-Idempotency-Key'])
  })

  test.each(['X-Service-Tags', 'X-Service-Metadata', 'X-Service-Idempotency-Key'])('%s given twice', (name) => {
    expect(faultsOf(lines('From: a@example.com', `${name}: {}`, `${name}: {}`))).toContain(name)
  })

  const faultsOf = (text: string) => {
    try {
      read(text)
      return []
    } catch (thrown) {
      return (thrown as Refusal).faults!.map(({ field }) => field)
    }
  }
})

test('any input is read or refused without an internal error, and keeps its body', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'From: a@example.com',
      'From',
      ':',
      '\r\n',
      '\r\n ',
      '\r\n\r\n',
      'Bcc: x',
      'X-Service-Metadata: {',
      '}',
    ),
    fc.constantFrom(
      'Subject: ',
      'Message-ID: <a@b>',
      'Date:',
      '=?utf-8?b?',
      '?=',
      '"',
      '<',
      '>',
      ',',
      '(',
      '\\',
      'ü',
      '\t',
    ),
    fc.string({ unit: 'binary', maxLength: 5 }).map((text) => text.replace(/[\r\n\0]/g, '')),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
      const text = lines('From: a@example.com', '').slice(0, -2) + pieces.join('')
      try {
        const { bytes } = read(text).mime
        const bodyAt = text.indexOf('\r\n\r\n')
        if (bodyAt >= 0) expect(Buffer.from(bytes).toString().endsWith(text.slice(bodyAt))).toBe(true)
      } catch (thrown) {
        expect(thrown instanceof Refusal || thrown instanceof SmtpReply).toBe(true)
      }
    }),
    { numRuns: 1000 },
  )
})

test('a Sender stays if it is at the domain of From, and is dropped otherwise', () => {
  const sent = (value: string) =>
    Buffer.from(read(lines('From: a@example.com', `Sender: ${value}`, 'X-A: b')).mime.bytes).toString()
  for (const own of ['b@example.com', 'Desk <desk@EXAMPLE.com>']) expect(sent(own)).toContain(`Sender: ${own}\r\n`)
  for (const foreign of [
    'ceo@bank.example',
    'b@example.com, ceo@bank.example',
    'www-data@web1',
    'root',
    '',
    'b@sub.example.com',
  ]) {
    expect(sent(foreign)).toBe(lines('From: a@example.com', 'X-A: b'))
  }
  expect(() => read(lines('From: a@example.com', 'Sender: root', 'Sender: root'))).toThrow('only once')
})

test('the line of an mbox file before the header is dropped, and no other line', () => {
  for (const first of ['From a@example.com Sat Nov 28 13:00:00 2026', '>From x']) {
    expect(Buffer.from(read(lines(first, 'From: a@example.com', '', 'x')).mime.bytes).toString()).toBe(
      lines('From: a@example.com', '', 'x'),
    )
    expect(() => read(lines('From: a@example.com', first, '', 'x'))).toThrow('not a header field')
  }
  expect(() => read(lines(`From ${'x'.repeat(1_000)}`, 'From: a@example.com'))).toThrow('not a header field')
})
