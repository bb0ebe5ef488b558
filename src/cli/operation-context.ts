import type { Store } from '../storage/store.ts'
import { withCliContext } from './cli-context.ts'
import type { Operator } from './operator.ts'
import { createRemoteOperator } from './remote-operator.ts'
import type { Server } from './server-access.ts'

/** Where a command runs operations: here, or on another server by an API key, which has no store here. */
export interface OperationContext {
  store: Store | null
  operator: Pick<Operator, 'run' | 'listAll'>
}

/** Runs `work` on the server of `--url` or POSTRIDER_URL, else like withCliContext. */
export async function withOperations<T>(
  { config, server }: { config: string; server?: Server | null },
  work: (context: OperationContext) => Promise<T>,
): Promise<T> {
  if (server == null) return withCliContext(config, work)
  return work({ store: null, operator: createRemoteOperator(server) })
}
