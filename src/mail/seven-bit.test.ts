import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { contentOf, leavesOf, readParts } from './mime-parts.ts'
import { toSevenBit } from './seven-bit.ts'

const converted = (mail: string, signedContent = false) =>
  Buffer.from(toSevenBit(Buffer.from(mail), signedContent).bytes).toString()

const lines = (...all: string[]) => all.join('\r\n')

test('ASCII mail with short lines is the same object', () => {
  const mail = Buffer.from('Content-Transfer-Encoding: 8bit\r\n\r\nx=y\r\n')
  expect(toSevenBit(mail, true)).toEqual({ bytes: mail, encoded: 0 })
  expect(toSevenBit(mail, true).bytes).toBe(mail)
})

test('a mail without a body, without a header, or cut in a multipart stays whole', () => {
  const MULTIPART = 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n'
  for (const mail of ['X: ü\r\n', 'X: ü', `${MULTIPART}ü`, `${MULTIPART}--b`, `${MULTIPART}--b\r\nX: ü\r\n--b--`]) {
    expect(converted(mail)).toBe(mail)
  }
  expect(converted('\r\nü')).toBe(
    'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=C3=BC',
  )
  expect(converted(`${MULTIPART}--b\r\nContent-Type: text/html\r\n\r\nü`)).toEndWith('quoted-printable\r\n\r\n=C3=BC')
})

test('a delimiter of the outer multipart ends the inner one, and one that only begins alike ends nothing', () => {
  const mail = lines(
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=o',
    '',
    '--o',
    'Content-Type: multipart/alternative; boundary=oo',
    '',
    '--oo',
    'Content-Type: text/plain',
    '',
    'ü',
    '--ooo',
    '--o',
    'Content-Type: text/html',
    '',
    'ö',
    '--o--  ',
    '',
  )
  const parts = leavesOf(readParts(Buffer.from(converted(mail))))
  expect(parts.map((part) => Buffer.from(contentOf(part)).toString())).toEqual(['ü\r\n--ooo', 'ö'])
})

test('the signed content of a signed multipart stays, its signature part does not', () => {
  const mail = lines(
    'MIME-Version: 1.0',
    'Content-Type: multipart/signed; boundary=s',
    '',
    '--s',
    'Content-Type: multipart/mixed; boundary=i',
    '',
    '--i',
    '',
    'ü',
    '--i--',
    '',
    '--s',
    'Content-Type: application/pgp-signature',
    '',
    'ä',
    '--s--',
    '',
  )
  const kept = mail.slice(0, mail.indexOf('\r\n--s\r\nContent-Type: application'))
  expect(converted(mail)).toStartWith(kept)
  expect(converted(mail)).toEndWith('\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=C3=A4\r\n--s--\r\n')
  expect(converted(mail, true)).toMatch(/^[\x00-\x7f]*$/)
})

test('messages of a digest are read as messages', () => {
  const mail = lines(
    'MIME-Version: 1.0',
    'Content-Type: multipart/digest; boundary=d',
    '',
    '--d',
    '',
    'Content-Type: text/plain',
    '',
    'ü',
    '--d--',
  )
  expect(converted(mail)).toContain(
    '--d\r\n\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=C3=BC\r\n--d--',
  )
})

test('parts of a multipart are encoded also if it claims an encoding, which it may not have', () => {
  for (const claimed of ['quoted-printable', 'base64', 'x-unknown']) {
    const head = `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\nContent-Transfer-Encoding: ${claimed}\r\n`
    const sent = converted(`${head}\r\n${lines('--b', 'Content-Type: text/plain', '', 'ü', '--b--')}`)
    expect(sent).toBe(
      `${head}\r\n${lines('--b', 'Content-Type: text/plain', 'Content-Transfer-Encoding: quoted-printable', '', '=C3=BC', '--b--')}`,
    )
  }
})

// threat: seven-bit-cost
test('deep and many parts are read within a bound, and what is beyond stays as it came', () => {
  const deep = Array.from(
    { length: 5_000 },
    (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
  )
  expect(converted(`MIME-Version: 1.0\r\n${deep.join('')}ü`)).toEndWith('ü')
  const many = `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nü\r\n'.repeat(100_000)}--b--`
  const { bytes, encoded } = toSevenBit(Buffer.from(many), true)
  expect(encoded).toBeLessThanOrEqual(1_000)
  expect(leavesOf(readParts(bytes, bytes.length)).length).toBeGreaterThan(900)
  expect(Buffer.from(bytes).toString()).toEndWith('--b\r\n\r\nü\r\n--b--')
})

test('for any tree of parts, the content of each leaf stays, and everything else too', () => {
  const text = fc.constantFrom('ü\r\n', 'x=y', '', 'é\r\n\r\n.\r\n--', '日本 \r\n', 'z'.repeat(1_500), '--b1x\r\nü')
  const encoding = fc.constantFrom('', '8bit', 'binary', '7bit')
  const { tree } = fc.letrec<{ tree: (level: number) => string }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.tuple(text, encoding).map(
        ([body, said]) =>
          () =>
            `Content-Type: text/plain${said && `\r\nContent-Transfer-Encoding: ${said}`}\r\n\r\n${body}`,
      ),
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((parts) => (level: number) => {
        const below = parts.map((part) => `--b${level}\r\n${part(level + 1)}\r\n`).join('')
        return `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n${below}--b${level}--\r\n`
      }),
    ),
  }))
  fc.assert(
    fc.property(tree, (make) => {
      const mail = `MIME-Version: 1.0\r\n${make(0)}`
      const sent = converted(mail, true)
      expect(sent).toMatch(/^[\x00-\x7f]*$/)
      expect(Math.max(...sent.split('\r\n').map(({ length }) => length))).toBeLessThan(999)
      const contents = (raw: string) =>
        leavesOf(readParts(Buffer.from(raw))).map((part) => Buffer.from(contentOf(part)).toString())
      expect(contents(sent)).toEqual(contents(mail))
      expect(converted(sent, true)).toBe(sent)
    }),
    { numRuns: 200 },
  )
})
