import { createSeal } from 'mailauth/lib/arc'
import type { ArcResult } from '../model/inbound-message.ts'
import { bounded } from './bounded-head.ts'
import type { Seal } from './reading.ts'

/** Mail to be sent on, what was found when it came (the payload of an Authentication-Results field), and the state of its
 *  chain → the mail with our ARC set on top; the mail as it is when its chain is broken already or full (50 sets), when its
 *  header is not for mailauth to read (bounded-head.ts), and when the key is of no use. RFC 8617 §5.1. */
export async function sealed(
  mail: Buffer,
  chain: ArcResult,
  authResults: string,
  { domain, selector, privateKeyPem }: Seal,
  signedAt: number,
): Promise<Buffer> {
  if (chain === 'fail' || bounded(mail).raw.length !== mail.length) return mail
  const { headers } = await createSeal(mail, {
    seal: {
      signingDomain: domain,
      selector,
      privateKey: privateKeyPem,
      algorithm: 'rsa-sha256', // RFC 8617 §4.1.3 knows no other
      cv: chain,
      authResults,
      signTime: new Date(signedAt),
    },
    strict: true,
  })
  if (headers.length === 0) return mail
  return Buffer.concat([Buffer.from(headers.map((header) => `${header}\r\n`).join('')), mail])
}
