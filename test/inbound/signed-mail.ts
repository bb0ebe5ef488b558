import { createPrivateKey, type KeyObject } from 'node:crypto'
import { startZone, type Zone, type ZoneRecord } from '../../src/cli/try/zone-server.ts'
import { dkimRecordValue, signDkim } from '../../src/mail/dkim.ts'
import { generateDkimKeyPair } from '../support/dkim-keys.ts'

const pair = generateDkimKeyPair('rsa-sha256')
const privateKey: KeyObject = createPrivateKey(pair.privateKeyPem)
export const KEY_PEM = pair.privateKeyPem
export const KEY_RECORD = dkimRecordValue('rsa-sha256', pair.publicKeyBase64)

/** bank.test signs and rejects unsigned mail; 127.0.0.1 may send for it. evil.test has the same, but requests
 *  nothing; shop.test requests quarantine; quiet.test publishes nothing. */
const RECORDS: ZoneRecord[] = [
  ...['bank.test', 'evil.test', 'shop.test'].flatMap((name): ZoneRecord[] => [
    { name, type: 'TXT', data: 'v=spf1 ip4:127.0.0.1 -all' },
    ...['s1', 'mail_2'].map((selector) => ({
      name: `${selector}._domainkey.${name}`,
      type: 'TXT' as const,
      data: KEY_RECORD,
    })),
  ]),
  { name: '_dmarc.bank.test', type: 'TXT', data: 'v=DMARC1; p=reject' },
  { name: '_dmarc.shop.test', type: 'TXT', data: 'v=DMARC1; p=quarantine' },
  { name: 'quiet.test', type: 'A', data: '127.0.0.2' },
  { name: 'mx.bank.test', type: 'TXT', data: 'v=spf1 ip4:127.0.0.1 -all' },
]

export const startMailZone = (): Promise<Zone> => startZone(RECORDS)

/** Header and body lines → a mail. */
export function mail(header: readonly string[], body = 'Hello\r\n'): Buffer {
  return Buffer.from(`${header.join('\r\n')}\r\n\r\n${body}`)
}

/** The mail with an RSA signature of that domain. */
export function signed(raw: Buffer, domain: string, signedAt = Date.now(), selector = 's1'): Buffer {
  return Buffer.concat([signDkim(raw, [{ domain, selector, algorithm: 'rsa-sha256', privateKey }], signedAt), raw])
}
