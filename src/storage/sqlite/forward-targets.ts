import type { ForwardTargetStatus } from '../../model/forward-target.ts'
import { dayOf, FIXED_LIMITS } from '../../model/limits.ts'
import { suppressionKey } from '../../model/suppression.ts'
import type { ForwardTargets } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { Reading } from './reading.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const STATUS = 'select status from forward_targets where organization_id = ? and address = ?'
const ASKED = `select total(asked_count) from forward_targets where address = ? and asked_day = ?`
const ASK = `insert into forward_targets (organization_id, address, status, changed_at, asked_at, asked_day, asked_count)
  values (?, ?, 'pending', ?, ?, ?, 1)
  on conflict do update set asked_at = excluded.asked_at, asked_day = excluded.asked_day,
    asked_count = iif(asked_day = excluded.asked_day, asked_count + 1, 1)`
const SET = `insert into forward_targets (organization_id, address, status, changed_at) values (?, ?, ?, ?)
  on conflict do update set status = excluded.status, changed_at = excluded.changed_at where status <> excluded.status`
const PRUNE = `delete from forward_targets where (organization_id, address) in (
  select organization_id, address from forward_targets where status = 'pending' and asked_at < ? limit ?)`
const BY_UPGRADE = 'select count(*) from forward_targets where changed_at = 0'

export function sqliteForwardTargets(db: Connection, writer: Writer, reading: Reading, usage: Usage): ForwardTargets {
  const statusOf = db.prepare<unknown[], ForwardTargetStatus>(STATUS).pluck()
  const asked = db.prepare<unknown[], number>(ASKED).pluck()
  const ask = db.prepare(ASK)
  const set = db.prepare(SET)
  const prune = db.prepare(PRUNE)
  const byUpgrade = db.prepare<unknown[], number>(BY_UPGRADE).pluck()
  const find = (organizationId: string, email: string) => statusOf.get(organizationId, suppressionKey(email)) ?? null

  return {
    status: async (organizationId, email) => {
      reading.begin()
      return find(organizationId, email) ?? 'pending'
    },
    ask: (organizationId, email, now) =>
      writer.write(() => {
        const present = find(organizationId, email)
        if (present === 'confirmed' || present === 'stopped') return present
        const day = dayOf(now)
        const { confirmationsPerTarget, confirmationsPerDay } = FIXED_LIMITS
        const ofTarget = one(asked, suppressionKey(email), day)
        const ofOrganization = usage.used(organizationId, 'confirmation_mails', day)
        if (ofTarget >= confirmationsPerTarget || ofOrganization >= confirmationsPerDay) return 'too_many'
        usage.add(organizationId, 'confirmation_mails', 1, day)
        ask.run(organizationId, suppressionKey(email), now, now, day)
        return 'asked'
      }),
    set: (organizationId, email, status, now) =>
      writer.write(() => {
        set.run(organizationId, suppressionKey(email), status, now)
      }),
    prune: (before, limit) => writer.write(() => prune.run(before, limit).changes),
    countByUpgrade: async () => one(byUpgrade),
  }
}
