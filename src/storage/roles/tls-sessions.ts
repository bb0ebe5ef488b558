import type { TlsCount } from '../../model/tls-session.ts'

/** TLS sessions with recipients' domains, counted for the reports that these ask for. */
export interface TlsSessions {
  /** On top of what was counted of the same before. */
  add(counts: readonly TlsCount[]): Promise<void>
  /** The first domain and day behind the given ones, of the days before `before`; null at the end. */
  next(after: { domain: string; day: number }, before: number): Promise<{ domain: string; day: number } | null>
  of(domain: string, day: number): Promise<TlsCount[]>
  remove(domain: string, day: number): Promise<void>
}
