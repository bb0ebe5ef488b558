import { expect, test } from 'bun:test'
import { createRecords, START } from '../../../test/storage/new-records.ts'
import { packContent } from '../../mail/content.ts'
import { packMime } from '../../mail/mime-content.ts'
import type { Message } from '../../model/message.ts'
import { requestAgain } from './resend.ts'

const ANN = { name: 'Ann', address: 'ann@a.example', local: 'ann', domain: 'a.example' }
const content = packContent({
  from: ANN,
  to: [],
  cc: [],
  replyTo: [],
  subject: '',
  dateAt: START,
  messageId: '<1@a.example>',
  html: '<p>Hi</p>',
  text: null,
  headers: [['X-A', '1']],
  attachments: [],
  boundarySeed: 'seed',
})
const again = (change: Partial<Message>, bytes = content) =>
  requestAgain(createRecords().accepted(change).message, bytes)

test('the same mail goes to the same recipients', () => {
  const request = again({
    from: 'Ann <ann@a.example>',
    to: ['bob@b.example', 'Cid <cid@c.example>'],
    cc: 'dan@d.example',
    bcc: null,
    replyTo: 'eve@e.example',
    subject: 'Hello',
    tags: ['x'],
    metadata: { order: '7' },
    templateId: 'tpl_1',
  })
  expect(request).toMatchObject({
    from: { asSent: 'Ann <ann@a.example>', mailbox: { name: 'Ann', address: 'ann@a.example' } },
    to: {
      asSent: ['bob@b.example', 'Cid <cid@c.example>'],
      mailboxes: [{ address: 'bob@b.example' }, { name: 'Cid' }],
    },
    cc: { asSent: 'dan@d.example', mailboxes: [{ address: 'dan@d.example' }] },
    bcc: null,
    replyTo: { asSent: 'eve@e.example' },
    subject: 'Hello',
    html: '<p>Hi</p>',
    text: null,
    headers: [['X-A', '1']],
    mime: null,
    tags: ['x'],
    metadata: { order: '7' },
    template: { id: 'tpl_1' },
    scheduledAt: null,
  })
  expect(again({ templateId: null }).template).toBeNull()
})

test('a time limit starts over, from the time at which the message was due', () => {
  const limit = (change: Partial<Message>) => again({ createdAt: START, ...change }).expiresInSeconds
  expect(limit({ expiresAt: null })).toBeNull()
  expect(limit({ expiresAt: START + 90_000 })).toBe(90)
  expect(limit({ expiresAt: START + 90_001 })).toBe(91)
  expect(limit({ expiresAt: START + 90_000, scheduledAt: START + 60_000 })).toBe(30)
  expect(limit({ expiresAt: START })).toBe(1)
})

test('a mail that was submitted whole loses its Date and Message-ID, and keeps its other fields', () => {
  const mail = 'Date: Sat, 21 Nov 2026 12:00:00 +0000\r\nSubject: x\r\nMessage-ID: <1@a.example>\r\n\r\nHi\r\n'
  const { mime, html } = again({}, packMime(Buffer.from(mail)))
  expect([Buffer.from(mime!.bytes).toString(), mime!.messageId, mime!.hasDate, html]).toEqual([
    'Subject: x\r\n\r\nHi\r\n',
    null,
    false,
    null,
  ])
})

test('an address that cannot be parsed is a fault', () => {
  expect(() => again({ from: 'nobody' })).toThrow('a stored address cannot be parsed')
})
