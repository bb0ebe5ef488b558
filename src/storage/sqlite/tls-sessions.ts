import type { TlsCount } from '../../model/tls-session.ts'
import type { TlsSessions } from '../store.ts'
import type { Connection } from './driver.ts'
import type { Writer } from './writer.ts'

// A key cannot contain null, so null is stored as an empty text.
const ADD = `insert into tls_sessions (domain, day, policy, host, address, source, failure, sessions)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict do update set sessions = sessions + excluded.sessions`
const NEXT = `select domain, day from tls_sessions where (day, domain) > (?, ?) and day < ? order by day, domain limit 1`
const OF_DAY = `select domain, day, policy, nullif(host, '') as host, nullif(address, '') as address,
    nullif(source, '') as source, nullif(failure, '') as failure, sessions
  from tls_sessions where day = ? and domain = ?`
const REMOVE = 'delete from tls_sessions where day = ? and domain = ?'

export function sqliteTlsSessions(db: Connection, writer: Writer): TlsSessions {
  const add = db.prepare(ADD)
  const following = db.prepare<unknown[], { domain: string; day: number }>(NEXT)
  const ofDay = db.prepare<unknown[], TlsCount>(OF_DAY)
  const remove = db.prepare(REMOVE)
  return {
    add: (counts) =>
      writer.write(() => {
        for (const { domain, day, policy, host, address, source, failure, sessions } of counts) {
          add.run(domain, day, policy, host ?? '', address ?? '', source ?? '', failure ?? '', sessions)
        }
      }),
    next: async ({ day, domain }, before) => following.get(day, domain, before) ?? null,
    of: async (domain, day) => ofDay.all(day, domain),
    remove: (domain, day) =>
      writer.write(() => {
        remove.run(day, domain)
      }),
  }
}
