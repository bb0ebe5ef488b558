import type { Event } from '../../model/event.ts'
import type { QualityAlert, QualityFigures } from '../../model/quality.ts'

/** Windows end at `now`; they begin a little early (5 s, or a quarter of an hour for those of more than two hours). */
export interface Quality {
  /** Ids of domains whose live mail had an outcome in the window. */
  domainsWithOutcomes(windowMs: number, now: number): Promise<string[]>
  figures(domainId: string, windowMs: number, now: number): Promise<QualityFigures>
  /** All that fire. */
  firing(): Promise<QualityAlert[]>
  /** Synchronous and from memory: asked for at every message where alerts stop mail. */
  firingOf(domainId: string): QualityAlert[]
  /** Newest first. */
  alerts(domainId: string, limit: number): Promise<QualityAlert[]>
  /** A new alert with the event that tells of it; `exists` while one of that domain and metric fires. */
  raise(alert: QualityAlert, event: Event): Promise<'raised' | 'exists'>
  /** Ends one that fires, with its last figures; `gone` when it does not fire. */
  resolve(alert: QualityAlert, event: Event): Promise<'resolved' | 'gone'>
  /** Forgets at most `limit` counts that no window reaches any more; answers how many went. */
  pruneOutcomes(now: number, limit: number): Promise<number>
}
