import { randomUUID } from 'node:crypto'
import { systemClock } from '../os/clock.ts'
import { createMintId } from '../os/ids.ts'
import { systemRandom } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import { localUser } from './local-user.ts'

/** Adds what the user at the command line did to the audit log, for commands that change a store without an Operator.
 *  Throws what the store throws. */
export async function recordAsOperator(
  { auditLog }: Pick<Store, 'auditLog'>,
  {
    action,
    resourceId = null,
    fields = [],
    user = localUser(),
  }: { action: string; resourceId?: string | null; fields?: string[]; user?: string },
): Promise<void> {
  await auditLog.put({
    id: createMintId(systemClock, systemRandom)('aud'),
    organizationId: null,
    at: systemClock.now(),
    actor: { type: 'operator', id: 'operator', name: user },
    action,
    resourceId,
    createdId: null,
    fields,
    ipAddress: null,
    outcome: 'done',
    requestId: `${action}-${randomUUID()}`,
  })
}
