import type { Alert, AlertState, ChannelRecord, Notice, NoticeKey } from '../../model/alert.ts'

/** Alerts for the operator, and the notices to each channel. */
export interface Alerts {
  /** Pending and firing alerts, in the order of kind, subject and node. */
  open(): Promise<Alert[]>
  /** Alerts that have ended, the last one first. */
  ended(limit: number): Promise<Alert[]>
  /** Writes a new alert (`was` null), or the next state of one. False, without a change, if an alert of that kind,
   *  subject and node is open already, or if its state is not `was`. When it ends, notices that were not attempted are
   *  withdrawn, and each channel that got the first notice gets one of the end. */
  save(alert: Alert, was: AlertState | null): Promise<boolean>
  /** Removes a pending alert. */
  drop(id: string): Promise<void>
  /** Notices of firing alerts. */
  notices(): Promise<Notice[]>
  /** Adds notices that are due at once; leaves existing ones, and those of alerts that do not fire. */
  addNotices(keys: readonly NoticeKey[], now: number): Promise<void>
  /** Notices to these channels that are due, the longest first. The end of an alert is due after its beginning. */
  due(channels: readonly string[], now: number, limit: number): Promise<(Notice & { alert: Alert })[]>
  /** Counts an attempt before it is made, and plans the next one in case that it is never recorded. False if another
   *  process counted one since `attempts` was read. */
  begin(key: NoticeKey, attempts: number, nextAttemptAt: number): Promise<boolean>
  /** Stores the result of that attempt, also for its channel. `nextAttemptAt` null with an error: it is given up. */
  record(
    key: NoticeKey,
    result: { attempt: number; error: string | null; nextAttemptAt: number | null },
    now: number,
  ): Promise<void>
  /** Stores the result of a post that belongs to no alert. */
  recordChannel(channel: string, error: string | null, now: number): Promise<void>
  channels(): Promise<ChannelRecord[]>
  /** Deletes at most `limit` alerts that ended before `before`, with their notices; returns the number deleted. */
  prune(before: number, limit: number): Promise<number>
}
