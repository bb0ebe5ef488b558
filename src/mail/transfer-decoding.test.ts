import { describe, expect, test } from 'bun:test'
import type { Transform } from 'node:stream'
import fc from 'fast-check'
import { bytesOfBase64, bytesOfQuotedPrintable } from './transfer-decoding.ts'

const { Decoder } = require('libqp') as { Decoder: new () => Transform }

async function decoded(written: Buffer): Promise<string> {
  const decoder = new Decoder()
  const out: Buffer[] = []
  decoder.on('data', (piece: Buffer) => out.push(piece))
  const ended = new Promise((resolve) => decoder.on('end', resolve))
  decoder.end(written)
  await ended
  return Buffer.concat(out).toString('latin1')
}

const piece = fc.constantFrom(
  '=',
  '=3D',
  '=c3=BC',
  '=ZZ',
  ' ',
  '\t',
  '\r\n',
  '\n',
  '\r',
  '=\r\n',
  '= \r\n',
  'word',
  '\xfc',
  '.',
)

test('decodes quoted-printable like libqp', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (texts) => {
      const written = Buffer.from(texts.join(''), 'latin1')
      // We keep an escape that a soft line break splits, and blanks between the CR and LF of one.
      fc.pre(!/=[\da-f]?=[ \t]*(?:\r?\n|$)|=[ \t]*\r[ \t]/i.test(written.toString('latin1')))
      expect(Buffer.from(bytesOfQuotedPrintable(written)).toString('latin1')).toBe(await decoded(written))
    }),
    { numRuns: 1_000 },
  )
})

describe('base64', () => {
  test.each([
    ['in lines', 'QUJD\r\nREVG\r\n', 'ABCDEF'],
    ['in the alphabet for URLs', '-_-_', '\xfb\xff\xbf'],
    ['with other signs in it', 'QU*JD\r\n REVG!', 'ABCDEF'],
    ['without padding', 'QQ', 'A'],
    ['several, one behind another', 'QQ==\r\nQkM=\r\nREVG\r\n', 'ABCDEF'],
    ['with padding in the middle of a line', 'QUJD=REVG', 'ABCDEF'],
    ['with the text of a mailing list behind it', 'QQ==\r\n\r\n-- \r\nTo unsubscribe, write to us.\r\n', 'A'],
    ['several with a blank behind them', 'dGVzdA==\r\ndGVzdA== \r\n', 'testtest'],
    ['several with blanks between them', 'dGVzdA== dGVzdA==\tdGVzdA==\0dGVzdA== \r\n dGVzdA==', 'test'.repeat(5)],
    ['several with a blank in one', 'dGVzdA==\r\ndGV zdA==\r\n', 'testtest'],
    ['several with a footer', 'QQ==\r\nQkM=\r\nREVG\r\n-- \r\nTo unsubscribe, write to us.\r\n', 'ABCDEF'],
    ['several with a footer of words', 'QQ==\r\nQkM=\r\n\r\nSee you next week\r\n', 'ABC'],
    ['several with a footer under a rule', 'QQ==\r\nQkM=\r\n_____\r\nannounce\r\n', 'ABC'],
    ['several with a footer under another rule', 'QQ==\r\nQkM=\r\n=====\r\nhttps://a.example/?a=b\r\n', 'ABC'],
    ['with a stray = in front', '=QUJDREVG\r\n', 'ABCDEF'],
    ['with a stray = in front and other signs', '=\r\nQU*JD\r\nREVG\r\n', 'ABCDEF'],
    ['with a stray = in a group', 'Q=UJDREVG', 'ABCDEF'],
    ['nothing', '', ''],
  ])('%s', (_, encoded, bytes) => {
    expect(Buffer.from(bytesOfBase64(Buffer.from(encoded))).toString('latin1')).toBe(bytes)
  })

  test('decodes several encodings in one like each by itself', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 6 }), (contents) => {
        const encoded = contents.map((content) => Buffer.from(content).toString('base64')).join('\r\n')
        expect(Buffer.from(bytesOfBase64(Buffer.from(encoded)))).toEqual(Buffer.concat(contents))
      }),
    )
  })
})
