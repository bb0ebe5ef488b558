import type { TlsCount } from '../../model/tls-session.ts'

/** TLS sessions with recipient domains, counted for the reports that these request. */
export interface TlsSessions {
  /** Adds to the existing counts. */
  add(counts: readonly TlsCount[]): Promise<void>
  /** The first domain and day after the given ones, of days before `before`; null at the end. */
  next(after: { domain: string; day: number }, before: number): Promise<{ domain: string; day: number } | null>
  of(domain: string, day: number): Promise<TlsCount[]>
  remove(domain: string, day: number): Promise<void>
}
