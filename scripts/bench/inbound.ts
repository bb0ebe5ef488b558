import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ZoneRecord } from '../../src/cli/try/zone-server.ts'
import { signDkim } from '../../src/mail/dkim.ts'
import { html } from './bodies.ts'

/** A newsletter's mail of 10 KB with a DKIM signature, in a file; and the DNS records of its author. */
export function authorsMail(scratch: string): { small: string; zone: ZoneRecord[] } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const head = [
    'From: News <news@author.example>',
    'To: inbox@bench.example',
    'Subject: A receipt',
    `Date: ${new Date().toUTCString()}`,
    'Message-ID: <1@author.example>',
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
  ].join('\r\n')
  const mail = Buffer.from(`${head}\r\n\r\n${html().replaceAll('\n', '\r\n')}\r\n`)
  const key = { domain: 'author.example', selector: 's1', algorithm: 'rsa-sha256' as const, privateKey }
  const small = join(scratch, 'small.eml')
  writeFileSync(small, Buffer.concat([signDkim(mail, [key], Date.now()), mail]))
  const p = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const zone: ZoneRecord[] = [
    { name: 'author.example', type: 'TXT', data: 'v=spf1 ip4:127.0.0.0/8 -all' },
    { name: 's1._domainkey.author.example', type: 'TXT', data: [`v=DKIM1; k=rsa; p=${p.slice(0, 200)}`, p.slice(200)] },
    { name: '_dmarc.author.example', type: 'TXT', data: 'v=DMARC1; p=reject' },
  ]
  return { small, zone }
}
