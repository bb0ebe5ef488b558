import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import { Refusal } from '../../../model/refusal.ts'
import { rule } from '../access.ts'
import type { Operation } from '../operation.ts'
import { requestOf } from './arguments.ts'

const OPERATION: Operation = {
  id: 'things_list',
  method: 'GET',
  path: '/v1/things/:thing_id',
  tag: 'Messages',
  access: rule('read', 'viewer', 'no_records', 'organization'),
  summary: 'List things',
  handle: async () => ({ status: 200, body: null }),
}
const { signal } = new AbortController()
const made = (given: Record<string, unknown>, change: Partial<Operation> = {}) =>
  requestOf({ ...OPERATION, ...change }, given, [], signal)

test('arguments become path parameters and a query, with numbers as text and without nulls', () => {
  const { params, request } = made({ thing_id: 'a/../b?c', limit: 7, q: 'a&b=c#d', tag: ['x', 'y'], cursor: null })
  expect(params).toEqual({ thing_id: 'a/../b?c' })
  expect(request.url).toBe('http://localhost/v1/things/:thing_id?limit=7&q=a%26b%3Dc%23d&tag=x&tag=y')
})

test('arguments of a change become its body, and the idempotency key a header', async () => {
  const change = { method: 'POST', path: '/v1/things', body: z.unknown(), idempotent: true } as const
  const { request } = made({ a: { b: [null] }, idempotency_key: 'k' }, change)
  expect([request.headers.get('idempotency-key'), await request.json()]).toEqual(['k', { a: { b: [null] } }])
  const without = made({ idempotency_key: 'k' }, { ...change, idempotent: false })
  expect(await without.request.json()).toEqual({ idempotency_key: 'k' })
})

test('any arguments become a request, or are refused with a fault for each, at most 100', () => {
  const argument = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue())
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: 'binary' }), argument, { maxKeys: 5 }),
      argument,
      (others, thing_id) => {
        try {
          const { params } = made({ ...others, thing_id })
          expect<unknown>(params).toEqual({ thing_id })
        } catch (thrown) {
          if (!(thrown instanceof Refusal)) throw thrown
          expect(thrown.reason).toBe('validation_error')
        }
      },
    ),
    { numRuns: 200, seed: 1 },
  )
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`n${at}`, {}]))
  const fault = (() => {
    try {
      return made({ thing_id: 'x', ...many })
    } catch (thrown) {
      return thrown as Refusal
    }
  })()
  expect('faults' in fault && fault.faults?.length).toBe(100)
})
