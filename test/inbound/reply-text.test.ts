import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { replyOf } from '../../src/mail/reply-html.ts'
import { replyText } from '../../src/mail/reply-text.ts'
import { expectCostUnder } from '../support/cpu-cost.ts'

/** A hundred answers in our own words, in the forms of common mail programs. `new`: what their author wrote. Every second
 *  one is held out: its form did not shape the code. */
interface ReplyMail {
  client: string
  language: string
  subject: string
  text: string
  new: string
}

const MAILS: ReplyMail[] = readFileSync(new URL('./reply-mails.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

const plain = (text: string) => text.replaceAll(/[ \t]+$/gm, '').trim()
const isExact = (mail: ReplyMail) => plain(replyText(mail.subject, mail.text)) === plain(mail.new)
const isKept = (mail: ReplyMail) => {
  const cut = replyText(mail.subject, mail.text)
  return mail.new.split('\n').every((line) => cut.includes(line.trim()))
}
const named = ({ client, language, text }: ReplyMail) => `${client} ${language}: ${text.slice(0, 60)}`

test.each([
  ['known', MAILS.filter((_, at) => at % 2 === 0)],
  ['held out', MAILS.filter((_, at) => at % 2 === 1)],
] as const)('of the %s answers, nine of ten are cut exactly, and nothing is lost of 99 in a hundred', (_, mails) => {
  expect(mails).toHaveLength(50)
  expect(
    mails
      .filter((mail) => !isExact(mail))
      .map(named)
      .slice(5),
  ).toEqual([])
  expect(mails.filter((mail) => !isKept(mail)).map(named)).toEqual([])
})

test('the text of a mail with line ends CR LF is cut alike', () => {
  for (const mail of MAILS.filter(isExact))
    expect(plain(replyText(mail.subject, mail.text.replaceAll('\n', '\r\n')))).toBe(plain(mail.new))
})

test.each([
  ['attributions', 'On 1.1.2026 a@b wrote:\n'],
  ['open attributions', 'On 1.1.2026 schreef a@b\n'],
  ['words', 'On a b schreef '],
  ['marks', '> '],
  ['quotes', '> x\n\ny\n'],
  ['labels', 'From: a\nTo: b\n'],
  ['dashes', '--\n'],
  ['lines of colons', 'a:\n'],
  ['dated labels', 'From: a\nDate: 2026\n'],
  ['signatures', '-- \n'],
  ['colons', ':'],
  ['blanks', ' \t'],
  ['a mark', '>'],
])('1 MB of %s takes less than 100 ms of CPU', (_, piece) => {
  const text = piece.repeat(1_000_000 / piece.length)
  return expectCostUnder(100, () => replyOf('Re: x', text, ''))
})

test('a person’s own lines that look like marks stay', () => {
  const kept = (own: string, quote = '\n\nOn 23/11/2026 09:41, Shop wrote:\n> Hello\n') =>
    expect(replyText('Re: x', own + quote)).toBe(own)
  kept('Two mugs\n--\ntwo in all')
  kept('First:\n\n--\n\nSecond.')
  kept('My booking:\nFrom: Berlin\nTo: Paris\nDate: 12.05.2026\nSubject: business\n\nPlease correct it.')
  kept('It prints\n> 401\nand stops.')
  kept('This is a line which is long enough for a program to have wrapped it:\nno.')
  const long = 'A line of the author’s that is long, and that has no blank line behind it, in 2026.'
  kept(long, '\nOn 23/11/2026 09:41, Shop wrote:\n> Hello\n')
  kept('On 3.5.2026 I wrote:\n> please cancel\nand you did not.', '')
})

test.each([
  'Thanks On Wed, Apr 4, 2012 at 3:59 PM, shop@example.com wrote:\n> Hi',
  'Thanks--- On Wed, Apr 4, 2012 at 3:59 PM, shop@example.com wrote:\n> Hi',
  'Yes, please.\nThe blue one--- On Wed, Apr 4, 2012 at 3:59 PM, shop@example.com wrote:\n> Hi',
  'Danke! Am 4.4.2012 um 15:59 schrieb shop@example.com:\n> Hallo',
])('an attribution on the line of the author’s last words is no certain quote: %j', (text) => {
  expect(replyText('Re: x', text)).toBe(text)
})

test('a header whose date has a year of two digits begins the quoted mail', () => {
  const header = 'From: shop@example.com\nSent: March-19-11 5:42 PM\nTo: Ann\nSubject: Your order'
  expect(replyText('Re: x', `Where is it?\n\n${header}\n\nHello Ann`)).toBe('Where is it?')
})

test('whatever the text and HTML, the new part is one piece of the text', () => {
  const pieces = fc.constantFrom(
    ...['\n', '\n\n', '\r\n', '> ', '-- \n', '--\n', 'words', ':', '\u202b', '\ufeff', '\ud83d', 'a'.repeat(70)],
    ...['On Mon, 23 Nov 2026 at 09:41 A <a@b> wrote:', 'From: a@b', 'Sent: 2026', 'Subject: s', '_'.repeat(32)],
    ...['Sent from my iPhone', '-----Original Message-----', '##- a -##', '>>> @ >>>', 'Begin forwarded message'],
  )
  const tags = fc.constantFrom(
    ...['<div>', '</div>', '<blockquote type=cite>', '</blockquote>', '<div class=gmail_quote>', '<br>', '<p', '"'],
    ...['<div class=gmail_attr>', '<div id=divRplyFwdMsg>', '<div class=gmail_signature>', '<style>', '<!--', '&nbsp;'],
  )
  const letters = (text: string) => text.replaceAll(/[\s\u200b\u200e-\u202e\u2060-\u2069\ufeff]/g, '')
  fc.assert(
    fc.property(fc.array(pieces), fc.array(fc.oneof(pieces, tags)), (text, html) => {
      const { text: own } = replyOf('Re: x', text.join(''), html.join(''))
      if (text.join('').trim() !== '') expect(letters(text.join(''))).toContain(letters(own!))
    }),
    { numRuns: 2_000 },
  )
})
