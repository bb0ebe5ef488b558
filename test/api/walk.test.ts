import { afterAll, beforeAll, expect, test } from 'bun:test'
import { PERMISSIONS, type Permission } from '../../src/model/api-key.ts'
import type { Mode } from '../../src/model/message.ts'
import type { RefusalReason } from '../../src/model/refusal.ts'
import type { AccessRule } from '../../src/web/api/access.ts'
import { STATUS_OF } from '../../src/web/api/errors.ts'
import { resend } from '../../src/web/compat/resend/resend.ts'
import { accessOf, type DocumentedTool, OPERATION_IDS, TOOLS } from '../support/access.ts'
import { type Documented, readDocument } from '../support/documented.ts'
import { canaryOf, MODES, openTenancies, PLACES, type Place, type Tenancies } from './tenancies.ts'

/** Calls every operation of the OpenAPI document and of the Resend API with every kind of key, for live and test
 *  records of every kind. The status must match the permission table. A response must not contain records outside the
 *  key's scope, and the call must not change them in the store. */

let setup: Tenancies
let operations: Documented[]

beforeAll(async () => {
  setup = await openTenancies()
  walkers = await mintWalkers()
  operations = readDocument(await (await fetch(`${setup.origin}/openapi.json`)).json()).operations
})
afterAll(() => setup.close())

interface Walker {
  place: Place
  mode: Mode
  permission: Permission
  key: string
}

let walkers: Walker[]

async function mintWalkers(): Promise<Walker[]> {
  const all: Walker[] = []
  for (const place of PLACES) {
    for (const mode of MODES) {
      for (const permission of PERMISSIONS) {
        all.push({ place, mode, permission, key: await setup.mintKey(place, mode, [permission]) })
      }
    }
  }
  return all
}

/** True if a key may see the records of a place and mode. Templates belong to no domain; they contain the marker text
 *  of the domain for which they were created. */
function sees({ place, mode, permission }: Walker, there: Place, of: Mode, rule: AccessRule): boolean {
  if (mode === 'test' && of === 'live') return false
  if (there === place) return true
  if (there === 'stranger' || place === 'stranger') return false
  return permission === 'admin' || rule.reach === 'organization'
}

/** Marker texts that a response must not contain, apart from those in the request. */
function foreignIn(text: string, walker: Walker, rule: AccessRule, asked: string): string[] {
  return PLACES.flatMap((place) =>
    MODES.flatMap((mode) => {
      if (sees(walker, place, mode, rule)) return []
      const ids = Object.entries(setup.tenancies[place].ids[mode])
      // Domains have no mode, streams return event IDs as positions, and the audit log contains IDs of the key's own
      // requests.
      const mayAppear = (name: string) =>
        name === 'domain_id' || name === 'event_id' || asked.startsWith('/v1/audit-log')
      const secret = ids.filter(([name]) => !mayAppear(name)).map(([, id]) => id)
      return [canaryOf(place, mode), ...secret].filter((each) => text.includes(each) && !asked.includes(each))
    }),
  )
}

/** Places and modes whose records the key must not change. */
function untouchable(walker: Walker): [Place, Mode][] {
  return PLACES.flatMap((place) =>
    MODES.filter((mode) => {
      if (walker.mode === 'test' && mode === 'live') return true
      const isStranger = (place === 'stranger') !== (walker.place === 'stranger')
      return isStranger
    }).map((mode): [Place, Mode] => [place, mode]),
  )
}

/** Watches the records that keys must not change. Consecutive calls of keys which must not change the same records are
 *  checked together, because a snapshot takes longer than a call. */
function startWatch(wrong: string[]) {
  /** Of what the keys of `calls` must not change, before the first of them. */
  const snapshots = new Map<string, { of: [Place, Mode]; text: string }>()
  let calls: string[] = []

  const check = async () => {
    for (const [name, { of, text }] of calls.length === 0 ? [] : snapshots) {
      const now = await setup.snapshot(...of)
      if (now !== text) wrong.push(`one of these changed something of ${name}: ${calls.join(', ')}`)
      snapshots.set(name, { of, text: now })
    }
    calls = []
  }
  return {
    /** Before a call of a key. */
    begin: async (walker: Walker, call: string) => {
      const guarded = new Map(untouchable(walker).map((of) => [of.join(' '), of]))
      if (new Set(snapshots.keys()).symmetricDifference(guarded).size > 0) await check()
      for (const name of snapshots.keys()) if (!guarded.has(name)) snapshots.delete(name)
      for (const [name, of] of guarded) {
        if (!snapshots.has(name)) snapshots.set(name, { of, text: await setup.snapshot(...of) })
      }
      calls.push(call)
    },
    check,
    /** Creates the record of the domain `own` again, because a call may have changed or deleted it. */
    replace: async (target: string | null, mode: Mode) => {
      if (target === null) return
      await check()
      for (const [name, { of }] of snapshots) if (of[0] !== 'stranger') snapshots.delete(name)
      const kind = target === 'delivery_id' ? 'webhook_id' : target
      await setup.addRecord[kind]?.('own', mode)
      if (target === 'message_id') await setup.addRecord.event_id!('own', mode)
    },
  }
}

