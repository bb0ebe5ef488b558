import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The requests of a load, in files of `scratch`. */
export const bodies = {
  /** A mail of 10 KB HTML, due at once. */
  mail: (scratch: string) => written(scratch, 'mail.json', { ...ENVELOPE, html: html() }),
  /** The same, scheduled: what accepting alone costs. */
  held: (scratch: string) => written(scratch, 'held.json', { ...ENVELOPE, html: html(), ...tomorrow() }),
  /** The mail as an application sends it by SMTP. */
  smtp: (scratch: string) => {
    const file = join(scratch, 'mail.eml')
    writeFileSync(file, `${HEAD}\r\n${html().replaceAll('\n', '\r\n')}\r\n`)
    return file
  },
}

const ENVELOPE = {
  from: 'Bench <bench@bench.example>',
  to: 'ann@sink.example',
  subject: 'A receipt',
  metadata: { order: 7 },
}

const HEAD = [
  `From: ${ENVELOPE.from}`,
  `To: ${ENVELOPE.to}`,
  `Subject: ${ENVELOPE.subject}`,
  `Date: ${new Date().toUTCString()}`,
  'Message-ID: <1@bench.example>',
  'MIME-Version: 1.0',
  'Content-Type: text/html; charset=utf-8',
  '',
].join('\r\n')

/** A body of 10 KB that compresses like a real mail. */
export function html(): string {
  let text = '<!doctype html><html><body><h1>Thank you</h1>'
  for (let row = 0; text.length < 10_240; row++) {
    const price = ((row * 7919) % 100_003) / 100
    text += `<tr><td style="padding:4px">Item ${row * 31} of your order</td><td align="right">$${price}</td></tr>\n`
  }
  return `${text}</body></html>`
}

function tomorrow() {
  return { scheduled_at: new Date(Date.now() + 86_400_000).toISOString() }
}

function written(scratch: string, name: string, body: object): string {
  const file = join(scratch, name)
  writeFileSync(file, JSON.stringify(body))
  return file
}
