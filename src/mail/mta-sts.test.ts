import { expect, test } from 'bun:test'
import { listsHost, readMtaSts, readMtaStsId } from './mta-sts.ts'

test.each([
  [['v=STSv1; id=20160831085700Z;'], '20160831085700Z'],
  [['v=STSv1;id=1'], '1'],
  [['other', 'v=STSv1; ext=a; id=A2 ;'], 'A2'],
  [['v=STSv1; id=1', 'v=STSv1; id=2'], null],
  [['v=STSv1; id='], null],
  [['v=STSv1; id=a-b'], null],
  [[`v=STSv1; id=${'1'.repeat(33)}`], null],
  [['v=STSv12; id=1'], null],
  [['id=1; v=STSv1'], null],
  [['v=STSv1'], null],
  [[], null],
])('TXT %j names the policy %p', (records, id) => {
  expect(readMtaStsId(records)).toBe(id)
})

test('reads a policy file with either line end and fields in any order', () => {
  const file = 'version: STSv1\r\nmode: enforce\r\nmx: Mail.example.com\r\nmx: *.example.net\r\nmax_age: 604800\r\n'
  const policy = { mode: 'enforce' as const, mx: ['mail.example.com', '*.example.net'], maxAgeSeconds: 604_800 }
  expect(readMtaSts(file)).toEqual(policy)
  expect(readMtaSts('max_age:604800\nmx:mail.example.com\nmx: *.example.net\nmode: enforce\nversion: STSv1')).toEqual(
    policy,
  )
})

test('ignores unknown fields, uses the first of a repeated field and limits the lifetime to a year', () => {
  const file = 'version: STSv1\nmode: testing\nmode: enforce\nnew-field: x\nmx: a.test\nmax_age: 9999999999\n'
  expect(readMtaSts(file)).toEqual({ mode: 'testing', mx: ['a.test'], maxAgeSeconds: 31_557_600 })
})

// threat: policy-cost
test('reads no more than 500 lines of a policy file of 64 KiB', () => {
  const head = 'version: STSv1\nmode: none\nmax_age: 60\n'
  expect(readMtaSts(head + 'a:\n'.repeat(497))).toMatchObject({ mode: 'none' })
  expect(readMtaSts(head + 'a:\n'.repeat(498))).toEqual({ invalid: 'more than 500 lines' })
  expect(readMtaSts(head + 'mx: a\n'.repeat(10_000))).toEqual({ invalid: 'more than 500 lines' })
})

test('a policy of mode none needs no host', () => {
  expect(readMtaSts('version: STSv1\nmode: none\nmax_age: 60\n')).toEqual({ mode: 'none', mx: [], maxAgeSeconds: 60 })
})

test.each([
  ['', 'version is not STSv1'],
  ['<html>', 'a line is not "name: value"'],
  ['version: STSv2\nmode: none\nmax_age: 1', 'version is not STSv1'],
  ['version: STSv1\nmode: strict\nmax_age: 1\nmx: a.test', 'mode is not enforce, testing or none'],
  ['version: STSv1\nmode: enforce\nmax_age: 1', 'no mx line'],
  ['version: STSv1\nmode: enforce\nmx: a.test', 'max_age is not a number of seconds'],
  ['version: STSv1\nmode: enforce\nmx: a.test\nmax_age: -1', 'max_age is not a number of seconds'],
  ['version: STSv1\nmode: enforce\nmx: *\nmax_age: 1', 'an mx value is not a host name'],
  ['version: STSv1\nmode: enforce\nmx: a.*.test\nmax_age: 1', 'an mx value is not a host name'],
  ['version: STSv1\nmode: enforce\n\nmx: a.test\nmax_age: 1', 'a line is not "name: value"'],
])('refuses %j as a policy: %s', (text, invalid) => {
  expect(readMtaSts(text)).toEqual({ invalid })
})

test.each([
  ['mail.example.com', 'mail.example.com', true],
  ['mail.example.com', 'MAIL.example.com.', true],
  ['mail.example.com', 'mail2.example.com', false],
  ['*.example.com', 'mail.example.com', true],
  ['*.example.com', 'a.mail.example.com', false],
  ['*.example.com', 'example.com', false],
  ['*.example.com', 'mail.badexample.com', false],
])('pattern %s and host %s: %p', (pattern, host, isListed) => {
  expect(listsHost(['first.test', pattern], host)).toBe(isListed)
})
