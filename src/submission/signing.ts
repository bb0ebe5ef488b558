import type { RecipientParts } from '../mail/recipient-parts.ts'
import type { DkimKeyRecord, Domain } from '../model/domain.ts'

/** A key and the domain it signs for, as the delivery worker takes it. */
export type SigningKey = Pick<DkimKeyRecord, 'selector' | 'algorithm' | 'privateKeyPem'> & { domain: string }

/** Packed content → the signed mail as it goes on the wire; `signedAt` in ms UTC, `own` what only one recipient's
 *  mail has. Done by a delivery worker. */
export type Compose = (
  content: Uint8Array,
  keys: SigningKey[],
  signedAt: number,
  own?: RecipientParts,
) => Promise<Uint8Array>

/** Domain → the keys that sign its mail now; none for a domain without active keys. */
export function domainKeys(domain: Domain): SigningKey[] {
  return domain.dkim
    .filter((key) => key.state === 'active')
    .map(({ selector, algorithm, privateKeyPem }) => ({ domain: domain.name, selector, algorithm, privateKeyPem }))
}
