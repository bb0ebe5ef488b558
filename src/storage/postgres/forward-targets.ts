import type { ForwardTargetStatus } from '../../model/forward-target.ts'
import { dayOf, FIXED_LIMITS } from '../../model/limits.ts'
import { suppressionKey } from '../../model/suppression.ts'
import type { ForwardTargets } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Queries } from './transactions.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const STATUS = 'select status from forward_targets where organization_id = $1 and address = $2'
const ASKED = `select coalesce(sum(asked_count), 0)::int as count from forward_targets
  where address = $1 and asked_day = $2`
const ASK = `insert into forward_targets as present
    (organization_id, address, status, changed_at, asked_at, asked_day, asked_count)
  values ($1, $2, 'pending', $3, $3, $4, 1)
  on conflict (organization_id, address) do update set asked_at = excluded.asked_at, asked_day = excluded.asked_day,
    asked_count = case when present.asked_day = excluded.asked_day then present.asked_count + 1 else 1 end`
const SET = `insert into forward_targets as present (organization_id, address, status, changed_at)
  values ($1, $2, $3, $4)
  on conflict (organization_id, address) do update set status = excluded.status, changed_at = excluded.changed_at
    where present.status <> excluded.status`
const PRUNE = `delete from forward_targets where status = 'pending' and asked_at < $1 and ctid = any(array(
  select ctid from forward_targets where status = 'pending' and asked_at < $1 order by asked_at limit $2))`

export function postgresForwardTargets(reads: Reads, writer: Writer, usage: Usage): ForwardTargets {
  const find = async (queries: Queries, organizationId: string, email: string) => {
    const [row] = await queries.query<{ status: ForwardTargetStatus }>(STATUS, [organizationId, suppressionKey(email)])
    return row?.status ?? null
  }
  return {
    status: async (organizationId, email) => (await find(reads, organizationId, email)) ?? 'pending',
    ask: (organizationId, email, now) =>
      writer.writeSettings(async (statements) => {
        const present = await find(statements, organizationId, email)
        if (present === 'confirmed' || present === 'stopped') return present
        const [day, address] = [dayOf(now), suppressionKey(email)]
        const { confirmationsPerTarget, confirmationsPerDay } = FIXED_LIMITS
        const [ofTarget] = await statements.query<{ count: number }>(ASKED, [address, day])
        const ofOrganization = await usage.used(statements, organizationId, 'confirmation_mails', day)
        const isMost = (ofTarget?.count ?? 0) >= confirmationsPerTarget || ofOrganization >= confirmationsPerDay
        if (isMost) return 'too_many'
        await usage.add(statements, organizationId, 'confirmation_mails', 1, day)
        await statements.run(ASK, [organizationId, address, now, day])
        return 'asked'
      }),
    set: (organizationId, email, status, now) =>
      writer.write(async ({ run }) => {
        await run(SET, [organizationId, suppressionKey(email), status, now])
      }),
    prune: (before, limit) => writer.write(({ run }) => run(PRUNE, [before, limit])),
    countByUpgrade: async () => 0, // confirmations are older than this backend
  }
}
