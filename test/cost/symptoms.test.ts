/** Texts that once blocked a thread or the whole server. Each now takes a few milliseconds. */
import { expect, test } from 'bun:test'
import { classifyReply } from '../../src/mail/bounce-class.ts'
import { BOUNCE_RULES } from '../../src/mail/bounce-rules.ts'
import { encodedWords } from '../../src/mail/header-text.ts'
import { packMime } from '../../src/mail/mime-content.ts'
import { shownContent } from '../../src/mail/shown-content.ts'
import { trackHtml } from '../../src/mail/track.ts'
import { createTrackingLinks } from '../../src/mail/tracking-link.ts'
import { readReport } from '../../src/receiving/feedback/content.ts'
import { bounded } from '../../src/receiving/inbound/bounded-head.ts'
import { analyze } from '../../src/sending/analysis/analyze.ts'
import { parseTemplateTexts } from '../../src/sending/submission/render.ts'
import { WORD } from '../../src/storage/search-tokens.ts'
import { authorOf } from '../../src/web/dashboard/ui/kit/format.ts'
import { costMs, expectCostUnder } from '../support/cpu-cost.ts'
import { ANALYSED } from './analysed.ts'

const TRIES = 5
/** Far above the present cost, far below the former one. */
const MOST_MS = 100

const BOUNCE = 'From: MAILER-DAEMON@a.example\r\nReturn-Path: <>\r\nSubject: Undelivered\r\n\r\n'

// threat: bounce-backtracking
test('a bounce of 85 kB whose lines hold @ signs, tabs and bare CRs does not stop the server', async () => {
  const line = `<x${'@'.repeat(330)}>:${'\t'.repeat(655)}\r \n`
  const openings = ['Hi. This is the qmail-send program at a.example.', 'This is the mail system at host a.example.']
  for (const opening of openings) {
    const raw = Buffer.from(`${BOUNCE}${opening}\n${line.repeat(86)}`)
    await expectCostUnder(MOST_MS, () => readReport(raw, ''), TRIES)
  }
})

// threat: bounce-backtracking
test('a bounce of Exim whose text is one line of bare CRs does not stop the server', async () => {
  const opening = 'A message that you sent could not be delivered to all of its recipients.\n'
  const raw = Buffer.from(`${BOUNCE}${opening}${'vaddress(es) failed\r'.repeat(3_000)}\n`)
  await expectCostUnder(MOST_MS, () => readReport(raw, ''), TRIES)
})

// threat: bounce-backtracking
test('a bounce of Sendmail with thousands of reasons that never end does not stop the server', async () => {
  const opening = '   ----- The following addresses had permanent fatal errors -----\n<a@b.example>\n'
  const raw = Buffer.from(`${BOUNCE}${opening}${'(reason: \n'.repeat(6_000)}\n`)
  await expectCostUnder(MOST_MS, () => readReport(raw, ''), TRIES)
})

// threat: bounce-backtracking
test('a reply that repeats "mailexceed" is classified at once', async () => {
  const reply = { code: 550, enhanced: null, text: 'mailexceed'.repeat(200) }
  await expectCostUnder(10, () => classifyReply(reply), TRIES)
})

// threat: link-of-blanks
test('an href of 200,000 blanks does not hold the delivery of other mail', async () => {
  const host = 't.a.example'
  const tracking = {
    deliveryId: `dlv_${'0'.repeat(26)}`,
    secret: new Uint8Array(32),
    baseUrl: `https://${host}`,
    scope: { organizationId: 'org_a', host },
  }
  const links = createTrackingLinks(tracking.secret, tracking.scope)
  const html = `<a href="x${' '.repeat(200_000)}y">z</a>`
  const work = () => trackHtml(html, { ...tracking, opens: true, clicks: true, unsubscribe: true }, links)
  await expectCostUnder(MOST_MS, work, TRIES)
})

// threat: content-id-brackets
test('a Content-ID of 60,000 opening brackets is shown at once', async () => {
  const head = 'From: a@b.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n'
  const part = `--b\r\nContent-Type: image/png\r\nContent-ID: ${'<'.repeat(60_000)}\r\n\r\na\r\n--b--\r\n`
  const packed = packMime(Buffer.from(head + part))
  await expectCostUnder(MOST_MS, () => shownContent(packed), TRIES)
})

// threat: analysis-cost
test('a thousand CSS values of 1,990 zeros are analysed in linear time', async () => {
  const values = Array.from({ length: 1_000 }, (_, index) => `a{b:${index}${'0'.repeat(1_990)}}`)
  const html = `<style>${values.join('')}</style>`
  // 2 MB: the maximum that one analysis reads.
  await expectCostUnder(1_000, () => analyze({ ...ANALYSED, html }), TRIES)
})

