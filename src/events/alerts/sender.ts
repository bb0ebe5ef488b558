import {
  type Alert,
  type AlertSeverity,
  isAtLeast,
  type Notice,
  type NoticeKey,
  silencedUntil,
} from '../../model/alert.ts'
import type { Log } from '../../os/log.ts'
import type { Store } from '../../storage/store.ts'
import type { Tell } from './channels.ts'

/** A channel as the sender uses it. */
export interface SenderChannel {
  name: string
  minSeverity: AlertSeverity
  tell: Tell
}

/** Tells channels what is due. */
export interface AlertSender {
  /** One turn; leaves out channels that are still busy with an earlier one. Never rejects. */
  send(now: number): Promise<void>
}

/** Creates AlertSender from its channels. Each channel gets each alert once when it begins and, if that arrived, once
 *  when it ends, also an alert that began before the channel was configured. The store counts an attempt before the post, so another
 *  process does not make it too, and a crash between post and record repeats this one post. Failed attempts are retried
 *  for a day. A silenced alert has no posts, except that of its end to a channel that was told of its beginning; what is
 *  missing when the silence ends is sent then. */
export function createAlertSender(deps: {
  alerts: Store['alerts']
  channels: readonly SenderChannel[]
  /** 0: an alert that keeps firing is not sent again. */
  repeatAfterMs: number
  now: () => number
  log: Log
}): AlertSender {
  const { alerts, channels, repeatAfterMs, now, log } = deps
  const busy = new Set<string>()

  const sendOne = async (tell: Tell, notice: Notice & { alert: Alert }) => {
    const attempt = notice.attempts + 1
    if (attempt > WAITS_MS.length + 1) {
      const lost = { attempt: notice.attempts, error: 'the results of all attempts were lost', nextAttemptAt: null }
      return alerts.record(notice, lost, now())
    }
    const waitMs = WAITS_MS[attempt - 1] ?? null
    if (!(await alerts.begin(notice, notice.attempts, now() + Math.max(waitMs ?? 0, UNRECORDED_MS)))) return
    const { error, retryAfterMs } = await tell({ notice, alert: notice.alert, attempt })
    const endedAt = now()
    const nextAttemptAt = error === null || waitMs === null ? null : endedAt + Math.max(waitMs, bounded(retryAfterMs))
    await alerts.record(notice, { attempt, error, nextAttemptAt }, endedAt)
    if (error !== null) log.warn('alert not delivered', { channel: notice.channel, attempt, error })
  }

  /** Notices of a channel go one after the other; no channel waits for another one. */
  const sendTo = async ({ name, tell }: SenderChannel, at: number, silenced: readonly string[]) => {
    if (busy.has(name)) return
    busy.add(name)
    try {
      for (const notice of await alerts.due([name], at, { limit: MOST_A_TURN, silenced })) await sendOne(tell, notice)
    } catch (error) {
      log.error('alerts failed', { channel: name, error })
    } finally {
      busy.delete(name)
    }
  }

  return {
    send: async (at) => {
      try {
        const silenced = await silencedAlerts(alerts, at)
        const missing = await missingNotices(alerts, { channels, repeatAfterMs, now: at, silenced })
        if (missing.length > 0) await alerts.addNotices(missing, at)
        await Promise.all(channels.map((channel) => sendTo(channel, at, silenced)))
      } catch (error) {
        log.error('alerts failed', { error })
      }
    },
  }
}

/** IDs of the open alerts that are silenced. */
async function silencedAlerts(alerts: Store['alerts'], now: number): Promise<string[]> {
  const silences = await alerts.silences(now)
  if (silences.length === 0) return []
  return (await alerts.open()).filter((alert) => silencedUntil(alert, silences, now) !== null).map(({ id }) => id)
}

/** Notices that firing alerts still need: the first one to each channel, and reminders. */
async function missingNotices(
  alerts: Store['alerts'],
  {
    channels,
    repeatAfterMs,
    now,
    silenced,
  }: { channels: readonly SenderChannel[]; repeatAfterMs: number; now: number; silenced: readonly string[] },
): Promise<NoticeKey[]> {
  const firing = (await alerts.open()).filter(({ id, state }) => state === 'firing' && !silenced.includes(id))
  if (firing.length === 0) return []
  const byKey = Map.groupBy(await alerts.notices(), ({ alertId, channel }) => `${alertId} ${channel}`)
  return firing.flatMap(({ id, severity }) =>
    channels.flatMap(({ name, minSeverity }) => {
      const told = byKey.get(`${id} ${name}`) ?? []
      const last = told.reduce<Notice | null>(
        (latest, each) => (each.round >= (latest?.round ?? 0) ? each : latest),
        null,
      )
      if (last === null && !isAtLeast(severity, minSeverity)) return []
      const doneAt = last === null || last.status === 'pending' ? null : last.endedAt
      const isRepeated = doneAt !== null && repeatAfterMs > 0 && now - doneAt >= repeatAfterMs
      if (last !== null && !isRepeated) return []
      return [{ alertId: id, channel: name, event: 'firing' as const, round: last === null ? 0 : last.round + 1 }]
    }),
  )
}

const bounded = (retryAfterMs: number | null) => Math.min(retryAfterMs ?? 0, MOST_RETRY_AFTER_MS)

const MINUTE_MS = 60_000
/** Waits after failed attempts: twelve attempts within about a day. */
const WAITS_MS = [1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 480].map((minutes) => minutes * MINUTE_MS)
/** When an attempt whose result was never recorded is repeated: later than any attempt ends. */
const UNRECORDED_MS = 2 * MINUTE_MS
const MOST_RETRY_AFTER_MS = 60 * MINUTE_MS
/** Notices of a channel in one turn. */
const MOST_A_TURN = 20
