import type { RefusalReason } from '../../src/model/refusal.ts'
import { STATUS_OF } from '../../src/web/api/errors.ts'
import type { Endpoint } from '../../src/web/compat/external-api.ts'
import { resend } from '../../src/web/compat/resend/resend.ts'
import { MODES, PLACES } from '../api/tenancies.ts'
import { TOOLS } from '../support/access.ts'
import type { Documented } from '../support/documented.ts'
import type { Dice } from './dice.ts'
import { nameOf } from './rights-answer.ts'
import { type Caller, type Key, mayCall, mayReach, type Target, type Verdict } from './rights-model.ts'
import { type Answer, ask, type World } from './rights-world.ts'

/** Calls that change nothing: reads, bodies with an unknown field, which are refused after the rights, and records that do
 *  not exist. Each throws if the answer is not the one of the model. */

const UNKNOWN_FIELD = { 'no such field': 1 }

interface Probe {
  id: string
  method: string
  path: string
  body?: object
  /** Null: no record, or none that exists. */
  target: Target | null
}

/** The answer to somebody who may call an operation, on a record that exists or not. */
function isRight({ status }: Answer, wanted: Verdict, target: Target | null): boolean {
  if (wanted !== 'in') return status === wanted
  return status < 500 && ![401, 403, 429, ...(target === null ? [] : [404])].includes(status)
}

function expectedOf({ id, target }: Probe, caller: Caller, now: number): Verdict {
  return target === null ? mayCall(caller, id, now) : mayReach(caller, id, target, now)
}

/** A record of some place and mode, and its parent, as path parameters. */
function someRecord({ tenancies }: World, kind: string, dice: Dice) {
  const [place, mode] = [dice.pick(PLACES), dice.pick(MODES)]
  const { organizationId: org, domain, ids } = tenancies[place]
  const named: Record<string, string> = { ...ids.live, ...ids[mode], number: '1', organization_id: org }
  return { target: { kind, org, domain: domain.id, mode }, ids: named }
}

function someCall(world: World, documented: Documented, dice: Dice): Probe {
  const { method, path, operation } = documented
  const body = operation.requestBody === undefined ? {} : { body: UNKNOWN_FIELD }
  const base = { id: idOf(documented), method, ...body }
  const kind = /\{(\w+)\}/.exec(path)?.[1]
  const { target, ids } = someRecord(world, kind ?? '', dice)
  const isHarmless = method === 'GET' || operation.requestBody !== undefined
  const filled = (byName: Record<string, string>) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => byName[name] ?? 'none')
  const exists = kind !== undefined && isHarmless && ids[kind] !== undefined && dice.chance(0.8)
  return exists ? { ...base, path: filled(ids), target } : { ...base, path: filled({}), target: null }
}

const idOf = ({ id }: Documented) => id.replace(/_alias$/, '')

/** Of a key often one that its maker forbids, or could. */
function someOperation(caller: Caller, operations: readonly Documented[], now: number, dice: Dice): Documented {
  if (caller.kind === 'session' || dice.chance(0.4)) return dice.pick(operations)
  const own = operations.filter((each) => mayCall({ ...caller, limit: null }, idOf(each), now) === 'in')
  const forbidden = own.filter((each) => mayCall(caller, idOf(each), now) !== 'in')
  return (dice.chance(0.5) ? dice.maybe(forbidden) : null) ?? dice.maybe(own) ?? dice.pick(operations)
}

/** Calls an operation of `/v1`. */
export async function tryOperation(world: World, caller: Caller, operations: readonly Documented[], dice: Dice) {
  const now = world.server.clock.now()
  const probe = someCall(world, someOperation(caller, operations, now, dice), dice)
  const wanted = expectedOf(probe, caller, now)
  const isAction = probe.method !== 'GET' && probe.body === undefined && !probe.path.includes('none')
  if (isAction && wanted === 'in') return
  const answer = await ask(world, caller, probe.method, probe.path, { body: probe.body })
  if (isRight(answer, wanted, probe.target)) return
  throw new Error(
    `${nameOf(caller)} calls ${probe.id}: ${probe.method} ${probe.path} ${JSON.stringify(probe.target)}: ${answer.status}, and the table says ${wanted}: ${answer.text.slice(0, 300)}`,
  )
}

