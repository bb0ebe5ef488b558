import { expect, test } from 'bun:test'
import { simpleParser } from 'mailparser'
import { calendarPart } from './calendar.ts'
import { compose } from './compose.ts'
import type { MailContent } from './content.ts'

const EVENT = 'VERSION:2.0\nBEGIN:VEVENT\nUID:1\nSUMMARY:Müller\nEND:VEVENT\nEND:VCALENDAR'
const INVITATION = `BEGIN:VCALENDAR\nMETHOD:REQUEST\n${EVENT}`

test.each([
  ['the METHOD of the text', INVITATION, null, 'REQUEST'],
  ['the same method', INVITATION, 'REQUEST', 'REQUEST'],
  ['a method in lower case', INVITATION.replace('METHOD:REQUEST', 'method: request'), null, 'REQUEST'],
  ['CRLF and an empty line in front', `\r\n${INVITATION.replaceAll('\n', '\r\n')}\r\n\r\n`, null, 'REQUEST'],
  ['a cancellation', INVITATION.replace('REQUEST', 'CANCEL'), 'CANCEL', 'CANCEL'],
  ['a method that the text lacks', `BEGIN:VCALENDAR\n${EVENT}`, 'PUBLISH', 'PUBLISH'],
] as const)('a calendar has its method in text and type, here with %s', (_, text, given, method) => {
  const read = calendarPart(text, given)
  if ('fault' in read) throw new Error(read.fault)
  expect(read.part.contentType).toBe(`text/calendar; method=${method}; charset=utf-8`)
  const lines = Buffer.from(read.part.content).toString().split('\r\n')
  expect(lines[0]).toBe('BEGIN:VCALENDAR')
  expect(lines.filter((line) => /^method:/i.test(line)).map((line) => line.replace(/ /g, '').toUpperCase())).toEqual([
    `METHOD:${method}`,
  ])
  expect(lines.slice(-2)).toEqual(['END:VCALENDAR', ''])
  expect(lines.join('')).not.toMatch(/[\r\n]/)
})

test.each([
  ['hello', null, 'content'],
  ['BEGIN:VEVENT\nEND:VEVENT', 'REQUEST', 'content'],
  ['BEGIN:VCALENDARS\nEND', 'REQUEST', 'content'],
  [`BEGIN:VCALENDAR\n${EVENT}`, null, 'method'],
  [INVITATION.replace('REQUEST', 'DANCE'), null, 'method'],
  [INVITATION, 'CANCEL', 'method'],
] as const)('%j with the method %p is refused', (text, given, field) => {
  expect(calendarPart(text, given)).toMatchObject({ field })
})

test('stands behind text and HTML with its inline images, and before the attachments', async () => {
  const read = calendarPart(INVITATION, null)
  if ('fault' in read) throw new Error(read.fault)
  const file = { filename: 'a.png', contentType: 'image/png', contentId: 'a', content: Buffer.from('png') }
  const mail = (change: Partial<MailContent>) =>
    compose({
      from: { name: null, local: 'a', domain: 'own.example', address: 'a@own.example' },
      to: [],
      cc: [],
      replyTo: [],
      subject: 'x',
      dateAt: 0,
      messageId: '<1@own.example>',
      html: '<img src="cid:a">',
      text: 'Hi',
      headers: [],
      attachments: [read.part],
      boundarySeed: '1',
      ...change,
    })
  const types = (raw: Uint8Array) =>
    [
      ...Buffer.from(raw)
        .toString()
        .matchAll(/^Content-Type: ([a-z]+\/[a-z-]+)/gim),
    ].map(([, type]) => type)
  const whole = mail({ attachments: [file, { ...file, contentId: null }, read.part] })
  expect(types(whole)).toEqual(
    ['mixed', 'alternative']
      .map((each) => `multipart/${each}`)
      .concat([...['text/plain', 'multipart/related', 'text/html', 'image/png', 'text/calendar', 'image/png']]),
  )
  const { attachments, text } = await simpleParser(Buffer.from(whole))
  expect(text?.trim()).toBe('Hi')
  const shown = attachments.find(({ contentType }) => contentType === 'text/calendar')
  expect(shown?.content.toString()).toContain('SUMMARY:Müller')
  expect(types(mail({ html: null }))).toEqual(['multipart/alternative', 'text/plain', 'text/calendar'])
})
