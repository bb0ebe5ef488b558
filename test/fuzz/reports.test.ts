import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readFeedbackReport } from '../../src/mail/arf.ts'
import { isAutoReply } from '../../src/mail/auto-reply.ts'
import { readDsn } from '../../src/mail/dsn.ts'
import { addressesOf, decodeWords, firstAddress, parameterOf, readHeaderFields } from '../../src/mail/header-fields.ts'
import { leavesOf, readParts, readTexts } from '../../src/mail/mime-parts.ts'
import { expectCostUnder } from '../support/cpu-cost.ts'
import { asMail, loadFixtures } from '../support/fixtures.ts'
import { runs } from './runs.ts'

const fixtures = [...loadFixtures('dsn').values(), ...loadFixtures('arf').values()]
const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded']

/** A fixture with bytes inserted, removed or moved at sensitive places. */
const mutated = fc
  .tuple(
    fc.constantFrom(...fixtures),
    fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        length: fc.nat(60),
        text: fc.oneof(
          fc.constantFrom(
            '',
            '\r\n',
            '\r\n\r\n',
            '\n',
            '\r',
            '\0',
            '--',
            ':',
            ';',
            '<',
            '>',
            '"',
            '(',
            '=?',
            '?=',
            '@',
            '= ',
          ),
          fc.constantFrom(
            'Content-Type: multipart/mixed; boundary=x\r\n',
            'Final-Recipient: ',
            'Status: 5.',
            '\xff\xfe',
          ),
          fc.string({ unit: 'binary', maxLength: 12 }),
        ),
      }),
      { maxLength: 8 },
    ),
  )
  .map(([raw, edits]) => {
    let text = Buffer.from(raw).toString('latin1')
    for (const { at, length, text: put } of edits) {
      const from = Math.floor(at * text.length)
      text = text.slice(0, from) + put + text.slice(from + length)
    }
    return Buffer.from(text, 'latin1')
  })

describe('damaged reports', () => {
  test('are parsed whole or not at all', () => {
    const run = fc.property(mutated, (raw) => {
      const dsn = readDsn(raw)
      if (dsn !== null) expect(dsn.recipients.length).toBeGreaterThan(0)
      for (const recipient of dsn?.recipients ?? []) {
        expect(ACTIONS).toContain(recipient.action)
        expect(recipient.status ?? '5.0.0').toMatch(/^[245]\.\d{1,3}\.\d{1,3}$/)
        expect(recipient.diagnostic ?? 'x').toMatch(/^[^\x00-\x1f\x7f]{1,2000}$/)
        expect(recipient.finalRecipient ?? 'x').toMatch(/^[^\s\x00-\x1f\x7f]+$|^".*"@/)
      }
      const complaint = readFeedbackReport(raw)
      if (complaint !== null) {
        expect(complaint.feedbackType).toMatch(/^[!-~]+$/)
        expect(complaint.arrivalAt).not.toBeNaN()
      }
      expect(typeof isAutoReply(readHeaderFields(raw).fields)).toBe('boolean')
    })
    fc.assert(run, runs({ target: 'reports', property: 'damaged' }, 1_500, 31))
  })

  test('have parts within their bounds and fields within the header', () => {
    const run = fc.property(mutated, (raw) => {
      const { fields, bodyAt } = readHeaderFields(raw)
      let end = 0
      for (const field of fields) {
        expect(field.start).toBeGreaterThanOrEqual(end)
        expect(field.end).toBeGreaterThan(field.start)
        expect(field.value).not.toMatch(/\n/)
        end = field.end
      }
      expect(end).toBeLessThanOrEqual(bodyAt)
      const sizes = leavesOf(readParts(raw)).map((part) => part.body.length)
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(raw.length)
      readTexts(raw)
    })
    fc.assert(run, runs({ target: 'reports', property: 'parts-and-fields' }, 500, 32))
  })
})

describe('values of damaged mail', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '"',
      '\\',
      '(',
      ')',
      '<',
      '>',
      '@',
      ',',
      ';',
      ':',
      ' ',
      '\t',
      'a',
      'b.example',
      'a@b.example',
      '*0*=',
      '=',
      "''",
    ),
    fc.constantFrom('=?utf-8?q?', '=?utf-8?b?', '?=', '=C3=BC', 'w7w=', '%C3', 'ü', '=0A'),
    fc.string({ unit: 'binary', maxLength: 6 }),
  )
  const value = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(''))

  test('give addresses without blanks, brackets or line ends', () => {
    const run = fc.property(value, (text) => {
      const addresses = addressesOf(text)
      for (const address of addresses) {
        expect(address).toMatch(/^(?:".*"|[^\s\x00-\x1f<>"]+)@[^\s\x00-\x1f<>"@]+$/)
        // A value that still looks encoded would be decoded once more.
        if (!address.includes('=?')) expect(addressesOf(`<${address}>`)).toEqual([address])
      }
      expect(firstAddress(text)).toBe(addresses[0] ?? null)
    })
    fc.assert(run, runs({ target: 'reports', property: 'address-lists' }, 3_000, 33))
  })

  test('decode to text without new line ends, and parameters are text', () => {
    const run = fc.property(value, (text) => {
      const ends = (each: string) => each.split(/[\r\n]/).length
      expect(ends(decodeWords(text))).toBeLessThanOrEqual(ends(text))
      expect(typeof (parameterOf(`a/b; ${text}`, 'a') ?? '')).toBe('string')
    })
    fc.assert(run, runs({ target: 'reports', property: 'encoded-words' }, 2_000, 34))
  })
})

