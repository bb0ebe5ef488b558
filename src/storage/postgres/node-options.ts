import type { QueueName } from '../mail/queue-tables.ts'
import type { NodeObserver } from '../store.ts'
import type { PlacementOptions } from './active-nodes.ts'

/** How others know this node, and what happens to it. */
export interface NodeOptions {
  name?: string
  /** Public hostname of its machine. */
  hostname?: string
  version?: string
  /** True for a command beside the server: it handles no mail. */
  isCommand?: boolean
  /** Others end this node when they have not seen it for so long. */
  takeoverMs?: number
  /** Another node ended this one, or the database went back: the process must stop. */
  onEnded?: (reason: string) => void
  /** What waits could not be read, or work of nodes that ended not be taken over. It is repeated after a second. */
  onTakeOverFailed?: (error: unknown) => void
  observer?: NodeObserver
  /** A queue has something due that another node wrote. */
  onWork?: (queue: QueueName) => void
  /** Followers can read further events of the organization. */
  onEvents?: (organizationId: string) => void
  /** The database's clock (ms UTC) at some time of an exchange that took `tookMs` and has just ended: at the start, and
   *  with each beat. */
  onTime?: (time: number, tookMs: number) => void
  placement?: PlacementOptions
  /** Settings that all nodes must have, by their dotted path. Others see keyed digests of them. */
  settings?: ReadonlyMap<string, string>
}
