import { expect, test } from 'bun:test'
import { machineOf } from './machines.ts'

const PERSON =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36'

test('a request without a User-Agent header, or with an empty one, comes from a machine', () => {
  expect(machineOf(new Headers())).toBe('no-user-agent')
  expect(machineOf(new Headers({ 'user-agent': ' ' }))).toBe('no-user-agent')
})

test('a browser is a person unless it says that it prefetches', () => {
  expect(machineOf(new Headers({ 'user-agent': PERSON }))).toBeNull()
  for (const name of ['sec-purpose', 'purpose', 'x-moz', 'x-purpose']) {
    expect(machineOf(new Headers({ 'user-agent': PERSON, [name]: 'prefetch' }))).toBe('prefetch')
  }
})