/** Path parameters of records that exist only for live mail. */
const LIVE_ONLY = new Set(['route_id', 'inbound_message_id'])
const nameIn = (path: string) => [.../[{:](\w+)\}?/.exec(path)!][1]!
/** First path parameter, which decides the access; null if there is none. */
const targetIn = (path: string) => (path.includes('{') || path.includes(':') ? nameIn(path) : null)

/** Operation, key, and a record of the domain `own` in a mode → the expected status according to the access rule.
 *  `in`: the key is accepted. `no`: any 4xx. */
function expected(id: string, walker: Walker, target: string | null, of: Mode): number | 'in' | 'no' {
  const rule = accessOf(id)!
  if (rule.role === 'operator') return 403
  if (!['any', walker.permission].includes(rule.permission) && walker.permission !== 'admin') return 403
  if (rule.testKey === 'refused' && walker.mode === 'test') return 403
  if (target === null) return 'in'
  if (walker.place === 'stranger') return 403
  if (target === 'domain_id') {
    return walker.place === 'own' || walker.permission === 'admin' || rule.reach === 'organization' ? 'in' : 403
  }
  if (walker.mode === 'test' && (of === 'live' || LIVE_ONLY.has(target))) return 404
  if (walker.place === 'own') return 'in'
  // A key sends from its own domain only.
  if (walker.permission === 'admin') return id === 'messages_resend' ? 'no' : 'in'
  return target === 'template_id' ? 'in' : 403
}

const isIn = (status: number) => ![401, 403, 404].includes(status)
function isRight(status: number, wanted: number | 'in' | 'no'): boolean {
  if (wanted === 'in') return isIn(status)
  return wanted === 'no' ? status >= 400 && status < 500 : status === wanted
}

/** Body for a call: the documented example, unless it is for another domain or would change the calling key. */
function bodyOf(documented: Documented, walker: Walker): unknown {
  const { domain } = setup.tenancies[walker.place]
  const mail = { from: `a@${domain.name}`, to: 'ann@customer.example', subject: 'x', text: 'x' }
  const own: Record<string, unknown> = {
    messages_send: mail,
    messages_send_alias: mail,
    messages_analyze: mail,
    messages_batch: { messages: [mail] },
    api_keys_create: {
      name: 'k',
      domain_id: domain.id,
      permissions: [walker.permission === 'admin' ? 'admin' : 'send'],
      mode: walker.mode,
    },
    api_keys_update: { name: 'renamed' },
    suppressions_create: { email: `${crypto.randomUUID()}@customer.example`, domain_id: domain.id },
    suppressions_import: { suppressions: [{ email: `${crypto.randomUUID()}@customer.example` }] },
    inbound_routes_create: {
      name: 'r',
      match: { type: 'address', value: `${crypto.randomUUID()}@${domain.name}` },
      action: { type: 'store' },
    },
    domains_create: { name: `d${crypto.randomUUID()}.example` },
    domains_update: { tracking: { opens: true } },
    inbound_routes_test: { to: `x@${domain.name}` },
    templates_create: { name: 't', text: 'x' },
    templates_update: { name: 't' },
    billing_update: { plan: 'nothing' },
    users_update: { role: 'developer' },
  }
  const { requestBody } = documented.operation
  return own[documented.id] ?? (requestBody && (requestBody.content['application/json'].example ?? {}))
}

const QUERIES: Record<string, string> = { explain_address: '?to=ann@customer.example', events_stream: '?after=' }

test('the document has every operation, with its permission', () => {
  const ids = new Set(operations.map(({ id }) => id.replace(/_alias$/, '')))
  expect([...ids].toSorted()).toEqual(OPERATION_IDS.toSorted())
  for (const { id, operation } of operations) {
    const { permission, role } = accessOf(id.replace(/_alias$/, ''))!
    expect([id, operation['x-permission']]).toEqual([id, role === 'operator' ? 'operator' : permission])
  }
})

