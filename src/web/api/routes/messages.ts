import type { Operation } from '../operation.ts'
import { type ActDeps, actOperations } from './messages-act.ts'
import { messagePartOperations, type PartsDeps } from './messages-parts.ts'
import { type ReadDeps, readOperations } from './messages-read.ts'
import { type SendDeps, sendOperations } from './messages-send.ts'

export type MessageDeps = SendDeps & ReadDeps & PartsDeps & ActDeps

/** All operations under `/v1/messages`, and `/v1/send`. */
export function messageOperations(deps: MessageDeps): Operation[] {
  return [...sendOperations(deps), ...readOperations(deps), ...messagePartOperations(deps), ...actOperations(deps)]
}
