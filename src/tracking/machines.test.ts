import { expect, test } from 'bun:test'
import { MACHINES, machineOf } from './machines.ts'

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

test.each([
  ['gmail-image-proxy', 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)'],
  ['yahoo-image-proxy', 'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html'],
  ['apple-mail-privacy', 'Mozilla/5.0'],
  ['microsoft-office-probe', 'Microsoft Office Existence Discovery'],
  ['microsoft-office-probe', 'Microsoft Office Protocol Discovery'],
  ['link-scanner', 'Barracuda Sentinel (EE)'],
  ['link-scanner', 'Mozilla/5.0 (compatible; Proofpoint URL Defense)'],
  ['link-scanner', 'Mimecast URL Protect'],
  ['robot', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'],
  ['robot', 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)'],
  ['robot', 'Mozilla/5.0 (Windows NT 6.1) SkypeUriPreview Preview/0.5'],
  ['robot', 'facebookexternalhit/1.1'],
  ['robot', 'WhatsApp/2.23'],
  ['headless-browser', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/142.0.0.0 Safari/537.36'],
  ['http-library', 'curl/8.14.1'],
  ['http-library', 'python-requests/2.32'],
  ['http-library', 'Go-http-client/2.0'],
  ['http-library', 'Java/17.0.9'],
  ['no-user-agent', ''],
  ['no-user-agent', ' '],
])('%s: %p', (name, userAgent) => {
  expect(machineOf(new Headers({ 'user-agent': userAgent }))).toBe(name)
})

test('every rule is named above, each once', () => {
  expect(new Set(MACHINES.map(({ name }) => name)).size).toBe(MACHINES.length)
})

test.each([
  CHROME,
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.0',
  'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17928; Pro)',
  'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; ms-office; MSOffice 16)',
  'Mozilla/5.0 (Linux; Android 14; CUBOT X90) AppleWebKit/537.36 Chrome/142.0.0.0 Mobile Safari/537.36',
  'Dalvik/2.1.0 (Linux; U; Android 14)',
])('a person: %p', (userAgent) => {
  expect(machineOf(new Headers({ 'user-agent': userAgent }))).toBeNull()
})

test('a browser that only fetches ahead says so', () => {
  for (const [name, value] of [
    ['sec-purpose', 'prefetch;prerender'],
    ['purpose', 'prefetch'],
    ['x-moz', 'prefetch'],
  ] as const) {
    expect(machineOf(new Headers({ 'user-agent': CHROME, [name]: value }))).toBe('prefetch')
  }
})
