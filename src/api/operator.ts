import type { ApiKey } from '../model/api-key.ts'
import type { Mode } from '../model/message.ts'
import { Refusal } from '../model/refusal.ts'
import type { Operation } from './operation.ts'

/** The operator of the appliance, at the command line or signed in with a browser: an admin of whatever organization they
 *  act for, and the only one who may ask for what is `forOperator`. */

const OPERATOR_ID = 'operator'

/** What stands for a key in a call that the operator makes. `organizationId` is '' where no organization is meant. */
export function operatorKey(as: { organizationId: string; domainId: string; mode: Mode }, now: number): ApiKey {
  return {
    id: OPERATOR_ID,
    ...as,
    name: OPERATOR_ID,
    permissions: ['admin'],
    prefix: '',
    createdAt: now,
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    rotatedTo: null,
    allowedNetworks: null,
  }
}

/** Keys of customers have ids of another form. */
export function isOperator(key: Pick<ApiKey, 'id'>): boolean {
  return key.id === OPERATOR_ID
}

/** Throws 403 unless whoever holds the key may ask for this at all. */
export function requireOperator(key: ApiKey, operation: Operation): void {
  if (!operation.forOperator || isOperator(key)) return
  throw new Refusal('forbidden', 'Only the operator of this server can do this.', {
    details: { required: OPERATOR_ID, held: key.permissions },
  })
}
