import { FIRST_USER, type Role } from '../../src/model/user.ts'
import { createMintId, type MintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import { hashToken, mintSessionToken, SESSION_COOKIE } from '../../src/web/api/sessions.ts'
import { MODES, PLACES, type Place, recordMakers, type Tenancy } from '../api/tenancies.ts'
import { newTestDomain } from '../support/api.ts'
import { addKey } from '../support/keys.ts'
import type { TestServer } from '../support/server.ts'
import { type Caller, effects, type Key, type Person, type Rights, type Session } from './rights-model.ts'

/** Two organizations on a server, with a record of every kind for each domain and mode, and whoever may have rights in them.
 *  `own` and `sibling` are domains of the first, `stranger` is one of the second. */
export interface World {
  server: TestServer
  mintId: MintId
  tenancies: Record<Place, Tenancy>
  orgs: [string, string]
  operator: Person
  people: Person[]
  keys: Key[]
  sessions: Session[]
  invitations: { token: string; org: string; role: Role; by: Caller }[]
  /** Calls that made keys, with the Idempotency-Key. */
  made: { idempotencyKey: string; body: object; wanted: Rights; by: Caller; key: Key }[]
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  body: any
}

let worlds = 0

/** Makes new organizations on the server, with a key of each kind and a user of each role. */
export async function openWorld(server: TestServer): Promise<World> {
  const store = server.store()
  const mintId = createMintId(server.clock, systemRandom)
  const [first, second] = [mintId('org'), mintId('org')]
  const number = ++worlds
  for (const id of [first, second]) {
    await store.organizations.create({ id, name: `rights ${id}`, plan: 'enterprise', createdAt: server.clock.now() })
  }
  const tenancies = {} as Record<Place, Tenancy>
  for (const place of PLACES) {
    const organizationId = place === 'stranger' ? second : first
    const domain = await newTestDomain({ id: mintId('dom'), organizationId, name: `${place}${number}.example` })
    await store.domains.create(domain, -1)
    const at = server.clock.now()
    await store.domains.recordCheck(domain.id, { status: 'verified', verifiedAt: at, checkedAt: at, findings: [] })
    tenancies[place] = { place, organizationId, domain, ids: { live: {}, test: {} } }
  }
  const operator = person(FIRST_USER, { isOperator: true })
  const orgs: [string, string] = [first, second]
  const lists = { people: [], keys: [], sessions: [], invitations: [], made: [] }
  const world: World = { server, mintId, tenancies, orgs, operator, ...lists }
  await addRecords(world)
  await openSession(world, operator)
  return world
}

export function person(id: string, change: Partial<Person> = {}): Person {
  const roles = new Map<string, Role>()
  return {
    ...{ id, isOperator: false, roles, isVerified: true, invitedTo: null, isDisabled: false, isRemoved: false },
    ...change,
  }
}

async function addRecords(world: World): Promise<void> {
  const { server, mintId, tenancies } = world
  const store = server.store()
  const keys = {} as Record<Place, Record<'live' | 'test', string>>
  for (const place of PLACES) {
    keys[place] = { live: '', test: '' }
    for (const mode of MODES) keys[place][mode] = (await storedKey(world, place, { mode })).value
  }
  const ask = async (key: string | null, method: string, path: string, body?: unknown) =>
    send(server, method, path, { headers: { authorization: `Bearer ${key}` }, body })
  const makers = recordMakers({ store, mintId, clock: server.clock }, { tenancies, keys, ask })
  for (const place of PLACES) {
    for (const make of Object.values(makers)) for (const mode of MODES) await make(place, mode)
  }
}

async function storedKey({ server, mintId, tenancies }: World, place: Place, change: Partial<Rights> = {}) {
  const { organizationId, domain } = tenancies[place]
  const { mode = 'live', permissions = ['send', 'read', 'manage'] } = change
  const owner = { id: mintId('key'), organizationId, domainId: domain.id, createdAt: server.clock.now() }
  return addKey(server.store(), { ...owner, name: 'of the console', mode, permissions })
}

/** A key as the command line makes it, without a maker. */
export async function consoleKey(
  world: World,
  place: Place,
  change: Pick<Rights, 'mode' | 'permissions'>,
): Promise<Key> {
  const { value, record } = await storedKey(world, place, change)
  const { organizationId: org, domain } = world.tenancies[place]
  const rights: Rights = { ...change, domain: domain.id, expiresAt: null, networks: 'any' }
  const ends = { endedAt: null, isRotated: false, limit: null, noted: null }
  const key: Key = { kind: 'key', id: record.id, value, org, ...rights, ...ends }
  world.keys.push(key)
  return key
}

/** A user with a role and a verified address, as the operator adds one. */
export async function addPerson(world: World, org: string, role: Role): Promise<void> {
  const verified = { emailVerifiedAt: world.server.clock.now(), invitedTo: null }
  await storePerson(world, new Map([[org, role]]), verified)
}

/** A user whom an organization invited, without proof of the address, and to whom an operator gave a role in another. */
export async function addUnverified(world: World, org: string, role: Role): Promise<void> {
  const roles = new Map(world.orgs.map((each) => [each, role]))
  await storePerson(world, roles, { emailVerifiedAt: null, invitedTo: org })
}

async function storePerson(
  { server, mintId, people }: World,
  roles: Map<string, Role>,
  account: { emailVerifiedAt: number | null; invitedTo: string | null },
): Promise<void> {
  const [id, createdAt] = [mintId('usr'), server.clock.now()]
  const user = { id, email: `${id}@people.example`, name: 'P', createdAt, ...account, ...NOTHING }
  await server.store().users.create({ ...user, roles: Object.fromEntries(roles) }, null)
  people.push(person(id, { roles, isVerified: account.emailVerifiedAt !== null, invitedTo: account.invitedTo }))
}

const NOTHING = { isOperator: false, disabledAt: null, lastSeenAt: null, awaiting: { isOperator: false, roles: {} } }

/** Signs the person in; test/api/session.test.ts and others test how people do that. */
export async function openSession(world: World, of: Person): Promise<void> {
  const { server, mintId, orgs } = world
  const token = mintSessionToken(systemRandom)
  const now = server.clock.now()
  const times = { createdAt: now, lastSeenAt: now, endsAt: now + 7 * 86_400_000 }
  const session = { id: mintId('ses'), userId: of.id, ...times, ipAddress: null, userAgent: '' }
  await server.store().sessions.open(session, hashToken(token))
  const org = [...of.roles.keys()].at(-1) ?? orgs[0]
  world.sessions.push({ kind: 'session', cookie: `${SESSION_COOKIE}=${token}`, person: of, isOver: false, org })
}

/** Runs a change of a person. Sessions end if `ends`, or if more is in effect for the person than before. */
export async function change(world: World, of: Person, work: () => unknown, ends = false): Promise<void> {
  const before = effects(of, world.orgs)
  await work()
  const gains = effects(of, world.orgs).some((rank, at) => rank < before[at]!)
  const isOver = ends || gains || of.isDisabled || of.isRemoved
  for (const session of world.sessions) if (session.person === of && isOver) session.isOver = true
}

/** Sends a request as a caller. */
export function ask(
  { server }: World,
  caller: Caller,
  method: string,
  path: string,
  more: Asked = {},
): Promise<Answer> {
  const own: Record<string, string> =
    caller.kind === 'key'
      ? { authorization: `Bearer ${caller.value}` }
      : { cookie: caller.cookie, 'x-organization': caller.org }
  return send(server, method, path, { ...more, headers: { ...own, ...more.headers } })
}

interface Asked {
  headers?: Record<string, string>
  body?: unknown
}

export async function send(
  server: TestServer,
  method: string,
  path: string,
  { headers = {}, body }: Asked,
): Promise<Answer> {
  const all = { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const text = body === undefined ? null : JSON.stringify(body)
  const response = await fetch(`http://${server.running().listening.http}${path}`, { method, headers: all, body: text })
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel()
    return { status: response.status, headers: response.headers, text: '', body: null }
  }
  const said = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, text: said, body: isJson ? JSON.parse(said) : null }
}
