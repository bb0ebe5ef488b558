import { expect, test } from 'bun:test'
import { valuesOf } from './roles.ts'

const ZITADEL = 'urn:zitadel:iam:org:project:roles'

test.each<[string, Record<string, unknown>, string, string[]]>([
  ['a list', { groups: ['a', 7, 'b'] }, 'groups', ['a', 'b']],
  ['one text', { role: 'a' }, 'role', ['a']],
  ['a list in an object', { realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
  ['a name with dots', { 'https://x.example/roles': ['a'] }, 'https://x.example/roles', ['a']],
  [
    'the names of Zitadel’s roles',
    { [ZITADEL]: { admin: { '31': 'x.example' }, viewer: { '31': 'x.example', '32': 'y.example' } } },
    ZITADEL,
    ['admin', 'viewer'],
  ],
  ['names without an object as nothing', { roles: { admin: true, viewer: null } }, 'roles', []],
  ['a role that no organization gives as nothing', { roles: { admin: {} } }, 'roles', []],
  [
    'the names of Keycloak’s clients as nothing',
    { resource_access: { admin: { roles: ['view'] } } },
    'resource_access',
    [],
  ],
  ['a missing claim as nothing', {}, 'groups', []],
])('reads %s', (_, claims, name, values) => {
  expect(valuesOf(claims, name)).toEqual(values)
})

test('reads at most a thousand values', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => `g${index}`)
  const named = Object.fromEntries(many.map((name) => [name, { '31': 'x.example' }]))
  expect(valuesOf({ groups: many }, 'groups').length).toBeLessThanOrEqual(1_000)
  expect(valuesOf({ groups: named }, 'groups').length).toBeLessThanOrEqual(1_000)
})
