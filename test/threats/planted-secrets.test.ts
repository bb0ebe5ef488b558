import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackContent } from '../../src/mail/content.ts'
import { INSTALLATION } from '../../src/model/organization.ts'
import { ROLES } from '../../src/model/user.ts'
import { createMintId } from '../../src/os/ids.ts'
import { createLog } from '../../src/os/log.ts'
import { systemRandom } from '../../src/os/random.ts'
import { SECRET_KINDS, type SecretKindId } from '../../src/web/api/secret-kinds.ts'
import { postrider } from '../cli/command.ts'
import { ALL_MESSAGES } from '../storage/records.ts'
import { signIn } from '../support/api.ts'
import { type OpenStream, openEventStream, textOf } from '../support/event-stream.ts'
import { addKey } from '../support/keys.ts'
import { startOidcProvider, type TestProvider } from '../support/oidc-provider.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, startTestServer, type TestServer } from '../support/server.ts'
import { addUser, MAIL_FROM } from '../support/user-mail.ts'
import { foundInFiles } from './files.ts'
import { CLIENT_SECRET, type Plants, plant } from './plants.ts'

/** Plants a secret of each kind on a real server, reads everything that others can read, and looks for the secrets in it. */

const PUBLIC = 'http://localhost:8025'
let provider: TestProvider
let remote: RemoteMx
let server: TestServer
let folder: string
let plants: Plants
const lines: string[] = []
const streams: OpenStream[] = []

/** Somebody else than the owners of the secrets. */
interface Reader {
  name: string
  headers: Record<string, string>
  isOfOrganization: boolean
}
let readers: Reader[]

beforeAll(async () => {
  provider = await startOidcProvider([`${PUBLIC}/session/oidc/callback`])
  remote = await startRemoteMx()
  folder = mkdtempSync(join(tmpdir(), 'postrider-planted-'))
  writeFileSync(join(folder, 'ca.pem'), provider.ca)
  const clock = { now: () => 0, sleep: async () => {} }
  const plan = { messages_per_month: -1, requests_per_minute: -1 }
  server = await startTestServer({
    remote,
    log: createLog({ clock, level: 'debug', format: 'json', write: (line) => void lines.push(line) }),
    config: {
      http: { public_url: PUBLIC },
      smtp: { inbound: { listen: '127.0.0.1:0' } },
      users: { mail_from: MAIL_FROM },
      canary: { every_minutes: 60 } as never,
      oidc: {
        issuer: provider.issuer,
        client_id: provider.clientId,
        client_secret: CLIENT_SECRET,
        ca_file: join(folder, 'ca.pem'),
      },
      plans: { open: plan },
    },
  })
  await server.store().organizations.setPlan(server.organizationId, 'open')
  readers = await addReaders()
  for (const { headers } of readers) streams.push(await openEventStream(`${origin()}/v1/events/stream`, null, headers))
  plants = await plant(server, remote)
})
afterAll(async () => {
  for (const stream of streams) stream.leave()
  await server.close()
  rmSync(folder, { recursive: true })
  await provider.stop()
  await remote.stop()
})

const origin = () => `http://${server.running().listening.http}`

/** Users of each role, keys of each kind, another organization, and another operator. */
async function addReaders(): Promise<Reader[]> {
  const store = server.store()
  const { clock, organizationId } = server
  const mintId = createMintId(clock, systemRandom)
  const other = { id: mintId('org'), name: 'Other', plan: 'open', createdAt: clock.now() }
  await store.organizations.create(other)
  const own = (await server.read('/v1/domains')).data[0].id
  const found: Reader[] = [{ name: 'a stranger', headers: {}, isOfOrganization: false }]
  const addSession = async (name: string, id: string, of: string, isOfOrganization: boolean) => {
    const session = await signIn(store, clock.now(), systemRandom, mintId, id)
    found.push({ name, headers: { ...session, 'x-operator': '1', 'x-organization': of }, isOfOrganization })
  }
  for (const role of ROLES) {
    const id = await addUser(server, `${role}@people.remote.example`, { roles: { [organizationId]: role } })
    await addSession(`another ${role}`, id, organizationId, true)
  }
  const stranger = await addUser(server, 'owner@other.remote.example', { roles: { [other.id]: 'owner' } })
  await addSession('an owner of another organization', stranger, other.id, false)
  const second = await addUser(server, 'second@operator.remote.example', { isOperator: true })
  for (const of of [organizationId, other.id]) await addSession('another operator', second, of, of === organizationId)
  for (const of of [organizationId, other.id]) {
    for (const mode of ['live', 'test'] as const) {
      for (const permission of ['send', 'read', 'manage', 'admin'] as const) {
        const key = { id: mintId('key'), organizationId: of, domainId: of === organizationId ? own : mintId('dom') }
        const { value } = await addKey(store, { ...key, mode, permissions: [permission], createdAt: clock.now() })
        const name = `a ${mode} key with ${permission}`
        found.push({ name, headers: { authorization: `Bearer ${value}` }, isOfOrganization: of === organizationId })
      }
    }
  }
  return found
}

