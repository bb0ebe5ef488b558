/** Random sequences of grants by anybody: keys, roles, invitations, removals. Between them, everybody tries operations
 *  on records of every domain, organization and mode. All answers are those of the permission table. */
import { afterAll, beforeAll, test } from 'bun:test'
import fc from 'fast-check'
import { type Documented, readDocument } from '../support/documented.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { createDice, type Dice } from './dice.ts'
import { GRANTS } from './rights-grants.ts'
import { createKey } from './rights-keys.ts'
import { type Caller, mayCall } from './rights-model.ts'
import { tryEndpoint, tryOperation, tryTools } from './rights-probes.ts'
import { addPerson, addUnverified, consoleKey, openSession, openWorld, type World } from './rights-world.ts'
import { runs } from './runs.ts'

/** Grants between two rounds of probes, and probes of each credential in a round. */
const GRANTS_EACH = 5
const PROBES = 3
const MOST_PEOPLE = 9

let remote: RemoteMx
let operations: Documented[]
beforeAll(async () => {
  remote = await startRemoteMx()
})
afterAll(() => remote.stop())

async function startServer(database = ''): Promise<TestServer> {
  const config = { database: { url: database }, plans: { enterprise: { requests_per_minute: -1 } } }
  const server = await startTestServer({ remote, config })
  const document = await fetch(`http://${server.running().listening.http}/openapi.json`)
  operations = readDocument(await document.json()).operations.filter(({ id }) => !SLOW.includes(id))
  return server
}

/** These ask DNS, or the whole server. */
const SLOW = ['domains_dns_host', 'health_checks_run', 'explain_address', 'messages_explain']

/** Makes the changes that the numbers stand for, and tries after each what everybody may do. */
async function play(server: TestServer, numbers: readonly number[]): Promise<void> {
  const world = await openWorld(server)
  const [first, second] = world.orgs
  await consoleKey(world, 'own', { mode: 'live', permissions: ['admin'] })
  await consoleKey(world, 'own', { mode: 'live', permissions: ['manage'] })
  await consoleKey(world, 'sibling', { mode: 'test', permissions: ['manage', 'send'] })
  await consoleKey(world, 'stranger', { mode: 'live', permissions: ['admin'] })
  for (const role of ['owner', 'admin', 'developer', 'developer', 'support'] as const)
    await addPerson(world, first, role)
  for (const role of ['owner', 'developer'] as const) await addPerson(world, second, role)
  await addUnverified(world, first, 'developer')
  const trace: string[] = []
  const start = createDice(numbers[0] ?? 0)
  await signIn(world)
  for (const by of [...world.sessions]) trace.push(await createKey(world, by, start))
  for (const by of [...world.keys]) trace.push(await createKey(world, by, start))
  for (const [at, number] of numbers.entries()) {
    const dice = createDice(number)
    try {
      trace.push(await step(world, dice))
      await server.clock.advance(1_100) // for the makers of keys, which are known for a second
      if (at % GRANTS_EACH === GRANTS_EACH - 1) await probe(world, dice)
    } catch (error) {
      throw new Error(`${(error as Error).message}\nafter:\n${trace.join('\n')}`, { cause: error })
    }
  }
}

async function signIn(world: World): Promise<void> {
  for (const person of world.people.slice(-MOST_PEOPLE)) {
    const isSignedIn = world.sessions.some((session) => session.person === person && !session.isOver)
    if (!isSignedIn && !person.isDisabled && !person.isRemoved) await openSession(world, person)
  }
}

async function step(world: World, dice: Dice): Promise<string> {
  await signIn(world)
  for (const session of world.sessions) session.org = dice.pick(world.orgs)
  const total = GRANTS.reduce((sum, [weight]) => sum + weight, 0)
  let at = dice.roll() * total
  const [, operation, grant] = GRANTS.find(([weight]) => {
    at -= weight
    return at < 0
  })!
  return grant(world, someCaller(world, operation, dice), dice)
}

/** Mostly somebody who may call the operation at all. */
function someCaller(world: World, operation: string | null, dice: Dice): Caller {
  const callers: Caller[] = dice.chance(0.5) ? world.sessions : world.keys
  const now = world.server.clock.now()
  const capable = callers.filter((each) => operation === null || mayCall(each, operation, now) === 'in')
  return (dice.chance(0.75) ? dice.maybe(capable) : null) ?? dice.pick(callers)
}

async function probe(world: World, dice: Dice): Promise<void> {
  for (const caller of [...world.sessions, ...world.keys]) {
    for (let at = 0; at < PROBES; at++) await tryOperation(world, caller, operations, dice)
  }
  await tryEndpoint(world, dice.pick(world.keys), dice)
  await tryTools(world, dice.pick(world.keys), operations, dice)
  // Ended sessions stay ended.
  world.sessions = world.sessions.filter(({ isOver }) => !isOver)
}

/** A failure names every step, which shortening the list would repeat for minutes. */
const settings = (property: string, short: number, fixed: number) => ({
  ...runs<[number[]]>({ target: 'rights', property }, short, fixed),
  endOnFailure: true,
})
const numbers = (length: number) =>
  fc.array(fc.nat(2 ** 32 - 1), { minLength: length / 2, maxLength: length, size: 'max' })

// threat: rights-by-detour
test('no sequence of grants lets anybody do what the table denies, nor denies what it allows', async () => {
  const server = await startServer()
  try {
    const run = fc.asyncProperty(numbers(90), (list) => play(server, list))
    await fc.assert(run, settings('grants', 5, 97))
  } finally {
    await server.close()
  }
})

describeWithPostgres('on PostgreSQL', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  // threat: rights-by-detour
  test('no sequence of grants lets anybody do what the table denies', async () => {
    const server = await startServer(await postgres.createDatabase('rights'))
    try {
      const run = fc.asyncProperty(numbers(40), (list) => play(server, list))
      await fc.assert(run, settings('grants-postgresql', 1, 101))
    } finally {
      await server.close()
    }
  })
})
