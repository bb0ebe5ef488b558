import { expect, test } from 'bun:test'
import { expectCostUnder } from '../../../test/support/cpu-cost.ts'
import { type PathKind, parseSpokenPath } from './envelope-address.ts'
import { SmtpReply } from './reply.ts'

const RECIPIENT: PathKind = { who: 'recipient', localDomain: 'mx.example' }
const spoken = (text: string, utf8 = true, of: PathKind = RECIPIENT) => {
  try {
    const { address, parameters } = parseSpokenPath(text, () => utf8, of)
    return [address === null ? null : [address.local, address.domain], Object.fromEntries(parameters)]
  } catch (thrown) {
    return thrown instanceof SmtpReply ? `${thrown.code} ${thrown.enhanced}` : thrown
  }
}

const TABLE: [string, unknown][] = [
  ['<>', [null, {}]],
  ['<a@b.example>', [['a', 'b.example'], {}]],
  [
    '  <a+tag=x@B.Example>  Size=10  body=8BITMIME SMTPUTF8',
    [['a+tag=x', 'b.example'], { SIZE: '10', BODY: '8BITMIME', SMTPUTF8: null }],
  ],
  ['<"a"@b.example>', [['a', 'b.example'], {}]],
  ['<"a.b"@b.example>', [['a.b', 'b.example'], {}]],
  ['<"a\\b"@b.example>', [['ab', 'b.example'], {}]],
  ['<"a b"@b.example>', [['"a b"', 'b.example'], {}]],
  ['<"a..b"@b.example>', [['"a..b"', 'b.example'], {}]],
  ['<"a>b@c"@b.example>', [['"a>b@c"', 'b.example'], {}]],
  ['<"\\"\\\\"@b.example>', [['"\\"\\\\"', 'b.example'], {}]],
  ['<""@b.example>', [['""', 'b.example'], {}]],
  ['<böb@bücher.example>', [['böb', 'xn--bcher-kva.example'], {}]],
  ['<a%c.example@b.example>', [['a%c.example', 'b.example'], {}]],
  ['<c.example!a@b.example>', [['c.example!a', 'b.example'], {}]],
  [`<${'l'.repeat(100)}@b.example>`, [['l'.repeat(100), 'b.example'], {}]],
  [`<${'l'.repeat(245)}@b.example>`, '501 5.5.4'],
  ['<@r.example:a@b.example>', '550 5.7.1'],
  ['<a@[127.0.0.1]>', '550 5.7.1'],
  ['<Postmaster>', [['Postmaster', 'mx.example'], {}]],
  ['<POSTMASTER> A=b', [['POSTMASTER', 'mx.example'], { A: 'b' }]],
  ['<postmaster+a>', '501 5.5.4'],
  ['<postmaster@>', '501 5.5.4'],
  ['<a>', '501 5.5.4'],
  ['<a@>', '501 5.5.4'],
  ['<@>', '550 5.7.1'],
  ['<a@b>', '501 5.5.4'],
  ['<a@b.example.>', [['a', 'b.example'], {}]],
  ['<a@b.example..>', '501 5.5.4'],
  ['<a@1.2.3.4>', '501 5.5.4'],
  ['<.a@b.example>', [['".a"', 'b.example'], {}]],
  ['<".a"@b.example>', [['".a"', 'b.example'], {}]],
  ['<a.@b.example>', [['"a."', 'b.example'], {}]],
  ['<a..b@b.example>', [['"a..b"', 'b.example'], {}]],
  ['<a b@c.example>', '501 5.5.4'],
  ['<a@b.example', '501 5.5.4'],
  ['a@b.example', [['a', 'b.example'], {}]],
  ['a@b.example> A', [['a', 'b.example'], { A: null }]],
  ['', '501 5.5.4'],
  ['<a@b.example>x', '501 5.5.4'],
  ['<a@b.example> X\tY', '501 5.5.4'],
  ['<<a@b.example>>', [['a', 'b.example'], {}]],
  ['<<<a@b.example>>>', '501 5.5.4'],
  ['<a\u2028b@c.example>', '501 5.5.4'],
  ['<a\ufffdb@c.example>', '501 5.5.4'],
  ['<a,b@c.example>', '501 5.5.4'],
  ['<"a@b.example>', '501 5.5.4'],
]

for (const [text, expected] of TABLE) {
  test(`${text.slice(0, 60)} is ${JSON.stringify(expected).slice(0, 60)}`, () => expect(spoken(text)).toEqual(expected))
}

test('without SMTPUTF8 an address is ASCII', () => {
  expect(spoken('<böb@b.example>', false)).toBe('553 5.6.7')
  expect(spoken('<a@bücher.example>', false)).toBe('553 5.6.7')
})

test('a sender needs a domain, even postmaster', () => {
  expect(spoken('<postmaster>', true, { who: 'sender' })).toBe('501 5.5.4')
})

const SENDERS: [domain: string, expected: string][] = [
  ['my_host.example', 'my_host.example'],
  ['_spf.My_Host.example', '_spf.my_host.example'],
  ['host_.example', 'host_.example'],
  ['a_b.xn--bcher-kva.example', 'a_b.xn--bcher-kva.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['my_bücher.example', '501 5.5.4'],
  ['my_host', 'my_host'],
  ['localhost', 'localhost'],
  ['WEB1', 'web1'],
  ['[192.0.2.1]', '[192.0.2.1]'],
  ['[IPv6:2001:db8::1]', '[IPv6:2001:db8::1]'],
  ['[300.0.0.1]', '501 5.5.4'],
  ['[x]', '501 5.5.4'],
  ['1234', '501 5.5.4'],
  ['192.0.2.1', '501 5.5.4'],
  ['-web1', '501 5.5.4'],
  ['my_host..example', '501 5.5.4'],
  ['-my_host.example', '501 5.5.4'],
  [`${'_'.repeat(64)}.example`, '501 5.5.4'],
  ['my_host.example.', 'my_host.example'],
]
for (const [domain, expected] of SENDERS) {
  test(`a sender at ${domain.slice(0, 40)} is ${expected}`, () => {
    expect(spoken(`<a@${domain}>`, true, { who: 'sender' })).toEqual(
      expected.startsWith('501') ? expected : [['a', expected], {}],
    )
  })
}

test('a recipient’s domain has no underscore', () => {
  expect(spoken('<a@my_host.example>')).toBe('501 5.5.4')
})

test('refuses an endless path quickly', async () => {
  for (const bit of ['"', '\\', '"\\', 'a.', '@', ' ', '"a"', '<', 'a@']) {
    // a backtracking one never ends
    await expectCostUnder(1_000, () => spoken(`<${bit.repeat(8_000)}`))
    await expectCostUnder(1_000, () => spoken(`<${bit.repeat(8_000)}`, true, { who: 'ignored' }))
  }
})
