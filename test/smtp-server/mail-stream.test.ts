import { expect, test } from 'bun:test'
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { MailStream } from '../../src/receiving/smtp-server/mail-stream.ts'
import { createTurns } from '../../src/receiving/smtp-server/turns.ts'
import { costMs } from '../support/cpu-cost.ts'

/** Bytes after DATA in pieces → the mail, and the commands after it. */
async function heard(stream: SMTPStream, pieces: Buffer[]) {
  const commands: string[] = []
  stream.oncommand = (line, goOn) => {
    commands.push(line.toString('latin1'))
    goOn?.()
  }
  const mail: Buffer[] = []
  const data = stream.startDataMode()
  let isWhole = false
  data.on('data', (piece: Buffer) => mail.push(Buffer.from(piece)))
  data.on('end', () => {
    isWhole = true
    stream.continue()
  })
  for (const piece of pieces) await new Promise<void>((resolve) => stream.write(Buffer.from(piece), () => resolve()))
  return { mail: Buffer.concat(mail).toString('latin1'), isWhole, commands, bytes: stream.dataBytes }
}

const ours = () => new MailStream(createTurns(1_000))

function cut(text: string, size: number): Buffer[] {
  const bytes = Buffer.from(text, 'latin1')
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}

const LONG = `${'x'.repeat(998)}\r\n`.repeat(100)

for (const [what, said, mail] of [
  ['an empty mail', '.\r\n', ''],
  ['an empty line', '\r\n.\r\n', '\r\n'],
  ['a mail', 'a\r\nb\r\n.\r\n', 'a\r\nb\r\n'],
  ['dots at the beginnings of lines', '..a\r\n..\r\n...\r\nb..\r\n.\r\n', '.a\r\n.\r\n..\r\nb..\r\n'],
  ['a dot that was not doubled', 'a\r\n.b\r\n.\r\n', 'a\r\n.b\r\n'],
  ['a long mail', `${LONG}.\r\n`, LONG],
] as const) {
  test(`${what}, and the mail and what follows are read however they are split`, async () => {
    for (const size of [1, 2, 3, 5, 4_096, 1_000_000]) {
      const found = await heard(ours(), cut(`${said}QUIT\r\n`, size))
      expect({ size, ...found }).toEqual({ size, mail, isWhole: true, commands: ['QUIT'], bytes: mail.length })
    }
  })
}

test('sequences that do not end the mail are part of it', async () => {
  const text = 'a\n.\nb\r\n.\nc\n.\r\nd\r.\re\r\n.\0\r\nf\r\n.\rg\r\n.'
  for (const size of [1, 2, 3, 1_000]) {
    const found = await heard(ours(), cut(text, size))
    expect({ size, ...found }).toMatchObject({ size, isWhole: false, commands: [] })
    expect(text.startsWith(found.mail)).toBe(true)
  }
})

test('any bytes are the same mail and end at the same place as with the library, however they are split', async () => {
  let seed = 11
  const random = (below: number) => {
    seed = (seed * 48_271) % (2 ** 31 - 1)
    return seed % below
  }
  const parts = ['\r\n', '\r\n', '.', '.', 'a', 'RSET\r\n', '\r\n.\r\n', '\r', '\n']
  for (let round = 0; round < 3_000; round++) {
    // The library keeps a dot where the first bytes are LF and two dots; no handler accepts such a mail.
    const text = `x${Array.from({ length: random(16) }, () => parts[random(parts.length - (round % 3))]).join('')}`
    const theirs = await heard(new SMTPStream(), cut(text, text.length))
    const size = 1 + random(6)
    const found = await heard(ours(), cut(text, size))
    const behind = text.slice(text.indexOf('\r\n.\r\n') + 5)
    const commands = theirs.isWhole ? behind.split('\r\n').slice(0, -1) : [] // the library also ends them at a bare LF
    expect([text, found.isWhole, found.commands]).toEqual([text, theirs.isWhole, commands])
    if (found.isWhole) expect([text, found.mail]).toEqual([text, theirs.mail])
  }
})

// threat: main-thread-held
test('a megabyte of dots costs little more than the search for them', async () => {
  const dots = Buffer.from('\n.'.repeat(2 ** 19))
  const search = () => {
    for (let at = dots.indexOf(LF_DOT); at >= 0; at = dots.indexOf(LF_DOT, at + 1));
  }
  const read = () => {
    const stream = new MailStream({ take: (_, work) => work() })
    stream.startDataMode().resume()
    stream.write(Buffer.from(dots))
  }
  // Usually 1.4 times as much, and 3.4 times with a view of the bytes behind each dot.
  let least = Number.POSITIVE_INFINITY
  for (let round = 1; round <= 5 && least >= 2; round++) {
    least = Math.min(least, (await costMs(read, 10)) / (await costMs(search, 10)))
  }
  expect(least).toBeLessThan(2)
})

const LF_DOT = Buffer.from('\n.')

test('CR LF alone ends a command, however it is split', async () => {
  const said = 'NOOP\r\n\r\na\nb\r\n\n\r\nc\rd\r\r\ne\n.\n\r\nQUIT\n'
  for (const size of [1, 2, 3, 5, 1_000]) {
    const stream = ours()
    const commands: string[] = []
    stream.oncommand = (line, goOn) => {
      commands.push(line.toString('latin1'))
      if (commands.length % 2 === 0) goOn?.()
      else setImmediate(() => goOn?.())
    }
    for (const piece of cut(said, size)) await new Promise<void>((resolve) => stream.write(piece, () => resolve()))
    stream.end()
    await new Promise<void>((resolve) => stream.once('finish', () => resolve()))
    expect([size, commands]).toEqual([size, ['NOOP', '', 'a\nb', '\n', 'c\rd\r', 'e\n.\n']])
  }
})

test('a command that never ends is kept up to its limit', async () => {
  for (const size of [100, 100_000]) {
    const stream = ours()
    stream.oncommand = () => {}
    let fault: Error | null = null
    stream.on('error', (error) => (fault = error))
    for (const piece of cut('x\n'.repeat(9_000), size)) if (fault === null) stream.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
    expect(fault).toMatchObject({ message: 'Command line too long' })
  }
})
