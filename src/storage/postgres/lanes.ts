import type { CommitListener } from '../commit-reports.ts'
import { EventKinds } from '../mail/event-kinds.ts'
import type { MailInside } from '../mail/inside.ts'
import { PendingFanOuts } from '../mail/pending-fan-outs.ts'
import type { AuditedAction } from '../records/audit-log.ts'
import type { NodeObserver } from '../store.ts'
import type { Connection } from './connection.ts'
import { PostgresLane } from './lane.ts'
import type { Shared } from './mail-group.ts'
import { createMessageWords } from './message-words.ts'
import type { Mirrors } from './mirrors.ts'
import { Numbers } from './numbers.ts'
import type { Settings } from './settings.ts'

/** Connections that write, each with a row in `lanes`: new mail and events; claims, and what becomes of them; what is
 *  written beside mail; and settings. */
export const LANES = ['accepting', 'working', 'records', 'settings'] as const

/** What writes. Mail and records follow the changes of settings that were begun before, and these follow mail. */
export interface Lanes extends Record<(typeof LANES)[number], PostgresLane> {
  shared: Shared
  /** Resolves when mail and records that were begun before are decided; null if there are none. */
  settled(): Promise<void> | null
  close(): Promise<void>
}

export function createLanes(options: {
  connect: () => Promise<Connection>
  /** Of LANES, in this order. */
  laneIds: readonly number[]
  mirrors: Mirrors
  planOf: MailInside['planOf']
  /** Used once something is written. */
  settings: () => Settings
  action: AuditedAction
  listener: CommitListener | undefined
  observer: NodeObserver | undefined
  /** How long a caller waits, ms. */
  patienceMs: number
  due: Shared['due']
  offered: Shared['offered']
}): Lanes {
  const { connect, laneIds, mirrors, planOf, settings, action, listener, observer, offered } = options
  const webhooksOf = mirrors.webhook.index(({ organizationId }) => organizationId)
  const shared: Shared = {
    numbers: new Numbers(),
    due: options.due,
    pendingFanOuts: new PendingFanOuts(),
    planOf,
    writtenAhead: new WeakMap(),
    webhooks: {
      get: mirrors.webhook.get,
      activeOf: (organizationId) => webhooksOf(organizationId).filter(({ status }) => status === 'active'),
    },
    routes: mirrors.inboundRoute,
    words: createMessageWords(),
    kinds: new EventKinds(),
    offered,
    listener,
  }
  const lane = (name: (typeof LANES)[number], label: Parameters<NodeObserver['wroteGroup']>[0]) =>
    new PostgresLane(shared, {
      connect,
      laneId: laneIds[LANES.indexOf(name)]!, // one for each
      after: name === 'settings' ? () => null : () => settings().settled(),
      action,
      patienceMs: options.patienceMs,
      onGroup: (ms, changes) => observer?.wroteGroup(label, ms, changes),
    })
  const mail = [lane('accepting', 'mail'), lane('working', 'mail'), lane('records', 'records')] as const
  const [accepting, working, records] = mail
  const own = lane('settings', 'settings')
  return {
    accepting,
    working,
    records,
    settings: own,
    shared,
    settled: () => {
      const underWay = mail.map((each) => each.settled()).filter((each) => each !== null)
      return underWay.length === 0 ? null : Promise.all(underWay).then(() => {})
    },
    close: async () => {
      for (const each of [...mail, own]) await each.close()
    },
  }
}
