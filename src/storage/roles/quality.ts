import type { Event } from '../../model/event.ts'
import type { QualityAlert, QualityFigures } from '../../model/quality.ts'

/** Bounce and complaint counts of domains, and alerts. Windows end at `now`; they begin slightly early (5 s, or a
 *  quarter of an hour for windows of more than two hours). */
export interface Quality {
  /** Ids of domains whose live mail had an outcome in the window. */
  domainsWithOutcomes(windowMs: number, now: number): Promise<string[]>
  figures(domainId: string, windowMs: number, now: number): Promise<QualityFigures>
  /** All active alerts. */
  firing(): Promise<QualityAlert[]>
  /** Newest first. */
  alerts(domainId: string, limit: number): Promise<QualityAlert[]>
  /** Writes a new alert with its event; `exists` while an alert of that domain and metric is active. */
  raise(alert: QualityAlert, event: Event): Promise<'raised' | 'exists'>
  /** Ends an active alert, with its last figures; `gone` if it is not active. */
  resolve(alert: QualityAlert, event: Event): Promise<'resolved' | 'gone'>
  /** Deletes at most `limit` counts that are older than any window; returns the number deleted. */
  pruneOutcomes(now: number, limit: number): Promise<number>
}