// threat: analysis-cost
test('a page of style elements alone is analysed in linear time', async () => {
  const html = '<p>'.repeat(60_000) + '<style></style>'.repeat(60_000)
  await expectCostUnder(3_000, () => analyze({ ...ANALYSED, html }), 2)
})

// threat: analysis-cost
test('addresses in a text that end in thousands of punctuation marks are analysed in linear time', async () => {
  const text = `http://a${'!'.repeat(1_900)}b `.repeat(100)
  await expectCostUnder(MOST_MS, () => analyze({ ...ANALYSED, text }), TRIES)
})

// threat: template-comment-lines
test('a template with inline comments of 19,000 blank lines is parsed at once', async () => {
  const html = `{% # a${'\n'.repeat(19_000)}# b %}`.repeat(13)
  await expectCostUnder(500, () => parseTemplateTexts({ subject: null, html, text: null }), 2)
  expect(() => parseTemplateTexts({ subject: null, html: '{% # a\n\n b %}', text: null })).toThrow()
})

// bound: bounce-class-text
test('of a reply, the first 2,000 characters alone are classified, each word of the table repeated in under 5 ms', async () => {
  const reply = (text: string) => ({ code: 550, enhanced: '5.1.1', text })
  expect(classifyReply(reply('full mailbox, mailbox full')).class).toBe('mailbox_full')
  expect(classifyReply(reply(`${'x '.repeat(1_000)}mailbox full`)).class).not.toBe('mailbox_full')
  const patterns = BOUNCE_RULES.flatMap(({ phrases }) => phrases.map(({ words, near }) => words.source + near?.source))
  const words = new Set(patterns.flatMap((each) => each.match(/\p{L}{3,}/gu) ?? []))
  expect(words.size).toBeGreaterThan(500)
  for (const word of ['@', '<', 'a@b ', ...words]) {
    const work = () => classifyReply(reply(`${word} `.repeat(2_000)))
    if ((await costMs(work, 1)) >= 5) await expectCostUnder(5, work, TRIES)
  }
})

// threat: bounce-backtracking
test('a reply of 64 KiB and a notice of 1 MiB in the words of every rule are read at once', async () => {
  const samples = BOUNCE_RULES.flatMap((rule) => rule.samples)
  expect(samples.length).toBeGreaterThan(100)
  const filled = (text: string, size: number) => text.repeat(Math.ceil(size / text.length)).slice(0, size)
  for (const sample of samples) {
    const reply = { code: 550, enhanced: '5.1.1', text: filled(sample, 65_536) }
    const work = () => classifyReply(reply)
    if ((await costMs(work, 1)) >= 5) await expectCostUnder(5, work, TRIES)
  }
  const lines = samples.map((sample) => filled(`${sample} `, 990)).join('\r\n')
  const notice = Buffer.from(`${BOUNCE}Your mail could not be delivered.\r\n${filled(lines, 1_048_576)}`)
  await expectCostUnder(1_500, () => readReport(notice, ''), 2)
})

// bound: search-words
test('the words of 100 kB of any script are found in linear time', async () => {
  for (const text of ['a'.repeat(100_000), 'a '.repeat(50_000), '\u19b0'.repeat(100_000), '\u0301'.repeat(100_000)]) {
    await expectCostUnder(MOST_MS, () => text.match(WORD), TRIES)
  }
})

// threat: author-list-cost
test('a From of 60 kB is not given to the reader of addresses that takes a millisecond for each KiB', () => {
  const from = `From: ${'a: b@c.example; '.repeat(4_000)}\r\n`
  const { raw } = bounded(Buffer.from(`${from}To: a@b.example\r\n\r\nbody`))
  expect(raw.toString()).not.toContain('From')
})

// threat: header-cost
test('a subject of 998 bytes in any script is encoded at once', async () => {
  await expectCostUnder(10, () => encodedWords('漢'.repeat(332), 60), TRIES)
})

// threat: browser-backtracking
test("a stranger's From of 60,000 blanks is shown at once in the list of messages", async () => {
  await expectCostUnder(MOST_MS, () => authorOf(`${'\t'.repeat(60_000)}>`), TRIES)
  await expectCostUnder(MOST_MS, () => authorOf(`"${' '.repeat(60_000)}<`), TRIES)
  expect(authorOf('"Shop" <shop@example.com>')).toBe('Shop')
  expect(authorOf('Shop <shop@example.com>')).toBe('Shop')
  expect(authorOf('<shop@example.com>')).toBe('<shop@example.com>')
  expect(authorOf('shop@example.com')).toBe('shop@example.com')
})
