import { expect, test } from 'bun:test'
import { parseDatabaseUrl } from './address.ts'

test('a URL names user, password, hosts, ports and database', () => {
  expect(parseDatabaseUrl('postgres://mail:p%40ss@db1:6432,db2/post%20rider?sslmode=require')).toEqual({
    hosts: [
      { host: 'db1', port: 6432 },
      { host: 'db2', port: 5432 },
    ],
    user: 'mail',
    password: 'p@ss',
    database: 'post rider',
    tls: 'encrypt',
  })
})

test('user and database have defaults', () => {
  expect(parseDatabaseUrl('postgresql://db.example.com')).toMatchObject({
    user: 'postgres',
    password: '',
    database: 'postgres',
  })
  expect(parseDatabaseUrl('postgres://mail@db.example.com/').database).toBe('mail')
})

test.each([
  ['postgres://db.example.com/x', 'verify'],
  ['postgres://127.0.0.1/x', 'none'],
  ['postgres://[::1]:5433/x', 'none'],
  ['postgres://%2Frun%2Fpostgresql/x', 'none'],
  ['postgres:///x?host=/run/postgresql', 'none'],
  ['postgres://localhost,db2/x', 'verify'],
  ['postgres://localhost/x?sslmode=verify-full', 'verify'],
  ['postgres://db2/x?sslmode=disable', 'none'],
] as const)('%s has the TLS mode %s', (url, tls) => {
  expect(parseDatabaseUrl(url).tls).toBe(tls)
})

test.each([
  ['mysql://a/b', 'must start with postgres://'],
  ['postgres:///b', 'contains no host'],
  ['postgres://a,,c/b', 'contains an empty host'],
  ['postgres://a:x/b', 'the port of a is not a number'],
  ['postgres://a:99999/b', 'the port of a is not a number'],
  ['postgres://a/b?sslmode=prefer', 'sslmode prefer is not supported'],
  ['postgres://u:%zz@a/b', 'invalid percent encoding'],
])('%s is rejected, and the message shows no password', (url, message) => {
  expect(() => parseDatabaseUrl(url)).toThrow(message)
})
