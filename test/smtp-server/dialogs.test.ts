/** Every file in test/inbound/dialogs against a small scripted handler. `C:` is a line of the client, with \xHH for odd bytes;
 *  `S:` a line expected; `C*20:` and `S*20:` the same twenty times; `S: (closed)` the end of the connection; `#` a comment.
 *  The first line may be one of the handlers below. */
import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SmtpReply } from '../../src/receiving/smtp-server/reply.ts'
import type { SmtpHandler } from '../../src/receiving/smtp-server/session.ts'
import { StoreUnavailable } from '../../src/storage/store.ts'
import { type ListenerAtTest, startListener } from './setup.ts'

const DIALOGS = join(import.meta.dir, '../inbound/dialogs')

const inboundHandler: Partial<SmtpHandler<string>> = {
  onMailFrom: (_session, returnPath) => {
    if (returnPath?.local === 'banned') throw new SmtpReply(550, '5.7.1', 'not from you')
    if (returnPath?.local === 'broken') throw new Error('the handler is broken')
  },
  onRecipient: async (_session, { address, local, domain }) => {
    if (domain !== 'test.example' && domain !== 'xn--bcher-kva.example') throw new SmtpReply(550, '5.7.1', 'no relay')
    if (local === 'unknown') throw new SmtpReply(550, '5.1.1', 'no such mailbox')
    if (local === 'later') throw new SmtpReply(451, '4.7.1', 'come back later')
    if (local === 'broken') throw new Error('the handler is broken')
    if (local === 'full') throw new StoreUnavailable('SQLITE_FULL')
    return address
  },
  onMail: async (mail) => {
    const raw = Buffer.from(await mail.read()).toString('latin1')
    if (raw.includes('X-Refuse')) throw new SmtpReply(554, '5.7.1', 'not this mail')
    if (raw.includes('X-Break')) throw new Error('the handler is broken')
    if (raw.includes('X-Full')) throw new StoreUnavailable('SQLITE_FULL')
    const returnPath = mail.returnPath === null ? '<>' : mail.returnPath.address
    return `${mail.sizeBytes} bytes from ${returnPath} for ${mail.recipients.map(({ as }) => as).join(' and ')}`
  },
}
const onLogin: SmtpHandler<string>['onLogin'] = async (_session, { user, password }) => {
  if (user !== 'anna' || password !== 'secret') throw new SmtpReply(535, '5.7.8', 'wrong user or password')
}

const limits = { messageBytes: 1_000, recipients: 100 }
const listeners: Record<string, ListenerAtTest> = {
  'inbound mail': await startListener({ handler: inboundHandler, limits }),
  login: await startListener({ handler: { ...inboundHandler, onLogin }, limits, settings: { loginNeedsTls: false } }),
  // wrong passwords delay other logins from the same address
  'login, with wrong passwords': await startListener({
    handler: { ...inboundHandler, onLogin },
    limits,
    settings: { loginNeedsTls: false },
  }),
  'login over TLS': await startListener({ handler: { ...inboundHandler, onLogin }, limits }),
}
afterAll(() => Promise.all(Object.values(listeners).map((handler) => handler.stop())))

for (const name of readdirSync(DIALOGS).sort()) {
  test.concurrent(`dialog ${name}`, async () => {
    const lines = readFileSync(join(DIALOGS, name), 'utf8').split('\n')
    const handler = /^handler: (.*)$/.exec(lines[0]!)?.[1] ?? 'inbound mail'
    const client = await listeners[handler]!.connect()
    const heard: string[] = []
    const expected: string[] = []
    for (const [who, text] of lines.flatMap(wordsOf)) {
      if (who === 'C') {
        client.write(Buffer.from(`${bytesOf(text)}\r\n`, 'latin1'))
        continue
      }
      expected.push(text)
      if (heard.length < expected.length) heard.push(...(await client.reply()).split('\n'))
      expect(heard.slice(0, expected.length).join('\n')).toBe(expected.join('\n'))
    }
    expect(heard).toEqual(expected)
    client.destroy()
  })
}

/** Line of a dialog → speaker and text, repeated as often as it says; [] for comments and the rest. */
function wordsOf(line: string): [string, string][] {
  const parts = /^([CS])(?:\*(\d+))?: ?(.*)$/.exec(line)
  return parts === null
    ? []
    : Array.from({ length: Number(parts[2] ?? 1) }, (): [string, string] => [parts[1]!, parts[3]!])
}

/** Text with \xHH → one character for each byte. */
function bytesOf(text: string): string {
  const bytes = Buffer.from(text).toString('latin1')
  return bytes.replace(/\\x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
