import { afterAll, beforeAll, expect, test } from 'bun:test'
import { errorOf } from '../../src/client/errors.ts'
import { EventStream, Postrider } from '../../src/client/index.ts'
import { type ContractServer, startContractServer } from '../api/contract-server.ts'
import type { Json } from '../support/server.ts'
import { requestsIn } from './document-requests.ts'

let setup: ContractServer
let document: Json
beforeAll(async () => {
  setup = await startContractServer()
  document = await (await fetch(`${setup.origin}/openapi.json`)).json()
})
afterAll(() => setup.close())

test('every operation that accepts keys is called by its method and path, with all its parameters', async () => {
  const asked: string[] = []
  const fetch = async (url: string, { method, body, headers }: RequestInit) => {
    const isKeyed = new Headers(headers).has('idempotency-key')
    const path = new URL(url).pathname
    asked.push([method, path, body === undefined ? '' : 'body', isKeyed ? 'key' : ''].join(' ').trim())
    return Response.json({ data: [], has_more: false, next_cursor: null })
  }
  const client = new Postrider({ baseUrl: 'https://mail.example.com', apiKey: 'svc_test_x', fetch })
  const callAll = async (resource: Json): Promise<void> => {
    for (const [name, member] of Object.entries<Json>(resource)) {
      if (['waitFor', 'reschedule', 'unwrap'].includes(name)) continue
      if (typeof member !== 'function') await callAll(member)
      else {
        // No path has more than two IDs. If it has fewer, the next argument is a body or query.
        const made = member('a', 'b', {})
        if (made instanceof EventStream)
          await Array.fromAsync(made).catch(() => {}) // fails, because the response is JSON instead of a stream
        else await (made instanceof Promise ? made : made.page())
      }
    }
  }
  await callAll(client)

  expect([...new Set(asked)].toSorted()).toEqual(requestsIn(document))
})

test('every error code has a class of its own', () => {
  const codes: string[] = document.components.schemas.Error.properties.error.properties.code.enum
  const names = codes.map((code) => errorOf({ code, message: '' }).name)
  expect(names).not.toContain('PostriderError')
  expect(new Set(names).size).toBe(codes.length)
  expect(errorOf({ code: 'of_a_newer_server', message: '' }).name).toBe('PostriderError')
})
