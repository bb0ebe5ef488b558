import { expect, test } from 'bun:test'
import type { Domain } from '../model/domain.ts'
import { isServerName, serverNames } from './server-names.ts'

test('the names of the server are its hostname, the host of its URL and those of its certificate, each once', () => {
  const settings = {
    hostname: 'MX.Example.com.',
    publicUrl: 'https://mail.example.com:8443/x',
    names: ['bücher.example'],
  }
  expect(serverNames({ ...settings, names: [...settings.names, 'mail.example.com'] })).toEqual([
    'mx.example.com',
    'mail.example.com',
    'xn--bcher-kva.example',
  ])
})

test('addresses and single labels are not names that a domain could have', () => {
  expect(
    serverNames({ hostname: 'localhost', publicUrl: 'http://[::1]:8080', names: ['192.0.2.1', '2001:db8::1'] }),
  ).toEqual([])
  expect(serverNames({ hostname: 'mx.example.com', publicUrl: 'http://127.0.0.1', names: [] })).toEqual([
    'mx.example.com',
  ])
})

const domain = (name: string, trackingHost: string | null = null): Domain => ({
  id: 'dom_1',
  organizationId: 'org_1',
  name,
  status: 'pending',
  createdAt: 0,
  verifiedAt: null,
  lastCheckedAt: null,
  dkim: [],
  returnPathHost: `bounce.${name}`,
  tracking: { opens: false, clicks: false, unsubscribe: false, host: trackingHost },
  findings: [],
  provedBy: null,
  missingSince: null,
  reason: null,
  nextCheckAt: null,
  publishAt: null,
  publishFault: null,
})

test.each([
  ['mx.example.com', null, true],
  ['example.com', null, false],
  ['other.example', 'mx.example.com', true],
  ['other.example', 'links.other.example', false],
])('domain %s with tracking host %j has a name of the server mx.example.com: %j', (name, trackingHost, isOurs) => {
  expect(isServerName(domain(name, trackingHost), ['mx.example.com'])).toBe(isOurs)
})

test('hosts below a domain count: return path and policy host', () => {
  expect(isServerName(domain('example.com'), ['bounce.example.com'])).toBe(true)
  expect(isServerName(domain('example.com'), ['mta-sts.example.com'])).toBe(true)
})

test('a server name that the operator added counts only by its hosts', () => {
  expect(isServerName(domain('mx.example.com'), ['mx.example.com'], true)).toBe(false)
  expect(isServerName(domain('example.com'), ['bounce.example.com'], true)).toBe(true)
})
