import type { RemainingPlace } from '../../model/erasure.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { addressOfHash, naming } from '../erased-address.ts'
import { ERASED_AT_ONCE, type ErasureWork } from '../erasure-work.ts'
import { forgetAll } from '../mail/remember.ts'
import { rows, run, sql } from '../sql.ts'

/** Routes that are searched for the address. */
const ROUTES_MAX = 1000

const RESPONSES = sql<{ keyHash: Uint8Array; body: Uint8Array }>(`select key_hash as "keyHash", body from idempotency
  where organization_id = $1 and key_hash > $2::bytea order by key_hash limit ${ERASED_AT_ONCE.responses}`)
const UNSUBSCRIBABLES = sql<{ id: string; organizationId: string; email: string }>(`select delivery_id as id,
    organization_id as "organizationId", email
  from unsubscribables where delivery_id > $1 order by delivery_id limit ${ERASED_AT_ONCE.unsubscribables}`)
const REMOVE_UNSUBSCRIBABLES = sql('delete from unsubscribables where delivery_id = any($1::text[])')
const SUPPRESSIONS = sql<{ id: string }>(
  'select id from suppressions where organization_id = $1 and email = $2 for update',
)
const HASH_SUPPRESSION = sql(`update suppressions as s set email = $2, message_id = null, evidence = null
  where id = $1 and not exists (select 1 from suppressions o where o.organization_id = s.organization_id
    and o.email = $2 and o.domain_id = s.domain_id and o.mode = s.mode and o.stream = s.stream
    and (s.stream = '' or (o.reason = 'complaint') = (s.reason = 'complaint')))`)
const REMOVE_SUPPRESSION = sql('delete from suppressions where id = $1')
const USER = sql<{ id: string }>(`select u.id from users u join user_roles r on r.user_id = u.id
  where u.email = $1 and r.organization_id = $2`)
const INVITATION = sql<{ id: string }>('select id from invitations where email = $1 and organization_id = $2')
const ROUTES = sql<{ id: string; name: string; value: string | null; config: string }>(`select id, name,
    match_value as value, config
  from inbound_routes where organization_id = $1 order by id limit ${ROUTES_MAX}`)
const REMOVE_TARGET = sql(
  `delete from forward_targets where organization_id = $1 and address = $2 and status <> 'stopped'`,
)
const TARGET = sql<{ id: null }>('select null as id from forward_targets where organization_id = $1 and address = $2')

const responses: ErasureWork = function* (inside, { organizationId, address, timeIsUp }, after) {
  const names = naming(address)
  const found = yield* rows(RESPONSES, organizationId, Buffer.from(after, 'hex'))
  const step = { after, removed: { responses: 0 } }
  for (const { keyHash, body } of found) {
    if (names(Buffer.from(body).toString()))
      step.removed.responses += yield* forgetAll(inside, [{ organizationId, keyHash }])
    step.after = Buffer.from(keyHash).toString('hex')
    if (timeIsUp()) return step
  }
  return found.length < ERASED_AT_ONCE.responses ? { ...step, after: null } : step
}

const unsubscribables: ErasureWork = function* (_, { organizationId, address }, after) {
  const found = yield* rows(UNSUBSCRIBABLES, after)
  const own = found.filter((each) => each.organizationId === organizationId && suppressionKey(each.email) === address)
  if (own.length > 0) {
    yield* run(
      REMOVE_UNSUBSCRIBABLES,
      own.map(({ id }) => id),
    )
  }
  return { after: found.length < ERASED_AT_ONCE.unsubscribables ? null : (found.at(-1)?.id ?? null) }
}

const suppressions: ErasureWork = function* (inside, { organizationId, address, addressHash }) {
  const found = yield* rows(SUPPRESSIONS, organizationId, address)
  for (const { id } of found) {
    if ((yield* run(HASH_SUPPRESSION, id, addressOfHash(addressHash))) > 0) continue
    // An earlier erasure left one of the same scope.
    yield* run(REMOVE_SUPPRESSION, id)
    inside.use(organizationId, 'suppressions', -1, '')
  }
  return { after: null, removed: { suppressions: found.length } }
}

/** Records that only people decide about. A forward target that no route names is removed, unless its owner stopped the
 *  mail: that must hold for the next route too. */
const places: ErasureWork = function* (_, { organizationId, address }) {
  const names = naming(address)
  const routes = yield* rows(ROUTES, organizationId)
  const named = routes.filter(({ name, value, config }) => names(`${name}\n${value ?? ''}\n${config}`))
  if (named.length === 0 && routes.length < ROUTES_MAX) yield* run(REMOVE_TARGET, organizationId, address)
  const of = (type: RemainingPlace['type'], found: readonly { id: string | null }[]): RemainingPlace[] =>
    found.map(({ id }) => ({ type, id }))
  const remaining = [
    ...of('user', yield* rows(USER, address, organizationId)),
    ...of('invitation', yield* rows(INVITATION, address, organizationId)),
    ...of('forward_target', yield* rows(TARGET, organizationId, address)),
    ...of('inbound_route', named),
  ]
  return { after: null, remaining }
}

/** Erases what does not belong to mail, in order. Suppressions come late: an attempt that ends meanwhile may add one. */
export const ERASE_RECORDS: readonly ErasureWork[] = [responses, unsubscribables, suppressions, places]
