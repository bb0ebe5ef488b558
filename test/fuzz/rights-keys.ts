import { PERMISSIONS, type Permission } from '../../src/model/api-key.ts'
import { PLACES } from '../api/tenancies.ts'
import type { Dice } from './dice.ts'
import { expectAnswer, nameOf } from './rights-answer.ts'
import {
  type Caller,
  isValid,
  type Key,
  mayCall,
  mayGrant,
  mayHandle,
  type Rights,
  type Verdict,
} from './rights-model.ts'
import { type Answer, ask, type World } from './rights-world.ts'

/** Each function has somebody try a change of keys, compares the answer with what the model says, and applies to the model what was
 *  done. It resolves with a line that says what was tried. */

/** Whose rights limit the keys that a caller makes. */
const limitFor = (caller: Caller, old?: Key): Pick<Key, 'limit' | 'noted'> => {
  if (caller.kind === 'session') return { limit: caller.person, noted: null }
  const { limit, noted } = caller.limit === null ? (old ?? caller) : caller
  return { limit, noted }
}

/** Mostly what the caller may grant, or that with one difference. */
function someRights(world: World, by: Caller, dice: Dice): Rights {
  const rights = anyRights(world, dice)
  if (by.kind === 'key' && dice.chance(0.7)) {
    const { domain, mode, permissions, expiresAt, networks } = by
    const own: Rights = { domain, mode, permissions, expiresAt, networks }
    const field = dice.pick(FIELDS)
    return { ...own, [field]: rights[field] }
  }
  for (let tries = 0; tries < 8 && mayCreate(world, by, rights) === 403; tries++) {
    if (dice.chance(0.1)) return rights
    Object.assign(rights, anyRights(world, dice))
  }
  return rights
}

const FIELDS = ['domain', 'mode', 'permissions', 'expiresAt', 'networks'] as const

function anyRights({ server, tenancies }: World, dice: Dice): Rights {
  const permissions = PERMISSIONS.filter(() => dice.chance(0.6))
  return {
    domain: tenancies[dice.pick(PLACES)].domain.id,
    mode: dice.pick(['live', 'live', 'test']),
    permissions: permissions.length === 0 ? ['read'] : permissions,
    expiresAt: dice.chance(0.25) ? server.clock.now() + dice.pick([60_000, 600_000]) : null,
    networks: dice.pick(['any', 'any', 'any', 'here', 'elsewhere']),
  }
}

const NETWORKS = { any: null, here: ['127.0.0.0/8', '::1'], elsewhere: ['192.0.2.0/24'] }
const bodyOf = (rights: Rights) => ({
  name: 'granted',
  domain_id: rights.domain,
  permissions: rights.permissions as Permission[],
  mode: rights.mode,
  expires_at: rights.expiresAt === null ? null : new Date(rights.expiresAt).toISOString(),
  allowed_networks: NETWORKS[rights.networks],
})

function mayCreate({ server, tenancies }: World, caller: Caller, wanted: Rights): Verdict {
  const may = mayCall(caller, 'api_keys_create', server.clock.now())
  if (may !== 'in') return may
  const place = PLACES.find((each) => tenancies[each].domain.id === wanted.domain)!
  return tenancies[place].organizationId === caller.org && mayGrant(caller, wanted) ? 'in' : 403
}

export async function createKey(world: World, by: Caller, dice: Dice): Promise<string> {
  const wanted = someRights(world, by, dice)
  const idempotencyKey = world.mintId('req')
  const what = `${nameOf(by)} makes a key ${JSON.stringify(wanted)}`
  const body = bodyOf(wanted)
  const made = await ask(world, by, 'POST', '/v1/api-keys', { body, headers: { 'idempotency-key': idempotencyKey } })
  if (expectAnswer(what, made, mayCreate(world, by, wanted))) {
    const key = keyOf(made, wanted, by)
    world.keys.push(key)
    world.made.push({ idempotencyKey, body, wanted, by, key })
  }
  return what
}

