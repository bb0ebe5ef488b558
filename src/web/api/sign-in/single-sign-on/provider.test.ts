import { expect, test } from 'bun:test'
import { type Claims, withUserInfo } from './provider.ts'

const TOKEN = { iss: 'https://id.example', sub: 'ann' }
const INFO = { iss: 'x', sub: 'eve', email: 'ann@a.example', email_verified: true, groups: ['ops'] }
const merged = (own: Claims, info: Record<string, unknown> = INFO) => withUserInfo(own, info, 'groups')

test('UserInfo adds what the signed token lacks, and replaces nothing in it', () => {
  expect(merged(TOKEN)).toEqual({ ...INFO, ...TOKEN })
  expect(merged({ ...TOKEN, groups: [] })).toEqual({ ...INFO, ...TOKEN })
  const own = { ...TOKEN, email: 'ann@a.example', email_verified: false, groups: ['readers'] }
  expect(merged(own, { ...INFO, name: 'Ann' })).toEqual({ ...own, name: 'Ann' })
})

test('each source verifies its own address only', () => {
  const own = { ...TOKEN, email: 'ann@a.example' }
  expect(merged(own).email_verified).toBe(true)
  const { email, email_verified } = merged(own, { ...INFO, email: 'eve@a.example' })
  expect([email, email_verified]).toEqual(['ann@a.example', undefined])
})
