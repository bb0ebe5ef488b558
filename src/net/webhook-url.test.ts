import { expect, test } from 'bun:test'
import { createAddressGuard } from './ip.ts'
import { checkWebhookUrl, parsePostTarget } from './webhook-url.ts'

const strict = createAddressGuard([])
const onLoopback = createAddressGuard(['127.0.0.0/8'])

test.each([
  'https://hooks.example.com/in?a=b#c',
  'https://hooks.example.com:8443/',
  'HTTPS://Hooks.Example.com',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/',
  'https://bücher.example/',
  `https://a.example/${'x'.repeat(2048 - 18)}`,
])('%s may be stored', (url) => {
  expect(checkWebhookUrl(url, strict)).toBeNull()
})

// threat: webhook-private-addresses
test.each([
  ['http://a.example/', 'https://'],
  ['ftp://a.example/', 'https://'],
  ['https:a.example', 'https://'],
  ['https:///a.example', 'https://'],
  ['javascript:alert(1)', 'https://'],
  ['file:///etc/passwd', 'https://'],
  ['a.example', 'the URL is not valid'],
  ['', 'the URL is not valid'],
  ['https://', 'the URL is not valid'],
  ['https://a.example:99999/', 'the URL is not valid'],
  ['https://256.1.1.1/', 'the URL is not valid'],
  ['https://user@a.example/', 'user name'],
  ['https://:secret@a.example/', 'user name'],
  ['https://8.8.8.8@127.0.0.1/', 'user name'],
  ['https://a.example/ b', 'spaces'],
  ['https://a.exa\nmple/', 'control'],
  ['https:\\\\a.example/', 'backslash'],
  ['https://a.example\\@b.example/', 'backslash'],
  ['https://a.example:25/', 'port 25'],
  ['https://a.example:6379/', 'port 6379'],
  [`https://a.example/${'x'.repeat(2048)}`, 'longer than 2048'],
  ['https://localhost/', 'localhost is not a public address'],
  ['https://LOCALHOST./', 'localhost is not a public address'],
  ['https://x.localhost/', 'not a public address'],
  ['https://127.0.0.1/', '127.0.0.1 is not'],
  ['https://127.1/', '127.0.0.1 is not'],
  ['https://2130706433/', '127.0.0.1 is not'],
  ['https://0x7f000001/', '127.0.0.1 is not'],
  ['https://0177.0.0.1/', '127.0.0.1 is not'],
  ['https://%31%32%37.0.0.1/', '127.0.0.1 is not'],
  ['https://①②⑦.0.0.1/', '127.0.0.1 is not'],
  ['https://127.0.0.1./', '127.0.0.1 is not'],
  ['https://0/', '0.0.0.0 is not'],
  ['https://10.0.0.1/', '10.0.0.1 is not'],
  ['https://169.254.169.254/latest', '169.254.169.254 is not'],
  ['https://[::1]/', '::1 is not'],
  ['https://[::]/', ':: is not'],
  ['https://[::ffff:127.0.0.1]/', '::ffff:7f00:1 is not'],
  ['https://[64:ff9b::7f00:1]/', 'is not a public address'],
  ['https://[fd00:ec2::254]/', 'is not a public address'],
])('%j is refused: %s', (url, reason) => {
  expect(checkWebhookUrl(url, strict)).toContain(reason)
})

test('a URL that the operator allows may be stored', () => {
  for (const host of ['localhost', '127.0.0.1', '127.1', '[::ffff:127.0.0.1]']) {
    expect(checkWebhookUrl(`https://${host}:8443/in`, onLoopback)).toBeNull()
  }
  expect(checkWebhookUrl('https://10.0.0.1/', onLoopback)).not.toBeNull()
})

test('a target keeps the query, drops the fragment and has A-labels', () => {
  expect(parsePostTarget('https://Bücher.example.:8443/a%20b?c=d#e')).toEqual({
    host: 'xn--bcher-kva.example',
    port: 8443,
    hostHeader: 'xn--bcher-kva.example.:8443',
    path: '/a%20b?c=d',
    addresses: null,
  })
})
