import { type ApiKey, mayGrant } from '../../model/api-key.ts'
import { isNetworkWithin } from '../../net/ip.ts'

/** The fields of a key that determine its rights. */
export type Rights = Pick<ApiKey, 'domainId' | 'mode' | 'permissions' | 'expiresAt' | 'allowedNetworks'>

/** Rights of the calling key and rights to grant or revoke → the fields that it may not grant, each with a message;
 *  empty if it may grant them all. No key can grant more than it has: rights for another domain require `admin`, a test
 *  key can only grant test keys, a key that expires cannot grant a later expiry, and a key limited to networks cannot
 *  grant other networks. Never throws. */
export function grantFaults(held: Rights, wanted: Rights): { field: GrantField; message: string }[] {
  const faults: { field: GrantField; message: string }[] = []
  const missing = wanted.permissions.filter((permission) => !mayGrant(held.permissions, permission))
  if (missing.length > 0) faults.push({ field: 'permissions', message: `This key cannot grant ${missing.join(', ')}.` })
  if (wanted.domainId !== held.domainId && !held.permissions.includes('admin')) {
    faults.push({ field: 'domain_id', message: 'Granting rights for another domain requires a key with admin.' })
  }
  if (held.mode === 'test' && wanted.mode !== 'test') {
    faults.push({ field: 'mode', message: 'Test keys can only grant test keys. Set mode to "test".' })
  }
  if (held.expiresAt !== null && (wanted.expiresAt === null || wanted.expiresAt > held.expiresAt)) {
    const latest = new Date(held.expiresAt).toISOString()
    faults.push({
      field: 'expires_at',
      message: `This key expires and cannot grant rights beyond its own expiry, ${latest}.`,
    })
  }
  if (held.allowedNetworks !== null && !areWithin(wanted.allowedNetworks, held.allowedNetworks)) {
    const message = `This key can only grant keys for its own networks: ${held.allowedNetworks.join(', ')}.`
    faults.push({ field: 'allowed_networks', message })
  }
  return faults
}

/** Name of an API field that limits a grant. */
export type GrantField = 'permissions' | 'domain_id' | 'mode' | 'expires_at' | 'allowed_networks'

function areWithin(wanted: readonly string[] | null, held: readonly string[]): boolean {
  return wanted?.every((network) => held.some((outer) => isNetworkWithin(network, outer))) ?? false
}
