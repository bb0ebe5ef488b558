import type { KeptMtaSts } from '../../model/mta-sts.ts'
import type { MtaStsPolicies } from '../store.ts'
import type { Connection } from './driver.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `domain, policy_id as policyId, policy, expires_at as expiresAt, refresh_at as refreshAt,
  used_at as usedAt`
const GET = `select ${COLUMNS} from mta_sts_policies where domain = ?`
const KEEP = `insert into mta_sts_policies (domain, policy_id, policy, expires_at, refresh_at, used_at)
  values (?, ?, ?, ?, ?, ?)
  on conflict (domain) do update set policy_id = excluded.policy_id, policy = excluded.policy,
    expires_at = excluded.expires_at, refresh_at = excluded.refresh_at, used_at = excluded.used_at`
const REMOVE = 'delete from mta_sts_policies where domain = ?'
const DUE = `select ${COLUMNS} from mta_sts_policies where refresh_at <= ? order by refresh_at limit ?`

export function sqliteMtaSts(db: Connection, writer: Writer): MtaStsPolicies {
  const get = db.prepare<unknown[], Row>(GET)
  const keep = db.prepare(KEEP)
  const remove = db.prepare(REMOVE)
  const due = db.prepare<unknown[], Row>(DUE)
  return {
    get: async (domain) => {
      const row = get.get(domain)
      return row === undefined ? null : toKept(row)
    },
    keep: ({ domain, policyId, policy, expiresAt, refreshAt, usedAt }) =>
      writer.write(() => {
        keep.run(domain, policyId, JSON.stringify(policy), expiresAt, refreshAt, usedAt)
      }),
    remove: (domain) =>
      writer.write(() => {
        remove.run(domain)
      }),
    due: async (now, limit) => due.all(now, limit).map(toKept),
  }
}

type Row = Omit<KeptMtaSts, 'policy'> & { policy: string }

function toKept({ policy, ...rest }: Row): KeptMtaSts {
  return { ...rest, policy: JSON.parse(policy) }
}
