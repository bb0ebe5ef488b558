import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { Store } from '../storage/store.ts'
import { Audit } from '../web/api/audit.ts'

/** Runs an operator's action that a signal started, and records it in the audit log. `fields` names what may change. */
export type Manage = (action: string, fields: object, work: () => Promise<void>) => Promise<void>

/** Creates a Manage. It rejects with whatever the work throws. */
export function createManage(deps: { store: Store; clock: WallClock; mintId: MintId; log: Log }): Manage {
  const { store, clock, mintId, log } = deps
  const audit = new Audit({ auditLog: store.auditLog, mintId, log })
  return (action, fields, work) => {
    const call = { organizationId: null, now: clock.now(), requestId: mintId('req'), params: {}, body: fields }
    const actor = { type: 'operator' as const, id: 'operator', name: 'signal' }
    return audit.record({ id: action, method: 'POST' }, call, { actor, ipAddress: null }, work)
  }
}