/** Calls an endpoint of the Resend API, whose refusals have other status codes. It reads a body before the record. */
export async function tryEndpoint(world: World, key: Key, dice: Dice): Promise<void> {
  const endpoint: Endpoint = dice.pick(
    resend.endpoints.filter(({ method, path, body }) => method === 'GET' || (body && !path.includes(':'))),
  )
  const { id, method, path, operation } = endpoint
  const kind = KINDS.find(([prefix]) => operation.startsWith(prefix))?.[1]
  if (path.includes(':') && kind === undefined) throw new Error(`no kind of record for ${id}`)
  const { target, ids } = someRecord(world, kind ?? '', dice)
  const filled = path.replace(/:\w+/, ids[kind ?? ''] ?? 'none').replace(/:\w+/, '1')
  const probe: Probe = {
    id: operation,
    method,
    path: filled,
    target: path.includes(':') ? target : null,
  }
  const wanted = expectedOf(probe, key, world.server.clock.now())
  const body = endpoint.body === undefined ? undefined : UNKNOWN_FIELD
  const answer = await ask(world, key, method, `${resend.root}${filled}`, { body })
  const isFine = wanted === 'in' ? isRight(answer, 'in', target) : answer.status >= 401 && answer.status < 405
  if (!isFine)
    throw new Error(
      `${nameOf(key)} calls ${method} ${filled}: ${answer.status}, and the table says ${wanted}: ${answer.text}`,
    )
}

const KINDS = [
  ['messages_', 'message_id'],
  ['domains_', 'domain_id'],
  ['inbound_messages_', 'inbound_message_id'],
  ['api_keys_', 'key_id'],
  ['webhooks_', 'webhook_id'],
  ['suppressions_', 'id_or_email'],
] as const

/** Calls a tool of `/mcp`, and lists those that the key may call. */
export async function tryTools(world: World, key: Key, operations: readonly Documented[], dice: Dice): Promise<void> {
  const now = world.server.clock.now()
  const post = (method: string, params: object) =>
    ask(world, key, 'POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method, params } })
  const listed = await post('tools/list', {})
  const may = TOOLS.filter(({ operation }) => mayCall(key, operation, now) === 'in').map(({ name }) => name)
  if (listed.status === 401) {
    if (mayCall(key, 'messages_get', now) !== 401) throw new Error(`${nameOf(key)} gets 401 of /mcp`)
    return
  }
  const names = listed.body.result.tools.map(({ name }: { name: string }) => name)
  if (`${names.toSorted()}` !== `${may.toSorted()}`)
    throw new Error(`${nameOf(key)} sees the tools ${names}, and the table says ${may}`)

  const tool = dice.pick(TOOLS.filter(({ operation }) => !/verify|explain|delete/.test(operation)))
  const { path } = operations.find(({ id }) => id === tool.operation)!
  const kind = /\{(\w+)\}/.exec(path)?.[1]
  const { target, ids } = someRecord(world, kind ?? '', dice)
  const given = kind === undefined ? UNKNOWN_FIELD : { [kind]: ids[kind] ?? 'none' }
  const probe: Probe = { id: tool.operation, method: 'POST', path: '/mcp', target: kind === undefined ? null : target }
  const wanted = expectedOf(probe, key, now)
  const { body } = await post('tools/call', { name: tool.name, arguments: given })
  const [, json = ''] = /^--- begin data .*\n(.*)$/m.exec(body.result.content[0].text)!
  const status = body.result.isError ? STATUS_OF[JSON.parse(json).error.code as RefusalReason] : 200
  if (!isRight({ ...listed, status }, wanted, probe.target))
    throw new Error(`${nameOf(key)} calls ${tool.name}: ${status}, and the table says ${wanted}: ${json.slice(0, 300)}`)
}
