import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ZoneRecord } from '../../src/cli/try/zone-server.ts'
import { signDkim } from '../../src/mail/dkim.ts'
import { html } from './bodies.ts'
import type { Figure } from './figures.ts'
import type { Part } from './part.ts'
import { deliver, startReceiver } from './peers.ts'
import { peakMb, until } from './process.ts'
import { create, openServer } from './server.ts'

/** Inbound mail: SPF, DKIM (RSA-2048) and DMARC from the local DNS, posted to a webhook; then many large mails at
 *  once. */
export const inbound: Part = {
  name: 'inbound',
  measure: async ({ scratch, messages, note }, binary) => {
    const receiver = await startReceiver(scratch)
    const { small, large, zone } = authorsMail(scratch)
    const server = await openServer(binary.file, { scratch, caFile: receiver.caFile, zone, isOpen: true })
    const route = { type: 'webhook', config: { url: receiver.url } }
    await create(server, '/v1/inbound-routes', { name: 'all', match: { type: 'catch_all' }, action: route })
    let posted = 0
    const sent = async (connections: number, count: number, file: string) => {
      const result = await deliver(server, connections, count, file)
      posted += count
      await until(async () => (await receiver.posts()) === posted)
      return result
    }
    await sent(20, 500, small)

    const cpuBefore = server.cpuSeconds()
    const startedAt = performance.now()
    const { perSecond, p99Ms } = await sent(20, messages, small)
    note(binary, INBOUND, perSecond)
    note(binary, P99, p99Ms)
    note(binary, POSTED, (messages / (performance.now() - startedAt)) * 1000)
    note(binary, CPU, ((server.cpuSeconds() - cpuBefore) / messages) * 1000)

    note(binary, LARGE_20, await peakMb(server.pid, () => sent(20, 20, large)))
    note(binary, LARGE_100, await peakMb(server.pid, () => sent(100, 100, large)))
    await server.stop()
    receiver.end()
  },
}

const INBOUND: Figure = { what: 'inbound mail accepted per second, 10 KB, SPF, DKIM and DMARC looked up' }
const P99: Figure = { what: 'p99 from MAIL to the reply after the final dot', unit: 'ms' }
const POSTED: Figure = { what: 'inbound mail per second, until its webhook was posted', goal: { atLeast: 1_000 } }
const CPU: Figure = { what: 'CPU seconds for 1,000 inbound mails' }
const LARGE_20: Figure = { what: 'peak memory while 20 connections send 25 MB each', unit: 'MB' }
const LARGE_100: Figure = {
  what: 'peak memory while 100 connections send 25 MB each',
  unit: 'MB',
  goal: { atMost: 768 },
}

/** A newsletter's 10 KB mail and one of 25 MB, signed, in files; and the DNS records of their author. */
export function authorsMail(scratch: string): { small: string; large: string; zone: ZoneRecord[] } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const sign = (mail: Uint8Array) => {
    const key = { domain: 'author.example', selector: 's1', algorithm: 'rsa-sha256' as const, privateKey }
    return Buffer.concat([signDkim(mail, [key], Date.now()), mail])
  }
  const head = (subject: string, type: string) =>
    `From: News <news@author.example>\r\nTo: inbox@bench.example\r\nSubject: ${subject}\r\nDate: ${new Date().toUTCString()}\r\n` +
    `Message-ID: <1@author.example>\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n`
  const small = join(scratch, 'small.eml')
  const large = join(scratch, 'large.eml')
  const page = html(10_240).replaceAll('\n', '\r\n')
  writeFileSync(small, sign(Buffer.from(`${head('A receipt', 'text/html; charset=utf-8')}\r\n${page}\r\n`)))
  const film = randomBytes(18 * 2 ** 20) // incompressible, like a film
  const base64 = film.toString('base64').replace(/.{76}/g, '$&\r\n')
  const attached = `${head('A film', 'application/octet-stream')}Content-Transfer-Encoding: base64\r\n\r\n${base64}\r\n`
  writeFileSync(large, sign(Buffer.from(attached)))
  const p = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const key = [`v=DKIM1; k=rsa; p=${p.slice(0, 200)}`, p.slice(200)]
  const zone: ZoneRecord[] = [
    { name: 'author.example', type: 'TXT', data: 'v=spf1 ip4:127.0.0.0/8 -all' },
    { name: 's1._domainkey.author.example', type: 'TXT', data: key },
    { name: '_dmarc.author.example', type: 'TXT', data: 'v=DMARC1; p=reject' },
  ]
  return { small, large, zone }
}