/** Kinds that the organization which sends or receives the mail sees, as the table says. */
const OF_THE_ORGANIZATION: SecretKindId[] = ['recipient_link', 'return_path', 'download_link']
/** Kinds that posts to the endpoint have. */
const OF_THE_ENDPOINT: SecretKindId[] = ['webhook_headers', 'route_headers']
/** Kinds of which mail that is stored or the record of its delivery has a copy. */
const OF_STORED_MAIL: SecretKindId[] = ['return_path', 'canary_word']

/** Secret → how our code could write it: as it is, in a URL, in base64, in hexadecimal, and in two lines. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const inBase64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    return text.slice(before === 0 ? 0 : 4, -4)
  })
  const halves = secret.length < 40 ? [] : [secret.slice(0, 20), secret.slice(-20)]
  return [secret, encodeURIComponent(secret), ...inBase64, bytes.toString('hex'), ...halves]
}

/** Texts → the kinds of secrets in them. */
function foundIn(texts: readonly string[], except: readonly SecretKindId[] = []): string[] {
  return Object.entries(plants).flatMap(([kind, secrets]) => {
    if (except.includes(kind as SecretKindId)) return []
    const forms = secrets.flatMap(formsOf)
    const at = texts.find((text) => forms.some((form) => text.includes(form)))
    return at === undefined ? [] : [`${kind} in ${at.slice(0, 200)}`]
  })
}

test('every kind of the table is planted, and is found where it is', () => {
  expect(Object.keys(plants).toSorted()).toEqual(Object.keys(SECRET_KINDS).toSorted())
  for (const [kind, secrets] of Object.entries(plants)) {
    expect([kind, secrets.length > 0 && secrets.every((secret) => secret?.length >= 14)]).toEqual([kind, true])
    const [secret] = secrets
    for (const text of [secret!, encodeURIComponent(secret!), Buffer.from(`x${secret}y`).toString('base64')])
      expect(foundIn([`<${text}>`]).join()).toContain(kind)
  }
})

// threat: secrets-exposed
test('nobody else reads a secret by the API, of whatever role and with whatever key', async () => {
  const document: Json = await (await fetch(`${origin()}/openapi.json`)).json()
  const paths = Object.entries<Json>(document.paths)
    .filter(([path, { get }]) => get !== undefined && !path.includes('stream'))
    .map(([path, { get }]) => ({
      path,
      example: String(get.parameters.find((each: Json) => each.in === 'path')?.example),
    }))
  const faults: string[] = []
  let read = 0
  for (const reader of readers) {
    const texts = await readAll(reader, paths)
    read += texts.length
    const except = reader.isOfOrganization ? OF_THE_ORGANIZATION : []
    faults.push(...foundIn(texts, except).map((fault) => `${reader.name}: ${fault}`))
  }
  expect(faults).toEqual([])
  expect(read).toBeGreaterThan(500)
})

