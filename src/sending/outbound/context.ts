import type { RecipientPartsOf } from '../../mail/recipient-parts.ts'
import type { StoredMail } from '../../mail/shown-content.ts'
import type { Verp } from '../../mail/verp.ts'
import type { AddressClass } from '../../model/hard-bounces.ts'
import type { WallClock } from '../../os/clock.ts'
import type { MintId } from '../../os/ids.ts'
import type { Log } from '../../os/log.ts'
import type { MailLog } from '../../os/mail-log.ts'
import type { Memory } from '../../os/memory.ts'
import type { Notify } from '../../os/notifier.ts'
import type { Random } from '../../os/random.ts'
import type { PoolEvent } from '../../os/supervisor.ts'
import type { Store } from '../../storage/store.ts'
import type { ConfiguredTerms } from './schedule/destination-limits.ts'

/** What the delivery of mail uses of the rest of the server. */
export interface DeliveryContext {
  store: Pick<Store, 'deliveries' | 'messages' | 'relays' | 'suppressions' | 'warmups' | 'rates' | 'leases' | 'nodes'>
  clock: WallClock
  random: Random
  mintId: MintId
  verp: Verp
  recipientParts: RecipientPartsOf
  /** Needed for test mail whose recipient clicks. */
  storedMail: Pick<StoredMail, 'part'>
  /** Identifies this process in leases. */
  workerId: string
  settings: DeliverySettings
  notify: Notify
  /** Called when a message failed because it twice ended its thread, and when the mail of an organization must wait because its
   *  messages ended several threads. */
  onEvent?: (event: PoolEvent) => void
  log: Log
  mailLog: MailLog
  /** Absent: enough. */
  memory?: Memory
}

export interface DeliverySettings {
  /** Config `delivery`. */
  retryScheduleSeconds: readonly number[]
  maxAgeSeconds: number
  maxPerDestination: number
  destinations: Readonly<Record<string, ConfiguredTerms>>
  /** How nodes share the limits of destinations. */
  share: 'cluster' | 'node'
  /** Deliveries in progress at once. */
  maxInFlight: number
  /** Config `sending.require_verified_domain`. */
  requireVerified: boolean
  /** Config `sending.hard_bounces`. */
  hardBounces: readonly AddressClass[]
}
