import { expect, test } from 'bun:test'
import type { Domain, Finding } from '../../model/domain.ts'
import { domainNames, ownNames } from './names.ts'

test.each([
  ['https://api.example.com', ['mail.example.com', 'api.example.com', 'more.example.com']],
  ['https://mail.example.com:8443', ['mail.example.com', 'more.example.com']],
  ['http://api.example.com', ['mail.example.com', 'more.example.com']],
  ['https://192.0.2.1', ['mail.example.com', 'more.example.com']],
  ['https://[2001:db8::1]', ['mail.example.com', 'more.example.com']],
])('those of the operator, with links that start with %s', (publicUrl, names) => {
  expect(ownNames({ hostname: 'mail.example.com', publicUrl, names: ['more.example.com'] })).toEqual(names)
})

test('those of domains are the hosts that DNS was seen to lead here, and no others', async () => {
  const found = (purpose: Finding['purpose'], name: string, status: Finding['status']): Finding => ({
    purpose,
    name,
    status,
    type: 'CNAME',
    found: [],
  })
  const domain = (host: string | null, ...findings: Finding[]) =>
    ({
      status: 'verified',
      tracking: { opens: true, clicks: true, unsubscribe: true, host },
      findings,
    }) as unknown as Domain
  async function* domains() {
    yield domain('links.one.example', found('tracking', 'links.one.example', 'valid'))
    yield domain('links.two.example', found('tracking', 'links.two.example', 'missing'))
    yield domain(null, found('tracking', 'links.three.example', 'valid'))
    yield domain(
      null,
      found('mta_sts_host', 'mta-sts.four.example', 'valid'),
      found('mta_sts', '_mta-sts.four.example', 'valid'),
    )
    yield domain(null, found('mta_sts_host', 'mta-sts.five.example', 'mismatch'))
  }
  expect(await domainNames(domains(), true)).toEqual(['links.one.example', 'mta-sts.four.example'])
})
