import { createHash } from 'node:crypto'
import type { DkimKeyRecord, DnsRecord, Domain, RecordPurpose } from '../model/domain.ts'
import { base32 } from '../os/ids.ts'

/** Names of a domain in the zone that the operator delegated to this server (`dns.zone`). The domain publishes CNAME
 *  records to them once; the zone answers with the current keys and values. */

/** One of the four fixed DKIM selectors of a domain. One pair signs; the other waits for the next rotation. */
export type DkimSlot = Pick<DkimKeyRecord, 'selector' | 'algorithm'>

/** Whether a name is the zone or inside it. */
export const isInZone = (name: string, zone: string) => name === zone || name.endsWith(`.${zone}`)

/** Whether the operator lets this server change the zone of a domain at its provider (`dns.provider_zones`). */
export const isAtProvider = ({ name }: Pick<Domain, 'name'>, providerZones: readonly string[]) =>
  providerZones.some((zone) => isInZone(name, zone))

/** Domain id → its label in the zone: 16 characters. IDs are never used again, so a CNAME that remains after its domain
 *  was deleted leads nowhere. */
export function zoneLabel(domainId: string): string {
  return base32(createHash('sha256').update(`postrider-zone ${domainId}`).digest().subarray(0, 10))
}

/** Domain ID → the beginnings of its two pairs of selectors. They come from the ID, so that several organizations that
 *  claim one name have different ones. */
export function slotStems(domainId: string): readonly [string, string] {
  const stem = `pr${zoneLabel(domainId).slice(0, 6)}`
  return [`${stem}1`, `${stem}2`]
}

/** The stem of the selectors for a domain's next keys: that of the pair which no key uses. Null if keys use both
 *  pairs. */
export function freeStem({ id, dkim }: Pick<Domain, 'id' | 'dkim'>): string | null {
  return slotStems(id).find((stem) => dkim.every(({ selector }) => !selector.startsWith(stem))) ?? null
}

/** The selectors of both pairs that no key of the domain uses. The zone answers for them with an empty key, which means
 *  revoked (RFC 6376 §3.6.1). */
export function freeSlots({ id, dkim }: Pick<Domain, 'id' | 'dkim'>): DkimSlot[] {
  const slots = slotStems(id).flatMap((stem): DkimSlot[] => [
    { selector: `${stem}r`, algorithm: 'rsa-sha256' },
    { selector: `${stem}e`, algorithm: 'ed25519-sha256' },
  ])
  return slots.filter(({ selector }) => dkim.every((key) => key.selector !== selector))
}

/** A record of the domain and the zone → the name in the zone that has its value; null for a record that a CNAME cannot
 *  replace. Records of one name have one target. */
export function zoneTarget(
  { purpose, name }: Pick<DnsRecord, 'purpose' | 'name'>,
  domain: Pick<Domain, 'id'>,
  zone: string,
): string | null {
  const label = purpose in LABELS ? LABELS[purpose as keyof typeof LABELS] : name.split('.', 1).join()
  return label === null ? null : `${label}.${zoneLabel(domain.id)}.${zone}`
}

/** First labels in the zone; DKIM keys have their selector. Not the underscore names of the domain, so that these names
 *  mean nothing for mail of the zone itself. Null: the domain publishes the record itself, because it is at its own
 *  name or must prove something without us. */
const LABELS = {
  ownership: null,
  mx: null,
  spf: 'bounces',
  return_path: 'bounces',
  dmarc: 'dmarc',
  tls_rpt: 'tls-reports',
  tracking: 'links',
  mta_sts: 'mta-sts-id',
  mta_sts_host: 'mta-sts',
} as const satisfies Partial<Record<RecordPurpose, string | null>>