/** All that a reader gets by GET: lists, then each record of which a list has the ID, searches, and the tools of agents. */
async function readAll({ name, headers }: Reader, paths: { path: string; example: string }[]): Promise<string[]> {
  const texts: string[] = []
  const read = async (path: string, init: RequestInit = {}) => {
    const all = { ...headers, ...init.headers }
    const answer = await fetch(`${origin()}${path}`, { ...init, headers: all, redirect: 'manual' })
    if (answer.status === 429) throw new Error(`${name}: ${path} has a limit`)
    texts.push(`GET ${path}: ${[...answer.headers].join('\n')}\n${await textOf(answer)}`)
  }
  for (const { path } of paths) if (!path.includes('{')) await read(path)
  for (const path of OTHER_PATHS) await read(path)
  const type = 'application/json'
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  await read('/mcp', { method: 'POST', body, headers: { 'content-type': type, accept: `${type}, text/event-stream` } })
  const ids = new Set(texts.flatMap((text) => text.match(/\b[a-z]{3}_[0-9a-z]{26}\b/g) ?? []))
  for (const { path, example } of paths.filter((each) => each.path.includes('{'))) {
    const alike = [...ids].filter((id) => id.startsWith(example.slice(0, 4))).slice(0, 30)
    for (const id of alike) {
      const record = path.replace(/\{\w+\}/, id).replace(/\{\w+\}/g, '1')
      await read(record)
      if (record.endsWith('/content')) await read(`${record}?part=raw`)
    }
  }
  return texts
}

/** Pages outside the document. */
const OTHER_PATHS = [
  ...['/metrics', '/health', '/session', '/session/all', '/session/options'],
  ...['invitation', 'reset', 'confirm'].map((word) => `/v1/messages?q=${word}`),
  ...['emails', 'emails/receiving', 'domains', 'api-keys', 'webhooks', 'suppressions'].map(
    (path) => `/compat/resend/${path}`,
  ),
]

// threat: secrets-exposed
test('no stream, webhook, route or log has a secret', async () => {
  const posts = server.receiver.requests.map((request) => JSON.stringify(request))
  expect([posts.length > 0, lines.length > 20, streams.some((stream) => stream.events.length > 0)]).toEqual([
    true,
    true,
    true,
  ])
  expect(foundIn(posts, [...OF_THE_ORGANIZATION, ...OF_THE_ENDPOINT])).toEqual([])
  for (const [at, stream] of streams.entries())
    expect(foundIn([stream.text()], readers[at]!.isOfOrganization ? OF_THE_ORGANIZATION : [])).toEqual([])
  expect(foundIn(lines, OF_THE_ORGANIZATION)).toEqual([])
})

// threat: secrets-exposed
test('no list of the command line, stored mail or backup without its key has a secret', async () => {
  const config = join(folder, 'config.toml')
  writeFileSync(config, `hostname = "mail.${DOMAIN}"\ndata_dir = "${server.dataDir}"\n[http]\nlisten = "127.0.0.1:0"\n`)
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await postrider(...args, '--config', config)
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const printed: string[] = []
  for (const command of ['key list', 'user list', 'webhook list', 'route list', 'message list', 'domain list', 'audit'])
    printed.push(
      await run(...command.split(' '), ...(NEEDS_ORGANIZATION.has(command) ? ['--org', 'Shop'] : []), '--json'),
    )
  printed.push(await run('config', 'print', '--effective'))
  expect(printed.every((text) => text.length > 2)).toBe(true)
  expect(foundIn(printed, OF_THE_ORGANIZATION)).toEqual([])

  const stored: string[] = []
  for (const organizationId of [INSTALLATION, server.organizationId]) {
    const filter = { ...ALL_MESSAGES, organizationId }
    for (const message of (await server.store().messages.list(filter, { limit: 100, after: null })).records) {
      const content = await server.store().messages.content(message.id)
      stored.push(JSON.stringify([message, content && unpackContent(content)]))
    }
  }
  expect(stored.length).toBeGreaterThan(5)
  expect(foundIn(stored, OF_STORED_MAIL)).toEqual([])

  const archive = join(folder, 'backup.tar.zst')
  await run('backup', archive, '--without-key')
  const copy = join(folder, 'copy')
  Bun.spawnSync(['mkdir', copy])
  expect(Bun.spawnSync(['tar', '--zstd', '-xf', archive, '-C', copy]).exitCode).toBe(0)
  const kept = Object.entries(plants).filter(([kind]) => !OF_STORED_MAIL.includes(kind as SecretKindId))
  const forms = kept.flatMap(([, secrets]) => secrets.flatMap(formsOf))
  expect(foundInFiles(copy, forms)).toEqual([])
})

const NEEDS_ORGANIZATION = new Set(['route list', 'message list'])
