import { expect, test } from 'bun:test'
import type { Transform } from 'node:stream'
import fc from 'fast-check'
import { QuotedDecoder } from './quoted-decoder.ts'

const { Decoder } = require('libqp') as { Decoder: new () => Transform }

async function decoded(decoder: Transform, pieces: Buffer[]): Promise<string> {
  const out: Buffer[] = []
  decoder.on('data', (piece: Buffer) => out.push(piece))
  const ended = new Promise((resolve) => decoder.on('end', resolve))
  for (const piece of pieces) decoder.write(piece)
  decoder.end()
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

test('what comes out is what the decoder of the parser says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(piece, { maxLength: 8 }), { maxLength: 4 }), async (cut) => {
      const pieces = cut.map((texts) => Buffer.from(texts.join(''), 'latin1'))
      const whole = Buffer.concat(pieces).toString('latin1')
      fc.pre(!/=[\da-f]?=[ \t]*(?:\r?\n|$)/i.test(whole)) // an escape cut in two by a soft line break, which we leave
      expect(await decoded(new QuotedDecoder(), pieces)).toBe(await decoded(new Decoder(), pieces))
    }),
    { numRuns: 500 },
  )
})
