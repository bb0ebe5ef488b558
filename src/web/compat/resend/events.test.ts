import { expect, test } from 'bun:test'
import { createEvent, EVENT_TYPES, type EventType } from '../../../model/event.ts'
import { sampleData } from '../../../model/event-samples.ts'
import type { Message } from '../../../model/message.ts'
import { ourEvent, RESEND_EVENTS, resendBody, resendEvent } from './events.ts'

const AT = Date.parse('2026-11-21T12:00:00Z')
const LATER = AT + 90_000

const envelope = (type: EventType, change: object = {}) => {
  const facts = { organizationId: 'org_1', domainId: null, messageId: null, mode: 'test' as const, createdAt: LATER }
  return createEvent({ id: 'evt_1', type, ...facts }, { ...sampleData(type, LATER), ...change }).body
}
const message = { messageIdHeader: '<1@example.com>', createdAt: AT, templateId: 'tpl_1' } as Message
const posted = (type: EventType, change: object = {}, of: Message | null = message) =>
  JSON.parse(resendBody(envelope(type, change), of))

test('each event of Resend maps to one of ours and back', () => {
  for (const name of RESEND_EVENTS) expect(resendEvent(ourEvent(name))).toBe(name)
  expect(RESEND_EVENTS).toHaveLength(11)
})

test('the message supplies what the event lacks', () => {
  expect(posted('message.deferred')).toEqual({
    type: 'email.delivery_delayed',
    created_at: '2026-11-21T12:01:30.000Z',
    data: {
      email_id: 'msg_00000000000000000000000000',
      message_id: '<1@example.com>',
      created_at: '2026-11-21T12:00:00.000Z',
      from: 'Example <hello@example.com>',
      to: ['recipient@example.net'],
      subject: 'A sample message',
      template_id: 'tpl_1',
      tags: { order: '1001' },
    },
  })
})

test('an event without a stored message is still converted', () => {
  for (const type of EVENT_TYPES) {
    const { data, ...head } = posted(type, {}, null)
    expect(head).toEqual({ type: resendEvent(type), created_at: '2026-11-21T12:01:30.000Z' })
    expect(data).toBeObject()
  }
})

test('an accepted message is sent, or scheduled for later', () => {
  expect(posted('message.accepted').type).toBe('email.sent')
  expect(posted('message.accepted', { scheduled_at: '2026-11-22T12:00:00.000Z' }).type).toBe('email.scheduled')
})

test('a received mail and a suppression have their own data', () => {
  expect(posted('inbound.received', {}, null).data).toEqual({
    email_id: 'inb_00000000000000000000000000',
    created_at: '2026-11-21T12:01:30.000Z',
    from: 'sender@example.net',
    to: ['support@example.com'],
    cc: [],
    bcc: [],
    received_for: ['support@example.com'],
    message_id: '<sample@example.net>',
    subject: 'A sample message',
    attachments: [
      {
        id: '1',
        filename: 'photo.png',
        size: 16_384,
        content_type: 'image/png',
        content_disposition: 'attachment',
        content_id: null,
      },
    ],
  })
  expect(posted('suppression.removed', {}, null)).toEqual({
    type: 'suppression.removed',
    created_at: '2026-11-21T12:01:30.000Z',
    data: {
      id: 'sup_00000000000000000000000000',
      email: 'recipient@example.net',
      origin: 'bounce',
      source_id: 'msg_00000000000000000000000000',
      created_at: '2026-11-21T12:01:30.000Z',
    },
  })
})

const bounces: [type: string, code: string, reported: object][] = [
  ['hard', '5.1.1', { type: 'Permanent', subType: 'General' }],
  ['soft', '4.2.2', { type: 'Transient', subType: 'MailboxFull' }],
  ['soft', '5.3.4', { type: 'Transient', subType: 'MessageTooLarge' }],
  ['soft', '5.6.0', { type: 'Transient', subType: 'ContentRejected' }],
  ['soft', '421', { type: 'Transient', subType: 'General' }],
]
test.each(bounces)('a %s bounce %s', (bounce_type, bounce_code, reported) => {
  const { data } = posted('message.bounced', { bounce_type, bounce_code })
  expect(data.bounce).toEqual({ ...reported, message: '550 5.1.1 no such mailbox' })
})

test('a click has its link, time and user agent', () => {
  expect(posted('message.clicked').data.click).toEqual({
    ipAddress: '192.0.2.1',
    link: 'https://example.com/welcome',
    timestamp: '2026-11-21T12:01:30.000Z',
    userAgent: 'Mozilla/5.0 (sample)',
  })
})
