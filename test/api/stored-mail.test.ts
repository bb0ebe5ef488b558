import { afterEach, expect, test } from 'bun:test'
import { createMemory } from '../../src/os/memory.ts'
import { createCompatApi } from '../../src/server/external-api.ts'
import { rule } from '../../src/web/api/access.ts'
import { type Operation, operation } from '../../src/web/api/operation.ts'
import { endpoint } from '../../src/web/compat/external-api.ts'
import { createTestApi, type TestApi } from '../support/api.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/** Size of the stored mail, which the tests read as JSON and through the compatible API. */
const SIZE = 5_000_000
const mail = operation({
  id: 'mail',
  method: 'GET',
  path: '/v1/mail',
  tag: 'Messages',
  access: rule('read', 'viewer', 'no_records', 'organization'),
  summary: '',
  reads: () => SIZE,
  handle: async () => ({ status: 200, body: { text: 'x'.repeat(SIZE) } }),
})
const foreign = createCompatApi(
  {
    name: 'foreign',
    root: '/v1/foreign',
    refuse: () => new Response(),
    endpoints: [
      endpoint({
        id: 'get',
        method: 'GET',
        path: '/mail',
        operation: 'mail',
        handle: (_call, ours) => ours.ask('mail', {}, (body) => body),
      }),
    ],
  } as never,
  [mail] as Operation[],
  { downloadUrl: () => '', signingSecret: async () => null },
).operations

const memory = createMemory({
  limitBytes: 1e9,
  largestMailBytes: 25e6,
  clock: createFakeClock(0),
  residentBytes: () => 0,
})
let t: TestApi
afterEach(() => t.close())

for (const path of ['/v1/mail', '/v1/foreign/mail']) {
  // threat: memory-exhaustion
  test(`large stored mail reserves memory until the client has it: ${path}`, async () => {
    t = await createTestApi({ memory, operations: () => [mail as Operation, ...foreign] })
    const headers = { authorization: `Bearer ${t.own.keys.read.value}` }
    const response = await t.api.fetch(new Request(`http://localhost${path}`, { headers }))
    expect(response.headers.get('content-type')).toStartWith('application/json')
    expect(memory.reservedBytes()).toBeGreaterThan(SIZE)
    expect(await response.json()).toEqual({ text: 'x'.repeat(SIZE) })
    expect(memory.reservedBytes()).toBe(0)
  })
}
