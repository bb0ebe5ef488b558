/** Requests generated from the OpenAPI document, valid, nearly valid and arbitrary, over the socket to every
 *  operation of a server. Returned ids are used again. Each response is documented for its operation, and none is a
 *  5xx. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type ContractServer, startContractServer } from '../api/contract-server.ts'
import { readDocument } from '../support/documented.ts'
import { textOf } from '../support/event-stream.ts'
import { type ApiRequest, requestsOf } from './api-request.ts'
import { runs } from './runs.ts'

let setup: ContractServer
let read: ReturnType<typeof readDocument>
let running: Timer
/** The last ids in responses, by prefix, and the last cursors. */
const known = new Map<string, string[]>()
/** Operations that would end the access of the test. */
const lasting = new Set<string>()

beforeAll(async () => {
  setup = await startContractServer()
  read = readDocument(await (await fetch(`${setup.origin}/openapi.json`)).json())
  running = setInterval(() => void setup.clock.advance(500), 5) // for requests that wait: Prefer
  lasting.add(setup.domain.id)
  for (const id of idsIn((await ask({ ...PLAIN, path: '/v1/api-keys?limit=100' })).text)) lasting.add(id)
  await addRecords()
})
afterAll(async () => {
  clearInterval(running)
  await setup.close()
})

const PLAIN: ApiRequest = { id: '', method: 'GET', path: '/', headers: {}, body: null, key: 'live' }
const ID = /\b[a-z]{3}_[0-9a-z]{26}\b/g
const idsIn = (text: string) => text.match(ID) ?? []

/** One record of each kind that the examples of the document create. */
async function addRecords(): Promise<void> {
  for (const { id, method, path, operation } of read.operations) {
    const example = operation.requestBody?.content['application/json'].example
    if (method !== 'POST' || path.includes('{') || example === undefined) continue
    const body = JSON.stringify({ ...example, ...(id.startsWith('messages_send') ? { scheduled_at: null } : {}) })
    await ask({ ...PLAIN, id, method, path, body: body.replaceAll(/dom_[0-9a-z]{26}/g, setup.domain.id), key: 'test' })
  }
  const route = known.get('rte')?.at(-1)
  if (route !== undefined) remember(await setup.addInbound(route))
  await ask({ ...PLAIN, method: 'POST', path: '/v1/webhooks/§whk:0§/test', body: '{"type":"message.clicked"}' })
  await ask({ ...PLAIN, path: '/v1/webhooks/§whk:0§/deliveries' })
}

function remember(text: string): void {
  for (const id of idsIn(text).slice(0, 8)) note(id.slice(0, 3), id)
  const cursor = /"next_cursor":"([^"]+)"/.exec(text)?.[1]
  if (cursor !== undefined) note('cursor', cursor)
}

function note(kind: string, value: string): void {
  const values = known.get(kind) ?? []
  known.set(kind, [...values.filter((each) => each !== value), value].slice(-20))
}

/** Deleted records are requested occasionally, not mostly. */
function forget(path: string): void {
  for (const id of idsIn(path))
    known.set(
      id.slice(0, 3),
      (known.get(id.slice(0, 3)) ?? []).filter((each) => each !== id),
    )
}

/** `§msg:3§` → the id; one of another server while there is none. */
function filled(text: string, mayEnd: boolean): string {
  return text.replace(/§([a-z]+):(\d+)§/g, (_, kind: string, back: string) => {
    const values = (known.get(kind) ?? []).filter((value) => !mayEnd || !lasting.has(value))
    return values.at(-1 - (Number(back) % (values.length || 1))) ?? `${kind.slice(0, 3)}_01m7ykx6js1zy8zpzy8z8cwhzy`
  })
}

async function ask(request: ApiRequest): Promise<{ status: number; text: string; fault: string | null }> {
  const { id, method, key, headers } = request
  const path = filled(request.path, /DELETE|POST/.test(method) && /domains|api-keys/.test(request.path))
  const given = new Headers({ 'content-type': 'application/json' })
  if (key !== 'none') given.set('authorization', `Bearer ${setup.keys[key]}`)
  for (const [name, value] of Object.entries(headers)) given.set(name, value)
  const body = request.body === null ? null : filled(request.body, false)
  const response = await fetch(`${setup.origin}${path}`, { method, headers: given, body, redirect: 'manual' })
  const text = await textOf(response)
  if (!id.startsWith('audit')) remember(text)
  if (method === 'DELETE' && response.ok) forget(path)
  const fault = read.faultIn(method, new URL(response.url).pathname, {
    status: response.status,
    headers: response.headers,
    text,
  })
  return { status: response.status, text, fault }
}

test('every answer is documented, and never a 5xx', async () => {
  const methodOf = new Map(read.operations.map(({ id, method }) => [id, method]))
  const run = fc.asyncProperty(requestsOf(read), async (request) => {
    const { status, text, fault } = await ask(request)
    // A path that also matches another operation's parameter goes to the more specific operation.
    const isOther = status === 405 && request.method !== methodOf.get(request.id)
    if ((fault !== null && !isOther) || status >= 500)
      throw new Error(`${fault ?? status}`.slice(0, 800), { cause: text.slice(0, 800) })
    if (status >= 400) {
      expect(JSON.parse(text).error.message).not.toMatch(/undefined|\[object|\bat .*\.ts:|SQLITE/)
    }
  })
  await fc.assert(run, runs<[ApiRequest]>({ target: 'api', property: 'requests' }, 2_500, 41))
})
