import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ROLES, type Role } from '../../src/model/user.ts'
import { includes } from '../../src/web/api/access.ts'
import { hashToken, mintSessionToken, SESSION_COOKIE } from '../../src/web/api/sessions.ts'
import { accessOf } from '../support/access.ts'
import { type Documented, readDocument } from '../support/documented.ts'
import { VERIFIED } from '../support/verified.ts'
import { canaryOf, openTenancies, type Tenancies } from './tenancies.ts'

/** Calls every operation of the OpenAPI document with a dashboard session of every role. */

let setup: Tenancies
let operations: Documented[]
/** Role → cookie of a user who has it in the organization of `own`, and none elsewhere. */
const cookies = {} as Record<Role, string>

beforeAll(async () => {
  setup = await openTenancies()
  operations = readDocument(await (await fetch(`${setup.origin}/openapi.json`)).json()).operations
  for (const role of ROLES) cookies[role] = await signIn(role)
})
afterAll(() => setup.close())

async function signIn(role: Role): Promise<string> {
  const { store, clock, mintId, random } = setup
  const [id, now] = [mintId('usr'), clock.now()]
  const user = { id, email: `${role}@a.example`, name: role, isOperator: false, createdAt: now }
  const roles = { [setup.organizationId]: role }
  await store.users.create({ ...user, roles, disabledAt: null, lastSeenAt: null, ...VERIFIED }, null)
  const token = mintSessionToken(random)
  const session = { id: mintId('ses'), userId: id, createdAt: now, lastSeenAt: now, endsAt: now + 86_400_000 }
  await store.sessions.open({ ...session, ipAddress: null, userAgent: '' }, hashToken(token))
  return `${SESSION_COOKIE}=${token}`
}

interface Asked {
  role: Role
  documented: Documented
  organizationId: string
  /** Path parameters. */
  ids: Record<string, string>
}

async function ask({ role, documented, organizationId, ids }: Asked): Promise<{ status: number; text: string }> {
  const { id, method, path, operation } = documented
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none')
  const headers = new Headers({ cookie: cookies[role], 'x-organization': organizationId })
  if (organizationId === setup.organizationId) headers.set('x-domain', setup.tenancies.own.domain.id)
  const body = operation.requestBody && (bodyOf[id] ?? operation.requestBody.content['application/json'].example ?? {})
  if (body !== undefined) headers.set('content-type', 'application/json')
  const query = id === 'explain_address' ? '?to=ann@customer.example' : ''
  const abort = new AbortController()
  const request = new Request(`http://localhost${filled}${query}`, {
    method,
    headers,
    signal: abort.signal,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const response = await setup.api.fetch(request)
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    abort.abort()
    await response.body?.cancel()
    return { status: response.status, text: '' }
  }
  return { status: response.status, text: await response.text() }
}

/** Bodies that change nothing that later calls need. */
const MAIL = { from: 'a@own.example', to: 'ann@customer.example', subject: 'x', text: 'x' }
const bodyOf: Record<string, unknown> = {
  billing_update: { plan: 'nothing' },
  messages_send: MAIL,
  messages_send_alias: MAIL,
  messages_analyze: MAIL,
}

async function replace(documented: Documented): Promise<void> {
  const kind = /\{(\w+)\}/.exec(documented.path)?.[1]
  if (kind === undefined || documented.method === 'GET') return
  await setup.addRecord[kind === 'delivery_id' ? 'webhook_id' : kind]?.('own', 'live')
  if (kind === 'message_id') await setup.addRecord.event_id?.('own', 'live')
}

const idOf = ({ id }: Documented) => id.replace(/_alias$/, '')
const SECRET = /svc_(?:live|test)_[0-9A-Za-z]{20,}|whsec_[A-Za-z0-9+/=]{20,}/

test('every operation accepts the roles of the table and no other, and shows no secret below developer', async () => {
  const wrong: string[] = []
  for (const documented of operations) {
    for (const role of [...ROLES].reverse()) {
      const ids = { ...setup.tenancies.own.ids.live, number: '1', organization_id: setup.organizationId }
      const { status, text } = await ask({ role, documented, organizationId: setup.organizationId, ids })
      const isAllowed = includes(role, accessOf(idOf(documented))!.role)
      const who = `${documented.id} as ${role}: ${status} ${text.slice(0, 150)}`
      if (isAllowed ? [401, 403, 405].includes(status) : status !== 403) wrong.push(who)
      if (['support', 'viewer'].includes(role) && SECRET.test(text)) wrong.push(`${who} shows a secret`)
      if (text.includes(canaryOf('stranger', 'live'))) wrong.push(`${who} shows another organization`)
      if (status < 300) await replace(documented)
    }
  }
  expect(wrong).toEqual([])
})

// threat: role-beyond-organization
test('no role reaches another organization, by header or by ID', async () => {
  const wrong: string[] = []
  const before = await setup.snapshot('stranger', 'live')
  const { organizationId: strangers, ids } = setup.tenancies.stranger
  for (const documented of operations) {
    for (const role of ROLES) {
      const theirs = { ...ids.live, number: '1', organization_id: strangers }
      const there = await ask({ role, documented, organizationId: strangers, ids: theirs })
      if (there.status !== 403) wrong.push(`${documented.id} as ${role} there: ${there.status}`)
      const none = await ask({ role, documented, organizationId: 'org_none', ids: theirs })
      if (none.status !== 403) wrong.push(`${documented.id} as ${role} nowhere: ${none.status}`)
      if (!documented.path.includes('{')) continue
      const here = await ask({ role, documented, organizationId: setup.organizationId, ids: theirs })
      if (![403, 404].includes(here.status)) wrong.push(`${documented.id} as ${role} by ID: ${here.status}`)
      for (const { text } of [there, none, here]) {
        if (text.includes(canaryOf('stranger', 'live'))) wrong.push(`${documented.id} as ${role} shows the stranger`)
      }
    }
  }
  expect(wrong).toEqual([])
  expect(await setup.snapshot('stranger', 'live')).toBe(before)
})