/** Operation of the Resend API → path parameter of the record in its path; null if it has none. */
function kindOf(operation: string): string | null {
  if (operation.startsWith('messages_')) return 'message_id'
  if (operation.startsWith('domains_')) return 'domain_id'
  if (operation.startsWith('inbound_messages_')) return 'inbound_message_id'
  if (operation.startsWith('api_keys_')) return 'key_id'
  if (operation.startsWith('webhooks_')) return 'webhook_id'
  return operation.startsWith('suppressions_') ? 'id_or_email' : null
}

function resendBodyOf(id: string, walker: Walker): unknown {
  const { domain } = setup.tenancies[walker.place]
  const email = { from: `a@${domain.name}`, to: 'ann@customer.example', subject: 'x', text: 'x' }
  const bodies: Record<string, unknown> = {
    emails_send: email,
    emails_batch: [email],
    emails_update: { scheduled_at: '2026-11-26T12:00:00Z' },
    api_keys_create: { name: 'k', permission: 'sending_access' },
    domains_create: { name: `d${crypto.randomUUID()}.example` },
    domains_update: { open_tracking: true },
    webhooks_create: { endpoint: 'https://hooks.example.com/r', events: ['email.delivered'] },
    webhooks_update: { status: 'enabled' },
    suppressions_add: { email: `${crypto.randomUUID()}@customer.example` },
    suppressions_batch_add: { emails: [`${crypto.randomUUID()}@customer.example`] },
    suppressions_batch_remove: { emails: ['nobody@customer.example'] },
    api_keys_update: { name: 'renamed' },
  }
  return bodies[id]
}

// threat: compatible-api-permissions
test('every endpoint of the Resend API limits every kind of key to the records that it reaches', async () => {
  const wrong: string[] = []
  const watch = startWatch(wrong)
  for (const { id, method, path, operation } of resend.endpoints) {
    const rule = accessOf(operation)!
    const target = path.includes(':') ? kindOf(operation) : null
    for (const walker of walkers) {
      for (const of of target === null ? (['live'] as const) : MODES) {
        const { own } = setup.tenancies
        const named = target === null ? '' : ({ ...own.ids.live, ...own.ids[of] }[target] ?? 'none')
        const asked = `${resend.root}${path.replace(/:\w+/, named).replace(/:\w+/, '1')}`
        const who = `${id} of ${of} with ${walker.permission} ${walker.mode} of ${walker.place}`
        if (method !== 'GET') await watch.begin(walker, who)
        const { status, text } = await setup.ask(walker.key, method, asked, resendBodyOf(id, walker))
        const wanted = expected(operation, walker, target, of)
        const isFine = wanted === 'in' ? isIn(status) : status >= 401 && status < 405
        if (!isFine) wrong.push(`${who}: ${status}, not ${wanted}: ${text.slice(0, 200)}`)
        const foreign = foreignIn(text, walker, rule, asked)
        if (foreign.length > 0) wrong.push(`${who} shows ${foreign.join(', ')}`)
        if (status < 300 && method !== 'GET') await watch.replace(target, of)
      }
    }
  }
  await watch.check()
  expect(wrong).toEqual([])
})

/** Arguments of a tool about the record of the domain `own` in a mode. */
function argumentsOf(tool: DocumentedTool, walker: Walker, of: Mode): Record<string, unknown> {
  const { own } = setup.tenancies
  const { domain } = setup.tenancies[walker.place]
  const inputs: Partial<Record<string, Record<string, unknown>>> = {
    send_message: { from: `a@${domain.name}`, to: 'ann@customer.example', subject: 'x', text: 'x' },
    add_suppression: { email: `${crypto.randomUUID()}@customer.example`, domain_id: domain.id },
    explain_address: { to: 'ann@customer.example' },
  }
  const target = targetIn(pathOf(tool))
  if (target === null) return inputs[tool.name] ?? {}
  return { [target]: { ...own.ids.live, ...own.ids[of] }[target] }
}

const pathOf = ({ operation }: DocumentedTool) => operations.find(({ id }) => id === operation)!.path

/** Response of `/mcp` to a call of a tool → the HTTP status that the operation has under /v1. */
function statusIn(text: string): number {
  const { result } = JSON.parse(text)
  const [, json = ''] = /^--- begin data .*\n(.*)$/m.exec(result.content[0].text)!
  return result.isError ? STATUS_OF[JSON.parse(json).error.code as RefusalReason] : 200
}

