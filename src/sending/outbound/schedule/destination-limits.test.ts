import { expect, test } from 'bun:test'
import { createTermsOf } from './destination-limits.ts'

const NONE = { maxConnections: 0, maxMailsPerConnection: 0, maxMailsPerMinute: 0 }

test('a provider has its own numbers, all others the default, and the config overrides both', () => {
  const termsOf = createTermsOf(
    {
      'google.com': { ...NONE, maxMailsPerMinute: 600 },
      'own.example': { ...NONE, maxConnections: 50 },
      'empty.example': NONE,
    },
    20,
  )
  expect(termsOf('yahoodns.net')).toEqual({ maxConnections: 10, maxMailsPerConnection: 20, maxMailsPerMinute: null })
  expect(termsOf('google.com')).toEqual({ maxConnections: 20, maxMailsPerConnection: 100, maxMailsPerMinute: 600 })
  expect(termsOf('own.example')).toEqual({ maxConnections: 50, maxMailsPerConnection: 500, maxMailsPerMinute: null })
  expect(termsOf('empty.example')).toEqual(termsOf('constructor'))
})

test('a low connection limit for all applies to providers too', () => {
  const termsOf = createTermsOf({}, 3)
  expect(termsOf('google.com').maxConnections).toBe(3)
  expect(termsOf('orange.fr').maxConnections).toBe(2)
})
