import { expect, test } from 'bun:test'
import { createKnownHosts, hostNameOf, isBadHost } from './host-header.ts'

test.each([
  ['mail.example.com', 'mail.example.com'],
  ['Mail.Example.COM.:8025', 'mail.example.com'],
  ['x', 'x'],
  ['my_service:80', 'my_service'],
  ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
  ['127.0.0.1:1', '127.0.0.1'],
  ['[::1]', '::1'],
  ['[::ffff:127.0.0.1]:65535', '::ffff:127.0.0.1'],
  ['a.example:', 'a.example'],
])('the host of %s is %s', (header, host) => {
  expect([hostNameOf(header), isBadHost(header)]).toEqual([host, false])
})

test.each([
  'a.example, b.example',
  'a.example,a.example',
  ', a.example',
  'a.example, ',
  'a b',
  'user@a.example',
  'a.example/x',
  'a.example?x',
  'a.example:99999',
  'a.example:x',
  '[::1',
  '[1]',
  '[::1%25lo]',
  '::1',
  '"a"',
  'münchen.example',
  'a%2eb',
  '.',
  `${'a'.repeat(301)}`,
])('%s is not a host', (header) => {
  expect([hostNameOf(header), isBadHost(header)]).toEqual([null, true])
})

test('a missing or empty header is not a fault', () => {
  expect([isBadHost(null), isBadHost('')]).toEqual([false, false])
})

test('known hosts are the names of the server, loopback names and addresses, whatever the port', () => {
  const isKnown = createKnownHosts(() => ['mail.example.com', 'Postrider'])
  for (const host of [
    null,
    '',
    'mail.example.com:443',
    'MAIL.example.com.',
    'postrider:8025',
    'localhost',
    '192.0.2.1',
    '[::1]:1',
  ]) {
    expect([host, isKnown(host)]).toEqual([host, true])
  }
  for (const host of [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'example.com',
    'a.mail.example.com',
    'a, mail.example.com',
  ]) {
    expect([host, isKnown(host)]).toEqual([host, false])
  }
})
