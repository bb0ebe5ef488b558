import { expect, test } from 'bun:test'
import { z } from 'zod'
import { resend } from '../../src/web/compat/resend/resend.ts'
import { createTestApi } from '../support/api.ts'

type Schema = { type?: string; maxItems?: number; [key: string]: unknown }

/** Paths of the lists in a JSON schema that have no limit. */
function unlimitedIn(schema: Schema, path: string): string[] {
  const own = schema.type === 'array' && schema.maxItems === undefined ? [path] : []
  const inner = Object.entries(schema).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null ? unlimitedIn(value as Schema, `${path}.${key}`) : [],
  )
  return [...own, ...inner]
}

// threat: slow-clients-and-floods
test('every list in a request has a limit: 125,000 invalid values, which each got an error, held the thread for 0.2 s', async () => {
  const api = await createTestApi()
  const requests = [...api.operations, ...resend.endpoints]
  const unlimited = requests.flatMap(({ id, body }) => {
    const json = body && z.toJSONSchema(body, { unrepresentable: 'any', io: 'input' })
    return json === undefined ? [] : unlimitedIn(json as Schema, id)
  })
  expect(unlimited).toEqual([])
  await api.close()
})