const keyOf = ({ body }: Answer, rights: Rights, by: Caller, old?: Key): Key => ({
  ...{ kind: 'key', ...rights, id: body.id, value: body.key, org: by.org, endedAt: null, isRotated: false },
  ...limitFor(by, old),
})

/** Nobody gets the key that somebody else made, unless it is the same grant by the same rights. */
export async function replay(world: World, by: Caller, dice: Dice): Promise<string> {
  const call = dice.maybe(world.made)
  if (call === null) return 'nothing to replay'
  const { idempotencyKey, body, wanted, key } = call
  const what = `${nameOf(by)} replays what ${nameOf(call.by)} sent`
  const answer = await ask(world, by, 'POST', '/v1/api-keys', { body, headers: { 'idempotency-key': idempotencyKey } })
  if (answer.status > 299) {
    if (![400, 401, 403, 409].includes(answer.status)) throw new Error(`${what}: ${answer.status} ${answer.text}`)
    return what
  }
  const isReplay = answer.headers.get('idempotent-replayed') === 'true'
  if (isReplay !== (answer.body.key === key.value)) throw new Error(`${what}: a replay of another answer`)
  if (mayCall(by, 'api_keys_create', world.server.clock.now()) !== 'in') throw new Error(`${what}: answered`)
  if (!isReplay) {
    if (mayCreate(world, by, wanted) !== 'in') throw new Error(`${what}: made a key`)
    world.keys.push(keyOf(answer, wanted, by))
  } else if (grantedBy(by) !== grantedBy(call.by)) throw new Error(`${what}: got the key of somebody else`)
  return what
}

/** What decides which keys somebody may make. */
const grantedBy = (caller: Caller) =>
  caller.kind === 'session'
    ? caller.person.id
    : JSON.stringify([
        typeof caller.limit === 'object' ? caller.limit?.id : caller.limit,
        [...caller.permissions].sort(),
        ...[caller.domain, caller.mode, caller.expiresAt, caller.networks],
      ])

export async function rotateKey(world: World, by: Caller, dice: Dice): Promise<string> {
  const old = dice.pick(world.keys)
  const now = world.server.clock.now()
  const minutes = dice.pick([0, 60])
  const what = `${nameOf(by)} rotates ${nameOf(old)}`
  const may = mayHandle(by, 'api_keys_rotate', old, now)
  const wanted = may === 'in' && (old.isRotated || !isValid(old, now)) ? 'conflict' : may
  const answer = await ask(world, by, 'POST', `/v1/api-keys/${old.id}/rotate`, {
    body: { grace_period_minutes: minutes },
  })
  if (!expectAnswer(what, answer, wanted)) return what
  const { domain, mode, permissions, expiresAt, networks } = old
  world.keys.push(keyOf(answer, { domain, mode, permissions, expiresAt, networks }, by, old))
  old.isRotated = true
  old.expiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + minutes * 60_000)
  return what
}

export async function changeNetworks(world: World, by: Caller, dice: Dice): Promise<string> {
  const key = dice.pick(world.keys)
  const networks = dice.pick(['any', 'here', 'elsewhere'] as const)
  const what = `${nameOf(by)} sets the networks of ${nameOf(key)} to ${networks}`
  const may = mayHandle(by, 'api_keys_update', key, world.server.clock.now())
  const wanted = may === 'in' && !mayGrant(by, { ...key, networks }) ? 403 : may
  const body = { allowed_networks: NETWORKS[networks] }
  if (expectAnswer(what, await ask(world, by, 'PATCH', `/v1/api-keys/${key.id}`, { body }), wanted))
    key.networks = networks
  return what
}

export async function revokeKey(world: World, by: Caller, dice: Dice): Promise<string> {
  const key = dice.pick(world.keys)
  const what = `${nameOf(by)} revokes ${nameOf(key)}`
  const now = world.server.clock.now()
  const answer = await ask(world, by, 'DELETE', `/v1/api-keys/${key.id}`)
  if (expectAnswer(what, answer, mayHandle(by, 'api_keys_revoke', key, now))) key.endedAt ??= now
  return what
}
