import type { RecipientParts } from '../../mail/recipient-parts.ts'
import type { DkimKeyRecord, Domain } from '../../model/domain.ts'

/** A key and its domain, as the delivery worker takes it. */
export type SigningKey = Pick<DkimKeyRecord, 'selector' | 'algorithm' | 'privateKeyPem'> & { domain: string }

/** Packed content → the signed mail in its wire form; `signedAt` in ms UTC, `own` holds the recipient's parts. Runs in
 *  a thread. */
export type Compose = (
  content: Uint8Array,
  keys: SigningKey[],
  signedAt: number,
  own?: RecipientParts,
) => Promise<Uint8Array>

/** Domain → its active signing keys; [] if it has none. */
export function domainKeys(domain: Domain): SigningKey[] {
  return domain.dkim
    .filter((key) => key.state === 'active')
    .map(({ selector, algorithm, privateKeyPem }) => ({ domain: domain.name, selector, algorithm, privateKeyPem }))
}