// threat: compatible-api-permissions
test('every tool of /mcp limits every kind of key to the records that it reaches', async () => {
  const wrong: string[] = []
  const watch = startWatch(wrong)
  for (const tool of TOOLS) {
    const { name, operation } = tool
    const target = targetIn(pathOf(tool))
    for (const walker of walkers) {
      for (const of of target === null ? (['live'] as const) : MODES) {
        const given = argumentsOf(tool, walker, of)
        const isChange = ['send_message', 'add_suppression', 'remove_suppression'].includes(name)
        const who = `${name} of ${of} with ${walker.permission} ${walker.mode} of ${walker.place}`
        if (isChange) await watch.begin(walker, who)
        const asked = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
        const { text } = await setup.ask(walker.key, 'POST', '/mcp', asked)
        const [status, wanted] = [statusIn(text), expected(operation, walker, target, of)]
        if (!isRight(status, wanted)) wrong.push(`${who}: ${status}, not ${wanted}: ${text.slice(0, 400)}`)
        const foreign = foreignIn(text, walker, accessOf(operation)!, JSON.stringify(asked))
        if (foreign.length > 0) wrong.push(`${who} shows ${foreign.join(', ')}`)
        if (status < 300 && isChange) await watch.replace(target, of)
      }
    }
  }
  await watch.check()
  expect(wrong).toEqual([])
})

// threat: key-beyond-its-mode
// threat: key-beyond-its-domain
test('every operation limits every kind of key to the records that it reaches', async () => {
  const wrong: string[] = []
  const watch = startWatch(wrong)
  for (const documented of operations) {
    const { id, method, path } = documented
    const rule = accessOf(id.replace(/_alias$/, ''))!
    const target = targetIn(path)
    for (const walker of walkers) {
      for (const of of target === null ? (['live'] as const) : MODES) {
        const ids = { ...setup.tenancies.own.ids.live, ...setup.tenancies.own.ids[of], number: '1' }
        const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name as keyof typeof ids] ?? 'none')
        const who = `${id} of ${of} with ${walker.permission} ${walker.mode} of ${walker.place}`
        if (method !== 'GET') await watch.begin(walker, who)
        const body = bodyOf(documented, walker)
        const asked = `${filled}${QUERIES[id] ?? ''}`
        const { status, text } = await setup.ask(walker.key, method, asked, body)
        const wanted = expected(id.replace(/_alias$/, ''), walker, target, of)
        if (!isRight(status, wanted)) {
          wrong.push(`${who}: ${status}, not ${wanted}: ${text.slice(0, 200)}`)
        }
        const foreign = foreignIn(text, walker, rule, asked + JSON.stringify(body ?? ''))
        if (foreign.length > 0) wrong.push(`${who} shows ${foreign.join(', ')}`)
        if (status < 300 && method !== 'GET') await watch.replace(target, of)
      }
    }
  }
  await watch.check()
  expect(wrong).toEqual([])
})

// threat: bad-api-keys
test('every operation answers every kind of bad key alike, and changes nothing', async () => {
  const expired = (mode: Mode, permission: Permission) =>
    setup.mintKey('own', mode, [permission], { expiresAt: setup.clock.now() })
  const revoked = (mode: Mode, permission: Permission) =>
    setup.mintKey('own', mode, [permission], { revokedAt: setup.clock.now() })
  const elsewhere = (mode: Mode, permission: Permission) =>
    setup.mintKey('own', mode, [permission], { allowedNetworks: ['192.0.2.0/24'] })
  const bad: (string | null)[] = [null]
  for (const mint of [expired, revoked, elsewhere]) {
    for (const mode of MODES) for (const permission of PERMISSIONS) bad.push(await mint(mode, permission))
  }
  const responses = new Set<string>()
  const before = await setup.snapshot('own', 'live')
  for (const documented of operations) {
    const filled = documented.path.replace(/\{\w+\}/g, 'none')
    const body = documented.operation.requestBody === undefined ? undefined : {}
    for (const key of bad) responses.add(answerOf(await setup.ask(key, documented.method, filled, body)))
  }
  expect([...responses]).toEqual([expect.stringMatching(/^401 .*unauthorized/)])
  expect(await setup.snapshot('own', 'live')).toBe(before)
})

const answerOf = ({ status, text }: { status: number; text: string }) => `${status} ${text.replace(/req_\w+/g, 'req')}`
