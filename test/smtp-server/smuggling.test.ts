/** Sequences that some server treats as the end of a mail, each sent whole, byte by byte at the odd place, and cut
 *  in two at every place: none may become a second mail. */
import { afterAll, expect, test } from 'bun:test'
import { startListener } from './setup.ts'

const smtp = await startListener()
afterAll(() => smtp.stop())

const ENDS = [
  '\n.\n',
  '\n.\r\n',
  '\r.\r',
  '\r.\r\n',
  '\r\n.\r',
  '\r\n.\n',
  '\r\r\n.\r\r\n',
  '\n\n.\r\n',
  '\r\n.\0\r\n',
  '\r\n\0.\r\n',
  '\r\n.\r\r\n',
  '\r\n.\r\0\n',
  '\r\n.\x85\r\n',
  '\r\n. \r\n',
  '\r\n .\r\n',
  '\r\n..\r\n',
  '\r\n...\r\n',
  '\0\r\n..\r\n',
  '\r\r.\r\r',
  '\n\r.\n\r',
  '\r\n.\x0b\r\n',
  '\r\n\x0c.\r\n',
]
const SMUGGLED = 'MAIL FROM:<evil@sender.example>\r\nRCPT TO:<a@test.example>\r\nDATA\r\nSubject: smuggled\r\n\r\nx'
const CUTS: Record<string, (text: string) => string[]> = {
  whole: (text) => [text],
  'byte by byte around the end': (text) => {
    const at = text.indexOf('first') + 5
    return [text.slice(0, at), ...text.slice(at, at + 12), text.slice(at + 12)]
  },
  'cut after the dot': (text) => {
    const at = text.indexOf('.', text.indexOf('first')) + 1
    return [text.slice(0, at), text.slice(at)]
  },
}

for (const [how, cut] of Object.entries(CUTS)) {
  // threat: smtp-smuggling
  test.concurrent(`no forged end of mail lets a second mail in: ${how}`, async () => {
    const client = await (await smtp.connect()).hello()
    for (const end of ENDS) {
      expect(await client.envelope()).toStartWith('354')
      for (const piece of cut(`Subject: first\r\n\r\nfirst${end}${SMUGGLED}\r\n.\r\n`)) {
        client.write(Buffer.from(piece, 'latin1'))
        await new Promise((resolve) => setImmediate(resolve))
      }
      const reply = await client.reply()
      expect([end, reply]).toEqual([end, expect.stringMatching(/^(250 2\.0\.0 taken|550 5\.5\.2|550 5\.6\.0)/)])
      expect([end, await client.say('NOOP')]).toEqual([end, '250 2.0.0 ok'])
    }
    expect(smtp.taken.map((mail) => mail.from)).not.toContain('evil@sender.example')
    expect(smtp.taken.every((mail) => mail.raw.startsWith('Subject: first'))).toBe(true)
    expect(smtp.taken.every((mail) => !/(^|[^\r])\n|\r([^\n]|$)|\0/.test(mail.raw))).toBe(true)
  })
}

// threat: smtp-smuggling
test('a bare LF ends no command, so no hidden command is accepted behind it', async () => {
  const client = await (await smtp.connect()).hello()
  const before = smtp.taken.length
  for (const sly of [SMUGGLED.replaceAll('\r\n', '\n'), `NOOP\n${SMUGGLED.replaceAll('\r\n', '\n')}\n.\nQUIT`]) {
    const text = Buffer.from(`${sly}\r\n`)
    for (const pieces of [[text], Array.from(text, (byte) => Uint8Array.of(byte))]) {
      for (const piece of pieces) client.write(piece)
      expect(await client.reply()).toStartWith('500 5.5.2 ')
      expect(await client.say('RCPT TO:<a@test.example>')).toBe('503 5.5.1 send MAIL first')
    }
  }
  expect(smtp.taken.length).toBe(before)
})

// threat: smtp-smuggling
test('never answers under TLS what a client sent before in cleartext', async () => {
  const client = await (await smtp.connect()).hello()
  const before = smtp.taken.length
  client.write('STARTTLS\r\nEHLO injected.example\r\nMAIL FROM:<evil@sender.example>\r\nRSET\r\n')
  expect(await client.reply()).toBe('220 2.0.0 Ready to start TLS')
  await client.startTls()
  expect(await client.say('NOOP')).toBe('250 2.0.0 ok')
  expect(await client.say('RCPT TO:<a@test.example>')).toBe('503 5.5.1 send EHLO first')
  expect(await client.say('EHLO honest.example')).toStartWith('250-mx.test.example')
  expect(await client.say('RCPT TO:<a@test.example>')).toBe('503 5.5.1 send MAIL first')
  expect(smtp.taken.length).toBe(before)
})