/** Long runs of what makes a parser look ahead. A quadratic parser takes minutes for these. */
describe('a megabyte is read within three seconds:', () => {
  const million = (text: string) => text.repeat(Math.ceil(1_048_576 / text.length))
  const bodyOf = (body: string) => `From: mailer-daemon@b.example\nX-Failed-Recipients: a@b.example\n\n${body}`
  const sendmail = '   ----- The following addresses had permanent fatal errors -----\n'

  test.each<[string, string]>([
    ['fields', million('a:b\n')],
    ['lines without a colon', million('ab\n')],
    ['one long field', `From: ${million(' ')}x\n\n`],
    ['continuations', `From: x\n${million(' \n')}`],
    ['a long address list', `X-Failed-Recipients: ${million('a@b.example,')}\n\n`],
    ['quotes', `From: ${million('"')}\n\n`],
    ['comments', `From: ${million('(')}\n\n`],
    ['brackets', `From: ${million('<@,')}\n\n`],
    ['encoded words', `Subject: ${million('=?utf-8?q?a?= ')}\nX-Auto-Response-Suppress: x\n\n`],
    ['half encoded words', `Subject: ${million('=?a?q?')}\nX-Auto-Response-Suppress: x\n\n`],
    ['parameters', `Content-Type: multipart/mixed; ${million('a*0=b;')}\n\n`],
    ['delimiters', `Content-Type: multipart/mixed; boundary=a\n\n${million('--a\n')}`],
    ['half delimiters', `Content-Type: multipart/mixed; boundary=a\n\n${million('--a ')}`],
    ['padded delimiters', `Content-Type: multipart/mixed; boundary=a\n\n${million(`--a${' '.repeat(990)}x\n`)}`],
    ['nested multiparts', million('Content-Type: multipart/mixed; boundary=a\n\n--a\n')],
    ['equals signs', `Content-Transfer-Encoding: quoted-printable\n\n${million('= ')}`],
    ['groups of a status', `Content-Type: message/delivery-status\n\n${million('Action: failed\n\n')}`],
    ['empty lines of a status', `Content-Type: message/delivery-status\n\n${million('\n')}`],
    ['fields of a status', `Content-Type: message/delivery-status\n\n${million('Status: 5.\n')}`],
    [
      'addresses of a complaint',
      `Content-Type: message/feedback-report\n\n${million('Original-Rcpt-To: a@b.example\n')}`,
    ],
    ['a bounce of spaces', bodyOf(million(' '))],
    ['a bounce of recipients', bodyOf(sendmail + million('<a@b.example>\n'))],
    ['a bounce of asides', bodyOf(`${sendmail}<a@b.example>\n${million('<a@b.example>...')}`)],
    ['a bounce of reasons', bodyOf(`${sendmail}<a@b.example>\n${million('(reason: ')}`)],
    ['a bounce of dashes', bodyOf(`Hi. This is the\n${million('-')}`)],
    ['a bounce of replies', bodyOf(`Hi. This is the\n<a@b.example>:\n${million('550 5.1.1 x\n')}`)],
    ['a bounce of brackets', bodyOf(`The following recipient(s) could not be reached:\n${million('a(<')}`)],
    [
      'a bounce of tight lines',
      bodyOf(`Delivery has failed to these recipients or groups:\n${million(`${'a('.repeat(480)}\n`)}`),
    ],
    ['a bounce in html', bodyOf('').replace('\n\n', '\nContent-Type: text/html\n\n') + million('<p><')],
  ])('%s', async (_, text) => {
    const raw = asMail(text)
    const readAll = () => {
      readDsn(raw)
      readFeedbackReport(raw)
      readTexts(raw)
      isAutoReply(readHeaderFields(raw).fields)
      for (const field of readHeaderFields(raw).fields.slice(0, 1)) addressesOf(field.value)
    }
    await expectCostUnder(2_000, readAll, 2)
  })
})
